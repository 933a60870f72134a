// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lab/agents/converge.hpp"

namespace lldp::lab::converge {

[[nodiscard]] std::string to_text(const Scenario& scenario, const Outcome& outcome);
[[nodiscard]] std::string to_json(const Scenario& scenario, const Outcome& outcome);
/// One self-contained page: the text, and the curve of what was wrong over time as SVG.
[[nodiscard]] std::string to_html(const Scenario& scenario, const Outcome& outcome);

}  // namespace lldp::lab::converge
