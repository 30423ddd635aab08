// What a tick costs: a build, a hit, and the bare comparison of the registry with a copy of itself,
// in one run. Run by hand; prints a table of ratios after Catch2's own.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <tick_grammar.hpp>
#include <vector>

#include "catch.hpp"
#include "golden.hpp"

namespace {

using strings = std::vector<std::string>;
using clock_type = std::chrono::steady_clock;

strings registry_of(std::size_t size) {
  if (size == 5) {
    return golden::names("five_tools");
  }
  if (size == 46) {
    return golden::names("eidos_tools");
  }
  strings names = golden::names("github_mcp");
  for (std::size_t i = 0; names.size() < size; ++i) {
    names.push_back(fmt::format("{}_{}", names[i], i));
  }
  return names;
}

// Nanoseconds a call, the minimum of many batches: what is left when the machine is quiet.
template <class Call>
double fastest(const Call& call, int calls_a_batch) {
  double best = 1e30;
  for (int batch = 0; batch < 200; ++batch) {
    const auto start = clock_type::now();
    for (int i = 0; i < calls_a_batch; ++i) {
      call();
    }
    const std::chrono::duration<double, std::nano> taken = clock_type::now() - start;
    best = std::min(best, taken.count() / calls_a_batch);
  }
  return best;
}

// Hides the value from the optimizer, which could otherwise hoist a comparison out of the loop.
volatile bool sink = false;
template <class T>
const T& opaque(const T& value) {
  const T* volatile pointer = &value;
  return *pointer;
}

}  // namespace

TEST_CASE("build and hit") {
  for (const std::size_t size : {5U, 46U, 117U, 2000U}) {
    const strings names = registry_of(size);
    const strings copy = names;
    tick_grammar::grammar_cache cache;
    (void)cache.get(names);
    BENCHMARK(fmt::format("{} names: comparison", size)) { return opaque(names) == copy; };
    BENCHMARK(fmt::format("{} names: hit", size)) { return cache.get(names); };
    BENCHMARK(fmt::format("{} names: build", size)) {
      return tick_grammar::build_tick_grammar(names);
    };
  }
}

TEST_CASE("ratios") {
  std::printf("\n%6s %14s %14s %14s %12s\n", "names", "comparison/ns", "hit/ns", "build/ns",
              "hit ratio");
  for (const std::size_t size : {5U, 46U, 117U, 2000U}) {
    const strings names = registry_of(size);
    const strings copy = names;
    tick_grammar::grammar_cache cache;
    (void)cache.get(names);
    const int calls = size > 1000 ? 50 : 1000;
    const double compare = fastest([&] { sink = opaque(names) == copy; }, calls);
    const double hit = fastest([&] { sink = cache.get(names) != nullptr; }, calls);
    const double build =
        fastest([&] { sink = tick_grammar::build_tick_grammar(names).empty(); }, calls / 50);
    std::printf("%6zu %14.0f %14.0f %14.0f %12.2f\n", size, compare, hit, build, hit / compare);
  }
}
