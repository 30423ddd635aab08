// Any bytes as a registry: either an error that names exactly the refused names, or a grammar that
// spells exactly the registry.
//
// An input is OPTIONS SEPARATOR NAMES: a byte for fuzz::options_from, a byte that ends every name
// (the last may go without), and the names. So any byte can be part of a name, and two bytes alone
// are the empty registry.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../gbnf.hpp"
#include "fuzz.hpp"

using fuzz::check;

namespace {

using views = std::vector<std::string_view>;
using strings = std::vector<std::string>;

views split(std::string_view text, char separator) {
  views names;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    names.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return names;
}

bool is_refused(std::string_view name, tick_grammar::name_rule rule) {
  const std::string alnum = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const bool mcp = rule == tick_grammar::name_rule::mcp;
  return name.find_first_of(alnum) == std::string_view::npos ||
         name.find_first_not_of(alnum + (mcp ? "_-." : "_")) != std::string_view::npos ||
         (mcp && name.size() > 128);
}

// The names between single quotes, unescaped.
strings quoted(std::string_view message) {
  strings names;
  for (std::size_t i = message.find('\''); i < message.size(); i = message.find('\'', i + 1)) {
    std::string name;
    for (++i; message.at(i) != '\''; ++i) {
      if (message[i] == '\\' && message.at(++i) == 'x') {
        name += static_cast<char>(std::stoi(std::string(message.substr(i + 1, 2)), nullptr, 16));
        i += 2;
      } else {
        name += message[i];
      }
    }
    names.push_back(name);
  }
  return names;
}

void check_error(const tick_grammar::registry_error& error, const strings& refused) {
  check(error.rejected() == refused, "rejected() is what was refused, once, in byte order");
  const std::string_view message = error.what();
  for (const char c : message) {
    check(c >= ' ' && c <= '~', "what() is printable ASCII");
  }
  check(quoted(message) == refused, "what() names every refused name");
  const std::string_view begin =
      refused.empty() ? "tool registry is empty" : "tool name not grammar-safe: '";
  check(message.substr(0, begin.size()) == begin, "what() begins as the reference's does");
}

// Left-factored: alternatives differ in their first byte, and what stands before a group is some
// text that its names share.
void check_factored(const gbnf::node& expression) {
  std::set<std::string> firsts;
  for (const gbnf::node& child : expression.children) {
    if (expression.what == gbnf::node::kind::alternation) {
      check(firsts.insert(child.children.at(0).text.substr(0, 1)).second,
            "a byte begins one alternative");
    }
    check_factored(child);
  }
  if (expression.what == gbnf::node::kind::sequence && expression.children.size() > 1) {
    check(!expression.children[0].text.empty(), "a group has a beginning of its own");
    check(expression.children[1].what == gbnf::node::kind::alternation, "a group has alternatives");
  }
}

// Takes the rule `toolname` out of `text`.
std::string without_names(std::string text) {
  const std::size_t start = text.find("toolname ::= ");
  return text.erase(start, text.find('\n', start) - start);
}

void check_grammar(const std::string& text, const strings& names,
                   const tick_grammar::options& opts) {
  const gbnf::grammar grammar = gbnf::parse(text);
  const gbnf::node& toolname = grammar.rule("toolname");
  check(gbnf::strings(toolname) == names, "toolname spells the registry");
  if (opts.edition != tick_grammar::edition::reference) check_factored(toolname);
  check(without_names(text) == without_names(tick_grammar::build_tick_grammar({"a"}, opts)),
        "no other rule depends on the registry");
  const strings reversed(names.rbegin(), names.rend());
  check(tick_grammar::build_tick_grammar(reversed, opts) == text, "order does not matter");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const tick_grammar::options opts = fuzz::options_from(data[0]);
  const views tools = split(bytes.substr(2), bytes[1]);

  std::set<std::string> names;
  std::set<std::string> refused;
  for (const std::string_view name : tools) {
    (is_refused(name, opts.names) ? refused : names).emplace(name);
  }
  const strings expected(refused.begin(), refused.end());
  check(tick_grammar::rejected_names(tools, opts.names) == expected,
        "rejected_names gives what is refused");
  try {
    const std::string text = tick_grammar::build_tick_grammar(tools, opts);
    check(refused.empty() && !names.empty(), "a bad registry has no grammar");
    check_grammar(text, {names.begin(), names.end()}, opts);
  } catch (const tick_grammar::registry_error& error) {
    check(!refused.empty() || names.empty(), "a good registry has a grammar");
    check_error(error, expected);
  }
  return 0;
}
