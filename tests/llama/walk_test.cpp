// Random walks in a real llama.cpp: `fast` and `reference` are one language, `strict` lies inside
// it, nothing is a dead end, and whatever comes out can be read back.

#include "walk.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <tick_grammar.hpp>
#include <vector>

#include "../catch.hpp"
#include "../golden.hpp"
#include "../outputs.hpp"
#include "engine.hpp"

using outputs::verdict;
using tick_grammar::build_tick_grammar;
using tick_grammar::edition;
using tick_grammar::tick_status;

namespace {

using strings = std::vector<std::string>;

// How often each place was stood at.
using coverage = std::map<std::string, int>;

constexpr std::size_t longest_walk = 250;

tick_grammar::options of(edition e, bool require_reply) {
  tick_grammar::options opts;
  opts.edition = e;
  opts.require_reply = require_reply;
  return opts;
}

strings large_registry() {
  strings names = golden::names("github_mcp");
  for (std::size_t i = 0; names.size() < 365; ++i) {
    names.push_back(fmt::format("{}_{}", names[i], i));
  }
  return names;
}

void check_coverage(const coverage& visited) {
  for (const char* place :
       {"start", "thought", "gap after a thought", "tag", "reply", "after a reply", "name",
        "gap in a call", "before the object", "object", "nested object", "array", "string",
        "escape", "unicode escape", "number or literal", "after the object", "after a call"}) {
    INFO(place);
    CHECK(visited.count(place) == 1);
  }
}

// What reading an output gives, put together again. Blanks between parts are the only thing lost.
void check_read_back(const std::string& text, bool ended) {
  const tick_grammar::tick tick = tick_grammar::read_tick(text);
  INFO(text);
  CHECK(tick.status != tick_status::malformed);
  CHECK((!ended || tick.status == tick_status::complete));
  if (!ended) {
    return;
  }
  std::size_t at = 0;
  const auto skip = [&](std::string_view part) {
    at = text.find_first_not_of(" \t\n", at);
    REQUIRE(at != std::string::npos);
    REQUIRE(text.compare(at, part.size(), part) == 0);
    at += part.size();
  };
  if (!tick.thought.empty()) {
    REQUIRE(text.compare(0, tick.thought.size(), tick.thought) == 0);
    at = tick.thought.size();
  }
  if (tick.reply) {
    skip("<reply>");
    REQUIRE(text.compare(at, tick.reply->size(), *tick.reply) == 0);
    at += tick.reply->size();
    skip("</reply>");
  }
  if (tick.call) {
    for (const std::string_view part :
         {std::string_view("<tool>"), tick.call->name, std::string_view("</tool>"),
          std::string_view("<args>"), tick.call->args, std::string_view("</args>")}) {
      skip(part);
    }
  }
  CHECK(text.find_first_not_of(" \t\n", at) == std::string::npos);
}

// Walks under `rules` until `steps` are done, calling `at_each_step` with the walk's text and mask,
// `on_accept` with each token, and `at_end` with the text and whether it ended by itself.
template <class Step, class Accept, class End>
void walk_through(const engine::vocabulary& vocab, const std::string& rules, walk::guide& guide,
                  int steps, const Step& at_each_step, const Accept& on_accept, const End& at_end) {
  const engine::grammar fresh(vocab, rules);
  while (steps > 0) {
    engine::grammar grammar(fresh);
    std::string text;
    bool ended = false;
    for (std::size_t length = 0; length < longest_walk && steps > 0; ++length, --steps) {
      const engine::token_mask mask = grammar.mask();
      at_each_step(text, mask);
      const std::optional<llama_token> token = guide.pick(mask, text);
      INFO(text);
      REQUIRE(token.has_value());  // or it was a dead end
      if (vocab.is_end(*token)) {
        ended = true;
        break;
      }
      grammar.accept(*token);
      on_accept(*token);
      text += vocab.piece(*token);
    }
    at_end(text, ended);
  }
}

void check_same_language(const engine::vocabulary& vocab, const strings& names, bool require_reply,
                         walk::guide& guide, int steps, coverage& visited) {
  const engine::grammar fresh(vocab,
                              build_tick_grammar(names, of(edition::reference, require_reply)));
  auto reference = std::make_unique<engine::grammar>(fresh);
  walk_through(
      vocab, build_tick_grammar(names, of(edition::fast, require_reply)), guide, steps,
      [&](const std::string& text, const engine::token_mask& mask) {
        ++visited[walk::place(text)];
        const bool same = reference->mask() == mask;
        INFO(text);
        REQUIRE(same);
      },
      [&](llama_token token) { reference->accept(token); },
      [&](const std::string& text, bool ended) {
        check_read_back(text, ended);
        reference = std::make_unique<engine::grammar>(fresh);
      });
}

}  // namespace

