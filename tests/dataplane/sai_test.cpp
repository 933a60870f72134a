// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <set>

#include "dataplane/factory.hpp"
#include "dataplane/sai/messages.hpp"
#include "os/file.hpp"
#include "tests/dataplane/sai_fixture.hpp"

namespace lldp::dataplane {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

PortRef port_of(int i) { return SaiTest::port_of(i); }

class SaiWorld : public World {
 public:
  explicit SaiWorld(bool no_rewriting) { box_.chip().no_rewriting = no_rewriting; }
  std::unique_ptr<Backend> open() override {
    return std::make_unique<OpenedAnew>(*this, [this] {
      auto options = box_.options();
      EXPECT_TRUE(options) << to_string(options.error());
      auto real = make_backend("sai", {.sai = *options});
      EXPECT_TRUE(real && !(*real)->down()) << to_string(*(*real)->down());
      return std::move(*real);
    });
  }
  PortRef port(int n) override { return port_of(n); }
  bool forgets() const override { return false; }

 private:
  SaiBox box_;
};
struct SaiMapsWorld : SaiWorld {
  SaiMapsWorld() : SaiWorld(false) {}
};
struct SaiAclWorld : SaiWorld {
  SaiAclWorld() : SaiWorld(true) {}
  bool classifies_by_order() const override { return false; }
};

INSTANTIATE_TEST_SUITE_P(Sai, BackendContract,
                         testing::Values(world_case<SaiMapsWorld>("Maps"),
                                         world_case<SaiAclWorld>("Acl")),
                         [](const auto& c) { return c.param.name; });

TEST_F(SaiTest, PacketsChangeAsTheRulesSayByMaps) {
  open();
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown) && put(2, Order::kUp) &&
              put(3, Order::kDown));
  expect_rules();
  EXPECT_EQ(states(0, Order::kUp), "done done done done");
  EXPECT_EQ(box_.port(0).pfc, 0b110'0000);
  EXPECT_EQ(box_.forward(0, 2, 46).dscp, 46U) << "a lossy DSCP that somebody tells apart";
  EXPECT_EQ(box_.chip().bound, 0U);
  EXPECT_FALSE(box_.chip().initialized) << "the chip is somebody else's";
}

TEST_F(SaiTest, PacketsChangeAsTheRulesSayByAnAclWhereMapsCannot) {
  box_.chip().no_rewriting = true;
  open();
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown) && put(2, Order::kUp) &&
              put(3, Order::kDown));
  expect_rules();
  EXPECT_EQ(states(0, Order::kUp), "done done done done");
  EXPECT_EQ(states(1, Order::kDown), "done done done done");
  EXPECT_EQ(box_.count(SAI_OBJECT_TYPE_ACL_ENTRY), 2U) << "one for each class, over sets of ports";
  EXPECT_THAT(backend_->description(), HasSubstr("an ACL over the up ports, by libsai (SAI 1.18)"));
  ASSERT_TRUE(put(1, Order::kUp));
  EXPECT_EQ(box_.forward(1, 0, 43).dscp, 51U);
  ASSERT_TRUE(put(1, Order::kDown));
  EXPECT_EQ(box_.forward(1, 0, 43).dscp, 43U);
  EXPECT_EQ(box_.count(SAI_OBJECT_TYPE_ACL_TABLE), 1U);
}

TEST_F(SaiTest, ChipThatDoesNotSayThatItRewritesIsUnverified) {
  box_.chip().keeps_dscps = true;
  open();
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown));
  EXPECT_EQ(states(0, Order::kUp), "done unverified done done");
  EXPECT_EQ(states(1, Order::kDown), "done done done done") << "nothing is rewritten there";
}

TEST_F(SaiTest, ClassesForWhichTheChipHasNoTrafficClassAreRefused) {
  box_.chip().traffic_classes = 3;
  open();
  const auto done = put(0, Order::kUp);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().what,
            "2 lossless classes need 4 traffic classes and the switch chip has 3: take 1 at most");
}

