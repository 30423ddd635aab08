#include <cstdio>
#include <tick_grammar.hpp>

int main() {
  const std::string grammar = tick_grammar::build_tick_grammar({"bash", "read_file", "speak"});
  std::puts(grammar.c_str());
}
