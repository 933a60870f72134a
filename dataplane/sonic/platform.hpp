// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dataplane/backend.hpp"
#include "dataplane/sonic/view.hpp"

namespace lldp::dataplane::sonic {

/// The lossless classes that CONFIG_DB has without our rules: of each port `pfc_enable` and the
/// DSCPs that lead to each priority; and where `tunnel_qos_remap` is enabled, SONiC's own turns:
/// from the priorities of `pfcwd_sw_enable` to those of `pfc_enable` beyond, by the maps
/// AZURE_TUNNEL. PFC of those spares then belongs to no application.
[[nodiscard]] PlatformClasses platform_of(const View& view);

}  // namespace lldp::dataplane::sonic
