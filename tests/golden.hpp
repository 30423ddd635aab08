// Golden files: read and compared as raw bytes, reported where they first differ.
#ifndef TICK_GRAMMAR_TESTS_GOLDEN_HPP
#define TICK_GRAMMAR_TESTS_GOLDEN_HPP

#include <string>
#include <string_view>
#include <tick_grammar.hpp>
#include <vector>

namespace golden {

struct test_case {
  std::string registry;  // golden/REGISTRY.names holds the names, one a line
  tick_grammar::options opts;
};

// Every registry, edition and setting that has a golden file.
std::vector<test_case> all_cases();

// The options of every edition and setting, under the default name rule.
std::vector<tick_grammar::options> all_options();

std::string file_name(const test_case& c);
std::vector<std::string> names(const std::string& registry);
std::string bytes(const std::string& file);
std::vector<std::string> files();

// Empty when equal; else the first line and column that differ, both lines escaped.
std::string difference(std::string_view actual, std::string_view expected);

// Compares with the golden file. TICK_GRAMMAR_UPDATE_GOLDENS=1 in the environment rewrites the file
// and still fails, so that nobody takes a rewritten golden for a passed test.
std::string mismatch(const std::string& file, const std::string& actual);

}  // namespace golden

#endif  // TICK_GRAMMAR_TESTS_GOLDEN_HPP