TEST_F(SaiTest, ChangeOfOnePortsOrderSetsThatPortsMapsAlone) {
  open();
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown) && put(2, Order::kDown));
  const fake_sai::Object before = box_.port(0);
  const int sets = box_.chip().sets;
  ASSERT_TRUE(put(1, Order::kUp));
  EXPECT_EQ(box_.chip().sets, sets + 3) << "in, rewriting and queues; groups and PFC are the same";
  EXPECT_EQ(std::memcmp(box_.port(0).maps, before.maps, sizeof before.maps), 0);
}

TEST_F(SaiTest, OpeningItTellsThatPortsAreToBeLookedAt) {
  open();
  EXPECT_THAT(backend_->take_events().changed, testing::ElementsAre(Ifindex()));
}

TEST_F(SaiTest, RestartChangesNothing) {
  open();
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown));
  const int sets = box_.chip().sets;
  open();
  EXPECT_TRUE(put(0, Order::kUp) && put(1, Order::kDown));
  EXPECT_EQ(box_.chip().sets, sets);
}

TEST_F(SaiTest, RemovalPutsBackWhatWasThereAndLeavesNoObject) {
  for (const bool no_rewriting : {false, true}) {
    box_.chip().no_rewriting = no_rewriting;
    open();
    ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown) && put(2, Order::kUp));
    EXPECT_GT(box_.count(SAI_OBJECT_TYPE_QOS_MAP), 1U);
    open();  // another process takes them away
    ASSERT_TRUE(take_all());
    expect_nothing_of_ours();
  }
}

TEST_F(SaiTest, RemovalLeavesWhatOthersHaveSetSince) {
  open();
  ASSERT_TRUE(put(0, Order::kUp));
  fake_sai::Object* map = box_.chip().add(SAI_OBJECT_TYPE_QOS_MAP);
  map->map_type = SAI_QOS_MAP_TYPE_TC_TO_QUEUE;
  box_.port(0).maps[2] = map->oid;
  box_.port(0).pfc = 0b100;
  open();
  ASSERT_TRUE(take_all());
  EXPECT_EQ(box_.port(0).maps[0], box_.theirs());
  EXPECT_EQ(box_.port(0).maps[2], map->oid);
  EXPECT_EQ(box_.port(0).pfc, 0b100);
}

TEST_F(SaiTest, WhatOthersChangeIsFoundWithinTenSecondsAndPutBack) {
  open();
  ASSERT_TRUE(put(0, Order::kUp));
  box_.port(0).maps[2] = 0;
  EXPECT_TRUE(until([&] { return states(0, Order::kUp) == "done missing done done"; }));
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(states(0, Order::kUp), "done done done done");
}

TEST_F(SaiTest, NumbersThatOthersPutIntoOurMapAreFound) {
  open();
  ASSERT_TRUE(put(0, Order::kUp));
  fake_sai::Object* map = box_.chip().find(box_.port(0).maps[2]);
  map->pairs[1].value = static_cast<std::uint8_t>(7 - map->pairs[1].value);
  open();
  EXPECT_EQ(states(0, Order::kUp), "done missing done done");
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(states(0, Order::kUp), "done done done done");
}

TEST_F(SaiTest, ChangeOfClassesLeavesNoMapBehind) {
  open();
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kUp));
  const std::size_t maps = box_.count(SAI_OBJECT_TYPE_QOS_MAP);
  for (int i : {0, 1}) ASSERT_TRUE(put(i, Order::kUp, qos::Policy::with_lossless(3)));
  EXPECT_EQ(box_.count(SAI_OBJECT_TYPE_QOS_MAP), maps);
}

