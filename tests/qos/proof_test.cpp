// SPDX-License-Identifier: Apache-2.0
#include "qos/proof.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>

namespace lldp::qos {
namespace {

constexpr OnTurn kAll[] = {OnTurn::kChangesClass, OnTurn::kStays, OnTurn::kStaysInLastClass};

ChassisId chassis(std::size_t i) {
  return chassis_id_from_mac(
      {2, 0, 0, 0, static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i)});
}

/// Builds fabrics by name; chassis IDs rise in the order of add().
class Builder {
 public:
  std::size_t add(const std::string& name, unsigned level) {
    fabric_.switches.push_back(name);
    positions_.push_back(Position{*Level::make(level), chassis(positions_.size())});
    return positions_.size() - 1;
  }
  void cable(std::size_t a, std::size_t b) {
    fabric_.links.push_back({a,
                             b,
                             {order_of_port(positions_[a], positions_[b]), Layer{}},
                             {order_of_port(positions_[b], positions_[a]), Layer{}}});
  }
  void cable(const std::string& a, const std::string& b) { cable(find(a), find(b)); }
  void cut(const std::string& a, const std::string& b) {
    std::erase_if(fabric_.links, [&, x = find(a), y = find(b)](const Forwarding::Link& l) {
      return (l.a == x && l.b == y) || (l.a == y && l.b == x);
    });
  }
  /// A span of a layered expander.
  void cable(std::size_t a, unsigned layer_a, std::size_t b, unsigned layer_b) {
    const auto la = *Layer::make(layer_a);
    const auto lb = *Layer::make(layer_b);
    fabric_.links.push_back({a, b, class_of_span(la, chassis(a), lb, chassis(b)),
                             class_of_span(lb, chassis(b), la, chassis(a))});
  }
  [[nodiscard]] const Forwarding& fabric() const { return fabric_; }

 private:
  std::size_t find(const std::string& name) const {
    const auto& s = fabric_.switches;
    return static_cast<std::size_t>(std::find(s.begin(), s.end(), name) - s.begin());
  }
  Forwarding fabric_{};
  std::vector<Position> positions_{};
};

/// The class in which a packet leaves, by the rules' own words.
Class after(const Policy& policy, OnTurn on_turn, PortClass in, PortClass out, Class now) {
  if (on_turn == OnTurn::kStays) return now;
  const bool stays_in_last = on_turn == OnTurn::kStaysInLastClass && turns(in, out) &&
                             policy.after_turn(now) == policy.lossy();
  if (stays_in_last) return out.restores() ? policy.restored(now) : now;
  return remap(policy, in, out, now);
}

/// The same question answered without any cleverness: every pair of buffers, a search from each.
struct BruteForce {
  std::uint64_t dependencies = 0;
  std::size_t shortest = 0;            ///< cycle without ways back; 0: none
  std::size_t shortest_with_back = 0;  ///< cycle of any kind

  BruteForce(const Forwarding& fabric, const Policy& policy, OnTurn on_turn) {
    struct Node {
      std::size_t link = 0, from = 0, to = 0, cls = 0;
      PortClass out{}, in{};
    };
    const auto classes = policy.classes();
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < fabric.links.size(); ++i)
      for (std::size_t c = 0; c < policy.classes().size(); ++c) {
        const auto& l = fabric.links[i];
        nodes.push_back({i, l.a, l.b, c, l.at_a, l.at_b});
        nodes.push_back({i, l.b, l.a, c, l.at_b, l.at_a});
      }
    const auto follows = [&](const Node& x, const Node& y) {
      if (x.to != y.from) return false;
      const Class now = classes[x.cls].mark();
      return after(policy, on_turn, x.in, y.out, now) == classes[y.cls].mark() &&
             (on_turn == OnTurn::kStays || y.in.order != Order::kShut);
    };
    std::vector<std::vector<std::size_t>> next(nodes.size());
    for (std::size_t x = 0; x < nodes.size(); ++x)
      for (std::size_t y = 0; y < nodes.size(); ++y)
        if (follows(nodes[x], nodes[y])) next[x].push_back(y);
    for (const auto& n : next) dependencies += n.size();
    const auto shortest_cycle = [&](bool back) {
      std::size_t best = 0;
      for (std::size_t start = 0; start < nodes.size(); ++start) {
        std::vector<std::size_t> distance(nodes.size(), 0);
        std::deque<std::size_t> queue{start};
        while (!queue.empty()) {
          const std::size_t x = queue.front();
          queue.pop_front();
          for (const std::size_t y : next[x]) {
            const bool turns_back = nodes[x].link == nodes[y].link && nodes[x].from == nodes[y].to;
            if ((!back && turns_back) || distance[y] != 0) continue;
            distance[y] = distance[x] + 1;
            queue.push_back(y);
          }
        }
        if (distance[start] != 0 && (best == 0 || distance[start] < best)) best = distance[start];
      }
      return best;
    };
    shortest = shortest_cycle(false);
    shortest_with_back = shortest_cycle(true);
  }
};

