// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/control/commanded.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_dir.hpp"

/// The program itself, against the real control server with a daemon that only remembers.
namespace lldp::cli {

using namespace std::chrono_literals;

inline constexpr const char* kPorts =
    R"([{"name":"swp1","ifindex":7,"up":true,"type":"uplink","order":"up","neighbors":[]}])";

class FakeDaemon : public io::test::CommandedHandler {
 public:
  std::string show_json(std::span<const std::string>) override {
    asked += "show ";
    if (answer) return *answer;
    return R"({"version":1,"device":{"role":"switch","level":)" + level +
           R"(,"location":{"tiers":)" + tiers +
           R"(},"level_source":"host","chassis_id":"02:00:00:00:00:01","system_name":"leaf1"},"ports":)" +
           kPorts + R"(,"protection":{"backend":"bpf","state":")" + state +
           R"(","lossless":[5,6],"reasons":[],"pfc_unverified":0},"alarms":)" + alarms + "}";
  }
  std::string stats_json(std::span<const std::string>) override {
    return R"({"version":1,"ports":[{"name":"swp1","statsFramesOutTotal":7}]})";
  }
  std::string rules_json() override {
    asked += "rules ";
    if (rules) return *rules;
    return R"({"version":1,"lossless":[],"chains":[],"rules":{}})";
  }
  Result<std::string, std::vector<Error>> reload_json() override {
    if (wrong.empty()) return reloaded;
    return fail(wrong);
  }
  Result<void> commanded(std::string what, std::span<const std::string> ports) override {
    for (const std::string& port : ports) what += " " + port;
    commands.push_back(std::move(what));
    if (!wrong.empty()) return fail(wrong.front());
    return {};
  }
  std::vector<Error> wrong{};
  std::vector<std::string> commands{};
  std::string asked{};
  std::string level = "1";
  std::string tiers = "[]";
  std::string state = "active";
  std::string alarms = "[]";
  std::optional<std::string> answer{};  ///< to show, in place of all that
  std::optional<std::string> rules{};   ///< the same of rules
  std::string reloaded = "{}";
};

struct Outcome {
  int status = -1;
  std::string out{};  ///< standard output and standard error
};

inline Outcome run_command(const std::string& command) {
  Outcome result;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    result.out.append(buffer, n);
  result.status = WEXITSTATUS(::pclose(pipe));
  return result;
}

inline Outcome run(const std::string& arguments) {
  return run_command(support::program("lldp-level") + " " + arguments);
}

/// The loop runs in a thread of its own; what the test does with the daemon is posted there.
class Cli : public testing::Test {
 protected:
  ~Cli() override { stop(); }
  void start() {
    auto opened = io::ControlServer::open(loop_, socket(), daemon);
    ASSERT_TRUE(opened) << to_string(opened.error());
    server_ = std::move(*opened);
    thread_ = std::thread([this] {
      loop_.restart();
      const auto work = boost::asio::make_work_guard(loop_);
      loop_.run();
    });
  }
  void stop() {
    if (!thread_.joinable()) return;
    loop_.stop();
    thread_.join();
    server_.reset();
  }
  void change(std::function<void()> what) {
    boost::asio::post(loop_, [this, what = std::move(what)] {
      what();
      server_->notify_changed();
    });
  }
  void seen(io::Direction direction, std::string port, Bytes frame) {
    boost::asio::post(loop_, [=, this] { server_->frame_seen(direction, port, frame); });
  }
  [[nodiscard]] std::string socket() const { return dir / "control"; }
  [[nodiscard]] std::string at(const std::string& command) const {
    return command + " --socket " + socket();
  }

  TempDir dir;
  FakeDaemon daemon;

 private:
  boost::asio::io_context loop_;
  std::unique_ptr<io::ControlServer> server_;
  std::thread thread_;
};

}  // namespace lldp::cli
