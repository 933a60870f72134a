// SPDX-License-Identifier: Apache-2.0
// A session with an lldpd that answers, hangs, refuses and ends where the test wants it; time is
// moved by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <optional>

#include "agent/core/settings.hpp"
#include "agent/lldpd/client.hpp"
#include "tests/lldpd/lldpd.hpp"
#include "tests/support/temp_dir.hpp"
#include "tlv/lldpdu.hpp"
#include "tlv/topology.hpp"

namespace lldp::lldpd {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;

constexpr tlv::Key kTr = tlv::Tr::kKey;
constexpr tlv::Key kForeign{tlv::kOrganizational, 0x00aabb, 7};

CustomTlv tr(std::uint8_t level) { return {kTr, {1, level, 255}}; }

Neighbor neighbor(std::string_view name, std::uint16_t ttl = 120) {
  Neighbor out{.ttl = ttl, .port_description = "swp9", .system_name = std::string(name)};
  out.chassis_id.subtype = ChassisId::kLocal;
  out.chassis_id.octets = name;
  out.port_id.subtype = PortId::kInterfaceName;
  out.port_id.octets = "swp9";
  return out;
}

class LldpdSession : public testing::Test {
 protected:
  LldpdSession() {
    lldpd_.emplace(path_);
    lldpd_->add("swp1");
    start();
  }
  void start() {
    client_.emplace(Client::Settings{.socket = path_,
                                     .group = core::group_address(core::Scope::kNearestBridge),
                                     .ours = {kTr}},
                    [this](std::string_view port, ByteSpan frame) {
                      const auto pdu = tlv::decode(frame.subspan(14), {});
                      ASSERT_TRUE(pdu);
                      heard_.push_back(std::string(port) + " " +
                                       std::string(as_text(pdu->chassis_octets)) + " " +
                                       std::to_string(pdu->ttl));
                    });
  }
  /// Both do what they can do without time passing.
  void run() {
    for (int i = 0; i < 1000; ++i) {
      client_->advance(now_);
      client_->receive(now_);
      const bool asked = lldpd_ && lldpd_->serve();
      pollfd ready{.fd = client_->fd(), .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, 0) == 0 && !asked && client_->next_deadline() > now_) return;
    }
    FAIL() << "it does not come to rest";
  }
  void pass(Duration time) {
    now_ += time;
    run();
  }
  /// The ports are set, as their owner does it, when a session has begun.
  void begin() {
    client_->advance(now_);
    ASSERT_EQ(client_->state(), Client::State::kSyncing) << to_string(client_->reason());
    for (const auto& [name, wanted] : wanted_) client_->set_port(name, wanted, now_);
    run();
  }
  void begin_and_forget_what_was_asked() {
    begin();
    ASSERT_EQ(client_->state(), Client::State::kReady) << to_string(client_->reason());
    lldpd_->asked.clear();
    heard_.clear();
  }
  /// lldpd alone: it sees who has left.
  void run_server() {
    while (lldpd_->serve()) continue;
  }
  [[nodiscard]] std::optional<Duration> pause() const {
    const auto due = client_->next_deadline();
    return due ? std::optional(*due - now_) : std::nullopt;
  }
  /// Two names that are asked for on one connection.
  [[nodiscard]] static std::string name_in_lane_of(const std::string& name) {
    const auto lane = [](const std::string& n) { return std::hash<std::string_view>{}(n) % 4; };
    for (int i = 2;; ++i)
      if (std::string other = "swp" + std::to_string(i); lane(other) == lane(name)) return other;
  }

  TempDir dir_;
  std::string path_ = dir_ / "socket";
  TimePoint now_{1000s};
  std::vector<std::string> heard_{};
  std::map<std::string, std::vector<CustomTlv>> wanted_{{"swp1", {tr(2)}}};
  std::optional<FakeLldpd> lldpd_{};
  std::optional<Client> client_{};
};

