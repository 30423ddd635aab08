// A small agent. Each tick is one request to a llama-server, under the grammar of the tools that
// are registered at that moment. Standard output is what the agent says, standard error what it
// does.

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <httplib.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tick_grammar.hpp>
#include <variant>
#include <vector>

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// ---- Tools --------------------------------------------------------------------------------------

struct tool {
  std::string purpose;
  std::map<std::string, std::string> parameters;  // name to type, as json::type_name() spells it
  std::function<std::string(const json& args)> run;
};
using registry = std::map<std::string, tool>;

// The grammar promises a JSON object and no more; the rest is checked here.
void check(const tool& called, const json& args) {
  for (const auto& [name, type] : called.parameters) {
    if (!args.contains(name) || args.at(name).type_name() != type) {
      throw std::invalid_argument(fmt::format("argument {} must be a {}", name, type));
    }
  }
  for (const auto& item : args.items()) {
    if (called.parameters.count(item.key()) == 0) {
      throw std::invalid_argument("there is no argument " + item.key());
    }
  }
}

// A longer result would crowd everything else out of the model's context.
constexpr std::size_t result_limit = 4000;

// The tool's result, or what went wrong: a model can correct itself only if it is told.
std::string call(const tool& called, std::string_view args_text) {
  try {
    const json args = json::parse(args_text);  // throws for 1e999, which `fast` lets through
    check(called, args);
    return called.run(args).substr(0, result_limit);
  } catch (const std::exception& error) {
    return fmt::format("error: {}", error.what());
  }
}

std::string now() { return fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr))); }

