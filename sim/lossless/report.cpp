// SPDX-License-Identifier: Apache-2.0
#include "sim/lossless/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

namespace lldp::lab::lossless {
namespace {

std::string protection(const Settings& s) { return s.is_protected ? "down-up" : "none"; }

std::string queue_text(const Fabric& fabric, const StoppedQueue& q) {
  return fmt::format("{} -> {} priority {}", fabric.nodes[q.node].name, fabric.nodes[q.peer].name,
                     q.priority);
}

double milliseconds(std::uint64_t us) { return static_cast<double>(us) / 1e3; }

/// Why there is no verdict.
std::string reason(const Outcome& o) {
  if (o.is_good())
    return fmt::format(
        "a buffer fills in {:.1f} ms, and those of a cycle one after the other: in {:.1f} ms none "
        "can close; give more --seconds, {:.1f} at least",
        milliseconds(o.fills_us), milliseconds(o.sent_us),
        milliseconds(Outcome::kFillings * o.fills_us) / 1e3);
  return (o.lost.missed != 0
              ? std::string("the kernel had no room for frames")
              : fmt::format("the machine was too slow: a process was late by {:.1f} ms, "
                            "more than half of the {:.1f} ms in which a "
                            "buffer fills",
                            milliseconds(o.late_us), milliseconds(o.fills_us))) +
         "; give a lower --link-rate, or a machine that does less";
}

std::string verdict(const Outcome& o) {
  switch (o.verdict()) {
    case Outcome::Verdict::kHolds:
      return "no deadlock: everything that was sent has arrived, nothing was dropped";
    case Outcome::Verdict::kDeadlock:
      return "DEADLOCK";
    case Outcome::Verdict::kFails:
      return "no deadlock, but not everything arrived as it was to";
    case Outcome::Verdict::kNone:
      break;
  }
  return "no verdict: " + reason(o);
}

std::string_view word(Outcome::Verdict verdict) {
  switch (verdict) {
    case Outcome::Verdict::kHolds:
      return "holds";
    case Outcome::Verdict::kDeadlock:
      return "deadlock";
    case Outcome::Verdict::kFails:
      return "fails";
    case Outcome::Verdict::kNone:
      break;
  }
  return "none";
}

}  // namespace

std::string to_text(const packets::Plan& plan, const Settings& s, const Outcome& o) {
  std::string text =
      fmt::format("{}: protection {}, {:g} Mb/s, {:g} s; lossless {}, lossy {}\n", plan.name,
                  protection(s), static_cast<double>(s.rate_bps) / 1e6, s.sending.count(),
                  s.policy.lossless_text(), s.policy.lossy_text());
  if (s.is_protected)
    text += fmt::format("agents: every level right, every switch protected after {:.1f} s\n",
                        o.ready_seconds);
  for (const FlowResult& f : o.flows)
    text += fmt::format("{:<4} {}: {} sent, {} received{}{}\n", f.name,
                        switches_of(plan.fabric, f.path), f.sent, f.received,
                        f.disordered == 0 ? "" : fmt::format(", {} out of order", f.disordered),
                        f.mismarked == 0 ? "" : fmt::format(", {} marked wrongly", f.mismarked));
  text += fmt::format(
      "{} packets changed class, {} PAUSE frames, {} drops, {} missed, {} too long; at most {:.1f} "
      "ms late\n",
      o.turned, o.pauses, o.lost.drops, o.lost.missed, o.lost.too_long, milliseconds(o.late_us));
  text += verdict(o) + "\n";
  if (o.deadlock.empty()) return text;
  for (const StoppedQueue& q : o.deadlock) text += "  " + queue_text(plan.fabric, q) + "\n";
  text += fmt::format(
      "for {:.1f} s no switch has sent a packet, {} octets wait, and {} PAUSE frames were sent\n",
      o.still_seconds, o.waiting_octets, o.still_pauses);
  return text;
}

std::string to_json(const packets::Plan& plan, const Settings& s, const Outcome& o) {
  using nlohmann::json;
  json flows = json::array();
  for (const FlowResult& f : o.flows)
    flows.push_back({{"name", f.name},
                     {"switches", switches_of(plan.fabric, f.path)},
                     {"sent", f.sent},
                     {"received", f.received},
                     {"disordered", f.disordered},
                     {"mismarked", f.mismarked}});
  json queues = json::array();
  for (const StoppedQueue& q : o.deadlock)
    queues.push_back({{"switch", plan.fabric.nodes[q.node].name},
                      {"port", q.port},
                      {"to", plan.fabric.nodes[q.peer].name},
                      {"priority", q.priority}});
  const Outcome::Verdict verdict = o.verdict();
  return json{{"name", plan.name},
              {"lossless", true},
              {"protection", protection(s)},
              {"rate_bps", s.rate_bps},
              {"seconds", s.sending.count()},
              {"ready_seconds", o.ready_seconds},
              {"verdict", word(verdict)},
              {"why_none", verdict == Outcome::Verdict::kNone ? json(reason(o)) : json()},
              {"deadlock", verdict == Outcome::Verdict::kDeadlock},
              {"queues", std::move(queues)},
              {"still_seconds", o.still_seconds},
              {"still_pauses", o.still_pauses},
              {"waiting_octets", o.waiting_octets},
              {"flows", std::move(flows)},
              {"pauses", o.pauses},
              {"turned", o.turned},
              {"drops", o.lost.drops},
              {"missed", o.lost.missed},
              {"too_long", o.lost.too_long},
              {"late_us", o.late_us},
              {"fills_us", o.fills_us},
              {"holds", verdict == Outcome::Verdict::kHolds}}
             .dump(2) +
         "\n";
}

}  // namespace lldp::lab::lossless
