// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "os/fd.hpp"

namespace lldp::dataplane::sai {

/// Starts the process with libsai, and starts it again: the daemon may not, behind its system call
/// filter.
class Spawner {
 public:
  Spawner() = default;
  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;
  virtual ~Spawner() = default;

  /// Readable when ended() has something to say.
  [[nodiscard]] virtual int fd() const = 0;
  /// None runs. `connection` is its standard input.
  [[nodiscard]] virtual Result<void> start(UniqueFd connection) = 0;
  /// ended() tells when it has ended, 2 s later at the latest unless the kernel keeps it.
  virtual void stop() = 0;
  /// How the one that was started has ended, once. An error: no other can be started.
  [[nodiscard]] virtual Result<std::optional<std::string>> ended() = 0;
};

}  // namespace lldp::dataplane::sai
