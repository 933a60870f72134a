// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "lab/live/lossless.hpp"
#include "sim/lossless/station.hpp"

namespace lldp::lab::lossless {

/// What a switch process is told at its start: itself, and the socket by which it is asked.
struct SwitchFile {
  std::string socket{};
  StationSettings station{};
  /// From a request for rules until they are in force and answered: as long as a chip may take.
  std::uint32_t rules_late_ms = 0;
  /// An agent takes a switch that does not answer for 3 s for one that hangs.
  static constexpr std::uint32_t kMostLate = live::LosslessFabric::kMostLate;
  friend bool operator==(const SwitchFile&, const SwitchFile&) = default;
};
[[nodiscard]] std::string format(const SwitchFile& file);
/// The error names the key.
[[nodiscard]] Result<SwitchFile> parse_switch_file(std::string_view text);

}  // namespace lldp::lab::lossless