TEST_F(LldpdSession, AsksForWhatItNeedsAndNoMore) {
  lldpd_->ports["swp1"].neighbors = {neighbor("leaf1"), neighbor("leaf2", 40)};
  begin();
  EXPECT_EQ(client_->state(), Client::State::kReady);
  EXPECT_THAT(lldpd_->asked, UnorderedElementsAre("watch", "configuration", "chassis", "interfaces",
                                                  "interfaces", "interfaces", "interfaces",
                                                  "port swp1", "set swp1 replace 32962/20"));
  EXPECT_THAT(lldpd_->ports["swp1"].sent, ElementsAre(tr(2)));
  EXPECT_THAT(heard_, ElementsAre("swp1 leaf1 120", "swp1 leaf2 40"));
  EXPECT_EQ(client_->chassis_id(), lldpd_->chassis);
  EXPECT_EQ(client_->port_id("swp1"), lldpd_->ports["swp1"].id);
  EXPECT_EQ(client_->port_id("swp2"), std::nullopt);
  EXPECT_TRUE(client_->idle());
  EXPECT_EQ(lldpd_->connections(), 5U);
}

TEST_F(LldpdSession, ChangesWhatDiffersAndNothingElse) {
  const CustomTlv foreign{kForeign, {9}};
  lldpd_->ports["swp1"].sent = {foreign, tr(2)};
  begin_and_forget_what_was_asked();
  EXPECT_THAT(lldpd_->ports["swp1"].sent, ElementsAre(foreign, tr(2)));
  client_->set_port("swp1", {tr(2)}, now_);
  run();
  EXPECT_THAT(lldpd_->asked, IsEmpty());
  const CustomTlv empty{kForeign, {}};
  client_->set_port("swp1", {tr(3), empty}, now_);
  EXPECT_FALSE(client_->idle());
  EXPECT_EQ(client_->next_deadline(), TimePoint{});
  run();
  EXPECT_THAT(lldpd_->asked,
              ElementsAre("port swp1", "set swp1 replace 32962/20", "set swp1 replace 43707/7"));
  EXPECT_THAT(lldpd_->ports["swp1"].sent, ElementsAre(tr(3), empty));
  client_->set_port("swp1", {}, now_);  // what is not ours was set by nobody but somebody else
  run();
  EXPECT_THAT(lldpd_->ports["swp1"].sent, ElementsAre(empty));
  client_->add_ours(std::vector{kForeign, kTr});
  client_->set_port("swp1", {tr(1)}, now_);
  run();
  EXPECT_THAT(lldpd_->ports["swp1"].sent, ElementsAre(tr(1)));
}

TEST_F(LldpdSession, WhatIsWantedWhileAPortIsAskedForIsSetInAnotherVisit) {
  begin_and_forget_what_was_asked();
  lldpd_->hold = "set";
  client_->set_port("swp1", {tr(3)}, now_);
  run();
  client_->set_port("swp1", {tr(4)}, now_);
  client_->set_port("swp1", {tr(5)}, now_);
  lldpd_->release();
  run();
  EXPECT_THAT(lldpd_->asked, ElementsAre("port swp1", "set swp1 replace 32962/20", "port swp1",
                                         "set swp1 replace 32962/20"));
  EXPECT_THAT(lldpd_->ports["swp1"].sent, ElementsAre(tr(5)));
}

TEST_F(LldpdSession, TellsOfNeighboursThatComeChangeAndGo) {
  begin_and_forget_what_was_asked();
  lldpd_->notify(lldpctl_c_added, "swp1", neighbor("leaf1"));
  lldpd_->notify(lldpctl_c_updated, "swp1", neighbor("leaf1", 60));
  lldpd_->notify(lldpctl_c_added, "swp1", neighbor("leaf2"));
  lldpd_->notify(lldpctl_c_added, "eth0", neighbor("stranger"));  // not ours
  lldpd_->notify(lldpctl_c_deleted, "swp1", neighbor("leaf1"));
  run();
  EXPECT_THAT(heard_,
              ElementsAre("swp1 leaf1 120", "swp1 leaf1 60", "swp1 leaf2 120", "swp1 leaf1 0"));
  heard_.clear();
  pass(Client::kBeat);  // who is left is confirmed
  EXPECT_THAT(heard_, ElementsAre("swp1 leaf2 120"));
}

TEST_F(LldpdSession, NeighboursOfOtherProtocolsAreNotHeard) {
  lldpd_->protocol = LLDPD_MODE_CDPV2;
  lldpd_->ports["swp1"].neighbors = {neighbor("phone")};
  begin();
  lldpd_->notify(lldpctl_c_added, "swp1", neighbor("phone"));
  run();
  EXPECT_THAT(heard_, IsEmpty());
  EXPECT_EQ(client_->state(), Client::State::kReady);
}

