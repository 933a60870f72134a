// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/mman.h>

#include <cstdlib>
#include <type_traits>

/// All mutants of a source are compiled in together; the environment chooses the one that a process
/// runs with.
namespace mutants {

inline const int active = [] {
  const char* number = std::getenv("LLDP_MUTANT");
  return number ? std::atoi(number) : 0;
}();

/// Which mutants a run comes by: a file with an octet for each, shared with children, and written
/// without a system call.
inline unsigned char* const reached = []() -> unsigned char* {
  const char* path = std::getenv("LLDP_MUTANTS_REACHED");
  const int fd = path ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return nullptr;
  void* map = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return map == MAP_FAILED ? nullptr : static_cast<unsigned char*>(map);
}();

inline bool now(int number) {
  if (reached) reached[number] = 1;
  return number == active;
}

constexpr bool on(int number) { return !std::is_constant_evaluated() && now(number); }

}  // namespace mutants