TEST_F(SaiTest, ChangeOfClassesChangesTheAclToo) {
  box_.chip().no_rewriting = true;
  open();
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kUp));
  const qos::Policy three = qos::Policy::with_lossless(3);
  for (int i : {0, 1}) ASSERT_TRUE(put(i, Order::kUp, three));
  for (const qos::Class c : three.lossless())
    EXPECT_EQ(box_.forward(0, 1, c.dscp.value()).dscp,
              qos::remap(three, {.order = Order::kUp}, {.order = Order::kUp}, c).dscp.value())
        << to_string(c);
}

TEST_F(SaiTest, RefusalIsSaidInSaisWordsAndThePortLeftAsItWas) {
  open();
  ASSERT_TRUE(put(1, Order::kDown));
  box_.chip().refuse_set = SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL;
  const auto done = put(0, Order::kUp);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().what, "libsai: SAI_STATUS_INSUFFICIENT_RESOURCES of setting a port's PFC");
  EXPECT_EQ(box_.port(0).maps[0], box_.theirs());
  EXPECT_EQ(box_.port(0).maps[2], 0U);
  EXPECT_EQ(states(1, Order::kDown), "done done done done");
  box_.chip().refuse_set = -1;
  EXPECT_TRUE(put(0, Order::kUp));
}

TEST_F(SaiTest, RulesThatTheChipCannotHaveAreRefused) {
  open();
  expect_too_many_classes();
}

TEST_F(SaiTest, EveryStatusHasSaisName) {
  open();
  box_.chip().refuse_set = SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL;
  for (const auto& [status, name] :
       {std::pair<long, const char*>(SAI_STATUS_FAILURE, "SAI_STATUS_FAILURE"),
        {SAI_STATUS_NO_MEMORY, "SAI_STATUS_NO_MEMORY"},
        {SAI_STATUS_INVALID_PARAMETER, "SAI_STATUS_INVALID_PARAMETER"},
        {SAI_STATUS_ITEM_NOT_FOUND, "SAI_STATUS_ITEM_NOT_FOUND"},
        {SAI_STATUS_BUFFER_OVERFLOW, "SAI_STATUS_BUFFER_OVERFLOW"},
        {SAI_STATUS_TABLE_FULL, "SAI_STATUS_TABLE_FULL"},
        {SAI_STATUS_MANDATORY_ATTRIBUTE_MISSING, "SAI_STATUS_MANDATORY_ATTRIBUTE_MISSING"},
        {SAI_STATUS_OBJECT_IN_USE, "SAI_STATUS_OBJECT_IN_USE"},
        {SAI_STATUS_INVALID_OBJECT_TYPE, "SAI_STATUS_INVALID_OBJECT_TYPE"},
        {SAI_STATUS_INVALID_OBJECT_ID, "SAI_STATUS_INVALID_OBJECT_ID"},
        {-0x7777, "status -0x7777"}}) {
    box_.chip().refuse_with = status;
    const auto done = put(0, Order::kUp);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().what, "libsai: " + std::string(name) + " of setting a port's PFC");
  }
}

class SaiRefusal : public SaiTest {
 protected:
  void expect_every_refusal_heals();
  void expect_no_reading_loses_anything(long status);
};

