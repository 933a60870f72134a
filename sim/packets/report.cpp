// SPDX-License-Identifier: Apache-2.0
#include "sim/packets/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/count.hpp"
#include "base/text.hpp"

namespace lldp::lab::packets {
namespace {

using Ordered = nlohmann::ordered_json;

constexpr std::size_t kFlowsShown = 20;
constexpr std::size_t kVerdictsShown = 20;

std::string_view name_of(ProtectionScheme p) { return kProtections[static_cast<std::size_t>(p)]; }
std::string_view name_of(FlowControlKind f) { return kFlowControls[static_cast<std::size_t>(f)]; }

double gbps(std::uint64_t bps) { return static_cast<double>(bps) / 1e9; }

/// `Leaf2 -> Spine1`
std::string link_of(const Plan& plan, Key k) {
  const Link& link = plan.fabric.links[arc_of(k) / 2];
  const auto name = [&](std::size_t end) {
    return escape(plan.fabric.nodes[link.ends[end].node].name);
  };
  return fmt::format("{} -> {}", name(arc_of(k) % 2), name(1 - arc_of(k) % 2));
}
/// Where a counter is: the node, and whence what it counts comes.
std::string counter_of(const Plan& plan, Key k) {
  const Link& link = plan.fabric.links[arc_of(k) / 2];
  return fmt::format("{} (from {})",
                     escape(plan.fabric.nodes[link.ends[1 - arc_of(k) % 2].node].name),
                     escape(plan.fabric.nodes[link.ends[arc_of(k) % 2].node].name));
}

Ordered json_of(const Plan& plan, const std::vector<Verdict>& verdicts) {
  Ordered list = Ordered::array();
  for (const Verdict& v : verdicts) {
    const auto links = [&](const std::vector<Key>& keys) {
      Ordered out = Ordered::array();
      for (const Key k : keys) out.push_back(link_of(plan, k));
      return out;
    };
    list.push_back({{"at_ns", v.at / kNanosecond},
                    {"formed_ns", v.formed / kNanosecond},
                    {"counter", counter_of(plan, v.counter)},
                    {"priority", priority_of(v.counter)},
                    {"trigger", counter_of(plan, v.trigger)},
                    {"trigger_on_loop", v.on_loop},
                    {"true", v.real},
                    {"loop", links(v.loop)},
                    {"chain", links(v.chain)},
                    {"drained", v.drained}});
  }
  return list;
}

/// `1 of 2 flows has not ended (1 never began)`; empty: all have that have an end.
std::string unended(const Plan& plan, const Outcome& o) {
  std::size_t with_end = 0;
  std::size_t open = 0;
  std::size_t never = 0;
  for (std::size_t i = 0; i < o.flows.size(); ++i) {
    if (plan.flows[i].spec.octets == 0) continue;
    ++with_end;
    if (o.flows[i].fct) continue;
    ++open;
    if (!o.flows[i].start || *o.flows[i].start >= o.duration) ++never;
  }
  if (open == 0) return {};
  // More time is of use only where time is what ended the run.
  const bool by_time = !o.stopped && !o.deadlocked_at && o.duration >= plan.duration;
  return fmt::format("{} of {} {} not ended{}{}\n", open, count_text(with_end, "flow"),
                     open == 1 ? "has" : "have",
                     never != 0 ? fmt::format(" ({} never began)", never) : "",
                     by_time ? ": give a longer --duration" : "");
}

/// Stands where the flows are written: no name has a line feed after escape().
constexpr std::string_view kFlowsHere = "\n";

std::string quoted(const std::string& text) {
  const bool plain = std::ranges::all_of(
      text, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  return plain ? '"' + text + '"' : Ordered(text).dump();
}

/// As nlohmann's dump(2) has an array of objects.
void write_flows(const Plan& plan, const Outcome& o,
                 const std::function<void(std::string_view)>& write) {
  if (o.flows.empty()) return write("[]");
  fmt::memory_buffer out;
  for (std::size_t i = 0; i < o.flows.size(); ++i) {
    const FlowResult& f = o.flows[i];
    const auto number = [](const auto& v, const auto& text) {
      return v ? text(*v) : std::string("null");
    };
    out.clear();
    fmt::format_to(
        std::back_inserter(out),
        R"({}
    {{
      "name": {},
      "path": {},
      "throughput_bps": {},
      "start_ns": {},
      "fct_ns": {},
      "received_octets": {},
      "sent_again": {}
    }})",
        i == 0 ? "[" : ",", quoted(escape(flow_name(plan, plan.flows[i]))),
        quoted(path_text(plan, o, f)), f.throughput_bps,
        number(f.start, [](Picoseconds t) { return fmt::format("{}", t / kNanosecond); }),
        number(f.fct,
               [](Picoseconds t) {
                 return Ordered(static_cast<double>(t) / static_cast<double>(kNanosecond)).dump();
               }),
        f.received_octets, f.sent_again);
    write({out.data(), out.size()});
  }
  write("\n  ]");
}

}  // namespace

std::string explain(const Plan& plan, const Outcome& o) {
  std::string text;
  auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < o.verdicts.size() && i < kVerdictsShown; ++i) {
    const Verdict& v = o.verdicts[i];
    fmt::format_to(out, "deadlock {} declared at {:.3f} us by {}, priority {}: {}\n", i + 1,
                   micros(v.at), counter_of(plan, v.counter), priority_of(v.counter),
                   v.real ? "there is one" : "there is none");
    fmt::format_to(out, "  paused first: {}{}\n", counter_of(plan, v.trigger),
                   v.on_loop ? ", on the loop" : "");
    for (const Key k : v.chain)
      fmt::format_to(out, "    waits for {}{}\n", link_of(plan, k),
                     k == v.chain.back() ? ", which that stops" : "");
    if (v.chain.empty() && !v.on_loop) fmt::format_to(out, "    which sends again\n");
    fmt::format_to(out, "  loop of {}\n", counter_of(plan, v.counter));
    for (const Key k : v.loop) fmt::format_to(out, "    waits for {}\n", link_of(plan, k));
    if (v.drained != 0) fmt::format_to(out, "  {} frames drained\n", v.drained);
  }
  if (o.verdicts.size() > kVerdictsShown)
    fmt::format_to(out, "and {} more\n", o.verdicts.size() - kVerdictsShown);
  return text;
}

