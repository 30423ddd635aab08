// The registry-keyed cache: what hits, what goes, what a failure leaves behind.

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <tick_grammar.hpp>
#include <unordered_map>
#include <vector>

#include "catch.hpp"
#include "golden.hpp"

using tick_grammar::build_tick_grammar;
using tick_grammar::grammar_cache;

namespace {

using strings = std::vector<std::string>;

tick_grammar::options with_reply() {
  tick_grammar::options opts;
  opts.require_reply = true;
  return opts;
}

bool has_counted(const grammar_cache& cache, std::uint64_t hits, std::uint64_t misses,
                 std::uint64_t evictions) {
  const grammar_cache::counters c = cache.stats();
  INFO(c.hits << " hits, " << c.misses << " misses, " << c.evictions << " evictions");
  CHECK(c.hits == hits);
  CHECK(c.misses == misses);
  CHECK(c.evictions == evictions);
  return true;
}

}  // namespace

TEST_CASE("a cached grammar is the built one, and the same object on a hit") {
  grammar_cache cache;
  const strings names = golden::names("eidos_tools");
  const auto first = cache.get(names);
  CHECK(*first == build_tick_grammar(names));
  CHECK(cache.get(names) == first);
  CHECK(cache.size() == 1);
  has_counted(cache, 1, 1, 0);
}

TEST_CASE("neither order nor duplicates miss") {
  grammar_cache cache;
  const auto first = cache.get({"a", "b", "c"});
  CHECK(cache.get({"c", "a", "b"}) == first);
  CHECK(cache.get({"c", "a", "b"}) == first);
  CHECK(cache.get({"a", "a", "b", "c", "b"}) == first);
  CHECK(cache.get(std::unordered_map<std::string, int>{{"b", 1}, {"c", 2}, {"a", 3}}) == first);
  has_counted(cache, 4, 1, 0);
}

TEST_CASE("adding, removing and renaming a tool miss, and give the registry passed in") {
  grammar_cache cache;
  for (const strings& names : {strings{"a", "b"}, strings{"a", "b", "c"}, strings{"a"},
                               strings{"a", "B"}, strings{"ab"}, strings{"a_b"}, strings{"b"}}) {
    CHECK(*cache.get(names) == build_tick_grammar(names));
  }
  has_counted(cache, 0, 7, 0);
}

TEST_CASE("a registry is compared to its end: one more name, or one less, is another registry") {
  grammar_cache cache;
  CHECK(*cache.get({"a", "b"}) == build_tick_grammar({"a", "b"}));
  CHECK(*cache.get({"a", "b", "c"}) == build_tick_grammar({"a", "b", "c"}));
  CHECK(*cache.get({"a"}) == build_tick_grammar({"a"}));
  CHECK_THROWS_AS(cache.get({}), tick_grammar::registry_error);
}

TEST_CASE("each option is part of the key") {
  grammar_cache cache;
  tick_grammar::options mcp;
  mcp.names = tick_grammar::name_rule::mcp;
  const auto plain = cache.get({"bash"});
  const auto reply = cache.get({"bash"}, with_reply());
  const auto named = cache.get({"bash"}, mcp);
  CHECK(plain != reply);
  CHECK(plain != named);  // equal bytes, but only one of the two rules was asked for
  CHECK(*reply == build_tick_grammar({"bash"}, with_reply()));
  CHECK(cache.get({"bash"}) == plain);
  CHECK(cache.get({"bash"}, with_reply()) == reply);
  CHECK(cache.get({"bash"}, mcp) == named);
  has_counted(cache, 3, 3, 0);
}

TEST_CASE("flipping require_reply and alternating among registries always hits") {
  grammar_cache cache;
  const std::vector<strings> registries = {golden::names("five_tools"), golden::names("github_mcp"),
                                           golden::names("prefix_names")};
  for (int tick = 0; tick < 60; ++tick) {
    const strings& names = registries[static_cast<std::size_t>(tick) % registries.size()];
    const tick_grammar::options opts = tick % 2 == 0 ? tick_grammar::options() : with_reply();
    CHECK(*cache.get(names, opts) == build_tick_grammar(names, opts));
  }
  has_counted(cache, 54, 6, 0);
}

TEST_CASE("the least recently used grammar goes when the cache is full") {
  grammar_cache cache(2);
  const auto a = cache.get({"a"});
  const auto b = cache.get({"b"});
  CHECK(cache.get({"a"}) == a);  // b is now the older one
  const auto c = cache.get({"c"});
  CHECK(cache.size() == 2);
  has_counted(cache, 1, 3, 1);
  CHECK(cache.get({"a"}) == a);
  CHECK(cache.get({"c"}) == c);
  CHECK(cache.get({"b"}) != b);
  has_counted(cache, 3, 4, 2);
}

