// SPDX-License-Identifier: Apache-2.0
// Random fabrics that are given a hard time: docs/develop/rules.md holds at every moment. Of a fabric that
// fails all that befell it is printed; its seed makes it a test of its own.
#include "lab/agents/attack.hpp"

#include <gtest/gtest.h>

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

class Attack : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Parts, Attack, testing::Range<std::uint64_t>(0, kParts));

TEST_P(Attack, FindsNoCycleAndNoWrongLevel) {
  const std::uint64_t first = number("ATTACK_SEED", 1);
  const std::uint64_t fabrics = number("ATTACK_FABRICS", 60);
  std::uint64_t disagreements = 0;
  std::uint64_t proofs = 0;
  for (std::uint64_t i = GetParam(); i < fabrics; i += kParts) {
    const Ordeal ordeal = attack(first + i, i % 20 == 10, milliseconds(number("ATTACK_LATE", 0)));
    EXPECT_TRUE(ordeal.findings.empty()) << to_text(ordeal);
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

// A switch that stopped with rules in force and came back as a host: it acknowledged any rank while
// a rule of its former life was there.
TEST(AttackRole, HostThatWasASwitchCountsItsOldRules) {
  const Ordeal ordeal = attack(1'015'047, false, milliseconds(1000));
  EXPECT_TRUE(ordeal.findings.empty()) << to_text(ordeal);
}

}  // namespace
}  // namespace lldp::lab::agents
