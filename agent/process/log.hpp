// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "agent/process/journal.hpp"
#include "base/bounded.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace lldp::io {

/// The numbers are syslog's, RFC 5424 6.2.1.
enum class Severity : std::uint8_t { kError = 3, kWarning = 4, kNotice = 5, kInfo = 6 };

/// Writes one line to standard error; where that is the journal's stream, to the journal with its
/// fields, or, if it does not take that, with the priority in front, sd-daemon(3). The text holds
/// no line break and nothing from the network that is not escaped. Never waits: lines that are not
/// taken are left out, and their number is logged before the next one that is taken. (Until
/// log_aside(), the disk of a regular file is waited for without a limit.)
void log(Severity severity, std::string_view text, std::span<const Field> fields = {});
/// From now on a regular file is written by a thread. The thread has the rights of the caller;
/// under a system call filter it could not be created later.
void log_aside();
/// What log_aside()'s thread has still to write is in the file when this returns, unless its disk
/// hangs: a line is waited for 100 ms, and none again until it has written all that there was. For
/// the end of a turn: to wait at each line would hold up the frames that the turn is about.
void log_settle();
/// Whether standard error takes a line now, of 4096 octets at most. Never waits.
[[nodiscard]] bool log_takes_more();
/// ERRNO is a field where there is one.
void log(Severity severity, const Error& error);

/// Keeps what a neighbor can cause from filling the log: per port and topic a burst of `kBurst`
/// lines, then one in each `kInterval`. What of one topic is left out hides nothing of another.
class LogGate {
 public:
  enum class Topic : std::uint8_t { kAlarm, kLocation, kChange };
  static constexpr std::size_t kTopics = 3;
  static constexpr std::uint32_t kBurst = 20;
  static constexpr std::chrono::seconds kInterval{10};
  /// nullopt: do not log. Otherwise log, and say how many lines were left out before this one.
  [[nodiscard]] std::optional<std::uint32_t> admit(Ifindex port, Topic topic, TimePoint now);
  void forget(Ifindex port) { buckets_.erase(port); }

 private:
  struct Bucket {
    std::uint32_t tokens = kBurst;
    std::uint32_t left_out = 0;
    TimePoint filled{};  ///< when tokens were last added
  };
  std::unordered_map<Ifindex, std::array<Bucket, kTopics>> buckets_;
};

}  // namespace lldp::io
