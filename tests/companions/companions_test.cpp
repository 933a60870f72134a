// SPDX-License-Identifier: Apache-2.0
#include "agent/companions/companions.hpp"

#include <gmock/gmock.h>
#include <linux/capability.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "tests/companions/launcher_fixture.hpp"

namespace lldp::io {

/// Descriptors that were closed, and were none, or none any more.
int closed_twice = 0;

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace asio = boost::asio;

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
  void TearDown() override {
    companions_.reset();
    EXPECT_EQ(closed_twice, 0) << "another's, once the number is given anew";
  }

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

// A shell that starts the daemon may hold what is not for programs of another user.
TEST_F(CompanionsTest, HookGetsNoVariableOfTheShellThatStartedTheDaemon) {
  ::setenv("LLDP_TEST_SECRET", "x", 1);
  auto own = Launcher::fork(kUserName);
  ::unsetenv("LLDP_TEST_SECRET");
  ASSERT_TRUE(own);
  launcher_ = std::move(*own);
  start("echo \"[$LLDP_TEST_SECRET] $PATH\"");
  companions_->changed("{}");
  EXPECT_THAT(lines(1),
              ElementsAre("[] /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"));
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

// A daemon that was stopped, or whose machine was suspended, for longer than the hook may take.
TEST_F(CompanionsTest, LauncherThatAnsweredWhileNobodyReadIsNotGivenUp) {
  times_.hook_limit = 5s;
  times_.hook_answer = -4900ms;  // so that it is given up before the launcher ends the hook
  testing::internal::CaptureStderr();
  start("cat");
  companions_->changed(R"({"n":1})");
  loop_.poll();
  while (read(out()).empty()) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(500ms);  // its answer comes, and the time to wait for it passes
  loop_.run_for(100ms);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(companions_->wants_changes());
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
  testing::internal::CaptureStderr();
  companions_->changed("{}");  // nobody is there to hand it to: that is said already
  loop_.run_for(10ms);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(told_.size(), 1U);
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

// In the place of libc's.
extern "C" int close(int fd) {
  const auto done = static_cast<int>(::syscall(SYS_close, fd));
  if (done != 0 && errno == EBADF) ++lldp::io::closed_twice;
  return done;
}
