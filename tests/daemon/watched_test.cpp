// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/watched.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "os/fd.hpp"

namespace lldp::io {
namespace {

/// Whether an epoll set of this process has the descriptor: then the kernel wakes us for it.
bool is_polled(int fd) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream in(entry.path());
    std::string key;
    for (int target = -1; in >> key;)
      if (key == "tfd:" && in >> target && target == fd) return true;
  }
  return false;
}

struct WatchedTest : testing::Test {
  boost::asio::io_context loop{1};
  UniqueFd event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  int woken = 0;
  Watched watched{loop, event.get(), [this] { ++woken; }};

  void happen() const { ASSERT_EQ(::eventfd_write(event.get(), 1), 0); }
  void turn() {
    loop.restart();
    loop.poll();
  }
};

TEST_F(WatchedTest, WhatHappenedBeforeTheWaitCounts) {
  happen();
  watched.wait();
  turn();
  EXPECT_EQ(woken, 1);
  watched.wait();  // it was not taken
  turn();
  EXPECT_EQ(woken, 2);
}

TEST_F(WatchedTest, PausedItWakesNobodyUntilTheNextWait) {
  watched.wait();
  watched.pause();
  happen();
  turn();
  EXPECT_EQ(woken, 0);
  EXPECT_FALSE(is_polled(event.get()));
  watched.wait();
  EXPECT_TRUE(is_polled(event.get()));
  turn();
  EXPECT_EQ(woken, 1);
}

TEST_F(WatchedTest, TheDescriptorIsItsOwnersToClose) {
  const UniqueFd theirs(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  std::make_unique<Watched>(loop, theirs.get(), [] {})->wait();
  turn();
  EXPECT_EQ(::eventfd_write(theirs.get(), 1), 0);
}

}  // namespace
}  // namespace lldp::io
