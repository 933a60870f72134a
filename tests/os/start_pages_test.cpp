// SPDX-License-Identifier: Apache-2.0
#include "os/start_pages.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace lldp::io {
namespace {

/// What is in memory of the program's own code, by the kernel's account: kB.
std::size_t code_in_memory() {
  const auto own = reinterpret_cast<std::uintptr_t>(&code_in_memory);
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    std::istringstream in(line);
    if (in >> std::hex >> begin >> dash >> end && dash == '-') here = begin <= own && own < end;
    if (here && line.starts_with("Rss:")) return std::stoul(line.substr(4));
  }
  return std::numeric_limits<std::size_t>::max();
}

TEST(ReleaseStartPages, GivesBackTheProgramsOwnToo) {
  const std::size_t before = code_in_memory();
  ASSERT_NE(before, std::numeric_limits<std::size_t>::max());
  release_start_pages();
  EXPECT_LT(code_in_memory(), before);
}

}  // namespace
}  // namespace lldp::io
