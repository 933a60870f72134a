// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

/// The JSON of the control socket as a person reads it. An error: the JSON is not of the shape that
/// report.hpp writes.
namespace lldp::report {

struct Style {
  bool colour = false;
  std::size_t width = 0;   ///< of the screen: longer cells are cut to fit it; 0: no limit
  std::size_t height = 0;  ///< of the screen: what does not fit is counted; 0: no limit
};

/// Alarms, the device in one line, and a row per port (more where several neighbors are heard).
/// `age`: for how long it has been so, which the neighbors' time to live has run on.
[[nodiscard]] Result<std::string> show_text(std::string_view json, const Style& style,
                                            std::chrono::seconds age = {});
/// Keys with their values and sources, a line each.
[[nodiscard]] Result<std::string> reload_text(std::string_view answer, const Style& style);
[[nodiscard]] Result<std::string> config_text(std::string_view config, const Style& style);
[[nodiscard]] Result<std::string> stats_text(std::string_view json, const Style& style);

/// Why a daemon's answer of the wrong shape cannot be used.
[[nodiscard]] Error not_understood();

/// A row per port: what is wanted, whether it is installed, and the packets it turned. Errors
/// first.
[[nodiscard]] Result<std::string> rules_text(std::string_view json, const Style& style);

/// What monitoring is told, by the exit status of Nagios plug-ins.
enum class Status : std::uint8_t {
  kOk = 0,       ///< all is done
  kWarning = 1,  ///< an alarm stands that leaves protection whole
  kCritical =
      2,         ///< a port that leads to a switch is not protected, or a switch has no port at all
  kUnknown = 3,  ///< state unknown
};
[[nodiscard]] std::string_view to_string(Status status);  ///< OK, WARNING, CRITICAL, UNKNOWN

/// The line of a Nagios plug-in: a status (OK, WARNING, UNKNOWN) and what there is to say.
[[nodiscard]] std::string plugin_line(std::string_view status, std::string text);

/// The verdict for monitoring: such a line, and numbers behind a bar.
struct Verdict {
  Status status = Status::kUnknown;
  std::string line{};
};
[[nodiscard]] Result<Verdict> check(std::string_view json);

}  // namespace lldp::report
