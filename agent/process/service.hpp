// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace lldp::io {

/// What systemd is told, by datagrams to NOTIFY_SOCKET; nothing happens where there is none.
/// sd_notify(3) documents the protocol, and that it may be implemented without libsystemd.
class Service {
 public:
  Service();  ///< reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID
  void ready() { owe("READY=1"); }
  void reloading();  ///< to be followed by ready()
  void stopping();
  void alive() const { static_cast<void>(send("WATCHDOG=1")); }  ///< lost or not: it is said again
  /// A manager that is busy, hangs or is being replaced holds up nothing: a message that it has not
  /// taken is kept until retry() has sent it.
  [[nodiscard]] bool owes() const { return !owed_.empty(); }
  void retry();
  /// How often alive() is due: half of what the watchdog allows.
  [[nodiscard]] std::optional<std::chrono::microseconds> watchdog() const { return watchdog_; }

 private:
  void owe(std::string state);
  /// False if it may be taken later.
  [[nodiscard]] bool send(std::string_view state) const;
  std::string socket_;
  std::optional<std::chrono::microseconds> watchdog_;
  std::deque<std::string> owed_{};
};

}  // namespace lldp::io
