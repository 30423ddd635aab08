find_package(fmt REQUIRED)
target_include_directories(my_agent PRIVATE third_party)
target_link_libraries(my_agent PRIVATE fmt::fmt)
target_compile_features(my_agent PRIVATE cxx_std_17)
