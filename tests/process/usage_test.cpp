// SPDX-License-Identifier: Apache-2.0
#include "agent/process/usage.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "os/start_pages.hpp"

namespace lldp::io {
namespace {

/// What of files is mapped here and in memory, in kB: proc(5).
long resident_of_files() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    long kilobytes = 0;
    if (word == "RssFile:" && status >> kilobytes) return kilobytes;
  }
  return 0;
}

const char* volatile constant = "kept";

TEST(StartPages, AreLetGoOfAndComeBackAsTheyWere) {
  const long before = resident_of_files();
  release_start_pages();
  EXPECT_LT(resident_of_files(), before - 1000);
  EXPECT_EQ(std::string(constant), "kept");
  EXPECT_THROW((void)std::stoi("none"), std::invalid_argument);  // the unwinder's tables too
}

}  // namespace
}  // namespace lldp::io
