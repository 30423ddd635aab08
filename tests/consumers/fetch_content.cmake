include(FetchContent)
FetchContent_Declare(
  tick_grammar
  GIT_REPOSITORY https://github.com/tick-grammar/tick_grammar.git
  GIT_TAG main) # better: the hash of a commit
FetchContent_MakeAvailable(tick_grammar)
target_link_libraries(my_agent PRIVATE tick_grammar::tick_grammar)
