// SPDX-License-Identifier: Apache-2.0
// Who speaks, lldpd or we, and what the daemon is told of it, one after the other; time is moved by
// hand.
#include "agent/lldpd/lldpd_transport.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <optional>
#include <thread>

#include "tests/lldpd/lldpd.hpp"
#include "tests/support/temp_dir.hpp"
#include "tlv/dot1.hpp"
#include "tlv/lldpdu.hpp"
#include "tlv/location.hpp"
#include "tlv/topology.hpp"

namespace lldp::io {
namespace {

using lldpd::CustomTlv;
using lldpd::FakeLldpd;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;

constexpr Ifindex k1 = Ifindex::of<3>();
constexpr Ifindex k2 = Ifindex::of<4>();

CustomTlv tr(std::uint8_t level) { return {tlv::Tr::kKey, {1, level, 255}}; }

lldpd::Neighbor speaker(std::string_view name, std::vector<CustomTlv> custom = {}) {
  lldpd::Neighbor out{.ttl = 120, .custom = std::move(custom)};
  out.chassis_id.subtype = ChassisId::kLocal;
  out.chassis_id.octets = name;
  out.port_id.subtype = PortId::kInterfaceName;
  out.port_id.octets = "p";
  return out;
}

Bytes frame(std::vector<CustomTlv> custom) {
  return lldpd::frame_of(speaker("we", std::move(custom)), {});
}

class BesideTest : public testing::Test {
 protected:
  BesideTest() {
    config_.lldpd_socket = path_;
    announcements_[k1] = frame({tr(2)});
    announcements_[k2] = frame({tr(2)});
  }
  void SetUp() override { testing::internal::CaptureStderr(); }
  void TearDown() override { testing::internal::GetCapturedStderr(); }

  void start(std::vector<std::pair<Ifindex, std::string>> ports = {{k1, "swp1"}}) {
    ports_ = std::move(ports);
    LldpdTransport::Owner owner;
    owner.ports = [this] { return ports_; };
    owner.announcement = [this](Ifindex port) { return announcements_[port]; };
    owner.heard = [this](Ifindex port, ByteSpan octets) {
      const auto pdu = tlv::decode(octets.subspan(14), {});
      ASSERT_TRUE(pdu);
      told_.push_back(fmt::format("{} hears {}", port.value(), as_text(pdu->chassis_octets)));
    };
    owner.identified = [this] { told_.push_back("identified"); };
    owner.speaks = [this](LldpdTransport::Speaker who) {
      told_.push_back(fmt::format("{} speaks", to_string(who)));
    };
    owner.alarm = [this](std::string_view port, const std::optional<std::string>& text) {
      told_.push_back(fmt::format("alarm {}: {}", port, text.value_or("cleared")));
    };
    beside_.emplace(config_, std::move(owner), now_);
    run();
  }
  void run() {
    for (int i = 0; i < 1000; ++i) {
      beside_->advance(now_);
      beside_->receive(now_);
      const bool asked = lldpd_ && lldpd_->serve();
      pollfd ready{.fd = beside_->fd(), .events = POLLIN, .revents = 0};
      const auto next = beside_->next_deadline();
      if (::poll(&ready, 1, 0) == 0 && !asked && (!next || *next > now_)) return;
    }
    FAIL() << "it does not come to rest";
  }
  void pass(Duration time) {
    now_ += time;
    run();
  }
  void come(const std::vector<std::string>& names = {"swp1", "swp2"}) {
    lldpd_.emplace(path_);
    for (const std::string& name : names) lldpd_->add(name);
  }
  /// It was killed: its socket stays, and nobody listens there.
  void kill() {
    lldpd_->keep_socket = true;
    lldpd_.reset();
    run();
  }
  [[nodiscard]] std::vector<std::string> told() { return std::exchange(told_, {}); }
  [[nodiscard]] static std::string log() {
    std::string out = testing::internal::GetCapturedStderr();
    testing::internal::CaptureStderr();
    return out;
  }

