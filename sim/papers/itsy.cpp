// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "lab/des/parallel.hpp"
#include "lab/report/html.hpp"
#include "sim/packets/detector/itsy_state.hpp"
#include "sim/papers/finding.hpp"
#include "sim/papers/measure.hpp"
#include "sim/papers/random_plan.hpp"
#include "sim/papers/statistics.hpp"

namespace lldp::lab {
namespace {

using packets::kMicrosecond;
using packets::kMillisecond;
using packets::Outcome;
using packets::Plan;
using Test = Statement::Test;

constexpr std::size_t kRepeats = 10;  ///< "We repeat each scenario 10 times."
constexpr std::size_t kFigureRepeats = 200;
constexpr std::size_t kRandom = 1000;
constexpr packets::ItsyVariant kVariants[] = {packets::ItsyVariant::kOurs,
                                              packets::ItsyVariant::kPublished};

/// A scenario whose flows start at random within 20 us.
Plan drawn(const char* name, std::uint64_t seed, packets::ItsyVariant variant) {
  Plan plan = *packets::plan_of_figure(name);
  Random random(seed);
  plan.settings.seed = seed;
  plan.settings.itsy.variant = variant;
  for (auto& f : plan.flows) f.spec.start = random.below(20 * kMicrosecond);
  plan.duration = 4 * kMillisecond;
  return plan;
}

struct SeenOfItsy {
  double deadlocked = 0;
  double missed = 0;  ///< runs with a deadlock that stood for a millisecond
  double verdicts = 0;
  double wrong = 0;
  double from_outside = 0;   ///< the first verdict's trigger is not on the loop
  std::vector<double> us{};  ///< from the loop's closing to the first verdict

  /// A run of which nothing is known leaves nothing to be said of all.
  void add_unknown() { deadlocked = missed = verdicts = wrong = from_outside = kNotMeasured; }
  void add(const Outcome& o) {
    deadlocked += o.deadlocked_at ? 1 : 0;
    missed += o.longest_deadlock > kMillisecond ? 1 : 0;
    verdicts += static_cast<double>(o.verdicts.size());
    for (const auto& v : o.verdicts) wrong += v.real ? 0 : 1;
    if (o.verdicts.empty()) return;
    const auto& first = o.verdicts.front();
    from_outside += first.on_loop ? 0 : 1;
    if (first.real && first.at > first.formed)
      us.push_back(static_cast<double>(first.at - first.formed) / kMicrosecond);
  }
};

double median(std::vector<double> values) { return percentile(std::move(values), 0.5); }

class ItsyPaper {
 public:
  ItsyPaper(const ReproduceOptions& options, const Sink& sink) : o_(options), sink_(sink) {}

  void all() {
    memory();
    figures();
    sink_.tell(0.3);
    testbed();
    sink_.tell(0.4);
    figure5();
    sink_.tell(0.5);
    random();
    sink_.tell(1);
  }

 private:
  void say(const char* place, const std::string& scenario, const char* metric, double ours) {
    sink_.found({.place = place, .scenario = scenario, .metric = metric, .ours = ours});
  }
  void states(const char* place, const std::string& scenario, const char* metric, double ours,
              const char* quote, Test test, double bound) {
    sink_.found({.place = place,
                 .scenario = scenario,
                 .metric = metric,
                 .ours = ours,
                 .statement = Statement{quote, test, bound}});
  }
  static constexpr const char* kNone = "There was no false positive or false negative.";

  template <class Make>
  SeenOfItsy repeat(std::size_t count, const Make& make) {
    std::vector<std::optional<Outcome>> outcomes(count);
    parallel_for(count, o_.threads,
                 [&](std::size_t i, std::size_t) { outcomes[i] = measure(make(i)); });
    SeenOfItsy seen;
    for (const auto& o : outcomes) o ? seen.add(*o) : seen.add_unknown();
    return seen;
  }

  void memory() {
    const auto state = [](std::uint64_t ports, unsigned switch_bits, unsigned port_bits) {
      return static_cast<double>(packets::itsy_bits(ports, switch_bits, port_bits)) / 8;
    };
    states("V, memory overhead", "64 ports, 14 + 6 bits", "octets_of_a_switch", state(64, 14, 6),
           "The corresponding memory overhead is less than 1KB per switch.", Test::kBelow, 1024);
    states("V, memory overhead", "4 ports, 14 + 6 bits", "octets_of_a_switch", state(4, 14, 6),
           "each switch has 4 ports and the memory overhead in this case is less than 10^-1KB",
           Test::kBelow, 102.4);
  }