std::string to_json(const Plan& plan, const Outcome& o) {
  std::string text;
  write_json(plan, o, [&](std::string_view piece) { text += piece; });
  return text;
}

void write_json(const Plan& plan, const Outcome& o,
                const std::function<void(std::string_view)>& write) {
  Ordered stuck = Ordered::array();
  for (const StuckQueue& s : o.deadlock)
    stuck.push_back({{"from", s.from}, {"to", s.to}, {"priority", s.priority}});
  Ordered report = {{"version", 1},
                    {"case", escape(plan.name)},
                    {"protect", name_of(plan.settings.protection)},
                    {"flow_control", name_of(plan.settings.flow_control)},
                    {"seed", plan.settings.seed},
                    {"duration_ns", o.duration / kNanosecond},
                    {"stopped", o.stopped},
                    {"levels_agreed", o.levels_agreed},
                    {"deadlock", o.deadlocked_at.has_value()},
                    {"deadlocked_at_ns", nullptr},
                    {"deadlocks", o.deadlocks},
                    {"deadlocked_for_ns", o.deadlocked_for / kNanosecond},
                    {"longest_deadlock_ns", o.longest_deadlock / kNanosecond},
                    {"stuck", std::move(stuck)},
                    {"drops", o.count.drops},
                    {"drops_lossy", o.count.drops_lossy},
                    {"lost", o.count.lost},
                    {"discarded", o.count.discarded},
                    {"nic_drops", o.count.nic_drops},
                    {"nic_drops_turned", o.count.nic_drops_turned},
                    {"flows", kFlowsHere},
                    {"pauses", o.count.pauses},
                    {"pause_frames", o.count.pause_frames},
                    {"detections", o.count.detections},
                    {"checks", o.count.checks},
                    {"verdicts", json_of(plan, o.verdicts)},
                    {"turned", o.count.turned},
                    {"turned_lossy", o.count.turned_lossy},
                    {"ecn_marks", o.count.ecn_marks},
                    {"exposed_ns", o.exposed / kNanosecond},
                    {"unroutable", o.unroutable},
                    {"packet_hops", o.count.hops},
                    {"events", o.count.events},
                    {"pause_hops", o.count.pause_hops},
                    {"peak_headroom_octets", o.count.peak_headroom},
                    {"octets",
                     {{"sent", o.count.sent},
                      {"delivered", o.count.delivered},
                      {"dropped", o.count.dropped},
                      {"lost", o.count.lost_octets},
                      {"discarded", o.count.discarded_octets},
                      {"under_way", o.queued_octets}}},
                    {"digest", fmt::format("{:016x}", o.count.digest)}};
  if (o.deadlocked_at) report["deadlocked_at_ns"] = *o.deadlocked_at / kNanosecond;
  const std::string text = report.dump(2) + "\n";
  const std::string here = Ordered(kFlowsHere).dump();
  const std::size_t at = text.find(here);
  write(std::string_view(text).substr(0, at));
  write_flows(plan, o, write);
  write(std::string_view(text).substr(at + here.size()));
}

