// One tick inside the process: libllama samples under our grammar, read_tick takes the output
// apart.
// `--noise` needs no weights and shows what the grammar by itself makes of a model that only
// babbles.

#include <llama-cpp.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tick_grammar.hpp>
#include <vector>

namespace {

constexpr const char* usage =
    "usage: llama_inprocess [options] MODEL.gguf PROMPT\n"
    "       llama_inprocess [options] --noise VOCABULARY.gguf\n"
    "\n"
    "Samples one output of an agent that has the tools bash, read_file and speak.\n"
    "\n"
    "  --edition EDITION    reference, fast or strict (reference)\n"
    "  --require-reply      make the reply mandatory\n"
    "  --seed N             of the sampling (1)\n"
    "  --help               print this and exit\n"
    "\n"
    "PROMPT is taken as it is, control tokens included. If ggml does not find its own back ends,\n"
    "set GGML_BACKEND_PATH to one: the path of a libggml-cpu-*.so.\n"
    "\n"
    "Exit code: 0 the output keeps the contract, 1 there is none that does, 2 wrong usage.\n";

struct settings {
  tick_grammar::options grammar;
  std::uint32_t seed = 1;
  bool noise = false;
  std::string model;
  std::string prompt;
};

constexpr int max_tokens = 1000;

// ---- Sampling -----------------------------------------------------------------------------------

// A grammar that does not parse comes back as a null pointer. Leaving it out would sample as well,
// under no grammar at all.
llama_sampler_ptr make_sampler(const llama_vocab* vocab, const settings& chosen) {
  const std::string grammar =
      tick_grammar::build_tick_grammar({"bash", "read_file", "speak"}, chosen.grammar);
  llama_sampler* constraint = llama_sampler_init_grammar(vocab, grammar.c_str(), "root");
  if (constraint == nullptr) throw std::runtime_error("llama.cpp refuses the grammar");
  llama_sampler_ptr chain(llama_sampler_chain_init(llama_sampler_chain_default_params()));
  llama_sampler_chain_add(chain.get(), constraint);
  llama_sampler_chain_add(chain.get(), llama_sampler_init_dist(chosen.seed));
  return chain;
}

std::string text_of(const llama_vocab* vocab, llama_token token) {
  std::string text(32, '\0');
  const auto write = [&] {
    return llama_token_to_piece(vocab, token, text.data(), static_cast<int>(text.size()), 0, false);
  };
  int size = write();
  if (size < 0) {  // the size it takes, negated
    text.resize(static_cast<std::size_t>(-size));
    size = write();
  }
  text.resize(static_cast<std::size_t>(size));
  return text;
}

// What noise may draw: the printable characters of ASCII, so that a tag or a quote comes up now and
// then, `</`, since it would hardly ever close a reply otherwise, and the end of the output.
std::vector<llama_token_data> noise_tokens(const llama_vocab* vocab) {
  std::vector<llama_token_data> tokens;
  for (llama_token token = 0; token < llama_vocab_n_tokens(vocab); ++token) {
    const std::string text = text_of(vocab, token);
    const bool printable = text.size() == 1 && text[0] >= ' ' && text[0] <= '~';
    if (printable || text == "</" || llama_vocab_is_eog(vocab, token)) {
      tokens.push_back({token, 0.0F, 0.0F});
    }
  }
  return tokens;
}

// The output that `next_token` gives, up to its end or to the limit.
std::string collect(const llama_vocab* vocab, const std::function<llama_token()>& next_token) {
  std::string output;
  for (int i = 0; i < max_tokens; ++i) {
    const llama_token token = next_token();
    if (llama_vocab_is_eog(vocab, token)) break;
    output += text_of(vocab, token);
  }
  return output;
}

// Draws from what the grammar leaves of the noise, each token being as likely as any other.
std::string babble(const llama_model* model, const settings& chosen) {
  const llama_vocab* vocab = llama_model_get_vocab(model);
  const llama_sampler_ptr sampler = make_sampler(vocab, chosen);
  const std::vector<llama_token_data> noise = noise_tokens(vocab);
  return collect(vocab, [&] {
    std::vector<llama_token_data> tokens = noise;
    llama_token_data_array left = {tokens.data(), tokens.size(), -1, false};
    llama_sampler_apply(sampler.get(), &left);
    const llama_token token = left.data[left.selected].id;
    llama_sampler_accept(sampler.get(), token);  // once a token, or the grammar loses its place
    return token;
  });
}

std::vector<llama_token> tokenize(const llama_vocab* vocab, const std::string& text) {
  std::vector<llama_token> tokens(text.size() + 2);  // one a byte at most, and two around them
  const int size =
      llama_tokenize(vocab, text.data(), static_cast<int>(text.size()), tokens.data(),
                     static_cast<int>(tokens.size()), /*add_special=*/true, /*parse_special=*/true);
  tokens.resize(static_cast<std::size_t>(std::max(size, 0)));
  return tokens;
}

std::string generate(llama_model* model, const settings& chosen) {
  const llama_vocab* vocab = llama_model_get_vocab(model);
  const llama_sampler_ptr sampler = make_sampler(vocab, chosen);
  std::vector<llama_token> unread = tokenize(vocab, chosen.prompt);
  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<std::uint32_t>(unread.size()) + max_tokens;
  params.n_batch = params.n_ctx;
  // Threads wait for each other at every step, and more than there are cores wait very long.
  params.n_threads = static_cast<int>(std::thread::hardware_concurrency() + 1) / 2;
  const llama_context_ptr context(llama_init_from_model(model, params));
  if (!context) throw std::runtime_error("no context for this model");
  return collect(vocab, [&] {
    const llama_batch batch = llama_batch_get_one(unread.data(), static_cast<int>(unread.size()));
    if (llama_decode(context.get(), batch) != 0) throw std::runtime_error("llama_decode failed");
    const llama_token token = llama_sampler_sample(sampler.get(), context.get(), -1);  // accepts it
    unread = {token};
    return token;
  });
}

// ---- Showing it ---------------------------------------------------------------------------------

void show(const char* part, std::string_view text) {
  std::printf("%-8s%.*s\n", part, static_cast<int>(text.size()), text.data());
}

void show(const tick_grammar::tick& tick) {
  constexpr const char* statuses[] = {"complete", "partial: cut by the token limit", "malformed"};
  show("status", statuses[static_cast<int>(tick.status)]);
  if (!tick.thought.empty()) show("thought", tick.thought);
  if (tick.reply) show("reply", *tick.reply);
  if (tick.call) {
    show("tool", tick.call->name);
    show("args", tick.call->args);
  }
}

// Whether the output kept the contract.
bool run(const settings& chosen) {
  llama_log_set(
      [](ggml_log_level level, const char* text, void*) {
        if (level == GGML_LOG_LEVEL_ERROR) std::fputs(text, stderr);
      },
      nullptr);
  ggml_backend_load_all();
  llama_model_params params = llama_model_default_params();
  params.vocab_only = chosen.noise;
  const llama_model_ptr model(llama_model_load_from_file(chosen.model.c_str(), params));
  if (!model) throw std::runtime_error("cannot load " + chosen.model);
  const std::string output =
      chosen.noise ? babble(model.get(), chosen) : generate(model.get(), chosen);
  const tick_grammar::tick tick = tick_grammar::read_tick(output);
  show("output", output);
  show(tick);
  return tick.status != tick_grammar::tick_status::malformed;
}

bool read_number(const std::string& text, std::uint32_t& number) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end;
}