/// Each buffer must be able to wait for the next one, and the last for the first.
void expect_is_cycle(const Proof& proof, const Forwarding& fabric, const Policy& policy,
                     OnTurn on_turn) {
  const auto& cycle = proof.cycle;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const Buffer& x = cycle[i];
    const Buffer& y = cycle[(i + 1) % cycle.size()];
    ASSERT_EQ(x.to, y.from);
    const auto& lx = fabric.links[x.link];
    const auto& ly = fabric.links[y.link];
    ASSERT_EQ(std::minmax(x.from, x.to), std::minmax(lx.a, lx.b));
    ASSERT_EQ(after(policy, on_turn, x.to == lx.a ? lx.at_a : lx.at_b,
                    y.from == ly.a ? ly.at_a : ly.at_b, x.cls),
              y.cls);
  }
}

bool goes_back(const std::vector<Buffer>& cycle) {
  for (std::size_t i = 0; i < cycle.size(); ++i)
    if (cycle[i].link == cycle[(i + 1) % cycle.size()].link) return true;
  return false;
}

/// Checks the proof against brute force and returns it.
Proof checked(const Forwarding& fabric, const Policy& policy, OnTurn on_turn) {
  const Proof proof = prove(fabric, policy, on_turn);
  const BruteForce truth(fabric, policy, on_turn);
  const auto crossed = std::ranges::count_if(fabric.links, [&](const Forwarding::Link& l) {
    return on_turn == OnTurn::kStays ||
           (l.at_a.order != Order::kShut && l.at_b.order != Order::kShut);
  });
  EXPECT_EQ(proof.buffers, 2 * static_cast<std::size_t>(crossed) * policy.classes().size());
  EXPECT_EQ(proof.dependencies, truth.dependencies);
  EXPECT_EQ(proof.cycle.size(), truth.shortest != 0 ? truth.shortest : truth.shortest_with_back);
  if (!proof.cycle.empty()) {
    expect_is_cycle(proof, fabric, policy, on_turn);
    EXPECT_EQ(goes_back(proof.cycle), truth.shortest == 0);
  }
  return proof;
}

/// The switches of a cycle in its order, from the first by name on, and in the direction in which
/// the lesser neighbor comes first: the same text for the same ring.
std::string ring(const Proof& proof, const Forwarding& fabric) {
  std::vector<std::string> names;
  for (const Buffer& b : proof.cycle) names.push_back(fabric.switches[b.to]);
  if (names.empty()) return "";
  std::rotate(names.begin(), std::min_element(names.begin(), names.end()), names.end());
  if (names.back() < names[1]) std::reverse(names.begin() + 1, names.end());
  std::string text;
  for (const auto& n : names) text += (text.empty() ? "" : " ") + n;
  return text;
}

Builder case1() {
  Builder b;
  for (int i = 1; i <= 4; ++i) b.add("leaf" + std::to_string(i), 1);
  for (int i = 1; i <= 2; ++i) b.add("spine" + std::to_string(i), 2);
  for (int leaf = 1; leaf <= 4; ++leaf)
    for (int spine = 1; spine <= 2; ++spine)
      b.cable("leaf" + std::to_string(leaf), "spine" + std::to_string(spine));
  return b;
}

Builder case2() {
  Builder b;
  for (const char* tor : {"torA1", "torA2", "torB1", "torB2"}) b.add(tor, 1);
  for (const char* agg : {"agg1", "agg2", "agg3", "agg4"}) b.add(agg, 2);
  for (const char* spine : {"spine1", "spine2"}) b.add(spine, 3);
  for (const char* agg : {"agg1", "agg2"})
    for (const char* tor : {"torA1", "torA2"}) b.cable(agg, tor);
  for (const char* agg : {"agg3", "agg4"})
    for (const char* tor : {"torB1", "torB2"}) b.cable(agg, tor);
  for (const char* agg : {"agg1", "agg2", "agg3", "agg4"})
    for (const char* spine : {"spine1", "spine2"}) b.cable(agg, spine);
  return b;
}

