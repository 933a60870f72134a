// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "tests/netns/support.hpp"

namespace lldp::netns {

/// lldpd in a namespace, with a control socket of its own.
class Lldpd {
 public:
  /// `commands`: of lldpcli, each with a line break behind it.
  explicit Lldpd(const Namespace& space, const std::string& commands = {}) : space_(space) {
    // lldpd goes by what the kernel forwards, which is nothing here; a switch is a bridge to it.
    std::ofstream(conf()) << kIsBridge << "configure system max-neighbors 1000\n" << commands;
  }
  ~Lldpd() { stop(); }
  Lldpd(const Lldpd&) = delete;
  Lldpd& operator=(const Lldpd&) = delete;

  void start(const std::vector<std::string>& options = {}) {
    // -O: no configuration but ours.
    std::vector<std::string> command{"/usr/sbin/lldpd",  "-d", "-u", socket(), "-O", conf(), "-L",
                                     "/usr/sbin/lldpcli"};
    command.insert(command.end(), options.begin(), options.end());
    process_.emplace(space_.inside(std::move(command)), files_.file("log"));
  }
  /// To the part that speaks first: it says goodbye when it sees the other one die.
  void signal(int number) {
    std::vector<int> all = pids();
    std::ranges::reverse(all);
    for (const int pid : all) ::kill(pid, number);
  }
  void kill() {
    const std::vector<int> all = pids();
    signal(SIGKILL);
    process_.reset();
    const auto gone = [&] {
      return std::ranges::none_of(
          all, [](int pid) { return ::access(fmt::format("/proc/{}", pid).c_str(), F_OK) == 0; });
    };
    EXPECT_TRUE(eventually(gone));
  }
  void stop() {
    if (!process_) return;
    process_->signal(SIGTERM);
    EXPECT_NE(process_->wait(), -1);
    process_.reset();
  }
  /// While it starts, it may set again what it goes by over what it is told.
  void be_bridge() const {
    static_cast<void>(answer(
        {"sh", "-c", fmt::format("echo '{}' | /usr/sbin/lldpcli -u {}", kIsBridge, socket())}));
    EXPECT_TRUE(eventually(
        [&] { return ask("chassis").find("Station.enabled=off") != std::string::npos; }));
  }
  [[nodiscard]] std::string socket() const { return files_.file("lldpd.socket"); }
  [[nodiscard]] std::string ask(const std::string& what) const {
    return answer({"/usr/sbin/lldpcli", "-u", socket(), "-f", "keyvalue", "show", what});
  }
  /// What programs read that run `lldpctl -f FORMAT`.
  [[nodiscard]] std::string neighbors(const std::string& format) const {
    return answer(
        {"/usr/sbin/lldpcli", "-u", socket(), "-f", format, "show", "neighbors", "details"});
  }

 private:
  /// What a client prints, once lldpd lets clients in: a moment after its socket is there.
  [[nodiscard]] std::string answer(const std::vector<std::string>& client) const {
    std::string said;
    const auto answers = [&] {
      const TemporaryDirectory files;
      Process process(client, files.file("answer"));
      const int status = process.wait();
      said = process.output();
      return status == 0;
    };
    EXPECT_TRUE(eventually(answers)) << said;
    return said;
  }
  static constexpr const char* kIsBridge = "configure system capabilities enabled bridge\n";
  [[nodiscard]] std::string conf() const { return files_.file("conf"); }
  [[nodiscard]] std::vector<int> pids() const {
    std::vector<int> out{process_->pid()};
    std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", process_->pid()));
    for (int pid = 0; children >> pid;) out.push_back(pid);
    return out;
  }
  const Namespace& space_;
  TemporaryDirectory files_;
  std::optional<Process> process_{};
};

}  // namespace lldp::netns