/// Rules come to three ports and go again, each time with another call refused that sets something.
void SaiRefusal::expect_every_refusal_heals() {
  const auto put_all = [&] {
    Result<void> first;
    for (int i : {0, 1, 2})
      if (auto done = put(i, order_of(i)); !done && first) first = done;
    return first;
  };
  const auto turn = [&](const std::function<Result<void>()>& change) {
    auto done = change();
    if (done) return;
    EXPECT_THAT(done.error().what, HasSubstr("libsai: SAI_STATUS_INSUFFICIENT_RESOURCES of "));
    // What is kept is what is told, so that whoever starts here knows as much.
    const std::string before = told();
    open();
    EXPECT_EQ(told(), before);
    done = change();
    EXPECT_TRUE(done) << to_string(done.error());
  };
  open();
  bool refused = true;
  int call = 0;
  while (refused && !HasFailure()) {
    SCOPED_TRACE("call " + std::to_string(++call));
    box_.chip().refuse_at = call;
    turn([&] {
      const bool due = box_.chip().refuse_at > 0;
      auto done = put_all();
      EXPECT_FALSE(done && due && box_.chip().refuse_at == 0) << "nobody is told of the refusal";
      return done;
    });
    EXPECT_TRUE(put_all()) << "where it healed there is nothing to do";
    for (int i : {0, 1, 2}) EXPECT_EQ(states(i, order_of(i)), "done done done done");
    EXPECT_EQ(box_.forward(1, 2, 43).dscp, 43U);
    EXPECT_EQ(box_.forward(0, 2, 43).dscp, 51U);
    turn([&] { return take_all(); });
    refused = box_.chip().refuse_at.exchange(0) == 0;
    if (refused) open();  // what nobody refers to goes when it is read the next time
    EXPECT_TRUE(until([&] { return box_.count(SAI_OBJECT_TYPE_QOS_MAP) == 1; }));
    expect_nothing_of_ours();
  }
  EXPECT_GT(call, 20);
}

TEST_F(SaiRefusal, AnyCallThatIsRefusedIsSaidLosesNothingAndHealsByTheNextTurn) {
  expect_every_refusal_heals();
}

TEST_F(SaiRefusal, AnyCallThatIsRefusedHealsWithAnAclToo) {
  box_.chip().no_rewriting = true;
  expect_every_refusal_heals();
}

/// Of ports with rules each call that reads is refused once: what they had before is known
/// nowhere else.
void SaiRefusal::expect_no_reading_loses_anything(long status) {
  auto options = box_.options();
  ASSERT_TRUE(options) << to_string(options.error());
  options->times.period = 5ms;
  backend_ = make_backend("sai", {.sai = *options}).value();
  for (int i : {0, 1, 2}) ASSERT_TRUE(put(i, order_of(i)));
  const auto remembered = read_file(box_.memory()).value();
  const int sets = box_.chip().sets;
  box_.chip().refuse_with = status;
  std::atomic<int>& reads = box_.chip().reads;
  for (int call = 1; call <= 80 && !HasFailure(); ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    box_.chip().refuse_read_at = call;
    ASSERT_TRUE(until([&] { return box_.chip().refuse_read_at == 0; }));
    const int then = reads;
    ASSERT_TRUE(until([&] { return reads > then + 160; })) << "two readings at least";
    for (int i : {0, 1, 2}) EXPECT_EQ(states(i, order_of(i)), "done done done done");
    EXPECT_EQ(box_.chip().sets, sets);
    EXPECT_EQ(read_file(box_.memory()), remembered);
  }
  EXPECT_TRUE(take_all());
  EXPECT_TRUE(until([&] { return box_.count(SAI_OBJECT_TYPE_QOS_MAP) == 1; }));
  expect_nothing_of_ours();
}

TEST_F(SaiRefusal, AnyReadingThatIsRefusedLosesNothing) {
  expect_no_reading_loses_anything(SAI_STATUS_INSUFFICIENT_RESOURCES);
}

TEST_F(SaiRefusal, AnyReadingThatFailsLosesNothing) {
  expect_no_reading_loses_anything(SAI_STATUS_FAILURE);
}

TEST_F(SaiRefusal, AnyReadingThatIsRefusedLosesNothingOfAnAclEither) {
  box_.chip().no_rewriting = true;
  expect_no_reading_loses_anything(SAI_STATUS_NO_MEMORY);
}