// The file must lie below `dir` once `..` and symbolic links are resolved. Any other is said not to
// exist, so that the model does not learn what there is outside.
std::string read_below(const fs::path& dir, const std::string& name) {
  std::error_code error;
  const fs::path file = fs::canonical(dir / name, error);
  const auto [rest, _] = std::mismatch(dir.begin(), dir.end(), file.begin(), file.end());
  if (error || rest != dir.end() || !fs::is_regular_file(file, error)) {
    throw std::runtime_error("no such file");
  }
  std::ifstream in(file, std::ios::binary);
  std::string text(result_limit, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

std::string list_names(const fs::path& dir) {
  std::string names;
  for (const fs::directory_entry& entry : fs::directory_iterator(dir)) {
    names += entry.path().filename().string() + '\n';
  }
  return names;
}

registry first_tools(const fs::path& dir) {
  const auto notes = std::make_shared<std::map<std::string, std::string>>();
  const auto add = [](const json& args) {
    return fmt::format("{}", args.at("a").get<double>() + args.at("b").get<double>());
  };
  const auto read_file = [dir](const json& args) { return read_below(dir, args.at("path")); };
  const auto remember = [notes](const json& args) {
    notes->insert_or_assign(args.at("key").get<std::string>(), args.at("text"));
    return "kept";
  };
  const auto recall = [notes](const json& args) { return notes->at(args.at("key")); };
  return {{"now", {"the time", {}, [](const json&) { return now(); }}},
          {"add", {"a + b", {{"a", "number"}, {"b", "number"}}, add}},
          {"read_file", {"the beginning of a file", {{"path", "string"}}, read_file}},
          {"remember", {"keeps a text", {{"key", "string"}, {"text", "string"}}, remember}},
          {"recall", {"a text that was kept", {{"key", "string"}}, recall}}};
}

// Stands for a plug-in, or for a server of tools that has just been connected.
void hot_load(registry& tools, const fs::path& dir) {
  tools["list_files"] = {"the files there are", {}, [dir](const json&) { return list_names(dir); }};
}

// ---- The user -----------------------------------------------------------------------------------

// What a model or a file says must not steer the user's terminal.
std::string printable(std::string_view text) {
  std::string shown(text);
  const auto steers = [](unsigned char c) { return (c < ' ' && c != '\n') || c == 0x7F; };
  std::replace_if(shown.begin(), shown.end(), steers, '?');
  return shown;
}

// Says a reply while it streams: each sentence once it has ended, the rest once the reply has.
class speaker {
 public:
  void hear(const tick_grammar::tick& tick) {
    const std::string_view reply = tick.reply.value_or("");
    const std::size_t end = tick.reply_closed ? reply.size() : reply.find_last_of(".!?\n") + 1;
    if (end > said_) {
      fmt::print("{}", printable(reply.substr(said_, end - said_)));
      std::fflush(stdout);
      said_ = end;
    }
  }
  [[nodiscard]] bool has_spoken() const { return said_ > 0; }

 private:
  std::size_t said_ = 0;
};

// A line that the user has typed. After the end of standard input there is none to wait for.
std::optional<std::string> user_line(bool wait) {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  std::string line;
  if (poll(&input, 1, wait ? -1 : 0) > 0 && std::getline(std::cin, line)) return line;
  return std::nullopt;
}

// ---- The server ---------------------------------------------------------------------------------

struct sample {
  std::string text;
  std::string finish_reason;
  [[nodiscard]] bool cut() const { return finish_reason == "length"; }
};

// What a user types and a file holds need not be UTF-8; JSON has to be.
std::string to_text(const json& value) {
  return value.dump(-1, ' ', true, json::error_handler_t::replace);
}

std::string string_at(const json& object, const char* key) {
  const json value = object.value(key, json());
  return value.is_string() ? value.get<std::string>() : "";
}

// Takes the server-sent events that have arrived whole out of `received`.
void take_events(std::string& received, sample& output) {
  for (std::size_t end; (end = received.find('\n')) != std::string::npos;) {
    const std::string line = received.substr(0, end);
    received.erase(0, end + 1);
    if (line.rfind("data: {", 0) == std::string::npos) {
      continue;  // the blank line after an event, or `data: [DONE]`
    }
    const json event = json::parse(line.substr(line.find('{')));
    if (event.contains("error")) {
      throw std::runtime_error("the server stopped: " + printable(event.at("error").dump()));
    }
    for (const json& choice : event.at("choices")) {
      output.text += string_at(choice.at("delta"), "content");
      output.finish_reason = string_at(choice, "finish_reason");
    }
  }
}

// Hands the growing text to `listen`, which hangs up by returning false.
sample ask(const std::string& url, const json& body,
           const std::function<bool(const std::string& text)>& listen) {
  int status = 0;
  bool listening = true;
  std::string received;
  sample output;
  httplib::Request request;
  request.method = "POST";
  request.path = "/v1/chat/completions";
  request.set_header("Content-Type", "application/json");
  request.body = to_text(body);
  request.response_handler = [&](const httplib::Response& response) {
    status = response.status;
    return true;
  };
  request.content_receiver = [&](const char* data, std::size_t size, auto, auto) {
    received.append(data, size);
    if (status == 200) {
      take_events(received, output);
      listening = listen(output.text);
    }
    return listening;
  };
  httplib::Client server(url);
  server.set_read_timeout(600);  // nothing comes before the whole prompt has been read
  const httplib::Result result = server.send(request);
  if (status == 0) {
    throw std::runtime_error(
        fmt::format("no llama-server answers at {} ({})", url, httplib::to_string(result.error())));
  }
  if (status != 200) {  // and is not asked again without the grammar
    throw std::runtime_error(
        fmt::format("the server refuses the request (HTTP {}): {}", status, printable(received)));
  }
  if (listening && output.finish_reason.empty()) {
    throw std::runtime_error("the server stopped in the middle of an answer: " + received);
  }
  return output;
}

// Says the reply while it arrives, and hangs up on what is off the contract.
sample ask_aloud(const std::string& url, const json& body) {
  speaker mouth;
  sample output = ask(url, body, [&mouth](const std::string& text) {
    const tick_grammar::tick so_far = tick_grammar::read_tick(text);
    mouth.hear(so_far);
    return so_far.status != tick_grammar::tick_status::malformed;
  });
  if (mouth.has_spoken()) fmt::print("\n");
  return output;
}

// ---- The loop -----------------------------------------------------------------------------------

struct settings {
  std::string url = "http://127.0.0.1:8080";
  std::string dir = ".";
  int ticks = 20;
  int hot_load_after = 1;
  int history = 10;
  int max_tokens = 500;
  int seed = 1;
  std::string edition = "reference";
  std::string transcript;
  tick_grammar::options grammar;
};

std::string instructions(const registry& tools) {
  std::string text =
      "You are an agent. Your output has up to three parts, in this order:\n"
      "a thought, which is one line\n"
      "<reply>what you say to the user</reply>\n"
      "<tool>NAME</tool> <args>{JSON}</args>\n"
      "After a call you are given its result. Your tools, and the types of their arguments:\n";
  for (const auto& [name, described] : tools) {
    text += fmt::format("{} {}: {}\n", name, json(described.parameters).dump(), described.purpose);
  }
  return text;
}

// Whether the grammar did its work: it lets no other text through, no other name, and no tick
// without a reply that is required. A line of prose is a tick too, so the last is what catches most
// servers that ignore it.
bool on_contract(const registry& tools, bool require_reply, const sample& output,
                 const tick_grammar::tick& tick) {
  const bool whole = tick.status == tick_grammar::tick_status::complete &&
                     (tick.reply_closed || !require_reply || output.cut());
  const bool begun = tick.status == tick_grammar::tick_status::partial && output.cut();
  return (whole || begun) && (!tick.call || tools.count(std::string(tick.call->name)) > 0);
}

// The result of a tick's call. Half an output is nothing to act on.
std::optional<std::string> act(const registry& tools, const sample& output,
                               const tick_grammar::tick& tick) {
  if (output.cut()) return "error: cut by the token limit, so nothing was done";
  if (!tick.call) return std::nullopt;
  return call(tools.at(std::string(tick.call->name)), tick.call->args);
}

json message(const char* role, const std::string& content) {
  return {{"role", role}, {"content", content}};
}

class agent {
 public:
  explicit agent(const settings& chosen)
      : settings_(chosen), dir_(fs::canonical(chosen.dir)), tools_(first_tools(dir_)) {
    if (!chosen.transcript.empty()) {
      transcript_.open(chosen.transcript);
      if (!transcript_) throw std::runtime_error("cannot write " + chosen.transcript);
    }
  }

  // Goes on by itself as long as there is a result to look at, and waits for the user otherwise.
  void run() {
    for (number_ = 1; number_ <= settings_.ticks; ++number_) {
      if (number_ == settings_.hot_load_after + 1) hot_load(tools_, dir_);
      step(user_line(!result_));
    }
  }

 private:
  void step(const std::optional<std::string>& line) {
    tick_grammar::options opts = settings_.grammar;
    opts.require_reply = opts.require_reply || line;
    const std::string input = fmt::format("{}{}", result_ ? "Result: " + *result_ + "\n" : "",
                                          line ? "The user: " + *line : "The user is silent.");
    const sample output = ask_aloud(settings_.url, request(input, opts));
    const tick_grammar::tick tick = tick_grammar::read_tick(output.text);
    const bool kept = on_contract(tools_, opts.require_reply, output, tick);
    result_ = kept ? act(tools_, output, tick) : std::nullopt;
    record(opts, output, tick);
    if (!kept) {
      throw std::runtime_error(fmt::format(
          "the output is off the contract after {} bytes: the server ignores the grammar",
          tick.consumed));
    }
    past_.push_back(message("user", input));
    past_.push_back(message("assistant", output.text));
    if (past_.size() > 2 * static_cast<std::size_t>(settings_.history)) {
      past_.erase(past_.begin(), past_.begin() + 2);
    }
  }

  // The grammar is asked for anew each time: while the tools stay the same, that is a look-up.
  json request(const std::string& input, const tick_grammar::options& opts) const {
    json messages = json::array({message("system", instructions(tools_))});
    messages.insert(messages.end(), past_.begin(), past_.end());
    messages.push_back(message("user", input));
    return {
        {"messages", messages},
        {"grammar", *tick_grammar::tick_grammar_cached(tools_, opts)},
        {"max_tokens", settings_.max_tokens},
        {"seed", settings_.seed + number_},
        {"stream", true},
        // The grammar holds from the first byte on, and leaves no room for a thinking block.
        {"chat_template_kwargs", {{"enable_thinking", false}}},
        {"reasoning_format", "none"},
    };
  }

  void record(const tick_grammar::options& opts, const sample& output,
              const tick_grammar::tick& tick) {
    constexpr const char* statuses[] = {"complete", "partial", "malformed"};
    const char* status = statuses[static_cast<int>(tick.status)];
    const std::string name(tick.call ? tick.call->name : "no call");
    fmt::print(stderr, "[tick {}: {}, {}] {}\n", number_, output.cut() ? "cut" : status, name,
               printable(result_.value_or("")));
    if (!transcript_.is_open()) return;
    json names;
    for (const auto& [registered, _] : tools_) names.push_back(registered);
    transcript_ << to_text({{"tick", number_},
                            {"require_reply", opts.require_reply},
                            {"edition", settings_.edition},
                            {"tools", names},
                            {"output", output.text},
                            {"status", status},
                            {"call", tick.call ? json(name) : json()},
                            {"finish_reason", output.finish_reason},
                            {"result", result_ ? json(*result_) : json()}})
                << std::endl;
  }

  const settings settings_;
  const fs::path dir_;
  registry tools_;
  std::ofstream transcript_;
  json past_ = json::array();
  std::optional<std::string> result_;  // of the last tick's call
  int number_ = 0;
};

// ---- The command line ---------------------------------------------------------------------------

constexpr const char* usage =
    "usage: agent_loop [options]\n"
    "\n"
    "Ticks of an agent against a llama-server. Type a line to speak to it.\n"
    "\n"
    "  --url URL             the server, unless it is http://127.0.0.1:8080\n"
    "  --dir DIR             where the agent may read files, unless it is the current folder\n"
    "  --ticks N             how many (20)\n"
    "  --hot-load-after N    the tick after which list_files is registered (1)\n"
    "  --history N           how many ticks the prompt tells of (10)\n"
    "  --max-tokens N        of one tick (500)\n"
    "  --seed N              of the sampling (1)\n"
    "  --edition EDITION     reference, fast or strict (reference)\n"
    "  --require-reply       in every tick, not only after a line of the user's\n"
    "  --transcript FILE     gets a JSON object a tick, one a line\n"
    "  --help                print this and exit\n"
    "\n"
    "Exit code: 0 all ticks done, 1 stopped by what standard error says, 2 wrong usage.\n";

template <class Value>
Value found(const std::map<std::string, Value>& known, const std::string& name) {
  if (known.count(name) == 0) throw std::invalid_argument("there is no " + name);
  return known.at(name);
}

int number_in(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || *end != '\0' || number < 0) {
    throw std::invalid_argument(text + " is no number");
  }
  return number;
}

settings parse(const std::vector<std::string>& arguments) {
  using tick_grammar::edition;
  settings chosen;
  const std::map<std::string, std::variant<std::string*, int*>> options = {
      {"--url", &chosen.url},
      {"--dir", &chosen.dir},
      {"--ticks", &chosen.ticks},
      {"--hot-load-after", &chosen.hot_load_after},
      {"--history", &chosen.history},
      {"--max-tokens", &chosen.max_tokens},
      {"--seed", &chosen.seed},
      {"--edition", &chosen.edition},
      {"--transcript", &chosen.transcript}};
  for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
    if (*argument == "--require-reply") {
      chosen.grammar.require_reply = true;
      continue;
    }
    const auto target = found(options, *argument);
    if (++argument == arguments.end()) {
      throw std::invalid_argument(arguments.back() + " needs a value");
    }
    if (int* const* number = std::get_if<int*>(&target)) {
      **number = number_in(*argument);
    } else {
      *std::get<std::string*>(target) = *argument;
    }
  }
  chosen.url.erase(chosen.url.find_last_not_of('/') + 1);  // or it would end up in the host's name
  chosen.grammar.edition = found<edition>(
      {{"reference", edition::reference}, {"fast", edition::fast}, {"strict", edition::strict}},
      chosen.edition);
  return chosen;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  std::setvbuf(stdin, nullptr, _IONBF, 0);  // poll() does not see a line that waits in a buffer
  if (std::count(arguments.begin(), arguments.end(), "--help") > 0) {
    fmt::print("{}", usage);
    return 0;
  }
  try {
    agent(parse(arguments)).run();
    return 0;
  } catch (const std::invalid_argument& error) {
    fmt::print(stderr, "agent_loop: {}\n\n{}", error.what(), usage);
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "agent_loop: {}\n", error.what());
    return 1;
  }
}