TEST_CASE("the places of a walk are told apart") {
  for (const auto& [text, expected] : std::vector<std::pair<const char*, const char*>>{
           {"", "start"},
           {"a b", "thought"},
           {"a \n", "gap after a thought"},
           {"a <", "tag"},
           {"<reply>x<t", "reply"},
           {"<reply>x</r", "tag"},
           {"<reply>x</reply>", "after a reply"},
           {"<reply><tool></reply><to", "tag"},
           {"<tool>ba", "name"},
           {"<tool>bash</tool> <a", "gap in a call"},
           {"<tool>bash</tool><args>\n", "before the object"},
           {"<tool>bash</tool><args>{", "object"},
           {"<tool>bash</tool><args>{\"a", "string"},
           {"<tool>bash</tool><args>{\"a\\", "escape"},
           {"<tool>bash</tool><args>{\"a\\u0", "unicode escape"},
           {"<tool>bash</tool><args>{\"a\\u0041", "string"},
           {"<tool>bash</tool><args>{\"a\\\\", "string"},
           {"<tool>bash</tool><args>{\"a\":[", "array"},
           {"<tool>bash</tool><args>{\"a\":{", "nested object"},
           {"<tool>bash</tool><args>{\"a\":1", "number or literal"},
           {"<tool>bash</tool><args>{\"</args>\":{}}\n", "after the object"},
           {"<tool>bash</tool><args>{\"</args>", "string"},
           {"<tool>bash</tool><args>{}</args>", "after a call"},
       }) {
    INFO(text);
    CHECK(walk::place(text) == expected);
  }
}

TEST_CASE("fast gives the mask of reference at every step, on two vocabularies") {
  struct setting {
    const char* vocabulary;
    int steps;
  };
  for (const setting& s : {setting{"gpt-2", 500}, setting{"qwen2", 250}}) {
    const engine::vocabulary vocab(s.vocabulary);
    walk::guide guide(vocab, 1);
    coverage visited;
    for (const strings& names : {golden::names("five_tools"), large_registry()}) {
      for (const bool require_reply : {false, true}) {
        check_same_language(vocab, names, require_reply, guide, s.steps, visited);
      }
    }
    INFO(s.vocabulary);
    check_coverage(visited);
  }
}

TEST_CASE("no step of any edition is a dead end, and every output can be read back") {
  const engine::vocabulary vocab("gpt-2");
  for (const tick_grammar::options& opts : golden::all_options()) {
    walk::guide guide(vocab, 2);
    int ended_by_itself = 0;
    walk_through(
        vocab, build_tick_grammar(outputs::registry, opts), guide, 500,
        [](const std::string&, const engine::token_mask&) {}, [](llama_token) {},
        [&](const std::string& text, bool ended) {
          ended_by_itself += ended ? 1 : 0;
          check_read_back(text, ended);
        });
    CHECK(ended_by_itself >= 5);
  }
}

namespace {

// A reply's `<` that the reference cannot hold: one with another `<` behind it, be it the closing
// tag's. With each of them replaced, what is left must be a reference output.
std::string without_s4(const std::string& text) {
  const tick_grammar::tick tick = tick_grammar::read_tick(text);
  std::string changed = text;
  if (tick.reply) {
    const auto start = static_cast<std::size_t>(tick.reply->data() - text.data());
    for (std::size_t i = start; i < start + tick.reply->size(); ++i) {
      if (text[i] == '<' && i + 1 < text.size() && text[i + 1] == '<') {
        changed[i] = 'x';
      }
    }
  }
  return changed;
}

}  // namespace

TEST_CASE("whatever strict lets through, reference accepts, but for exactly S4") {
  const engine::vocabulary vocab("gpt-2");
  int ended_by_itself = 0;
  int with_s4 = 0;
  for (const bool require_reply : {false, true}) {
    const std::string reference =
        build_tick_grammar(outputs::registry, of(edition::reference, require_reply));
    walk::guide guide(vocab, 3);
    std::vector<llama_token> tokens;
    walk_through(
        vocab, build_tick_grammar(outputs::registry, of(edition::strict, require_reply)), guide,
        1500, [](const std::string&, const engine::token_mask&) {},
        [&](llama_token token) { tokens.push_back(token); },
        [&](const std::string& text, bool ended) {
          const std::string changed = without_s4(text);
          const verdict as_sampled = engine::judge(vocab, reference, tokens).verdict;
          const verdict without =
              changed == text ? as_sampled : engine::judge(vocab, reference, changed).verdict;
          INFO(text);
          CHECK((ended ? without == verdict::accepted : without != verdict::refused));
          if (changed != text) {
            CHECK(as_sampled == verdict::refused);
          }
          ended_by_itself += ended ? 1 : 0;
          with_s4 += changed != text ? 1 : 0;
          tokens.clear();
        });
  }
  CHECK(ended_by_itself >= 30);
  CHECK(with_s4 >= 5);  // the exception was really seen
}
