// SPDX-License-Identifier: Apache-2.0
#include "lab/collect/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace lldp::lab::collect {
namespace {

std::size_t count(const Fabric& fabric, Role role) {
  return static_cast<std::size_t>(std::count_if(fabric.nodes.begin(), fabric.nodes.end(),
                                                [&](const Node& n) { return n.role == role; }));
}

}  // namespace

std::string to_text(const Collection& c) {
  const auto problems = static_cast<std::size_t>(
      std::count_if(c.findings.begin(), c.findings.end(),
                    [](const CollectedProblem& f) { return f.is_problem(); }));
  std::string out = fmt::format(
      "{} devices told of themselves: {} switches, {} hosts, {} links, {} of them from both ends\n",
      c.devices_told, count(c.fabric, Role::kSwitch), count(c.fabric, Role::kHost),
      c.fabric.links.size(), c.two_sided);
  for (const CollectedProblem& f : c.findings) {
    std::string where = f.device;
    if (!f.port.empty()) where += ":" + f.port;
    out += fmt::format("{} {:<12} {}: {}\n", f.is_problem() ? "problem" : "note   ",
                       to_string(f.kind), where, f.text);
  }
  if (c.devices_told == 0) return out + "No device told anything: there is nothing to prove.\n";
  out += problems == 0 ? std::string("Nothing is missing, and the ends of all links agree.\n")
                       : fmt::format("{} problem{}: what is proved of this fabric is in doubt.\n",
                                     problems, problems == 1 ? "" : "s");
  return out;
}

Marks marks_of(const Collection& c) {
  std::map<std::string, std::size_t> nodes;
  for (std::size_t n = 0; n < c.fabric.nodes.size(); ++n)
    nodes.emplace(escape(c.fabric.nodes[n].name), n);
  std::map<std::pair<std::size_t, std::string>, std::size_t> links;
  for (std::size_t l = 0; l < c.fabric.links.size(); ++l)
    for (const LinkEnd& end : c.fabric.links[l].ends)
      links.emplace(std::pair(end.node, escape(end.port)), l);
  Marks marks;
  const auto add = [](std::map<std::size_t, std::string>& to, std::size_t at,
                      const CollectedProblem& f) {
    std::string& text = to[at];
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", to_string(f.kind), f.text);
  };
  for (const CollectedProblem& f : c.findings) {
    const auto node = nodes.find(f.device);
    if (!f.is_problem() || node == nodes.end()) continue;
    const auto link = links.find({node->second, f.port});
    if (link != links.end())
      add(marks.doubtful_links, link->second, f);
    else
      add(marks.doubtful_nodes, node->second, f);
  }
  return marks;
}

std::string to_json(const Collection& c) {
  using Ordered = nlohmann::ordered_json;
  Ordered findings = Ordered::array();
  for (const CollectedProblem& f : c.findings)
    findings.push_back({{"code", to_string(f.kind)},
                        {"problem", f.is_problem()},
                        {"device", f.device},
                        {"port", f.port},
                        {"text", f.text}});
  const Ordered report = {{"version", 1},
                          {"fabric", escape(c.fabric.name)},
                          {"devices", c.devices_told},
                          {"switches", count(c.fabric, Role::kSwitch)},
                          {"hosts", count(c.fabric, Role::kHost)},
                          {"links", c.fabric.links.size()},
                          {"links_from_both_ends", c.two_sided},
                          {"complete", !c.has_problems() && c.devices_told > 0},
                          {"findings", std::move(findings)}};
  return report.dump(2, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

}  // namespace lldp::lab::collect
