# SPDX-License-Identifier: Apache-2.0
# One static library per room, used through its alias: lldp_room(tlv SOURCES a.cpp LINK lldp::base).

add_library(lldp_warnings INTERFACE)
target_compile_options(lldp_warnings INTERFACE
  -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow
  $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast>
  $<$<BOOL:${LLDP_WERROR}>:-Werror>)

add_library(lldp_build INTERFACE)
target_link_libraries(lldp_build INTERFACE lldp_warnings)
# What is shipped leaves out what nobody calls: a tenth of it.
target_compile_options(lldp_build INTERFACE $<$<NOT:$<CONFIG:Debug>>:-ffunction-sections$<SEMICOLON>-fdata-sections>)
# Its libraries are bound at the start, as distributions do: a function that is called first when a neighbour's frame is
# there costs that frame's answer the search for it.
target_link_options(lldp_build INTERFACE $<$<NOT:$<CONFIG:Debug>>:-Wl,--gc-sections,-z,now>)
if(LLDP_SANITIZE)
  target_compile_options(lldp_build INTERFACE
    -fsanitize=${LLDP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(lldp_build INTERFACE -fsanitize=${LLDP_SANITIZE})
  # As a library of its own it has 6 MB of tables that the search for leaks reads at every end of a program: a quarter of
  # the time that a short one takes. (Clang's is always within the program.)
  if(LLDP_SANITIZE MATCHES undefined AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_link_options(lldp_build INTERFACE -static-libubsan)
  endif()
  # null, alignment and pointer-overflow come with every access through a pointer: they are nearly all of the data and
  # two fifths of the code of a room, and a fifth of the time to compile it. A null pointer that is used ends a program
  # here too; the codec (tlv/) and the fuzz build have all the checks.
  if(LLDP_SANITIZE_NOT)
    target_compile_options(lldp_build INTERFACE -fno-sanitize=${LLDP_SANITIZE_NOT})
  endif()
endif()

# Sources of a room are compiled so many at a time (LLDP_UNITY): what they include is read, and what it instantiates is made,
# once for all of them, and a build takes half the time. Hence names in unnamed namespaces differ within a room.
function(lldp_together target)
  if(LLDP_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${LLDP_UNITY})
  endif()
endfunction()

# Every header that is made, for whom only reads the sources (`./run lint`).
add_custom_target(generated)

# lldp_room(NAME SOURCES ... [LINK ...] [PRIVATE_LINK ...]) makes lldp_NAME and its alias lldp::NAME.
function(lldp_room name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  if(arg_SOURCES)
    add_library(lldp_${name} STATIC ${arg_SOURCES})
    target_include_directories(lldp_${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(lldp_${name} PUBLIC ${arg_LINK} PRIVATE lldp_build ${arg_PRIVATE_LINK})
    lldp_together(lldp_${name})
  else()
    add_library(lldp_${name} INTERFACE)
    target_include_directories(lldp_${name} INTERFACE ${PROJECT_SOURCE_DIR})
    target_link_libraries(lldp_${name} INTERFACE ${arg_LINK})
  endif()
  add_library(lldp::${name} ALIAS lldp_${name})
endfunction()

# lldp_program(NAME SOURCES ... LINK ...) makes an executable.
function(lldp_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE lldp_build ${arg_LINK})
  lldp_together(${name})
endfunction()

# lldp_test(NAME SOURCES ... LINK ... [LABELS unit] [TIMEOUT 120] [APART] [SERIAL]) makes one test program, a ctest
# entry: most cases take less than a program with sanitizers takes to start. APART, and with the label netns: an entry
# per case, for what takes long, or leaves behind in its process or in the kernel what another would stumble over.
# SERIAL: nothing else runs meanwhile, for what is held to the clock of real processes. A program of many cases computes
# and never waits, most others wait: LLDP_BUSY has ctest (`./run test`) run one such beside two that wait, from the start.
set(LLDP_BUSY PROCESSORS 3 COST 1000)
function(lldp_test name)
  cmake_parse_arguments(arg "APART;SERIAL" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE lldp_test_options)
  target_precompile_headers(${name} REUSE_FROM lldp_test_pch)
  target_link_libraries(${name} PRIVATE lldp_build ${arg_LINK} lldp::test_support GTest::gtest GTest::gmock GTest::gtest_main)
  lldp_together(${name})
  if(arg_APART OR "netns" IN_LIST arg_LABELS)
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60
      PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} RUN_SERIAL ${arg_SERIAL})
  else()
    math(EXPR arg_TIMEOUT "5 * ${arg_TIMEOUT}")
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    # A program that says last of all that it skipped cases has failed none, and is not called passed.
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} RUN_SERIAL ${arg_SERIAL} ${LLDP_BUSY}
      SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\] [0-9]+ tests?\\.\n*$")
  endif()
endfunction()

if(LLDP_FUZZ)
  add_custom_target(fuzzers)  # all of them, and nothing else
endif()

# lldp_fuzz(NAME SOURCE LINK ...) makes a libFuzzer program NAME (preset `fuzz`, clang); its corpus is
# tests/fuzz/corpus/NAME. Every other preset runs the corpus through the same entry point as a test.
function(lldp_fuzz name source)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  if(LLDP_FUZZ)
    lldp_program(${name} SOURCES ${source} LINK ${arg_LINK})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers ${name})
  else()
    lldp_program(${name} SOURCES ${source} ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cpp LINK ${arg_LINK})
    add_test(NAME ${name}.corpus COMMAND ${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
    set_tests_properties(${name}.corpus PROPERTIES LABELS fuzz TIMEOUT 60)
  endif()
endfunction()
