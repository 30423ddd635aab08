find_package(tick_grammar 0.1 REQUIRED)
target_link_libraries(my_agent PRIVATE tick_grammar::tick_grammar)
