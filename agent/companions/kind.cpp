// SPDX-License-Identifier: Apache-2.0
#include "agent/companions/kind.hpp"

#include "agent/config/helper.hpp"

namespace lldp::io {
namespace {

using Words = std::vector<std::string>;

/// It asks over a connection that is its standard input.
Words of_helper(const char* program, const std::string& setting) {
  return setting.empty() ? Words{} : Words{config::helper_path(program), "-", setting};
}

}  // namespace

const Kind kExporter{
    "exporter", "metrics.listen", "lldp-level-exporter", "lldp-level-exporter.service",
    [](const config::Config& c) { return of_helper("lldp-level-exporter", c.metrics_listen); }};
const Kind kAgentx{
    "agentx", "snmp.agentx", "lldp-level-agentx", "lldp-level-agentx.service",
    [](const config::Config& c) { return of_helper("lldp-level-agentx", c.snmp_agentx); }};
const Kind kHook{"hook", "on-change", "lldp-level-hook", "lldp-level-hook.service",
                 [](const config::Config& c) {
                   return c.on_change.empty() ? Words{} : Words{"/bin/sh", "-c", c.on_change};
                 }};

}  // namespace lldp::io
