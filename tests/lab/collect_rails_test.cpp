// SPDX-License-Identifier: Apache-2.0
// The rails of a whole fabric, as its devices tell them, against what most hosts do.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "lab/collect/rails.hpp"

namespace lldp::lab::collect {
namespace {

using cabling::RailDesign;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

/// Pods of hosts with `nics` NICs each. NIC k of each host of a pod leads to leaf k of the pod, all
/// NICs of host h to port h; or, of one leaf for each host, all NICs to the leaf.
struct Railed {
  explicit Railed(std::size_t pods = 2, std::size_t hosts = 6, std::size_t nics = 4,
                  bool one_leaf = false) {
    for (std::size_t p = 0; p < pods; ++p) {
      const std::size_t first_leaf = fabric.nodes.size();
      for (std::size_t k = 0; k < nics; ++k)
        fabric.nodes.push_back({.name = name("leaf", p, k), .role = Role::kSwitch});
      for (std::size_t h = 0; h < hosts; ++h) {
        const std::size_t host = fabric.nodes.size();
        fabric.nodes.push_back({.name = name("host", p, h), .role = Role::kHost});
        for (std::size_t k = 0; k < nics; ++k) {
          const std::size_t leaf = first_leaf + (one_leaf ? h % nics : k);
          const std::size_t port = one_leaf ? h * nics + k : h;
          Link link;
          link.ends[0] = {.node = host, .port = "eth" + std::to_string(k)};
          link.ends[1] = {.node = leaf, .port = "swp" + std::to_string(port)};
          fabric.links.push_back(std::move(link));
        }
      }
    }
  }
  static std::string name(const char* kind, std::size_t pod, std::size_t number) {
    return kind + std::to_string(pod) + "-" + std::to_string(number);
  }
  void exchange(std::size_t a, std::size_t b) {
    std::swap(fabric.links[a].ends[1], fabric.links[b].ends[1]);
  }
  [[nodiscard]] RailCheck check(std::optional<RailDesign> design = {}) const {
    return check_rails(fabric, {}, design);
  }
  [[nodiscard]] std::string plug(std::size_t link, std::size_t end) const {
    const LinkEnd& at = fabric.links[link].ends[end];
    return fabric.nodes[at.node].name + ":" + at.port;
  }
  Fabric fabric{};
};

TEST(Rails, OfARightFabricAreLearnedAndNothingIsFound) {
  const RailCheck rails = Railed().check();
  EXPECT_EQ(rails.hosts, 12U);
  EXPECT_THAT(rails.designs, ElementsAre(RailDesign::kDistinctLeaf, RailDesign::kPortNumber));
  EXPECT_THAT(rails.findings, IsEmpty());
  EXPECT_TRUE(rails.is_right());
  const RailCheck one_leaf = Railed(2, 8, 4, true).check();
  EXPECT_THAT(one_leaf.designs, ElementsAre(RailDesign::kSameLeaf));
  EXPECT_THAT(one_leaf.findings, IsEmpty());
}

TEST(Rails, OfWhichNothingWasComparedAreNotRight) {
  const RailCheck one_nic = Railed(2, 6, 1).check(RailDesign::kDistinctLeaf);
  EXPECT_EQ(one_nic.hosts, 0U);
  EXPECT_FALSE(one_nic.is_right());
  const RailCheck one_host = Railed(1, 1, 4).check();
  EXPECT_THAT(one_host.designs, IsEmpty());
  EXPECT_THAT(one_host.findings, IsEmpty());
  EXPECT_FALSE(one_host.is_right());
}

/// Every pair of two cables that are exchanged at their leaves is one finding that names both, be
/// they of one host, of two in a pod, or in two pods.
void find_every_exchange(Railed rails) {
  std::size_t pairs = 0;
  for (std::size_t a = 0; a < rails.fabric.links.size(); ++a)
    for (std::size_t b = a + 1; b < rails.fabric.links.size(); ++b) {
      rails.exchange(a, b);
      const RailCheck check = rails.check();
      ASSERT_THAT(check.findings, SizeIs(1))
          << rails.plug(a, 1) << " and " << rails.plug(b, 1) << "\n"
          << to_table(check);
      const bool one_host =
          rails.fabric.links[a].ends[0].node == rails.fabric.links[b].ends[0].node;
      const std::size_t end = one_host ? 0 : 1;
      EXPECT_THAT(check.findings[0].exchange,
                  UnorderedElementsAre(rails.plug(a, end), rails.plug(b, end)))
          << to_table(check);
      ++pairs;
      rails.exchange(a, b);
    }
  EXPECT_GT(pairs, 400U);
}
TEST(Rails, EveryExchangeOfTwoCablesIsOneFindingThatNamesBoth) {
  find_every_exchange(Railed(2, 5, 3));
}

TEST(Rails, OfOneLeafForEachHostEveryExchangeAcrossLeavesIsFound) {
  Railed rails(1, 8, 4, true);
  for (std::size_t a = 0; a < rails.fabric.links.size(); ++a)
    for (std::size_t b = a + 1; b < rails.fabric.links.size(); ++b) {
      const auto leaf = [&](std::size_t l) { return rails.fabric.links[l].ends[1].node; };
      const bool same_leaf = leaf(a) == leaf(b);
      rails.exchange(a, b);
      const RailCheck check = rails.check();
      ASSERT_THAT(check.findings, SizeIs(same_leaf ? 0 : 1)) << to_table(check);
      if (!same_leaf) {
        EXPECT_THAT(check.findings[0].exchange,
                    UnorderedElementsAre(rails.plug(a, 1), rails.plug(b, 1)));
      }
      rails.exchange(a, b);
    }
}

TEST(Rails, ACableThatMovedToAFreePortIsNamedAlone) {
  Railed rails;
  rails.fabric.links[0].ends[1].node = rails.fabric.links[1].ends[1].node;
  rails.fabric.links[0].ends[1].port = "swp99";
  const RailCheck check = rails.check();
  ASSERT_THAT(check.findings, SizeIs(1));
  EXPECT_THAT(check.findings[0].exchange, ElementsAre("", ""));
  EXPECT_EQ(check.findings[0].text, "hosts beside it have eth0 on leaf0-0: move the cable there");
}

TEST(Rails, AHostWithOneNicAndANicThatIsDownAreNotJudged) {
  Railed rails;
  rails.fabric.links.erase(rails.fabric.links.begin() + 1, rails.fabric.links.begin() + 4);
  const RailCheck check = rails.check();
  EXPECT_EQ(check.hosts, 11U);
  EXPECT_THAT(check.findings, IsEmpty());
}

TEST(Rails, OfAFewHostsSayNothingThatIsNoMajority) {
  for (const std::size_t hosts : {1U, 2U}) {
    Railed rails(1, hosts, 2);
    rails.exchange(0, 1);
    EXPECT_THAT(rails.check().findings, IsEmpty()) << hosts;
  }
}

TEST(Rails, GoByTheGroupsThatAgentsTell) {
  Railed rails(1, 6, 4);
  std::vector<Device> devices;
  for (const Node& node : rails.fabric.nodes) {
    Device device{.name = node.name, .role = node.role};
    for (int k = 0; k < 3; ++k)
      device.ports.push_back({.name = "eth" + std::to_string(k), .rail = "compute"});
    if (node.role == Role::kHost) devices.push_back(std::move(device));
  }
  for (std::size_t h = 0; h < 6; ++h)  // eth3 of each leads where it likes
    rails.fabric.links[4 * h + 3].ends[1] = {.node = h % 2, .port = "swp" + std::to_string(50 + h)};
  const RailCheck check = check_rails(rails.fabric, devices, {});
  EXPECT_THAT(check.findings, IsEmpty()) << to_table(check);
  EXPECT_THAT(check.designs, ElementsAre(RailDesign::kDistinctLeaf, RailDesign::kPortNumber));
}

TEST(Rails, HoldEveryHostAgainstADesignThatIsGiven) {
  const RailCheck check = Railed(1, 2, 2).check(RailDesign::kSameLeaf);
  EXPECT_THAT(check.designs, ElementsAre(RailDesign::kSameLeaf));
  ASSERT_THAT(check.findings, SizeIs(1)) << to_table(check);
  EXPECT_EQ(check.findings[0].text, "exchange leaf0-0:swp0 and leaf0-1:swp1")
      << "then both NICs of each host lead to one leaf";
}

TEST(Rails, TableAndJsonTellTheSame) {
  Railed rails;
  rails.exchange(0, 5);
  const RailCheck check = rails.check();
  EXPECT_EQ(to_table(check),
            "rails of 12 hosts: distinct-leaf, port-number\n"
            "rail       host0-0:eth0  leaf0-1:swp1  exchange leaf0-1:swp1 and leaf0-0:swp0\n");
  const auto json = nlohmann::json::parse(to_json(check));
  EXPECT_EQ(json.at("designs"), (nlohmann::json{"distinct-leaf", "port-number"}));
  EXPECT_EQ(json.at("hosts"), 12);
  EXPECT_EQ(json.at("findings").at(0).at("exchange"),
            (nlohmann::json{"leaf0-1:swp1", "leaf0-0:swp0"}));
  Marks marks;
  add_marks(check, rails.fabric, marks);
  EXPECT_THAT(marks.doubtful_links.at(0), HasSubstr("rail: exchange"));
}

}  // namespace
}  // namespace lldp::lab::collect
