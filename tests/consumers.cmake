# Consumers in builds of their own: each way to use the library that the README names.

set(work "${CMAKE_CURRENT_BINARY_DIR}/consumers")
set(vendored "${work}/source/third_party")
file(COPY consumers/ DESTINATION "${work}/source")
file(COPY "${PROJECT_SOURCE_DIR}/include/tick_grammar.hpp" DESTINATION "${vendored}")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}" "${vendored}/tick_grammar" SYMBOLIC)

function(tick_grammar_consumer_test way)
  add_test(
    NAME consumer.${way}
    COMMAND
      "${CMAKE_CTEST_COMMAND}" --build-and-test "${work}/source" "${work}/${way}" --build-generator
      "${CMAKE_GENERATOR}" --build-options "-DWAY=${way}"
      "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}" ${ARGN} --test-command my_agent)
endfunction()

add_test(NAME consumer.install COMMAND "${CMAKE_COMMAND}" --install "${PROJECT_BINARY_DIR}"
                                       --prefix "${work}/installed")
tick_grammar_consumer_test(find_package "-DCMAKE_PREFIX_PATH=${work}/installed")
set_tests_properties(consumer.install PROPERTIES FIXTURES_SETUP installed_package)
set_tests_properties(consumer.find_package PROPERTIES FIXTURES_REQUIRED installed_package)

tick_grammar_consumer_test(fetch_content
                           "-DFETCHCONTENT_SOURCE_DIR_TICK_GRAMMAR=${PROJECT_SOURCE_DIR}")
tick_grammar_consumer_test(add_subdirectory)
tick_grammar_consumer_test(copied_header)
