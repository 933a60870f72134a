// SPDX-License-Identifier: Apache-2.0
#include "sim/bounce/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lldp::lab::bounce {
namespace {

constexpr std::size_t kShownProblems = 5;

std::string name_of(BounceMode mode) { return mode == BounceMode::kRouted ? "routed" : "bridged"; }

std::string port_of(const Fabric& fabric, const Adjacency& a) {
  const Link& link = fabric.links[a.link];
  return fmt::format("{} ({})", link.ends[a.own_end].port,
                     to_string(true_order(fabric, link, a.own_end)));
}

/// The distinct values of something in the pairs of a hop, `43->51 51->0`.
template <class Value>
std::string arrows(const Hop& hop, Value value) {
  std::vector<std::string> found;
  for (const auto& [in, out] : hop.seen) {
    const auto text = value(in, out);
    if (!text.empty() && std::find(found.begin(), found.end(), text) == found.end())
      found.push_back(text);
  }
  return fmt::format("{}", fmt::join(found, " "));
}

std::string dscps(const Hop& hop) {
  return arrows(hop, [](const Marking& in, const Marking& out) {
    return fmt::format("{}->{}", in.dscp.value(), out.dscp.value());
  });
}
std::string pcps(const Hop& hop) {
  return arrows(hop, [](const Marking& in, const Marking& out) {
    return in.pcp && out.pcp ? fmt::format("{}->{}", in.pcp->value(), out.pcp->value()) : "";
  });
}
bool ecn_kept(const Hop& hop) {
  return std::all_of(hop.seen.begin(), hop.seen.end(),
                     [](const auto& pair) { return pair.first.ecn == pair.second.ecn; });
}

std::string cut_text(const NamedCase& s) {
  std::string text;
  for (std::size_t i = 0; i < s.failed.size(); ++i) {
    if (!s.failed[i]) continue;
    const auto& [low, high] = s.fabric.links[i].ends;
    text += fmt::format("{}{}-{}", text.empty() ? "" : ", ", s.fabric.nodes[high.node].name,
                        s.fabric.nodes[low.node].name);
  }
  return text;
}

std::string problems_text(const std::vector<std::string>& problems) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kShownProblems, problems.size()); ++i)
    text += fmt::format("    {}\n", problems[i]);
  if (problems.size() > kShownProblems)
    text += fmt::format("    and {} more\n", problems.size() - kShownProblems);
  return text;
}

std::string flow_line(const Fabric& fabric, const FlowResult& f) {
  std::string text =
      fmt::format("{:<9} {}: {} packets, ", f.flow, switches_of(fabric, f.path), f.sent);
  if (f.remarked == 0) {
    text += f.as_sent == f.sent ? "all as they were sent" : fmt::format("{} arrived", f.as_sent);
  } else {
    text += fmt::format("{} remarked, {} as they were sent", f.remarked, f.as_sent);
  }
  return text + "\n";
}

