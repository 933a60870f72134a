// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "os/fd.hpp"

namespace lldp::io {

/// A small process that starts programs for the daemon, one at a time, so that they have none of
/// its capabilities and the daemon need not be allowed to start anything. It is forked before the
/// daemon opens anything, and gives up what it may for good: capabilities, new privileges and the
/// daemon's user; but for the one that starts what drives the hardware. It ends with the daemon,
/// and with it what it has started.
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
  };
  static constexpr std::size_t kMaxOctets = 32 << 10;

  /// Call it while there is one thread, and before there is anything that a child must not have.
  /// `user`: null: it stays who it is, with all that may; else whom it becomes where that is
  /// allowed (root, or CAP_SETUID and CAP_SETGID); if there is no such user, nobody. Each program
  /// has a user of its own, so that none of them can touch the files, the memory or the processes
  /// of another, nor the daemon's.
  [[nodiscard]] static Result<Launcher> fork(const char* user);

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
};

}  // namespace lldp::io
