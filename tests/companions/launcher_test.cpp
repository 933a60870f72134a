// SPDX-License-Identifier: Apache-2.0
#include "agent/companions/launcher.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "agent/companions/output.hpp"
#include "tests/companions/launcher_fixture.hpp"

namespace lldp::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A zombie waits for whoever reaps orphans here; it runs no more.
bool has_ended(pid_t pid) {
  for (int i = 0; i < 1000; ++i) {
    const std::string stat = read("/proc/" + std::to_string(pid) + "/stat");
    if (stat.empty() || stat.find(") Z") != stat.npos) return true;
    std::this_thread::sleep_for(2ms);
  }
  return false;
}
TEST_F(LauncherTest, GivesItsInputAndTellsTheStatus) {
  Launcher::Job it = job("cat; exit 3");
  it.input = std::string(20'000, 'x');
  ASSERT_TRUE(launcher_->start(it));
  const Launcher::Ended ended = wait();
  EXPECT_EQ(WEXITSTATUS(ended.status), 3);
  EXPECT_FALSE(ended.too_late);
  EXPECT_EQ(read(out()), it.input);
}

TEST_F(LauncherTest, GivesAConnection) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd ours(ends[0]);
  {
    Launcher::Job it = job("read line; echo got $line");
    it.connection = UniqueFd(ends[1]);
    ASSERT_TRUE(launcher_->start(it));
  }
  ASSERT_EQ(::send(ours.get(), "hello\n", 6, MSG_NOSIGNAL), 6);
  EXPECT_EQ(wait().status, 0);
  EXPECT_EQ(read(out()), "got hello\n");
}

/// Of a launcher that is forked while it lives, and of what that starts.
class StandardError {
 public:
  explicit StandardError(int file) : before_(::dup(STDERR_FILENO)) { ::dup2(file, STDERR_FILENO); }
  ~StandardError() { ::dup2(before_.get(), STDERR_FILENO); }
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;

 private:
  UniqueFd before_;
};

