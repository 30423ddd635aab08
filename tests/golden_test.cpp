// The emitted text is, byte for byte, the golden file's.

#include "golden.hpp"

#include <algorithm>

#include "catch.hpp"

TEST_CASE("the text of every registry, edition and setting equals its golden file") {
  for (const golden::test_case& c : golden::all_cases()) {
    const std::string file = golden::file_name(c);
    INFO(file);
    CHECK(golden::mismatch(
              file, tick_grammar::build_tick_grammar(golden::names(c.registry), c.opts)) == "");
  }
}

TEST_CASE("every golden file belongs to a case") {
  std::vector<std::string> claimed;
  for (const golden::test_case& c : golden::all_cases()) {
    claimed.push_back(golden::file_name(c));
  }
  std::sort(claimed.begin(), claimed.end());
  CHECK(claimed == golden::files());
}

TEST_CASE("a missing golden file is an error") {
  CHECK_THROWS_WITH(golden::bytes("no_such.gbnf"), contains("no_such.gbnf"));
}

TEST_CASE("a difference is reported by line and column, escaped") {
  CHECK(golden::difference("a\nb", "a\nb") == "");
  CHECK(golden::difference("a\nbc\n", "a\nbd\n") ==
        "line 2, column 2 differs:\n  actual:   bc\n  expected: bd");
  // Only a newline at the end: the difference that an editor makes.
  CHECK(golden::difference("a\x01", "a\x01\n") ==
        "line 1, column 3 differs:\n  actual:   a\\x01\n  expected: a\\x01");
  CHECK(golden::difference("", "x") == "line 1, column 1 differs:\n  actual:   \n  expected: x");
}

TEST_CASE("order and duplicates of the names do not change the text") {
  std::vector<std::string> names = golden::names("github_mcp");
  const std::string text = tick_grammar::build_tick_grammar(names);
  std::reverse(names.begin(), names.end());
  names.push_back(names.front());
  CHECK(golden::difference(tick_grammar::build_tick_grammar(names), text) == "");
}

TEST_CASE("json_gbnf ends the reference text, without a newline at the end") {
  const std::string text = tick_grammar::build_tick_grammar({"bash"});
  REQUIRE(text.size() > tick_grammar::json_gbnf.size());
  const std::size_t start = text.size() - tick_grammar::json_gbnf.size();
  CHECK(text.substr(start) == tick_grammar::json_gbnf);
  CHECK(text[start - 1] == '\n');
  CHECK(tick_grammar::json_gbnf.substr(0, 11) == "jobject ::=");
  CHECK(tick_grammar::json_gbnf.back() == '}');
}
