// What the header promises at compile time.

#include <cstdlib>
#include <string>
#include <tick_grammar.hpp>
#include <tick_grammar.hpp>  // twice: guarded
#include <type_traits>

#include "catch.hpp"

using tick_grammar::grammar_cache;
using tick_grammar::options;
using tick_grammar::registry_error;

// The version and the inline namespace move together.
static_assert(TICK_GRAMMAR_VERSION_MAJOR == 0 && TICK_GRAMMAR_VERSION_MINOR == 1);
static_assert(std::is_same_v<options, tick_grammar::v0_1::options>);

static_assert(std::is_aggregate_v<options>);
static_assert(options() == options());
static_assert(noexcept(options() == options()));
static_assert(options{true} != options{false});

static_assert(std::is_base_of_v<std::invalid_argument, registry_error>);
static_assert(std::is_nothrow_copy_constructible_v<registry_error>);
static_assert(noexcept(std::declval<const registry_error&>().rejected()));

static_assert(!std::is_copy_constructible_v<grammar_cache>);
static_assert(!std::is_move_constructible_v<grammar_cache>);
static_assert(!std::is_convertible_v<std::size_t, grammar_cache>);  // explicit
static_assert(noexcept(std::declval<grammar_cache&>().clear()));
static_assert(noexcept(std::declval<const grammar_cache&>().size()));
static_assert(noexcept(std::declval<const grammar_cache&>().capacity()));
static_assert(noexcept(std::declval<const grammar_cache&>().stats()));

static_assert(noexcept(tick_grammar::read_tick({})));

static_assert(!tick_grammar::json_gbnf.empty());  // usable in constant expressions

// Defined in promises_other.cpp, which includes the header too.
std::string other_grammar();

TEST_CASE("two translation units share one process-wide cache") {
  CHECK(other_grammar() == *tick_grammar::tick_grammar_cached({"shared"}));
  static_assert(std::is_same_v<decltype(tick_grammar::tick_grammar_cached({"shared"})),
                               std::shared_ptr<const std::string>>);
}

TEST_CASE("options differ when one of their members does") {
  const options plain;
  options reply;
  reply.require_reply = true;
  options strict;
  strict.edition = tick_grammar::edition::strict;
  options mcp;
  mcp.names = tick_grammar::name_rule::mcp;
  CHECK(plain == options());
  for (const options& other : {reply, strict, mcp}) {
    CHECK(plain != other);
    CHECK_FALSE(plain == other);
  }
}

namespace {
// Older than the process-wide cache, and so destroyed after whatever that cache might destroy.
struct late_caller {
  std::shared_ptr<const std::string> kept;
  ~late_caller() {
    if (kept && tick_grammar::tick_grammar_cached({"late"}) != kept) std::_Exit(1);
  }
} late;
}  // namespace

TEST_CASE("the process-wide cache serves the destructors of static objects") {
  late.kept = tick_grammar::tick_grammar_cached({"late"});
  CHECK(late.kept != nullptr);
}