TEST_F(LauncherTest, WhatItStartsFillsNoLog) {
  const std::string log = dir_ / "log";
  {
    const UniqueFd file(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    const StandardError to(file.get());
    fork();
  }
  const std::string few = "few\n";
  ASSERT_TRUE(launcher_->start({.words = {"/bin/echo", "few"}}));
  wait();
  EXPECT_EQ(read(log), few);
  const std::string line(99, 'x');
  ASSERT_TRUE(launcher_->start({.words = {"/bin/sh", "-c", "yes " + line + " | head -c 1000000"}}));
  EXPECT_EQ(wait().status, 0) << "who prints is not held up";
  const std::string said =
      "\nlldp-leveld: lldp-level-testee: prints more than the log takes (64 KiB in a minute): the "
      "rest is left out\n";
  EXPECT_EQ(read(log).substr(Output::kMostOctets), said);
  EXPECT_TRUE(read(log).starts_with(few + line + '\n' + line));
  ASSERT_TRUE(launcher_->start({.words = {"/bin/echo", "again"}}));
  wait();
  EXPECT_EQ(read(log).substr(Output::kMostOctets), said) << "it is said once";
}

TEST_F(LauncherTest, WhatFillsTheLogToTheLastOctetIsNotLeftOut) {
  const std::string log = dir_ / "log";
  {
    const UniqueFd file(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    const StandardError to(file.get());
    fork();
  }
  const std::string all = "yes | head -c " + std::to_string(Output::kMostOctets);
  ASSERT_TRUE(launcher_->start({.words = {"/bin/sh", "-c", all}}));
  wait();
  EXPECT_EQ(read(log).size(), Output::kMostOctets);
}

TEST_F(LauncherTest, SaysWhatCannotBeRun) {
  const std::string log = dir_ / "log";
  {
    const UniqueFd file(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    const StandardError to(file.get());
    fork();
  }
  ASSERT_TRUE(launcher_->start({.words = {"/nonexistent"}}));
  EXPECT_EQ(WEXITSTATUS(wait().status), 127);
  EXPECT_EQ(read(log), "lldp-leveld: /nonexistent: cannot be run: No such file or directory\n");
}

TEST_F(LauncherTest, ALogThatNobodyReadsHoldsNobodyUp) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd unread(ends[0]);
  const UniqueFd log(ends[1]);
  {
    const StandardError to(log.get());
    fork();
  }
  const int room = ::fcntl(log.get(), F_GETPIPE_SZ);
  ASSERT_EQ(::write(log.get(), std::string(static_cast<std::size_t>(room), 'x').data(),
                    static_cast<std::size_t>(room)),
            room);
  ASSERT_TRUE(launcher_->start({.words = {"/bin/sh", "-c", "yes | head -c 200000"}}));
  EXPECT_EQ(wait().status, 0);
}

TEST_F(LauncherTest, WhatItStartsHasNoRights) {
  ASSERT_TRUE(
      launcher_->start(job("id -u; grep -E '^(Cap(Prm|Eff|Amb)|NoNewPrivs)' /proc/self/status; "
                           "ls /proc/self/fd | wc -l; echo ${NOTIFY_SOCKET-none}")));
  EXPECT_EQ(wait().status, 0);
  EXPECT_THAT(written(), ElementsAre(testing::Ne("0"), "CapPrm:\t0000000000000000",
                                     "CapEff:\t0000000000000000", "CapAmb:\t0000000000000000",
                                     "NoNewPrivs:\t1", "4" /* with the directory's own */, "none"));
}

TEST_F(LauncherTest, OfRootLeavesNoGroupAndNothingToGain) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give up more than itself";
  ASSERT_TRUE(launcher_->start(
      job("grep CapBnd /proc/self/status; test \"$(id -G)\" = \"$(id -g)\" && echo one group")));
  EXPECT_EQ(wait().status, 0);
  EXPECT_THAT(written(), ElementsAre("CapBnd:\t0000000000000000", "one group"));
}

/// /etc/passwd as the test wants it, for this process and what it starts.
bool make_user(const std::string& file, const std::string& line) {
  if (::unshare(CLONE_NEWNS) != 0) return false;
  ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  ::umount2("/etc/passwd", MNT_DETACH);  // an earlier test's
  std::ofstream(file) << "root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n" << line;
  ::chmod(file.c_str(), 0644);
  return ::mount(file.c_str(), "/etc/passwd", nullptr, MS_BIND, nullptr) == 0;
}

TEST_F(LauncherTest, OfRootBecomesTheUserOfItsName) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a user";
  ASSERT_TRUE(make_user(dir_ / "passwd", std::string(kUserName) + ":x:4242:4343::/:/bin/false\n"));
  fork();
  ASSERT_TRUE(launcher_->start(job("id -u; id -g; id -G")));
  EXPECT_EQ(wait().status, 0);
  EXPECT_THAT(written(), ElementsAre("4242", "4343", "4343"));
}

// As the unit starts the daemon: no root, but CAP_SETUID and CAP_SETGID among its capabilities.
TEST_F(LauncherTest, OfAUserWhoMayBecomesTheUserOfItsName) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a user";
  ASSERT_TRUE(make_user(dir_ / "passwd", std::string(kUserName) + ":x:4242:4343::/:/bin/false\n"));
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    constexpr unsigned kBoth = 1U << CAP_SETUID | 1U << CAP_SETGID;
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    const __user_cap_data_struct some[_LINUX_CAPABILITY_U32S_3] = {{kBoth, kBoth, 0}};
    ::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
    if (::setresuid(1234, 1234, 1234) != 0 || ::syscall(SYS_capset, &header, some) != 0) ::_exit(2);
    fork();
    if (!launcher_ || !launcher_->start(job("id -u; grep CapPrm /proc/self/status"))) ::_exit(3);
    ::_exit(wait().status == 0 ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(daemon, &status, 0), daemon);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_THAT(written(), ElementsAre("4242", "CapPrm:\t0000000000000000"));
}

