// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lab/commands/command.hpp"

namespace lldp::lab {

int run_bounce(const Arguments& arguments);
int run_reproduce(const Arguments& arguments);
int run_sim(const Arguments& arguments);
int run_switch(const Arguments& arguments);
int run_throughput(const Arguments& arguments);

}  // namespace lldp::lab
