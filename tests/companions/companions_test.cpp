// SPDX-License-Identifier: Apache-2.0
#include "agent/companions/companions.hpp"

#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <thread>

#include "os/file.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;
namespace asio = boost::asio;

/// Nothing of a file, or of a process, that is not there.
std::string read(const std::string& path) { return read_file(path).value_or(""); }

/// A zombie waits for whoever reaps orphans here; it runs no more.
bool has_ended(pid_t pid) {
  for (int i = 0; i < 1000; ++i) {
    const std::string stat = read("/proc/" + std::to_string(pid) + "/stat");
    if (stat.empty() || stat.find(") Z") != stat.npos) return true;
    std::this_thread::sleep_for(2ms);
  }
  return false;
}

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
  it.limit = 200ms;
  ASSERT_TRUE(launcher_->start(it));
  EXPECT_TRUE(wait().too_late);
  EXPECT_TRUE(has_ended(std::stoi(read(out()))));
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

/// Each as "key: why", or "key" where it is fine.
std::vector<std::string> state_of(const Companions& companions, const config::Config& config) {
  std::vector<std::string> out;
  for (const report::Companion& c : companions.report(config))
    out.push_back(c.key + (c.trouble.empty() ? "" : ": " + c.trouble));
  return out;
}

class CompanionsTest : public LauncherTest {
 protected:
  void start(
      const std::string& command,
      Companions::Connect connect = [] { return fail(Error{.what = "no exporter here"}); }) {
    config_.on_change = "exec >>" + out() + "; " + command;
    std::optional<Companions::Launchers> launchers;
    if (launcher_) {
      auto other = Launcher::fork(kUserName);
      ASSERT_TRUE(other);
      launchers.emplace(Companions::Launchers{
          .exporter = std::move(*other), .hook = std::move(*launcher_), .agentx = {}});
    }
    companions_.emplace(loop_, std::move(launchers), std::move(connect), times_,
                        [this] { told_.push_back(state_of(*companions_, config_)); });
    companions_->configure(config_);
  }
  /// Runs the loop until the programs have written that many lines.
  std::vector<std::string> lines(std::size_t count) {
    std::vector<std::string> found;
    for (int i = 0; i < 2000 && found.size() < count; ++i) {
      loop_.run_for(5ms);
      loop_.restart();
      std::istringstream in(read(out()));
      found.clear();
      for (std::string line; std::getline(in, line);) found.push_back(line);
    }
    return found;
  }

  bool until(const std::function<bool()>& done) {
    for (int i = 0; i < 2000 && !done(); ++i) {
      loop_.run_for(5ms);
      loop_.restart();
    }
    return done();
  }

  asio::io_context loop_;
  Companions::Times times_{
      .hook_limit = 5s, .hook_pause = 1ms, .first_restart = 10ms, .settled = 0ms};
  config::Config config_;
  std::optional<Companions> companions_;
  std::vector<std::vector<std::string>> told_;  ///< the states, when they had become others
};

TEST_F(CompanionsTest, HookGetsOneChangeAfterTheOther) {
  start("cat; sleep 0.02; echo done");
  for (const char* change : {R"({"n":1})", R"({"n":2})"}) companions_->changed(change);
  EXPECT_THAT(lines(4),
              ElementsAre(R"({"n":1,"left_out":0})", "done", R"({"n":2,"left_out":0})", "done"));
}

TEST_F(CompanionsTest, HookRestsBetweenOneRunAndTheNext) {
  times_.hook_pause = 60ms;
  start("date +%s%N");
  for (int i = 0; i < 3; ++i) companions_->changed("{}");
  const auto runs = lines(3);
  ASSERT_EQ(runs.size(), 3U);
  for (std::size_t i = 1; i < 3; ++i)
    EXPECT_GE(std::stoll(runs[i]) - std::stoll(runs[i - 1]), 60'000'000) << i;
}

TEST_F(CompanionsTest, HookThatIsSlowIsToldHowManyWereLeftOut) {
  start("cat; sleep 0.05");
  for (std::size_t i = 0; i < Companions::kQueue + 6; ++i)
    companions_->changed("{\"n\":" + std::to_string(i) + "}");
  EXPECT_THAT(lines(2), ElementsAre(R"({"n":0,"left_out":0})", R"({"n":6,"left_out":5})"));
}

TEST_F(CompanionsTest, HookThatFailsIsSaidOnceAndGoesOn) {
  start("echo run; exit 3");
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) companions_->changed("{}");
  EXPECT_THAT(lines(3), ElementsAre("run", "run", "run"));
  loop_.run_for(20ms);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "lldp-leveld: on-change: exit status 3\n");
}

TEST_F(CompanionsTest, HookThatWorksAgainIsNotSaidAndFailsAnewIs) {
  start("read line; echo run; case $line in *ok*) exit 0;; esac; exit 3");
  testing::internal::CaptureStderr();
  for (const char* change : {"{}", R"({"n":"ok"})", R"({"n":"ok"})", "{}"})
    companions_->changed(change);
  EXPECT_EQ(lines(4).size(), 4U);
  loop_.run_for(50ms);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "lldp-leveld: on-change: exit status 3\nlldp-leveld: on-change: exit status 3\n");
}