TEST_F(LldpdSession, AnswerThatANoticeHasOvertakenIsAskedForAnew) {
  begin_and_forget_what_was_asked();
  lldpd_->ports["swp1"].neighbors = {neighbor("leaf1")};
  lldpd_->hold = "port swp1";
  client_->set_port("swp1", {tr(3)}, now_);
  run();
  lldpd_->ports["swp1"].neighbors.clear();  // the answer is written, and old
  lldpd_->notify(lldpctl_c_deleted, "swp1", neighbor("leaf1"));
  run();
  lldpd_->release();
  run();
  EXPECT_THAT(heard_, ElementsAre("swp1 leaf1 0"));
  EXPECT_THAT(lldpd_->asked, ElementsAre("port swp1", "port swp1", "set swp1 replace 32962/20"));
  pass(Client::kBeat);
  EXPECT_THAT(heard_, ElementsAre("swp1 leaf1 0"));
}

TEST_F(LldpdSession, NoticeThatComesAfterTheAnswerTakesNoOtherQuestion) {
  begin_and_forget_what_was_asked();
  lldpd_->hold = "set";
  client_->set_port("swp1", {tr(3)}, now_);
  run();
  lldpd_->notify(lldpctl_c_added, "swp1", neighbor("leaf1"));
  run();
  lldpd_->release();
  run();
  EXPECT_THAT(lldpd_->asked, ElementsAre("port swp1", "set swp1 replace 32962/20"));
  lldpd_->asked.clear();
  client_->set_port("swp1", {tr(4)}, now_);  // nor of the next visit
  run();
  EXPECT_THAT(lldpd_->asked, ElementsAre("port swp1", "set swp1 replace 32962/20"));
}

TEST_F(LldpdSession, NoticeOfAPortOvertakesNoOtherPortsAnswer) {
  const std::string other = name_in_lane_of("swp1");
  lldpd_->add(other);
  wanted_[other] = {tr(2)};
  begin_and_forget_what_was_asked();
  lldpd_->hold = "port swp1";
  client_->set_port("swp1", {tr(3)}, now_);
  run();
  lldpd_->notify(lldpctl_c_added, other, neighbor("leaf1"));
  run();
  client_->set_port(other, {tr(3)}, now_);
  lldpd_->release();
  run();
  EXPECT_THAT(lldpd_->asked, ElementsAre("port swp1", "set swp1 replace 32962/20", "port " + other,
                                         "set " + other + " replace 32962/20"));
}

TEST_F(LldpdSession, PortThatIsRemovedIsForgottenWithItsNeighbours) {
  lldpd_->ports["swp1"].neighbors = {neighbor("leaf1")};
  lldpd_->add("swp10").neighbors = {neighbor("leaf10")};
  wanted_["swp10"] = {tr(2)};
  begin_and_forget_what_was_asked();
  client_->remove_port("swp1");
  EXPECT_EQ(client_->port_id("swp1"), std::nullopt);
  pass(Client::kBeat);
  EXPECT_THAT(heard_, ElementsAre("swp10 leaf10 120"));
  heard_.clear();
  lldpd_->hang_up_on_all();
  run();
  EXPECT_THAT(heard_, ElementsAre("swp10 leaf10 120"));
}

TEST_F(LldpdSession, PortThatIsRemovedWhileItIsAskedForLeavesNoQuestionBehind) {
  const std::string other = name_in_lane_of("swp1");
  lldpd_->add(other);
  begin_and_forget_what_was_asked();
  lldpd_->hold = "port swp1";
  client_->set_port("swp1", {tr(3)}, now_);
  client_->set_port(other, {tr(3)}, now_);
  run();
  client_->remove_port("swp1");
  lldpd_->release();
  run();
  EXPECT_EQ(client_->state(), Client::State::kReady);
  pass(Client::kSettle);
  EXPECT_THAT(lldpd_->ports["swp1"].sent, ElementsAre(tr(2)));
  EXPECT_THAT(lldpd_->ports[other].sent, ElementsAre(tr(3)));
}

TEST_F(LldpdSession, PortThatIsRemovedBeforeItIsAskedForIsNotAskedFor) {
  begin_and_forget_what_was_asked();
  client_->set_port("swp1", {tr(3)}, now_);
  client_->remove_port("swp1");
  run();
  EXPECT_THAT(lldpd_->asked, IsEmpty());
}

