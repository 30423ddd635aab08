#include <cstdio>
#include <tick_grammar.hpp>

int main() { std::puts(tick_grammar::tick_grammar_cached({"bash"})->c_str()); }
