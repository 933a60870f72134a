// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"

namespace lldp::lab::agents {

/// What docs/develop/rules.md says cannot be: a cycle at any moment; or, half an hour after the
/// last repair, a wrong level that no alarm explains, an order that the ends of a link do not
/// share, or a wrong location.
struct Finding {
  enum class Kind : std::uint8_t { kCycle, kDeadAgentCycle, kLevel, kOrder, kLocation };
  Kind kind{};
  std::string text{};
};

/// What came of one fabric that was given a hard time.
struct Ordeal {
  std::uint64_t seed = 0;
  std::string fabric{};              ///< `fattree 4: 36 devices, 48 cables, ...`
  std::vector<std::string> story{};  ///< all that befell it, in order
  std::vector<Finding> findings{};
  std::size_t on_memory =
      0;  ///< switches at the end whose alarm says that their level may be wrong
  std::size_t forgotten = 0;  ///< ports that an operator had to have forget, as an alarm said
  std::uint64_t events = 0;
  std::uint64_t proofs = 0;
  std::uint64_t disagreements = 0;  ///< of the ends of a link about its order, when proved
  Duration lasted{};                ///< of virtual time
};

/// A fabric drawn from the seed (two and three levels, k-ary, with peer links and odd cables), and
/// what can befall one: frames lost, repeated and delayed, links that flap, agents that die at any
/// point and come back with the state their file held, switches that say host for a while, servers
/// where none belong, all servers off, pins, switches moved to each other's place, new chassis IDs.
/// The proof runs after every event, on the rules in force: these follow what is asked for by up to
/// `rules_late`. Levels and orders are held against the truth half an hour after all is repaired.
/// `long_ago`: what lasts may last for days, so that levels are established meanwhile. The same
/// seed gives the same ordeal on any machine.
[[nodiscard]] Ordeal attack(std::uint64_t seed, bool long_ago, Duration rules_late = {});

/// The findings, and the story that leads to them.
[[nodiscard]] std::string to_text(const Ordeal& ordeal);

}  // namespace lldp::lab::agents
