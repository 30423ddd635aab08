// Seeded random walks through a grammar: what a model of pure noise would say, steered just enough
// to visit every place of the contract.
#ifndef TICK_GRAMMAR_TESTS_LLAMA_WALK_HPP
#define TICK_GRAMMAR_TESTS_LLAMA_WALK_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "engine.hpp"

namespace walk {

// The place of the contract at which a text that keeps it stands.
std::string place(std::string_view text);

// Picks the next token. Nothing is left to the standard library's distributions, whose results
// differ between implementations.
class guide {
 public:
  guide(const engine::vocabulary& vocab, std::uint32_t seed) : vocab_(&vocab), random_(seed) {}

  // One of the tokens allowed after `text`; an end token ends the walk; nullopt when nothing at all
  // is allowed.
  std::optional<llama_token> pick(const engine::token_mask& mask, std::string_view text);

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  const engine::vocabulary* vocab_;
  std::mt19937 random_;
  std::map<std::string, std::map<char, int>> tried_;  // how often which kind of token, by place
};

}  // namespace walk

#endif  // TICK_GRAMMAR_TESTS_LLAMA_WALK_HPP