TEST(Proof, FindsTheRingOfCaseOneWithOnePriority) {
  Builder b = case1();
  EXPECT_EQ(checked(b.fabric(), Policy::with_lossless(1), OnTurn::kStays).cycle.size(), 4);
  b.cut("spine1", "leaf4");
  b.cut("spine2", "leaf1");
  const Proof proof = checked(b.fabric(), Policy::with_lossless(1), OnTurn::kStays);
  EXPECT_EQ(ring(proof, b.fabric()), "leaf2 spine1 leaf3 spine2");
  EXPECT_EQ(to_string(proof.cycle, b.fabric()),
            "leaf2 -> spine1 [p5] -> leaf3 [p5] -> spine2 [p5] -> leaf2 [p5]");
}

TEST(Proof, FindsTheRingOfCaseTwoWithOnePriority) {
  Builder whole = case2();
  whole.cut("agg3", "torB1");
  whole.cut("agg2", "torA2");
  EXPECT_EQ(checked(whole.fabric(), Policy::with_lossless(1), OnTurn::kStays).cycle.size(), 4);
  Builder b = case2();  // only the links that the two flows take
  for (const auto& [agg, other] :
       {std::pair{"agg3", "torB1"}, std::pair{"agg2", "torA2"}, std::pair{"agg1", "spine2"},
        std::pair{"agg4", "spine1"}, std::pair{"agg1", "torA1"}, std::pair{"agg4", "torB2"}})
    b.cut(agg, other);
  const Proof proof = checked(b.fabric(), Policy::with_lossless(1), OnTurn::kStays);
  EXPECT_EQ(ring(proof, b.fabric()), "agg2 spine1 agg3 spine2");
}

TEST(Proof, FindsNoCycleInEitherCaseWithTheRulesAsShipped) {
  for (const Builder& b : {case1(), case2()})
    for (std::size_t classes = 1; classes <= 4; ++classes)
      EXPECT_TRUE(checked(b.fabric(), Policy::with_lossless(classes), OnTurn::kChangesClass)
                      .deadlock_free());
}

TEST(Proof, FindsTheCycleThatASecondTurnInTheLastPriorityMakes) {
  Builder b = case1();
  b.cut("spine1", "leaf4");
  b.cut("spine2", "leaf1");
  const Proof proof = checked(b.fabric(), Policy(), OnTurn::kStaysInLastClass);
  EXPECT_EQ(to_string(proof.cycle, b.fabric()),
            "leaf2 -> spine1 [p6] -> leaf3 [p6] -> spine2 [p6] -> leaf2 [p6]");
}

TEST(Proof, SaysWhenOnlyTheWayBackMakesACycle) {
  Builder tree;
  tree.add("leaf1", 1);
  tree.add("leaf2", 1);
  tree.add("spine", 2);
  tree.cable("leaf1", "spine");
  tree.cable("spine", "leaf2");
  const Proof proof = checked(tree.fabric(), Policy::with_lossless(1), OnTurn::kStays);
  EXPECT_EQ(to_string(proof.cycle, tree.fabric()), "leaf1 -> spine [p5] -> leaf1 [p5]");
  EXPECT_TRUE(goes_back(proof.cycle));
  EXPECT_TRUE(checked(tree.fabric(), Policy(), OnTurn::kChangesClass).deadlock_free());
}

TEST(Proof, TakesParallelLinksForARing) {
  Builder b;
  b.add("a", 1);
  b.add("b", 2);
  b.cable("a", "b");
  b.cable("a", "b");
  const Proof proof = checked(b.fabric(), Policy::with_lossless(1), OnTurn::kStays);
  ASSERT_EQ(proof.cycle.size(), 2);
  EXPECT_NE(proof.cycle[0].link, proof.cycle[1].link);
}

TEST(Proof, IsTrivialForNothing) {
  EXPECT_TRUE(prove({}, Policy()).deadlock_free());
  EXPECT_TRUE(prove({.switches = {"alone"}}, Policy()).deadlock_free());
}

