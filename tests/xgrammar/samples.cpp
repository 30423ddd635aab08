// Prints every edition's grammar with the verdicts of tests/outputs.cpp, as JSON for check.mjs.

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <tick_grammar.hpp>

#include "../golden.hpp"
#include "../outputs.hpp"

namespace {

// `text` is UTF-8, of which JSON wants only quotes, backslashes and control characters escaped.
std::string quoted(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || byte < 0x20) {
      json += fmt::format("\\u{:04x}", byte);
    } else {
      json += c;
    }
  }
  return json += '"';
}

const char* name_of(outputs::verdict verdict) {
  switch (verdict) {
    case outputs::verdict::accepted:
      return "accepted";
    case outputs::verdict::open:
      return "open";
    case outputs::verdict::refused:
      return "refused";
  }
  return "";
}

const char* name_of(tick_grammar::edition edition) {
  switch (edition) {
    case tick_grammar::edition::reference:
      return "reference";
    case tick_grammar::edition::fast:
      return "fast";
    case tick_grammar::edition::strict:
      return "strict";
  }
  return "";
}

}  // namespace

int main() {
  const char* before_grammar = "[";
  for (const tick_grammar::options& opts : golden::all_options()) {
    const std::string text = tick_grammar::build_tick_grammar(outputs::registry, opts);
    fmt::print("{}{{\"edition\": \"{}\", \"require_reply\": {}, \"grammar\": {}, \"samples\": [",
               before_grammar, name_of(opts.edition), opts.require_reply, quoted(text));
    const char* before_sample = "";
    for (const outputs::sample& sample : outputs::all()) {
      fmt::print("{}\n  {{\"text\": {}, \"verdict\": \"{}\", \"why\": {}}}", before_sample,
                 quoted(sample.text), name_of(sample.by(opts)), quoted(sample.why));
      before_sample = ",";
    }
    fmt::print("]}}");
    before_grammar = ",\n";
  }
  fmt::print("]\n");
}
