// SPDX-License-Identifier: Apache-2.0
#include "os/host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>

namespace lldp {
namespace {

TEST(SystemDescription, IsTheDistributionAndTheKernel) {
  utsname kernel{};
  ASSERT_EQ(::uname(&kernel), 0);
  const std::string text = std::string(kernel.sysname) + " " + kernel.release + " " +
                           kernel.version + " " + kernel.machine;
  EXPECT_EQ(
      system_description("NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n"),
      "Debian GNU/Linux 12 (bookworm) " + text);
  EXPECT_EQ(system_description(""), text);
  EXPECT_EQ(system_description("PRETTY_NAME="), text);
  EXPECT_EQ(system_description("PRETTY_NAME=" + std::string(1000, 'x')).size(), 255U);
  EXPECT_THAT(system_description(), testing::EndsWith(text));
}

}  // namespace
}  // namespace lldp