std::string hop_table(const Fabric& fabric, const FlowResult& f, BounceMode mode) {
  std::string text = fmt::format("  {:<8} {:<12} {:<12} {:<14} {:<5} {}\n", "switch", "in", "out",
                                 "DSCP", "ECN", mode == BounceMode::kBridged ? "PCP" : "");
  while (text.ends_with(" \n")) text.erase(text.size() - 2, 1);
  for (const Hop& hop : f.hops) {
    std::string line =
        fmt::format("  {:<8} {:<12} {:<12} {:<14} {:<5} {:<10}{}", fabric.nodes[hop.node].name,
                    port_of(fabric, hop.in), port_of(fabric, hop.out), dscps(hop),
                    ecn_kept(hop) ? "kept" : "LOST", pcps(hop), hop.turn ? "<- turns" : "");
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::size_t packets(const Outcome& o) {
  std::size_t n = 0;
  for (const auto* flows : {&o.before, &o.after})
    for (const FlowResult& f : *flows) n += f.sent;
  return n;
}

std::string verdict_text(const Outcome& o) {
  if (!o.turned()) return "FAILED: no path turned down-up, and so nothing is shown\n";
  if (!o.holds()) return "FAILED: not every packet left every hop as it must\n";
  return fmt::format(
      "holds: of {} packets, seen at every hop, exactly those that turned were remarked, where\n"
      "they turned, once per turn; ECN, checksums and every other octet as sent\n",
      packets(o));
}

}  // namespace

std::string to_text(const NamedCase& s, const qos::Policy& policy, BounceMode mode,
                    const Outcome& o) {
  std::string text =
      fmt::format("{} {}, backend {}: {} agents ready after {:.2f} s; lossless {}, lossy {}\n",
                  s.name, name_of(mode), o.backend, s.fabric.nodes.size(), o.ready_seconds,
                  policy.lossless_text(), policy.lossy_text());
  for (const FlowResult& f : o.before) text += flow_line(s.fabric, f) + problems_text(f.problems);
  text += fmt::format("cut: {}\n", cut_text(s));
  for (const FlowResult& f : o.after) {
    text += flow_line(s.fabric, f);
    if (std::any_of(f.hops.begin(), f.hops.end(), [](const Hop& h) { return h.turn; }))
      text += hop_table(s.fabric, f, mode);
    text += problems_text(f.problems);
  }
  text +=
      o.miscounts.empty()
          ? fmt::format("`lldp-level rules` of the switches: {} packets bounced, as seen\n",
                        o.turns)
          : "`lldp-level rules` of the switches counts otherwise:\n" + problems_text(o.miscounts);
  if (o.restarts)
    text += fmt::format(
        "{} agent restarts on {} and beside it on {} (half by SIGKILL) under {:.0f} packets/s for "
        "{:.1f} s: {} packets "
        "arrived, {} with a wrong priority\n",
        o.restarts->restarts, fmt::join(o.restarts->switches, ", "),
        fmt::join(o.restarts->neighbors, ", "),
        static_cast<double>(o.restarts->sent) / o.restarts->seconds, o.restarts->seconds,
        o.restarts->right + o.restarts->wrong, o.restarts->wrong);
  return text + verdict_text(o);
}

std::string to_json(const NamedCase& s, const qos::Policy& policy, BounceMode mode,
                    const Outcome& o) {
  using Json = nlohmann::ordered_json;
  const auto flows = [&](const std::vector<FlowResult>& results) {
    Json list = Json::array();
    for (const FlowResult& f : results) {
      Json path = Json::array();
      for (const std::size_t node : f.path.nodes) path.push_back(s.fabric.nodes[node].name);
      Json hops = Json::array();
      for (const Hop& hop : f.hops) {
        Json seen = Json::array();
        for (const auto& [in, out] : hop.seen) {
          Json pair{{"dscp", {in.dscp.value(), out.dscp.value()}}, {"ecn", {in.ecn, out.ecn}}};
          if (in.pcp && out.pcp) pair["pcp"] = {in.pcp->value(), out.pcp->value()};
          seen.push_back(std::move(pair));
        }
        const auto port = [&](const Adjacency& a) {
          const Link& link = s.fabric.links[a.link];
          return Json{{"name", link.ends[a.own_end].port},
                      {"order", to_string(true_order(s.fabric, link, a.own_end))}};
        };
        hops.push_back({{"switch", s.fabric.nodes[hop.node].name},
                        {"in", port(hop.in)},
                        {"out", port(hop.out)},
                        {"turn", hop.turn},
                        {"seen", std::move(seen)}});
      }
      list.push_back({{"flow", f.flow},
                      {"path", std::move(path)},
                      {"sent", f.sent},
                      {"as_sent", f.as_sent},
                      {"remarked", f.remarked},
                      {"hops", std::move(hops)},
                      {"problems", f.problems}});
    }
    return list;
  };
  Json j{{"scenario", s.name},           {"mode", name_of(mode)},
         {"backend", o.backend},         {"lossless", policy.lossless_text()},
         {"lossy", policy.lossy_text()}, {"ready_seconds", o.ready_seconds},
         {"before", flows(o.before)},    {"cut", cut_text(s)},
         {"after", flows(o.after)},      {"turns", o.turns},
         {"miscounts", o.miscounts},     {"holds", o.holds()}};
  if (o.restarts)
    j["restarts"] = {{"flow", o.restarts->flow},           {"switches", o.restarts->switches},
                     {"neighbors", o.restarts->neighbors}, {"restarts", o.restarts->restarts},
                     {"seconds", o.restarts->seconds},     {"sent", o.restarts->sent},
                     {"right", o.restarts->right},         {"wrong", o.restarts->wrong}};
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lldp::lab::bounce