settings parse(const std::vector<std::string>& arguments) {
  using tick_grammar::edition;
  const std::map<std::string, edition> editions = {
      {"reference", edition::reference}, {"fast", edition::fast}, {"strict", edition::strict}};
  settings chosen;
  std::vector<std::string> rest;
  for (auto it = arguments.begin(); it != arguments.end(); ++it) {
    const std::string value = std::next(it) == arguments.end() ? "" : *std::next(it);
    if (*it == "--require-reply") {
      chosen.grammar.require_reply = true;
    } else if (*it == "--noise") {
      chosen.noise = true;
    } else if (*it == "--edition" && editions.count(value) > 0) {
      chosen.grammar.edition = editions.at(value);
      ++it;
    } else if (*it == "--seed" && read_number(value, chosen.seed)) {
      ++it;
    } else if (it->rfind("--", 0) == 0) {
      throw std::invalid_argument(*it + " is no option, or its value is wrong");
    } else {
      rest.push_back(*it);
    }
  }
  if (rest.size() != (chosen.noise ? 1U : 2U)) {
    throw std::invalid_argument(chosen.noise ? "--noise takes one file"
                                             : "takes a model and a prompt");
  }
  chosen.model = rest.front();
  chosen.prompt = rest.back();
  return chosen;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (std::count(arguments.begin(), arguments.end(), "--help") > 0) {
    std::fputs(usage, stdout);
    return 0;
  }
  try {
    return run(parse(arguments)) ? 0 : 1;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "llama_inprocess: %s\n\n%s", error.what(), usage);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "llama_inprocess: %s\n", error.what());
    return 1;
  }
}
