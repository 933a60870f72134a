// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "lab/lossless/station.hpp"

namespace lldp::lab::lossless {

/// What a switch process is told at its start: itself, and the socket by which it is asked.
struct SwitchFile {
  std::string socket{};
  StationSettings station{};
  friend bool operator==(const SwitchFile&, const SwitchFile&) = default;
};
[[nodiscard]] std::string format(const SwitchFile& file);
/// The error names the key.
[[nodiscard]] Result<SwitchFile> parse_switch_file(std::string_view text);

}  // namespace lldp::lab::lossless
