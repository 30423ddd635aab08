// A reader of the GBNF subset the library emits, written for the tests alone: it shares nothing
// with the code that writes the text.
#ifndef TICK_GRAMMAR_TESTS_GBNF_HPP
#define TICK_GRAMMAR_TESTS_GBNF_HPP

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gbnf {

struct node {
  enum class kind { literal, char_class, reference, sequence, alternation, repetition };
  kind what = kind::sequence;
  std::string text;            // a literal's bytes, a class as written, a rule's name, or `{m,n}`
  std::vector<node> children;  // of sequences, alternations and repetitions
};

struct grammar {
  std::vector<std::pair<std::string, node>> rules;  // in the order of the text
  const node& rule(std::string_view name) const;    // throws std::runtime_error when there is none
};

// Throws std::runtime_error with the line when the text is anything but rules, one a line.
grammar parse(std::string_view text);

// Every rule name that an expression refers to.
std::set<std::string> references(const node& expression);

// Every string of an expression made of literals, sequences and alternations alone, in the order in
// which the text spells them.
std::vector<std::string> strings(const node& expression);

}  // namespace gbnf

#endif  // TICK_GRAMMAR_TESTS_GBNF_HPP
