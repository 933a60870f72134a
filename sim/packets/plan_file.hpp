// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sim/packets/plan.hpp"

namespace lldp::lab::packets {

/// Fetches what a scenario names.
struct Files {
  std::function<Result<Fabric>(const std::string& name)> fabric{};
  std::function<Result<std::string>(const std::string& name)> text{};
};
/// From files; a name that begins at no root begins in `directory`.
[[nodiscard]] Files files_in(const std::string& directory);

/// What a scenario without flows is: an error, or accepted because flows are added during the run.
enum class WithoutFlows : std::uint8_t { kRefused, kTaken };

/// Reads a scenario, as packaging/schema/scenario.schema.json describes it. `seed`: in place of the
/// scenario's, whose traffic is drawn from it. What cannot be is refused with the key's path:
/// `flows[2].to`.
[[nodiscard]] Result<Plan> plan_from_json(std::string_view text, const Files& files,
                                          std::optional<std::uint64_t> seed = std::nullopt,
                                          WithoutFlows without = WithoutFlows::kRefused);
/// The same from a file (`-`: standard input), which errors name; fabrics are looked for beside it.
[[nodiscard]] Result<Plan> plan_from_file(const std::string& path,
                                          std::optional<std::uint64_t> seed = std::nullopt,
                                          WithoutFlows without = WithoutFlows::kRefused);

}  // namespace lldp::lab::packets
