// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "lab/topology/generators.hpp"
#include "sim/packets/plan.hpp"

namespace lldp::lab::packets {
namespace {

/// A figure in words: switches, cables as `lower upper`, a host on every switch named after it, and
/// flows as the names of their ends and the switches that they are to take where they may choose.
struct Sketch {
  std::string_view name{};
  std::vector<std::string> switches{};
  std::vector<std::pair<std::string, std::string>> cables{};
  std::vector<std::pair<std::string, std::string>> hosts{};  ///< and what each hangs on
  std::vector<std::string> failed{};
  struct Sent {
    std::string name{};
    std::string from{};
    std::string to{};
    std::vector<std::string> via{};
    std::uint64_t gbps = 0;  ///< 0: as fast as its link
  };
  std::vector<Sent> flows{};
  std::string storm{};    ///< a host that stops its switch nine parts in ten, from 100 us on
  bool fat_tree = false;  ///< k = 4, instead of the switches, cables and hosts
};

using Names = std::vector<std::string>;
using Pairs = std::vector<std::pair<std::string, std::string>>;
const Names kFigure3Switches = {"S1", "S2", "S4",  "S5",  "S6",  "S7",
                                "S8", "S9", "S9b", "S9c", "S10", "S11"};
const Pairs kFigure3Cables = {{"S4", "S1"},  {"S4", "S2"}, {"S5", "S1"},  {"S5", "S2"},
                              {"S6", "S1"},  {"S6", "S2"}, {"S7", "S1"},  {"S7", "S2"},
                              {"S8", "S4"},  {"S9", "S5"}, {"S9b", "S5"}, {"S9c", "S5"},
                              {"S10", "S6"}, {"S11", "S7"}};
const Pairs kFigure3Hosts = {{"h8", "S8"},   {"h9", "S9"},    {"h9b", "S9b"},  {"h9c", "S9c"},
                             {"h10", "S10"}, {"h10b", "S10"}, {"h10c", "S10"}, {"h11", "S11"}};

const Sketch kFigures[] = {
    // The trigger is a switch of the loop S1, S5, S2, S4.
    {.name = "itsy-fig2",
     .switches = {"S1", "S2", "S3", "S4", "S5", "S6"},
     .cables = {{"S3", "S1"},
                {"S3", "S2"},
                {"S4", "S1"},
                {"S4", "S2"},
                {"S5", "S1"},
                {"S5", "S2"},
                {"S6", "S1"},
                {"S6", "S2"}},
     .hosts = {{"h3", "S3"}, {"h4a", "S4"}, {"h4b", "S4"}, {"h5", "S5"}, {"h6", "S6"}},
     .failed = {"S1-S6", "S2-S3"},
     .flows = {{"f1", "h4a", "h6", {"S1", "S5"}, 0},
               {"f2", "h4b", "h6", {"S1", "S5"}, 0},
               {"f3", "h5", "h3", {"S2", "S4"}, 0}}},
    // The trigger is S10, whose host gets more than its link carries, out of the loop S2, S4, S1,
    // S5. The loop alone would carry what it has to.
    {.name = "itsy-fig3",
     .switches = kFigure3Switches,
     .cables = kFigure3Cables,
     .hosts = kFigure3Hosts,
     .failed = {"S2-S7", "S1-S6"},
     .flows = {{"f1", "h9", "h11", {"S5", "S2", "S4", "S1"}, 20},
               {"f2", "h9b", "h11", {"S5", "S2", "S4", "S1"}, 20},
               {"f3", "h8", "h10", {"S4", "S1", "S5", "S2"}, 40},
               {"f5", "h9c", "h10", {"S5", "S2"}, 0},
               {"f6", "h10b", "h10", {}, 0},
               {"f7", "h10c", "h10", {}, 0}}},
    // S7 hears of S1 from S5 and from S6, and nothing is deadlocked.
    {.name = "itsy-fig4",
     .switches = {"S4", "S1", "S5", "S6", "S7", "S8", "S9"},
     .cables = {{"S1", "S4"},
                {"S5", "S4"},
                {"S6", "S4"},
                {"S7", "S5"},
                {"S7", "S6"},
                {"S8", "S1"},
                {"S9", "S1"}},
     .hosts = {{"h7a", "S7"}, {"h7b", "S7"}, {"h8", "S8"}, {"h9", "S9"}},
     .failed = {},
     .flows = {{"f1", "h7a", "h8", {"S5"}, 0},
               {"f2", "h7b", "h8", {"S6"}, 0},
               {"f3", "h9", "h8", {}, 0}}},
    // Figure 5: the loop of Figure 3, and a host out of it that stops its switch.
    {.name = "itsy-fig5",
     .switches = kFigure3Switches,
     .cables = kFigure3Cables,
     .hosts = kFigure3Hosts,
     .failed = {"S2-S7", "S1-S6"},
     .flows = {{"f1", "h9", "h11", {"S5", "S2", "S4", "S1"}, 20},
               {"f2", "h9b", "h11", {"S5", "S2", "S4", "S1"}, 20},
               {"f3", "h8", "h10", {"S4", "S1", "S5", "S2"}, 40}},
     .storm = "h10"},
    // Its testbed: two links of a fat-tree have failed, and what goes down to them turns at agg1
    // and
    // agg3. The loop is core1, agg1, core2, agg3; its own congestion is the trigger.
    {.name = "itsy-fattree",
     .failed = {"agg1-edge1", "agg3-edge3"},
     .flows = {{"f1", "host9", "host1", {"agg5", "core1", "agg1", "core2", "agg3"}, 0},
               {"f2", "host13", "host2", {"agg7", "core1", "agg1", "core2", "agg3"}, 0},
               {"f3", "host10", "host5", {"agg5", "core2", "agg3", "core1", "agg1"}, 0},
               {"f4", "host14", "host6", {"agg7", "core2", "agg3", "core1", "agg1"}, 0}},
     .fat_tree = true},
    // The same loop, which would carry what it gets, were it not for a host out of it.
    {.name = "itsy-fattree-storm",
     .failed = {"agg1-edge1", "agg3-edge3"},
     .flows = {{"f1", "host9", "host1", {"agg5", "core1", "agg1", "core2", "agg3"}, 40},
               {"f2", "host10", "host5", {"agg5", "core2", "agg3", "core1", "agg1"}, 20},
               {"f3", "host14", "host6", {"agg7", "core2", "agg3", "core1", "agg1"}, 20}},
     .storm = "host1",
     .fat_tree = true},
};

}  // namespace

Result<Plan> plan_of_figure(std::string_view name) {
  for (const Sketch& s : kFigures) {
    if (s.name != name) continue;
    Plan plan{.name = std::string(name)};
    plan.settings.protection = ProtectionScheme::kItsy;
    std::map<std::string, std::size_t> index;
    std::map<std::string, int> ports;
    const auto add = [&](const std::string& node, Role role) {
      index[node] = plan.fabric.nodes.size();
      plan.fabric.nodes.push_back({.name = node, .role = role});
    };
    const auto cable = [&](const std::string& lower, const std::string& upper) {
      const auto end = [&](const std::string& node) {
        return LinkEnd{index[node], "swp" + std::to_string(++ports[node])};
      };
      plan.fabric.links.push_back({.ends = {end(lower), end(upper)}});
    };
    if (s.fat_tree) {
      plan.fabric = *fat_tree(4);
      for (std::size_t n = 0; n < plan.fabric.nodes.size(); ++n)
        index[plan.fabric.nodes[n].name] = n;
    } else {
      for (const std::string& node : s.switches) add(node, Role::kSwitch);
      for (const auto& [lower, upper] : s.cables) cable(lower, upper);
      for (const auto& [host, leaf] : s.hosts) {
        add(host, Role::kHost);
        cable(host, leaf);
      }
      auto whole = complete(std::move(plan.fabric));
      if (!whole) return fail(whole.error());
      plan.fabric = std::move(*whole);
    }
    if (!s.storm.empty()) plan.storms = {{.host = index[s.storm], .from = 100 * kMicrosecond}};
    const auto failed = failed_links(plan.fabric, s.failed);
    if (!failed) return fail(failed.error());
    plan.failed = *failed;
    for (const auto& [flow, from, to, via, gbps] : s.flows) {
      lab::FlowPath way{.name = {flow}, .from = index[from], .to = index[to]};
      for (const std::string& node : via) way.via.push_back(index[node]);
      plan.flows.push_back({.spec = {.rate_bps = gbps * 1'000'000'000}, .way = std::move(way)});
    }
    return plan;
  }
  return fail(Error{0, std::string(name), "no such figure"});
}

}  // namespace lldp::lab::packets