/// The questions of a session, at any of which lldpd may end or hang.
const std::vector<std::string> kQuestions{"watch",      "configuration", "chassis",
                                          "interfaces", "port swp1",     "set swp1"};

TEST_F(LldpdSession, ThatEndsAtAnyOctetBeginsAnewAndComesToTheSameEnd) {
  lldpd_->ports["swp1"].neighbors = {neighbor("leaf1")};
  for (const std::string& question : kQuestions)
    for (const std::size_t octets : {0U, 1U, 4U, 5U}) {
      SCOPED_TRACE(question + " " + std::to_string(octets));
      lldpd_->ports["swp1"].sent.clear();
      start();
      lldpd_->hang_up = question;
      lldpd_->octets = octets;
      begin();
      EXPECT_EQ(client_->state(), Client::State::kAbsent);
      EXPECT_EQ(to_string(client_->reason()),
                to_string(Error{ECONNRESET, path_, "lldpd has closed the connection"}));
      EXPECT_EQ(pause(), Client::kFirstRetry);
      EXPECT_TRUE(client_->unserved().empty());
      now_ += Client::kFirstRetry;
      heard_.clear();
      begin();
      EXPECT_EQ(client_->state(), Client::State::kReady);
      EXPECT_THAT(lldpd_->ports["swp1"].sent, ElementsAre(tr(2)));
      EXPECT_THAT(heard_, ElementsAre("swp1 leaf1 120"));
      client_.reset();
      run_server();
    }
}

TEST_F(LldpdSession, ThatIsNotAnsweredEndsAfterItsPatience) {
  for (const std::string& question : kQuestions) {
    SCOPED_TRACE(question);
    lldpd_->ports["swp1"].sent.clear();
    start();
    lldpd_->hold = question;
    begin();
    EXPECT_EQ(client_->state(), Client::State::kSyncing);
    EXPECT_EQ(pause(), Client::kPatience);
    pass(Client::kPatience - 1ms);
    EXPECT_EQ(client_->state(), Client::State::kSyncing);
    pass(1ms);
    EXPECT_EQ(client_->state(), Client::State::kAbsent);
    EXPECT_EQ(to_string(client_->reason()),
              to_string(Error{ETIMEDOUT, path_, "lldpd does not answer"}));
    EXPECT_EQ(pause(), Client::kFirstRetry);
    client_.reset();
    run_server();
    lldpd_->release();
  }
}

TEST_F(LldpdSession, AnswerThatComesSlowlyIsWaitedForOneByOne) {
  lldpd_->hold = "chassis";
  begin();
  pass(9s);
  lldpd_->release();
  lldpd_->hold = "set";
  run();
  pass(9s);  // nine for each, not eighteen for both
  EXPECT_EQ(client_->state(), Client::State::kSyncing);
  EXPECT_EQ(pause(), Duration(1s));
  lldpd_->release();
  run();
  EXPECT_EQ(client_->state(), Client::State::kReady);
  EXPECT_EQ(pause(), Client::kBeat);
}

TEST_F(LldpdSession, LossConfirmsTheNeighboursForTheLastTime) {
  lldpd_->ports["swp1"].neighbors = {neighbor("leaf1"), neighbor("leaf2")};
  begin_and_forget_what_was_asked();
  lldpd_->hang_up_on_watchers();
  run();
  EXPECT_EQ(client_->state(), Client::State::kAbsent);
  EXPECT_THAT(heard_, ElementsAre("swp1 leaf1 120", "swp1 leaf2 120"));
  run_server();
  EXPECT_EQ(lldpd_->connections(), 0U) << "the others are closed with it";
  heard_.clear();
  now_ += *pause();
  lldpd_->ports["swp1"].neighbors.clear();
  begin();
  pass(Client::kBeat);
  EXPECT_THAT(heard_, IsEmpty()) << "of the session before";
}

TEST_F(LldpdSession, ThatWasReadyForOnceIsLookedForSoonAgain) {
  for (int i = 0; i < 3; ++i) {
    begin();
    ASSERT_EQ(client_->state(), Client::State::kReady);
    lldpd_->hang_up_on_all();
    run();
    EXPECT_EQ(pause(), Client::kFirstRetry);
    now_ += Client::kFirstRetry;
  }
}

