#include "gbnf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace gbnf {
namespace {

bool is_rule_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

class parser {
 public:
  explicit parser(std::string_view line) : line_(line) {}

  std::pair<std::string, node> rule() {
    std::string name = word();
    expect(" ::= ");
    node body = alternation();
    if (!rest().empty()) {
      fail("trailing text");
    }
    return {std::move(name), std::move(body)};
  }

 private:
  [[noreturn]] void fail(const char* why) const {
    throw std::runtime_error(fmt::format("{} at column {} of: {}", why, at_ + 1, line_));
  }

  std::string_view rest() const { return line_.substr(at_); }
  char peek() const { return at_ < line_.size() ? line_[at_] : '\0'; }

  bool take(std::string_view text) {
    if (rest().substr(0, text.size()) != text) {
      return false;
    }
    at_ += text.size();
    return true;
  }

  void expect(std::string_view text) {
    if (!take(text)) {
      fail("unexpected text");
    }
  }

  std::string word() {
    const std::size_t start = at_;
    while (is_rule_char(peek())) {
      ++at_;
    }
    if (at_ == start) {
      fail("expected a rule name");
    }
    return std::string(line_.substr(start, at_ - start));
  }

  node alternation() {
    node all{node::kind::alternation, "", {}};
    do {
      all.children.push_back(sequence());
    } while (take(" | "));
    return all.children.size() == 1 ? std::move(all.children.front()) : all;
  }

  node sequence() {
    node all{node::kind::sequence, "", {}};
    do {
      all.children.push_back(repeated());
    } while (peek() == ' ' && rest().substr(0, 3) != " | " && rest().substr(0, 2) != " )" &&
             take(" "));
    return all;
  }

  node repeated() {
    node inner = item();
    const std::size_t start = at_;
    if (!take("?") && !take("*") && !take("+")) {
      if (!take("{")) {
        return inner;
      }
      const int least = number();
      const int most = take(",") ? number() : least;
      expect("}");
      if (most < least) {
        fail("{m,n} with m > n");  // llama.cpp runs out of memory on it
      }
    }
    return {
        node::kind::repetition, std::string(line_.substr(start, at_ - start)), {std::move(inner)}};
  }

  int number() {
    const std::size_t start = at_;
    while (peek() >= '0' && peek() <= '9') {
      ++at_;
    }
    if (at_ == start) {
      fail("expected a number");
    }
    return std::stoi(std::string(line_.substr(start, at_ - start)));
  }

  node item() {
    if (take("( ")) {
      node group = alternation();
      expect(" )");
      return group;
    }
    if (peek() == '"') {
      return {node::kind::literal, literal(), {}};
    }
    if (peek() == '[') {
      return {node::kind::char_class, char_class(), {}};
    }
    return {node::kind::reference, word(), {}};
  }

  std::string literal() {
    std::string text;
    expect("\"");
    while (!take("\"")) {
      take("\\");  // only `\"` and `\\` occur; the next byte stands for itself
      if (at_ == line_.size()) {
        fail("unclosed literal");
      }
      text += line_[at_++];
    }
    return text;
  }

  std::string char_class() {
    const std::size_t start = at_;
    while (!take("]")) {
      take("\\");
      if (at_ == line_.size()) {
        fail("unclosed class");
      }
      ++at_;
    }
    return std::string(line_.substr(start, at_ - start));
  }

  std::string_view line_;
  std::size_t at_ = 0;
};

}  // namespace

const node& grammar::rule(std::string_view name) const {
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [name](const auto& rule) { return rule.first == name; });
  if (found == rules.end()) {
    throw std::runtime_error(fmt::format("no rule {}", name));
  }
  return found->second;
}

grammar parse(std::string_view text) {
  grammar all;
  while (true) {
    const std::size_t end = text.find('\n');
    all.rules.push_back(parser(text.substr(0, end)).rule());
    if (end == std::string_view::npos) {
      return all;
    }
    text.remove_prefix(end + 1);
  }
}

std::set<std::string> references(const node& expression) {
  std::set<std::string> found;
  if (expression.what == node::kind::reference) {
    found.insert(expression.text);
  }
  for (const node& child : expression.children) {
    found.merge(references(child));
  }
  return found;
}

std::vector<std::string> strings(const node& expression) {
  switch (expression.what) {
    case node::kind::literal:
      return {expression.text};
    case node::kind::alternation: {
      std::vector<std::string> all;
      for (const node& child : expression.children) {
        for (std::string& text : strings(child)) {
          all.push_back(std::move(text));
        }
      }
      return all;
    }
    case node::kind::sequence: {
      std::vector<std::string> all = {""};
      for (const node& child : expression.children) {
        std::vector<std::string> longer;
        for (const std::string& tail : strings(child)) {
          for (const std::string& head : all) {
            longer.push_back(head + tail);
          }
        }
        all = std::move(longer);
      }
      return all;
    }
    default:
      throw std::runtime_error("not a finite expression: " + expression.text);
  }
}

}  // namespace gbnf
