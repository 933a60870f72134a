// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lab/des/parallel.hpp"
#include "lab/report/html.hpp"
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
using packets::ProtectionScheme;

/// The ways that the proposal compares.
struct Way {
  const char* name = "";
  ProtectionScheme protection{};
  bool drops = false;
};
constexpr std::array<Way, 4> kWays{{{"down-up rules", ProtectionScheme::kDownUp},
                                    {"nothing", ProtectionScheme::kOff},
                                    {"watchdog that sends on", ProtectionScheme::kWatchdog},
                                    {"watchdog that drops", ProtectionScheme::kWatchdog, true}}};

void protect(Plan& plan, const Way& way) {
  plan.settings.protection = way.protection;
  plan.settings.watchdog.drops = way.drops;
}

/// What a way made of a plan.
struct SeenOfDot1 {
  bool ran = false;
  bool deadlocked = false;
  double stuck_share = 0;     ///< of the time
  double gbps = 0;            ///< of all that sends at line rate
  std::vector<double> fct{};  ///< us, of the little ones; not ended: the rest of the run
  std::size_t unfinished = 0;
  double drops = 0;
  double discarded = 0;
  double lost = 0;
  double deadlocks = 0;
  double detections = 0;
};

SeenOfDot1 look(Plan plan, const Way& way) {
  protect(plan, way);
  SeenOfDot1 seen;
  const auto o = measure(plan);
  if (!o) {
    seen.stuck_share = seen.gbps = seen.drops = seen.discarded = seen.lost = kNotMeasured;
    seen.deadlocks = seen.detections = kNotMeasured;
    return seen;
  }
  seen.ran = true;
  seen.deadlocked = o->deadlocked_at.has_value();
  seen.stuck_share = static_cast<double>(o->deadlocked_for) /
                     static_cast<double>(std::max<std::uint64_t>(1, o->duration));
  seen.drops = static_cast<double>(o->count.drops);
  seen.discarded = static_cast<double>(o->count.discarded);
  seen.lost = static_cast<double>(o->count.lost);
  seen.deadlocks = o->deadlocks;
  seen.detections = static_cast<double>(o->count.detections);
  for (std::size_t i = 0; i < o->flows.size(); ++i) {
    const packets::FlowResult& f = o->flows[i];
    if (plan.flows[i].spec.octets == 0) {
      seen.gbps += static_cast<double>(f.throughput_bps) / 1e9;
      continue;
    }
    const auto took = f.fct.value_or(o->duration - plan.flows[i].spec.start);
    seen.fct.push_back(static_cast<double>(took) / kMicrosecond);
    seen.unfinished += f.fct ? 0U : 1U;
  }
  return seen;
}

/// Little flows that take more than ten times as long as with the rules. A flow that
/// does not end counts only if the rest of the run after its start is more than ten times as long.
std::size_t victims(const SeenOfDot1& seen, const SeenOfDot1& with_rules) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::min(seen.fct.size(), with_rules.fct.size()); ++i)
    count += seen.fct[i] > 10 * with_rules.fct[i] ? 1U : 0U;
  return count;
}

class Dot1 {
 public:
  Dot1(const ReproduceOptions& options, const Sink& sink) : o_(options), sink_(sink) {}

  void all() {
    cases();
    many("links that fail", false, 0.1, 0.6);
    many("links that flap", true, 0.6, 1);
    buffer();
    sink_.tell(1);
  }

 private:
  using Test = Statement::Test;
  void say(const char* place, const std::string& scenario, const char* metric, double ours,
           std::optional<Statement> statement = {}) {
    sink_.found({.place = place,
                 .scenario = scenario,
                 .metric = metric,
                 .ours = ours,
                 .statement = std::move(statement)});
  }

  // The slides print no number; these are their statements.
  static Statement reproduces() {
    return {"Reproduce the PFC deadlock in both level 2 CLOS and level 3 CLOS network.",
            Test::kAbove, 0};
  }
  static Statement may_happen() {
    return {"when link fails, flow loop happens and CBD appears. PFC deadlocks may happen.",
            Test::kAbove, 0};
  }
  static Statement again() {
    return {"If the CBD persists, then it will invoke deadlock immediately after recovery",
            Test::kAbove, 1};
  }
  static Statement affected() {
    return {"and the throughput will be greatly affected.", Test::kBelow, 1 - kTolerance};
  }
  static Statement prevented() {
    return {"Identify CBD break point and prevent the PFC Deadlock", Test::kEqual, 0};
  }
  static Statement lossless() {
    return {"Both Queue5&6 are lossless queues(Enable PFC)", Test::kEqual, 0};
  }

