// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "agent/companions/launcher.hpp"
#include "os/file.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::io {

using namespace std::chrono_literals;

/// Nothing of a file, or of a process, that is not there.
inline std::string read(const std::string& path) { return read_file(path).value_or(""); }

/// Whatever the programs write goes to a file that anybody may write: as root they are nobody.
class LauncherTest : public testing::Test {
 protected:
  LauncherTest() { ::chmod(dir_.path().c_str(), 0777); }
  void SetUp() override {
    if (::geteuid() == 0) {  // what it must not keep
      const gid_t group = kGroup;
      ::setgroups(1, &group);
    }
    ::setenv("NOTIFY_SOCKET", "/what/systemd/told/the/daemon", 1);
    fork();
    ::unsetenv("NOTIFY_SOCKET");
    ASSERT_TRUE(launcher_);
  }
  void fork() {
    auto forked = Launcher::fork(kUserName);
    ASSERT_TRUE(forked) << to_string(forked.error());
    launcher_ = std::move(*forked);
  }
  /// The process of the launcher, which is the last one that this one has started.
  [[nodiscard]] static pid_t pid() {
    const std::string self = std::to_string(::getpid());
    std::istringstream children(read("/proc/" + self + "/task/" + self + "/children"));
    pid_t last = 0;
    for (pid_t pid = 0; children >> pid;) last = pid;
    return last;
  }
  std::vector<std::string> written() const {
    std::istringstream in(read(out()));
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  static constexpr gid_t kGroup = 54321;
  static constexpr const char* kUserName = "lldp-level-testee";
  [[nodiscard]] std::string out() const { return dir_ / "out"; }
  Launcher::Job job(const std::string& command) {
    return {.words = {"/bin/sh", "-c", "exec >>" + out() + "; " + command}};
  }
  Launcher::Ended wait() {
    while (true) {
      const auto ended = launcher_->receive();
      if (ended && *ended) return **ended;
      if (!ended) return {.status = -1};
      std::this_thread::sleep_for(1ms);
    }
  }

  TempDir dir_;
  std::optional<Launcher> launcher_;
};

}  // namespace lldp::io
