// SPDX-License-Identifier: Apache-2.0
#include "qos/policy.hpp"

#include <gtest/gtest.h>

#include <map>
#include <ostream>

namespace lldp::qos {
namespace {

template <std::uint64_t P, std::uint64_t D>
constexpr Class cls() {
  return {Priority::of<P>(), Dscp::of<D>()};
}

TEST(Policy, DefaultIsWhatItsTextsSay) {
  EXPECT_EQ(Policy::parse(Policy::kDefaultLossless, Policy::kDefaultLossy), Policy());
  EXPECT_EQ(Policy().lossless_text(), "5:dscp43>6:dscp51");
  EXPECT_EQ(Policy().lossy_text(), Policy::kDefaultLossy);
}

TEST(Policy, DefaultLosslessClassesAreForLocalUseAndFallIntoTheirOwnQueues) {
  const Policy policy;
  for (const Class& c : policy.lossless()) {
    EXPECT_EQ(well_known_name(c.dscp), "");
    EXPECT_EQ(c.dscp.value() & 3, 3) << "pool 2 is xxxx11, RFC 2474 6";
    EXPECT_EQ(c.dscp.value() >> 3, c.priority.value()) << "the default map of most equipment";
  }
}

TEST(Policy, ReadsAnyNumberOfLosslessClassesInOrder) {
  const auto policy = Policy::parse(" 1:dscp7 , 3 : dscp27,5:dscp43", "2:dscp0");
  ASSERT_TRUE(policy) << to_string(policy.error());
  EXPECT_EQ(policy->lossless(), (std::vector{cls<1, 7>(), cls<3, 27>(), cls<5, 43>()}));
  EXPECT_EQ(policy->lossy(), (cls<2, 0>()));
  EXPECT_EQ(policy->pfc_enable(), 0b101010);
  EXPECT_EQ(Policy::parse(policy->lossless_text(), policy->lossy_text()), *policy);
}

TEST(Policy, ATurnGoesToTheNextClassAndFromTheLastToTheLossyOne) {
  EXPECT_EQ(Policy().turns(),
            (std::vector<Remap>{{cls<5, 43>(), cls<6, 51>()}, {cls<6, 51>(), cls<0, 0>()}}));
  EXPECT_EQ(Policy::parse("3:dscp27", "0:dscp0")->turns(),
            (std::vector<Remap>{{cls<3, 27>(), cls<0, 0>()}}));
}

TEST(Policy, MakesAnyNumberOfLosslessClasses) {
  EXPECT_EQ(Policy::with_lossless(1).lossless_text(), "5:dscp43>lossy");
  EXPECT_EQ(Policy::with_lossless(2), Policy());
  EXPECT_EQ(Policy::with_lossless(4).lossless_text(), "4:dscp35>5:dscp43>6:dscp51>7:dscp59");
  for (std::size_t n = 1; n <= 7; ++n) {
    const Policy made = Policy::with_lossless(n);
    EXPECT_EQ(made.lossless().size(), n);
    EXPECT_FALSE(against_turn_order(made.chains()));
    EXPECT_EQ(Policy::parse(made.lossless_text(), made.lossy_text()), made);
  }
}

TEST(Policy, ATurnKeepsToItsChainAndTakesEveryDscpOfTheClass) {
  const Policy two = Policy::parse("3:dscp26+24-25>2:dscp19,4:dscp4>5:dscp43", "0:dscp0").value();
  EXPECT_EQ(two.turns(), (std::vector<Remap>{{cls<3, 26>(), cls<2, 19>()},
                                             {cls<3, 24>(), cls<2, 19>()},
                                             {cls<3, 25>(), cls<2, 19>()},
                                             {cls<2, 19>(), cls<0, 0>()},
                                             {cls<4, 4>(), cls<5, 43>()},
                                             {cls<5, 43>(), cls<0, 0>()}}));
  EXPECT_EQ(two.lossless(), (std::vector{cls<3, 26>(), cls<2, 19>()})) << "of the first chain";
  EXPECT_EQ(two.pfc_enable(), 0b111100);
  EXPECT_EQ(two.application_priorities(), 0b011000);
}

TEST(Policy, RestoringTurnsASpareIntoItsApplicationClass) {
  const Policy two = Policy::parse("3:dscp26+24-31>2:dscp19,4:dscp4>5:dscp43", "0:dscp0").value();
  EXPECT_EQ(two.restored(cls<2, 19>()), (cls<3, 26>()));
  EXPECT_EQ(two.restored(cls<5, 43>()), (cls<4, 4>()));
  EXPECT_EQ(two.restored(cls<3, 24>()), (cls<3, 24>())) << "it is the application's own";
  EXPECT_EQ(two.restored(cls<0, 0>()), (cls<0, 0>()));
  EXPECT_EQ(two.restored(cls<2, 20>()), (cls<2, 20>())) << "not a DSCP of the class";
}

TEST(Policy, WithoutLosslessClassesTurnsNothing) {
  const Policy none = Policy::parse("none", "0:dscp0").value();
  EXPECT_EQ(none.lossless(), std::vector<Class>());
  EXPECT_EQ(none.turns(), std::vector<Remap>());
  EXPECT_EQ(none.pfc_enable(), 0);
  EXPECT_EQ(none.lossless_text(), "none");
}

TEST(Policy, TakesEveryPriorityButZero) {
  const std::string seven = "1:dscp11,2:dscp19,3:dscp27,4:dscp35,5:dscp43,6:dscp51,7:dscp59";
  EXPECT_TRUE(Policy::parse(seven, "0:dscp0"));
  EXPECT_EQ(Policy::parse("0:dscp3," + seven, "0:dscp0").error(),
            (Error{.where = "qos.lossless",
                   .what = "priority 0 carries all traffic without a class: take another of 1 to "
                           "7"}));
}

struct Refusal {
  const char* name = "";
  std::string_view lossless{};
  std::string_view lossy{};
  Error error{};
  friend void PrintTo(const Refusal& r, std::ostream* os) { *os << r.name; }
};
class PolicyRefusal : public testing::TestWithParam<Refusal> {};
TEST_P(PolicyRefusal, SaysWhatIsWrongAndWhatToDo) {
  const auto policy = Policy::parse(GetParam().lossless, GetParam().lossy);
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error(), GetParam().error);
}

Error lossless(std::string what) { return {.where = "qos.lossless", .what = std::move(what)}; }
Error lossy(std::string what) { return {.where = "qos.lossy", .what = std::move(what)}; }

const Refusal kRefusals[] = {
    {"Empty", "", "0:dscp0", lossless("an empty class: write PRIORITY:dscpN, as in 5:dscp43")},
    {"EmptyPart", "5:dscp43,,6:dscp51", "0:dscp0",
     lossless("an empty class: write PRIORITY:dscpN, as in 5:dscp43")},
    {"EmptyEnd", "5:dscp43,", "0:dscp0",
     lossless("an empty class: write PRIORITY:dscpN, as in 5:dscp43")},
    {"NoColon", "5", "0:dscp0", lossless("'5': write PRIORITY:dscpN, as in 5:dscp43")},
    {"NoPriority", ":dscp43", "0:dscp0",
     lossless("':dscp43': write PRIORITY:dscpN, as in 5:dscp43")},
    {"DscpWithoutItsWord", "5:43", "0:dscp0",
     lossless("'5:43': write PRIORITY:dscpN, as in 5:dscp43")},
    {"PriorityNotANumber", "five:dscp43", "0:dscp0",
     lossless("'five': a priority is a number from 0 to 7")},
    {"PriorityTooBig", "8:dscp43", "0:dscp0", lossless("'8': a priority is a number from 0 to 7")},
    {"PriorityNegative", "-1:dscp43", "0:dscp0",
     lossless("'-1': a priority is a number from 0 to 7")},
    {"PriorityThatWouldWrapRound", "4294967301:dscp43", "0:dscp0",
     lossless("'4294967301': a priority is a number from 0 to 7")},
    {"DscpNotANumber", "5:dscpEF", "0:dscp0", lossless("'EF': a DSCP is a number from 0 to 63")},
    {"DscpMissing", "5:dscp", "0:dscp0", lossless("'': a DSCP is a number from 0 to 63")},
    {"DscpTooBig", "5:dscp64", "0:dscp0", lossless("'64': a DSCP is a number from 0 to 63")},
    {"DscpWithATail", "5:dscp43x", "0:dscp0", lossless("'43x': a DSCP is a number from 0 to 63")},
    {"ControlCharacters", "5\x1b:dscp43", "0:dscp0",
     lossless("'5\\x1b': a priority is a number from 0 to 7")},
    {"DscpTwice", "5:dscp43,6:dscp43", "0:dscp0",
     lossless("dscp43 stands twice: give each class its own")},
    {"PriorityTwice", "5:dscp43,5:dscp51", "0:dscp0",
     lossless("priority 5 stands twice: give each class its own")},
    {"LossyPriorityIsLossless", "5:dscp43,6:dscp51", "6:dscp0",
     lossy("priority 6 is that of a lossless class: take another")},
    {"LossyDscpIsLossless", "5:dscp43,6:dscp51", "0:dscp51",
     lossy("dscp51 is one of lossless priority 6: take another")},
    {"LossyEmpty", "5:dscp43", "", lossy("an empty class: write PRIORITY:dscpN, as in 5:dscp43")},
    {"LossyTwoClasses", "5:dscp43", "0:dscp0,1:dscp1",
     lossy("'0,1:dscp1': a DSCP is a number from 0 to 63")},
    {"LossyOfSeveralDscps", "5:dscp43", "0:dscp0-7",
     lossy("'0:dscp0-7': this class has one DSCP: write 0:dscp0")},
    {"LossyDscpWithinARange", "3:dscp24-31", "0:dscp25",
     lossy("dscp25 is one of lossless priority 3: take another")},
};
INSTANTIATE_TEST_SUITE_P(Texts, PolicyRefusal, testing::ValuesIn(kRefusals),
                         [](const auto& c) { return c.param.name; });

TEST(WellKnownName, KnowsTheRegistryAndNothingElse) {
  // By what the RFCs say of their numbers, and not by the table.
  std::map<unsigned, std::string> names{{1, "LE"}, {44, "VOICE-ADMIT"}, {45, "NQB"}, {46, "EF"}};
  for (unsigned c = 0; c <= 7; ++c) names[8 * c] = "CS" + std::to_string(c);  // RFC 2474 4.2.2
  for (unsigned x = 1; x <= 4; ++x)
    for (unsigned y = 1; y <= 3; ++y)  // RFC 2597 6
      names[8 * x + 2 * y] = "AF" + std::to_string(x) + std::to_string(y);
  for (unsigned d = 0; d <= Dscp::kMax; ++d)
    EXPECT_EQ(well_known_name(*Dscp::make(d)), names[d]) << d;
}

}  // namespace
}  // namespace lldp::qos