TEST(Proof, HoldsForCrosslinksAndMiswiredLinks) {
  Builder b = case2();
  b.cable("torA1", "torB1");   // crosslink
  b.cable("torA2", "spine1");  // skips a level
  b.cable("agg1", "agg3");
  b.cable("spine1", "spine2");
  EXPECT_TRUE(checked(b.fabric(), Policy(), OnTurn::kChangesClass).deadlock_free());
  EXPECT_EQ(checked(b.fabric(), Policy(), OnTurn::kStays).cycle.size(), 3);
}

TEST(Proof, DoesNotHoldAcrossPortsThatNobodyWithALevelIsHeardOn) {
  Builder b = case1();
  Forwarding fabric = b.fabric();
  for (auto& l : fabric.links) l.at_a = l.at_b = {};
  EXPECT_EQ(checked(fabric, Policy(), OnTurn::kChangesClass).cycle.size(), 4);
}

TEST(Proof, DoesNotHoldForOrdersThatNoSingleOrderGives) {
  const PortClass up{Order::kUp, Layer{}};
  const PortClass down{Order::kDown, Layer{}};
  const Forwarding ring{{"a", "b", "c"}, {{0, 1, up, down}, {1, 2, up, down}, {2, 0, up, down}}};
  EXPECT_EQ(to_string(checked(ring, Policy(), OnTurn::kChangesClass).cycle, ring),
            "a -> b [p5] -> c [p5] -> a [p5]");
}

// docs/develop/proof.md, "While levels change": v has risen above u and acts on it; t has heard, u
// has not.
TEST(Proof, DoesNotHoldIfARiseIsActedOnBeforeAllHaveHeard) {
  const auto at = [](unsigned level, std::size_t i) {
    return Position{*Level::make(level), chassis(i)};
  };
  const Position u = at(2, 0), v = at(3, 1), v_as_it_was = at(1, 1), t = at(4, 2);
  const auto port = [](const Position& self, const Position& neighbor) {
    return PortClass{order_of_port(self, neighbor), Layer{}};
  };
  const Forwarding fabric{{"u", "v", "t"},
                          {{0, 1, port(u, v_as_it_was), port(v, u)},
                           {1, 2, port(v, t), port(t, v)},
                           {0, 2, port(u, t), port(t, u)}}};
  EXPECT_EQ(to_string(checked(fabric, Policy(), OnTurn::kChangesClass).cycle, fabric),
            "u -> v [p5] -> t [p5] -> u [p5]");
}

// A cycle that goes along the same links there and back, turning round where two links lie
// parallel: the search comes twice into the same state, and the second time goes on where the first
// came from.
TEST(Proof, FindsACycleThatComesBackAlongItsOwnLinks) {
  const auto up = [](unsigned near) { return PortClass{Order::kUp, *Layer::make(near)}; };
  const auto down = [](unsigned near) { return PortClass{Order::kDown, *Layer::make(near)}; };
  const Forwarding fabric{{"a", "b", "c", "d", "e"},
                          {{3, 0, up(1), down(1)},
                           {3, 0, up(0), down(0)},
                           {1, 4, down(1), down(0)},
                           {4, 2, up(0), down(0)},
                           {3, 0, down(1), up(0)},
                           {2, 4, up(0), down(1)},
                           {1, 0, down(1), down(0)}}};
  EXPECT_EQ(checked(fabric, Policy::with_lossless(1), OnTurn::kChangesClass).cycle.size(), 8);
}

Builder random_fabric(std::mt19937& random, std::size_t switches, std::size_t links,
                      std::size_t levels) {
  const auto below = [&](std::size_t n) { return random() % n; };
  Builder b;
  for (std::size_t i = 0; i < switches; ++i)
    b.add("s" + std::to_string(i), 1 + static_cast<unsigned>(below(levels)));
  for (std::size_t i = 0; i < links; ++i) {
    const std::size_t x = below(switches);
    const std::size_t y = below(switches - 1);
    b.cable(x, y < x ? y : y + 1);
  }
  return b;
}

TEST(Proof, AgreesWithBruteForceAndHoldsOnRandomGraphsWithArbitraryLevels) {
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    const std::size_t switches = 2 + random() % 8;
    const std::size_t links = random() % (2 * switches);
    const Builder b = random_fabric(random, switches, links, 1 + random() % 4);
    const Policy policy = Policy::with_lossless(1 + static_cast<std::size_t>(i) % 3);
    for (const OnTurn t : kAll) {
      const Proof proof = checked(b.fabric(), policy, t);
      EXPECT_TRUE(t != OnTurn::kChangesClass || proof.deadlock_free());
    }
    if (HasFailure()) FAIL() << "fabric " << i;
  }
}

