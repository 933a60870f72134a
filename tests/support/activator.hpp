// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace lldp::support {

/// What systemd does for a socket unit with ListenSequentialPacket=: holds the socket, and starts
/// the program whenever somebody has connected and it does not run.
class Activator {
 public:
  Activator(std::string socket, std::vector<std::string> command);
  Activator(const Activator&) = delete;
  Activator& operator=(const Activator&) = delete;
  ~Activator();  ///< what it has started ends with whoever connected
  /// The program, while it runs; else 0.
  [[nodiscard]] pid_t running() const;

 private:
  std::string socket_;
  pid_t pid_ = -1;
};

}  // namespace lldp::support
