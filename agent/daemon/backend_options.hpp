// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iostream>

#include "agent/config/config.hpp"
#include "dataplane/factory.hpp"

namespace lldp::io {

/// What the configuration says to each back end.
[[nodiscard]] inline dataplane::Options options_of(const config::Config& config) {
  return {.bpf = {.bpffs = config.bpffs, .queues = config.htb},
          .print = {.out = &std::cout},
          .sonic = {.redis = config.sonic_redis, .config = config.sonic_config}};
}

}  // namespace lldp::io
