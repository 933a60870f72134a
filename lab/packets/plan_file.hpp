// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "lab/packets/plan.hpp"

namespace lldp::lab::packets {

/// Reads a scenario, as packaging/schema/scenario.schema.json describes it. `load` fetches the
/// fabric that it names. `seed`: in place of the scenario's, whose traffic is drawn from it. What
/// cannot be is refused with the key's path: `flows[2].to`.
[[nodiscard]] Result<Plan> plan_from_json(
    std::string_view text, const std::function<Result<Fabric>(const std::string& name)>& load,
    std::optional<std::uint64_t> seed = std::nullopt);

}  // namespace lldp::lab::packets