  /// "Reproduce the PFC deadlock problem"; what the watchdog makes of it; that it is gone.
  void cases() {
    constexpr std::array<const char*, 3> kNames{"case1", "case2", "flap"};
    std::vector<SeenOfDot1> seen(kNames.size() * kWays.size());
    parallel_for(seen.size(), o_.threads, [&](std::size_t i, std::size_t) {
      Plan plan = *packets::plan_of_case(kNames[i / kWays.size()], 2, 1);
      plan.settings.seed = o_.seed;
      plan.duration = (o_.quick ? 5 : 20) * kMillisecond;
      seen[i] = look(plan, kWays[i % kWays.size()]);
    });
    for (std::size_t c = 0; c < kNames.size(); ++c)
      for (std::size_t w = 0; w < kWays.size(); ++w) {
        const SeenOfDot1& s = seen[c * kWays.size() + w];
        const SeenOfDot1& rules = seen[c * kWays.size()];
        const std::string where = fmt::format("{}, {}", kNames[c], kWays[w].name);
        const bool watchdog = kWays[w].protection == ProtectionScheme::kWatchdog;
        if (w == 0)
          say("Proactive", where, "deadlocks", s.deadlocks, prevented());
        else if (!watchdog)
          say("Reproduce", where, "deadlocks", s.deadlocks, reproduces());
        else
          say("Reactive", where, "deadlocks", s.deadlocks, again());
        const char* place = w == 0 ? "Proactive" : watchdog ? "Reactive" : "Reproduce";
        say(place, where, "deadlocked_percent_of_time", 100 * s.stuck_share);
        say(place, where, "gbps", s.gbps);
        if (watchdog) say(place, where, "throughput_over_rules", s.gbps / rules.gbps, affected());
        say(place, where, "frames_thrown_away", s.discarded + s.drops);
      }
    for (const auto& name : kNames) over_time(name);
    sink_.tell(0.1);
  }

  /// The throughput of all that sends, every 50 us, in each way.
  void over_time(const char* name) {
    Chart chart{.title = fmt::format("{}: throughput of all flows", name),
                .x_label = "time, us",
                .y_label = "Gb/s"};
    std::vector<Chart::Line> lines(kWays.size());
    parallel_for(kWays.size(), o_.threads, [&](std::size_t w, std::size_t) {
      Plan plan = *packets::plan_of_case(name, 2, 1);
      plan.settings.seed = o_.seed;
      plan.duration = 2 * kMillisecond;
      protect(plan, kWays[w]);
      std::uint64_t before = 0;
      lines[w].name = kWays[w].name;
      constexpr packets::Picoseconds kEvery = 50 * kMicrosecond;
      const packets::Hooks hooks{
          .sample_every = kEvery, .sample = [&](const packets::Network& n) {
            std::uint64_t octets = 0;
            for (const packets::Flow& f : n.flows) octets += f.received;
            lines[w].points.emplace_back(
                static_cast<double>(n.now) / kMicrosecond,
                static_cast<double>(octets - before) * 8 / (static_cast<double>(kEvery) / 1e3));
            before = octets;
          }};
      const auto ran = measure(plan, hooks);
      if (!ran) lines[w].points.clear();
    });
    chart.lines = std::move(lines);
    sink_.draw({"Reproduce, Reactive, Proactive", svg(chart)});
  }

