// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/whatif/change.hpp"
#include "lab/whatif/exposure.hpp"
#include "lab/whatif/study.hpp"

namespace lldp::lab::whatif {

/// What is told of a fabric, as it is or after the changes.
struct ReportPart {
  const Fabric* fabric = nullptr;
  const Routes* routes = nullptr;
  Tally tally{};
  std::optional<Exposure> exposure{};  ///< of the worst set
};

struct Report {
  Plan plan{};
  ReportPart now{};
  std::vector<FabricChange> changes{};
  std::optional<ReportPart> after{};
  std::optional<Exposure> change_exposure{};
  std::vector<std::string> violations{};  ///< of the gate: why the exit status is 1
};

[[nodiscard]] std::string to_text(const Report& report);
[[nodiscard]] std::string to_json(const Report& report);

/// `leaf1-spine2`
[[nodiscard]] std::string name_of(const Fabric& fabric, const Link& link);

}  // namespace lldp::lab::whatif
