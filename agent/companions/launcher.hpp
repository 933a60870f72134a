// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "agent/companions/request.hpp"
#include "base/result.hpp"
#include "os/fd.hpp"

namespace lldp::io {

/// A small process that starts programs for the daemon, one at a time, so that they have none of
/// its capabilities and the daemon need not be allowed to start anything. It gives up what it may
/// for good: capabilities, new privileges and the daemon's user; but for the one that starts what
/// drives the hardware. It ends with the daemon, and with it what it has started.
///
/// It is forked before the daemon opens anything; or it is a service of its own, which the init
/// system starts when the daemon connects: then the daemon needs no right to change its user.
class Launcher {
 public:
  struct Job {
    std::vector<std::string> words{};    ///< a path, and arguments
    std::string input{};                 ///< read from standard input; at most kMaxOctets in all
    UniqueFd connection{};               ///< in place of that
    std::chrono::milliseconds limit{0};  ///< killed after that, with all its children; 0: never
  };
  struct Ended {
    int status = 0;         ///< as waitpid(2) has it
    bool too_late = false;  ///< it reached its limit
    bool refused = false;   ///< nothing was started: it is not what this launcher is for
  };
  static constexpr std::size_t kMaxOctets = Request::kMaxOctets;

  /// Call it while there is one thread, and before there is anything that a child must not have.
  /// `user`: null: the user and its rights stay; else the user to become where that is allowed
  /// (root, or CAP_SETUID and CAP_SETGID); if it does not exist, the user `nobody`. Each program
  /// has a user of its own, so that none of them can touch the files, the memory or the processes
  /// of another, nor the daemon's.
  [[nodiscard]] static Result<Launcher> fork(const char* user);
  /// The one that is a service of its own, by its socket. Does not wait for it to come up.
  [[nodiscard]] static Result<Launcher> connect(const std::string& path);

  /// It may become no other user, and so what it starts is the daemon's own.
  [[nodiscard]] bool is_of_daemons_user() const { return of_daemons_user_; }
  /// Readable when receive() has something to say.
  [[nodiscard]] int fd() const { return fd_.get(); }
  /// Nothing was started, or Ended has been received.
  [[nodiscard]] Result<void> start(const Job& job);
  /// SIGTERM, and SIGKILL 2 s later; Ended tells when it is done.
  [[nodiscard]] Result<void> stop();
  /// Does not wait. nullopt: nothing has ended. An error: the launcher itself is gone.
  [[nodiscard]] Result<std::optional<Ended>> receive();

 private:
  explicit Launcher(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
  bool of_daemons_user_ = false;
};

/// What a launcher that is a service of its own starts, and nothing else, whatever it is asked.
struct Only {
  std::vector<std::string> words{};  ///< empty: nothing at all
  std::chrono::milliseconds limit{0};
  const char* user = nullptr;  ///< as Launcher::fork has it
};

/// Is that launcher until the daemon at the other end of `connection` has gone, which ends the
/// process.
[[noreturn]] void serve_launcher(UniqueFd connection, const Only& only);

}  // namespace lldp::io
