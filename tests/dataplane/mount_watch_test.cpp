// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/mount_watch.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>

#include "tests/dataplane/private_net.hpp"

namespace {
bool refuses_watches = false;
}

// In the place of libc's.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
extern "C" int epoll_ctl(int epoll, int what, int fd, epoll_event* interest) noexcept {
  if (refuses_watches && what == EPOLL_CTL_ADD) {
    errno = ENOSPC;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_epoll_ctl, epoll, what, fd, interest));
}

namespace lldp::dataplane {
namespace {

/// In a mount namespace of its own.
class MountWatch : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = PrivateNet::enter(); !why.empty()) GTEST_SKIP() << why;
  }
  /// Something comes and goes.
  static void change() {
    const char* const place = PrivateNet::bpffs().c_str();
    ASSERT_EQ(::mount("none", place, "tmpfs", 0, nullptr), 0);
    ASSERT_EQ(::umount(place), 0);
  }
  static bool is_readable(const bpf::MountWatch& watch, int wait_ms = 0) {
    pollfd ready{.fd = watch.fd(), .events = POLLIN, .revents = 0};
    return ::poll(&ready, 1, wait_ms) == 1;
  }
};

TEST_F(MountWatch, WakesOnceAndSaysWhatCameMeanwhileIfAsked) {
  auto watch = bpf::MountWatch::open(std::chrono::hours(24));
  ASSERT_TRUE(watch) << to_string(watch.error());
  EXPECT_FALSE(is_readable(*watch));
  EXPECT_FALSE(watch->take());
  change();
  EXPECT_TRUE(is_readable(*watch));
  EXPECT_TRUE(watch->take());
  EXPECT_FALSE(watch->take());
  change();
  EXPECT_FALSE(is_readable(*watch)) << "it rests";
  EXPECT_TRUE(watch->take());
  EXPECT_FALSE(watch->take());
}

TEST_F(MountWatch, WakesAfterItsRestForWhatCameMeanwhile) {
  auto watch = bpf::MountWatch::open(std::chrono::seconds(1));
  ASSERT_TRUE(watch) << to_string(watch.error());
  change();
  EXPECT_TRUE(watch->take());
  for (int i = 0; i < 2; ++i) {
    change();
    bool told = false;
    while (!told && is_readable(*watch, 60'000)) told = watch->take();
    EXPECT_TRUE(told);
  }
}

TEST_F(MountWatch, RestsAgainIfTheKernelRefusesToWakeIt) {
  auto watch = bpf::MountWatch::open(std::chrono::milliseconds(1));
  ASSERT_TRUE(watch) << to_string(watch.error());
  change();
  EXPECT_TRUE(watch->take());
  refuses_watches = true;
  ASSERT_TRUE(is_readable(*watch, 60'000)) << "its rest is over";
  EXPECT_FALSE(watch->take());
  refuses_watches = false;
  ASSERT_TRUE(is_readable(*watch, 60'000)) << "and so is the next one";
  EXPECT_FALSE(watch->take());
  for (int i = 0; i < 10 && is_readable(*watch, 100); ++i) EXPECT_FALSE(watch->take());
  EXPECT_FALSE(is_readable(*watch)) << "it comes to rest";
  change();
  EXPECT_TRUE(is_readable(*watch));
}

TEST_F(MountWatch, DoesNotWakeAfterItsRestForNothing) {
  auto watch = bpf::MountWatch::open(std::chrono::milliseconds(1));
  ASSERT_TRUE(watch) << to_string(watch.error());
  change();
  EXPECT_TRUE(watch->take());
  int wakes = 0;
  for (; wakes < 10 && is_readable(*watch, 1000); ++wakes) EXPECT_FALSE(watch->take());
  EXPECT_LT(wakes, 10) << "it comes to rest";
}

}  // namespace
}  // namespace lldp::dataplane
