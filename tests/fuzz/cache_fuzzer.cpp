// Any bytes as a program for a grammar_cache, which a list kept by hand has to predict.
//
// A program is CAPACITY OPERATION...; every operand is a byte of which the remainder counts, and
// digits stand for themselves. CAPACITY, modulo 6, is at least 1. An operation is REGISTRY, modulo
// 12, of which the last means clear(); else ORDER, modulo 6, and a byte for fuzz::options_from.

#include <algorithm>
#include <array>
#include <cstddef>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fuzz.hpp"

using fuzz::check;
using tick_grammar::grammar_cache;
using tick_grammar::name_rule;

namespace {

using strings = std::vector<std::string>;
using text_pointer = std::shared_ptr<const std::string>;

struct registry {
  strings names;
  bool by_identifier;  // whether the rule takes all of them
  bool by_mcp;

  bool taken(name_rule rule) const { return rule == name_rule::mcp ? by_mcp : by_identifier; }
};

const std::array<registry, 11> registries = {{
    {{"a"}, true, true},
    {{"a", "b"}, true, true},
    {{"a", "b", "c"}, true, true},
    {{"ab"}, true, true},
    {{"bash", "bash_bg", "read_file", "_x", "READ_FILE"}, true, true},
    {{"resolve-library-id", "query-docs"}, false, true},
    {{"a", "b.c"}, false, true},
    {{std::string(129, 'x'), "a"}, true, false},
    {{}, false, false},
    {{"a", "evil name", "b"}, false, false},
    {{"", "a"}, false, false},
}};

// The same set of names in another order, or with repetitions.
strings arranged(strings names, int order) {
  const strings once = names;
  switch (order) {
    case 1:
      std::reverse(names.begin(), names.end());
      break;
    case 2:
      std::sort(names.begin(), names.end());
      break;
    case 3: {
      const auto half = static_cast<std::ptrdiff_t>(names.size() / 2);
      std::rotate(names.begin(), names.begin() + half, names.end());
      break;
    }
    case 4:
      if (!once.empty()) names.push_back(once.front());
      break;
    case 5:
      names.insert(names.end(), once.begin(), once.end());
      break;
    default:
      break;
  }
  return names;
}

class model {
 public:
  explicit model(std::size_t capacity) : cache_(capacity), capacity_(capacity) { check_state(); }

  void get(const registry& tools, int order, const tick_grammar::options& opts) {
    const strings names = arranged(tools.names, order);
    text_pointer text;
    try {
      text = cache_.get(names, opts);
    } catch (const tick_grammar::registry_error&) {
      check(!tools.taken(opts.names), "a good registry has a grammar");
      return check_state();
    }
    check(tools.taken(opts.names), "a bad registry has none");
    check(text != nullptr && *text == tick_grammar::build_tick_grammar(names, opts),
          "the text is that of the registry passed in");
    expect(text, {names.begin(), names.end()}, opts);
    check_state();
  }

  void clear() {
    cache_.clear();
    kept_.clear();
    check_state();
  }

 private:
  struct entry {
    tick_grammar::options opts;
    std::set<std::string> names;
    text_pointer text;
  };

  void expect(const text_pointer& text, std::set<std::string> names,
              const tick_grammar::options& opts) {
    const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const entry& e) {
      return e.opts == opts && e.names == names;
    });
    if (known != kept_.end()) {
      check(known->text == text, "a hit gives the object that is kept");
      kept_.splice(kept_.begin(), kept_, known);
      ++expected_.hits;
      return;
    }
    for (const entry& e : kept_) check(e.text != text, "a miss gives a new object");
    kept_.push_front({opts, std::move(names), text});
    ++expected_.misses;
    if (kept_.size() > capacity_) {
      const std::weak_ptr<const std::string> evicted = kept_.back().text;
      kept_.pop_back();
      ++expected_.evictions;
      check(evicted.expired(), "the cache lets go of what it evicts");
    }
  }

  void check_state() const {
    const grammar_cache::counters actual = cache_.stats();
    check(cache_.capacity() == capacity_, "the capacity is what was asked for");
    check(cache_.size() == kept_.size(), "as many are kept as should be");
    check(actual.hits == expected_.hits, "hits are counted");
    check(actual.misses == expected_.misses, "misses are counted");
    check(actual.evictions == expected_.evictions, "evictions are counted");
  }

  grammar_cache cache_;
  const std::size_t capacity_;
  std::list<entry> kept_;  // most recently used first
  grammar_cache::counters expected_;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  model cache(std::max<std::size_t>(1, data[0] % 6U));
  for (std::size_t at = 1; at < size;) {
    const std::size_t pick = data[at++] % (registries.size() + 1);
    if (pick == registries.size()) {
      cache.clear();
    } else if (size - at >= 2) {
      const int order = data[at++] % 6;
      cache.get(registries[pick], order, fuzz::options_from(data[at++]));
    } else {
      break;
    }
  }
  return 0;
}
