# Each example is run, and its output compared as raw bytes.

# tick_grammar_example_test(NAME PROGRAM target [ARGUMENTS argument...] [INPUT file] [EXIT code] [OUTPUT file]
#                           [OUTPUT_MATCHES regex] [ERROR regex])
function(tick_grammar_example_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PROGRAM;INPUT;EXIT;OUTPUT;OUTPUT_MATCHES;ERROR" "ARGUMENTS")
  add_test(
    NAME ${name}
    COMMAND
      "${CMAKE_COMMAND}" "-DPROGRAM=$<TARGET_FILE:${arg_PROGRAM}>" "-DARGUMENTS=${arg_ARGUMENTS}"
      "-DINPUT=${arg_INPUT}" "-DEXIT=${arg_EXIT}" "-DOUTPUT=${arg_OUTPUT}" "-DOUTPUT_MATCHES=${arg_OUTPUT_MATCHES}" "-DERROR=${arg_ERROR}" -P
      "${PROJECT_SOURCE_DIR}/tests/check_run.cmake")
endfunction()

if(NOT TARGET print_grammar)
  return()
endif()
set(golden "${CMAKE_CURRENT_SOURCE_DIR}/golden")

tick_grammar_example_test(
  print_grammar.arguments PROGRAM print_grammar
  ARGUMENTS speak bash read_file recall note_append EXIT 0 OUTPUT "${golden}/five_tools.gbnf")
tick_grammar_example_test(
  print_grammar.standard_input PROGRAM print_grammar
  ARGUMENTS --require-reply INPUT "${golden}/github_mcp.names" EXIT 0
  OUTPUT "${golden}/github_mcp.require_reply.gbnf")
tick_grammar_example_test(
  print_grammar.mcp_names PROGRAM print_grammar
  ARGUMENTS --names=mcp --edition=reference INPUT "${golden}/context7_mcp.names" EXIT 0
  OUTPUT "${golden}/context7_mcp.gbnf")
tick_grammar_example_test(
  print_grammar.refused_name PROGRAM print_grammar
  ARGUMENTS bash "evil name" EXIT 1
  ERROR "print_grammar: tool name not grammar-safe: 'evil name'\n$")
tick_grammar_example_test(
  print_grammar.empty_registry PROGRAM print_grammar INPUT /dev/null EXIT 1
  ERROR "tool registry is empty")
tick_grammar_example_test(
  print_grammar.wrong_usage PROGRAM print_grammar ARGUMENTS --editon=fast bash
  EXIT 2 ERROR "unknown option --editon=fast\n\nusage: print_grammar")
if(EXISTS /dev/full)
  add_test(NAME print_grammar.full_disk COMMAND sh -c "seq -f tool_%g 1 2000 | $<TARGET_FILE:print_grammar> > /dev/full")
  set_tests_properties(print_grammar.full_disk PROPERTIES WILL_FAIL TRUE)
endif()
tick_grammar_example_test(
  print_grammar.help PROGRAM print_grammar ARGUMENTS --help EXIT 0
  OUTPUT "${CMAKE_CURRENT_SOURCE_DIR}/print_grammar_help.txt")
tick_grammar_example_test(quick_start.output PROGRAM quick_start EXIT 0
                          OUTPUT "${CMAKE_CURRENT_SOURCE_DIR}/quick_start_output.txt")
tick_grammar_example_test(hot_loading.output PROGRAM hot_loading EXIT 0
                          OUTPUT "${CMAKE_CURRENT_SOURCE_DIR}/hot_loading_output.txt")
