// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "lab/routing/local_reroute.hpp"

namespace lldp::lab {

/// A fabric, links that fail in it, and the flows to look at. The paths are local_reroute()'s.
struct NamedCase {
  std::string name{};
  Fabric fabric{};
  FailedLinks failed{};
  std::vector<FlowPath> flows{};
};

/// The deadlock cases of the IEEE 802.1 proposal, and one more; a host on every leaf or ToR.
///   case1: two spines, four leaves; packets turn at a leaf
///   case2: two pods of two ToRs and two AGGs, two spines; packets turn at an AGG
///   dualtor: two T1s, two ToRs that share two servers, and two ToRs more; what a ToR gets for a
///   server
///            whose link to it is on standby goes up again, to the other ToR (SONiC's dual-ToR)
///   twice: three spines, four leaves, two failures: a packet that turns at two leaves
///   layered: FC+ of 12 switches on 4 layers; no link fails, the paths are laid: `once` turns at
///   one
///            switch (T_du = 1), `inside` too, on its way from layer to layer in the device,
///            `twice` at two, `straight` nowhere
/// X and Y are the flows that close the cycle of buffers; `straight` meets no failure.
inline constexpr std::string_view kScenarios[] = {"case1", "case2", "dualtor", "twice", "layered"};

/// Fails for a name that is none of kScenarios.
[[nodiscard]] Result<NamedCase> scenario(std::string_view name);

}  // namespace lldp::lab
