// Compiled with -fno-exceptions -fno-rtti: the library works, and a refused registry ends the
// program with the message instead of an exception.

#include <cstdio>
#include <tick_grammar.hpp>

int main(int argc, char** argv) {
  const std::vector<const char*> names(argv + 1, argv + argc);
  std::puts(tick_grammar::tick_grammar_cached(names)->c_str());
}
