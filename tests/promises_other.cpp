// A second translation unit of the same program. Before the library come headers with functions
// that take a std::string and might be found by its sake (std::quoted was, once), then macros that
// other people's headers leave behind. All standard headers come first: it is ours that must bear
// them.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iomanip>
#include <list>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <regex>
#include <sstream>
#include <valarray>

#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define I _Complex_I
#define small char
#define near
#define far
#define interface struct

#include <tick_grammar.hpp>

std::string other_grammar() { return *tick_grammar::tick_grammar_cached({"shared"}); }
