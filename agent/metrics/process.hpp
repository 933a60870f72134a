// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lldp::metrics {

/// What the kernel tells everybody of a process, proc(5).
struct Process {
  double start_time_seconds = 0;  ///< since 1970
  double cpu_seconds = 0;         ///< user and system
  std::uint64_t resident_bytes = 0;
  friend bool operator==(const Process&, const Process&) = default;
};

/// The units of /proc/PID/stat, and when the machine was started.
struct Units {
  double ticks_per_second = 100;
  std::uint64_t page_bytes = 4096;
  double boot_time_seconds = 0;  ///< since 1970
};

/// The text of /proc/PID/stat. The process' name in it may hold anything.
[[nodiscard]] std::optional<Process> parse_process(std::string_view stat, const Units& units);
/// nullopt: it is gone or hidden.
[[nodiscard]] std::optional<Process> read_process(int pid);

}  // namespace lldp::metrics
