// SPDX-License-Identifier: Apache-2.0
// Random fabrics that are given a hard time: docs/develop/rules.md holds at every moment. Of a
// fabric that fails all that befell it is printed; its seed makes it a test of its own.
#include "lab/agents/attack.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace lldp::lab::agents {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kParts = 4;

/// ATTACK_FABRICS=2000 ATTACK_SEED=1 attack_test: as many, from another seed on.
std::uint64_t number(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Through the rules of a dead agent there may be a cycle: docs/develop/rules.md, "What remains".
bool has_only_what_remains(const Ordeal& ordeal) {
  return std::ranges::all_of(
      ordeal.findings, [](const Finding& f) { return f.kind == Finding::Kind::kDeadAgentCycle; });
}

class Attack : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Parts, Attack, testing::Range<std::uint64_t>(0, kParts));

TEST_P(Attack, FindsNoCycleAndNoWrongLevel) {
  const std::uint64_t first = number("ATTACK_SEED", 1);
  const std::uint64_t fabrics = number("ATTACK_FABRICS", 60);
  std::uint64_t disagreements = 0;
  std::uint64_t proofs = 0;
  for (std::uint64_t i = GetParam(); i < fabrics; i += kParts) {
    const Ordeal ordeal = attack(first + i, i % 20 == 10, milliseconds(number("ATTACK_LATE", 0)));
    EXPECT_TRUE(has_only_what_remains(ordeal)) << to_text(ordeal);
    disagreements += ordeal.disagreements;
    proofs += ordeal.proofs;
  }
  EXPECT_GT(proofs, 0U);
  EXPECT_GT(disagreements, 0U);  // else this test tests little
}

// A new chassis ID that was to come with a restart, of an agent that had no more to send and so
// did not die.
TEST(AttackRepair, GivesEveryAgentItsSettings) {
  const Ordeal ordeal = attack(3'001'723, false);
  EXPECT_TRUE(ordeal.findings.empty()) << to_text(ordeal);
}

// A port that had something to do 264 s ago, and a network that went back to that time for it.
TEST(AttackTime, NeverGoesBack) {
  const Ordeal ordeal = attack(40'001'299, false);
  EXPECT_TRUE(ordeal.findings.empty()) << to_text(ordeal);
}

/// Fabrics in which something was wrong once.
struct Once {
  const char* name = "";
  std::uint64_t seed = 0;
  std::uint64_t late = 0;
};
class AttackOnce : public testing::TestWithParam<Once> {};
INSTANTIATE_TEST_SUITE_P(
    Fabrics, AttackOnce,
    testing::Values(
        // An old boot was not told that the port remembers a newer one, of a copy of its state.
        Once{"TwoBootsOfOneAgentId", 63},
        // The agent of before was heard for ever beside the new one, and no alarm said so.
        Once{"LostStateAndNewChassisId", 341}, Once{"LostStateAndNewChassisIdOfALeaf", 46},
        Once{"LostStateOnAHub", 4},
        // Frames of the former neighbor were heard after the cable was another.
        Once{"FrozenWhileItsCableMoved", 97},
        // A port with a stock host waited for an agent that another port remembered.
        Once{"StockHostWhereAnAgentWas", 197},
        // lldpd called a switch a station, and its agent began 61 ms later; rules were refused.
        Once{"StationThatIsASwitch", 1339},
        // A start whose state named no rank waited for its first port alone.
        Once{"StartBeforeTheFirstRank", 5'000'459, 1000},
        // A host without its state took nothing for what it had in force.
        Once{"HostWithoutItsState", 5'001'194, 20},
        // A switch without its state took its pinned level before it knew of a port.
        Once{"PinnedWithoutItsState", 6'000'638, 1000},
        // A start without its state listed a neighbor while a `down` of before was in force on
        // another port: rules were late, or refused.
        Once{"OldDownAfterALostState", 7'001'765, 1000}, Once{"OldDownThatWasRefused", 7'002'613},
        // Two that were new on a hub heard each other before the third.
        Once{"TwoNewOnAHub", 7'001'948, 20},
        // A switch that was deaf for the wait of a newcomer rose beside one that was down there for
        // another one; or for itself, before it lost its state as a host.
        Once{"DeafOnAHub", 100'000'763, 20}, Once{"DeafAfterALostState", 100'002'912},
        Once{"RisenBesideADown", 100'021'446, 1000},
        // The frames of one of two devices with one state directory hid those of the other.
        Once{"TwoWithOneState", 100'011'759},
        // Two that answered each other's starts left a third one no credit to answer two new ones.
        Once{"NoCreditOnAHub", 300'011'696, 20},
        // A tier that a switch is told of from below was no tier to the judge.
        Once{"TierNamedFromBelow", 7'000'825, 20},
        // A frame like the one before a borrowed chassis ID did not end the borrowing.
        Once{"BorrowedChassisId", 2987}, Once{"BorrowedChassisIdAndLateRules", 1736, 20}),
    [](const auto& once) { return once.param.name; });

TEST_P(AttackOnce, IsRightNow) {
  const Ordeal ordeal = attack(GetParam().seed, false, milliseconds(GetParam().late));
  EXPECT_TRUE(ordeal.findings.empty()) << to_text(ordeal);
}

}  // namespace
}  // namespace lldp::lab::agents
