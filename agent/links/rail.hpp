// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lldp::io {

/// What the NICs of one kind have in common and others have not: the board ID that the RDMA device
/// of this one tells. Empty: it has none. `interfaces`: sysfs.
[[nodiscard]] std::string board_id_of(const std::string& name,
                                      const std::string& interfaces = "/sys/class/net");

}  // namespace lldp::io