  void many(const char* what, bool flaps, double from, double to) {
    const std::size_t plans = o_.sets != 0 ? o_.sets : o_.quick ? 50 : 1000;
    std::vector<std::array<SeenOfDot1, kWays.size()>> seen(plans);
    parallel_for(
        plans, o_.threads,
        [&](std::size_t i, std::size_t) {
          const Plan plan = random_plan(o_.seed * 1000 + i, flaps);
          for (std::size_t w = 0; w < kWays.size(); ++w) seen[i][w] = look(plan, kWays[w]);
        },
        [&](std::size_t done, std::size_t total) {
          sink_.tell(from + (to - from) * static_cast<double>(done) / static_cast<double>(total));
        });
    Bars bars{.title = fmt::format("{}: throughput over the rules', where it can deadlock", what),
              .y_label = "ratio",
              .groups = {what}};
    for (std::size_t w = 0; w < kWays.size(); ++w) {
      double runs = 0;
      double deadlocked = 0;
      double stuck = 0;
      double gbps = 0;
      double unfinished = 0;
      double suffer = 0;
      double thrown = 0;
      double lost = 0;
      double detections = 0;
      double rate_of_dead = 0;   // in the plans that deadlock with nothing against it
      double rules_of_dead = 0;  // what the rules have in these
      std::vector<double> fct;
      std::vector<double> fct_of_dead;
      for (const auto& s : seen) {
        if (!s[w].ran || !s[0].ran) continue;
        ++runs;
        deadlocked += s[w].deadlocked ? 1 : 0;
        stuck += s[w].stuck_share;
        gbps += s[w].gbps;
        unfinished += static_cast<double>(s[w].unfinished);
        suffer += static_cast<double>(victims(s[w], s[0]));
        thrown += s[w].discarded + s[w].drops;
        lost += s[w].lost;
        detections += s[w].detections;
        fct.insert(fct.end(), s[w].fct.begin(), s[w].fct.end());
        if (!s[1].deadlocked) continue;
        rate_of_dead += s[w].gbps;
        rules_of_dead += s[0].gbps;
        fct_of_dead.insert(fct_of_dead.end(), s[w].fct.begin(), s[w].fct.end());
      }
      if (runs == 0) continue;
      const std::string where = fmt::format("{:.0f} sets of {}, {}", runs, what, kWays[w].name);
      const char* place = w == 0 ? "Proactive" : w == 1 ? "Reproduce" : "Reactive";
      if (w == 0)
        say(place, where, "deadlocked_runs", deadlocked, prevented());
      else if (w == 1)
        say(place, where, "deadlocked_runs", deadlocked, may_happen());
      else
        say(place, where, "deadlocked_runs", deadlocked);
      say(place, where, "deadlocked_percent_of_time", 100 * stuck / runs);
      say(place, where, "gbps_avg", gbps / runs);
      // In the sets in which doing nothing deadlocks.
      if (w >= 1 && rules_of_dead > 0)
        say(place, where, "throughput_over_rules_where_it_can_deadlock",
            rate_of_dead / rules_of_dead, w >= 2 ? std::optional(affected()) : std::nullopt);
      if (rules_of_dead > 0) bars.series.push_back({kWays[w].name, {rate_of_dead / rules_of_dead}});
      if (!fct_of_dead.empty())
        say(place, where, "fct_us_p99_where_it_can_deadlock", percentile(fct_of_dead, 0.99));
      say(place, where, "fct_us_avg", mean_of(fct));
      say(place, where, "fct_us_p99", percentile(fct, 0.99));
      say(place, where, "unfinished", unfinished);
      say(place, where, "victims", suffer);
      if (w == 0)
        say(place, where, "frames_thrown_away", thrown, lossless());
      else
        say(place, where, "frames_thrown_away", thrown);
      if (flaps) say(place, where, "frames_lost_on_links", lost);
      if (w >= 2) say(place, where, "detections", detections);
    }
    sink_.draw({"Reproduce, Reactive, Proactive", svg(bars)});
  }

  /// What the second lossless class costs: headroom at every port for what a link can still bring.
  void buffer() {
    struct Switch {
      std::uint64_t ports = 0;
      std::uint64_t gbps = 0;
      std::uint64_t metres = 0;
    };
    for (const Switch& s :
         {Switch{32, 100, 100}, Switch{64, 100, 300}, Switch{64, 400, 100}, Switch{64, 800, 100}}) {
      packets::Network n;
      n.settings.payload_octets = 4096;
      n.frame_octets = 4096U + n.settings.header_octets;
      const std::uint64_t port =
          n.headroom_needed(s.gbps * 1'000'000'000, s.metres * 5 * packets::kNanosecond);
      const std::string where = fmt::format("{} ports of {} Gb/s, {} m, frames of {}", s.ports,
                                            s.gbps, s.metres, n.frame_octets);
      say("Proactive", where, "headroom_octets_of_a_port", static_cast<double>(port));
      say("Proactive", where, "second_class_octets_of_a_switch",
          static_cast<double>(port * s.ports));
    }
  }

  const ReproduceOptions& o_;
  const Sink& sink_;
};

}  // namespace

void reproduce_dot1(const ReproduceOptions& options, const Sink& sink) {
  Dot1(options, sink).all();
}

}  // namespace lldp::lab
