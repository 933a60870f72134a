// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sim/packets/run.hpp"

namespace lldp::lab::packets {

/// One object; packaging/schema/sim.schema.json describes it.
[[nodiscard]] std::string to_json(const Plan& plan, const Outcome& outcome);
/// The same piece by piece: there may be very many flows.
void write_json(const Plan& plan, const Outcome& outcome,
                const std::function<void(std::string_view)>& write);
[[nodiscard]] std::string to_text(const Plan& plan, const Outcome& outcome);
/// What led to each of a detector's verdicts, from what paused first to the loop.
[[nodiscard]] std::string explain(const Plan& plan, const Outcome& outcome);

}  // namespace lldp::lab::packets
