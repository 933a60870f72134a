// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "dataplane/sonic/maps.hpp"

/// What is kept of ports with rules of ours, in a file: no table of CONFIG_DB that SONiC's models
/// do not know would survive `config reload`.
namespace lldp::dataplane::sonic {

/// By the port's name. A field of PORT_QOS_MAP (kFields): what it was before our rules, empty: it
/// was not there. The others are below.
using Memory = std::map<std::string, Row>;

inline constexpr const char* kSetPfc = "set:pfc_enable";    ///< what the rules set it to
inline constexpr const char* kStepPfc = "step:pfc_enable";  ///< what it is until that is written
inline constexpr const char* kAcceptedPfc = "accepted:pfc_enable";  ///< counts as the original
inline constexpr const char* kGroups = "groups";  ///< BUFFER_PG rows before our rules: `0 3-4`
/// The watchdog is to take other priorities, once the ASIC has them.
inline constexpr const char* kTouchDue = "touch";
/// The port had no row of PORT_QOS_MAP: its originals are those of the row that comes.
inline constexpr const char* kNoRow = "no-row";
/// The rules are off, and so are these rows of BUFFER_PG (`2-5`); what is to follow waits for the
/// ASIC.
inline constexpr const char* kLeaving = "leaving";

[[nodiscard]] std::string format(const Memory& memory);
[[nodiscard]] Result<Memory> parse_memory(std::string_view text);

}  // namespace lldp::dataplane::sonic
