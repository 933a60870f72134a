// SPDX-License-Identifier: Apache-2.0
// Lossless classes of fabrics: devices agree, whatever comes first (docs/develop/rules.md, C1 to
// C8).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <queue>
#include <random>
#include <set>

#include "agent/core/classes.hpp"
#include "tests/core/support/class_peers.hpp"
#include "tests/core/support/names.hpp"

namespace lldp::test {
namespace {

using core::Classes;
using core::ClassPeer;
using core::OwnClasses;
using qos::Chains;
using qos::DscpSet;
using qos::LosslessClass;
using std::chrono::milliseconds;

/// Devices that hear each other over links that take their time.
class Fabric {
 public:
  struct Node {
    OwnClasses known{};
    std::map<std::size_t, std::vector<ClassPeer>> hosts{};  ///< by port
    bool speaks = true;
    std::optional<Classes> classes{};  ///< nullopt: the device is down
    std::optional<tlv::ClassesTlv> told{};
    unsigned changes = 0;  ///< of told
  };
  struct Link {
    std::size_t a = 0, port_a = 0, b = 0, port_b = 0;
    std::optional<tlv::ClassesTlv> heard_a{}, heard_b{};  ///< what each end has heard
  };

  std::size_t add(OwnClasses known) {
    nodes.push_back({.known = std::move(known)});
    return nodes.size() - 1;
  }
  void connect(std::size_t a, std::size_t b) { links.push_back({a, ++ports_, b, ++ports_}); }
  std::size_t host(std::size_t node, ClassPeer peer) {
    nodes[node].hosts[++ports_] = {std::move(peer)};
    return ports_;
  }
  void start(std::size_t n, Chains restored = {}) {
    Node& node = nodes[n];
    node.classes.emplace(std::move(restored));
    node.classes->set_own(node.known);
    node.told.reset();
    for (const auto& [port, peers] : node.hosts) hear_host(n, port);
    decide(n);
    for (std::size_t l = 0; l < links.size(); ++l)
      for (const bool at_a : {true, false})
        if ((at_a ? links[l].a : links[l].b) == n) {
          auto& heard = at_a ? links[l].heard_a : links[l].heard_b;
          heard.reset();
          const std::size_t other = at_a ? links[l].b : links[l].a;
          if (nodes[other].classes) later([this, l, at_a] { deliver(l, at_a); });
        }
  }
  void stop(std::size_t n) {
    nodes[n].classes.reset();
    nodes[n].told.reset();
    for (Link& l : links) {
      if (l.a == n) l.heard_b.reset(), hear(l.b, l.port_b, std::nullopt, n);
      if (l.b == n) l.heard_a.reset(), hear(l.a, l.port_a, std::nullopt, n);
    }
  }
  void set_own(std::size_t n, OwnClasses known) {
    nodes[n].known = std::move(known);
    if (!nodes[n].classes) return;
    nodes[n].classes->set_own(nodes[n].known);
    decide(n);
  }
  void hear_host(std::size_t n, std::size_t port) {
    if (!nodes[n].classes) return;
    nodes[n].classes->hear(ifindex(port), "swp" + std::to_string(port), nodes[n].hosts[port], now);
    decide(n);
  }
  void forget(std::size_t n) {
    if (!nodes[n].classes) return;
    nodes[n].classes->forget(now);
    decide(n);
  }
  /// Lets what is under way arrive; false: it goes on and on.
  bool settle(Duration most = std::chrono::seconds(60)) {
    const TimePoint end = now + most;
    while (!queue_.empty() && queue_.begin()->first <= end) {
      now = queue_.begin()->first;
      const auto what = std::move(queue_.begin()->second);
      queue_.erase(queue_.begin());
      what();
      if (watch) watch();
    }
    const bool quiet = queue_.empty() || queue_.begin()->first > end;
    now = end;
    for (std::size_t n = 0; n < nodes.size(); ++n)
      if (nodes[n].classes) decide(n);
    return quiet && queue_.empty();
  }
  [[nodiscard]] const Chains& in_force(std::size_t n) const { return nodes[n].classes->chains(); }

  TimePoint now{std::chrono::seconds(1000)};
  std::vector<Node> nodes{};
  std::vector<Link> links{};
  std::function<void()> watch{};
  std::function<Duration()> delay = [] { return Duration(milliseconds(1)); };

