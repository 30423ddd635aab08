// A real llama.cpp, as far as a grammar needs one: vocabularies without weights, and grammar
// samplers asked for what they allow.
#ifndef TICK_GRAMMAR_TESTS_LLAMA_ENGINE_HPP
#define TICK_GRAMMAR_TESTS_LLAMA_ENGINE_HPP

#include <llama.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../outputs.hpp"

namespace engine {

class vocabulary {
 public:
  // A file of the vocabularies that get_llama.sh fetches: "gpt-2", "llama-bpe" or "qwen2".
  explicit vocabulary(const std::string& name);

  [[nodiscard]] const llama_vocab* get() const { return llama_model_get_vocab(model_.get()); }
  [[nodiscard]] std::size_t size() const { return pieces_.size(); }
  [[nodiscard]] const std::string& piece(llama_token token) const {
    return pieces_[static_cast<std::size_t>(token)];
  }
  // The token that is this one byte, with which any text can be fed exactly.
  [[nodiscard]] llama_token byte(char c) const { return bytes_[static_cast<unsigned char>(c)]; }
  [[nodiscard]] llama_token end() const { return llama_vocab_eos(get()); }
  [[nodiscard]] bool is_end(llama_token token) const { return llama_vocab_is_eog(get(), token); }
  [[nodiscard]] std::vector<llama_token> tokenize(const std::string& text) const;

 private:
  struct free_model {
    void operator()(llama_model* model) const { llama_model_free(model); }
  };
  std::unique_ptr<llama_model, free_model> model_;
  std::vector<std::string> pieces_;
  std::array<llama_token, 256> bytes_{};
};

// Which tokens may come next.
using token_mask = std::vector<bool>;

class grammar {
 public:
  // Throws std::runtime_error with the engine's log when it does not parse.
  grammar(const vocabulary& vocab, const std::string& text);
  grammar(const grammar& other);
  grammar& operator=(const grammar&) = delete;
  ~grammar() = default;

  [[nodiscard]] token_mask mask();
  [[nodiscard]] bool allows(llama_token token);
  [[nodiscard]] bool may_end() { return allows(vocab_->end()); }
  void accept(llama_token token) { llama_sampler_accept(sampler_.get(), token); }

  // The bare call that a mask is: every token, all of them equally likely before.
  void apply(std::vector<llama_token_data>& candidates);

 private:
  struct free_sampler {
    void operator()(llama_sampler* sampler) const { llama_sampler_free(sampler); }
  };
  const vocabulary* vocab_;
  std::unique_ptr<llama_sampler, free_sampler> sampler_;
};

struct judgement {
  outputs::verdict verdict = outputs::verdict::open;
  std::size_t at = 0;  // how many tokens were taken
};

judgement judge(const vocabulary& vocab, const std::string& grammar_text,
                const std::vector<llama_token>& tokens);

// Feeds a text byte by byte. The vocabulary must have a token for every byte, as gpt-2's has.
judgement judge(const vocabulary& vocab, const std::string& grammar_text,
                const std::string& output);

}  // namespace engine

#endif  // TICK_GRAMMAR_TESTS_LLAMA_ENGINE_HPP
