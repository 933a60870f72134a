// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/daemon/protection.hpp"
#include "tests/dataplane/fake_backend.hpp"
#include "tlv/order.hpp"

namespace lldp::io::test {

using dataplane::FakeBackend;
using dataplane::FakeKernel;
using dataplane::Part;
using dataplane::PartReading;
using dataplane::PartState;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using State = report::Protection::State;

inline constexpr auto kPort = Ifindex::of<7>();
inline constexpr auto kOther = Ifindex::of<8>();

inline core::Link link(Ifindex port, std::uint8_t device) {
  return {.ifindex = port,
          .name = "swp" + std::to_string(port.value()),
          .address = {2, 0, 0, 0, device, static_cast<std::uint8_t>(port.value())},
          .up = true};
}

class ProtectionTest : public testing::Test {
 protected:
  /// An agent without a state file that waits for no neighbor, and has its first rank.
  explicit ProtectionTest(Role role = Role::kSwitch)
      : agent_({.role = role, .pinned_level = Level::of<1>(), .newcomer_wait = {}}, {}, now_) {
    core::Actions actions;
    for (Ifindex port : {kPort, kOther}) agent_.set_link(link(port, 1), now_, actions);
    agent_.advance(now_, actions);
  }

  Protection::Opener opener() {
    return [this] { return std::make_unique<FakeBackend>(kernel_); };
  }
  /// One that knows no port yet, in the place of the one before.
  Protection& open() { return open(opener()); }
  Protection& open(Protection::Opener opener) {
    return protection_.emplace(agent_, qos::Policy(), "fake", std::move(opener), names(), now_);
  }
  /// One whose ports have had their turn.
  Protection& start(std::initializer_list<Ifindex> ports = {kPort}) {
    open();
    for (const Ifindex port : ports) protection_->add(port, now_);
    turn();
    return *protection_;
  }
  static Protection::NameOf names() {
    return [](Ifindex p) { return p == kPort ? "swp7" : p == kOther ? "swp8" : ""; };
  }
  static qos::Ruleset rules(Order order) { return qos::compile(qos::Policy(), {.order = order}); }
  void install(Ifindex port, Order order) {
    FakeBackend kernel(kernel_);
    ASSERT_TRUE(finish(kernel, {.ports = {*kernel.plan({port, ""}, rules(order))}}));
  }
  /// Somebody else takes all of it away, or a part.
  void lose(Ifindex port) {
    for (Part part : {Part::kClassify, Part::kRemap}) kernel_.installed.erase({port, part});
  }
  /// kPort, which leads to a switch, loses its rules, and so often again in the moment in which
  /// they are put back; the event is of the first time alone.
  void lose_again_and_again(int times) {
    kernel_.tells = true;
    hear(kPort, Level::of<2>());
    start();
    now_ += seconds(1);
    lose(kPort);
    kernel_.events = {kPort};
    kernel_.takes_away = times;
  }
  /// A switch of that level, or a host, is heard on the port; a switch may tell classes.
  void hear(Ifindex port, std::optional<Level> level, std::optional<qos::Chains> classes = {}) {
    core::Settings settings{.role = level ? Role::kSwitch : Role::kHost, .pinned_level = level};
    if (classes) settings.classes = core::OwnClasses{.configured = std::move(classes)};
    hear(port, settings);
  }
  void hear_stock_host(Ifindex port) {
    hear(port, {.role = Role::kHost, .send_tr = false, .send_contribution = false});
  }
  void hear(Ifindex port, const core::Settings& settings) {
    core::Agent peer(settings, {}, now_);
    core::Actions actions;
    peer.set_link(link(port, 9), now_, actions);
    peer.advance(now_, actions);
    ASSERT_FALSE(actions.sends.empty());
    core::Actions heard;
    agent_.receive(port, without_order(actions.sends.front().frame), now_, heard);
  }
  /// Of a device that tells its level by TR alone: the order of its port waits for no handshake.
  static Bytes without_order(ByteSpan frame) {
    constexpr std::size_t kHeader = 14;
    Bytes out(frame.begin(), frame.begin() + kHeader);
    for (std::size_t at = kHeader; at + 2 <= frame.size();) {
      const std::size_t end = at + 2 + ((frame[at] & 1U) << 8 | frame[at + 1]);
      const Bytes order{0x02, 0x4c, 0x56, tlv::OrderTlv::kKey.subtype};
      const bool ours = frame[at] >> 1 == tlv::kOrganizational &&
                        std::equal(order.begin(), order.end(),
                                   frame.begin() + static_cast<std::ptrdiff_t>(at) + 2);
      if (!ours)
        out.insert(out.end(), frame.begin() + static_cast<std::ptrdiff_t>(at),
                   frame.begin() + static_cast<std::ptrdiff_t>(end));
      at = end;
    }
    return out;
  }
  /// kPort leads to a host, by `host-ports`.
  void name_host_port() {
    core::Settings settings = agent_.settings();
    settings.host_ports = {"swp7"};
    core::Actions none;
    agent_.configure(settings, now_, none);
  }
  /// One turn. Who looks on is told if there is something else to see.
  void advance() {
    static_cast<void>(protection_->take_changed());
    const std::string before = shown();
    protection_->advance(now_);
    EXPECT_TRUE(shown() == before || protection_->take_changed()) << before << "\n" << shown();
  }
  std::string shown() const {
    std::string text{to_string(summary().state)};
    for (const std::string& reason : reasons()) text += "; " + reason;
    return text;
  }
  /// All that is due now.
  void turn() {
    for (int i = 0; i < 100; ++i) {
      const auto due = protection_->next_deadline();
      if (!due || *due > now_) return;
      advance();
    }
    FAIL() << "never at rest";
  }
  /// Time goes on, and every deadline is kept.
  void pass(Duration time) {
    const TimePoint end = now_ + time;
    while (const auto due = protection_->next_deadline()) {
      if (*due > end) break;
      now_ = std::max(now_, *due);
      advance();
      tell();
    }
    now_ = end;
  }
  void tell() {
    core::Actions actions;
    protection_->tell(agent_, now_, actions);
    for (const core::Event& e : actions.events)
      if (e.kind == core::Event::Kind::kRulesRestored)
        restored_.push_back(std::string(names()(e.port)) + " " + e.text);
  }
  /// The standing alarms as "code port text".
  std::vector<std::string> alarms() {
    tell();
    std::vector<std::string> lines;
    for (const core::Alarm& a : agent_.snapshot(now_).alarms)
      if (a.code == core::AlarmCode::kDataplane ||
          (a.code == core::AlarmCode::kUnprotected && a.port.empty()))
        lines.push_back(std::string(to_string(a.code)) + " " + a.port + " " + a.text);
    return lines;
  }
  report::Protection summary() const { return protection_->summary(agent_.snapshot(now_)); }
  report::Rules told() { return protection_->rules(agent_.snapshot(now_)); }
  /// As "swp7 remap missing text".
  std::vector<std::string> reasons() const {
    std::vector<std::string> lines;
    for (const auto& r : summary().reasons)
      lines.push_back(r.port + " " + r.part.part + " " + r.part.state + " " + r.part.text);
    return lines;
  }
  /// The classify part's order, in the kernel.
  Order programmed(Ifindex port) const {
    return kernel_.installed.at({port, Part::kClassify}).port.order;
  }

  TimePoint now_{std::chrono::hours(1)};
  core::Agent agent_;
  FakeKernel kernel_;
  std::vector<std::string> restored_;
  std::optional<Protection> protection_;
};

}  // namespace lldp::io::test
