// SPDX-License-Identifier: Apache-2.0
// What goes on: watch, on a terminal and into a pipe.
#include <gmock/gmock.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/local/datagram_protocol.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <regex>
#include <tuple>
#include <utility>

#include "tests/cli/cli_fixture.hpp"
#include "tests/support/unix_socket.hpp"

namespace lldp::cli {
namespace {

/// `watch` into a pipe.
class Piped {
 public:
  Piped(const std::string& arguments, std::string pid_file) : pid_file_(std::move(pid_file)) {
    const std::string command =
        "echo $$ >" + pid_file_ + "; exec " + support::program("lldp-level") + " " + arguments;
    pipe_ = ::popen(command.c_str(), "r");
  }
  Piped(const Piped&) = delete;
  Piped& operator=(const Piped&) = delete;
  ~Piped() {
    pid_t pid = 0;
    std::ifstream(pid_file_) >> pid;
    if (pid > 0) ::kill(pid, SIGTERM);
    static_cast<void>(::pclose(pipe_));
  }
  std::string line() {
    std::string text;
    for (int c = 0; (c = std::fgetc(pipe_)) != EOF && c != '\n';) text += static_cast<char>(c);
    return text;
  }

 private:
  std::string pid_file_;
  FILE* pipe_ = nullptr;
};

TEST_F(Cli, WatchOutlivesTheDaemonsRestart) {
  start();
  Piped watch(at("watch --json") + " 2>" + (dir / "errors"), dir / "pid");
  EXPECT_THAT(watch.line(), testing::HasSubstr(R"("level":1)"));
  stop();
  daemon.level = "2";
  start();
  EXPECT_THAT(watch.line(), testing::HasSubstr(R"("level":2)"));
  std::ifstream errors(dir / "errors");
  std::string said;
  std::getline(errors, said);
  EXPECT_EQ(said,
            "lldp-level: " + socket() + ": the daemon hung up: see its log: waiting for the next");
  stop();
  daemon.answer = R"({"level":3})";
  start();  // and again
  EXPECT_EQ(watch.line(), R"({"level":3})");
}

TEST_F(Cli, WatchIntoAPipeTellsOnePictureAfterTheOther) {
  start();
  Piped watch(at("watch"), dir / "pid");
  for (const char* level : {"1", "2"}) {
    if (*level != '1') change([this] { daemon.level = "2"; });
    EXPECT_EQ(watch.line(), "leaf1: switch, level " + std::string(level) +
                                " (host), protection active (bpf, lossless 5 6)");
    EXPECT_THAT(watch.line(), testing::StartsWith("PORT  LINK"));
    EXPECT_THAT(watch.line(), testing::StartsWith("swp1  up"));
    EXPECT_EQ(watch.line(), "");
  }
}

TEST_F(Cli, WatchEndsWhereSomethingElseStandsInTheDaemonsPlace) {
  start();
  Piped watch(at("watch --json") + " 2>&1", dir / "pid");
  EXPECT_THAT(watch.line(), testing::HasSubstr(R"("level":1)"));
  stop();
  std::filesystem::remove(socket());
  boost::asio::io_context loop;
  const boost::asio::local::datagram_protocol::socket other(loop, socket());
  EXPECT_THAT(watch.line(), testing::HasSubstr("waiting for the next"));
  EXPECT_EQ(watch.line(),
            "lldp-level: " + socket() + ": cannot connect: Protocol wrong type for socket");
  EXPECT_EQ(watch.line(), "");
}

// Nothing changes that it would have to write, and would fail to.
TEST_F(Cli, StreamEndsWhenNothingReadsIt) {
  start();
  const std::string program = "{ { " + support::program("lldp-level") + " ";
  for (const char* command : {"watch", "watch --json", "record -"}) {
    const Outcome it =
        run_command(program + at(command) + "; echo status $? >&2; } | head -c 1 >/dev/null; }");
    EXPECT_THAT(it.out, testing::HasSubstr("standard output: cannot be written\nstatus 1\n"))
        << command;
  }
}

TEST_F(Cli, StandardStreamsThatAreClosedAreNotTheConnection) {
  start();
  for (const char* closed : {" 2>&1 >&-", " 2>&1 >&- <&-"}) {
    Piped watch(at("watch") + closed, dir / "pid");
    EXPECT_EQ(watch.line(), "lldp-level: standard output: cannot be written") << closed;
    EXPECT_EQ(watch.line(), "");
  }
}

/// `watch` on a terminal of its own.
class Terminal {
 public:
  /// `kind`: TERM; null: it is not set.
  Terminal(const std::string& program, const std::string& socket, unsigned short rows,
           const char* kind = "xterm") {
    winsize size{.ws_row = rows, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    child_ = ::forkpty(&master_, nullptr, nullptr, &size);
    if (child_ != 0) return;
    if (kind != nullptr)
      ::setenv("TERM", kind, 1);
    else
      ::unsetenv("TERM");
    ::setenv("NO_COLOR", "1", 1);
    ::execl(program.c_str(), "lldp-level", "watch", "--socket", socket.c_str(), nullptr);
    ::_exit(127);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    static_cast<void>(end(SIGKILL));
    ::close(master_);
  }
  /// What it ends with; 0 for the signal sends none.
  int end(int signal) {
    int status = 0;
    if (child_ < 0) return -1;
    ::kill(child_, signal);
    ::waitpid(std::exchange(child_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void resize(unsigned short rows) const {
    const winsize size{.ws_row = rows, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    ::ioctl(master_, TIOCSWINSZ, &size);
  }
  /// The first picture that has `text` in it, of those drawn from now on; nothing: none came.
  std::string shows(const std::string& text) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (std::chrono::steady_clock::now() < end && read_some()) {
      for (std::size_t last = 0; (last = drawn_.find("\x1b[J")) != drawn_.npos;) {
        const std::string picture = drawn_.substr(0, last);
        drawn_.erase(0, last + 3);
        if (picture.find(text) != picture.npos) return picture;
      }
    }
    return {};
  }
  /// All that was written, as soon as it has `text` in it, or all the same if that never comes.
  std::string says(const std::string& text) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (drawn_.find(text) == drawn_.npos && std::chrono::steady_clock::now() < end &&
           read_some())
      continue;
    return drawn_;
  }

 private:
  bool read_some() {
    pollfd ready{master_, POLLIN, 0};
    char buffer[4096];
    const ssize_t n =
        ::poll(&ready, 1, 100) > 0 ? ::read(master_, buffer, sizeof buffer) : ssize_t{0};
    if (n > 0) drawn_.append(buffer, static_cast<std::size_t>(n));
    return n >= 0;
  }

  int master_ = -1;
  pid_t child_ = -1;
  std::string drawn_{};
};

std::string many_ports(std::size_t count) {
  std::string ports;
  for (std::size_t i = 1; i <= count; ++i)
    ports +=
        (i == 1 ? "" : ",") + std::string(R"({"name":"swp)") + std::to_string(i) +
        R"(","up":true,"type":"uplink","order":"up","neighbors":[{"chassis_id":"02:00:00:00:00:09",)"
        R"("system_name":"spine1","port_description":"","port_id":"p1","level":2,"expires_in":97}]})";
  return R"({"device":{"role":"switch","level":1,"level_source":"host","chassis_id":"02:00:00:00:00:01",)"
         R"("system_name":"leaf1"},"ports":[)" +
         ports +
         R"(],"protection":{"backend":"bpf","state":"active","lossless":[5,6],"reasons":[],)"
         R"("pfc_unverified":0},"alarms":[]})";
}

TEST_F(Cli, WatchIsDrawnAnewWhenTheWindowChanges) {
  // Without neighbors, whose times to live make it draw by itself.
  daemon.answer = std::regex_replace(many_ports(20), std::regex(R"("neighbors":\[[^\]]*\])"),
                                     R"("neighbors":[])");
  start();
  Terminal terminal(support::program("lldp-level"), socket(), 10);
  ASSERT_NE(terminal.shows("14 more rows"), "");
  terminal.resize(40);
  EXPECT_NE(terminal.shows("swp20 "), "");
}

TEST_F(Cli, WatchEndsWithAnAnswerThatItDoesNotUnderstand) {
  daemon.answer = "{}";
  start();
  const Outcome watch = run(at("watch"));
  EXPECT_EQ(watch.status, 1) << watch.out;
  EXPECT_THAT(watch.out, testing::StartsWith("lldp-level: "));
}

TEST_F(Cli, WatchDrawsAPictureThatIsRightAtEveryMoment) {
  daemon.answer = many_ports(20);
  start();
  Terminal terminal(support::program("lldp-level"), socket(), 10);
  const std::string first = terminal.shows("swp1 ");
  EXPECT_THAT(first, testing::HasSubstr("swp6 "));
  EXPECT_THAT(first, testing::Not(testing::HasSubstr("swp7 ")));
  EXPECT_THAT(first, testing::HasSubstr("14 more rows: make the window higher, or name ports"));
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 9) << "the last line is the cursor's";
  terminal.resize(40);
  const std::string higher = terminal.shows("swp20 ");
  EXPECT_THAT(higher, testing::Not(testing::HasSubstr("more rows")));
  EXPECT_THAT(terminal.shows(" 96 s"), testing::Not(testing::HasSubstr(" 97 s")));  // they run on
  stop();
  EXPECT_THAT(terminal.shows("The daemon is gone, and waited for. It said last:"),
              testing::HasSubstr("swp20 "));
  daemon.answer = many_ports(3);
  start();
  EXPECT_THAT(terminal.shows(" 97 s"), testing::Not(testing::AnyOf(testing::HasSubstr("gone"),
                                                                   testing::HasSubstr("swp4 "))));
}

TEST_F(Cli, WatchOnATerminalEndsWithAnAnswerThatIsNone) {
  const UniqueFd listening = socket_at(socket(), SOCK_STREAM, 1);
  Terminal terminal(support::program("lldp-level"), socket(), 10);
  pollfd asked{listening.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&asked, 1, 10'000), 1);
  const UniqueFd connection(::accept(listening.get(), nullptr, nullptr));
  ASSERT_EQ(::write(connection.get(), "none", 5), 5);
  EXPECT_THAT(terminal.says("lldp-level: "), testing::HasSubstr("lldp-level: "));
  EXPECT_EQ(terminal.end(0), 1);
}

TEST_F(Cli, WatchOnATerminalThatCannotBeWrittenIsAFailure) {
  start();
  int master = -1;
  int slave = -1;
  ASSERT_EQ(::openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
  ::setenv("TERM", "xterm", 1);
  // Open for reading alone, it is a terminal all the same.
  const Outcome watch = run(at("watch") + " 2>&1 1<" + ::ptsname(master) + "; echo $?");
  EXPECT_EQ(watch.out, "lldp-level: standard output: cannot be written\n1\n");
  ::close(slave);
  ::close(master);
}

TEST_F(Cli, WatchOnATerminalThatObeysNoEscapesGoesOnAsIntoAPipe) {
  start();
  for (const char* kind : {"dumb", "", static_cast<const char*>(nullptr)}) {
    Terminal terminal(support::program("lldp-level"), socket(), 10, kind);
    EXPECT_THAT(terminal.says("swp1  up"), testing::StartsWith("leaf1: switch, level 1 "));
    change([this] { daemon.level = "2"; });
    const std::string both = terminal.says("level 2 ");
    EXPECT_THAT(both, testing::HasSubstr("level 2 "));
    EXPECT_THAT(both, testing::Not(testing::HasSubstr("\x1b"))) << (kind ? kind : "none");
    change([this] { daemon.level = "1"; });
  }
}

}  // namespace
}  // namespace lldp::cli
