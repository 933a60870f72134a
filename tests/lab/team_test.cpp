// SPDX-License-Identifier: Apache-2.0
#include "lab/des/team.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <system_error>

namespace lldp::lab {
namespace {

TEST(Team, EndsThoseThatThereAreWhereTheSystemGivesNoMoreThreads) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const rlimit few{3, 3};
    setrlimit(RLIMIT_NPROC, &few);
    if (getuid() == 0 && setuid(42'424) != 0) _exit(2);  // who has no other process
    try {
      Team team(64, [](std::size_t) {});
    } catch (const std::system_error&) {
      _exit(0);
    }
    _exit(3);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace lldp::lab
