// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lldp::io {

extern const std::string_view
    kInterface;  ///< agent/control/org.lldplevel.varlink, as the build found it
extern const std::string_view kServiceInterface;  ///< agent/control/org.varlink.service.varlink
extern const std::string_view kVersion;           ///< of the product

}  // namespace lldp::io
