// SPDX-License-Identifier: Apache-2.0
#include "lab/lossless/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lab/lossless/station.hpp"

namespace lldp::lab::lossless {
namespace {

std::string protection(const Settings& s) { return s.is_protected ? "down-up" : "none"; }

std::string queue_text(const Fabric& fabric, const StoppedQueue& q) {
  return fmt::format("{} -> {} priority {}", fabric.nodes[q.node].name, fabric.nodes[q.peer].name,
                     q.priority);
}

std::string verdict(const Outcome& o) {
  if (!o.deadlock.empty()) return "DEADLOCK";
  if (o.holds()) return "no deadlock: everything that was sent has arrived, nothing was dropped";
  if (o.missed != 0)
    return "no verdict: the kernel had no room for frames; give a lower --link-rate";
  if (o.is_too_late())
    return fmt::format(
        "no verdict: a process had to wait for {:.1f} s, too long to say; give a lower "
        "--link-rate, "
        "or a machine that does less",
        static_cast<double>(o.late_us) / 1e6);
  return "no deadlock, but not everything arrived as it was to";
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
      "{} packets changed class, {} PAUSE frames, {} drops, {} missed; at most {:.1f} ms late\n",
      o.turned, o.pauses, o.drops, o.missed, static_cast<double>(o.late_us) / 1e3);
  text += verdict(o) + "\n";
  if (o.deadlock.empty()) return text;
  for (const StoppedQueue& q : o.deadlock) text += "  " + queue_text(plan.fabric, q) + "\n";
  text += fmt::format(
      "the senders have stopped; for {:.1f} s no switch has sent a packet, {} octets wait, and {} "
      "PAUSE frames were sent\n",
      o.still_seconds, o.waiting_octets, o.still_pauses);
  // Then even flows that are in balance may meet in one.
  const double fills_us = StationSettings().xoff_octets * 8e6 / static_cast<double>(s.rate_bps);
  if (static_cast<double>(o.late_us) > fills_us)
    text += fmt::format(
        "a process had to wait for its turn for longer than the {:.1f} ms in which a buffer fills: "
        "that alone may have closed the cycle\n",
        fills_us / 1e3);
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
  return json{{"name", plan.name},
              {"lossless", true},
              {"protection", protection(s)},
              {"rate_bps", s.rate_bps},
              {"seconds", s.sending.count()},
              {"ready_seconds", o.ready_seconds},
              {"deadlock", !o.deadlock.empty()},
              {"queues", std::move(queues)},
              {"still_seconds", o.still_seconds},
              {"still_pauses", o.still_pauses},
              {"waiting_octets", o.waiting_octets},
              {"flows", std::move(flows)},
              {"pauses", o.pauses},
              {"turned", o.turned},
              {"drops", o.drops},
              {"missed", o.missed},
              {"late_us", o.late_us},
              {"holds", o.holds()}}
             .dump(2) +
         "\n";
}

}  // namespace lldp::lab::lossless
