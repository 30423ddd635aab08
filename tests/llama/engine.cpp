#include "engine.hpp"

#include <cmath>
#include <stdexcept>

namespace engine {
namespace {

std::string& engine_log() {
  static std::string text;
  return text;
}

void start_engine() {
  static const bool started = [] {
    llama_log_set([](ggml_log_level, const char* text, void*) { engine_log() += text; }, nullptr);
    llama_backend_init();
    return true;
  }();
  (void)started;
}

}  // namespace

vocabulary::vocabulary(const std::string& name) {
  start_engine();
  const std::string file = TICK_GRAMMAR_VOCAB_DIR "/" + name + ".gguf";
  llama_model_params params = llama_model_default_params();
  params.vocab_only = true;
  model_.reset(llama_model_load_from_file(file.c_str(), params));
  if (!model_) {
    throw std::runtime_error("no vocabulary " + file + ":\n" + engine_log());
  }
  const llama_token count = llama_vocab_n_tokens(get());
  bytes_.fill(LLAMA_TOKEN_NULL);
  for (llama_token token = 0; token < count; ++token) {
    std::array<char, 512> text{};
    const int size = llama_token_to_piece(get(), token, text.data(), int{text.size()}, 0, false);
    pieces_.emplace_back(text.data(), static_cast<std::size_t>(size < 0 ? 0 : size));
    if (size == 1) {
      bytes_[static_cast<unsigned char>(text[0])] = token;
    }
  }
}

std::vector<llama_token> vocabulary::tokenize(const std::string& text) const {
  std::vector<llama_token> tokens(text.size() + 1);
  const int count = llama_tokenize(get(), text.data(), static_cast<int>(text.size()), tokens.data(),
                                   static_cast<int>(tokens.size()), false, false);
  if (count < 0) {
    throw std::runtime_error("cannot tokenize: " + text);
  }
  tokens.resize(static_cast<std::size_t>(count));
  return tokens;
}

grammar::grammar(const vocabulary& vocab, const std::string& text) : vocab_(&vocab) {
  engine_log().clear();
  sampler_.reset(llama_sampler_init_grammar(vocab.get(), text.c_str(), "root"));
  if (!sampler_) {
    throw std::runtime_error("the grammar does not parse:\n" + engine_log());
  }
}

grammar::grammar(const grammar& other)
    : vocab_(other.vocab_), sampler_(llama_sampler_clone(other.sampler_.get())) {}

void grammar::apply(std::vector<llama_token_data>& candidates) {
  llama_token_data_array array{candidates.data(), candidates.size(), -1, false};
  llama_sampler_apply(sampler_.get(), &array);
}

token_mask grammar::mask() {
  std::vector<llama_token_data> candidates(vocab_->size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i] = {static_cast<llama_token>(i), 0.0F, 0.0F};
  }
  apply(candidates);
  token_mask allowed(candidates.size());
  for (const llama_token_data& candidate : candidates) {
    allowed[static_cast<std::size_t>(candidate.id)] = !std::isinf(candidate.logit);
  }
  return allowed;
}

bool grammar::allows(llama_token token) {
  std::vector<llama_token_data> candidates = {{token, 0.0F, 0.0F}};
  apply(candidates);
  return !std::isinf(candidates.front().logit);
}

judgement judge(const vocabulary& vocab, const std::string& grammar_text,
                const std::vector<llama_token>& tokens) {
  grammar rules(vocab, grammar_text);
  judgement result;
  for (const llama_token token : tokens) {
    if (!rules.allows(token)) {
      result.verdict = outputs::verdict::refused;
      return result;
    }
    rules.accept(token);
    ++result.at;
  }
  result.verdict = rules.may_end() ? outputs::verdict::accepted : outputs::verdict::open;
  return result;
}

judgement judge(const vocabulary& vocab, const std::string& grammar_text,
                const std::string& output) {
  std::vector<llama_token> tokens;
  for (const char c : output) {
    tokens.push_back(vocab.byte(c));
  }
  return judge(vocab, grammar_text, tokens);
}

}  // namespace engine
