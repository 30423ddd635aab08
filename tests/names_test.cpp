// Which names a registry may hold, and what a refused one is told.

#include <algorithm>
#include <stdexcept>
#include <tick_grammar.hpp>

#include "catch.hpp"
#include "golden.hpp"

using tick_grammar::build_tick_grammar;
using tick_grammar::name_rule;
using tick_grammar::registry_error;
using tick_grammar::rejected_names;

namespace {

using strings = std::vector<std::string>;

tick_grammar::options under(name_rule rule) {
  tick_grammar::options opts;
  opts.names = rule;
  return opts;
}

// The message and the names of the error, which must be a registry_error.
std::pair<std::string, strings> refusal(const strings& names, name_rule rule) {
  try {
    (void)build_tick_grammar(names, under(rule));
  } catch (const registry_error& error) {
    return {error.what(), error.rejected()};
  }
  return {"accepted", {}};
}

bool accepts(const std::string& name, name_rule rule) {
  const bool built = refusal({name}, rule).first == "accepted";
  CHECK(built == rejected_names(strings{name}, rule).empty());  // the two never disagree
  return built;
}

constexpr const char* letters_and_digits =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

}  // namespace

TEST_CASE("every byte, alone and inside a name, is taken or refused as its rule says") {
  for (int value = 0; value < 256; ++value) {
    const char c = static_cast<char>(value);
    const bool alnum = value != 0 && std::string(letters_and_digits).find(c) != std::string::npos;
    const bool identifier = alnum || c == '_';
    const bool mcp = identifier || c == '-' || c == '.';
    INFO("byte " << value);
    CHECK(accepts(std::string(1, c), name_rule::identifier) == alnum);
    CHECK(accepts(std::string(1, c), name_rule::mcp) == alnum);
    for (const std::string& name :
         {std::string("a") + c, c + std::string("a"), std::string("a") + c + "a"}) {
      CHECK(accepts(name, name_rule::identifier) == identifier);
      CHECK(accepts(name, name_rule::mcp) == mcp);
    }
  }
}

TEST_CASE("a name needs a letter or a digit") {
  for (const char* name : {"", "_", "___"}) {
    CHECK_FALSE(accepts(name, name_rule::identifier));
    CHECK_FALSE(accepts(name, name_rule::mcp));
  }
  CHECK_FALSE(accepts("-", name_rule::mcp));
  CHECK_FALSE(accepts("_.-", name_rule::mcp));
  CHECK(accepts("_.-0", name_rule::mcp));
}

TEST_CASE("length is limited by the mcp rule alone, and no name is cut") {
  for (const std::size_t length : {1U, 127U, 128U, 129U, 4096U}) {
    const std::string name(length, 'x');
    INFO(length);
    CHECK(accepts(name, name_rule::identifier));
    CHECK(accepts(name, name_rule::mcp) == (length <= 128));
    CHECK(build_tick_grammar({std::string_view(name)}).find("\"" + name + "\"") !=
          std::string::npos);
  }
}

TEST_CASE("an empty registry is refused, and has no name to reject") {
  for (const name_rule rule : {name_rule::identifier, name_rule::mcp}) {
    const auto [message, rejected] = refusal({}, rule);
    CHECK(message == "tool registry is empty - cannot build a grammar");
    CHECK(rejected.empty());
    CHECK(rejected_names(strings{}, rule).empty());
  }
}

TEST_CASE("the error names every refused name once, in byte order, first as the reference does") {
  CHECK(refusal({"bash", "evil name", "ok"}, name_rule::identifier).first ==
        "tool name not grammar-safe: 'evil name'");
  const auto [message, rejected] =
      refusal({"z!", "bash", "b c", "z!", "", "A-"}, name_rule::identifier);
  CHECK(message == "tool name not grammar-safe: '' (and 3 more: 'A-', 'b c', 'z!')");
  CHECK(rejected == strings{"", "A-", "b c", "z!"});
}

