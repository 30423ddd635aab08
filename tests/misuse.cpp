// One misuse is compiled at a time, and none of them for the twin that must compile.

#include <string>
#include <tick_grammar.hpp>
#include <vector>

int main() {
  const std::vector<std::string> names = {"bash"};
#if defined(MISUSE_ELEMENT)
  (void)tick_grammar::tick_grammar_cached(std::vector<int>{1});
#elif defined(MISUSE_STRING)
  (void)tick_grammar::build_tick_grammar(std::string("bash"));
#elif defined(MISUSE_NO_END)
  struct endless {
    const std::string* begin() const { return nullptr; }
  };
  (void)tick_grammar::build_tick_grammar(endless());
#elif defined(MISUSE_DISCARD)
  tick_grammar::build_tick_grammar(names);
#else
  (void)tick_grammar::tick_grammar_cached(names);
  (void)tick_grammar::build_tick_grammar(names);
#endif
}