 private:
  void later(std::function<void()> what) { later(now + delay(), std::move(what)); }
  void later(TimePoint at, std::function<void()> what) { queue_.emplace(at, std::move(what)); }
  void decide(std::size_t n) {
    Node& node = nodes[n];
    static_cast<void>(node.classes->decide(now));
    if (const TimePoint due = node.classes->deadline(); due != core::kNever && due > now)
      later(due, [this, n, due] {
        if (nodes[n].classes && nodes[n].classes->deadline() <= due) decide(n);
      });
    if (node.told == node.classes->told()) return;
    node.told = node.classes->told();
    ++node.changes;
    for (std::size_t l = 0; l < links.size(); ++l) {
      if (links[l].a == n) later([this, l] { deliver(l, false); });
      if (links[l].b == n) later([this, l] { deliver(l, true); });
    }
  }
  /// What the other end tells now arrives.
  void deliver(std::size_t l, bool at_a) {
    Link& link = links[l];
    const std::size_t from = at_a ? link.b : link.a;
    const std::size_t to = at_a ? link.a : link.b;
    if (!nodes[from].classes || !nodes[to].classes) return;
    auto& heard = at_a ? link.heard_a : link.heard_b;
    if (heard == nodes[from].told) return;
    heard = nodes[from].told;
    hear(to, at_a ? link.port_a : link.port_b, heard, from);
  }
  void hear(std::size_t n, std::size_t port, const std::optional<tlv::ClassesTlv>& told,
            std::size_t from) {
    if (!nodes[n].classes) return;
    std::vector<ClassPeer> peers;
    if (told)
      peers.push_back(
          {.name = "n" + std::to_string(from) + " port p", .told = core::told_classes(*told)});
    nodes[n].classes->hear(ifindex(port), "swp" + std::to_string(port), std::move(peers), now);
    decide(n);
  }

