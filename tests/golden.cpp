#include "golden.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace golden {
namespace {

namespace fs = std::filesystem;
using tick_grammar::edition;
using tick_grammar::name_rule;

const fs::path folder = TICK_GRAMMAR_GOLDEN_DIR;

std::string escaped(std::string_view line) {
  std::string text;
  for (const char c : line) {
    text += c >= ' ' && c <= '~' ? std::string(1, c)
                                 : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text;
}

std::string_view line_at(std::string_view text, std::size_t start) {
  return text.substr(start, text.find('\n', start) - start);
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

std::vector<tick_grammar::options> all_options() {
  std::vector<tick_grammar::options> all;
  for (const edition e : {edition::reference, edition::fast, edition::strict}) {
    for (const bool require_reply : {false, true}) {
      tick_grammar::options opts;
      opts.edition = e;
      opts.require_reply = require_reply;
      all.push_back(opts);
    }
  }
  return all;
}

std::vector<test_case> all_cases() {
  std::vector<test_case> cases;
  for (const char* registry : {"byte_order", "context7_mcp", "eidos_tools", "five_tools",
                               "github_mcp", "google_workspace_mcp", "long_name", "one_tool",
                               "playwright_mcp", "prefix_names", "unsorted_with_duplicates"}) {
    for (tick_grammar::options opts : all_options()) {
      const std::vector<std::string> registry_names = names(registry);
      // The registries that only `mcp` takes are here to show that `-` and `.` are not escaped.
      if (!tick_grammar::rejected_names(registry_names).empty()) {
        opts.names = name_rule::mcp;
      }
      cases.push_back({registry, opts});
    }
  }
  return cases;
}

std::string file_name(const test_case& c) {
  const char* of_edition = c.opts.edition == edition::fast     ? ".fast"
                           : c.opts.edition == edition::strict ? ".strict"
                                                               : "";
  return c.registry + of_edition + (c.opts.require_reply ? ".require_reply.gbnf" : ".gbnf");
}

std::vector<std::string> names(const std::string& registry) {
  std::istringstream in(bytes(registry + ".names"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::string bytes(const std::string& file) {
  std::ifstream in(folder / file, std::ios::binary);
  if (!in) {
    throw std::runtime_error("no golden file " + (folder / file).string());
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> files() {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".gbnf") {
      found.push_back(entry.path().filename().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string difference(std::string_view actual, std::string_view expected) {
  if (actual == expected) {
    return {};
  }
  const auto first = static_cast<std::size_t>(
      std::mismatch(actual.begin(), actual.end(), expected.begin(), expected.end()).first -
      actual.begin());
  const std::string_view same = actual.substr(0, first);
  const std::size_t start = same.rfind('\n') + 1;  // npos + 1 is 0: the first line
  return fmt::format("line {}, column {} differs:\n  actual:   {}\n  expected: {}",
                     std::count(same.begin(), same.end(), '\n') + 1, first - start + 1,
                     escaped(line_at(actual, start)), escaped(line_at(expected, start)));
}

std::string mismatch(const std::string& file, const std::string& actual) {
  if (!is_set("TICK_GRAMMAR_UPDATE_GOLDENS")) {
    return difference(actual, bytes(file));
  }
  if (is_set("CI")) {
    return "goldens are not rewritten where CI is set";
  }
  std::ofstream(folder / file, std::ios::binary) << actual;
  return "rewritten, to be reviewed: " + (folder / file).string();
}

}  // namespace golden
