// Any range of names serves as a registry, a map of tools among them.

#include <array>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <set>
#include <string>
#include <tick_grammar.hpp>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "catch.hpp"

namespace {

const std::string expected = tick_grammar::build_tick_grammar({"bash", "read_file"});

struct tool {
  int id = 0;
};

struct label {  // a name type of the caller's own
  std::string text;
  operator std::string_view() const { return text; }  // NOLINT(google-explicit-constructor)
};

namespace app {

struct name : label {};

// Found by argument-dependent look-up, if the library should ever call by a bare name.
[[maybe_unused]] std::string_view name_in(const name& /*unused*/) { return "hijacked"; }

}  // namespace app

template <class Names>
void check_registry(const Names& tools) {
  CHECK(tick_grammar::build_tick_grammar(tools) == expected);
  CHECK(tick_grammar::rejected_names(tools).empty());
  tick_grammar::grammar_cache cache;
  const auto first = cache.get(tools);
  CHECK(*first == expected);
  CHECK(cache.get(tools) == first);
  CHECK(*tick_grammar::tick_grammar_cached(tools) == expected);
}

}  // namespace

TEST_CASE("sequences of strings, views and literals") {
  check_registry(std::vector<std::string>{"bash", "read_file"});
  check_registry(std::vector<std::string_view>{"bash", "read_file"});
  check_registry(std::vector<const char*>{"bash", "read_file"});
  check_registry(std::array<std::string, 2>{"bash", "read_file"});
  check_registry(std::deque<std::string>{"read_file", "bash"});
  check_registry(std::list<std::string>{"read_file", "bash"});
  check_registry(std::forward_list<std::string>{"read_file", "bash"});
  check_registry(std::vector<label>{{"bash"}, {"read_file"}});
  check_registry(std::vector<app::name>{{{"bash"}}, {{"read_file"}}});
  tick_grammar::grammar_cache cache;
  (void)cache.get({"hijacked"});
  CHECK(*cache.get(std::vector<app::name>{{{"bash"}}}) ==
        tick_grammar::build_tick_grammar({"bash"}));
}

TEST_CASE("arrays of the language") {
  const char* literals[] = {"bash", "read_file"};
  check_registry(literals);
  const std::string_view views[] = {"bash", "read_file"};
  check_registry(views);
  const char fixed[][10] = {"bash", "read_file"};
  check_registry(fixed);
}

TEST_CASE("sets, and maps from names to tools") {
  check_registry(std::set<std::string>{"bash", "read_file"});
  check_registry(std::unordered_set<std::string>{"bash", "read_file"});
  check_registry(std::map<std::string, tool>{{"bash", {}}, {"read_file", {}}});
  check_registry(std::map<std::string_view, tool>{{"bash", {}}, {"read_file", {}}});
  check_registry(std::unordered_map<std::string, tool>{{"bash", {}}, {"read_file", {}}});
  check_registry(std::vector<std::pair<const char*, tool>>{{"bash", {}}, {"read_file", {}}});
  // A pair's second is never taken for a name.
  check_registry(
      std::map<std::string, std::string>{{"bash", "run it"}, {"read_file", "no \" name"}});
}

TEST_CASE("braced lists") {
  CHECK(tick_grammar::build_tick_grammar({"bash", "read_file"}) == expected);
  CHECK(*tick_grammar::tick_grammar_cached({"bash", "read_file"}) == expected);
  CHECK(*tick_grammar::grammar_cache().get({"bash", "read_file"}) == expected);
  CHECK(tick_grammar::rejected_names({"a b", "c"}) == std::vector<std::string>{"a b"});
  const std::string owned = "bash";
  CHECK(tick_grammar::build_tick_grammar({std::string_view(owned), "read_file"}) == expected);
}

TEST_CASE("a braced list may be empty, and is then refused") {
  CHECK_THROWS_AS(tick_grammar::build_tick_grammar({}), tick_grammar::registry_error);
}

TEST_CASE("a null pointer counts as the empty name") {
  const std::vector<const char*> names = {"bash", nullptr};
  CHECK(tick_grammar::rejected_names(names) == std::vector<std::string>{""});
  tick_grammar::grammar_cache cache;
  CHECK_THROWS_AS(cache.get(names), tick_grammar::registry_error);
}
