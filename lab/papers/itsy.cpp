// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <vector>

#include "lab/packets/detector/itsy_state.hpp"
#include "lab/packets/run.hpp"
#include "lab/papers/claims.hpp"

namespace lldp::lab {
namespace {

using packets::kMicrosecond;
using packets::kMillisecond;
using packets::Outcome;
using packets::Plan;

constexpr int kRepeats = 200;  ///< the paper has 10, but times vary with who starts when

/// A figure's scenario whose flows start at random within 20 us.
Plan figure(const char* name, std::uint64_t seed) {
  Plan plan = *packets::plan_of_figure(name);
  Random random(seed);
  plan.settings.seed = seed;
  for (auto& f : plan.flows) f.spec.start = random.below(20 * kMicrosecond);
  plan.duration = 4 * kMillisecond;
  return plan;
}

/// Whom Figure 5 has: the loop of Figure 3, and a host that stops its switch nine parts in ten.
Plan misbehaving(std::uint64_t seed, bool handle) {
  Plan plan = figure("itsy-fig3", seed);
  const std::size_t host = plan.flows[2].way.to;
  std::erase_if(plan.flows, [&](const packets::PlannedFlow& f) {
    return f.way.to == host && f.spec.rate_bps == 0;
  });
  plan.storms = {{.host = host, .from = 100 * kMicrosecond}};
  plan.settings.itsy.handle = handle;
  plan.duration = 20 * kMillisecond;
  return plan;
}

struct SeenOfItsy {
  int runs = 0;
  int with_deadlock = 0;
  std::size_t verdicts = 0;
  std::size_t wrong = 0;
  int missed = 0;
  int from_outside = 0;          ///< the first verdict's trigger is not on the loop
  std::vector<double> on_us{};   ///< from the loop's closing to the first verdict
  std::vector<double> out_us{};  ///< the same, where the trigger is out of the loop

  void add(const Outcome& o) {
    ++runs;
    with_deadlock += o.deadlocked_at ? 1 : 0;
    verdicts += o.verdicts.size();
    for (const auto& v : o.verdicts) wrong += v.real ? 0U : 1U;
    missed += o.longest_deadlock > kMillisecond ? 1 : 0;
    if (o.verdicts.empty()) return;
    const auto& first = o.verdicts.front();
    from_outside += first.on_loop ? 0 : 1;
    (first.on_loop ? on_us : out_us)
        .push_back(static_cast<double>(first.at - first.formed) / packets::kMicrosecond);
  }
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::uint64_t late_deadlocks(const Outcome& o) {
  return static_cast<std::uint64_t>(
      std::count_if(o.verdicts.begin(), o.verdicts.end(),
                    [&](const packets::Verdict& v) { return v.at > o.duration / 2; }));
}

}  // namespace

void reproduce_itsy(const ClaimOptions& options, const std::function<void(const Claim&)>& found,
                    const std::function<void(double)>& tell) {
  const auto state = [](std::uint64_t ports, unsigned switch_bits, unsigned port_bits) {
    return static_cast<double>(packets::itsy_bits(ports, switch_bits, port_bits)) / 8;
  };
  found({"V, memory", "64 ports, 14 + 6 bits", "octets_of_a_switch", state(64, 14, 6), 1024, 0,
         1024});
  found({"V, memory", "4 ports, 14 + 6 bits", "octets_of_a_switch", state(4, 14, 6), 102.4, 0,
         102.4});
  SeenOfItsy all;
  std::array<SeenOfItsy, 3> figures{};
  constexpr std::array<const char*, 3> kNames{"itsy-fig2", "itsy-fig3", "itsy-fig4"};
  const int repeats = options.quick ? 50 : kRepeats;
  for (std::size_t i = 0; i < kNames.size(); ++i)
    for (int r = 0; r < repeats; ++r) {
      const Plan plan = figure(kNames[i], options.seed + static_cast<std::uint64_t>(r));
      if (const auto o = packets::run(plan)) {
        figures[i].add(*o);
        all.add(*o);
      }
      tell(0.7 *
           static_cast<double>(i * static_cast<std::size_t>(repeats) + static_cast<std::size_t>(r) +
                               1) /
           static_cast<double>(kNames.size() * static_cast<std::size_t>(repeats)));
    }
  const double n = repeats;
  found({"III-C, Figure 2", "trigger on the loop", "deadlocks_detected",
         n - figures[0].missed - (n - figures[0].with_deadlock), n, n, n});
  found({"III-D, Figure 3", "trigger out of the loop", "deadlocks_detected",
         n - figures[1].missed - (n - figures[1].with_deadlock), n, n, n});
  found({"III-D, Figure 3",
         "trigger out of the loop",
         "found_out_of_the_loop",
         static_cast<double>(figures[1].from_outside),
         {},
         0,
         0});
  found({"III-D, Figure 4", "one trigger on two ports", "deadlocks_declared",
         static_cast<double>(figures[2].verdicts), 0, 0, 0});
  found({"V, effectiveness", "Figures 2, 3 and 4", "false_positives",
         static_cast<double>(all.wrong), 0, 0, 0});
  found({"V, effectiveness", "Figures 2, 3 and 4", "false_negatives",
         static_cast<double>(all.missed), 0, 0, 0});
  const double on = median(all.on_us);
  const double out = median(all.out_us);
  found({"V, effectiveness", "trigger on the loop", "detection_us", on, {}, 0, 0});
  found({"V, effectiveness", "trigger out of the loop", "detection_us", out, {}, 0, 0});
  found({"V, effectiveness", "out of the loop / on it", "detection_ratio", out / on, 1.4 / 0.8,
         1.0001, 2});
  for (const bool handle : {false, true}) {
    const auto o = packets::run(misbehaving(options.seed, handle));
    tell(handle ? 1 : 0.85);
    if (!o) continue;
    found({handle ? "V, Figure 5b" : "V, Figure 5a",
           handle ? "trigger resolved" : "deadlocks broken alone", "deadlocks_in_the_second_half",
           static_cast<double>(late_deadlocks(*o)), handle ? 0.0 : 1.0, handle ? 0.0 : 1.0,
           handle ? 0.0 : 1e9});
  }
}

}  // namespace lldp::lab
