// An agent's registry changes between two ticks: the next grammar has the new tool, and a name that
// no grammar can hold costs nobody the others.

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <tick_grammar.hpp>

using tool = std::function<std::string(const std::string&)>;
using registry = std::map<std::string, tool>;

// Called before every request. An unchanged registry gets the same string back.
std::string next_grammar(const registry& tools, bool user_is_waiting) {
  tick_grammar::options opts;
  opts.require_reply = user_is_waiting;
  return *tick_grammar::tick_grammar_cached(tools, opts);
}

// Takes out the tools whose names no grammar can hold, and says which.
void drop_unnameable(registry& tools) {
  for (const std::string& name : tick_grammar::rejected_names(tools)) {
    std::printf("not offered to the model: %s\n", name.c_str());
    tools.erase(name);
  }
}

void print_names(const std::string& grammar) {
  const std::size_t start = grammar.find("toolname ::= ");
  std::printf("%s\n", grammar.substr(start, grammar.find('\n', start) - start).c_str());
}

int main() {
  const tool echo = [](const std::string& args) { return args; };
  registry tools = {{"bash", echo}};
  print_names(next_grammar(tools, false));

  tools["recall"] = echo;
  print_names(next_grammar(tools, false));

  tools["evil name"] = echo;
  try {
    print_names(next_grammar(tools, false));
  } catch (const tick_grammar::registry_error& error) {
    std::printf("%s\n", error.what());
    drop_unnameable(tools);
    print_names(next_grammar(tools, false));
  }
}
