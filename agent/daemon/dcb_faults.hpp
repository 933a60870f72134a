// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/report/report.hpp"
#include "os/dcbnl.hpp"

namespace lldp::io {

/// What a port's driver tells that keeps lossless classes from being lossless there, or makes
/// others wait with them: the port does not trust DSCPs, a lossless priority shares its traffic
/// class or its buffer, or has no room in one. Each with the command that mends it. `lossless`: bit
/// n for priority n. Says nothing of what the driver does not tell. Pure.
[[nodiscard]] std::vector<report::PartReading> dcb_faults(const dcbnl::Settings& told,
                                                          const std::string& port,
                                                          std::uint8_t lossless);

}  // namespace lldp::io