TEST_F(LldpdSession, PortThatIsRefusedIsTriedAgainAtTheNextBeat) {
  const std::string other = name_in_lane_of("swp1");
  lldpd_->add(other);
  wanted_[other] = {tr(2)};
  lldpd_->refuse = "port swp1";
  begin();
  EXPECT_EQ(client_->state(), Client::State::kReady);
  EXPECT_THAT(lldpd_->ports[other].sent, ElementsAre(tr(2))) << "on a new connection";
  EXPECT_THAT(lldpd_->ports["swp1"].sent, IsEmpty());
  lldpd_->refuse.clear();
  client_->set_port("swp1", {tr(3)}, now_);
  run();
  EXPECT_THAT(lldpd_->ports["swp1"].sent, IsEmpty()) << "before its time";
  pass(Client::kBeat);
  EXPECT_THAT(lldpd_->ports["swp1"].sent, ElementsAre(tr(3)));
}

TEST_F(LldpdSession, RefusedSettingLeavesNothingHalfDone) {
  lldpd_->refuse = "set swp1";
  begin();
  EXPECT_EQ(client_->state(), Client::State::kReady);
  lldpd_->refuse.clear();
  pass(Client::kBeat);
  EXPECT_THAT(lldpd_->ports["swp1"].sent, ElementsAre(tr(2)));
}

TEST_F(LldpdSession, EndsWhenAConnectionIsClosedOnWhichNothingIsAsked) {
  begin_and_forget_what_was_asked();
  lldpd_->hang_up_on_all_but_watchers();
  run();
  EXPECT_EQ(client_->state(), Client::State::kAbsent) << "else it would be readable for ever";
  EXPECT_EQ(client_->reason().code, ECONNRESET);
}

TEST_F(LldpdSession, AnswersOfAnotherProgramEndIt) {
  for (const std::string question : {"configuration", "chassis", "interfaces"}) {
    SCOPED_TRACE(question);
    start();
    lldpd_->refuse = question;
    begin();
    EXPECT_EQ(client_->state(), Client::State::kAbsent);
    EXPECT_EQ(to_string(client_->reason()),
              to_string(Error{EPROTO, path_, "lldpd answers something else"}));
  }
  start();
  lldpd_->refuse = "watch";
  begin();
  EXPECT_EQ(client_->state(), Client::State::kAbsent);
  EXPECT_EQ(client_->reason().code, ECONNRESET);
}

TEST_F(LldpdSession, WithOneThatCannotSpeakForUsSaysWhy) {
  const auto why = [&] {
    start();
    begin();
    EXPECT_EQ(client_->state(), Client::State::kAbsent);
    EXPECT_EQ(client_->reason().code, ENOTSUP);
    EXPECT_EQ(client_->reason().where, path_);
    return client_->reason().what;
  };
  lldpd_->receive_only = true;
  EXPECT_EQ(why(), "lldpd only listens: start it without -r");
  lldpd_->receive_only = false;
  lldpd_->old = true;
  EXPECT_EQ(why(), "lldpd drops TLVs that it does not know: 1.0.15 is needed");
  lldpd_->old = false;
  lldpd_->without_custom_tlvs = true;
  EXPECT_EQ(why(), "lldpd was built without custom TLVs");
}

TEST_F(LldpdSession, InterfaceThatItLeavesOutIsUnservedFromTheSecondLookOn) {
  wanted_["swp2"] = {tr(2)};
  begin();
  EXPECT_EQ(client_->state(), Client::State::kReady);
  unsigned revision = client_->revision();
  EXPECT_THAT(client_->unserved(), IsEmpty());
  pass(Client::kBeat);
  EXPECT_THAT(client_->unserved(), ElementsAre("swp2"));
  EXPECT_NE(client_->revision(), revision);
  revision = client_->revision();
  pass(Client::kBeat);
  EXPECT_EQ(client_->revision(), revision) << "nothing is different";
  lldpd_->add("swp2");
  pass(Client::kBeat);
  EXPECT_THAT(client_->unserved(), IsEmpty());
  EXPECT_NE(client_->revision(), revision);
  EXPECT_THAT(lldpd_->ports["swp2"].sent, ElementsAre(tr(2)));
}

