// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "dataplane/sonic/maps.hpp"

/// The originals of ports that have our rules, kept in a file: `config reload` deletes tables of
/// CONFIG_DB that SONiC's models do not know.
namespace lldp::dataplane::sonic {

/// Notes by the name of the port. A field of PORT_QOS_MAP (kFields) has its value before our rules;
/// empty: the field was absent. The other names are below.
using Memory = std::map<std::string, Row>;

inline constexpr const char* kSetPfc = "set:pfc_enable";    ///< the value that the rules want
inline constexpr const char* kStepPfc = "step:pfc_enable";  ///< the value before it
inline constexpr const char* kAcceptedPfc = "accepted:pfc_enable";  ///< counts as the original
inline constexpr const char* kGroups = "groups";  ///< BUFFER_PG rows before our rules: `0 3-4`
/// The watchdog is to take other priorities, once the ASIC has them.
inline constexpr const char* kTouchDue = "touch";
/// The port had no row of PORT_QOS_MAP: its originals are those of the row that comes.
inline constexpr const char* kNoRow = "no-row";
/// The rules and these rows of BUFFER_PG (`2-5`) are removed; the follow-up waits until the ASIC
/// has removed them too.
inline constexpr const char* kLeaving = "leaving";
/// Rows of BUFFER_PG that were deleted to be written again: `3-4=PROFILE`.
inline constexpr const char* kAgain = "again";
/// How often that was done for a port that loses its rules: `11` is twice.
inline constexpr const char* kTimes = "times";

[[nodiscard]] std::string format(const Memory& memory);
[[nodiscard]] Result<Memory> parse_memory(std::string_view text);

}  // namespace lldp::dataplane::sonic