  void figures() {
    struct Drawn {
      const char* name = "";
      const char* place = "";
      const char* what = "";
    };
    constexpr std::array<Drawn, 3> kDrawn{
        {{"itsy-fig2", "III-C, Figure 2", "trigger on the loop"},
         {"itsy-fig3", "III-D, Figure 3", "trigger out of the loop"},
         {"itsy-fig4", "III-D, Figure 4", "one trigger on two ports"}}};
    const std::size_t repeats = o_.quick ? 20 : kFigureRepeats;
    for (const auto variant : kVariants) {
      std::array<SeenOfItsy, kDrawn.size()> seen{};
      const std::string by(packets::kItsyVariants[static_cast<std::size_t>(variant)]);
      const bool ours = variant == packets::ItsyVariant::kOurs;
      for (std::size_t i = 0; i < kDrawn.size(); ++i) {
        seen[i] = repeat(repeats, [&](std::size_t r) {
          return drawn(kDrawn[i].name, o_.seed * 1000 + r, variant);
        });
        const std::string where = fmt::format("{}, {}", kDrawn[i].what, by);
        say(kDrawn[i].place, where, "runs_with_a_deadlock", seen[i].deadlocked);
        if (ours) {
          states(kDrawn[i].place, where, "missed", seen[i].missed, kNone, Test::kEqual, 0);
          states(kDrawn[i].place, where, "accused_wrongly", seen[i].wrong, kNone, Test::kEqual, 0);
        } else {
          say(kDrawn[i].place, where, "missed", seen[i].missed);
          say(kDrawn[i].place, where, "accused_wrongly", seen[i].wrong);
        }
        say(kDrawn[i].place, where, "trigger_out_of_the_loop", seen[i].from_outside);
      }
      if (ours)
        states("III-D, Figure 4", "one trigger on two ports, ours", "deadlocks_declared",
               seen[2].verdicts, "However, no deadlock is formed.", Test::kEqual, 0);
      times("III, Figures 2 and 3", by, seen[0], seen[1], false);
    }
  }

  /// Detection times on the loop and out of it.
  void times(const char* place, const std::string& where, const SeenOfItsy& on,
             const SeenOfItsy& out, bool published) {
    const auto time = [&](const char* what, const SeenOfItsy& seen, double ms) {
      Finding f{.place = place,
                .scenario = fmt::format("{}, {}", what, where),
                .metric = "detection_us_avg",
                .ours = mean_of(seen.us)};
      if (published)
        f.published = Published{ms * 1000, kTolerance, false, fmt::format("{:g} ms", ms)};
      sink_.found(f);
      say(place, f.scenario, "detection_us_median", median(seen.us));
    };
    time("on the loop", on, 0.8);
    time("out of the loop", out, 1.4);
    const bool measured = !on.us.empty() && !out.us.empty();
    const double ratio = measured ? mean_of(out.us) / mean_of(on.us) : kNotMeasured;
    if (!published) return say(place, where, "detection_out_over_on", ratio);
    sink_.found({.place = place,
                 .scenario = where,
                 .metric = "detection_out_over_on",
                 .ours = ratio,
                 .published = Published{1.4 / 0.8, kTolerance, true, "1.4 ms / 0.8 ms"}});
    states(place, where, "detection_out_over_on_at_most", ratio,
           "this case needs at most one additional round to detect the deadlock", Test::kBelow,
           2.0001);
  }

  /// V: the k = 4 fat-tree with two failed links, ten repeats.
  void testbed() {
    for (const auto variant : kVariants) {
      const bool ours = variant == packets::ItsyVariant::kOurs;
      const std::string by(packets::kItsyVariants[static_cast<std::size_t>(variant)]);
      std::array<SeenOfItsy, 2> seen{};
      for (std::size_t i = 0; i < 2; ++i) {
        const char* const name = i == 0 ? "itsy-fattree" : "itsy-fattree-storm";
        seen[i] = repeat(kRepeats,
                         [&](std::size_t r) { return drawn(name, o_.seed * 1000 + r, variant); });
        const std::string where = fmt::format("{}, {}", name, by);
        const char* const place = "V, detection effectiveness";
        const double missed = seen[i].missed + static_cast<double>(kRepeats) - seen[i].deadlocked;
        if (ours) {
          states(place, where, "runs_without_a_deadlock",
                 static_cast<double>(kRepeats) - seen[i].deadlocked,
                 "We introduced two failed links so rerouting could finally lead to a deadlock "
                 "loop.",
                 Test::kEqual, 0);
          states(place, where, "missed", missed, kNone, Test::kEqual, 0);
          states(place, where, "accused_wrongly", seen[i].wrong, kNone, Test::kEqual, 0);
        } else {
          say(place, where, "missed", missed);
          say(place, where, "accused_wrongly", seen[i].wrong);
        }
        say(place, where, "trigger_out_of_the_loop", seen[i].from_outside);
      }
      times("V, detection effectiveness", "fat-tree, " + by, seen[0], seen[1], ours);
    }
  }