  TempDir dir_;
  std::string path_ = dir_ / "socket";
  TimePoint now_{1000s};
  config::Config config_{};
  std::vector<std::pair<Ifindex, std::string>> ports_{};
  std::map<Ifindex, Bytes> announcements_{};
  std::vector<std::string> told_{};
  std::optional<FakeLldpd> lldpd_{};
  std::optional<LldpdTransport> beside_{};
};

TEST_F(BesideTest, LldpdSpeaksOnceItHasOurTlvs) {
  come();
  lldpd_->hold = "set";
  start({{k1, "swp1"}, {k2, "swp2"}});
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_EQ(beside_->speaker(), LldpdTransport::Speaker::kNone);
  EXPECT_EQ(beside_->chassis_id(), std::nullopt);
  lldpd_->release();
  run();
  EXPECT_THAT(told(), ElementsAre("identified", "alarm : cleared", "lldpd speaks"));
  EXPECT_EQ(beside_->speaker(), LldpdTransport::Speaker::kLldpd);
  EXPECT_EQ(beside_->chassis_id(), lldpd_->chassis);
  EXPECT_EQ(beside_->port_id(k1), lldpd_->ports["swp1"].id);
  EXPECT_EQ(beside_->port_id(Ifindex::of<9>()), std::nullopt);
  EXPECT_THAT(lldpd_->ports["swp2"].sent, ElementsAre(tr(2)));
  EXPECT_THAT(log(), HasSubstr("lldpd sends our TLVs on 2 ports\n"));
  pass(10s);
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(BesideTest, WithoutLldpdWeSpeakAtOnce) {
  start();
  EXPECT_THAT(told(), ElementsAre("packet speaks"));
  EXPECT_EQ(log(), "") << "there is nothing to say about it";
  pass(60s);
  EXPECT_THAT(told(), IsEmpty());
  come();
  run();
  EXPECT_THAT(told(), ElementsAre("identified", "alarm : cleared", "lldpd speaks"));
}

TEST_F(BesideTest, OneThatWasKilledIsWaitedFor) {
  come();
  start();
  std::ignore = told();
  std::ignore = log();
  const ChassisId chassis = lldpd_->chassis;
  kill();
  EXPECT_THAT(told(), ElementsAre("none speaks"));
  EXPECT_THAT(log(), HasSubstr("lldpd is gone (" + path_ +
                               ": lldpd has closed the connection): waiting 5 s for it\n"));
  pass(5s - 1ms);
  EXPECT_THAT(told(), IsEmpty());
  pass(1ms);
  EXPECT_THAT(told(), ElementsAre("packet speaks"));
  EXPECT_THAT(log(), HasSubstr("lldpd did not come back: this daemon sends LLDP itself\n"));
  EXPECT_EQ(beside_->chassis_id(), chassis) << "we are who it was";
  EXPECT_TRUE(beside_->port_id(k1));
  pass(60s);
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_EQ(log(), "");
}

TEST_F(BesideTest, OneThatIsBackInTimeGoesOnSpeakingAndNobodyIsToldOfIdentities) {
  come();
  start();
  std::ignore = told();
  kill();
  ::unlink(path_.c_str());
  come();
  pass(1s);
  EXPECT_THAT(told(), ElementsAre("none speaks", "alarm : cleared", "lldpd speaks"));
  EXPECT_THAT(lldpd_->ports["swp1"].sent, ElementsAre(tr(2)));
  pass(5s);
  EXPECT_THAT(told(), IsEmpty()) << "of the grace that is over";
}

TEST_F(BesideTest, OneThatHasEndedInOrderIsReplacedAtOnce) {
  come();
  start();
  std::ignore = told();
  std::ignore = log();
  lldpd_.reset();
  run();
  pass(100ms);
  EXPECT_THAT(told(), ElementsAre("none speaks", "packet speaks"));
  EXPECT_THAT(log(), HasSubstr("lldpd has ended: this daemon sends LLDP itself\n"));
}

TEST_F(BesideTest, WhereNobodyElseMaySpeakItIsWaitedForWithAnAlarm) {
  config_.transport = config::Transport::kLldpd;
  config_.lldpd_grace = 7s;
  start();
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_EQ(beside_->next_deadline(), now_ + 7s);
  pass(7s - 1ms);
  EXPECT_THAT(told(), IsEmpty());
  pass(1ms);
  EXPECT_THAT(
      told(),
      ElementsAre("alarm : no LLDP is sent, because lldpd does not send our TLVs (" + path_ +
                  ": No such file or directory): start it, or set "
                  "transport = auto"));
  EXPECT_EQ(beside_->next_deadline(), std::nullopt) << "its coming is noticed";
  pass(60s);
  EXPECT_THAT(told(), IsEmpty()) << "once";
  come();
  run();
  EXPECT_THAT(told(), ElementsAre("identified", "alarm : cleared", "lldpd speaks"));
  lldpd_.reset();
  run();
  pass(7s - 1ms);
  EXPECT_THAT(told(), ElementsAre("none speaks"));
  pass(1ms);
  EXPECT_THAT(told(), ElementsAre(HasSubstr("no LLDP is sent")));
}

TEST_F(BesideTest, WhatKeepsUsFromItIsSaidOncePerReason) {
  come();
  lldpd_->receive_only = true;
  start();
  EXPECT_EQ(log(), "") << "at first";
  pass(1s);
  EXPECT_EQ(log(), "lldp-leveld: lldpd cannot send our TLVs: " + path_ +
                       ": lldpd only listens: start it without -r\n");
  pass(10s);
  EXPECT_EQ(log(), "");
  lldpd_->receive_only = false;
  lldpd_->old = true;
  pass(10s);
  pass(1s);
  EXPECT_EQ(log(), "lldp-leveld: lldpd cannot send our TLVs: " + path_ +
                       ": lldpd drops TLVs that it does not know: 1.0.15 is needed\n");
  pass(10s);
  EXPECT_EQ(log(), "");
}

TEST_F(BesideTest, SocketWithoutAListenerIsNothingToComplainOf) {
  come();
  lldpd_->keep_socket = true;
  lldpd_.reset();
  start();
  pass(1s);
  pass(60s);
  EXPECT_EQ(log(), "");
  EXPECT_THAT(told(), ElementsAre("packet speaks"));
}

TEST_F(BesideTest, NamesThatAreExchangedKeepTheirPorts) {
  come();
  start({{k1, "swp1"}, {k2, "swp2"}});
  std::ignore = told();
  beside_->add_port(k1, "swp2", now_);
  beside_->add_port(k2, "swp1", now_);
  pass(2s);
  lldpd_->notify(lldpctl_c_added, "swp1", speaker("one"));
  lldpd_->notify(lldpctl_c_added, "swp2", speaker("two"));
  run();
  std::vector<std::string> heard = told();
  std::erase(heard, "identified");
  EXPECT_THAT(heard, ElementsAre("4 hears one", "3 hears two"));
  EXPECT_EQ(beside_->port_id(k2), lldpd_->ports["swp1"].id);
  beside_->remove_port(k1);
  lldpd_->notify(lldpctl_c_added, "swp2", speaker("three"));
  lldpd_->notify(lldpctl_c_added, "swp1", speaker("four"));
  run();
  EXPECT_THAT(told(), ElementsAre("4 hears four"));
}

TEST_F(BesideTest, PortThatItLeavesOutIsAnAlarmUntilItIsServedOrGone) {
  come({"swp1"});
  start({{k1, "swp1"}, {k2, "swp2"}});
  std::ignore = told();
  pass(10s);
  const std::string raised =
      "alarm swp2: lldpd does not speak here: its configuration leaves the interface out";
  EXPECT_THAT(told(), ElementsAre(raised));
  lldpd_->add("swp2");
  pass(10s);
  EXPECT_THAT(told(), ElementsAre("alarm swp2: cleared", "identified"));
  EXPECT_EQ(beside_->port_id(k2), lldpd_->ports["swp2"].id);
  lldpd_->ports.erase("swp2");
  pass(10s);
  pass(10s);
  EXPECT_THAT(told(), ElementsAre(raised));
  beside_->remove_port(k2);
  EXPECT_THAT(told(), ElementsAre("alarm swp2: cleared"));
  beside_->remove_port(k2);
  EXPECT_THAT(told(), IsEmpty());
}

// `lldpcli unconfigure lldp custom-tlv`, or another value for our TLV: lldpd tells of neither.
TEST_F(BesideTest, TlvsThatAnotherProgramTakesOffLldpdAreBackAndTold) {
  come();
  start();
  std::ignore = told();
  const auto alarm = [](const char* times) {
    return HasSubstr(
        fmt::format("alarm swp1: another program took our TLVs off lldpd or changed "
                    "them ({}): they were put back",
                    times));
  };
  lldpd_->ports["swp1"].sent.clear();
  pass(10s);
  EXPECT_THAT(lldpd_->ports["swp1"].sent, ElementsAre(tr(2)));
  EXPECT_THAT(told(), ElementsAre(alarm("1 time")));
  lldpd_->ports["swp1"].sent = {tr(9)};
  pass(10s);
  EXPECT_THAT(lldpd_->ports["swp1"].sent, ElementsAre(tr(2)));
  EXPECT_THAT(told(), ElementsAre(alarm("2 times")));
  for (int i = 0; i < 5; ++i) pass(10s);
  EXPECT_THAT(told(), IsEmpty());
  pass(10s);
  EXPECT_THAT(told(), ElementsAre("alarm swp1: cleared")) << "a minute was calm";
  // What we change ourselves is no loss.
  beside_->tell(std::vector<core::Send>{{k1, frame({tr(3)})}}, now_);
  run();
  pass(10s);
  EXPECT_THAT(lldpd_->ports["swp1"].sent, ElementsAre(tr(3)));
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(BesideTest, LldpdThatIsPausedOrDoesNotSendIsAnAlarm) {
  come();
  start();
  std::ignore = told();
  lldpd_->paused = true;
  lldpd_->ports["swp1"].status = "RX only";
  pass(10s);
  EXPECT_THAT(told(),
              UnorderedElementsAre(HasSubstr("alarm swp1: lldpd is configured not to send here"),
                                   HasSubstr("alarm : lldpd is paused, so nothing is sent")));
  lldpd_->paused = false;
  lldpd_->ports["swp1"].status = "RX and TX";
  pass(10s);
  EXPECT_THAT(told(), UnorderedElementsAre("alarm swp1: cleared", "alarm : cleared"));
  lldpd_->ports["swp1"].status = "disabled";
  pass(10s);
  EXPECT_THAT(told(), ElementsAre(HasSubstr("alarm swp1: lldpd is configured not to send here")));
  lldpd_.reset();
  run();
  EXPECT_THAT(told(), testing::Contains("alarm swp1: cleared")) << "we speak there now, or nobody";
}

TEST_F(BesideTest, LldpdThatIsPausedWhileItStartsIsNoAlarm) {
  come();
  lldpd_->paused = true;
  start();
  EXPECT_THAT(told(), testing::Not(testing::Contains(HasSubstr("paused"))));
  lldpd_->paused = false;
  pass(10s);
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(BesideTest, ItSendsWhatWeWouldSend) {
  come();
  start();
  const Bytes next = frame({tr(3)});
  const std::vector<core::Send> sends{{k1, next}, {k2, next}};
  beside_->tell(sends, now_);
  run();
  EXPECT_THAT(lldpd_->ports["swp1"].sent, ElementsAre(tr(3)));
  EXPECT_THAT(lldpd_->ports["swp2"].sent, IsEmpty()) << "which is no port of ours";
  lldpd_->asked.clear();
  lldpd::Neighbor gone = speaker("we");
  gone.ttl = 0;
  const Bytes shutdown = lldpd::frame_of(gone, {});
  beside_->tell(std::vector<core::Send>{{k1, shutdown}}, now_);
  run();
  EXPECT_THAT(lldpd_->asked, IsEmpty());
}

TEST_F(BesideTest, PortThatMayNotSendHasNothingOfOurs) {
  come();
  lldpd_->ports["swp1"].sent = {tr(2)};
  announcements_[k1].clear();
  start();
  EXPECT_THAT(lldpd_->ports["swp1"].sent, IsEmpty());
  announcements_[k1] = frame({tr(2)});
  beside_->add_port(k1, "swp1", now_);
  run();
  EXPECT_THAT(lldpd_->ports["swp1"].sent, IsEmpty()) << "it is told when it sends";
  beside_->tell(std::vector<core::Send>{{k1, announcements_[k1]}}, now_);
  run();
  EXPECT_THAT(lldpd_->ports["swp1"].sent, ElementsAre(tr(2)));
  announcements_[k1].clear();
  beside_->add_port(k1, "swp1", now_);
  run();
  EXPECT_THAT(lldpd_->ports["swp1"].sent, IsEmpty());
}

TEST_F(BesideTest, TlvsThatWereConfiguredAreTakenOffWhenTheyAreNot) {
  const tlv::Key custom{tlv::kOrganizational, 0xaabbcc, 9};
  const CustomTlv theirs{{tlv::kOrganizational, 0xaabbcc, 8}, {1}};
  const CustomTlv pfc{tlv::PfcConfig::kKey, {0, 8}};
  const auto all_of_ours = [&] {
    std::vector<CustomTlv> out{tr(1), {custom, {1}}, {tlv::LayersTlv::kKey, {1}}};
    for (tlv::Key key : {tlv::Contribution::kKey, tlv::LocationTlv::kKey})
      out.push_back({key, {1}});
    return out;
  };
  config_.core.custom_tlvs = {{.oui = {0xaa, 0xbb, 0xcc}, .subtype = 9, .information = {1}}};
  come();
  lldpd_->ports["swp1"].sent = all_of_ours();
  lldpd_->ports["swp1"].sent.push_back(theirs);
  lldpd_->ports["swp1"].sent.push_back(pfc);
  announcements_[k1] = frame({tr(2)});
  start();
  EXPECT_THAT(lldpd_->ports["swp1"].sent, ElementsAre(theirs, pfc, tr(2)));
  core::Settings settings = config_.core;
  settings.custom_tlvs = {{.oui = {0xaa, 0xbb, 0xcc}, .subtype = 8, .information = {1}}};
  settings.send_pfc = true;
  beside_->configure(settings);
  beside_->tell(std::vector<core::Send>{{k1, frame({tr(3)})}}, now_);
  run();
  EXPECT_THAT(lldpd_->ports["swp1"].sent, ElementsAre(tr(3)));
}

TEST_F(BesideTest, IdentityThatChangesIsToldOnce) {
  come();
  start();
  std::ignore = told();
  lldpd_->chassis.octets[5] = 0x11;
  pass(10s);
  EXPECT_THAT(told(), ElementsAre("identified"));
  EXPECT_EQ(beside_->chassis_id(), lldpd_->chassis);
  pass(10s);
  EXPECT_THAT(told(), IsEmpty());
  lldpd_->chassis.octets.clear();  // it has none at the moment
  pass(10s);
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_NE(beside_->chassis_id(), lldpd_->chassis);
}

TEST_F(BesideTest, WithdrawsOurTlvsWithinItsTime) {
  come();
  start({{k1, "swp1"}, {k2, "swp2"}});
  std::atomic<bool> over = false;
  std::thread server([&] {
    while (!over) lldpd_->serve();
  });
  beside_->withdraw(10s);
  over = true;
  server.join();
  EXPECT_THAT(lldpd_->ports["swp1"].sent, IsEmpty());
  EXPECT_THAT(lldpd_->ports["swp2"].sent, IsEmpty());
}

TEST_F(BesideTest, GivesUpWithdrawingFromOneThatHangs) {
  come();
  start();
  beside_->withdraw(50ms);
  EXPECT_THAT(lldpd_->ports["swp1"].sent, ElementsAre(tr(2)));
  lldpd_.reset();
  run();
  beside_->withdraw(10s);  // of nobody, at once
}

TEST(Speaker, HasAName) {
  EXPECT_EQ(to_string(LldpdTransport::Speaker::kNone), "none");
  EXPECT_EQ(to_string(LldpdTransport::Speaker::kPackets), "packet");
  EXPECT_EQ(to_string(LldpdTransport::Speaker::kLldpd), "lldpd");
}

}  // namespace
}  // namespace lldp::io
