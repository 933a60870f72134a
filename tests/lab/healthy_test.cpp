// SPDX-License-Identifier: Apache-2.0
// An ordinary fabric that is healthy, for 1,000 s: links flap, daemons restart. An alarm stands
// only at a device that such an event concerns, while it lasts and some seconds after; and no alarm
// comes and goes more often than events do.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "lab/agents/network.hpp"
#include "lab/des/random.hpp"

namespace lldp::lab::agents {
namespace {

using namespace std::chrono_literals;

/// So long after an event all has to be as before.
constexpr Duration kHealed = 6s;
constexpr Duration kStarted = 90s;  ///< levels, ranks and their acknowledgements

class Healthy : public testing::TestWithParam<std::uint64_t> {
 protected:
  static constexpr std::size_t kLeaves = 4;
  static constexpr std::size_t kSpines = 2;

  static void TearDownTestSuite() {
    EXPECT_GT(seen_in_all, 0U) << "no alarm was ever seen: the test looks at nothing";
  }
  static inline std::size_t seen_in_all = 0;

  Healthy() {
    for (std::size_t i = 0; i < kSpines; ++i) add("spine", i, Role::kSwitch);
    for (std::size_t i = 0; i < kLeaves; ++i) {
      const std::size_t leaf = add("leaf", i, Role::kSwitch);
      for (std::size_t s = 0; s < kSpines; ++s) net_.connect(leaf, s);
      for (std::size_t h = 0; h < 2; ++h) net_.connect(add("host", 2 * i + h, Role::kHost), leaf);
    }
    wrong_until_.resize(net_.nodes.size(), Network::kBegin + kStarted);
  }
  std::size_t add(const char* kind, std::size_t i, Role role) {
    core::Settings s;
    s.role = role;
    s.system_name = fmt::format("{}{}", kind, i);
    s.chassis_id = ChassisId{{ChassisId::kLocal, s.system_name}};
    return net_.add(std::move(s));
  }
  void concern(std::size_t node, Duration lasts) {
    ++events_[node];
    wrong_until_[node] = std::max(wrong_until_[node], net_.now + lasts + kHealed);
  }
  /// A flap of 10 ms to 3 s.
  void flap() {
    const std::size_t c = random_.below(net_.cables.size());
    if (!net_.cables[c].up) return;
    const Duration lasts = 10ms * static_cast<int>(1 + random_.below(300));
    concern(net_.cables[c].a.node, lasts);
    concern(net_.cables[c].b.node, lasts);
    net_.set_cable(c, false);
    net_.at(net_.now + lasts, [this, c] { net_.set_cable(c, true); });
  }
  /// A restart, orderly or not, as a service manager does it.
  void restart() {
    const std::size_t node = random_.below(net_.nodes.size());
    if (!net_.nodes[node].agent) return;
    const Duration lasts = 100ms * static_cast<int>(1 + random_.below(20));
    concern(node, lasts);
    for (const Network::Cable& cable : net_.cables)
      if (cable.joins(node)) concern(cable.a.node == node ? cable.b.node : cable.a.node, lasts);
    net_.stop(node, random_.chance(0.7));
    net_.at(net_.now + lasts, [this, node] { net_.start(node); });
  }
  void look() {
    for (std::size_t n = 0; n < net_.nodes.size(); ++n) {
      const auto& agent = net_.nodes[n].agent;
      if (!agent) continue;
      std::set<std::tuple<std::size_t, std::string, std::string>> now;
      for (const core::Alarm& alarm : agent->snapshot(net_.now).alarms) {
        const std::string code(to_string(alarm.code));
        EXPECT_FALSE(alarm.text.empty()) << code;
        now.emplace(n, code, alarm.port);
        EXPECT_LE(net_.now, wrong_until_[n])
            << net_.nodes[n].name() << ": " << code << " " << alarm.port << ": " << alarm.text
            << " at " << std::chrono::duration<double>(net_.now - Network::kBegin).count() << " s";
      }
      for (const auto& alarm : now)
        if (!standing_.contains(alarm)) ++raised_[alarm];
      std::erase_if(standing_, [&](const auto& a) { return std::get<0>(a) == n; });
      standing_.insert(now.begin(), now.end());
    }
  }

  Network net_{GetParam()};
  Random random_{GetParam()};
  std::vector<TimePoint> wrong_until_;
  std::map<std::size_t, std::size_t> events_;
  std::set<std::tuple<std::size_t, std::string, std::string>> standing_;
  std::map<std::tuple<std::size_t, std::string, std::string>, std::size_t> raised_;
};
INSTANTIATE_TEST_SUITE_P(Seeds, Healthy, testing::Range<std::uint64_t>(1, 9));

TEST_P(Healthy, AlarmsStandWhileSomethingIsWrongAndNoneFlaps) {
  net_.start_all();
  std::size_t flaps = 0;
  for (TimePoint t = Network::kBegin; t < Network::kBegin + 1000s + kHealed; t += 1s) {
    net_.run_until(t);
    if (t > Network::kBegin + kStarted && t < Network::kBegin + 1000s && random_.chance(0.1)) {
      random_.chance(0.7) ? flap() : restart();
      ++flaps;
    }
    look();
  }
  EXPECT_GT(flaps, 50U);
  seen_in_all += raised_.size();
  for (const auto& [alarm, times] : raised_) {
    const auto& [node, code, port] = alarm;
    // One more of the start.
    EXPECT_LE(times, events_[node] + 1) << net_.nodes[node].name() << ": " << code << " " << port;
  }
  EXPECT_TRUE(standing_.empty());
}

}  // namespace
}  // namespace lldp::lab::agents