  /// Normalized throughput of each flow over time; with and without resolving the trigger.
  void figure5() {
    for (const bool handle : {false, true}) {
      Plan plan = drawn("itsy-fig5", o_.seed, packets::ItsyVariant::kOurs);
      plan.settings.itsy.handle = handle;
      plan.duration = 20 * kMillisecond;
      Chart chart{.title = handle ? "(b) resolving the initial trigger"
                                  : "(a) without resolving the initial trigger",
                  .x_label = "time, ms",
                  .y_label = "normalized throughput"};
      for (const auto& f : plan.flows) chart.lines.push_back({flow_name(plan, f), {}});
      std::vector<std::uint64_t> before(plan.flows.size());
      constexpr packets::Picoseconds kEvery = 200 * kMicrosecond;
      const double frame = 1 + static_cast<double>(plan.settings.header_octets) /
                                   static_cast<double>(plan.settings.payload_octets);
      const packets::Hooks hooks{
          .sample_every = kEvery, .sample = [&](const packets::Network& n) {
            for (std::size_t i = 0; i < plan.flows.size(); ++i) {
              const double wire = static_cast<double>(n.flows[i].received - before[i]) * 8 * frame;
              before[i] = n.flows[i].received;
              chart.lines[i].points.emplace_back(
                  static_cast<double>(n.now) / kMillisecond,
                  wire / static_cast<double>(plan.flows[i].spec.rate_bps) /
                      (static_cast<double>(kEvery) / 1e12));
            }
          }};
      const auto o = measure(plan, hooks);
      const char* const place = handle ? "V, Figure 5b" : "V, Figure 5a";
      const char* const where = handle ? "trigger resolved" : "deadlocks broken alone";
      const auto is_late = [&](const packets::Verdict& v) { return v.at > o->duration / 2; };
      const double late =
          o ? static_cast<double>(std::ranges::count_if(o->verdicts, is_late)) : kNotMeasured;
      if (handle)
        states(place, where, "deadlocks_in_the_second_half", late,
               "breaks the deadlock and resolves the initial trigger simultaneously, which "
               "prevents the recurrence of the deadlock",
               Test::kEqual, 0);
      else
        states(place, where, "deadlocks_in_the_second_half", late,
               "if the traffic pattern does not change, the deadlock will reappear", Test::kAbove,
               0);
      if (!o) continue;
      say(place, where, "deadlocks", o->deadlocks);
      say(place, where, "frames_drained", static_cast<double>(o->count.discarded));
      for (std::size_t i = 0; i < o->flows.size(); ++i)  // of the second half
        say(place, fmt::format("{}, {}", where, flow_name(plan, plan.flows[i])),
            "normalized_throughput",
            static_cast<double>(o->flows[i].throughput_bps) * frame /
                static_cast<double>(plan.flows[i].spec.rate_bps));
      sink_.draw({"Figure 5", svg(chart)});
    }
  }

  /// What each variant misses and accuses wrongly in random fabrics.
  void random() {
    const std::size_t count = o_.sets != 0 ? o_.sets : o_.quick ? 50 : kRandom;
    for (const auto variant : kVariants) {
      const bool ours = variant == packets::ItsyVariant::kOurs;
      const SeenOfItsy seen = repeat(count, [&](std::size_t i) {
        Plan plan = random_plan(o_.seed * 10'000 + i, i % 2 == 1);
        plan.settings.protection = packets::ProtectionScheme::kItsy;
        plan.settings.itsy.variant = variant;
        return plan;
      });
      const std::string where =
          fmt::format("{} random fabrics, {}", count,
                      packets::kItsyVariants[static_cast<std::size_t>(variant)]);
      const char* const place = "V, detection effectiveness";
      say(place, where, "runs_with_a_deadlock", seen.deadlocked);
      say(place, where, "verdicts", seen.verdicts);
      if (ours) {
        states(place, where, "missed", seen.missed, kNone, Test::kEqual, 0);
        states(place, where, "accused_wrongly", seen.wrong, kNone, Test::kEqual, 0);
      } else {
        say(place, where, "missed", seen.missed);
        say(place, where, "accused_wrongly", seen.wrong);
      }
    }
  }

  const ReproduceOptions& o_;
  const Sink& sink_;
};

}  // namespace

void reproduce_itsy(const ReproduceOptions& options, const Sink& sink) {
  ItsyPaper(options, sink).all();
}

}  // namespace lldp::lab
