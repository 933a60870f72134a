// SPDX-License-Identifier: Apache-2.0
// Launchers that are services of their own: lldp-level-launcher behind its socket.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <thread>

#include "agent/companions/companions.hpp"
#include "os/file.hpp"
#include "tests/support/activator.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;
namespace asio = boost::asio;

/// Nothing of a file, or of a process, that is not there.
std::string read(const std::string& path) { return read_file(path).value_or(""); }
bool eventually(const std::function<bool()>& done) {
  for (int i = 0; i < 4000 && !done(); ++i) std::this_thread::sleep_for(2ms);
  return done();
}
bool runs(pid_t pid) {
  const std::string stat = read("/proc/" + std::to_string(pid) + "/stat");
  return !stat.empty() && stat.find(") Z") == stat.npos;
}

/// What it starts as root is another user's, who writes here.
class LauncherService : public testing::Test {
 protected:
  LauncherService() { ::chmod(dir_.path().c_str(), 0777); }
  [[nodiscard]] std::string out() const { return dir_ / "out"; }
  [[nodiscard]] std::string file() const { return dir_ / "conf"; }
  [[nodiscard]] std::string command(const std::string& what) const {
    return "exec >>" + out() + "; " + what;
  }
  void write(const std::string& text) const { std::ofstream(file()) << text << "\n"; }
  void listen() { listen({support::program("lldp-level-launcher"), "hook", file()}); }
  void listen(const std::vector<std::string>& words) { hook_.emplace(dir_ / "hook", words); }
  [[nodiscard]] Launcher connect() const {
    auto launcher = Launcher::connect(dir_ / "hook");
    EXPECT_TRUE(launcher) << to_string(launcher.error());
    return std::move(*launcher);
  }
  static Launcher::Job job(const std::string& what) { return {.words = {"/bin/sh", "-c", what}}; }
  /// What the launcher tells; nothing: it has hung up.
  static std::optional<Launcher::Ended> wait(Launcher& launcher) {
    while (true) {
      const auto ended = launcher.receive();
      if (!ended) return std::nullopt;
      if (*ended) return **ended;
      std::this_thread::sleep_for(1ms);
    }
  }

  TempDir dir_;
  std::optional<support::Activator> hook_;
};

TEST_F(LauncherService, StartsWhatTheFileSaysAgainAndAgain) {
  write("on-change = " + command("cat; id -u"));
  listen();
  Launcher launcher = connect();
  for (const char* input : {"one\n", "two\n"}) {
    Launcher::Job it = job(command("cat; id -u"));
    it.input = input;
    ASSERT_TRUE(launcher.start(it));
    const auto ended = wait(launcher);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->status, 0);
    EXPECT_FALSE(ended->refused);
  }
  const std::string said = read(out());
  EXPECT_THAT(said, HasSubstr("one\n"));
  EXPECT_THAT(said, HasSubstr("two\n"));
  EXPECT_THAT(said, testing::Not(HasSubstr("\n0\n"))) << "never root";
}

// As the unit starts it, the file is standard input, which root has opened; the directory is not.
TEST_F(LauncherService, StartsWhatADropInSaysAsTheDaemonReadsIt) {
  const std::string folder = dir_ / "more";
  ASSERT_TRUE(std::filesystem::create_directory(folder));
  write("on-change = " + command("echo file"));
  std::ofstream(folder + "/10.conf") << "on-change = " << command("echo drop-in") << "\n";
  const auto daemon = config::load({.file = file(), .drop_ins = folder});
  ASSERT_TRUE(daemon);
  listen({"/bin/sh", "-c",
          "exec " + support::program("lldp-level-launcher") + " hook - " + folder + " <" + file()});
  Launcher launcher = connect();
  ASSERT_TRUE(launcher.start({.words = kHook.words(*daemon)}));
  const auto ended = wait(launcher);
  ASSERT_TRUE(ended);
  EXPECT_FALSE(ended->refused);
  EXPECT_EQ(read(out()), "drop-in\n");
}

