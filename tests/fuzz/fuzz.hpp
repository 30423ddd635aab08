// What the fuzzers share. Each holds the library to rules written anew, so that a fault in it
// cannot hide in the check.
#ifndef TICK_GRAMMAR_TESTS_FUZZ_HPP
#define TICK_GRAMMAR_TESTS_FUZZ_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <tick_grammar.hpp>

// What libFuzzer calls with every input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fuzz {

// A broken promise ends the program, and libFuzzer keeps the input.
inline void check(bool kept, const char* promise) {
  if (!kept) {
    std::fprintf(stderr, "broken promise: %s\n", promise);
    std::abort();
  }
}

// Every combination of options is some byte modulo 12; '0' is the default.
inline tick_grammar::options options_from(std::uint8_t byte) {
  tick_grammar::options opts;
  opts.require_reply = byte % 2 == 1;
  opts.edition = static_cast<tick_grammar::edition>(byte / 2 % 3);
  opts.names = static_cast<tick_grammar::name_rule>(byte / 6 % 2);
  return opts;
}

}  // namespace fuzz

#endif  // TICK_GRAMMAR_TESTS_FUZZ_HPP
