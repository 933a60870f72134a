// SPDX-License-Identifier: Apache-2.0
// Random Clos fabrics with churn: two devices have one ID for a tier exactly if the graph that the
// fabric was built by puts them in one tier, and no label changes but those of hosts whose own leaf
// is another one (docs/develop/rules.md P7).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "agent/core/location.hpp"
#include "lab/agents/locations.hpp"
#include "lab/agents/network.hpp"

namespace lldp::lab::agents {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

std::uint64_t number(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

class Churn {
 public:
  explicit Churn(std::uint64_t seed) : network_(seed) { build(); }

  void run() {
    for (std::size_t n = 0; n < network_.nodes.size(); ++n)
      network_.at(network_.now + below(seconds(20)), [this, n] { start(n); });
    pass(minutes(3));
    see_right("after the start");
    note_labels();
    pass(minutes(32 + random_.below(200)));  // some IDs are settled, others are young
    for (auto blows = 4 + random_.below(12); blows > 0; --blows) {
      befall();
      pass(seconds(1) + below(minutes(4)));
    }
    mend();
    pass(minutes(40));
    see_right("at the end");
    see_same_labels();
  }
  [[nodiscard]] const std::string& story() const { return story_; }
  std::vector<std::string> wrong{};

 private:
  struct Leaf {
    std::size_t node = 0;
    std::size_t pod = 0;
    std::vector<std::size_t> hosts{};
    std::vector<std::size_t> uplinks{};
  };

  Duration below(Duration d) {
    return Duration(
        static_cast<Duration::rep>(random_.below(static_cast<std::uint64_t>(d.count()) + 1)));
  }
  std::size_t add(Role role, const std::string& name) {
    core::Settings s;
    s.role = role;
    s.system_name = name;
    s.chassis_id = ChassisId{{ChassisId::kLocal, fmt::format("{:08x}", random_.next() >> 32U)}};
    s.establish = minutes(30);
    return network_.add(std::move(s));
  }
  void build() {
    pods_ = 1 + random_.below(4);
    aggs_per_pod_ = 1 + random_.below(3);
    const bool planes = random_.chance(0.5);
    const std::size_t spines =
        pods_ == 1 && random_.chance(0.5) ? 0 : aggs_per_pod_ * (1 + random_.below(2));
    std::vector<std::size_t> tops;
    for (std::size_t s = 0; s < spines; ++s)
      tops.push_back(add(Role::kSwitch, fmt::format("spine{}", s)));
    for (std::size_t p = 0; p < pods_; ++p)
      for (std::size_t a = 0; a < aggs_per_pod_; ++a) {
        aggs_.push_back(add(Role::kSwitch, fmt::format("agg{}-{}", p, a)));
        for (std::size_t s = 0; s < spines; ++s)
          if (!planes || s % aggs_per_pod_ == a)
            cables_.push_back(network_.connect(aggs_.back(), tops[s]));
      }
    for (std::size_t p = 0; p < pods_; ++p)
      for (std::size_t l = 0, all = 2 + random_.below(3); l < all; ++l) add_leaf(p);
  }
  std::size_t add_leaf(std::size_t pod) {
    Leaf leaf{.node = add(Role::kSwitch, fmt::format("leaf{}", leaves_.size())), .pod = pod};
    for (std::size_t h = 0, all = 1 + random_.below(2); h < all; ++h) {
      leaf.hosts.push_back(add(Role::kHost, fmt::format("host{}-{}", leaves_.size(), h)));
      cables_.push_back(network_.connect(leaf.hosts.back(), leaf.node));
    }
    connect(leaf);
    leaves_.push_back(std::move(leaf));
    return leaves_.size() - 1;
  }
  void connect(Leaf& leaf) {
    leaf.uplinks.clear();
    for (std::size_t a = 0; a < aggs_per_pod_; ++a) {
      leaf.uplinks.push_back(network_.connect(leaf.node, aggs_[leaf.pod * aggs_per_pod_ + a]));
      cables_.push_back(leaf.uplinks.back());
    }
  }
  void disconnect(Leaf& leaf) {
    for (const std::size_t c : leaf.uplinks) pull(c);
    leaf.uplinks.clear();
  }
  void pull(std::size_t cable) {
    network_.unplug(cable);
    std::erase(cables_, cable);
  }
  /// All cables of a device that is taken away.
  void pull_all(std::size_t node) {
    for (std::size_t c = 0; c < network_.cables.size(); ++c)
      if (network_.cables[c].plugged && network_.cables[c].joins(node)) pull(c);
  }
  void start(std::size_t n) {
    if (!network_.nodes[n].agent) network_.start(n);
  }
  void pass(Duration d) { network_.run_for(d); }
  template <class... T>
  void tell(fmt::format_string<T...> text, T&&... values) {
    story_ += fmt::format("{:9.1f} s  ",
                          std::chrono::duration<double>(network_.now - Network::kBegin).count()) +
              fmt::format(text, std::forward<T>(values)...) + "\n";
  }

  void befall() {
    Leaf& leaf = leaves_[random_.below(leaves_.size())];
    const std::string& name = network_.nodes[leaf.node].name();
    switch (random_.below(7)) {
      case 0:
      case 1: {
        const std::size_t c = cables_[random_.below(cables_.size())];
        tell("a cable of {} fails", network_.nodes[network_.cables[c].a.node].name());
        network_.set_cable(c, false);
        network_.at(network_.now + below(minutes(8)), [this, c] {
          if (network_.cables[c].plugged) network_.set_cable(c, true);
        });
        break;
      }
      case 2: {
        const std::size_t n = random_.below(network_.nodes.size());
        if (!network_.nodes[n].agent) break;
        const bool orderly = random_.chance(0.5);
        tell("{} {}", network_.nodes[n].name(), orderly ? "stops" : "dies");
        network_.stop(n, orderly);
        network_.at(network_.now + below(minutes(8)), [this, n] { start(n); });
        break;
      }
      case 3: {
        tell("a leaf is added to pod {}", leaf.pod);
        const std::size_t l = add_leaf(leaf.pod);
        start(leaves_[l].node);
        for (const std::size_t h : leaves_[l].hosts) start(h);
        break;
      }
      case 4: {  // the pod keeps two, so that it is not another one afterwards
        if (leaves_of(leaf.pod) < 3) break;
        tell("{} is removed", name);
        pull_all(leaf.node);
        moved_.insert(leaf.hosts.begin(), leaf.hosts.end());
        std::erase_if(leaves_, [node = leaf.node](const Leaf& l) { return l.node == node; });
        break;
      }
      case 5: {
        tell("{} is replaced", name);
        pull_all(leaf.node);
        leaf.node = add(Role::kSwitch, name + "'");
        for (const std::size_t h : leaf.hosts) cables_.push_back(network_.connect(h, leaf.node));
        moved_.insert(leaf.hosts.begin(), leaf.hosts.end());
        connect(leaf);
        start(leaf.node);
        break;
      }
      default: {
        const std::size_t to = random_.below(pods_);
        if (to == leaf.pod || leaves_of(leaf.pod) < 3) break;
        tell("{} moves to pod {}", name, to);
        disconnect(leaf);
        if (random_.chance(0.5)) pass(below(minutes(5)));
        leaf.pod = to;
        connect(leaf);
        moved_.insert(leaf.hosts.begin(), leaf.hosts.end());
        break;
      }
    }
  }
  [[nodiscard]] std::size_t leaves_of(std::size_t pod) const {
    return static_cast<std::size_t>(std::ranges::count(leaves_, pod, &Leaf::pod));
  }
  void mend() {
    pass(minutes(9));
    for (const std::size_t c : cables_) network_.set_cable(c, true);
    for (std::size_t n = 0; n < network_.nodes.size(); ++n) start(n);
  }
  void see_right(std::string_view when) {
    Levels levels(network_.nodes.size());  // as found: these are held elsewhere
    for (std::size_t n = 0; n < levels.size(); ++n) levels[n] = network_.level_of(n);
    const LocationTruth truth(network_, levels);
    for (const std::string& line : truth.list_wrong())
      wrong.push_back(fmt::format("{}: {}", when, line));
  }
  void note_labels() {
    for (const Leaf& leaf : leaves_)
      for (const std::size_t h : leaf.hosts) labels_[h] = network_.agent(h).location();
  }
  void see_same_labels() {
    for (const auto& [host, was] : labels_)
      if (const Tiers& is = network_.agent(host).location();
          !moved_.contains(host) && !core::are_same_tiers(is, was))
        wrong.push_back(fmt::format("{}: {} has become {}", network_.nodes[host].name(),
                                    core::location_text(was), core::location_text(is)));
  }

  Network network_;
  Random& random_ = network_.random();
  std::size_t pods_ = 0;
  std::size_t aggs_per_pod_ = 0;
  std::vector<std::size_t> aggs_{};
  std::vector<std::size_t> cables_{};
  std::vector<Leaf> leaves_{};
  std::set<std::size_t> moved_{};
  std::map<std::size_t, Tiers> labels_{};
  std::string story_{};
};

/// LOCATION_FABRICS=1000 LOCATION_SEED=1 lab_agents_test --gtest_filter='LocationChurn.*'
TEST(LocationChurn, LabelsAreThoseOfTheGraphAndStay) {
  const std::uint64_t first = number("LOCATION_SEED", 1);
  for (std::uint64_t i = 0; i < number("LOCATION_FABRICS", 10); ++i) {
    Churn churn(first + i);
    churn.run();
    for (const std::string& line : churn.wrong)
      ADD_FAILURE() << "seed " << first + i << ": " << line;
    if (!churn.wrong.empty()) std::fputs(churn.story().c_str(), stderr);
  }
}

}  // namespace
}  // namespace lldp::lab::agents