// What somebody who has taken the daemon over would ask for.
TEST_F(LauncherService, StartsNothingElseWhateverItIsAsked) {
  write("on-change = " + command("echo ours"));
  listen();
  std::vector<std::vector<std::string>> wanted{{"/bin/sh", "-c", command("echo taken")},
                                               {"/bin/sh", "-c", command("echo ours") + "; id"},
                                               {"/bin/sh", "-c", command("echo ours"), "more"},
                                               {"/bin/sh", "-c"},
                                               {"/bin/id"}};
  for (const auto& words : wanted) {
    Launcher launcher = connect();
    ASSERT_TRUE(launcher.start({.words = words}));
    const auto ended = wait(launcher);
    ASSERT_TRUE(ended);
    ASSERT_TRUE(ended->refused);
    EXPECT_FALSE(wait(launcher)) << "it does not go on";
  }
  EXPECT_EQ(read(out()), "");
}

TEST_F(LauncherService, StartsNothingWhereTheFileSaysNothing) {
  write("role = host");
  listen();
  Launcher launcher = connect();
  ASSERT_TRUE(launcher.start(job("true")));
  const auto ended = wait(launcher);
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->refused);
}

TEST_F(LauncherService, HangsUpWhereTheFileIsWrong) {
  write("on-change = true\nnonsense = 1");
  listen();
  Launcher launcher = connect();
  EXPECT_FALSE(wait(launcher));
}

