// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iostream>

#include "agent/config/config.hpp"
#include "dataplane/factory.hpp"

namespace lldp::io {

/// What the configuration says to each back end.
[[nodiscard]] inline dataplane::Options options_of(const config::Config& config) {
  return {
      .bpf = {.bpffs = config.bpffs, .queues = config.htb},
      .dcb = {.memory = config.state_file + ".dcb"},
      .flower = {.offload = static_cast<dataplane::FlowerOptions::Offload>(config.offload)},
      .print = {.out = &std::cout},
      .sonic = {.redis = config.sonic_redis,
                .config = config.sonic_config,
                .memory = config.state_file + ".sonic",
                .rewrite_verified = config.rewrite_verified},
      .sai = {.memory = config.state_file + ".sai", .rewrite_verified = config.rewrite_verified},
      .soft = {.socket = config.soft_socket}};
}

/// Whether SONiC's databases are reached by IP, which the daemon is else refused.
[[nodiscard]] inline bool needs_ip(const config::Config& config) {
  return (config.backend == "sonic" || config.backend == "auto" || config.config_db) &&
         !config.sonic_redis.empty() && !config.sonic_redis.starts_with('/');
}

}  // namespace lldp::io
