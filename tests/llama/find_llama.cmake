# The target `llama`: the parent project's, an installed llama.cpp, or the copy that get_llama.sh makes.
set(TICK_GRAMMAR_LLAMA_DIR "${PROJECT_SOURCE_DIR}/.llama"
    CACHE PATH "Where tests/llama/get_llama.sh put llama.cpp and its vocabularies")

if(NOT TARGET llama)
  find_package(llama QUIET)
endif()
if(NOT TARGET llama AND EXISTS "${TICK_GRAMMAR_LLAMA_DIR}/VERSION")
  add_library(llama INTERFACE IMPORTED GLOBAL)
  target_include_directories(llama INTERFACE "${TICK_GRAMMAR_LLAMA_DIR}/include")
  foreach(library llama ggml ggml-base)
    target_link_libraries(llama INTERFACE "${TICK_GRAMMAR_LLAMA_DIR}/lib/lib${library}.so")
  endforeach()
  target_link_options(llama INTERFACE "LINKER:-rpath,${TICK_GRAMMAR_LLAMA_DIR}/lib")
endif()
if(NOT TARGET llama)
  message(STATUS "Whatever needs a real llama.cpp is left out; to have it, run "
                 "tests/llama/get_llama.sh ${TICK_GRAMMAR_LLAMA_DIR} and configure again")
endif()