TEST(CompanionsOfServices, AreWhereTheEnvironmentSays) {
  EXPECT_FALSE(Companions::of_services());
  ::setenv("LLDP_LEVEL_LAUNCHERS", "", 1);
  EXPECT_FALSE(Companions::of_services());
  ::setenv("LLDP_LEVEL_LAUNCHERS", "/run/x", 1);
  const auto services = Companions::of_services();
  ::unsetenv("LLDP_LEVEL_LAUNCHERS");
  ASSERT_TRUE(services);
  EXPECT_EQ(services->services, "/run/x");
}

TEST_F(CompanionsTest, HookThatIsKilledIsSaidToBe) {
  start("echo run; kill -KILL $$");
  testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i) companions_->changed("{}");
  EXPECT_THAT(lines(2), ElementsAre("run", "run"));  // the second follows the end of the first
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "lldp-leveld: on-change: killed by signal 9\n");
}

TEST_F(CompanionsTest, HookThatHangsIsKilled) {
  times_.hook_limit = 50ms;
  start("read line; echo $line; case $line in *1*) sleep 60;; esac");
  testing::internal::CaptureStderr();
  companions_->changed(R"({"n":1})");
  companions_->changed(R"({"n":2})");
  EXPECT_EQ(lines(2).size(), 2U);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "lldp-leveld: on-change: took longer than 50 ms, and was killed\n");
}

TEST_F(CompanionsTest, LauncherThatHangsIsGivenUpAndSaidToBe) {
  const pid_t hanging = pid();
  ASSERT_EQ(::kill(hanging, SIGSTOP), 0);
  times_.hook_limit = 20ms;
  times_.hook_answer = 20ms;
  testing::internal::CaptureStderr();
  start("cat");
  companions_->changed(R"({"n":1})");
  loop_.run_for(100ms);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "lldp-leveld: on-change: its launcher does not answer, and is given up until a "
            "restart\n");
  EXPECT_FALSE(companions_->wants_changes());
  ::kill(hanging, SIGCONT);
}

TEST_F(CompanionsTest, HookCanBeChangedAndTakenAway) {
  start("echo first");
  companions_->changed("{}");
  EXPECT_THAT(lines(1), ElementsAre("first"));
  config_.on_change = "echo second >>" + out();
  companions_->configure(config_);
  companions_->changed("{}");
  EXPECT_THAT(lines(2), ElementsAre("first", "second"));
  config_.on_change.clear();
  companions_->configure(config_);
  EXPECT_FALSE(companions_->wants_changes());
}

TEST_F(CompanionsTest, WithoutALauncherItIsSaid) {
  launcher_.reset();
  testing::internal::CaptureStderr();
  start("true");
  EXPECT_FALSE(companions_->wants_changes());
  companions_->changed("{}");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("on-change: there is no launcher"));
  const report::Companion missing{
      .key = "on-change",
      .trouble = "there is no launcher to start it, as none was wanted at start: restart"};
  EXPECT_THAT(companions_->report(config_), ElementsAre(missing));
  config_.snmp_agentx = "/agentx";
  EXPECT_THAT(companions_->out_of_reach(config_),
              ElementsAre(testing::Field(&report::Companion::key, "snmp.agentx"), missing));
}

/// In a child that may do this: what the daemon says when it forks launchers, and of a
/// configuration then.
std::string said_by(const config::Config& config, const std::function<bool()>& become) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    if (!become()) ::_exit(1);
    asio::io_context loop;
    Companions companions(loop, Companions::fork(config), [] { return fail(Error{}); }, {});
    companions.configure(config);
    ::_exit(0);
  }
  ::close(ends[1]);
  const UniqueFd said(ends[0]);
  ::waitpid(child, nullptr, 0);
  std::string out(4096, '\0');
  out.resize(
      static_cast<std::size_t>(std::max<ssize_t>(0, ::read(said.get(), out.data(), out.size()))));
  return out;
}

TEST(CompanionsOfFew, RunAsTheDaemonsOwnUserWhoSaysSo) {
  if (::geteuid() != 0) GTEST_SKIP() << "root has to become that user";
  config::Config config;
  config.on_change = "true";
  EXPECT_EQ(said_by(config,
                    [] {
                      return ::setgroups(0, nullptr) == 0 && ::setresgid(1234, 1234, 1234) == 0 &&
                             ::setresuid(1234, 1234, 1234) == 0;
                    }),
            "lldp-leveld: on-change: run as the daemon's own user, for it may become no other: "
            "CAP_SETUID and CAP_SETGID are missing\n");
}

TEST(CompanionsOfFew, AreNoneOfRootWithoutTheRightAndItSaysSo) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give that up";
  config::Config config;
  config.on_change = "true";
  EXPECT_EQ(said_by(config,
                    [] {
                      __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3,
                                                      .pid = 0};
                      const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
                      return ::syscall(SYS_capset, &header, none) == 0;
                    }),
            "lldp-leveld: on-change: there is no launcher to start it: launcher: cannot become "
            "another user, with CAP_SETUID and CAP_SETGID: Operation not permitted\n");
}

