// A second translation unit of the same program, where popular names are macros before the include.

#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define I _Complex_I
#define small char
#define near
#define far
#define interface struct

#include <tick_grammar.hpp>

std::string other_grammar() { return *tick_grammar::tick_grammar_cached({"shared"}); }
