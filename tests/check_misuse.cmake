# cmake -DCOMPILER=… -DINCLUDES=… -DSOURCE=… -DDEFINITION=… -DMESSAGE=… -P check_misuse.cmake
set(command "${COMPILER}" -std=c++17 -fsyntax-only -Werror)
foreach(include IN LISTS INCLUDES)
  list(APPEND command "-I${include}")
endforeach()

execute_process(COMMAND ${command} "${SOURCE}" RESULT_VARIABLE result ERROR_VARIABLE errors)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the twin without the misuse does not compile:\n${errors}")
endif()

execute_process(COMMAND ${command} "-D${DEFINITION}" "${SOURCE}" RESULT_VARIABLE result
                ERROR_VARIABLE errors)
string(REGEX MATCHALL "error:" found "${errors}")
list(LENGTH found count)
if(result EQUAL 0 OR NOT count EQUAL 1 OR NOT errors MATCHES "${MESSAGE}")
  message(FATAL_ERROR "expected one error with '${MESSAGE}', exit code ${result}:\n${errors}")
endif()