TEST(Proof, AgreesWithBruteForceWhereTheEndsOfLinksDoNotAgree) {
  std::mt19937 random(2);
  std::size_t cyclic = 0;
  for (int i = 0; i < 400; ++i) {
    const std::size_t switches = 2 + random() % 6;
    const std::size_t links = 1 + random() % (2 * switches);
    Forwarding fabric = random_fabric(random, switches, links, 3).fabric();
    for (auto& l : fabric.links)
      for (PortClass* end : {&l.at_a, &l.at_b}) {
        end->order = static_cast<Order>(random() % 3);
        end->near = *Layer::make(random() % 3);
      }
    const Policy policy = Policy::with_lossless(1 + random() % 2);
    for (const OnTurn t : kAll) cyclic += checked(fabric, policy, t).cycle.empty() ? 0U : 1U;
    if (HasFailure()) FAIL() << "fabric " << i;
  }
  EXPECT_GT(cyclic, 100U);  // else this test tests little
}

const Policy kTwoChains = Policy::parse("3:dscp24-31>2:dscp19,4:dscp4>5:dscp43", "0:dscp0").value();

TEST(ProofOfChains, HoldsForASetOfChains) {
  std::mt19937 random(35);
  for (int i = 0; i < 100; ++i) {
    const std::size_t switches = 2 + random() % 7;
    const Builder b = random_fabric(random, switches, random() % (2 * switches), 1 + random() % 4);
    EXPECT_TRUE(checked(b.fabric(), kTwoChains, OnTurn::kChangesClass).deadlock_free());
    checked(b.fabric(), kTwoChains, OnTurn::kStaysInLastClass);
    if (HasFailure()) FAIL() << "fabric " << i;
  }
}

TEST(ProofOfChains, IsTrivialWithoutLosslessClasses) {
  const Policy none = Policy::parse("none", "0:dscp0").value();
  EXPECT_EQ(prove(case1().fabric(), none).buffers, 0U);
  EXPECT_TRUE(prove(case1().fabric(), none, OnTurn::kStays).deadlock_free());
}

// Restoring is for ports that lead to hosts: what forwards behind one could close a cycle.
TEST(ProofOfChains, SeesARestoringPortThatLeadsToASwitch) {
  Builder b = case1();
  b.cut("spine1", "leaf4");
  b.cut("spine2", "leaf1");
  Forwarding fabric = b.fabric();
  EXPECT_TRUE(checked(fabric, kTwoChains, OnTurn::kChangesClass).deadlock_free());
  for (auto& l : fabric.links)
    for (PortClass* end : {&l.at_a, &l.at_b}) end->restore = true;
  EXPECT_EQ(to_string(checked(fabric, kTwoChains, OnTurn::kChangesClass).cycle, fabric),
            "spine1 -> leaf2 [p3] -> spine2 [p2] -> leaf3 [p3] -> spine1 [p2]");
}

TEST(ProofOfChains, AShutLinkBreaksACycleOfOrdersThatDoNotAgree) {
  const PortClass up{Order::kUp, Layer{}};
  const PortClass down{Order::kDown, Layer{}};
  const PortClass shut{Order::kShut, Layer{}};
  Forwarding ring{{"a", "b", "c"}, {{0, 1, up, down}, {1, 2, up, down}, {2, 0, up, down}}};
  EXPECT_FALSE(checked(ring, kTwoChains, OnTurn::kChangesClass).deadlock_free());
  for (const std::size_t end : {0U, 1U}) {
    Forwarding one_end = ring;
    (end == 0 ? one_end.links[0].at_a : one_end.links[0].at_b) = shut;
    EXPECT_TRUE(checked(one_end, kTwoChains, OnTurn::kChangesClass).deadlock_free())
        << "either end can shut the link in both directions";
  }
}

TEST(ProofOfChains, AgreesWithBruteForceOnPortsOfAllKinds) {
  std::mt19937 random(36);
  std::size_t cyclic = 0;
  for (int i = 0; i < 300; ++i) {
    const std::size_t switches = 2 + random() % 5;
    const std::size_t links = 1 + random() % (2 * switches);
    Forwarding fabric = random_fabric(random, switches, links, 3).fabric();
    for (auto& l : fabric.links)
      for (PortClass* end : {&l.at_a, &l.at_b})
        *end = {static_cast<Order>(random() % 4), *Layer::make(random() % 2), random() % 3 == 0};
    for (const OnTurn t : kAll) cyclic += checked(fabric, kTwoChains, t).cycle.empty() ? 0U : 1U;
    if (HasFailure()) FAIL() << "fabric " << i;
  }
  EXPECT_GT(cyclic, 100U);  // else this test tests little
}

