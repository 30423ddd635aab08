// What a real llama.cpp accepts under each text.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tick_grammar.hpp>
#include <vector>

#include "../catch.hpp"
#include "../golden.hpp"
#include "../outputs.hpp"
#include "engine.hpp"

using engine::judge;
using outputs::verdict;
using tick_grammar::build_tick_grammar;
using tick_grammar::edition;

namespace {

using strings = std::vector<std::string>;

// The vocabulary with a token for every byte.
const engine::vocabulary& bytes() {
  static const engine::vocabulary vocab("gpt-2");
  return vocab;
}

bool parses(const std::string& text) {
  const engine::grammar grammar(bytes(), text);
  return true;
}

std::string shown(const tick_grammar::options& opts) {
  return fmt::format("edition {}{}", static_cast<int>(opts.edition),
                     opts.require_reply ? ", require_reply" : "");
}

std::string calling(const std::string& name) { return "<tool>" + name + "</tool><args>{}</args>"; }

}  // namespace

TEST_CASE("every golden parses") {
  for (const std::string& file : golden::files()) {
    INFO(file);
    CHECK(parses(golden::bytes(file)));
  }
}

TEST_CASE("a grammar that does not parse is an error") {
  CHECK_THROWS_WITH(parses("root ::= bro ken"), contains("does not parse"));
}

TEST_CASE("every sample output is accepted, left open or refused as its table says") {
  REQUIRE(outputs::all().size() >= 80);
  for (const tick_grammar::options& opts : golden::all_options()) {
    const std::string text = build_tick_grammar(outputs::registry, opts);
    for (const outputs::sample& sample : outputs::all()) {
      INFO(shown(opts) << ": " << sample.why << ":\n" << sample.text);
      CHECK(static_cast<int>(judge(bytes(), text, sample.text).verdict) ==
            static_cast<int>(sample.by(opts)));
    }
  }
}

TEST_CASE("the reader leaves a sample at the byte where the engines do") {
  tick_grammar::options strict;
  strict.edition = edition::strict;
  const std::string reference_text = build_tick_grammar(outputs::registry);
  const std::string strict_text = build_tick_grammar(outputs::registry, strict);
  for (const outputs::sample& sample : outputs::all()) {
    if (sample.expected.back() == 'm') {
      INFO(sample.why << ":\n" << sample.text);
      const std::size_t at = std::max(judge(bytes(), reference_text, sample.text).at,
                                      judge(bytes(), strict_text, sample.text).at);
      CHECK(tick_grammar::read_tick(sample.text).consumed == at);
    }
  }
}

TEST_CASE("every name of a registry can be called, and nothing between two of them") {
  for (tick_grammar::options opts : golden::all_options()) {
    opts.require_reply = false;
    opts.names = tick_grammar::name_rule::mcp;
    for (const strings& names :
         {strings{"resolve-library-id", "query-docs", "drive.list", "drive.list_all"},
          strings{"a", "ab", "abc"}, strings{"Read", "read"}, golden::names("github_mcp"),
          golden::names("google_workspace_mcp")}) {
      const std::string text = build_tick_grammar(names, opts);
      for (const std::string& name : names) {
        INFO(shown(opts) << ": " << name);
        CHECK(judge(bytes(), text, calling(name)).verdict == verdict::accepted);
        for (const std::string& other : {name + "_", name.substr(1), name + name}) {
          const bool known = std::find(names.begin(), names.end(), other) != names.end();
          CHECK((judge(bytes(), text, calling(other)).verdict == verdict::accepted) == known);
        }
      }
    }
  }
}

TEST_CASE("20,000 names with a shared prefix that is itself a name parse and can be called") {
  strings names = {"tool_"};
  for (int i = 0; i < 20'000; ++i) {
    names.push_back(fmt::format("tool_{}", i));
  }
  for (const edition e : {edition::fast, edition::strict}) {
    tick_grammar::options opts;
    opts.edition = e;
    const std::string text = build_tick_grammar(names, opts);
    for (const char* name : {"tool_", "tool_0", "tool_1999", "tool_19999"}) {
      CHECK(judge(bytes(), text, calling(name)).verdict == verdict::accepted);
    }
    CHECK(judge(bytes(), text, calling("tool_20000")).verdict == verdict::refused);
    CHECK(judge(bytes(), text, calling("tool")).verdict == verdict::refused);
  }
}

TEST_CASE("a chain of 2,000 names, each a prefix of the next, parses and can be called") {
  strings names;
  for (std::size_t length = 1; length <= 2000; ++length) {
    names.emplace_back(length, 'a');
  }
  for (const edition e : {edition::fast, edition::strict}) {
    tick_grammar::options opts;
    opts.edition = e;
    const std::string text = build_tick_grammar(names, opts);
    for (const std::size_t length : {1U, 2U, 1000U, 2000U}) {
      CHECK(judge(bytes(), text, calling(std::string(length, 'a'))).verdict == verdict::accepted);
    }
    CHECK(judge(bytes(), text, calling(std::string(2001, 'a'))).verdict == verdict::refused);
  }
}