TEST_F(LauncherTest, OfAUserWhoMayNotStaysWhoItIs) {
  if (::geteuid() != 0) GTEST_SKIP() << "root has to become that user";
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    if (::setgroups(0, nullptr) != 0 || ::setresgid(1234, 1234, 1234) != 0 ||
        ::setresuid(1234, 1234, 1234) != 0)
      ::_exit(2);
    fork();
    if (!launcher_ || !launcher_->start(job("id -u"))) ::_exit(3);
    ::_exit(wait().status == 0 ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(daemon, &status, 0), daemon);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_THAT(written(), ElementsAre("1234"));
}

TEST_F(LauncherTest, EndsWithItsOwnConnectionThoughAnotherWasForkedLater) {
  const pid_t first = pid();
  const auto other = Launcher::fork(kUserName);
  ASSERT_TRUE(other);
  launcher_.reset();
  EXPECT_TRUE(has_ended(first)) << "the other one holds its connection";
}

TEST_F(LauncherTest, KillsWhatTakesTooLongWithItsChildren) {
  Launcher::Job it = job("sleep 60 & echo $!; wait");
  it.limit = 100ms;
  ASSERT_TRUE(launcher_->start(it));
  const Launcher::Ended ended = wait();
  EXPECT_TRUE(ended.too_late);
  EXPECT_EQ(WTERMSIG(ended.status), SIGKILL);
  EXPECT_TRUE(has_ended(std::stoi(read(out()))));
}

// They are in sessions of their own, and the children of nobody else any more.
TEST_F(LauncherTest, KillsWhatWasLeftInTheBackgroundWhenTheTimeIsOver) {
  Launcher::Job it =
      job("setsid sh -c 'sleep 60 & echo $!; echo $$; wait' & sleep 0.1; setsid -f sleep 61");
  it.limit = 500ms;
  ASSERT_TRUE(launcher_->start(it));
  const Launcher::Ended ended = wait();
  EXPECT_EQ(ended.status, 0);
  const auto left = written();
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(::kill(std::stoi(left[1]), 0), 0) << "it has as long as the program had";
  for (const std::string& pid : left) EXPECT_TRUE(has_ended(std::stoi(pid)));
  const std::string launcher = std::to_string(pid());
  for (int i = 0;
       i < 1000 && !read("/proc/" + launcher + "/task/" + launcher + "/children").empty(); ++i)
    std::this_thread::sleep_for(2ms);
  EXPECT_EQ(read("/proc/" + launcher + "/task/" + launcher + "/children"), "");
  ASSERT_TRUE(launcher_->start(job("true"))) << "and it goes on";
  EXPECT_EQ(wait().status, 0);
}

TEST_F(LauncherTest, KillsInSessionsOfTheirOwnTooWhatTakesTooLong) {
  Launcher::Job it = job("setsid sleep 60 & echo $!; trap '' TERM; wait; sleep 60");
  it.limit = 1s;  // until then it has said its number, on a busy machine too
  ASSERT_TRUE(launcher_->start(it));
  EXPECT_TRUE(wait().too_late);
  const std::string number = read(out());
  ASSERT_FALSE(number.empty());
  EXPECT_TRUE(has_ended(std::stoi(number)));
}

TEST_F(LauncherTest, StopsWhatIsAsked) {
  ASSERT_TRUE(launcher_->start(job("exec sleep 60")));
  ASSERT_TRUE(launcher_->stop());
  EXPECT_EQ(WTERMSIG(wait().status), SIGTERM);
}