TEST_F(CompanionsTest, HookWhoseLastRunFailedIsReportedUntilOneWorks) {
  start("read line; echo $line; case $line in *bad*) exit 3;; esac");
  EXPECT_THAT(state_of(*companions_, config_), ElementsAre("on-change"));
  testing::internal::CaptureStderr();
  for (const char* change : {R"({"n":"bad"})", R"({"n":"worse and bad"})", R"({"n":"good"})"})
    companions_->changed(change);
  EXPECT_TRUE(until([&] { return told_.size() == 2; }));
  testing::internal::GetCapturedStderr();
  EXPECT_THAT(told_,
              ElementsAre(ElementsAre("on-change: exit status 3"), ElementsAre("on-change")));
}

TEST_F(CompanionsTest, ExporterIsReportedWhileItDoesNotRun) {
  config_.metrics_listen = "127.0.0.1:9";
  std::vector<UniqueFd> kept;
  testing::internal::CaptureStderr();
  start("true", [&]() -> Result<UniqueFd> {
    if (told_.empty()) return fail(Error{.what = "no exporter here"});
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return fail(Error{});
    kept.emplace_back(ends[0]);
    return UniqueFd(ends[1]);
  });
  EXPECT_TRUE(until([&] { return told_.size() >= 2; }));
  testing::internal::GetCapturedStderr();
  EXPECT_THAT(told_[0], ElementsAre("metrics.listen: no exporter here", "on-change"));
  EXPECT_THAT(told_[1], ElementsAre("metrics.listen", "on-change"));
  config_.metrics_listen.clear();
  EXPECT_THAT(state_of(*companions_, config_), ElementsAre("on-change"));
}

TEST_F(CompanionsTest, ExporterThatEndsAgainAndAgainIsNotSaidToRunBetween) {
  config_.metrics_listen = "nowhere";
  times_.settled = 60s;
  testing::internal::CaptureStderr();
  int tries = 0;
  start("true", [&]() -> Result<UniqueFd> {
    ++tries;
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return fail(Error{});
    ::close(ends[0]);
    return UniqueFd(ends[1]);
  });
  EXPECT_TRUE(until([&] { return tries == 4; }));
  testing::internal::GetCapturedStderr();
  EXPECT_THAT(told_, ElementsAre(ElementsAre(testing::StartsWith("metrics.listen: exit status "),
                                             "on-change")));
}

TEST_F(CompanionsTest, LauncherThatHasEndedIsReported) {
  const pid_t hook = pid();
  start("true");
  testing::internal::CaptureStderr();
  ::kill(hook, SIGKILL);
  EXPECT_TRUE(until([&] { return !told_.empty(); }));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("launcher: has ended"));
  EXPECT_THAT(told_, ElementsAre(ElementsAre("on-change: its launcher has ended: restart")));
}

TEST_F(CompanionsTest, HookThatWasReplacedLeavesNoChangesBehind) {
  start("read line; echo $line; sleep 0.05");
  for (const char* change : {R"({"n":1})", R"({"n":2})"}) companions_->changed(change);
  config_.on_change = "exec >>" + out() + "; cat";
  companions_->configure(config_);
  companions_->changed(R"({"n":3})");
  EXPECT_THAT(lines(2), ElementsAre(R"({"n":1,"left_out":0})", R"({"n":3,"left_out":0})"));
}

TEST_F(CompanionsTest, HookThatStaysAsItWasKeepsItsChangesOverAReload) {
  start("read line; echo $line; sleep 0.05");
  for (const char* change : {R"({"n":1})", R"({"n":2})"}) companions_->changed(change);
  companions_->configure(config_);
  EXPECT_THAT(lines(2), ElementsAre(R"({"n":1,"left_out":0})", R"({"n":2,"left_out":0})"));
}

TEST_F(CompanionsTest, ExporterIsTriedAgainLessAndLessOften) {
  std::vector<std::chrono::steady_clock::time_point> tries;
  times_.last_restart = 40ms;
  config_.metrics_listen = "127.0.0.1:9";
  testing::internal::CaptureStderr();
  start("true", [&] {
    tries.push_back(std::chrono::steady_clock::now());
    return fail(Error{.what = "no exporter here"});
  });
  while (tries.size() < 5) loop_.run_one();
  testing::internal::GetCapturedStderr();
  const std::chrono::milliseconds least[] = {10ms, 20ms, 40ms, 40ms};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_GE(tries[i + 1] - tries[i], least[i]) << i;
}

TEST_F(CompanionsTest, ExporterThatCannotBeStartedIsSaidOnce) {
  config_.metrics_listen = "127.0.0.1:9";
  testing::internal::CaptureStderr();
  start("true");
  loop_.run_for(80ms);  // several tries
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "lldp-leveld: metrics.listen: the exporter: no exporter here: is tried again, at most "
            "every 60 s\n");
}

}  // namespace
}  // namespace lldp::io
