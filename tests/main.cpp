#define CATCH_CONFIG_RUNNER
#include <cstdlib>
#include <locale>

#include "catch.hpp"

// Nothing may depend on the process's locale: TICK_GRAMMAR_TEST_LOCALE names one to run the tests
// in.
int main(int argc, char** argv) {
  if (const char* name = std::getenv("TICK_GRAMMAR_TEST_LOCALE")) {
    std::locale::global(std::locale(name));  // throws when the machine has none of that name
  }
  return Catch::Session().run(argc, argv);
}
