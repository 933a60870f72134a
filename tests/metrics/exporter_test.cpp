// SPDX-License-Identifier: Apache-2.0
// The program itself, against the real control server with a daemon that only remembers.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

#include "agent/control/control.hpp"
#include "tests/control/commanded.hpp"
#include "tests/metrics/exposition.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::metrics {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio::ip::tcp;

std::string read(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::string golden(const std::string& name) {
  return read(support::source_dir() + "/tests/report/golden/" + name);
}

class FakeDaemon : public io::test::CommandedHandler {
 public:
  std::string show_json(std::span<const std::string>) override { return golden("show.json"); }
  std::string stats_json(std::span<const std::string>) override {
    return R"({"version":1,"ports":[],)"
           R"("process":{"started":7,"cpu_milliseconds":1,"resident_octets":4096}})";
  }
  std::string rules_json() override { return golden("rules.json"); }
  Result<std::string, std::vector<Error>> reload_json() override { return "{}"; }
  Result<void> commanded(std::string, std::span<const std::string>) override { return {}; }
};

/// A port of this machine's that was free a moment ago.
std::string free_address() {
  asio::io_context loop;
  const tcp::acceptor probe(loop, {asio::ip::address_v4::loopback(), 0});
  return "127.0.0.1:" + std::to_string(probe.local_endpoint().port());
}

class Exporter : public testing::Test {
 protected:
  ~Exporter() override {
    stop_daemon();
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
  }
  void start_daemon() {
    auto opened = io::ControlServer::open(loop_, socket(), daemon_);
    ASSERT_TRUE(opened) << to_string(opened.error());
    server_ = std::move(*opened);
    thread_ = std::thread([this] {
      loop_.restart();
      const auto work = asio::make_work_guard(loop_);
      loop_.run();
    });
  }
  void stop_daemon() {
    if (!thread_.joinable()) return;
    loop_.stop();
    thread_.join();
    server_.reset();
  }
  /// Runs it with standard input as given, standard error too; else in log(). Negative: closed.
  void start(std::vector<std::string> words, int input = STDIN_FILENO,
             std::optional<int> errors = {}) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    const std::string out = dir_ / "log";
    ::posix_spawn_file_actions_addopen(&actions, 2, out.c_str(), O_CREAT | O_WRONLY | O_TRUNC,
                                       0600);
    if (errors && *errors < 0) ::posix_spawn_file_actions_addclose(&actions, 2);
    if (errors && *errors >= 0) ::posix_spawn_file_actions_adddup2(&actions, *errors, 2);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::string path = support::program(words.front());
    ASSERT_EQ(::posix_spawn(&child_, path.c_str(), &actions, nullptr, argv.data(), environ), 0);
    ::posix_spawn_file_actions_destroy(&actions);
  }
  int status() {
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  int stop() {
    ::kill(child_, SIGTERM);
    return status();
  }
  /// Where its standard error leads.
  [[nodiscard]] std::string errors_to() const {
    return std::filesystem::read_symlink("/proc/" + std::to_string(child_) + "/fd/2").string();
  }
  [[nodiscard]] std::string log() const { return read(dir_ / "log"); }
  [[nodiscard]] std::string socket() const { return dir_ / "control"; }

  TempDir dir_;

 private:
  FakeDaemon daemon_;
  asio::io_context loop_;
  std::unique_ptr<io::ControlServer> server_;
  std::thread thread_;
  pid_t child_ = -1;
};

/// The answer to GET, headers and all; waits for the server to come.
std::string get(const std::string& address, const std::string& path) {
  const std::size_t colon = address.find(':');
  asio::io_context loop;
  tcp::socket socket(loop);
  const tcp::endpoint there(asio::ip::address_v4::loopback(),
                            static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
  boost::system::error_code error;
  for (int tries = 0; tries < 500; ++tries) {
    socket.connect(there, error);
    if (!error) break;
    socket.close();
    std::this_thread::sleep_for(10ms);
  }
  const std::string request = "GET " + path + " HTTP/1.0\r\n\r\n";
  asio::write(socket, asio::buffer(request), error);
  std::string answer;
  asio::read(socket, asio::dynamic_buffer(answer), error);
  return answer;
}

std::string body_of(const std::string& answer) {
  return answer.substr(answer.find("\r\n\r\n") + 4);
}

TEST_F(Exporter, AnswersScrapesAndFollowsADaemonThatComesAndGoes) {
  const std::string address = free_address();
  start({"lldp-level", "metrics", "--socket", socket(), "--listen", address});
  const std::string before = get(address, "/metrics");
  EXPECT_THAT(before, StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(before, HasSubstr("\nlldp_level_up 0\n"));
  get(address, "/metrics");
  EXPECT_EQ(log(), "lldp-level: " + socket() +
                       ": no lldp-leveld answers here: start it, or name its socket with "
                       "--socket\n")
      << "told once";
  start_daemon();
  const std::string during = get(address, "/metrics");
  EXPECT_THAT(during, HasSubstr("\nlldp_level_up 1\n"));
  EXPECT_THAT(during, HasSubstr("\nlldp_level_device_level 1\n"));
  EXPECT_THAT(during,
              HasSubstr("\nlldp_level_bounces_total{port=\"swp1\",priority=\"5\"} 1234567\n"));
  EXPECT_THAT(support::faults_of_exposition(body_of(during)), IsEmpty());
  EXPECT_THAT(get(address, "/"), HasSubstr("404 Not Found"));
  EXPECT_THAT(get(address, "/../../../etc/passwd"), HasSubstr("404 Not Found"));
  stop_daemon();
  EXPECT_THAT(get(address, "/metrics"), HasSubstr("\nlldp_level_up 0\n"));
  EXPECT_EQ(stop(), 0);
}

TEST_F(Exporter, AnswersAtOnceBesideManySlowClients) {
  start_daemon();
  const std::string address = free_address();
  start({"lldp-level", "metrics", "--socket", socket(), "--listen", address});
  get(address, "/metrics");
  asio::io_context loop;
  std::vector<tcp::socket> slow;
  for (int i = 0; i < 200; ++i)
    slow.emplace_back(loop).connect(
        {asio::ip::address_v4::loopback(),
         static_cast<std::uint16_t>(std::stoi(address.substr(address.find(':') + 1)))});
  EXPECT_THAT(get(address, "/metrics"), HasSubstr("\nlldp_level_up 1\n"));
  stop();
}

TEST_F(Exporter, SaysWhyItCannotListen) {
  const std::string address = free_address();
  start({"lldp-level", "metrics", "--socket", socket(), "--listen", "192.0.2.1:9"});
  EXPECT_EQ(status(), 1);
  EXPECT_EQ(log(),
            "lldp-level: 192.0.2.1:9: cannot be listened at: Cannot assign requested address\n");
}

TEST_F(Exporter, AsksOverTheConnectionThatItIsGiven) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const std::string address = free_address();
  start({"lldp-level-exporter", "-", address}, ends[1]);
  ::close(ends[1]);
  std::thread answers([&] {  // a daemon of another version
    std::string asked;
    for (char octet = 0; ::read(ends[0], &octet, 1) == 1;) {
      if (octet != '\0') continue;
      static constexpr char kAnswer[] = R"({"parameters":{}})";
      [[maybe_unused]] const auto written = ::write(ends[0], kAnswer, sizeof kAnswer);
    }
  });
  EXPECT_THAT(get(address, "/metrics"), HasSubstr("\nlldp_level_up 0\n"));
  EXPECT_EQ(log(),
            "lldp-level-exporter: the daemon's answer is not understood: is it of another "
            "version?\n");
  ::shutdown(ends[0], SHUT_RDWR);
  answers.join();
  ::close(ends[0]);
  EXPECT_EQ(status(), 1) << "it ends with its connection";
  EXPECT_THAT(log(), HasSubstr("lldp-level-exporter: lldp-leveld: hung up\n"));
}

// A socket that took its number would get the complaints.
TEST_F(Exporter, StandardErrorThatIsClosedIsNobodyElses) {
  const std::string address = free_address();
  start({"lldp-level-exporter", socket(), address}, STDIN_FILENO, -1);
  EXPECT_THAT(get(address, "/metrics"), HasSubstr("\nlldp_level_up 0\n"));
  EXPECT_EQ(errors_to(), "/");
  EXPECT_EQ(stop(), 0);
}

TEST_F(Exporter, StandardErrorThatNobodyReadsDoesNotEndIt) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  ::close(ends[0]);
  start({"lldp-level-exporter"}, STDIN_FILENO, ends[1]);
  ::close(ends[1]);
  EXPECT_EQ(status(), 2) << "it had something to say, and no reader: SIGPIPE";
}

TEST_F(Exporter, IsNotForPeople) {
  start({"lldp-level-exporter"});
  EXPECT_EQ(status(), 2);
  EXPECT_EQ(log(),
            "lldp-level-exporter: use: lldp-level-exporter SOCKET|- [ADDRESS:PORT]; people use "
            "lldp-level metrics\n");
}

TEST_F(Exporter, MetricsOnceGoToStandardOutput) {
  start_daemon();
  FILE* pipe =
      ::popen((support::program("lldp-level") + " metrics --socket " + socket()).c_str(), "r");
  std::string text;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  EXPECT_EQ(::pclose(pipe), 0);
  EXPECT_THAT(support::faults_of_exposition(text), IsEmpty());
  EXPECT_THAT(text, HasSubstr("lldp_level_build_info{version=\""));
  EXPECT_THAT(text, HasSubstr("\nlldp_level_daemon_resident_memory_bytes 4096\n"));
  stop_daemon();
  pipe = ::popen(
      (support::program("lldp-level") + " metrics 2>/dev/null --socket " + socket()).c_str(), "r");
  text.clear();
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  EXPECT_EQ(WEXITSTATUS(::pclose(pipe)), 1);
  EXPECT_EQ(text,
            "# HELP lldp_level_up Whether the daemon answers.\n"
            "# TYPE lldp_level_up gauge\n"
            "lldp_level_up 0\n");
}

}  // namespace
}  // namespace lldp::metrics
