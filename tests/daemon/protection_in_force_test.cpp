// SPDX-License-Identifier: Apache-2.0
// Which requests of the agent are in force: what it may promise to neighbors.
#include "tests/daemon/protection_fixture.hpp"

namespace lldp::io::test {
namespace {

class RulesInForce : public ProtectionTest {
 protected:
  RulesInForce() { kernel_.tells = true; }
  std::uint32_t requested(Ifindex port) const { return agent_.request(port).generation; }
  /// In force since this was last called, as the agent hears of it.
  std::vector<std::uint32_t> confirmed(Ifindex port) {
    std::vector<std::uint32_t> generations;
    core::Actions out;
    for (const Protection::InForce& done : protection_->take_in_force()) {
      agent_.in_force(done.port, done.generation, now_, out);
      if (done.port == port) generations.push_back(done.generation);
    }
    return generations;
  }
  void lose_carrier(Ifindex port, bool up = false) {
    core::Link changed = link(port, 1);
    changed.up = up;
    changed.carrier_changes = ++carrier_changes_;
    core::Actions out;
    agent_.set_link(changed, now_, out);
    protection_->update(port, now_);
  }
  std::uint32_t carrier_changes_ = 0;
};

TEST_F(RulesInForce, AreConfirmedAtOnceByABackEndThatIsDoneAtOnce) {
  start({kPort, kOther});
  EXPECT_THAT(confirmed(kPort), IsEmpty()) << "nothing is requested yet";
  hear(kPort, Level::of<2>());
  ASSERT_GT(requested(kPort), 0U);
  protection_->update(kPort, now_);
  EXPECT_THAT(confirmed(kPort), ElementsAre(requested(kPort)));
  pass(seconds(60));
  EXPECT_THAT(confirmed(kPort), IsEmpty()) << "once";
}

TEST_F(RulesInForce, AreNotConfirmedBeforeASlowBackEndAnswers) {
  hear(kPort, Level::of<2>());
  kernel_.slow = true;
  start();
  pass(seconds(20));
  EXPECT_THAT(confirmed(kPort), IsEmpty());
  kernel_.slow = false;
  protection_->take_events(now_);
  EXPECT_THAT(confirmed(kPort), ElementsAre(requested(kPort)));
}

// SONiC's database has them long before the ASIC.
TEST_F(RulesInForce, AreConfirmedWhenTheyAreReadWhereTheyAct) {
  hear(kPort, Level::of<2>());
  kernel_.behind = true;
  start();
  pass(seconds(3));
  EXPECT_THAT(confirmed(kPort), IsEmpty());
  kernel_.behind = false;
  kernel_.events = {Ifindex()};
  protection_->take_events(now_);
  turn();
  EXPECT_THAT(confirmed(kPort), ElementsAre(requested(kPort)));
}

TEST_F(RulesInForce, AreNotConfirmedWhereAnotherThingStandsInTheirPlace) {
  hear(kPort, Level::of<2>());
  kernel_.behind = true;
  kernel_.obstacles[{kPort, Part::kRemap}] = {Part::kRemap, PartState::kForeign, "a qdisc"};
  start();
  kernel_.behind = false;
  pass(seconds(3));
  EXPECT_THAT(confirmed(kPort), IsEmpty());
  // What no back end can do is not waited for.
  kernel_.obstacles[{kPort, Part::kRemap}].state = PartState::kUnsupported;
  protection_->link_changed(kPort);
  turn();
  EXPECT_THAT(confirmed(kPort), ElementsAre(requested(kPort)));
}

TEST_F(RulesInForce, RefusedRequestIsConfirmedWhenItSucceeds) {
  hear(kPort, Level::of<2>());
  kernel_.refuse_all = "busy";
  start();
  pass(seconds(20));
  EXPECT_THAT(confirmed(kPort), IsEmpty());
  kernel_.refuse_all.clear();
  pass(seconds(30));
  EXPECT_THAT(confirmed(kPort), ElementsAre(requested(kPort)));
}

// A change under way may still come into force: it is no confirmation of a later request.
TEST_F(RulesInForce, EachRequestIsConfirmedByItsOwnChange) {
  hear(kPort, std::nullopt);
  kernel_.slow = true;
  start();
  const std::uint32_t down = requested(kPort);
  hear(kPort, Level::of<2>());
  protection_->update(kPort, now_);
  const std::uint32_t up = requested(kPort);
  ASSERT_GT(up, down);
  kernel_.answers = 1;
  protection_->take_events(now_);
  EXPECT_THAT(confirmed(kPort), ElementsAre(down));
  kernel_.answers = 1;
  protection_->take_events(now_);
  EXPECT_THAT(confirmed(kPort), ElementsAre(up));
  EXPECT_EQ(programmed(kPort), Order::kUp);
}

TEST_F(RulesInForce, OrderThatCameBackIsConfirmedWithoutAChange) {
  hear(kPort, Level::of<2>());
  start();
  static_cast<void>(confirmed(kPort));
  const int applies = kernel_.applies;
  const core::Request before = agent_.request(kPort);
  core::Actions out;
  for (const bool up : {false, true}) {  // and no rules are asked for between
    core::Link changed = link(kPort, 1);
    changed.up = up;
    changed.carrier_changes = ++carrier_changes_;
    agent_.set_link(changed, now_, out);
  }
  hear(kPort, std::nullopt);
  hear(kPort, Level::of<2>());
  ASSERT_EQ(agent_.request(kPort).order, before.order);
  ASSERT_GT(requested(kPort), before.generation);
  protection_->update(kPort, now_);
  EXPECT_THAT(confirmed(kPort), ElementsAre(requested(kPort)));
  EXPECT_EQ(kernel_.applies, applies);
}

TEST_F(RulesInForce, ClassesThatChangeAreNoOtherRequest) {
  hear(kPort, Level::of<2>());
  start();
  EXPECT_THAT(confirmed(kPort), ElementsAre(requested(kPort)));
  protection_->update_all(*qos::Policy::parse("3:dscp26", "0:dscp0"), now_);
  turn();
  EXPECT_THAT(confirmed(kPort), IsEmpty());
}

TEST_F(RulesInForce, BackEndThatIsAwayConfirmsWhenItIsBack) {
  hear(kPort, Level::of<2>());
  start();
  static_cast<void>(confirmed(kPort));
  kernel_.down = Error{0, "backend fake", "it is away"};
  protection_->take_events(now_);
  hear(kPort, std::nullopt);
  protection_->update(kPort, now_);
  pass(seconds(5));
  EXPECT_THAT(confirmed(kPort), IsEmpty());
  kernel_.down.reset();
  protection_->take_events(now_);
  turn();
  EXPECT_THAT(confirmed(kPort), ElementsAre(requested(kPort)));
}

TEST_F(RulesInForce, WithoutABackEndThereIsNothingToWaitFor) {
  hear(kOther, std::nullopt);
  open(nullptr).add(kOther, now_);
  EXPECT_THAT(confirmed(kOther), ElementsAre(requested(kOther)));
  protection_->add(kPort, now_);
  hear(kPort, Level::of<2>());
  protection_->update(kPort, now_);
  EXPECT_THAT(confirmed(kPort), ElementsAre(requested(kPort)));
  EXPECT_EQ(summary().state, State::kInactive);
}

TEST_F(RulesInForce, BackEndThatCannotBeOpenedConfirmsNothing) {
  hear(kPort, Level::of<2>());
  open([] { return fail(Error{EPERM, "bpf", "no"}); }).add(kPort, now_);
  pass(seconds(60));
  EXPECT_THAT(confirmed(kPort), IsEmpty());
}

TEST_F(RulesInForce, PortThatIsOursAgainIsConfirmedAnew) {
  hear(kPort, Level::of<2>());
  start();
  EXPECT_THAT(confirmed(kPort), ElementsAre(requested(kPort)));
  protection_->remove(kPort, now_);
  protection_->add(kPort, now_);
  turn();
  EXPECT_THAT(confirmed(kPort), ElementsAre(requested(kPort)));
}

}  // namespace
}  // namespace lldp::io::test
