// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/packets/plan.hpp"
#include "sim/packets/run.hpp"

/// The runs by which PortFC's paper is done again.
namespace lldp::lab::portfc_paper {

using packets::FlowControlKind;
using packets::HostTransport;
using packets::kMicrosecond;
using packets::kMillisecond;
using packets::Picoseconds;
using packets::Plan;

constexpr std::uint64_t kMegabyte = 1'000'000;

/// The paper's set-ups.
struct Scheme {
  const char* name = "";
  FlowControlKind control{};
  HostTransport transport{};
  std::uint32_t ate_percent = 0;
};
constexpr Scheme kPortFc{"PortFC", FlowControlKind::kPortFc, HostTransport::kGoBackN};
constexpr Scheme kIrn{"IRN", FlowControlKind::kOff, HostTransport::kSelective};
constexpr Scheme kPfcStar{"PFC*", FlowControlKind::kPfcStar, HostTransport::kGoBackN};
constexpr Scheme kGoBackN{"go-back-N", FlowControlKind::kOff, HostTransport::kGoBackN};
constexpr Scheme kPfc{"PFC", FlowControlKind::kPfc, HostTransport::kGoBackN};
constexpr Scheme kPortFcAte{"PortFC and ATE", FlowControlKind::kPortFc, HostTransport::kGoBackN,
                            90};

/// V-A: thresholds of 6 and 4 times 12.5 KB, buffers of 5 MB, DCQCN, RTOs.
[[nodiscard]] Plan plan_in(Fabric fabric, const Scheme& scheme, std::uint64_t seed);

/// What one kind of flow found.
struct Part {
  std::vector<double> fct_us{};  ///< of one that has not ended, until the end of the run
  std::vector<double> gbps{};
  double octets = 0;   ///< that arrived
  double last_ms = 0;  ///< when the last one had arrived
  std::size_t unfinished = 0;
};
/// The greater one; NaN if one of them is.
[[nodiscard]] inline double most_of(double a, double b) { return std::isnan(a) || a > b ? a : b; }

struct SeenOfPortfc {
  /// What is seen of so many flows by a run that measured nothing.
  [[nodiscard]] static SeenOfPortfc unknown(std::size_t flows);

  std::array<Part, 2> parts{};  ///< background and incast, or push and broadcast
  double drops = 0;
  double pause_hops = 0;
  double deadlocks = 0;
  double queue_peak = 0;                             ///< of a switch's port
  std::vector<double> queue_top{};                   ///< the longest one, every 10 us
  std::vector<double> throughput{};                  ///< by flow, Gb/s
  std::vector<std::pair<double, double>> watched{};  ///< us, and Gb/s of the flows looked at

  void add(const SeenOfPortfc& o) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Part& p = parts[i];
      const Part& q = o.parts[i];
      p.fct_us.insert(p.fct_us.end(), q.fct_us.begin(), q.fct_us.end());
      p.gbps.insert(p.gbps.end(), q.gbps.begin(), q.gbps.end());
      p.octets += q.octets;
      p.last_ms = most_of(p.last_ms, q.last_ms);
      p.unfinished += q.unfinished;
    }
    drops += o.drops;
    pause_hops = most_of(pause_hops, o.pause_hops);
    deadlocks += o.deadlocks;
    queue_peak = most_of(queue_peak, o.queue_peak);
    queue_top.insert(queue_top.end(), o.queue_top.begin(), o.queue_top.end());
  }
};

/// Flows whose throughput over time is drawn: from the first to before the last.
struct WatchedFlows {
  std::size_t first = 0;
  std::size_t last = 0;
};
/// Runs a plan whose flows from `second` on are the second part; queues are looked at until
/// `until`.
[[nodiscard]] SeenOfPortfc simulate(const Plan& plan, std::size_t second,
                                    Picoseconds until = packets::kNever, WatchedFlows watched = {});

/// An endless flow over these nodes, and the switches that each has in common with the next.
void add_flow(Plan& plan, const std::vector<std::string_view>& names);

/// V-B and V-C: Poisson arrivals and incasts.
struct Load {
  std::size_t n = 4;
  std::uint32_t senders = 8;  ///< of an incast
  Picoseconds every = kMillisecond;
  Picoseconds until = 4 * kMillisecond;
  std::size_t seeds = 1;
};
struct Workload {
  const char* sizes = "";
  const char* name = "";
  double irn_less = 0;  ///< published of NDC(4, 1): by how many percent IRN's average FCT falls
  double pfc_star_throughput = 0;  ///< and by how many times PFC*'s throughput rises
};
inline constexpr std::array<Workload, 3> kWorkloads{{{"websearch", "WebSearch", 69.2, 2},
                                                     {"hadoop", "Hadoop", 11.7, 2},
                                                     {"storage", "Storage", 40.9, 8}}};
/// PortFC is held against these.
inline constexpr std::array<const char*, 3> kOthers{"IRN", "PFC*", "go-back-N"};
/// `fct_avg_over_IRN`, by index in kOthers.
[[nodiscard]] std::string over(std::string_view what, std::size_t other);
inline constexpr const char* kThreeHops =
    "congestion will at most propagate three hops in the network";
inline constexpr const char* kLossless = "PortFC is free from retransmission";
inline constexpr std::array kSchemes{kPortFc, kIrn, kPfcStar, kGoBackN, kPfc};

/// Half of a link's rate from every node, to any; and again and again many to one, 1 MB each.
[[nodiscard]] SeenOfPortfc one_run(const Load& load, const Workload& workload, const Scheme& scheme,
                                   std::uint64_t seed,
                                   packets::RelayOrder order = packets::RelayOrder::kAsUsual,
                                   bool dcqcn = true);

}  // namespace lldp::lab::portfc_paper
