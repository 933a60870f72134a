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
# Its libraries are bound at the start, as distributions do: a function that is called first when a neighbor's frame is
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

# With LLDP_PCH=all the rooms and programs share one precompiled header of what most of them include. With clang it has the
# templates instantiated as well: a quarter less time per object. (g++ gains little, and its header is 100 MB.)
if(LLDP_PCH STREQUAL "all")
  add_library(lldp_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
  target_precompile_headers(lldp_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.hpp)
  target_link_libraries(lldp_pch PRIVATE lldp_build)
  target_compile_options(lldp_build INTERFACE $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)  # for ccache
  target_compile_definitions(lldp_build INTERFACE FMT_SHARED)  # as fmt::fmt has it, for those that do not link it
endif()
function(lldp_headers target)
  if(TARGET lldp_pch)
    target_precompile_headers(${target} REUSE_FROM lldp_pch)
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
    lldp_headers(lldp_${name})
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
  lldp_headers(${name})
endfunction()

# The tiers of the tests (`./run test --tier NAME`), each a label of ctest and a target that builds all that it runs:
#   fast    the pure rooms, the parsers, what is printed, the texts of manual and packages
#   kernel  namespaces, back ends, daemons and other real processes
#   lab     the simulator and the studies
#   faults  refused system calls, kills, storms
# `sanitized` is across them: what CI builds with sanitizers too (LLDP_SANITIZED of tests/CMakeLists.txt).
foreach(tier fast kernel lab faults)
  add_custom_target(tier_${tier})
endforeach()
add_custom_target(sanitized)

# lldp_tier(TIER TEST [LABELS ...] [TIMEOUT 120] [NEEDS TARGET...] [PROPERTIES ...]) gives an entry of ctest its place.
# TIMEOUT is there for a test that hangs: no test is measured by it.
function(lldp_tier tier test)
  cmake_parse_arguments(arg "" "TIMEOUT" "LABELS;NEEDS;PROPERTIES" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  set_tests_properties(${test} PROPERTIES LABELS "${tier};${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} ${arg_PROPERTIES})
  if(arg_NEEDS)
    add_dependencies(tier_${tier} ${arg_NEEDS})
    if("sanitized" IN_LIST arg_LABELS)
      add_dependencies(sanitized ${arg_NEEDS})
    endif()
  endif()
endfunction()

# lldp_test(NAME SOURCES ... LINK ... [LABELS unit] [TIER fast|kernel|lab] [FAULTS FILTER] [VM] [TIMEOUT 120] [SERIAL])
# makes one test program, an entry of ctest, one process: what its fixtures make they reset. Its tier is that of its folder
# and labels, unless TIER names it. What FAULTS filters (`BpfRefusal.*`) is an entry NAME.faults of the tier `faults`.
# VM: run by tests/vm/guest alone, as every case would skip here. SERIAL: nothing else runs meanwhile.
# A program that computes counts as three (LLDP_BUSY): ctest runs one such beside two that wait, from the start.
set(LLDP_BUSY PROCESSORS 3 COST 1000)
function(lldp_test name)
  cmake_parse_arguments(arg "VM;SERIAL" "TIMEOUT;TIER;FAULTS" "SOURCES;LINK;LABELS" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME room)
  if(NOT arg_TIER)
    if("netns" IN_LIST arg_LABELS OR "bpf" IN_LIST arg_LABELS)
      set(arg_TIER kernel)
    elseif(room MATCHES "^(lab|sim)$")
      set(arg_TIER lab)
    else()
      set(arg_TIER fast)
    endif()
  endif()
  if((room IN_LIST LLDP_SANITIZED OR name IN_LIST LLDP_SANITIZED) AND NOT "${arg_LINK}" MATCHES "lldp::(lab|sim)_")
    list(APPEND arg_LABELS sanitized)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE lldp_test_options)
  if(LLDP_PCH)
    target_precompile_headers(${name} REUSE_FROM lldp_test_pch)
  endif()
  target_link_libraries(${name} PRIVATE lldp_build ${arg_LINK} lldp::test_support lldp_test_main GTest::gtest GTest::gmock)
  lldp_together(${name})
  if(arg_VM)
    return()
  endif()
  # 77: every case was skipped (tests/support/main.cpp). What some program skips its output says
  # (build/dev/Testing/Temporary/LastTest.log).
  set(how RUN_SERIAL ${arg_SERIAL} SKIP_RETURN_CODE 77)
  set(filter)
  if(arg_FAULTS)
    add_test(NAME ${name}.faults COMMAND ${name} --gtest_brief=1 --gtest_filter=${arg_FAULTS})
    lldp_tier(faults ${name}.faults LABELS faults TIMEOUT 900 NEEDS ${name} PROPERTIES ${how})
    set(filter --gtest_filter=-${arg_FAULTS})
  endif()
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1 ${filter})
  if(NOT arg_TIER STREQUAL "kernel")
    list(APPEND how ${LLDP_BUSY})
  endif()
  math(EXPR arg_TIMEOUT "5 * ${arg_TIMEOUT}")
  lldp_tier(${arg_TIER} ${name} LABELS ${arg_LABELS} TIMEOUT ${arg_TIMEOUT} NEEDS ${name} PROPERTIES ${how})
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
    if("${arg_LINK}" MATCHES "lldp::(lab|sim)_")
      lldp_tier(lab ${name}.corpus LABELS fuzz NEEDS ${name})
    else()
      lldp_tier(fast ${name}.corpus LABELS fuzz sanitized NEEDS ${name})
    endif()
  endif()
endfunction()
