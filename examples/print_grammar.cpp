// Prints the grammar of a registry, ready for `llama-cli --grammar-file`.

#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <tick_grammar.hpp>
#include <vector>

namespace {

constexpr const char* usage =
    "usage: print_grammar [options] [NAME...]\n"
    "\n"
    "Prints the GBNF grammar of the tools NAME..., or of those on standard input, one a line.\n"
    "\n"
    "  --require-reply         make the reply mandatory\n"
    "  --edition=reference     also: fast, strict\n"
    "  --names=identifier      also: mcp\n"
    "  --help                  print this and exit\n"
    "\n"
    "Exit code: 0 printed, 1 no grammar for these names, 2 wrong usage.\n";

constexpr int exit_refused = 1;
constexpr int exit_usage = 2;

bool set_option(tick_grammar::options& opts, std::string_view argument) {
  using tick_grammar::edition;
  using tick_grammar::name_rule;
  if (argument == "--require-reply") {
    opts.require_reply = true;
  } else if (argument == "--edition=reference") {
    opts.edition = edition::reference;
  } else if (argument == "--edition=fast") {
    opts.edition = edition::fast;
  } else if (argument == "--edition=strict") {
    opts.edition = edition::strict;
  } else if (argument == "--names=identifier") {
    opts.names = name_rule::identifier;
  } else if (argument == "--names=mcp") {
    opts.names = name_rule::mcp;
  } else {
    return false;
  }
  return true;
}

// A line of a text file may end in CRLF; no tool name does.
std::vector<std::string> read_lines(std::istream& in) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') {
      line.pop_back();
    }
    if (!line.empty()) {
      lines.push_back(line);
    }
  }
  return lines;
}

}  // namespace

int main(int argc, char** argv) {
  tick_grammar::options opts;
  std::vector<std::string> names;
  for (const std::string_view argument : std::vector<std::string_view>(argv + 1, argv + argc)) {
    if (argument == "--help") {
      std::fputs(usage, stdout);
      return 0;
    }
    if (argument.substr(0, 2) != "--") {
      names.emplace_back(argument);
    } else if (!set_option(opts, argument)) {
      std::cerr << "print_grammar: unknown option " << argument << "\n\n" << usage;
      return exit_usage;
    }
  }
  if (names.empty()) {
    names = read_lines(std::cin);
  }
  try {
    const std::string grammar = tick_grammar::build_tick_grammar(names, opts);
    // Its bytes, and not one more; half a grammar must not pass for one.
    if (std::fwrite(grammar.data(), 1, grammar.size(), stdout) != grammar.size() ||
        std::fflush(stdout) != 0) {
      std::perror("print_grammar");
      return exit_refused;
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "print_grammar: " << error.what() << '\n';
    return exit_refused;
  }
}