std::string to_text(const Plan& plan, const Outcome& o) {
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{}: protection {}, flow control {}, {:.0f} us, seed {}{}\n",
                 escape(plan.name), name_of(plan.settings.protection),
                 name_of(plan.settings.flow_control), micros(o.duration), plan.settings.seed,
                 o.stopped ? " (stopped)" : "");
  if (!o.levels_agreed) fmt::format_to(out, "the agents did not agree on all orders of ports\n");
  if (o.deadlocked_at) {
    fmt::format_to(out, "DEADLOCK at {:.0f} us, {:.0f} us in all: these wait for each other\n",
                   micros(*o.deadlocked_at), micros(o.deadlocked_for));
    for (const StuckQueue& s : o.deadlock)
      fmt::format_to(out, "  {} -> {} priority {}\n", s.from, s.to, s.priority);
  } else {
    fmt::format_to(out, "no deadlock{}\n", o.stopped ? " until it was stopped" : "");
  }
  text += unended(plan, o);
  fmt::format_to(out, "{} drops, {} lost on links, {} pauses, {} detections", o.count.drops,
                 o.count.lost, o.count.pauses, o.count.detections);
  if (o.count.discarded != 0) fmt::format_to(out, ", {} thrown away", o.count.discarded);
  fmt::format_to(out, "\n{} packet-hops, {} packets changed class\n", o.count.hops, o.count.turned);
  if (plan.settings.nic.on)
    fmt::format_to(out, "{} frames lost at NICs of hosts, {} of them turned\n", o.count.nic_drops,
                   o.count.nic_drops_turned);
  if (o.unroutable != 0)
    fmt::format_to(out, "{} a flow had no way on, and stayed on the one it had\n",
                   count_text(o.unroutable, "time"));
  if (o.exposed != 0)
    fmt::format_to(out, "{:.0f} us with a link up whose order was unknown\n", micros(o.exposed));
  for (std::size_t i = 0; i < o.flows.size() && i < kFlowsShown; ++i) {
    const FlowResult& f = o.flows[i];
    fmt::format_to(out, "  {:<10} {:>8.3f} Gb/s  ", escape(flow_name(plan, plan.flows[i])),
                   gbps(f.throughput_bps));
    if (f.fct) fmt::format_to(out, "done in {:.3f} us  ", micros(*f.fct));
    fmt::format_to(out, "{}\n", path_text(plan, o, f));
  }
  if (o.flows.size() > kFlowsShown)
    fmt::format_to(out, "  and {} more flows\n", o.flows.size() - kFlowsShown);
  return text;
}

}  // namespace lldp::lab::packets