// The port is half ours then, and what it had before is known nowhere else.
TEST_F(SaiRefusal, WhatCannotBeUndoneEitherIsPutBackWhenItCan) {
  open();
  ASSERT_TRUE(put(1, Order::kUp));  // whose maps there are then
  for (int call = 1; call <= 5; ++call) {
    SCOPED_TRACE("from call " + std::to_string(call) + " on");
    box_.chip().refuse_on = true;
    box_.chip().refuse_at = call;
    const bool done = static_cast<bool>(put(0, Order::kUp));
    EXPECT_EQ(done, box_.chip().refuse_at > 1);
    box_.chip().refuse_on = false;
    box_.chip().refuse_at = 0;
    open();
    ASSERT_TRUE(finish(*backend_, {.ports = {*backend_->plan_removal(port_of(0))}}));
    EXPECT_EQ(box_.port(0).maps[0], box_.theirs());
    EXPECT_EQ(box_.port(0).pfc, 0b1'1000);
  }
  ASSERT_TRUE(take_all());
  expect_nothing_of_ours();
}

TEST_F(SaiTest, PfcThatIsSentAndThatIsObeyedAreSetAndPutBackBoth) {
  box_.chip().separate_pfc = true;
  for (int i : {0, 1, 2, 3}) box_.port(i).pfc_tx = box_.port(i).pfc;
  open();
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(box_.port(0).pfc, 0b110'0000);
  EXPECT_EQ(box_.port(0).pfc_tx, 0b110'0000);
  EXPECT_EQ(states(0, Order::kUp), "done done done done");
  for (std::uint8_t fake_sai::Object::*one : {&fake_sai::Object::pfc, &fake_sai::Object::pfc_tx}) {
    box_.port(0).*one = 0b10'0000;  // of a priority that is sent and not obeyed, packets are lost
    open();
    EXPECT_EQ(states(0, Order::kUp), "done done done missing");
    ASSERT_TRUE(put(0, Order::kUp));
  }
  box_.chip().refuse_at = 5;  // three maps of port 1, and what is obeyed
  EXPECT_FALSE(put(1, Order::kUp));
  EXPECT_EQ(box_.port(1).pfc, box_.port(1).pfc_tx);
  ASSERT_TRUE(take_all());
  expect_nothing_of_ours();
  EXPECT_EQ(box_.port(0).pfc_tx, 0b1'1000);
}

TEST_F(SaiTest, LibraryFindsTheBoxsProfile) {
  open();
  EXPECT_EQ(std::string(box_.chip().profile), std::string(fake_sai::kFileKey) + "=" +
                                                  box_.chip_file() +
                                                  "\nSAI_INIT_CONFIG_FILE=/usr/share/sai.xml\n");
}

TEST_F(SaiTest, LibraryThatCannotIsUnsupportedAndGetsNothing) {
  box_.chip().no_rewriting = box_.chip().no_acl = true;
  open();
  EXPECT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(states(0, Order::kUp), "unsupported unsupported unsupported unsupported");
  EXPECT_THAT(why(0, Order::kUp, Part::kRemap), HasSubstr("neither TC_AND_COLOR_TO_DSCP_MAP"));
  EXPECT_EQ(box_.chip().sets, 0);
}

TEST_F(SaiTest, LibraryThatCannotBeAskedIsTried) {
  box_.chip().no_capabilities = true;
  open();
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(states(0, Order::kUp), "done done done done");
}

TEST_F(SaiTest, LibraryThatTellsItsReleaseOnlyOnceInitializedIsAskedAgain) {
  ::setenv("FAKE_SAI_LATE", "1", 1);
  open();
  ::unsetenv("FAKE_SAI_LATE");
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(states(0, Order::kUp), "done done done done");
}

TEST_F(SaiTest, LibraryThatTellsOnlyWhatWasSetIsReadAsHavingNone) {
  box_.chip().only_what_was_set = true;
  for (int i : {0, 1}) box_.port(i).pfc = 0;
  open();
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown));
  EXPECT_EQ(states(0, Order::kUp), "done done done done");
  ASSERT_TRUE(take_all());
  EXPECT_EQ(box_.port(0).maps[0], box_.theirs());
  EXPECT_EQ(box_.port(0).maps[2], 0U);
  EXPECT_EQ(box_.port(0).pfc, 0);
}

TEST_F(SaiTest, AclIsNotPutWhereNobodyCanTellWhoseIsThere) {
  box_.chip().only_what_was_set = box_.chip().no_rewriting = true;
  open();
  EXPECT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(states(0, Order::kUp), "unsupported unsupported unsupported unsupported");
  EXPECT_EQ(box_.count(SAI_OBJECT_TYPE_ACL_TABLE), 0U);
}

TEST_F(SaiTest, LibraryWithoutPfcIsNotTakenAtItsWord) {
  box_.chip().no_pfc = true;
  open();
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(states(0, Order::kUp), "done done done unsupported");
  EXPECT_EQ(why(0, Order::kUp, Part::kPfc),
            "this libsai does not set PFC of ports: whether it is on is not known");
}

TEST_F(SaiTest, AclOfSomebodyElsesIsForeignAndStays) {
  box_.chip().no_rewriting = true;
  fake_sai::Object* table = box_.chip().add(SAI_OBJECT_TYPE_ACL_TABLE);
  box_.chip().bound = table->oid;
  open();
  EXPECT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(states(0, Order::kUp), "done foreign done done");
  EXPECT_EQ(box_.chip().bound, table->oid);
}

TEST_F(SaiTest, AclThatWasNotNotedBeforeAKillIsOursStill) {
  box_.chip().no_rewriting = true;
  open();
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kDown) && put(2, Order::kUp));
  backend_ = nullptr;
  auto noted = sai::parse_memory(*read_file(box_.memory()));
  ASSERT_TRUE(noted && noted->acl.table != 0);
  noted->acl = {};
  ASSERT_TRUE(replace_file(box_.memory(), sai::format(*noted)));
  open();
  EXPECT_EQ(states(0, Order::kUp), "done done done done");
  ASSERT_TRUE(put(1, Order::kUp));
  EXPECT_EQ(box_.forward(1, 0, 43).dscp, 51U);
  EXPECT_EQ(box_.count(SAI_OBJECT_TYPE_ACL_TABLE), 1U);
  ASSERT_TRUE(take_all());
  EXPECT_EQ(box_.count(SAI_OBJECT_TYPE_ACL_TABLE) + box_.count(SAI_OBJECT_TYPE_ACL_ENTRY), 0U);
}

