// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

/// What tests need that run real programs in network namespaces of their own.
namespace lldp::netns {

/// How long an event is waited for: so long that only a hang reaches it.
inline constexpr std::chrono::seconds kHang{60};

/// Why such tests cannot run here; empty when they can.
[[nodiscard]] std::string missing_privilege();

/// A directory for one test's files, removed with what is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();
  [[nodiscard]] std::string file(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }

 private:
  std::string path_;
};

/// A program that runs beside the test; ended with the object. Its standard output and error go to
/// one file.
class Process {
 public:
  Process(std::vector<std::string> command, const std::string& output_file);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();  ///< SIGKILL, if it still runs
  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const;
  /// Its exit status, or 128 + the signal that ended it; -1 if it runs on after `timeout`.
  int wait(std::chrono::milliseconds timeout = kHang);
  [[nodiscard]] std::string output() const;

 private:
  pid_t pid_ = -1;
  std::string output_file_;
};

/// The process whose last argument is this; -1 when there is none.
[[nodiscard]] pid_t process_with(const std::string& last_argument);

/// Runs a program to its end and returns what it wrote; a failure fails the test.
std::string run(const std::vector<std::string>& command);

/// A network namespace with a name that no other test run has, removed with the object.
class Namespace {
 public:
  Namespace();
  Namespace(const Namespace&) = delete;
  Namespace& operator=(const Namespace&) = delete;
  ~Namespace();
  [[nodiscard]] const std::string& name() const { return name_; }
  /// ip(8) inside: ip("link set p0 down").
  std::string ip(std::string_view arguments) const;
  /// The same lines by `ip -batch`.
  void ip_batch(const std::string& lines) const;
  /// The command that runs `command` inside.
  [[nodiscard]] std::vector<std::string> inside(std::vector<std::string> command) const;
  void sysctl(std::string_view key, std::string_view value) const;

 private:
  std::string name_;
};

/// Joins two namespaces by veth pairs FIRST0, FIRST1, ..., named alike at both ends, and up.
void join(const Namespace& a, const Namespace& b, std::size_t count = 1,
          std::string_view prefix = "p");
/// Sends a frame as it is, out of p0 of a namespace.
void send(const Namespace& from, const std::vector<std::uint8_t>& frame);

/// Moves this thread into a namespace, and back with the object.
class Inside {
 public:
  explicit Inside(const Namespace& space);
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside();

 private:
  int home_ = -1;
};

/// True as soon as `done` is, asked every few milliseconds; false after `timeout`.
[[nodiscard]] bool eventually(const std::function<bool()>& done,
                              std::chrono::milliseconds timeout = kHang);

/// The daemon, run in a namespace with its own socket, state file and configuration, on every port
/// there, its rules printed.
class Agent {
 public:
  /// The system name that it tells.
  enum class Called { kAsTheNamespace, kAsTheHost };
  /// `options` come after those that keep it apart from others. Returns when it is ready.
  Agent(const Namespace& space, std::vector<std::string> options = {},
        Called called = Called::kAsTheNamespace);
  ~Agent();
  /// Starts it again after it ended, with what it left behind.
  void restart();
  [[nodiscard]] Process& process() { return *process_; }
  [[nodiscard]] std::string log() const { return process_->output(); }
  [[nodiscard]] std::string socket() const { return files_.file("control"); }
  [[nodiscard]] std::string config_file() const { return files_.file("conf"); }
  [[nodiscard]] std::string state_file() const { return files_.file("state"); }
  /// Where the text says nothing of ports, all are.
  void write_config(std::string_view text) const;
  /// One Varlink call; the reply's parameters.
  [[nodiscard]] nlohmann::json call(std::string_view method,
                                    std::string_view parameters = "{}") const;
  [[nodiscard]] nlohmann::json show() const;
  /// Level of the device, or -1.
  [[nodiscard]] int level() const;
  [[nodiscard]] nlohmann::json port(std::string_view name) const;  ///< null when there is none
  [[nodiscard]] std::size_t neighbors(std::string_view port) const;

 private:
  TemporaryDirectory files_;
  std::vector<std::string> command_;
  std::unique_ptr<Process> process_;
};

}  // namespace lldp::netns
