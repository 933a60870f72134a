// SPDX-License-Identifier: Apache-2.0
#include "lab/commands/command.hpp"

namespace lldp::lab {

const Simulator* simulator() { return nullptr; }

}  // namespace lldp::lab