TEST(Proof, HoldsWhileLevelsFallAndNotAllHaveHeard) {
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    const std::size_t switches = 2 + random() % 12;
    std::vector<Position> now;
    Forwarding fabric;
    for (std::size_t s = 0; s < switches; ++s) {
      fabric.switches.push_back("s" + std::to_string(s));
      now.push_back({*Level::make(1 + random() % 3), chassis(s)});
    }
    const auto port = [&](std::size_t self, std::size_t neighbor) {
      Position heard = now[neighbor];  // or what it was before
      heard.level = *Level::make(heard.level.value() + random() % 3);
      return PortClass{order_of_port(now[self], heard), Layer{}};
    };
    for (std::size_t links = random() % (3 * switches); links > 0; --links) {
      const std::size_t a = random() % switches;
      const std::size_t b = (a + 1 + random() % (switches - 1)) % switches;
      const PortClass at_a = port(a, b);
      fabric.links.push_back({a, b, at_a, port(b, a)});
    }
    ASSERT_TRUE(prove(fabric, Policy()).deadlock_free()) << "fabric " << i;
  }
}

TEST(Proof, HoldsOnLargeRandomGraphs) {
  std::mt19937 random(3);
  for (int i = 0; i < 8; ++i) {
    const Builder b = random_fabric(random, 200, 1200, 1 + random() % 9);
    EXPECT_TRUE(prove(b.fabric(), Policy()).deadlock_free());
    EXPECT_FALSE(prove(b.fabric(), Policy(), OnTurn::kStays).deadlock_free());
    EXPECT_FALSE(prove(b.fabric(), Policy(), OnTurn::kStaysInLastClass).deadlock_free());
  }
}

/// A layered expander: every device owns a port of each layer; random links between layers.
Builder layered(std::mt19937& random, std::size_t devices, unsigned layers, std::size_t links,
                bool neighboring_layers_only) {
  Builder b;
  for (std::size_t i = 0; i < devices; ++i) b.add("tor" + std::to_string(i), 1);
  for (std::size_t i = 0; i < links; ++i) {
    const std::size_t x = random() % devices;
    const std::size_t y = (x + 1 + random() % (devices - 1)) % devices;
    const unsigned low = 1 + static_cast<unsigned>(random() % (layers - 1));
    const unsigned far =
        neighboring_layers_only ? low + 1 : 1 + static_cast<unsigned>(random() % layers);
    b.cable(x, low, y, far);
  }
  return b;
}

TEST(ProofOfSpans, HoldsOnLayeredExpanders) {
  std::mt19937 random(4);
  for (int i = 0; i < 100; ++i) {
    const std::size_t devices = 3 + random() % 5;
    const Builder b = layered(random, devices, 4, 2 * devices, i % 2 == 0);
    for (const OnTurn t : kAll) {
      const Proof proof = checked(b.fabric(), Policy::with_lossless(1 + random() % 2), t);
      EXPECT_TRUE(t != OnTurn::kChangesClass || proof.deadlock_free());
    }
    if (HasFailure()) FAIL() << "fabric " << i;
  }
}

TEST(ProofOfSpans, NeedsTheInsideOfTheDevice) {
  // Three devices; each link goes up a layer from device to device, and each device would take the
  // packet from layer 2 back to layer 1 inside. Without near layers nobody sees the descent.
  Builder b;
  for (const char* name : {"x", "y", "z"}) b.add(name, 1);
  b.cable(0, 1, 1, 2);
  b.cable(1, 1, 2, 2);
  b.cable(2, 1, 0, 2);
  EXPECT_TRUE(checked(b.fabric(), Policy(), OnTurn::kChangesClass).deadlock_free());
  Forwarding blind = b.fabric();
  for (auto& l : blind.links) l.at_a.near = l.at_b.near = Layer{};
  EXPECT_EQ(to_string(checked(blind, Policy(), OnTurn::kChangesClass).cycle, blind),
            "x -> y [p5] -> z [p5] -> x [p5]");
}

}  // namespace
}  // namespace lldp::qos
