// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lab/collect/assemble.hpp"
#include "lab/report/fabric_picture.hpp"

namespace lldp::lab::collect {

/// What was collected, in a few lines, and what was found, a line each.
[[nodiscard]] std::string to_text(const Collection& collection);
/// The same as one object: `version`, `fabric`, counts, `complete` (no problems), and `findings`, a
/// list of `code`, `problem`, `device`, `port`, `text`.
[[nodiscard]] std::string to_json(const Collection& collection);
/// What its problems put in doubt, for its picture.
[[nodiscard]] Marks marks_of(const Collection& collection);

}  // namespace lldp::lab::collect
