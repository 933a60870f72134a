// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lldp::io {

extern const std::string_view
    kInterface;  ///< agent/io/org.lldplevel.varlink, as the build found it
extern const std::string_view kServiceInterface;  ///< agent/io/org.varlink.service.varlink
extern const std::string_view kVersion;           ///< of the product

}  // namespace lldp::io