TEST_CASE("a use makes a grammar the most recent, wherever it was") {
  grammar_cache cache(3);
  const auto a = cache.get({"a"});
  (void)cache.get({"b"});
  const auto c = cache.get({"c"});
  CHECK(cache.get({"a"}) == a);
  (void)cache.get({"d"});  // b goes
  CHECK(cache.get({"c"}) == c);
  CHECK(cache.get({"a"}) == a);
  has_counted(cache, 3, 4, 1);
}

TEST_CASE("a hit by another order counts as a use") {
  grammar_cache cache(2);
  const auto ab = cache.get({"a", "b"});
  (void)cache.get({"c"});
  CHECK(cache.get({"b", "a"}) == ab);
  (void)cache.get({"d"});
  CHECK(cache.get({"b", "a"}) == ab);
}

TEST_CASE("a cache of one keeps the last registry") {
  grammar_cache cache(1);
  const auto a = cache.get({"a"});
  CHECK(cache.get({"a"}) == a);
  (void)cache.get({"b"});
  CHECK(cache.size() == 1);
  CHECK(cache.get({"a"}) != a);
  has_counted(cache, 1, 3, 2);
}

TEST_CASE("capacity 0 is an error, the default is 16") {
  CHECK_THROWS_AS(grammar_cache(0), std::invalid_argument);
  CHECK(grammar_cache().capacity() == 16);
  CHECK(grammar_cache(3).capacity() == 3);
}

TEST_CASE("clear forgets the grammars and keeps the counters") {
  grammar_cache cache;
  const auto a = cache.get({"a"});
  cache.clear();
  CHECK(cache.size() == 0);
  CHECK(cache.get({"a"}) != a);
  has_counted(cache, 0, 2, 0);
}

TEST_CASE("strings outlive eviction, clear and the cache itself") {
  std::shared_ptr<const std::string> evicted;
  std::shared_ptr<const std::string> kept;
  {
    grammar_cache cache(1);
    evicted = cache.get({"a"});
    kept = cache.get({"b"});
  }
  CHECK(*evicted == build_tick_grammar({"a"}));
  CHECK(*kept == build_tick_grammar({"b"}));
}

TEST_CASE("a call that throws leaves everything as it was") {
  grammar_cache cache(1);
  const auto a = cache.get({"a"});
  tick_grammar::options unknown;
  unknown.edition = static_cast<tick_grammar::edition>(3);
  CHECK_THROWS_AS(cache.get({"a", "evil name"}), tick_grammar::registry_error);
  CHECK_THROWS_AS(cache.get(strings{}), tick_grammar::registry_error);
  CHECK_THROWS_AS(cache.get({"b"}, unknown), std::invalid_argument);
  CHECK(cache.size() == 1);
  has_counted(cache, 0, 1, 0);
  CHECK(cache.get({"a"}) == a);
}

TEST_CASE("the process-wide cache is one for all callers") {
  const auto first = tick_grammar::tick_grammar_cached({"process", "wide"});
  CHECK(tick_grammar::tick_grammar_cached(strings{"wide", "process"}) == first);
  CHECK(*tick_grammar::tick_grammar_cached({"process", "wide"}, with_reply()) ==
        build_tick_grammar({"process", "wide"}, with_reply()));
}

// Under ThreadSanitizer this also proves that nothing is shared without the lock. The small cache
// evicts all the time, so that threads hold strings that are no longer kept.
TEST_CASE("threads always get the grammar of the registry they passed") {
  const std::vector<strings> registries = {golden::names("five_tools"),
                                           golden::names("github_mcp"),
                                           golden::names("prefix_names"),
                                           {"a", "b"}};
  std::vector<std::string> expected;
  for (const strings& names : registries) {
    expected.push_back(build_tick_grammar(names));
    expected.push_back(build_tick_grammar(names, with_reply()));
  }
  grammar_cache small(3);
  grammar_cache large;
  constexpr int rounds = 400;
  constexpr std::size_t thread_count = 8;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < thread_count; ++t) {
    threads.emplace_back([&, t] {
      strings names;
      for (std::size_t round = 0; round < rounds; ++round) {
        const std::size_t pick = (t * 7 + round * 3) % expected.size();
        names = registries[pick / 2];
        if (round % 5 == 0) {
          std::reverse(names.begin(), names.end());
        }
        const tick_grammar::options opts = pick % 2 == 0 ? tick_grammar::options() : with_reply();
        // Apart from each other, or one's lock would hide that another takes none.
        if (round % 97 == 0) {
          small.clear();
        }
        wrong += *small.get(names, opts) != expected[pick];
        wrong += *large.get(names, opts) != expected[pick];
        wrong += small.size() > small.capacity();
        wrong += *large.get(names, opts) != expected[pick];
        const grammar_cache::counters now = small.stats();
        wrong += now.evictions > now.misses;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(wrong == 0);
  CHECK(large.size() == expected.size());
  const grammar_cache::counters c = large.stats();
  CHECK(c.hits + c.misses == 2 * thread_count * rounds);
  CHECK(c.misses == expected.size());
  CHECK(small.stats().evictions > 0);
}
