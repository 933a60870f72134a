// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/server_fabrics.hpp"

#include <gmock/gmock.h>

#include "lab/topology/dot.hpp"
#include "lab/topology/forwarding.hpp"
#include "lab/topology/json.hpp"
#include "qos/proof.hpp"

namespace lldp::lab {
namespace {

using testing::HasSubstr;

template <class T>
std::string refusal_of(const Result<T>& r) {
  return r ? "" : to_string(r.error());
}

TEST(Ndc, JoinsServersThatDifferInOneDigit) {
  const auto fabric = ndc(3, 2);
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  EXPECT_EQ(fabric->nodes.size(), 27 + 3 * 9);
  const auto links_of = adjacencies(*fabric);
  for (std::size_t i = 0; i < fabric->nodes.size(); ++i) {
    const Node& node = fabric->nodes[i];
    EXPECT_EQ(links_of[i].size(), 3);
    EXPECT_EQ(node.relays, node.role == Role::kHost);
    if (node.role == Role::kHost) continue;
    const auto layer = static_cast<std::size_t>(node.name[2] - '0');
    for (const Adjacency& a : links_of[i])
      for (const Adjacency& b : links_of[i]) {
        std::string one = fabric->nodes[a.peer].name;
        std::string other = fabric->nodes[b.peer].name;
        one[6 - layer] = other[6 - layer] = '*';  // node012: its last digit is layer 0's
        EXPECT_EQ(one, other);
      }
  }
}

TEST(Ndc, RelaysAreKeptInFilesAndCount) {
  const auto fabric = ndc(2, 1);
  ASSERT_TRUE(fabric);
  EXPECT_EQ(*fabric_from_json(to_json(*fabric)), *fabric);
  EXPECT_EQ(fabric_from_dot(to_dot(*fabric))->nodes, fabric->nodes);
  const auto graph = switch_graph(*fabric, Span::kLevels);
  EXPECT_EQ(graph->forwarding.switches.size(), 8);
  EXPECT_FALSE(prove(graph->forwarding, qos::Policy(), qos::OnTurn::kStays).deadlock_free());
  // A host's agent has no rules for what passes through.
  for (const auto& link : graph->forwarding.links)
    EXPECT_EQ(std::min(link.at_a.order, link.at_b.order), Order::kUnknown);
  EXPECT_FALSE(prove(graph->forwarding, qos::Policy()).deadlock_free());
}

TEST(Ndc, RefusesRelaysThatAreNeitherTrueNorFalse) {
  const auto read = [](const std::string& relays) {
    return refusal_of(fabric_from_json(R"({"nodes": [{"id": "h1", "role": "host", "relays": )" +
                                       relays + R"(}], "links": []})"));
  };
  for (const char* bad : {R"("yes")", "1", R"("True")", "[true]", "{}", R"("")"})
    EXPECT_EQ(read(bad), "h1: relays is not true or false") << bad;
  for (const char* good : {"true", "false", "null"}) EXPECT_EQ(read(good), "") << good;
  EXPECT_EQ(
      refusal_of(fabric_from_json(R"({"nodes": [{"id": "h1", "role": ["host"]}], "links": []})")),
      "h1: role is not host or switch");
}

TEST(Ndc, RefusesWithTheNearest) {
  EXPECT_THAT(refusal_of(ndc(2, 40)), HasSubstr("the largest is NDC(2, 13)"));
  EXPECT_THAT(refusal_of(ndc(4, 0)), HasSubstr("k = 1"));
  EXPECT_THAT(refusal_of(ndc(1, 1)), HasSubstr("2 to 36 ports"));
}

TEST(Rails, JoinAcceleratorsOfEqualRank) {
  const auto only = rails({.domains = 3, .rails = 4});
  ASSERT_TRUE(only);
  EXPECT_EQ(only->nodes.size(), 4 + 3 + 12);
  EXPECT_EQ(only->links.size(), 24);
  const auto optimized = rails({.domains = 3, .rails = 4, .spines = 2});
  ASSERT_TRUE(optimized);
  EXPECT_EQ(optimized->links.size(), 24 + 8);
  EXPECT_EQ(optimized->nodes[2].level, Level::of<1>());  // a rail
  EXPECT_EQ(optimized->nodes[0].level, Level::of<2>());  // a spine
  EXPECT_THAT(refusal_of(rails({.domains = 1})), HasSubstr("at least 2 of 2"));
}

TEST(ClosLike, IsThePublishedOne) {
  const auto p = clos_like_parameters(120, 1200);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->hosts_per_tor, 21);
  EXPECT_EQ(p->tors, 58);
  EXPECT_EQ(p->aggs, 44);
  EXPECT_EQ(p->cores, 22);
  const auto fabric = clos_like(120, 1200);
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  const auto links_of = adjacencies(*fabric);
  for (std::size_t i = 0; i < 124; ++i) EXPECT_LE(links_of[i].size(), 32) << i;
  for (std::size_t i = 0; i < 22; ++i) EXPECT_EQ(links_of[i].size(), 32);  // cores
}

TEST(ClosLike, HasACountOfSwitchesAtLeastAsNearAsAnyOther) {
  for (const std::size_t switches : {1U, 40U, 120U, 500U})
    for (const std::size_t hosts : {1U, 31U, 300U, 1200U}) {
      const auto p = clos_like_parameters(switches, hosts);
      ASSERT_TRUE(p) << switches << " " << hosts;
      const auto away = [&](std::size_t count) {
        return count > switches ? count - switches : switches - count;
      };
      for (std::size_t h = 1; h < 32; ++h) {
        const std::size_t tors = (hosts + h - 1) / h;
        const std::size_t pods = (tors + 15) / 16;
        const std::size_t aggs = pods * (32 - h);
        const std::size_t cores = (aggs + 1) / 2;
        if (pods > 32 || (pods > 1 && cores < 16)) continue;
        EXPECT_LE(away(p->switches()), away(tors + aggs + cores)) << switches << " " << hosts;
      }
    }
}

}  // namespace
}  // namespace lldp::lab
