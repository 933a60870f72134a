// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/configdb/config_db.hpp"
#include "agent/report/report.hpp"

namespace lldp::io {

/// What STATE_DB is told: `LLDP_LEVEL_STATE|GLOBAL` of the device, and a row of each port. Each has
/// the same fields always; what is not known is `N/A`.
[[nodiscard]] ConfigDb::StateRows state_rows(const core::Snapshot& snapshot,
                                             const report::Protection& protection);

}  // namespace lldp::io