TEST_F(LldpdSession, InterfaceThatGoesAndComesIsSetAnew) {
  begin_and_forget_what_was_asked();
  lldpd_->ports.clear();
  pass(Client::kBeat);
  EXPECT_THAT(client_->unserved(), IsEmpty());
  client_->set_port("swp1", {tr(3)}, now_);
  lldpd_->add("swp1");
  pass(Client::kBeat);
  EXPECT_THAT(lldpd_->ports["swp1"].sent, ElementsAre(tr(3)));
}

TEST_F(LldpdSession, NewInterfaceIsLookedForBeforeTheBeat) {
  begin_and_forget_what_was_asked();
  lldpd_->add("swp2");
  client_->set_port("swp2", {tr(2)}, now_);
  EXPECT_EQ(pause(), Client::kSettle);
  pass(Client::kSettle - 1ms);
  EXPECT_THAT(lldpd_->asked, IsEmpty());
  pass(1ms);
  EXPECT_THAT(lldpd_->ports["swp2"].sent, ElementsAre(tr(2)));
}

TEST_F(LldpdSession, BeatsOftenEnoughForTheShortestTtl) {
  const auto beat_with = [&](std::uint16_t ttl) {
    start();
    lldpd_->ports["swp1"].neighbors = {neighbor("leaf1", 600), neighbor("leaf2", ttl)};
    begin();
    return pause();
  };
  EXPECT_EQ(beat_with(600), Client::kBeat);
  EXPECT_EQ(beat_with(30), Client::kBeat);
  EXPECT_EQ(beat_with(12), Duration(4s));
  EXPECT_EQ(beat_with(2), Duration(1s));
}

TEST_F(LldpdSession, NoticeOfAShortTtlBringsTheBeatForward) {
  begin_and_forget_what_was_asked();
  EXPECT_EQ(pause(), Client::kBeat);
  lldpd_->notify(lldpctl_c_added, "swp1", neighbor("leaf1", 9));
  run();
  EXPECT_EQ(pause(), Duration(3s));
  heard_.clear();
  pass(3s);
  EXPECT_THAT(heard_, ElementsAre("swp1 leaf1 9"));
  EXPECT_THAT(lldpd_->asked, UnorderedElementsAre("chassis", "interfaces", "interfaces",
                                                  "interfaces", "interfaces"));
  EXPECT_EQ(pause(), Duration(3s));
}

TEST_F(LldpdSession, BeatThatIsNotAnsweredConfirmsNobody) {
  lldpd_->ports["swp1"].neighbors = {neighbor("leaf1")};
  begin_and_forget_what_was_asked();
  lldpd_->hold = "chassis";
  pass(Client::kBeat);
  EXPECT_THAT(heard_, IsEmpty());
  EXPECT_EQ(pause(), Client::kPatience) << "one beat at a time";
  pass(5s);
  lldpd_->release();
  run();
  EXPECT_THAT(heard_, ElementsAre("swp1 leaf1 120"));
  EXPECT_EQ(pause(), Client::kBeat);
}

TEST_F(LldpdSession, IdentifiersThatChangeAreAnotherRevision) {
  begin_and_forget_what_was_asked();
  unsigned revision = client_->revision();
  pass(Client::kBeat);
  EXPECT_EQ(client_->revision(), revision);
  lldpd_->chassis.octets[5] = 0x65;
  pass(Client::kBeat);
  EXPECT_EQ(client_->chassis_id(), lldpd_->chassis);
  EXPECT_NE(client_->revision(), revision);
  revision = client_->revision();
  lldpd_->ports["swp1"].id.octets = "renamed";
  client_->set_port("swp1", {tr(7)}, now_);
  run();
  EXPECT_EQ(client_->port_id("swp1"), lldpd_->ports["swp1"].id);
  EXPECT_NE(client_->revision(), revision);
}

TEST_F(LldpdSession, SocketThatComesAgainIsTakenAtOnce) {
  begin_and_forget_what_was_asked();
  lldpd_.reset();
  run();
  EXPECT_EQ(client_->state(), Client::State::kAbsent);
  lldpd_.emplace(path_);
  lldpd_->add("swp1");
  client_->receive(now_);
  EXPECT_EQ(pause(), Duration(0));
  begin();
  EXPECT_EQ(client_->state(), Client::State::kReady);
}

}  // namespace
}  // namespace lldp::lldpd