TEST_F(LauncherTest, KillsWhatDoesNotStopWhenAsked) {
  ASSERT_TRUE(launcher_->start(job("trap '' TERM; echo ready; exec sleep 60")));
  while (read(out()).empty()) std::this_thread::sleep_for(1ms);
  ASSERT_TRUE(launcher_->stop());
  EXPECT_EQ(WTERMSIG(wait().status), SIGKILL);
}

TEST_F(LauncherTest, KeepsNothingOpenOfWhatItHasStarted) {
  const auto open = [name = "/proc/" + std::to_string(pid()) + "/fd"](std::error_code& denied) {
    return std::distance(std::filesystem::directory_iterator(name, denied), {});
  };
  ASSERT_TRUE(launcher_->start(job("true")));
  wait();  // it has all that it opens for itself
  std::error_code denied;
  const auto before = open(denied);
  if (denied) GTEST_SKIP() << denied.message();
  for (int i = 0; i < 20; ++i) {
    Launcher::Job it = job("true");
    it.input = "something";
    ASSERT_TRUE(launcher_->start(it));
    EXPECT_EQ(wait().status, 0);
  }
  EXPECT_EQ(open(denied), before);
}

TEST_F(LauncherTest, TellsThatItCannotStartAnything) {
  if (::geteuid() != 0) GTEST_SKIP() << "the limit would keep us from starting the launcher";
  rlimit usual{};
  ::getrlimit(RLIMIT_NPROC, &usual);
  const rlimit none{.rlim_cur = 0, .rlim_max = usual.rlim_max};
  ::setrlimit(RLIMIT_NPROC, &none);
  fork();
  ::setrlimit(RLIMIT_NPROC, &usual);
  ASSERT_TRUE(launcher_->start(job("true")));
  EXPECT_EQ(WEXITSTATUS(wait().status), 127);
}

TEST_F(LauncherTest, StopsTheChildrenOfWhatItStopsToo) {
  ASSERT_TRUE(launcher_->start(job("sleep 60 & echo $!; wait")));
  while (read(out()).empty()) std::this_thread::sleep_for(1ms);
  ASSERT_TRUE(launcher_->stop());
  EXPECT_EQ(WTERMSIG(wait().status), SIGTERM);
  EXPECT_TRUE(has_ended(std::stoi(read(out()))));
}

TEST_F(LauncherTest, SaysThatAProgramIsNotThere) {
  ASSERT_TRUE(launcher_->start({.words = {"/nonexistent"}}));
  EXPECT_EQ(WEXITSTATUS(wait().status), 127);
}

TEST_F(LauncherTest, EndsWithTheDaemonAndWhatItStartedWithIt) {
  ASSERT_TRUE(launcher_->start(job("echo $$; exec sleep 60")));
  while (read(out()).empty()) std::this_thread::sleep_for(1ms);
  const pid_t child = std::stoi(read(out()));
  launcher_.reset();
  int status = 0;
  EXPECT_GT(::waitpid(-1, &status, 0), 0) << "the launcher";
  EXPECT_TRUE(has_ended(child));
}

TEST_F(LauncherTest, ThatIsKilledTakesWhatItStartedAlong) {
  const pid_t launcher = pid();
  ASSERT_TRUE(launcher_->start(job("echo $$; exec sleep 60")));
  while (read(out()).empty()) std::this_thread::sleep_for(1ms);
  const pid_t child = std::stoi(read(out()));
  ASSERT_EQ(::kill(launcher, SIGKILL), 0);
  int status = 0;
  EXPECT_EQ(::waitpid(launcher, &status, 0), launcher);
  EXPECT_TRUE(has_ended(child));
}

TEST_F(LauncherTest, RefusesMoreThanItCanCarry) {
  Launcher::Job it = job("cat");
  it.input = std::string(Launcher::kMaxOctets, 'x');
  const auto asked = launcher_->start(it);
  ASSERT_FALSE(asked);
  EXPECT_EQ(to_string(asked.error()), "/bin/sh: too much for it to read");
}
}  // namespace
}  // namespace lldp::io
