// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/bounce/act.hpp"

namespace lldp::lab::bounce {

/// What happened, for a person: a table of hops per flow, then the verdict.
[[nodiscard]] std::string to_text(const NamedCase& scenario, const qos::Policy& policy,
                                  BounceMode mode, const Outcome& outcome);
/// The same as one JSON object.
[[nodiscard]] std::string to_json(const NamedCase& scenario, const qos::Policy& policy,
                                  BounceMode mode, const Outcome& outcome);

}  // namespace lldp::lab::bounce
