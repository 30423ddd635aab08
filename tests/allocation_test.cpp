// A promise with a program of its own, since it replaces the global operator new: a hit on an
// unchanged registry allocates nothing, nor does reading a tick.

#include <atomic>
#include <cstdlib>
#include <iterator>
#include <map>
#include <new>
#include <string>
#include <tick_grammar.hpp>
#include <vector>

#include "catch.hpp"

namespace {

std::atomic<std::size_t> allocations{0};
constexpr std::size_t unlimited = static_cast<std::size_t>(-1);
std::atomic<std::size_t> allocations_left{unlimited};

template <class Call>
std::size_t allocations_in(const Call& call) {
  const std::size_t before = allocations;
  call();
  return allocations - before;
}

}  // namespace

// Out of line, or g++ sees through them and warns that free() gets what operator new returned.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  if (allocations_left == 0) {
    return nullptr;
  }
  --allocations_left;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) {
    return memory;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

TEST_CASE("a hit on an unchanged registry allocates nothing") {
  std::vector<std::string> names;
  std::map<std::string, int> map;
  for (int i = 0; i < 500; ++i) {
    names.push_back("a_tool_whose_name_is_too_long_for_a_small_string_" + std::to_string(i));
    map[names.back()] = i;
  }
  tick_grammar::grammar_cache cache;
  tick_grammar::options reply;
  reply.require_reply = true;
  const auto hit = [&] {
    (void)cache.get(names);
    (void)cache.get(names, reply);
    (void)cache.get({"one", "two"});
  };
  CHECK(allocations_in(hit) > 0);  // the counter counts
  CHECK(allocations_in(hit) == 0);

  (void)cache.get(map);
  CHECK(allocations_in([&] { (void)cache.get(map); }) == 0);
}

TEST_CASE("reading a tick allocates nothing") {
  const std::string tick = std::string(1000, 'a') + "\n<reply>" + std::string(1000, 'b') +
                           "</reply> <tool>bash</tool> <args>{\"a\":\"" + std::string(1000, 'c') +
                           "\"}</args>";
  const auto read = [&] { return tick_grammar::read_tick(tick); };
  CHECK(read().call.has_value());
  CHECK(allocations_in(read) == 0);
}

TEST_CASE("memory that runs out, wherever it does, leaves the cache as it was") {
  tick_grammar::grammar_cache cache;
  const auto a = cache.get({"a"});
  bool built = false;
  for (std::size_t limit = 0; !built; ++limit) {
    allocations_left = limit;
    try {
      built = cache.get({"c", "b"}) != nullptr;
    } catch (const std::bad_alloc&) {  // as expected
    }
    allocations_left = unlimited;
    CHECK(cache.size() == (built ? 2 : 1));
    CHECK(cache.stats().misses == (built ? 2 : 1));
    CHECK(cache.get({"a"}) == a);
  }
}

namespace {
struct made_names {  // a range whose names are made on the fly
  struct iterator {
    using iterator_category = std::input_iterator_tag;
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::string_view*;
    using reference = std::string_view;
    int at;
    std::string_view operator*() const { return at == 0 ? "a" : "b"; }
    iterator& operator++() { return ++at, *this; }
    bool operator!=(const iterator& other) const { return at != other.at; }
  };
  iterator begin() const { return {0}; }
  iterator end() const { return {2}; }
};
}  // namespace

TEST_CASE("a hit by names made on the fly copies them, and builds nothing") {
  tick_grammar::grammar_cache cache;
  (void)cache.get(made_names());
  CHECK(allocations_in([&] { (void)cache.get(made_names()); }) <= 2);  // a list of two
}
