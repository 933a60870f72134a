// SPDX-License-Identifier: Apache-2.0
#include "agent/process/presence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "os/unix_address.hpp"
#include "tests/support/no_descriptors.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::io {
namespace {

using testing::HasSubstr;

/// Another process, in a network namespace of the test's own, that has the name.
class PresenceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "needs root, for a network namespace";
  }
  void TearDown() override {
    if (holder_ > 0) ::kill(holder_, SIGKILL);
    if (holder_ > 0) ::waitpid(holder_, nullptr, 0);
    holder_ = 0;
  }
  /// A process that does this, and then stays: what it did was good.
  static pid_t start(const std::function<bool()>& what) {
    int told[2];
    if (::pipe(told) != 0) return -1;
    const pid_t process = ::fork();
    if (process == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const char done = what() ? 'y' : 'n';
      if (::write(told[1], &done, 1) == 1) ::pause();
      ::_exit(0);
    }
    ::close(told[1]);
    char done = 'n';
    EXPECT_EQ(::read(told[0], &done, 1), 1);
    EXPECT_EQ(done, 'y');
    ::close(told[0]);
    return process;
  }
  /// For the rest of the process' life.
  static bool take_name() {
    static const auto present = Presence::announce();
    return present.has_value();
  }
  static bool become(uid_t user) { return ::setresuid(user, user, user) == 0; }
  /// `is`: what else the process becomes before it takes the name.
  void hold(
      uid_t user, bool (*is)() = [] { return true; }) {
    holder_ = start([&] { return become(user) && is() && take_name(); });
  }
  pid_t holder_ = 0;
};

TEST_F(PresenceTest, DaemonIsNamedByItsProcess) {
  EXPECT_EQ(Presence::other(), std::nullopt);
  hold(0);
  EXPECT_EQ(Presence::other(), "process " + std::to_string(holder_));
  const auto second = Presence::announce();
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->is_alone());
}

// Whoever came first may be alone no more, and alone again later.
TEST_F(PresenceTest, EachSeesTheOther) {
  const auto first = Presence::announce();
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->is_alone());
  for (int round = 0; round < 2; ++round) {
    hold(0);
    EXPECT_FALSE(first->is_alone());
    for (int look = 0; look < 8; ++look) static_cast<void>(Presence::other());
    EXPECT_FALSE(first->is_alone()) << "it is there, though nobody answers so many";
    TearDown();
    EXPECT_TRUE(first->is_alone());
  }
}

TEST_F(PresenceTest, WhoeverRemovesRulesSeesTheSecondWhenTheFirstHasGone) {
  hold(0);
  const auto second = Presence::announce();
  TearDown();
  EXPECT_EQ(Presence::other(), "process " + std::to_string(::getpid()));
}

TEST_F(PresenceTest, NameThatAnyoneHasTakenIsNoDaemon) {
  hold(65534);
  EXPECT_EQ(Presence::other(), std::nullopt);
  const auto second = Presence::announce();
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->is_alone());
}

// Whoever fills his queue himself was taken for a daemon, and one at which many had looked had no
// number any more.
TEST_F(PresenceTest, WhoHasANameIsKnownHoweverManyHaveLooked) {
  hold(65534);
  for (int look = 0; look < 8; ++look) EXPECT_EQ(Presence::other(), std::nullopt) << look;
  TearDown();
  hold(0);
  for (int look = 0; look < 8; ++look)
    EXPECT_EQ(Presence::other(), "process " + std::to_string(holder_)) << look;
}

// A file of that name looks the same in the kernel's list, and the first of the two was believed:
// a daemon at which many had looked was none any more.
TEST_F(PresenceTest, SocketThatLooksAlikeHidesNoDaemon) {
  hold(0);
  for (int look = 0; look < 8; ++look) static_cast<void>(Presence::other());
  const TempDir files;
  ASSERT_EQ(::chmod(files.path().c_str(), 0777), 0);
  const pid_t decoy = start([&files] {
    bool good = ::chdir(files.path().c_str()) == 0 && become(65534);
    for (const char* name : {"@lldp-leveld", "x @lldp-leveld",
                             "x\n0: 2 0 00010000 1 1 99 @lldp-leveld", "@lldp-leveld\nx"}) {
      const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
      const auto at = unix_address(name);
      good = good && ::bind(fd, at->get(), at->size) == 0 && ::listen(fd, 1) == 0;
    }
    return good;
  });
  EXPECT_EQ(Presence::other(), "process " + std::to_string(holder_));
  const pid_t daemon = std::exchange(holder_, decoy);
  ::kill(daemon, SIGKILL);
  ::waitpid(daemon, nullptr, 0);
  EXPECT_EQ(Presence::other(), std::nullopt);
}

// As su(1), which waits for a password with root's rights.
TEST_F(PresenceTest, NameThatIsKeptThroughAProgramOfRootsIsNoDaemon) {
  holder_ =
      start([] { return ::setresuid(65534, 65534, 0) == 0 && take_name() && ::seteuid(0) == 0; });
  for (int look = 0; look < 8; ++look) EXPECT_EQ(Presence::other(), std::nullopt) << look;
}

TEST_F(PresenceTest, SomebodyWhoHasTakenAllTheNamesIsSaid) {
  std::vector<Presence> all;
  for (int n = 0; n < 8; ++n) all.push_back(*Presence::announce());
  const auto none = Presence::announce();
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().what, HasSubstr("@lldp-leveld.7 are taken"));
}

TEST_F(PresenceTest, WhoCannotAskIsNotAlone) {
  const auto present = Presence::announce();
  ASSERT_TRUE(present);
  const support::NoDescriptors none;
  EXPECT_FALSE(present->is_alone());
}

TEST_F(PresenceTest, WhatKeepsItFromBeingKnownIsSaid) {
  std::optional<support::NoDescriptors> none(std::in_place);
  const auto present = Presence::announce();
  none.reset();
  ASSERT_FALSE(present);
  EXPECT_EQ(present.error().code, EMFILE) << "and not that the names are taken";
}

// There he has all capabilities, which are worth nothing outside.
TEST_F(PresenceTest, NameThatTheRootOfAUserNamespaceHasTakenIsNoDaemon) {
  hold(65534, [] {
    if (::unshare(CLONE_NEWUSER) != 0) return false;
    // What has changed its user is root's in /proc until it says that it may be looked at.
    ::prctl(PR_SET_DUMPABLE, 1);
    std::ofstream map("/proc/self/uid_map");
    map << "0 65534 1" << std::flush;
    return map.good() && ::getuid() == 0;
  });
  EXPECT_EQ(Presence::other(), std::nullopt);
}

// As in a container that shares the network of the machine.
TEST_F(PresenceTest, DaemonThatAPidNamespaceDoesNotSeeHasNoNumber) {
  for (const uid_t user : {0U, 65534U}) {
    hold(user);
    const pid_t asker = ::fork();
    if (asker == 0) {
      if (::unshare(CLONE_NEWPID) != 0) ::_exit(1);
      const pid_t inside = ::fork();
      if (inside == 0) ::_exit(Presence::other() == "another process" ? 0 : 2);
      int status = 0;
      ::waitpid(inside, &status, 0);
      ::_exit(WEXITSTATUS(status));
    }
    int status = 0;
    ASSERT_EQ(::waitpid(asker, &status, 0), asker);
    EXPECT_EQ(status, 0) << user;
    TearDown();
  }
}

}  // namespace
}  // namespace lldp::io
