// SPDX-License-Identifier: Apache-2.0
// The daemon's program before there is a daemon.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>

#include "os/fd.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::io {
namespace {

// A reload that comes while the configuration is read has nothing to do, and no reason to end it.
TEST(Program, ReloadIsNoEndWhileItReadsItsConfiguration) {
  const TempDir dir;
  const std::string config = dir / "config";  // that says when it is read, and lasts as we want
  ASSERT_EQ(::mkfifo(config.c_str(), 0600), 0);
  const std::string program = support::program("lldp-leveld");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
    ::execl(program.c_str(), program.c_str(), "--config", config.c_str(), nullptr);
    ::_exit(99);
  }
  ::alarm(60);  // it would wait for ever for a program that does not read it
  UniqueFd writer(::open(config.c_str(), O_WRONLY | O_CLOEXEC));  // once it reads
  ::kill(child, SIGHUP);
  constexpr std::string_view kText = "nonsense\n";
  EXPECT_EQ(::write(writer.get(), kText.data(), kText.size()), static_cast<ssize_t>(kText.size()));
  writer = UniqueFd();
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  ::alarm(0);
  ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 2) << "for its configuration is wrong";
}

TEST(Program, SaysThatItCouldNotPrint) {
  for (const char* name :
       {"lldp-leveld", "lldp-level-exporter", "lldp-level-agentx", "lldp-level-launcher"})
    for (const char* word : {" --help", " --version"}) {
      const std::string command = support::program(name) + word + " 2>&1 >/dev/full";
      FILE* pipe = ::popen(command.c_str(), "r");
      char text[256] = "";
      EXPECT_NE(std::fgets(text, sizeof text, pipe), nullptr) << command;
      EXPECT_EQ(std::string(text), std::string(name) + ": standard output: cannot be written\n");
      EXPECT_EQ(WEXITSTATUS(::pclose(pipe)), 1) << command;
    }
}

}  // namespace
}  // namespace lldp::io
