// SPDX-License-Identifier: Apache-2.0
#include "tests/support/places.hpp"

namespace lldp::support {

std::string source_dir() { return LLDP_SOURCE_DIR; }
std::string program(std::string_view name) { return std::string(LLDP_BIN_DIR "/").append(name); }

}  // namespace lldp::support
