// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>

namespace lldp::dataplane {

/// Where the rules stand: what tests of both hooks are run with.
enum class Hooked { kClsact, kTcx };
inline std::ostream& operator<<(std::ostream& os, Hooked h) {
  return os << (h == Hooked::kClsact ? "Clsact" : "Tcx");
}

}  // namespace lldp::dataplane
