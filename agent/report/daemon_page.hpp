// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lldp::report {

extern const std::string_view kDaemonPage;  ///< man/lldp-leveld.8, as the build found it

}  // namespace lldp::report
