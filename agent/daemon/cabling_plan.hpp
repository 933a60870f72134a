// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/fabric.hpp"
#include "base/result.hpp"
#include "cabling/expect.hpp"

namespace lldp::io {

struct CablingPlan {
  cabling::Expectations expected{};
  std::vector<std::string> notes{};  ///< what was left out; the first ten
};

/// What the device of this name, or else of this chassis ID, is to hear by the file that `expect`
/// names. An error, and each note, is one line that names the file and its line.
[[nodiscard]] Result<CablingPlan> load_cabling_plan(const std::string& path,
                                                    const std::string& system_name,
                                                    const ChassisId& chassis);

}  // namespace lldp::io