TEST_CASE("refused names are quoted so that they are safe to log") {
  const auto message_for = [](const std::string& name) {
    return refusal({name}, name_rule::mcp).first.substr(28);
  };
  CHECK(message_for("a\nERROR all is lost") == "'a\\x0aERROR all is lost'");
  CHECK(message_for("a\x1b[31m\x7f\r") == "'a\\x1b[31m\\x7f\\x0d'");
  CHECK(message_for(std::string("a\0b", 3)) == "'a\\x00b'");
  CHECK(message_for("a ~") == "'a ~'");  // the bounds of what is shown as it is
  CHECK(message_for("it's a \\ {}") == "'it\\'s a \\\\ {}'");
  CHECK(message_for("\xe2\x80\xae") == "'\\xe2\\x80\\xae'");  // U+202E turns a line around
}

TEST_CASE("names that would break out of a GBNF literal are refused by both rules") {
  for (const char* name : {"a\"b", "a\\b", "a\" | [^<]* \"", "a\\\"", "a\nb ::= c"}) {
    CHECK_FALSE(accepts(name, name_rule::identifier));
    CHECK_FALSE(accepts(name, name_rule::mcp));
  }
}

TEST_CASE("non-ASCII letters and digits are refused") {
  for (const char* name :
       {"\xc3\xa9t\xc3\xa9", "e\xcc\x81te", "\xd0\xb0", "\xef\xbc\x91", "a\xb2"}) {
    CHECK_FALSE(accepts(name, name_rule::identifier));
    CHECK_FALSE(accepts(name, name_rule::mcp));
  }
}

TEST_CASE("hyphens and dots: refused by default, raw in the text under the mcp rule") {
  const strings names = {"resolve-library-id", "query-docs", "drive.list"};
  CHECK(rejected_names(strings{"b.c", "a", "b.c"}) == strings{"b.c"});
  CHECK(rejected_names(names) == strings{"drive.list", "query-docs", "resolve-library-id"});
  CHECK(build_tick_grammar(names, under(name_rule::mcp))
            .find("\"drive.list\" | \"query-docs\" | \"resolve-library-id\"\n") !=
        std::string::npos);
}

TEST_CASE("one bad name does not take the others down") {
  strings names = golden::names("google_workspace_mcp");
  CHECK(rejected_names(names).size() == names.size());  // every one is dotted
  names = golden::names("github_mcp");
  names.push_back("node.js_versions");
  const strings rejected = rejected_names(names);
  CHECK(rejected == strings{"node.js_versions"});
  names.erase(std::remove(names.begin(), names.end(), rejected.front()), names.end());
  CHECK(golden::difference(build_tick_grammar(names), golden::bytes("github_mcp.gbnf")) == "");
}

TEST_CASE("names are told apart by case and kept as they are") {
  CHECK(build_tick_grammar({"read", "Read"}).find("toolname ::= \"Read\" | \"read\"\n") !=
        std::string::npos);
}

TEST_CASE("a registry error is an invalid_argument whose copies share its names") {
  CHECK_THROWS_AS(build_tick_grammar(strings{}), std::invalid_argument);
  const registry_error original({"b c"});
  const registry_error copy = original;  // NOLINT(performance-unnecessary-copy-initialization)
  CHECK(&copy.rejected() == &original.rejected());
  CHECK(std::string(copy.what()) == original.what());
  registry_error source({"b c"});
  const registry_error moved = std::move(source);
  CHECK(moved.rejected() ==
        source.rejected());  // NOLINT(bugprone-use-after-move): that is the point
}

TEST_CASE("options that are none of the enumerators are refused") {
  tick_grammar::options opts;
  opts.edition = static_cast<tick_grammar::edition>(3);
  CHECK_THROWS_AS(build_tick_grammar({"bash"}, opts), std::invalid_argument);
  CHECK_THROWS_AS(build_tick_grammar({"bash"}, under(static_cast<name_rule>(2))),
                  std::invalid_argument);
  CHECK_THROWS_AS(rejected_names({"bash"}, static_cast<name_rule>(2)), std::invalid_argument);
}
