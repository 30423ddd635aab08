// Every emitted text is a well-formed grammar, as read by the tests' own reader of GBNF.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "catch.hpp"
#include "gbnf.hpp"
#include "golden.hpp"

namespace {

std::vector<std::string> sorted_unique(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void check_structure(const std::string& text, const std::vector<std::string>& names) {
  const gbnf::grammar grammar =
      gbnf::parse(text);  // balanced, and names of letters and digits only
  std::set<std::string> defined;
  std::set<std::string> used = {"root"};
  for (const auto& [name, expression] : grammar.rules) {
    INFO(name);
    CHECK(defined.insert(name).second);  // defined once
    used.merge(gbnf::references(expression));
  }
  CHECK(grammar.rules.front().first == "root");
  CHECK(defined == used);
  // Spelled by the one rule that depends on the registry: each name once, nothing else, in order.
  CHECK(gbnf::strings(grammar.rule("toolname")) == sorted_unique(names));
}

}  // namespace

TEST_CASE("every text is well formed and spells exactly the registry") {
  for (const golden::test_case& c : golden::all_cases()) {
    INFO(golden::file_name(c));
    const std::vector<std::string> names = golden::names(c.registry);
    check_structure(tick_grammar::build_tick_grammar(names, c.opts), names);
  }
}

TEST_CASE("the reader of these tests refuses what is not well formed") {
  for (const char* text :
       {"", "root", "root ::= ", "ro_ot ::= \"a\"", "root ::= \"a", "root ::= [a",
        "root ::= ( \"a\"", "root ::= \"a\" )", "root ::= \"a\"\n", "root ::= \"a\"{3,2}",
        "root ::= \"a\" |", "root ::= |"}) {
    INFO(text);
    CHECK_THROWS(gbnf::parse(text));
  }
}

TEST_CASE("large registries and long shared prefixes are spelled in full") {
  std::vector<std::string> chain;
  std::vector<std::string> siblings = {"tool_"};  // a prefix of the others that is itself a name
  for (int i = 1; i <= 2000; ++i) {
    chain.emplace_back(static_cast<std::size_t>(i), 'a');
    siblings.push_back(fmt::format("tool_{}", i));
  }
  for (const tick_grammar::options& opts : golden::all_options()) {
    for (const std::vector<std::string>& names : {chain, siblings}) {
      check_structure(tick_grammar::build_tick_grammar(names, opts), names);
    }
  }
}
