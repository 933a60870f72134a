// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "agent/report/text.hpp"
#include "agent/report/tlvs.hpp"

/// The answer to `Detail`, decoded by the client: the daemon keeps octets.
namespace lldp::report {

/// With `tlvs` in each neighbor, and `sends` in each port, beside the octets: all TLVs by name.
[[nodiscard]] Result<std::string> with_tlvs(std::string_view json, OwnerOf owner = nobody);

/// A block for each neighbor: its name, the time since its last change, and a line for each TLV.
[[nodiscard]] Result<std::string> sent_text(std::string_view text, const Style& style,
                                            OwnerOf owner = nobody);
[[nodiscard]] Result<std::string> detail_text(std::string_view json, const Style& style,
                                              OwnerOf owner = nobody);

}  // namespace lldp::report