TEST_F(SaiTest, AclOverOtherPortsOutThanInIsNotTakenForOurs) {
  box_.chip().no_rewriting = true;
  open();
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kUp));
  backend_ = nullptr;
  ASSERT_TRUE(replace_file(box_.memory(), ""));
  for (fake_sai::Object& o : box_.chip().objects)
    if (o.type == SAI_OBJECT_TYPE_ACL_ENTRY) o.out.count = 1;
  open();
  EXPECT_TRUE(put(2, Order::kUp));
  EXPECT_EQ(states(2, Order::kUp), "done foreign done done");
}

TEST_F(SaiTest, AclThatSomebodyUnboundIsThereAgain) {
  box_.chip().no_rewriting = true;
  open();
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kUp));
  box_.chip().bound = 0;
  EXPECT_TRUE(until([&] { return states(0, Order::kUp) == "done missing done done"; }));
  ASSERT_TRUE(put(0, Order::kUp) && put(1, Order::kUp));
  EXPECT_EQ(box_.forward(1, 0, 43).dscp, 51U);
  EXPECT_EQ(states(0, Order::kUp), "done done done done");
  EXPECT_EQ(box_.count(SAI_OBJECT_TYPE_ACL_TABLE), 1U);
}

TEST_F(SaiTest, AclTableThatGotTheIdOfOursIsSomebodyElses) {
  box_.chip().no_rewriting = true;
  open();
  ASSERT_TRUE(put(0, Order::kUp));
  backend_ = nullptr;
  // As if the chip's software had begun anew.
  const std::uint64_t theirs = std::exchange(box_.chip().bound, 0);
  box_.chip().find(theirs)->by_out_ports = false;
  open();
  ASSERT_TRUE(put(0, Order::kUp, qos::Policy::with_lossless(3)));
  ASSERT_TRUE(take_all());
  EXPECT_NE(box_.chip().find(theirs), nullptr);
  EXPECT_EQ(box_.count(SAI_OBJECT_TYPE_ACL_ENTRY), 2U) << "theirs";
}

