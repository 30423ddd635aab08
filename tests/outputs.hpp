// Outputs of a tick, each with what the editions and the reader are to say of it, and why.
#ifndef TICK_GRAMMAR_TESTS_OUTPUTS_HPP
#define TICK_GRAMMAR_TESTS_OUTPUTS_HPP

#include <array>
#include <string>
#include <string_view>
#include <tick_grammar.hpp>
#include <vector>

namespace outputs {

// What a grammar says of a text.
enum class verdict {
  accepted,  // may be sampled, and may end there
  open,      // may be sampled, but has to go on
  refused,   // some byte of it cannot be sampled
};

struct sample {
  std::string text;
  // One letter each: a(ccepted), o(pen) or r(efused) by `reference` (and `fast`), the same with
  // require_reply, `strict`, the same with require_reply; then what read_tick says:
  // c(omplete), p(artial), m(alformed) at the byte where the grammars refuse, or M(alformed)
  // further on, since the reader knows no registry and does not match brackets.
  std::string_view expected;
  std::string why;

  verdict by(const tick_grammar::options& opts) const;
  tick_grammar::tick_status read() const;
};

// The registry under which the samples are judged.
inline const std::array<std::string, 3> registry = {"bash", "bash_bg", "read_file"};

const std::vector<sample>& all();

}  // namespace outputs

#endif  // TICK_GRAMMAR_TESTS_OUTPUTS_HPP
