// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/expanders.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "lab/topology/forwarding.hpp"
#include "lab/topology/graph.hpp"
#include "lab/topology/json.hpp"
#include "qos/proof.hpp"

namespace lldp::lab {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
std::string refusal(const Result<T>& r) {
  return r ? "" : to_string(r.error());
}

/// Ports to other switches, by layer, of every switch; and that no two links join the same pair.
std::vector<std::map<unsigned, std::size_t>> ports_by_layer(const Fabric& fabric) {
  std::vector<std::map<unsigned, std::size_t>> ports(fabric.nodes.size());
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  for (const Link& link : fabric.links) {
    const auto& [a, b] = link.ends;
    EXPECT_TRUE(pairs.insert(std::minmax(a.node, b.node)).second);
    if (!a.layer) continue;
    EXPECT_EQ(a.layer->value() + 1, b.layer->value());
    for (const LinkEnd& end : link.ends) ++ports[end.node][end.layer->value()];
  }
  return ports;
}

TEST(FcPlus, ChoosesVAsThePaperDoes) {
  for (const auto& [s, v, k, group] :
       {std::tuple{18U, 4U, 10U, 4U}, std::tuple{22U, 4U, 12U, 5U}, std::tuple{10U, 3U, 6U, 4U},
        // 11 layers are not to be shared by 3 groups, nor by any number but 11.
        std::tuple{24U, 13U, 13U, 1U}}) {
    const auto p = fcplus_parameters({.switches = 400, .ports = s});
    ASSERT_TRUE(p) << to_string(p.error());
    EXPECT_EQ(p->virtual_switches, v);
    EXPECT_EQ(p->layers, k);
    EXPECT_EQ(p->group_layers, group);
  }
}

TEST(FcPlus, WiresEveryVirtualSwitchHalfUpHalfDown) {
  const auto fabric = fcplus({.switches = 40, .ports = 18, .hosts_per_switch = 0});
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  EXPECT_EQ(fabric->links.size(), 40 * 9);
  std::map<unsigned, std::size_t> on_layer;
  for (const auto& ports : ports_by_layer(*fabric)) {
    ASSERT_EQ(ports.size(), 4);
    EXPECT_EQ(ports.at(1), 1);
    EXPECT_EQ(ports.at(10), 1);
    for (const auto& [layer, count] : ports) ++on_layer[layer];
    const auto inner = std::next(ports.begin());
    EXPECT_LE(inner->first, 5);
    EXPECT_GE(std::next(inner)->first, 6);
    EXPECT_EQ(inner->second, 8);
  }
  for (unsigned layer = 2; layer <= 9; ++layer) EXPECT_EQ(on_layer[layer], 10);
  std::map<unsigned, std::size_t> between;
  for (const Link& link : fabric->links) ++between[link.ends[0].layer->value()];
  for (unsigned l = 1; l <= 9; ++l) EXPECT_EQ(between[l], 40);
}

TEST(FcPlus, KeepsItsLayersInAFile) {
  const auto fabric = fcplus({.switches = 20, .ports = 10});
  ASSERT_TRUE(fabric);
  const auto again = fabric_from_json(to_json(*fabric));
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(*again, *fabric);
}

TEST(FcPlus, IsFreeOfDeadlockWithTwoPrioritiesAndNotWithoutRules) {
  const auto fabric = fcplus({.switches = 40, .ports = 10});
  ASSERT_TRUE(fabric);
  const auto graph = switch_graph(*fabric, Span::kLayers);
  ASSERT_TRUE(graph);
  EXPECT_TRUE(prove(graph->forwarding, qos::Policy()).deadlock_free());
  EXPECT_FALSE(prove(graph->forwarding, qos::Policy(), qos::OnTurn::kStays).deadlock_free());
}

TEST(FcPlus, TheSameSeedGivesTheSameFabric) {
  EXPECT_EQ(to_json(*fcplus({.switches = 20, .ports = 10, .seed = 7})),
            to_json(*fcplus({.switches = 20, .ports = 10, .seed = 7})));
  EXPECT_NE(to_json(*fcplus({.switches = 20, .ports = 10, .seed = 7})),
            to_json(*fcplus({.switches = 20, .ports = 10, .seed = 8})));
}

TEST(Expanders, RefuseWhatCannotBeAndNameTheNearest) {
  EXPECT_THAT(refusal(fcplus({.switches = 100, .ports = 17})),
              HasSubstr("nearest that can be wired is 18"));
  EXPECT_THAT(refusal(fcplus({.switches = 18, .ports = 18})), HasSubstr("need 19 switches"));
  EXPECT_THAT(refusal(fcplus({.switches = 102, .ports = 18})), HasSubstr("100 or 104 do"));
  EXPECT_THAT(refusal(fcplus({.switches = 100, .ports = 18}, 5)),
              HasSubstr("into 3, 4, 6, 10 virtual switches"));
  EXPECT_THAT(refusal(fcplus({.switches = 100, .ports = 64})), HasSubstr("60 ports"));
  EXPECT_THAT(refusal(fc({.switches = 100, .ports = 18}, {3, 3})), HasSubstr("take 12 ports"));
  EXPECT_THAT(refusal(fc_degrees({.switches = 100, .ports = 18}, 11)), HasSubstr("2 to 10 layers"));
  EXPECT_THAT(refusal(jellyfish({.switches = 300'000, .ports = 4})), HasSubstr("at most 200000"));
}

TEST(Fc, ChoosesLayersAndDegreesAsPublished) {
  const auto degrees = [](std::size_t n, std::size_t s) {
    return *fc_degrees({.switches = n, .ports = s});
  };
  EXPECT_THAT(degrees(300, 18), ElementsAre(3, 3, 3));
  EXPECT_THAT(degrees(400, 18), ElementsAre(2, 2, 2, 3));
  EXPECT_THAT(degrees(120, 22), ElementsAre(3, 4, 4));
  const auto fabric = fc({.switches = 60, .ports = 18, .hosts_per_switch = 0}, {2, 2, 2, 3});
  ASSERT_TRUE(fabric);
  EXPECT_THAT(ports_by_layer(*fabric),
              Each(ElementsAre(testing::Pair(1, 2), testing::Pair(2, 4), testing::Pair(3, 4),
                               testing::Pair(4, 5), testing::Pair(5, 3))));
}

TEST(Jellyfish, IsRegularAndSimple) {
  const auto fabric = jellyfish({.switches = 50, .ports = 8, .hosts_per_switch = 2});
  ASSERT_TRUE(fabric);
  ports_by_layer(*fabric);
  const auto links_of = adjacencies(*fabric);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(links_of[i].size(), 10);
}

TEST(Graph, HasEveryLinkTwiceAndTheRulesTurns) {
  const auto fabric = fcplus({.switches = 12, .ports = 4});
  ASSERT_TRUE(fabric);
  const Graph graph = Graph::of(*fabric);
  EXPECT_EQ(graph.arcs(), 2 * fabric->links.size());
  std::size_t hops = 0;
  for (std::size_t n = 0; n < graph.nodes(); ++n) hops += graph.hops(n).size();
  EXPECT_EQ(hops, graph.arcs());
  for (Arc in = 0; in < graph.arcs(); ++in)
    for (Arc out = 0; out < graph.arcs(); ++out) {
      const auto span = [&](Arc arc) {
        return *port_class_of(*fabric, fabric->links[arc / 2], arc % 2, Span::kLayers);
      };
      EXPECT_EQ(graph.turns(graph.in_class(in), graph.out_class(out)),
                qos::turns(span(reversed(in)), span(out)));
    }
  EXPECT_FALSE(graph.forwards(12));  // a host
}

}  // namespace
}  // namespace lldp::lab
