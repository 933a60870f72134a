// SPDX-License-Identifier: Apache-2.0
// Completion times of flows: the rest of Table VIII, and Figure 7.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "lab/routing/edge_disjoint.hpp"
#include "lab/topology/expanders.hpp"
#include "lab/topology/server_fabrics.hpp"
#include "sim/flow/traffic.hpp"
#include "sim/packets/workload/sizes.hpp"
#include "sim/papers/fcplus.hpp"
#include "sim/papers/measure.hpp"
#include "sim/papers/statistics.hpp"

namespace lldp::lab::fcplus_paper {
namespace {

using packets::kMicrosecond;
using packets::kMillisecond;
using packets::kSecond;
using packets::Picoseconds;

constexpr std::size_t kSwitches = 120;
constexpr std::size_t kPortsOfFct = 22;
constexpr std::size_t kHosts = 10;  ///< of a switch
constexpr std::size_t kPaths = 32;
constexpr LinkQuality kQuality{.rate_bps = 25'000'000'000, .delay_ns = 1000};
constexpr std::uint64_t kLoadPercent = 70;
/// The paper does not say how large flows are. That its 99th percentile is three times its median
/// where nothing is full rules out the distributions with long tails.
constexpr std::uint64_t kFlowOctets = 500'000;
constexpr std::uint64_t kQuickFlowOctets = 100'000;

enum class Routing : std::uint8_t { kTwoLossless, kOneLossless, kAnyTurns, kFc, kClos };
struct SetUp {
  const char* scheme = nullptr;
  Routing routing{};
  /// P50 and P99 for each traffic, in the paper's unit, which it does not state.
  std::array<std::array<double, 2>, 3> published{};
};
constexpr SetUp kSetUps[] = {
    {"FC+ (2L-32)", Routing::kTwoLossless, {{{4.935, 14.794}, {4.736, 24.462}, {68.713, 163.339}}}},
    {"FC+ (1L-32)", Routing::kOneLossless, {{{5.064, 14.996}, {5.024, 26.333}, {73.024, 173.439}}}},
    {"KSP-32", Routing::kAnyTurns, {{{4.923, 14.655}, {4.701, 24.233}, {70.507, 176.324}}}},
    {"FC", Routing::kFc, {{{5.302, 15.274}, {5.937, 34.764}, {113.753, 225.508}}}},
    {"Clos", Routing::kClos, {{{72.282, 129.544}, {45.885, 160.659}, {130.040, 240.834}}}}};
constexpr std::size_t kCount = std::size(kSetUps);
constexpr const char* kTraffics[] = {"all_to_all", "uniform", "near_worst"};
constexpr const char* kPercentiles[] = {"p50", "p99"};
/// V-B of the set-ups' order; which of them stand apart is in Table VIII.
constexpr const char* kOrders[] = {
    "For the all-to-all traffic pattern, FC+, FC, and KSP-32 exhibit similar performance, while "
    "Clos performs poorly due to its lower throughput.",
    "Clos still exhibits the highest FCT. Additionally, FC shows performance degradation compared "
    "to FC+ and KSP-32",
    "the limited path diversity of FC leads to a noticeable performance gap compared to FC+ and "
    "KSP-32."};

/// What the paper tells apart by less is not held against ours.
constexpr double kApart = 1.1;

struct Times {
  std::array<double, 2> ms{};  ///< P50 and P99
  double drops = 0;
  double deadlocks = 0;
};

/// A fabric with its hosts, and which switches its flows may pass.
class Bench {
 public:
  Bench(const SetUp& set_up, std::size_t kind, const FcplusOptions& options)
      : set_up_(set_up), options_(options), random_(options.seed) {
    const ExpanderShape shape{.switches = kSwitches,
                              .ports = kPortsOfFct,
                              .hosts_per_switch = kHosts,
                              .seed = options.seed,
                              .quality = kQuality};
    plan_.fabric =
        *(set_up.routing == Routing::kClos ? clos_like(kSwitches, kSwitches * kHosts, kQuality)
          : set_up.routing == Routing::kFc ? fc(shape, *fc_layers(shape))
                                           : fcplus(shape));
    const Graph graph = Graph::of(plan_.fabric);
    const auto senders = senders_of(plan_.fabric);
    traffic_ = kind == 0   ? all_to_all(senders)
               : kind == 1 ? uniform_random(senders, 0.125, options.seed)
                           : near_worst(graph, senders, options.seed, 1);
    lay_paths(graph);
    find_hosts();
  }

  Times run() {
    auto& settings = plan_.settings;
    settings.seed = options_.seed;
    // Where no path turns, or all may, there is one lossless priority.
    settings.protection = set_up_.routing == Routing::kTwoLossless
                              ? packets::ProtectionScheme::kDownUp
                              : packets::ProtectionScheme::kOff;
    // The switch of the paper's simulator, which it calls NS3 with DCQCN: an eighth of what is free
    // of 12 MB.
    settings.pfc.alpha_256 = 32;
    settings.buffer_octets = 12'000'000;
    settings.dcqcn = packets::kDcqcnPaper;
    settings.dcqcn.on = true;
    settings.ecn = {.on = true, .kmin_octets = 5'000, .kmax_octets = 200'000, .pmax_permille = 10};
    const Picoseconds arrivals = options_.quick ? 250 * kMicrosecond : 4 * kMillisecond;
    // A flow that has not arrived by then counts as if it did: its time is a lower bound.
    plan_.duration = 10 * arrivals;
    send(arrivals);
    const auto measured = measure(plan_);
    if (!measured) return {{kNotMeasured, kNotMeasured}, kNotMeasured, kNotMeasured};
    const packets::Outcome& outcome = *measured;
    std::vector<double> ms;
    for (const auto& f : outcome.flows)
      ms.push_back(static_cast<double>(f.fct.value_or(outcome.duration - f.start.value_or(0))) /
                   static_cast<double>(kMillisecond));
    return {{percentile(ms, 0.5), percentile(ms, 0.99)},
            static_cast<double>(outcome.count.drops),
            static_cast<double>(outcome.deadlocks)};
  }

 private:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;

  void lay_paths(const Graph& graph) {
    if (set_up_.routing == Routing::kClos) return;  // as switches forward, by a hash
    const auto pairs = pairs_of(graph, traffic_);
    const std::size_t turns = set_up_.routing == Routing::kTwoLossless   ? 1
                              : set_up_.routing == Routing::kOneLossless ? 0
                                                                         : kAnyTurns;
    const auto all =
        set_up_.routing == Routing::kFc
            ? edge_disjoint_paths(graph, pairs, 1)
            : shortest_paths(graph, pairs,
                             {.paths = kPaths, .max_turns = turns, .seed = options_.seed}, 1);
    for (const SourcePaths& source : all)
      source.for_each([&](std::size_t target, std::span<const Arc> arcs) {
        std::vector<std::size_t> nodes{source.source};
        for (const Arc arc : arcs) nodes.push_back(graph.head(arc));
        const std::uint32_t to = source.targets[target];
        paths_[{to, source.source}].emplace_back(nodes.rbegin(), nodes.rend());
        paths_[{source.source, to}].push_back(std::move(nodes));
      });
  }

  void find_hosts() {
    hosts_.resize(plan_.fabric.nodes.size());
    for (const Link& link : plan_.fabric.links)
      for (const std::size_t end : {0U, 1U})
        if (plan_.fabric.nodes[link.ends[end].node].role == Role::kHost)
          hosts_[link.ends[1 - end].node].push_back(link.ends[end].node);
  }

  /// Every host by itself: to the switches that its own sends to, as often as much goes there.
  void send(Picoseconds until) {
    const std::uint64_t octets = options_.quick ? kQuickFlowOctets : kFlowOctets;
    const Picoseconds gap = octets * 8 * 100 / kLoadPercent * (kSecond / 1'000'000'000) *
                            1'000'000'000 / kQuality.rate_bps;
    std::map<std::uint32_t, std::vector<const TrafficMatrix*>> from;
    for (const TrafficMatrix& t : traffic_) from[t.from].push_back(&t);
    for (const auto& [tor, targets] : from) {
      std::vector<std::uint64_t> weights;  // in millionths, so that chance is of whole numbers
      std::uint64_t sum = 0;
      for (const TrafficMatrix* t : targets)
        weights.push_back(sum += static_cast<std::uint64_t>(t->amount * 1e6));
      for (const std::size_t host : hosts_[tor])
        for (Picoseconds at = packets::draw_exponential(gap, random_); at < until;
             at += 1 + packets::draw_exponential(gap, random_)) {
          const auto chosen = std::upper_bound(weights.begin(), weights.end(), random_.below(sum));
          const std::uint32_t to = targets[static_cast<std::size_t>(chosen - weights.begin())]->to;
          flow(tor, host, to, octets, at);
        }
    }
  }

  void flow(std::uint32_t tor, std::size_t host, std::uint32_t to, std::uint64_t octets,
            Picoseconds at) {
    const auto& there = hosts_[to];
    packets::PlannedFlow f{
        .spec = {.octets = octets, .start = at, .transport = packets::HostTransport::kGoBackN},
        .way = {.name = {"f"},
                .from = host,
                .to = there[random_.below(there.size())],
                .hash = 1 + random_.below(1ULL << 62)}};
    if (const auto found = paths_.find({tor, to}); found != paths_.end())
      f.way.via = found->second[random_.below(found->second.size())];
    plan_.flows.push_back(std::move(f));
  }

  const SetUp& set_up_;
  const FcplusOptions& options_;
  Random random_;
  packets::Plan plan_{};
  std::vector<TrafficMatrix> traffic_{};
  std::map<Pair, std::vector<std::vector<std::size_t>>> paths_{};
  std::vector<std::vector<std::size_t>> hosts_{};  ///< by switch
};

/// Of the set-ups that the paper tells apart, what part stands in its order here.
double in_order(std::span<const Times> ours, std::size_t kind, std::size_t percentile) {
  double all = 0;
  double same = 0;
  for (std::size_t a = 0; a < kCount; ++a)
    for (std::size_t b = 0; b < kCount; ++b) {
      if (kSetUps[a].published[kind][percentile] * kApart > kSetUps[b].published[kind][percentile])
        continue;
      ++all;
      same += ours[a].ms[percentile] < ours[b].ms[percentile] ? 1 : 0;
    }
  return same / all;
}

}  // namespace

void reproduce_fct(const FcplusOptions& options, const std::function<void(const TableCell&)>& found,
                   const Progress& tell) {
  std::vector<Times> all(std::size(kTraffics) * kCount);
  parallel_for(
      all.size(), options.threads,
      [&](std::size_t i, std::size_t) {
        all[i] = Bench(kSetUps[i % kCount], i / kCount, options).run();
      },
      [&](std::size_t done, std::size_t total) {
        tell(fmt::format("Table VIII, completion times, {}, {}", kTraffics[done / kCount],
                         kSetUps[done % kCount].scheme),
             done, total);
      });
  const ExpanderShape shape{.switches = kSwitches, .ports = kPortsOfFct, .seed = options.seed};
  const auto row = [&](std::size_t i) {
    Row r{.switches = kSwitches, .s = kPortsOfFct, .scheme = kSetUps[i].scheme};
    if (kSetUps[i].routing == Routing::kClos) {
      const auto p = *clos_like_parameters(kSwitches, kSwitches * kHosts);
      r.switches = p.switches();
      r.s = kPortsOfFct + kHosts - p.hosts_per_tor;
      r.k = 3;
    } else if (kSetUps[i].routing == Routing::kFc) {
      r.k = r.v = fc_layers(shape)->size() + 1;
    } else {
      const auto p = *fcplus_parameters(shape);
      r.k = p.layers;
      r.v = p.virtual_switches;
    }
    return r;
  };
  for (std::size_t kind = 0; kind < std::size(kTraffics); ++kind) {
    const std::span ours(all.data() + kind * kCount, kCount);
    for (std::size_t p = 0; p < std::size(kPercentiles); ++p) {
      const std::string metric = fmt::format("fct_{}_{}", kPercentiles[p], kTraffics[kind]);
      for (std::size_t i = 0; i < kCount; ++i) {
        found({.table = 8, .row = row(i), .metric = metric + "_ms", .ours = ours[i].ms[p]});
        if (i == 0) continue;
        TableCell factor{.table = 8,
                         .row = row(i),
                         .metric = metric + "_factor",
                         .ours = ours[i].ms[p] / ours[0].ms[p]};
        // What grows for as long as more is sent than the fabric carries takes the whole time.
        if (!options.quick)
          factor.published =
              Published{kSetUps[i].published[kind][p] / kSetUps[0].published[kind][p],
                        p == 0 ? kTolerance : kTailTolerance, true,
                        fmt::format("{:.3f} / {:.3f}", kSetUps[i].published[kind][p],
                                    kSetUps[0].published[kind][p])};
        found(factor);
      }
      TableCell order{.table = 8,
                      .row = {.switches = kSwitches, .s = kPortsOfFct, .scheme = "all"},
                      .metric = metric + "_order",
                      .ours = in_order(ours, kind, p)};
      if (!options.quick) order.statement = Statement{kOrders[kind], Statement::Test::kEqual, 1};
      found(order);
    }
    for (std::size_t i = 0; i < kCount; ++i) {
      const auto count = [&](const char* what, double ours_is) {
        found({.table = 8,
               .row = row(i),
               .metric = fmt::format("{}_{}", what, kTraffics[kind]),
               .ours = ours_is});
      };
      count("drops", ours[i].drops);
      count("deadlocks", ours[i].deadlocks);
    }
  }
}

}  // namespace lldp::lab::fcplus_paper
