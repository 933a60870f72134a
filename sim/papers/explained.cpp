// SPDX-License-Identifier: Apache-2.0
// Why a finding is off or fails, where that is known.
#include "base/text.hpp"
#include "sim/papers/finding.hpp"

namespace lldp::lab {
namespace {

/// Globs; the first that matches explains.
struct Explained {
  std::string_view paper{};
  std::string_view place = "*";
  std::string_view scenario = "*";
  std::string_view metric = "*";
  std::string_view why{};
};

constexpr Explained kExplained[] = {
    {"fcplus", "Table VIII", "*v=4*", "throughput_all_to_all",
     "Of ten wirings ours is 0.6 to 1.1 % less, and the tolerance is 1 %: --seeds 10 shows the "
     "range."},
    {"fcplus", "Table VIII", "*1L-32*", "throughput_uniform",
     "Which switches send to which is drawn. Of ten draws nine are within 1.3 %, and one is 7 % "
     "less: --seeds 10 shows the range."},
    {"fcplus", "Table VIII", "*", "throughput_near_worst",
     "Of equally long paths Yen's algorithm takes those that it finds first; which these are "
     "depends on the wiring, and a pair of whose paths most share a link bounds all. --seeds 10 "
     "shows the range."},
    {"fcplus", "Table IV", "*v=3*", "P_ave_max",
     "The pair whose paths are longest decides, and so does the wiring: with some the paper's 6.0 "
     "comes out, with others more. --seeds 10 shows the range."},
    {"fcplus", "Table V", "*v=3*", "throughput_near_worst",
     "The pair that is worst off decides. In some wirings all 32 paths of a pair begin or end "
     "with one link, 1 of 14 hosts (0.071); in others the worst pair has two, the paper's 0.142. "
     "Of twelve wirings four had two links. It is the same with an even choice among equally "
     "long paths and with Yen's algorithm."},
    {"fcplus", "Figure 6", "*", "*",
     "At 10,000 servers and more the paper's KSP falls, and ours do not: see what is not "
     "attempted."},
    {"itsy", "V, detection effectiveness", "*", "detection_us_avg",
     "The paper's switches are BMv2 programs in MiniNet on shared cores, which take a part of "
     "a millisecond for a frame; these links have 1 us. Only the ratio can be compared."},
    {"itsy", "V, detection effectiveness", "*", "detection_out_over_on",
     "Here most of a detection is not the rounds of checks, which the paper counts, but the "
     "wait until all that can leave the loop has left. That varies from start to start by more "
     "than a round takes, on the loop as out of it: --seeds 10 shows the range."},

    {"portfc", "V-?, Figure *", "*", "fct_avg_of_IRN_over_PFC*",
     "At this load IRN loses next to nothing and sends next to nothing twice, so it has no "
     "advantage that PFC* would lack; and DCQCN marks its one long queue more often than "
     "PFC*'s two. The paper's load is not stated."},
    {"portfc", "V-?, Figure 1?", "*", "throughput_over_*",
     "A mean over flows counts each flow alike, and most are of a few frames, whose throughput "
     "is the length of their path and little else: no scheme can be twice another there. The "
     "paper does not say which mean it draws; by octets (throughput_by_octets) PortFC is "
     "first."},
    {"portfc", "V-?, Figure 1?", "*", "incast_throughput_over_PFC*",
     "32 flows of 1 MB to one node are bound by that node's two links with any flow control; the "
     "paper does not state what its incast shares the network with."},
    {"portfc", "V-?, Figure 1?", "*", "*throughput_*",
     "The paper states neither the load nor how often incasts come. Ours were chosen before "
     "any result: half of a link's rate from every node, an incast a millisecond. A ratio of "
     "throughputs depends on both."},
    {"portfc", "V-?, Figure *", "*", "fct_*",
     "The paper states neither the load nor how often incasts come. Ours were chosen before "
     "any result: half of a link's rate from every node, an incast a millisecond. A ratio of "
     "completion times depends on both."},
    {"portfc", "V-D, Figure 15", "*", "push_over_*",
     "The push is one incast to both links of a node, which PFC* and IRN fill as well. What "
     "IRN loses is what DCQCN takes: without DCQCN the three take the same time (V-A, push, "
     "without DCQCN)."},
    {"portfc", "V-D, Figure 16", "*", "fct_*", "See push_over_*."},
    {"portfc", "V-F, Figure 19", "*", "background_ratio",
     "The paper does not state what the background flows send, on which the ratio depends: at "
     "a whole link each the loop is in balance and nothing is paused; here it is a quarter."},
};

}  // namespace

std::optional<std::string_view> explanation(std::string_view paper, const Finding& f) {
  for (const Explained& e : kExplained)
    if (e.paper == paper && glob_match(e.place, f.place) && glob_match(e.scenario, f.scenario) &&
        glob_match(e.metric, f.metric))
      return e.why;
  return std::nullopt;
}

}  // namespace lldp::lab
