// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace lldp::io {

/// What systemd is told, by datagrams to NOTIFY_SOCKET; nothing happens where there is none.
/// sd_notify(3) documents the protocol, and that it may be implemented without libsystemd.
class Service {
 public:
  Service();  ///< reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID
  void ready() const { notify("READY=1"); }
  void reloading() const;  ///< to be followed by ready()
  void stopping() const { notify("STOPPING=1"); }
  void alive() const { notify("WATCHDOG=1", false); }
  /// How often alive() is due: half of what the watchdog allows.
  [[nodiscard]] std::optional<std::chrono::microseconds> watchdog() const { return watchdog_; }

 private:
  void notify(std::string_view state, bool patient = true) const;
  std::string socket_;
  std::optional<std::chrono::microseconds> watchdog_;
};

}  // namespace lldp::io
