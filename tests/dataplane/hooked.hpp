// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <string>

#include "dataplane/backend.hpp"

namespace lldp::dataplane {

/// Where the rules stand: what tests of both hooks are run with.
enum class Hooked { kClsact, kTcx };
inline std::ostream& operator<<(std::ostream& os, Hooked h) {
  return os << (h == Hooked::kClsact ? "Clsact" : "Tcx");
}

/// As "classify bypassed: TEXT", a line for each part that is not done.
inline std::string complaints_of(const Reading& reading) {
  std::string text;
  for (const PartReading& read : reading.parts)
    if (read.state != PartState::kDone)
      text += std::string(to_string(read.part)) + " " + std::string(to_string(read.state)) + ": " +
              read.text + "\n";
  return text;
}

}  // namespace lldp::dataplane