TEST_F(SaiTest, PfcThatTheRulesTakeFromOthersIsSaid) {
  open();
  EXPECT_EQ(backend_->displaced(port_of(0)), "");
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_THAT(backend_->displaced(port_of(0)), HasSubstr("priority 3, 4 had PFC before the rules"));
  EXPECT_THAT(backend_->description(), HasSubstr("priority 3, 4 had PFC before the rules"));
}

TEST_F(SaiTest, ChipThatWasStartedAnewHasNothingOfOurs) {
  open();
  ASSERT_TRUE(put(0, Order::kUp));
  // Its ids are given again, to others.
  for (fake_sai::Object& o : box_.chip().objects)
    if (o.type == SAI_OBJECT_TYPE_QOS_MAP && o.oid != box_.theirs()) o.count = 1;
  box_.port(0).maps[0] = box_.theirs();
  open();
  EXPECT_THAT(*backend_->ports(), IsEmpty());
  EXPECT_EQ(states(0, Order::kUp), "missing missing missing missing");
  EXPECT_NE(::access(box_.memory().c_str(), F_OK), 0) << "nothing is left to be remembered";
}

// The answer to a plan is there while the library still hangs.
TEST_F(SaiTest, HangIsToldWhileItLasts) {
  open();
  ASSERT_TRUE(put(0, Order::kUp));
  box_.chip().hang = 4000;  // of the 30 s that it may be, for the test's sake
  const auto plan = backend_->plan(port_of(1), rules_of(Order::kUp));
  ASSERT_TRUE(plan);
  backend_->apply({.ports = {*plan}});
  std::vector<Outcome> outcomes;
  while (outcomes.empty()) {
    pollfd ready{.fd = backend_->events(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, 10);
    outcomes = backend_->take_events().outcomes;
    (void)backend_->verify(port_of(0), rules_of(Order::kUp));
  }
  ASSERT_EQ(outcomes.size(), 1U);
  ASSERT_TRUE(outcomes[0].why);
  EXPECT_THAT(outcomes[0].why->what, HasSubstr("libsai has not answered for 1.5 s"));
  EXPECT_THAT(down(), HasSubstr("libsai has not answered for 1.5 s"));
  EXPECT_TRUE(until([&] { return !backend_->down(); })) << down();
  EXPECT_EQ(states(0, Order::kUp), "done done done done");
  EXPECT_TRUE(put(1, Order::kUp));
}

TEST_F(SaiTest, SlowLibraryThatGoesOnIsNoneThatHangs) {
  open();
  box_.chip().slow = 80;  // a reading is 32 calls
  EXPECT_TRUE(put(0, Order::kUp));
}

TEST_F(SaiTest, CrashIsToldAndTheProcessStartedAnew) {
  open();
  ASSERT_TRUE(put(0, Order::kUp));
  box_.chip().crash = 1;
  const auto done = put(1, Order::kUp);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().what, HasSubstr("libsai's process has ended"));
  EXPECT_TRUE(until([&] { return down().find("killed by signal 11") != std::string::npos; }))
      << down();
  EXPECT_TRUE(until([&] { return !backend_->down(); })) << down();
  EXPECT_TRUE(put(1, Order::kUp));
  EXPECT_EQ(states(0, Order::kUp), "done done done done");
}