TEST_F(LauncherService, HangsUpAtNonsense) {
  write("on-change = true");
  listen();
  for (const std::string& message : {std::string("x"), std::string(40'000, 'x')}) {
    Launcher launcher = connect();
    if (::send(launcher.fd(), message.data(), message.size(), MSG_NOSIGNAL) < 0) continue;
    EXPECT_FALSE(wait(launcher));
  }
}

TEST_F(LauncherService, RunsOneAtATime) {
  const std::string sleeper = command("echo $$; exec sleep 60");
  write("on-change = " + sleeper);
  listen();
  Launcher launcher = connect();
  ASSERT_TRUE(launcher.start(job(sleeper)));
  ASSERT_TRUE(eventually([&] { return !read(out()).empty(); }));
  const pid_t first = std::stoi(read(out()));
  ASSERT_TRUE(launcher.start(job(sleeper)));
  EXPECT_FALSE(wait(launcher));
  EXPECT_TRUE(eventually([&] { return !runs(first); }));
}

TEST_F(LauncherService, EndsWithTheDaemonAndServesTheNext) {
  const std::string sleeper = command("echo $$; exec sleep 60");
  write("on-change = " + sleeper);
  listen();
  pid_t launcher = 0;
  {
    Launcher connected = connect();
    ASSERT_TRUE(connected.start(job(sleeper)));
    ASSERT_TRUE(eventually([&] { return !read(out()).empty(); }));
    launcher = hook_->running();
    EXPECT_GT(launcher, 0);
  }
  const pid_t child = std::stoi(read(out()));
  EXPECT_TRUE(eventually([&] { return !runs(launcher) && !runs(child); }));
  write("on-change = " + command("echo next"));
  Launcher again = connect();
  ASSERT_TRUE(again.start(job(command("echo next"))));
  ASSERT_TRUE(wait(again));
  EXPECT_THAT(read(out()), HasSubstr("next\n"));
}

// The limit is the launcher's own: the daemon cannot lift it.
TEST_F(LauncherService, KillsWhatTakesTooLongWhateverTheDaemonSays) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    serve_launcher(UniqueFd(ends[1]), {.words = {"/bin/sleep", "60"}, .limit = 50ms, .user = ""});
  }
  ::close(ends[1]);
  const UniqueFd daemon(ends[0]);
  Request request{.verb = Request::Verb::kStart, .count = 2};
  request.words = {"/bin/sleep", "60"};
  const std::string message = *encode(request);
  ASSERT_GT(::send(daemon.get(), message.data(), message.size(), MSG_NOSIGNAL), 0);
  Launcher::Ended ended;
  ASSERT_EQ(::recv(daemon.get(), &ended, sizeof ended, 0), static_cast<ssize_t>(sizeof ended));
  EXPECT_TRUE(ended.too_late);
  EXPECT_EQ(WTERMSIG(ended.status), SIGKILL);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

/// The program as a person may start it: its status, and what it says.
TEST(LauncherProgram, SaysWhatItIsAndThatItIsSystemdsToStart) {
  const auto said = [](const std::string& script) {
    const std::string command =
        "unset LISTEN_PID LISTEN_FDS; P=" + support::program("lldp-level-launcher") + "; (" +
        script + ") 2>&1; echo $?";
    FILE* pipe = ::popen(command.c_str(), "r");
    std::string out;
    char buffer[4096];
    for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
      out.append(buffer, n);
    ::pclose(pipe);
    return out;
  };
  const std::string use =
      "lldp-level-launcher: use: lldp-level-launcher exporter|agentx|hook [FILE [DIRECTORY]]; "
      "systemd "
      "does\n2\n";
  const std::string none =
      "lldp-level-launcher: there is no socket: start lldp-level.service, which brings it up\n2\n";
  EXPECT_EQ(said("$P"), use);
  EXPECT_EQ(said("$P frob"), use);
  EXPECT_EQ(said("$P hook a b c"), use);
  for (const char* kind : {"exporter", "agentx", "hook", "hook /etc/x.conf"})
    EXPECT_EQ(said("$P " + std::string(kind)), none);
  EXPECT_EQ(said("LISTEN_FDS=1 $P hook"), none);
  EXPECT_EQ(said("LISTEN_PID=1 LISTEN_FDS=1 $P hook"), none) << "another's";
  EXPECT_EQ(said("sh -c 'LISTEN_PID=$$ exec '$P' hook'"), none);
  EXPECT_EQ(said("sh -c 'LISTEN_PID=$$ LISTEN_FDS=2 exec '$P' hook'"), none);
  for (const char* option : {"--help", "-h"}) {
    const std::string text = said("$P " + std::string(option));
    EXPECT_THAT(
        text,
        testing::StartsWith(
            "usage: lldp-level-launcher exporter|agentx|hook [FILE [DIRECTORY]]\nStarted by"));
    EXPECT_THAT(text, testing::EndsWith("\n0\n"));
  }
  EXPECT_EQ(said("$P -V"), said("$P --version"));
  EXPECT_THAT(said("$P -V"), testing::MatchesRegex("lldp-level-launcher [0-9.]+\n0\n"));
}

TEST_F(LauncherService, SaysThatThereIsNoSocket) {
  const auto none = Launcher::connect(dir_ / "nothing");
  ASSERT_FALSE(none);
  EXPECT_EQ(to_string(none.error()),
            dir_ / "nothing" + std::string(": cannot be reached: No such file or directory"));
}

/// The daemon's end.
class CompanionServices : public LauncherService {
 protected:
  void start() {
    Companions::Launchers services;
    services.services = dir_.path();
    companions_.emplace(
        loop_, std::move(services), [] { return fail(Error{.what = "no exporter here"}); }, times_);
  }
  /// As a reload does.
  void set(const std::string& what) {
    if (!what.empty()) write("on-change = " + what);
    config_.on_change = what;
    companions_->configure(config_);
  }
  /// Runs the loop until `done`.
  bool runs_until(const std::function<bool()>& done) {
    for (int i = 0; i < 2000 && !done(); ++i) {
      loop_.run_for(5ms);
      loop_.restart();
    }
    return done();
  }
  [[nodiscard]] bool says(std::string_view what) const {
    return read(out()).find(what) != std::string::npos;
  }

  asio::io_context loop_;
  Companions::Times times_{
      .hook_limit = 5s, .hook_pause = 1ms, .first_restart = 10ms, .settled = 0ms};
  config::Config config_;
  std::optional<Companions> companions_;
};

TEST_F(CompanionServices, HookIsSetByAReloadForTheFirstTimeChangedAndTakenAway) {
  listen();
  start();
  EXPECT_TRUE(companions_->go_by_the_file());
  EXPECT_FALSE(companions_->wants_changes());
  EXPECT_THAT(companions_->out_of_reach(config_), testing::IsEmpty());
  set(command("echo first $(cat)"));
  EXPECT_THAT(companions_->out_of_reach(config_), testing::IsEmpty());
  companions_->changed(R"({"n":1})");
  ASSERT_TRUE(runs_until([&] { return says(R"(first {"n":1,"left_out":0})"); }));
  set(command("echo second"));
  companions_->changed(R"({"n":2})");
  ASSERT_TRUE(runs_until([&] { return says("second\n"); }));
  set("");
  EXPECT_FALSE(companions_->wants_changes());
  EXPECT_TRUE(runs_until([&] { return hook_->running() == 0; })) << "nothing waits for nothing";
}

TEST_F(CompanionServices, HookThatRunsMayEndBeforeTheNextOne) {
  listen();
  start();
  set(command("read x; echo begun; sleep 0.2; echo ended"));
  companions_->changed(R"({"n":1})");
  ASSERT_TRUE(runs_until([&] { return says("begun"); }));
  set(command("echo second"));
  companions_->changed(R"({"n":2})");
  ASSERT_TRUE(runs_until([&] { return says("second\n"); }));
  EXPECT_EQ(read(out()), "begun\nended\nsecond\n");
}

TEST_F(CompanionServices, HookGoesOnAfterItsLauncherHasDied) {
  listen();
  start();
  set(command("cat"));
  companions_->changed(R"({"n":1})");
  ASSERT_TRUE(runs_until([&] { return says(R"("n":1)"); }));
  ::kill(hook_->running(), SIGKILL);
  ASSERT_TRUE(runs_until([&] {
    companions_->changed(R"({"n":2})");
    return says(R"("n":2)");
  }));
}

TEST_F(CompanionServices, HookThatTheFileDoesNotHaveIsRefusedAndSaidOnce) {
  listen();
  start();
  write("on-change = " + command("echo of the file"));
  config_.on_change = command("echo of the command line");
  testing::internal::CaptureStderr();
  companions_->configure(config_);
  for (int i = 0; i < 3; ++i) {
    companions_->changed("{}");
    runs_until([n = 0]() mutable { return ++n > 20; });
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "lldp-leveld: on-change: lldp-level-hook.service starts what on-change in the file "
            "says, and the daemon has another: reload\n");
  EXPECT_EQ(read(out()), "");
}

// The launcher came up while the file was still the old one.
TEST_F(CompanionServices, ChangeThatALauncherOfTheOldFileRefusesIsToldByTheNext) {
  listen();
  times_.first_restart = 200ms;
  start();
  write("on-change = " + command("echo old"));
  config_.on_change = command("cat");
  testing::internal::CaptureStderr();
  companions_->configure(config_);
  ASSERT_TRUE(eventually([&] { return hook_->running() != 0; }));
  companions_->changed(R"({"n":1})");
  ASSERT_TRUE(runs_until([&] { return hook_->running() == 0; })) << "it has refused";
  write("on-change = " + command("cat"));
  EXPECT_TRUE(runs_until([&] { return says(R"("n":1)"); }));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(CompanionServices, ChangeIsToldOnceMoreIfItsLauncherGoesInTheMiddle) {
  listen();
  start();
  set(command("cat; exec sleep 60"));
  companions_->changed(R"({"n":1})");
  ASSERT_TRUE(runs_until([&] { return says(R"("n":1)"); }));
  const auto times = [&] {
    const std::string text = read(out());
    return std::count(text.begin(), text.end(), '\n');
  };
  ::kill(hook_->running(), SIGKILL);
  ASSERT_TRUE(runs_until([&] { return times() == 2; }));
  companions_->changed(R"({"n":2})");
  ::kill(hook_->running(), SIGKILL);
  ASSERT_TRUE(runs_until([&] { return says(R"("n":2)"); })) << "and no more than that";
  EXPECT_EQ(times(), 3);
}

TEST_F(CompanionServices, HookIsNotToldAnewWhatTheOneBeforeWasTold) {
  listen();
  times_.first_restart = 100ms;  // the other hook is there before
  start();
  set(command("cat; exec sleep 60"));
  companions_->changed(R"({"n":1})");
  ASSERT_TRUE(runs_until([&] { return says(R"("n":1)"); }));
  ::kill(hook_->running(), SIGKILL);
  ASSERT_TRUE(runs_until([&] { return !companions_->report(config_).at(0).trouble.empty(); }));
  set(command("echo another $(cat)"));
  companions_->changed(R"({"n":2})");
  ASSERT_TRUE(runs_until([&] { return says(R"(another {"n":2)"); }));
  EXPECT_FALSE(says(R"(another {"n":1)"));
}

TEST_F(CompanionServices, HookWithoutItsSocketIsTriedLessAndLessOftenAndKeepsItsChange) {
  start();
  testing::internal::CaptureStderr();
  set(command("cat"));
  companions_->changed(R"({"n":1})");
  loop_.run_for(50ms);
  loop_.restart();
  listen();
  EXPECT_TRUE(runs_until([&] { return says(R"("n":1)"); }));
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
}

TEST_F(CompanionServices, ExporterWithoutItsSocketIsTriedAgain) {
  start();
  config_.metrics_listen = "127.0.0.1:9";
  testing::internal::CaptureStderr();
  companions_->configure(config_);
  loop_.run_for(80ms);  // several tries
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            fmt::format("lldp-leveld: metrics.listen: the exporter: {}: cannot be reached: No such "
                        "file or directory: is tried again, at most every 60 s\n",
                        dir_ / "exporter"));
}

/// Whether every user may enter the directories above it: a tree in /root is root's alone.
bool others_reach(const std::filesystem::path& file) {
  for (auto at = file.parent_path(); at != at.root_path(); at = at.parent_path())
    if ((std::filesystem::status(at).permissions() & std::filesystem::perms::others_exec) ==
        std::filesystem::perms::none)
      return false;
  return true;
}

TEST_F(CompanionServices, ExporterWhoseLauncherDiesIsSaidAndComesBack) {
  const std::string program = support::program("lldp-level-exporter");
  if (!others_reach(program)) GTEST_SKIP() << program << ": the exporter's user cannot reach it";
  const support::Activator exporter(dir_ / "exporter",
                                    {support::program("lldp-level-launcher"), "exporter", file()});
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd daemon(ends[0]);
  const UniqueFd asks(ends[1]);
  Companions::Launchers services;
  services.services = dir_.path();
  std::vector<std::string> told;
  companions_.emplace(
      loop_, std::move(services), [&] { return UniqueFd(::dup(asks.get())); }, times_,
      [&] { told.push_back(companions_->report(config_).at(0).trouble); });
  asio::ip::tcp::acceptor free(loop_, {asio::ip::address_v4::loopback(), 0});
  const auto there = free.local_endpoint();
  free.close();
  config_.metrics_listen = fmt::format("127.0.0.1:{}", there.port());
  const auto answers = [&] {
    boost::system::error_code failed;
    asio::ip::tcp::socket(loop_).connect(there, failed);
    return !failed;
  };
  write("metrics.listen = " + config_.metrics_listen);
  testing::internal::CaptureStderr();
  companions_->configure(config_);
  ASSERT_TRUE(runs_until(answers));
  EXPECT_THAT(told, testing::IsEmpty());
  ::kill(exporter.running(), SIGKILL);
  ASSERT_TRUE(runs_until([&] { return told.size() >= 2; }));
  EXPECT_TRUE(runs_until(answers));
  EXPECT_EQ(told.at(0),
            "its launcher has ended: `systemctl status lldp-level-exporter.service` says why");
  EXPECT_EQ(told.at(1), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "lldp-leveld: metrics.listen: the exporter: its launcher has ended: `systemctl status "
            "lldp-level-exporter.service` says why: is tried again, at most every 60 s\n");
}

}  // namespace
}  // namespace lldp::io
