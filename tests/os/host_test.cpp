// SPDX-License-Identifier: Apache-2.0
#include "os/host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <cstdlib>

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

TEST(SystemDescription, IsOfTheSecondNameWhereThereAreTwo) {
  EXPECT_THAT(system_description("PRETTY_NAME=\nA=b\n\nPRETTY_NAME='x \\\"y'"),
              testing::StartsWith("x y "));
}

TEST(HostName, IsTheKernels) {
  utsname kernel{};
  ASSERT_EQ(::uname(&kernel), 0);
  EXPECT_EQ(host_name(), kernel.nodename);
}

TEST(BootId, IsTheKernelsUnlessTheServiceIsTold) {
  const auto of_kernel = boot_id();
  ASSERT_TRUE(of_kernel);
  EXPECT_THAT(*of_kernel, testing::MatchesRegex("[0-9a-f-]*"));
  EXPECT_EQ(of_kernel->size(), 36U);
  ::setenv("LLDP_LEVEL_BOOT_ID", "told", 1);
  EXPECT_EQ(boot_id(), "told");
  ::setenv("LLDP_LEVEL_BOOT_ID", "", 1);
  EXPECT_EQ(boot_id(), *of_kernel);
  ::unsetenv("LLDP_LEVEL_BOOT_ID");
}

}  // namespace
}  // namespace lldp
