// C++20: views that make their elements on the fly or can be walked only when not const, and
// designated initializers.

#include <map>
#include <ranges>
#include <span>
#include <sstream>
#include <string>
#include <tick_grammar.hpp>
#include <vector>

#include "catch.hpp"

namespace {

const std::string expected = tick_grammar::build_tick_grammar({"bash", "read_file"});

template <class Names>
void check_registry(const Names& tools) {
  CHECK(tick_grammar::build_tick_grammar(tools) == expected);
  tick_grammar::grammar_cache cache;
  const auto first = cache.get(tools);
  CHECK(*first == expected);
  CHECK(cache.get(tools) == first);
  CHECK(cache.stats().hits == 1);
}

}  // namespace

TEST_CASE("views are registries") {
  const std::vector<std::string> names = {"bash", "read_file"};
  check_registry(std::span(names));
  check_registry(std::views::all(names));
  check_registry(names | std::views::reverse);
  const std::map<std::string, int> tools = {{"bash", 1}, {"read_file", 2}};
  check_registry(tools | std::views::keys);
}

TEST_CASE("a view may make its names on the fly") {
  const std::vector<std::string> names = {"ash", "ead_file"};
  check_registry(names | std::views::transform([](const std::string& name) {
                   return (name == "ash" ? "b" : "r") + name;
                 }));
}

TEST_CASE("a view may be walkable only when it is not const") {
  const std::vector<std::string> names = {"bash", "", "read_file"};
  check_registry(names | std::views::filter([](const std::string& name) { return !name.empty(); }));
}

TEST_CASE("a hit by a view copies the names, and builds nothing") {
  const std::vector<std::string> names = {"read_file", "bash"};
  tick_grammar::grammar_cache cache;
  const auto stored = cache.get(names);
  CHECK(cache.get(names | std::views::transform([](const auto& name) { return name; })) == stored);
  CHECK(cache.stats().hits == 1);
}

TEST_CASE("a view may call back into the cache that reads it") {
  tick_grammar::grammar_cache cache;
  const std::vector<std::string> names = {"bash", "read_file"};
  const auto reentrant = names | std::views::transform([&cache](const std::string& name) {
                           return cache.get({"bash"})->empty() ? std::string() : name;
                         });
  CHECK(*cache.get(reentrant) == expected);
  CHECK(*cache.get(reentrant) == expected);  // now there is a grammar to compare it with
}

TEST_CASE("options can be written with designated initializers") {
  const std::string text = tick_grammar::build_tick_grammar(
      {"bash"}, {.require_reply = true, .names = tick_grammar::name_rule::mcp});
  CHECK(text.substr(0, 40) == "root ::= thought? reply ws toolcall? ws\n");
}
