// SPDX-License-Identifier: Apache-2.0
// The level inference against the rules read literally: docs/develop/rules.md L1 to L4.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>

#include "tests/core/support/device.hpp"

namespace lldp::core {
namespace {

using namespace test;

/// The rules once more, straight from the text over all ports and with no counts or timers kept,
/// for comparison: one decision a second.
struct Oracle {
  std::optional<unsigned> level{};
  int supported = 0;  ///< seconds
  std::set<std::uint64_t> surroundings{};
  std::optional<unsigned> withdrawn{};
  int since_withdrawal = 0, lower_for = 0, raise_for = 0;
  bool had_support = false;

  void take(std::optional<unsigned> l) {
    level = l;
    supported = lower_for = raise_for = 0;
    surroundings.clear();
  }
  void decide(const std::map<int, Heard>& ports, int elapsed, bool renounced) {
    std::optional<unsigned> lowest;
    std::map<std::uint64_t, int> switches;
    std::set<unsigned> levels;
    for (const auto& [port, h] : ports) {
      if (h.lowest) lowest = std::min<unsigned>(lowest.value_or(255), h.lowest->value());
      for (const auto& s : h.switches) ++switches[s.chassis], levels.insert(s.level.value());
    }
    if (had_support) supported += elapsed;
    if (lower_for >= 0) lower_for += elapsed;
    if (raise_for >= 0) raise_for += elapsed;
    since_withdrawal += elapsed;
    const auto learn = [&] {
      for (const auto& [id, times] : switches) surroundings.insert(id);
    };
    const auto moved = [&] {
      const auto known = std::count_if(switches.begin(), switches.end(), [&](const auto& s) {
        return surroundings.contains(s.first);
      });
      return !switches.empty() && 2 * static_cast<std::size_t>(known) <= switches.size();
    };
    const std::optional<unsigned> f = lowest ? std::optional(*lowest + 1) : std::nullopt;
    if (!level && f && *f <= 8 && !(withdrawn && since_withdrawal < 5 && *f > *withdrawn))
      take(f), withdrawn.reset();
    const bool established = supported >= 100;
    if (level && f && *f < *level && !established) take(f);
    bool lowering = false;
    bool raising = false;
    const bool until_now = had_support;
    had_support = false;
    if (level && f == level) {
      had_support = true;
      learn();
    } else if (level && f && *f < *level) {
      int below = 0;
      for (const auto& [port, h] : ports) below += h.lowest && h.lowest->value() < *level - 1;
      if (levels.contains(*level - 1)) learn();
      lowering = below >= 2 || (!levels.contains(*level - 1) && moved());
      if (lowering && lower_for < 0) lower_for = 0;
      if (lowering && lower_for >= 60) {
        take(f);
        had_support = true;
        learn();
        lowering = false;
      }
    } else if (level && (!established || moved())) {
      if (!established && until_now && renounced) {
        withdrawn = level, since_withdrawal = 0;
        take({});
      } else if (f) {
        raising = true;
        if (raise_for < 0) raise_for = 0;
        if (raise_for >= 60) {
          withdrawn = level, since_withdrawal = 0;
          take({});
          raising = false;
        }
      }
    }
    if (!lowering) lower_for = -1;
    if (!raising) raise_for = -1;
  }
};

TEST(Inference, AgreesWithTheRulesReadLiterally) {
  std::mt19937 random(7);
  std::map<std::string, int> seen;  // else this test tests little
  for (int run = 0; run < 200; ++run) {
    Device d;
    d.set([](auto& r) { r.establish = seconds(100); });
    Oracle oracle;
    for (int i = 0; i < 80; ++i) {
      const int port = static_cast<int>(random() % 4);
      const auto id = random() % 6 + 1;
      const bool renounced = random() % 8 == 0;
      const auto before = d.level();
      if (random() % 3 == 0)
        d.hear(port, Heard{}, renounced);
      else
        d.hear(port, static_cast<unsigned>(random() % 5), id, renounced);
      oracle.decide(d.ports, 0, renounced);
      ASSERT_EQ(d.level(), oracle.level) << "run " << run << " step " << i;
      if (before && !d.level()) ++seen["renounced"];
      for (auto wait = random() % 4 == 0 ? random() % 130 : random() % 4; wait > 0; --wait) {
        const auto was = d.level();
        d.pass(seconds(1));
        oracle.decide(d.ports, 1, false);
        ASSERT_EQ(d.level(), oracle.level)
            << "run " << run << " after waiting, step " << i << " " << wait;
        if (was && !d.level()) ++seen["withdrawn"];
        if (!was && d.level()) ++seen["hold over"];
        if (was && d.level() && *d.level() < *was) ++seen["lowered"];
      }
    }
  }
  EXPECT_EQ(seen.size(), 4U);
}

}  // namespace
}  // namespace lldp::core
