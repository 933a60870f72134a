// SPDX-License-Identifier: Apache-2.0
#include "qos/chains.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <random>

namespace lldp::qos {
namespace {

using testing::ElementsAre;

constexpr DscpSet range(unsigned first, unsigned last) {
  DscpSet set;
  for (unsigned d = first; d <= last; ++d) set.insert(*Dscp::make(d));
  return set;
}
LosslessClass cls(unsigned priority, unsigned dscp, DscpSet others = {}) {
  const Dscp first = *Dscp::make(dscp);
  return {*Priority::make(priority), first, DscpSet(first) | others};
}

TEST(Chains, ReadsAClassOfSeveralDscpsAndItsSpare) {
  const auto chains = parse_chains("3:dscp26+24-31>2:dscp19");
  ASSERT_TRUE(chains) << chains.error().what;
  EXPECT_THAT(*chains, ElementsAre(Chain{{cls(3, 26, range(24, 31)), cls(2, 19)}}));
}

TEST(Chains, SeparatesChainsByCommasWhereTheyHaveArrows) {
  const auto chains = parse_chains(" 3:dscp3 > 2:dscp19 , 4:dscp4>lossy,5:dscp40+43 ");
  ASSERT_TRUE(chains) << chains.error().what;
  EXPECT_THAT(*chains, ElementsAre(Chain{{cls(3, 3), cls(2, 19)}}, Chain{{cls(4, 4)}},
                                   Chain{{cls(5, 40, DscpSet(Dscp::of<43>()))}}));
}

TEST(Chains, ReadsTheOldFormAsOneChain) {
  EXPECT_EQ(parse_chains("3:dscp3,4:dscp4"), parse_chains("3:dscp3>4:dscp4"));
  EXPECT_EQ(parse_chains("5:dscp43"), parse_chains("5:dscp43>lossy"));
}

TEST(Chains, KnowsThePresets) {
  for (const auto& [name, text] : kPresets) {
    const auto chains = parse_chains(name);
    ASSERT_TRUE(chains) << name;
    EXPECT_EQ(to_string(*chains), text);
    EXPECT_FALSE(against_turn_order(*chains)) << name;
  }
  EXPECT_EQ(parse_chains("none"), Chains{});
  EXPECT_EQ(to_string(Chains{}), "none");
}

struct Text {
  const char* name = "";
  std::string_view text{};
  std::string_view canonical{};
  friend void PrintTo(const Text& t, std::ostream* os) { *os << t.name; }
};
class ChainsText : public testing::TestWithParam<Text> {};
TEST_P(ChainsText, NamesTheMarkFirstAndReadsBack) {
  const auto chains = parse_chains(GetParam().text);
  ASSERT_TRUE(chains) << chains.error().what;
  EXPECT_EQ(to_string(*chains), GetParam().canonical);
  EXPECT_EQ(parse_chains(to_string(*chains)), *chains);
}
const Text kTexts[] = {
    {"RangeFromTheMark", "3:dscp24-31", "3:dscp24-31>lossy"},
    {"MarkWithinTheRange", "3:dscp26+24-31", "3:dscp26+24-31>lossy"},
    {"ListRising", "3:dscp26+30", "3:dscp26+30>lossy"},
    {"ListFalling", "3:dscp30+26", "3:dscp30+26>lossy"},
    {"Twice", "3:dscp30+26+26-27+30", "3:dscp30+26-27>lossy"},
    {"OneDigit", "3:dscp2+1+20-29", "3:dscp2+1-2+20-29>lossy"},
    {"FirstDigitAlike", "3:dscp2+20-29", "3:dscp2+20-29>lossy"},
    {"Ends", "3:dscp63+1", "3:dscp63+1>lossy"},
    {"AllButOne", "3:dscp1-63", "3:dscp1-63>lossy"},
    {"ThreeSteps", "3:dscp3>4:dscp4>2:dscp19", "3:dscp3>4:dscp4>2:dscp19"},
};
INSTANTIATE_TEST_SUITE_P(Texts, ChainsText, testing::ValuesIn(kTexts),
                         [](const auto& c) { return c.param.name; });

TEST(Chains, AnySetOfDscpsReadsBackFromItsText) {
  std::mt19937_64 random(35);
  for (int i = 0; i < 2000; ++i) {
    // Few, half and nearly all of them; 0 stays lossy.
    const std::uint64_t a = random(), b = random(), c = random();
    const DscpSet set((i % 3 == 0 ? a & b & c : i % 3 == 1 ? a : a | b | c) & ~std::uint64_t{1});
    if (set.empty()) continue;
    const auto members = set.members();
    const Chains chains{{{{Priority::of<3>(), members[random() % members.size()], set}}}};
    ASSERT_EQ(parse_chains(to_string(chains)), chains) << to_string(chains);
  }
}

struct Wrong {
  const char* name = "";
  std::string_view text{};
  std::string_view what{};
  friend void PrintTo(const Wrong& w, std::ostream* os) { *os << w.name; }
};
class ChainsRefusal : public testing::TestWithParam<Wrong> {};
TEST_P(ChainsRefusal, SaysWhatIsWrongAndWhatToWrite) {
  const auto chains = parse_chains(GetParam().text);
  ASSERT_FALSE(chains) << to_string(*chains);
  EXPECT_EQ(chains.error(), (Error{.where = "qos.lossless", .what = std::string(GetParam().what)}));
}
const Wrong kWrong[] = {
    {"NoSpareBehindTheArrow", "3:dscp3>", "an empty class: write PRIORITY:dscpN, as in 5:dscp43"},
    {"NoApplication", ">2:dscp19", "an empty class: write PRIORITY:dscpN, as in 5:dscp43"},
    {"LossyAlone", "lossy>2:dscp19", "'lossy': write PRIORITY:dscpN, as in 5:dscp43"},
    {"BehindLossy", "3:dscp3>lossy>2:dscp19", "'2:dscp19' after lossy: a chain ends with lossy"},
    {"PresetWithMore", "roce,4:dscp4", "'roce': write PRIORITY:dscpN, as in 5:dscp43"},
    {"RangeFalls", "3:dscp31-24", "'31-24' falls: write 24-31"},
    {"RangeOpen", "3:dscp24-", "'': a DSCP is a number from 0 to 63"},
    {"RangeOfThree", "3:dscp24-26-28", "'26-28': a DSCP is a number from 0 to 63"},
    {"RangeTooFar", "3:dscp24-64", "'64': a DSCP is a number from 0 to 63"},
    {"ListOpen", "3:dscp24+", "'': a DSCP is a number from 0 to 63"},
    {"SpareOfSeveral", "3:dscp3>2:dscp16-23",
     "'2:dscp16-23': a spare class has one DSCP: write 2:dscp16"},
    {"PriorityZero", "0:dscp3>2:dscp19",
     "priority 0 carries all traffic without a class: take another of 1 to 7"},
    {"PriorityInTwoChains", "3:dscp3>2:dscp19,4:dscp4>2:dscp20",
     "priority 2 stands twice: give each class its own"},
    {"DscpInTwoChains", "3:dscp24-31>2:dscp19,4:dscp4>5:dscp26",
     "dscp26 stands twice: give each class its own"},
    {"AllDscps", "3:dscp0-63", "all 64 DSCPs are lossless: leave one for qos.lossy"},
};
INSTANTIATE_TEST_SUITE_P(Texts, ChainsRefusal, testing::ValuesIn(kWrong),
                         [](const auto& c) { return c.param.name; });

TEST(TurnOrder, IsThreeFourTwoFiveOneSixSeven) {
  const unsigned ranks[] = {7, 4, 2, 0, 1, 3, 5, 6};
  for (unsigned p = 0; p <= Priority::kMax; ++p)
    EXPECT_EQ(turn_rank(*Priority::make(p)), ranks[p]) << p;
}

TEST(TurnOrder, NamesTheTurnAgainstItAndTheLineThatMendsIt) {
  const auto wrong = [](std::string_view text) {
    const auto error = against_turn_order(parse_chains(text).value());
    return error ? error->where + ": " + error->what : "";
  };
  EXPECT_EQ(wrong("3:dscp3>2:dscp19,4:dscp4>6:dscp6"), "");
  EXPECT_EQ(wrong("2:dscp19>3:dscp3"),
            "qos.lossless: a turn from priority 2 to 3 goes against the order 3 4 2 5 1 6 7: write "
            "qos.lossless = 3:dscp3>2:dscp19");
  EXPECT_EQ(wrong("3:dscp3>2:dscp19,6:dscp48+51>5:dscp43"),
            "qos.lossless: a turn from priority 6 to 5 goes against the order 3 4 2 5 1 6 7: write "
            "qos.lossless = 3:dscp3>2:dscp19,5:dscp43>6:dscp48");
}

TEST(Spares, AreTheFirstFreeInTheFixedOrder) {
  const auto chains = [](std::vector<LosslessClass> applications, std::uint8_t taken = 0) {
    return to_string(with_spares(std::move(applications), taken));
  };
  const LosslessClass roce = cls(3, 26, range(24, 31));
  EXPECT_EQ(chains({}), "none");
  EXPECT_EQ(chains({roce}), "3:dscp26+24-31>2:dscp19");
  EXPECT_EQ(chains({cls(4, 4), cls(3, 3)}), "3:dscp3>2:dscp19,4:dscp4>5:dscp43");
  EXPECT_EQ(chains({cls(2, 16), cls(3, 3), cls(4, 4)}),
            "3:dscp3>5:dscp43,4:dscp4>1:dscp11,2:dscp16>lossy");
  EXPECT_EQ(chains({cls(5, 46)}), "5:dscp46>1:dscp11");
  EXPECT_EQ(chains({cls(1, 10)}), "1:dscp10>lossy");
  EXPECT_EQ(chains({cls(6, 48)}), "6:dscp48>lossy");
  EXPECT_EQ(chains({roce}, 0b100), "3:dscp26+24-31>5:dscp43") << "the platform has 2 for lossy";
  EXPECT_EQ(chains({cls(3, 19)}), "3:dscp19>5:dscp43") << "2's DSCP is the application's";
}

TEST(Spares, NeverGoAgainstTheOrderNorClash) {
  for (unsigned mask = 0; mask < 256; mask += 2) {
    std::vector<LosslessClass> applications;
    for (unsigned p = 1; p <= Priority::kMax; ++p)
      if ((mask >> p & 1) != 0) applications.push_back(lossless_class(*Priority::make(p), {}));
    for (unsigned taken = 0; taken < 256; ++taken) {
      const Chains chains = with_spares(applications, static_cast<std::uint8_t>(taken));
      ASSERT_FALSE(against_turn_order(chains)) << to_string(chains);
      ASSERT_EQ(parse_chains(to_string(chains)), chains) << "no priority and no DSCP twice";
      for (const Chain& c : chains)
        if (c.classes.size() > 1) {
          const unsigned spare = c.classes[1].priority.value();
          ASSERT_TRUE(spare == 1 || spare == 2 || spare == 5) << spare;
          ASSERT_EQ(taken >> spare & 1, 0) << spare;
        }
    }
  }
}

TEST(LosslessClassOf, EvidenceWithoutADscpIsMarkedByTheUsualOne) {
  EXPECT_EQ(to_string(lossless_class(Priority::of<3>(), {})), "3:dscp26");
  EXPECT_EQ(to_string(lossless_class(Priority::of<3>(), range(24, 31))), "3:dscp26+24-31");
  EXPECT_EQ(to_string(lossless_class(Priority::of<3>(), DscpSet(Dscp::of<3>()))), "3:dscp3");
}

}  // namespace
}  // namespace lldp::qos
