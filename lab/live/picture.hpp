// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lab/live/observation.hpp"

namespace lldp::lab::live {

struct PictureStyle {
  bool colour = false;
  std::size_t width = 100;  ///< of the screen, in characters
};

/// The fabric for a person: level by level from the top, each device with the level it has learned
/// and its ports, then counts per level, then what is wrong and the alarms.
[[nodiscard]] std::string picture(const Fabric& fabric, const Observation& seen,
                                  const PictureStyle& style);

/// The same as JSON.
[[nodiscard]] std::string to_json(const Fabric& fabric, const Observation& seen);

}  // namespace lldp::lab::live
