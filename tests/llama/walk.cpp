#include "walk.hpp"

#include <vector>

namespace walk {
namespace {

bool begins(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

// Inside `<args>`: reads the JSON, of which only well-formed beginnings occur.
std::string place_in_args(std::string_view json) {
  std::string nesting;
  bool in_string = false;
  std::size_t escaped = 0;  // how many characters of an escape are still to come
  bool done = false;
  char last = '\0';
  for (const char c : json) {
    if (escaped > 0) {
      escaped = c == 'u' && last == '\\' ? 4 : escaped - 1;
    } else if (in_string) {
      escaped = c == '\\' ? 1 : 0;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      nesting += c;
    } else if (c == '}' || c == ']') {
      nesting.pop_back();
      done = nesting.empty();
    }
    last = c;
  }
  if (escaped > 0) {
    return escaped > 1 || last != '\\' ? "unicode escape" : "escape";
  }
  if (in_string) {
    return "string";
  }
  if (done) {
    return "after the object";
  }
  if (nesting.empty()) {
    return "before the object";
  }
  if ((last >= '0' && last <= '9') || last == '-' || last == '.' || last == 'e' || last == 'E') {
    return "number or literal";
  }
  if (nesting.back() == '[') {
    return "array";
  }
  return nesting.size() > 1 ? "nested object" : "object";
}

// From the `<` of `<tool>`.
std::string place_in_call(std::string_view text) {
  if (!begins(text, "<tool>")) {
    return "tag";
  }
  const std::size_t name_end = text.find("</tool>");
  if (name_end == std::string_view::npos) {
    return "name";
  }
  const std::size_t args = text.find("<args>", name_end);
  if (args == std::string_view::npos) {
    return "gap in a call";
  }
  // The name holds no `<`, and outside strings neither does JSON: what follows a string's last
  // quote is the closing tag.
  const std::string_view json = text.substr(args + 6);
  const std::string where = place_in_args(json);
  const std::size_t close = json.rfind("</args>");
  if (close != std::string_view::npos &&
      place_in_args(json.substr(0, close)) == "after the object") {
    return "after a call";
  }
  return where;
}

// Which kind of token this is to a walk: each mark of the syntax is a kind of its own, so that it
// comes as often as all letters together. So is `u`, or hardly a string would hold `\u`.
char kind_of(const std::string& piece) {
  const char c = piece.front();
  if (c == 'u') {
    return c;
  }
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') {
    return 'a';
  }
  if (c >= '0' && c <= '9') {
    return '0';
  }
  return static_cast<unsigned char>(c) >= 0x80 ? '\x7f' : c;
}

// The characters, if any, that this throw of the dice wants at this place. A quarter of the throws
// close what is open, half of them in replies, or walks would lose themselves; some go where few
// would, to an escape and to a second `<`.
std::string_view wanted(const std::string& place, std::string_view text, std::size_t dice) {
  if (place == "reply") {
    const bool bracket = text.back() == '<';
    return dice < 4 ? (bracket ? "/" : "<") : dice < 6 && bracket ? "<" : "";
  }
  if (place == "string") {
    return dice < 2 ? "\"" : dice == 2 ? "\\" : "";
  }
  if (dice >= 2) {
    return "";
  }
  return place == "thought" || place == "gap after a thought" ? "<"
         : place == "escape"                                  ? "u"
                                                              : "}]";
}

}  // namespace

std::string place(std::string_view text) {
  if (text.empty()) {
    return "start";
  }
  const std::size_t tag = text.find('<');
  const std::string_view thought = text.substr(0, tag);
  if (tag == std::string_view::npos) {
    return thought.find('\n') == std::string_view::npos ? "thought" : "gap after a thought";
  }
  text.remove_prefix(tag);
  if (begins(text, "<reply>")) {
    const std::size_t close = text.find("</");
    if (close == std::string_view::npos) {
      return "reply";
    }
    if (!begins(text.substr(close), "</reply>")) {
      return "tag";
    }
    text.remove_prefix(close + 8);
    const std::size_t call = text.find('<');
    return call == std::string_view::npos ? "after a reply" : place_in_call(text.substr(call));
  }
  return place_in_call(text);
}

std::optional<llama_token> guide::pick(const engine::token_mask& mask, std::string_view text) {
  std::map<char, std::vector<llama_token>> by_kind;
  std::optional<llama_token> end;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    const auto token = static_cast<llama_token>(i);
    if (!mask[i]) {
      continue;
    }
    if (vocab_->is_end(token)) {
      end = token;
    } else if (!vocab_->piece(token).empty()) {
      by_kind[kind_of(vocab_->piece(token))].push_back(token);
    }
  }
  if (by_kind.empty() || (end && below(6) == 0)) {
    return end;
  }
  const std::string at = place(text);
  std::map<char, int>& tried = tried_[at];
  for (const char c : wanted(at, text, below(8))) {
    const llama_token token = vocab_->byte(c);
    if (mask[static_cast<std::size_t>(token)]) {
      return token;
    }
  }
  // Else what has been tried least at this place.
  std::vector<char> kinds;
  for (const auto& [kind, tokens] : by_kind) {
    if (!kinds.empty() && tried[kind] < tried[kinds.front()]) {
      kinds.clear();
    }
    if (kinds.empty() || tried[kind] == tried[kinds.front()]) {
      kinds.push_back(kind);
    }
  }
  const char kind = kinds[below(kinds.size())];
  ++tried[kind];
  const std::vector<llama_token>& tokens = by_kind[kind];
  return tokens[below(tokens.size())];
}

}  // namespace walk