TEST_F(SaiTest, LibraryThatThrowsEndsItsProcessAsOneThatFailed) {
  open();
  box_.chip().throws = true;
  const auto done = put(1, Order::kUp);
  ASSERT_FALSE(done);
  EXPECT_TRUE(until([&] { return down().find("(exit status 1)") != std::string::npos; })) << down();
  EXPECT_TRUE(until([&] { return !backend_->down(); })) << down();
  EXPECT_TRUE(put(1, Order::kUp));
}

TEST_F(SaiTest, LibraryOfAnotherReleaseIsRefused) {
  ::setenv("FAKE_SAI_VERSION", "11300", 1);
  open();
  ::unsetenv("FAKE_SAI_VERSION");
  EXPECT_TRUE(until([&] { return down().find("speaks SAI 1.13") != std::string::npos; })) << down();
  EXPECT_THAT(down(), HasSubstr("-DLLDP_LEVEL_SAI_HEADERS="));
}

TEST_F(SaiTest, DamagedMemoryIsSaidAndKeepsARemovalFromGuessing) {
  open();
  ASSERT_TRUE(put(0, Order::kUp));
  backend_ = nullptr;
  std::ofstream(box_.memory()) << "{";
  auto options = box_.options();
  options->removing = true;
  const auto refused = make_backend("sai", {.sai = *options});
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_string(refused.error()), HasSubstr("is damaged"));
  open();
  EXPECT_THAT(backend_->description(), HasSubstr("is damaged"));
}

TEST(SaiOpening, NothingThatStartsItIsSaid) {
  EXPECT_FALSE(make_backend("sai", {}));
  const auto none = io::fork_sai_spawner("", "");
  ASSERT_FALSE(none);
  EXPECT_EQ(to_string(none.error()), "backend sai: name the vendor's libsai.so in sai.library");
}

TEST(SaiMessages, AreReadAsTheyWereWritten) {
  using namespace sai;
  const Map map{MapKind::kTcToQueue, {{0, 0}, {5, 6}}};
  const Acl acl{.table = 7, .entries = {8, 9}, .turns = {{43, 6, 51}, {51, 0, 0}}, .ports = {1, 2}};
  for (const Request& request :
       {Request(Read{{1, UINT64_MAX}, acl}), Request(map), Request(Drop{3}),
        Request(Set{4, {{MapKind::kTcToDscp, 0}, {MapKind::kDscpToTc, 9}}, 0x60U}),
        Request(Set{4, {}, std::nullopt}), Request(Set{4, {}, 0U, true}),
        Request(SetAcl{acl, {{43, 6, 51}}, {5}})})
    EXPECT_EQ(parse_request(format(request)), request) << format(request);
  const View view{.release = "1.18",
                  .can_map = {true, false, true, true},
                  .can_pfc = true,
                  .can_acl = true,
                  .ports = {{"Ethernet0", {.oid = 1, .maps = {1, 2, 3, 4}, .pfc = 0x18}}},
                  .maps = {{2, map}},
                  .bound = 7,
                  .acl = acl};
  for (const Answer& answer : {Answer(Busy{}), Answer(Refused{"no \"room\""}), Answer(Done{5}),
                               Answer(view), Answer(acl), Answer(Making{acl})})
    EXPECT_EQ(parse_answer(format(answer)), answer) << format(answer);
  for (const char* wrong : {"", "[]", "{}", R"({"is":"done","made":-1})", R"({"is":"view"})",
                            R"({"is":"refused","why":7})", R"({"is":[]})", "\xff"})
    EXPECT_FALSE(parse_answer(wrong)) << wrong;
  EXPECT_FALSE(parse_request(R"({"do":"make","map":{"kind":"x","numbers":[]}})"));
  EXPECT_FALSE(parse_request(R"({"do":"make","map":{"kind":"dscp-to-tc","numbers":[[1]]}})"));
  EXPECT_FALSE(parse_request(R"({"do":"set","port":1,"maps":{},"pfc":256})"));
}

}  // namespace
}  // namespace lldp::dataplane
