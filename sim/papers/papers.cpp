// SPDX-License-Identifier: Apache-2.0
// The papers, and what of them is not attempted.
#include "sim/papers/finding.hpp"

namespace lldp::lab {

const std::vector<Paper>& papers() {
  static const std::vector<Paper> kPapers = {
      {"fcplus",
       "FC+",
       "Zhang, Cao, Lyu, Zhang, Zhao, Wang, Zhou: FC+: Near-optimal Deadlock-free Expander Data "
       "Center Networks. ISPA 2023.",
       {{"the fall of KSP's near-worst throughput at 10,000 servers (V-A, Figure 6(a))",
         "the paper lays it to paths that share links by chance; by the same algorithm, Yen's, "
         "ours "
         "fall nowhere"},
        {"FC's layers at 22 ports (Table VII)",
         "the paper prints neither their number nor the links between them; those here were chosen "
         "by Table VII, so that it is no test of them: Table VIII and Figure 6 are"},
        {"EDST (II-B)", "the paper compares with it by citation only"},
        {"the five s of Figure 3, and the wiring",
         "the paper does not say which five; ours are 14, 18, 22, 26 and 30, wired by the seed"},
        {"the unit of times and the size of flows in Table VIII",
         "not stated: what is compared is the factor over FC+ (2L-32), in a full run"}}},
      {"itsy",
       "ITSY",
       "Wu, Ng: ITSY: Initial Trigger-Based PFC Deadlock Detection in the Data Plane. 2021.",
       {{"the P4 prototype (V)", "it runs on BMv2; ours is the algorithm on simulated switches"},
        {"temporary rerouting to break a deadlock (IV)", "the paper leaves it to future work"}},
       reproduce_itsy},
      {"portfc",
       "PortFC",
       "Cao et al.: Revisiting Flow Control in Node-Centric Datacenter Networks. IEEE Transactions "
       "on Networking, 2026.",
       {{"the testbed of Tofino2 switches and DPDK nodes (V-F)",
         "there is no such hardware here; its workload is simulated"},
        {"Table II, resources on Tofino", "a property of the chip and its compiler"},
        {"Figure 2, trends of switch chips", "no result of the paper's own"},
        {"rail-optimized fabrics under PortFC (VI-D)",
         "PortFC's queues are those of NDC(n, 1), which such a fabric is not"}},
       reproduce_portfc},
      {"dot1",
       "IEEE 802.1: PFC deadlock free",
       "Yu: PFC Deadlock Free in Data Center Network. IEEE 802.1, Edinburgh, September 2019.",
       {{"numbers", "the slides print none: all is statements"}},
       reproduce_dot1}};
  return kPapers;
}

}  // namespace lldp::lab