  std::size_t ports_ = 0;
  std::multimap<TimePoint, std::function<void()>> queue_{};
};

// A host with PFC 3 beside a SONiC switch with 3 and 4 and a router that knows nothing.
TEST(ClassOrders, EndInTheSameChainsWhateverComesFirst) {
  struct Way {
    std::string_view host{};
    std::string_view end{};
  };
  for (const Way& way : {Way{"3:dscp3>lossy", "3:dscp3>2:dscp19,4:dscp4>5:dscp43"},
                         Way{"3:dscp26+24-31>lossy", ""}})  // its DSCPs are not the switch's
    for (const bool at_router : {true, false})
      for (unsigned restarts = 0; restarts < 16; ++restarts) {
        std::vector<int> order{0, 1, 2};  // host, SONiC switch, router
        do {
          SCOPED_TRACE(testing::Message() << way.host << " order " << order[0] << order[1]
                                          << order[2] << " restarts " << restarts);
          Fabric f;
          const auto sonic = f.add({.applications = applications(kSonic)});
          const auto router = f.add({});
          f.connect(sonic, router);
          const auto at = at_router ? router : sonic;
          const auto port = f.host(at, stock("srv port p1", way.host));
          const auto host = std::exchange(f.nodes[at].hosts[port], {});
          for (const int what : order) {
            if (what == 0) f.nodes[at].hosts[port] = host, f.hear_host(at, port);
            if (what == 1) f.start(sonic);
            if (what == 2) f.start(router);
            ASSERT_TRUE(f.settle());
          }
          for (const std::size_t n : {sonic, router}) {
            if ((restarts >> (2 * n) & 1U) == 0) continue;
            const bool with_state = (restarts >> (2 * n + 1) & 1U) != 0;
            const Chains kept = f.nodes[n].classes->kept();
            f.stop(n);
            ASSERT_TRUE(f.settle());
            f.start(n, with_state ? kept : Chains{});
            ASSERT_TRUE(f.settle());
          }
          for (const std::size_t n : {sonic, router}) {
            std::string turns;
            for (const qos::Chain& chain : f.in_force(n))
              for (const LosslessClass& c : chain.classes)
                turns += std::to_string(c.priority.value());
            EXPECT_EQ(turns, "3245") << n;  // 3 > 2, 4 > 5
            if (!way.end.empty()) {
              EXPECT_EQ(to_string(f.in_force(n)), way.end) << n;
            }
          }
          const bool same = f.in_force(sonic) == f.in_force(router);
          for (const auto& [n, p] :
               {std::pair(sonic, f.links[0].port_a), std::pair(router, f.links[0].port_b)})
            EXPECT_EQ(f.nodes[n].classes->mismatch(ifindex(p), f.now).has_value(), !same) << n;
        } while (std::ranges::next_permutation(order).found);
      }
}

// Twelve leaves below six spines; one leaf knows. Every device tells once: none is told twice.
TEST(ClassFabric, OfEighteenAgreesInOneWave) {
  Fabric f;
  for (std::size_t n = 0; n < 18; ++n) f.add({});
  for (std::size_t leaf = 0; leaf < 12; ++leaf)
    for (std::size_t spine = 12; spine < 18; ++spine) f.connect(leaf, spine);
  f.nodes[3].known.applications = applications(kSonic);
  for (std::size_t n = 0; n < 18; ++n) f.start(n);
  ASSERT_TRUE(f.settle());
  for (std::size_t n = 0; n < 18; ++n) {
    EXPECT_EQ(to_string(f.in_force(n)), to_string(chains("sonic"))) << n;
    EXPECT_EQ(f.nodes[n].changes, 1U) << n;
  }
}

/// Whether some priorities turn into each other in a circle, over all devices at once.
bool has_cycle(const Fabric& f) {
  std::set<std::pair<unsigned, unsigned>> turns;
  for (const auto& node : f.nodes) {
    if (!node.classes) continue;
    for (const qos::Chain& chain : node.classes->chains())
      for (std::size_t i = 1; i < chain.classes.size(); ++i)
        turns.emplace(chain.classes[i - 1].priority.value(), chain.classes[i].priority.value());
  }
  for (bool shrinks = true; shrinks;) {
    shrinks = std::erase_if(turns, [&](const auto& turn) {
                return std::ranges::none_of(
                    turns, [&](const auto& next) { return next.first == turn.second; });
              }) != 0;
  }
  return !turns.empty();
}

OwnClasses random_own(std::mt19937_64& chance) {
  const auto one_of = [&](auto... texts) {
    const std::string_view all[] = {texts...};
    return all[chance() % sizeof...(texts)];
  };
  OwnClasses known;
  switch (chance() % 8) {
    case 0:
      known.configured = chains(one_of("roce", "sonic", "pcbb", "slides", "none",
                                       "2:dscp19>3:dscp26", "6:dscp51>5:dscp43>4:dscp35"));
      break;
    case 1:
      known.platform = chains(one_of("pcbb", "2:dscp2>3:dscp3,6:dscp6>4:dscp4"));
      break;
    case 2:
    case 3:
      known.applications = applications(one_of(kRoce, kSonic, "3:dscp26>lossy", "4:dscp26>lossy",
                                               "2:dscp16>lossy", "5:dscp40>lossy,3:dscp24>lossy"));
      break;
    default:
      break;
  }
  if (chance() % 8 == 0) known.lossy_dscps = DscpSet(chance());
  if (chance() % 8 == 0) known.lossy_priorities = static_cast<std::uint8_t>(chance());
  for (LosslessClass& c : known.applications)  // its own map does not contradict itself
    known.lossy_dscps = DscpSet(known.lossy_dscps.mask() & ~c.dscps.mask());
  return known;
}

/// How many random fabrics: LLDP_CLASS_FABRICS, as 1000 before a release.
unsigned fabrics() {
  const char* asked = std::getenv("LLDP_CLASS_FABRICS");
  return asked == nullptr ? 200U : static_cast<unsigned>(std::strtoul(asked, nullptr, 10));
}

TEST(ClassFabric, OfAnyShapeSettlesAndSaysWhereItDiffers) {
  for (unsigned seed = 0; seed < fabrics(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 chance(seed);
    Fabric f;
    f.delay = [&chance] { return Duration(milliseconds(1 + chance() % 2000)); };
    const std::size_t size = 2 + chance() % 7;
    for (std::size_t n = 0; n < size; ++n) f.add(random_own(chance));
    for (std::size_t n = 1; n < size; ++n) f.connect(chance() % n, n);
    for (std::size_t more = chance() % size; more-- > 0;)
      if (const std::size_t a = chance() % size, b = chance() % size; a != b) f.connect(a, b);
    std::vector<std::pair<std::size_t, std::size_t>> hosts;
    for (std::size_t i = chance() % 4; i-- > 0;) {
      const std::size_t n = chance() % size;
      hosts.emplace_back(
          n, f.host(n, stock("srv port p1", chance() % 2 == 0 ? kRoce : "4:dscp32>lossy")));
    }
    bool cycle = false;
    f.watch = [&] { cycle |= has_cycle(f); };
    for (std::size_t n = 0; n < size; ++n) f.start(n);
    for (unsigned i = 0; i < 12; ++i) {  // evidence comes, goes and differs
      const std::size_t n = chance() % size;
      switch (chance() % 5) {
        case 0:
          f.set_own(n, random_own(chance));
          break;
        case 1:
          if (f.nodes[n].classes) {
            const Chains kept = f.nodes[n].classes->kept();
            f.stop(n);
            f.settle(milliseconds(chance() % 3000));
            f.start(n, chance() % 2 == 0 ? kept : Chains{});
          }
          break;
        case 2:
          f.forget(n);
          break;
        case 3:
          if (!hosts.empty()) {
            const auto& [at, port] = hosts[chance() % hosts.size()];
            std::vector<ClassPeer> peers;
            if (chance() % 2 == 0)
              peers.push_back(stock("srv port p1", chance() % 2 == 0 ? kRoce : "5:dscp40>lossy"));
            f.nodes[at].hosts[port] = std::move(peers);
            f.hear_host(at, port);
          }
          break;
        default:
          break;
      }
      f.settle(milliseconds(chance() % 5000));
    }
    ASSERT_TRUE(f.settle(std::chrono::seconds(600)));
    EXPECT_FALSE(cycle);
    for (const Fabric::Link& l : f.links) {
      const auto& a = *f.nodes[l.a].classes;
      const auto& b = *f.nodes[l.b].classes;
      const bool differ = a.chains() != b.chains() || core::told_classes(*a.told()).chains !=
                                                          core::told_classes(*b.told()).chains;
      EXPECT_EQ(a.mismatch(ifindex(l.port_a), f.now).has_value(), differ)
          << to_string(a.chains()) << " beside " << to_string(b.chains());
      EXPECT_EQ(b.mismatch(ifindex(l.port_b), f.now).has_value(), differ)
          << to_string(b.chains()) << " beside " << to_string(a.chains());
    }
  }
}

}  // namespace
}  // namespace lldp::test
