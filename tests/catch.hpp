// The one place that knows which Catch2 is installed: 3.x, or Debian 12's 2.13.
#ifndef TICK_GRAMMAR_TESTS_CATCH_HPP
#define TICK_GRAMMAR_TESTS_CATCH_HPP

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
inline auto contains(const char* text) { return Catch::Matchers::ContainsSubstring(text); }
#else
#include <catch2/catch.hpp>
inline auto contains(const char* text) { return Catch::Matchers::Contains(text); }
#endif

#endif  // TICK_GRAMMAR_TESTS_CATCH_HPP
