// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/core/agent.hpp"
#include "tests/core/support/names.hpp"
#include "tlv/lldpdu.hpp"
#include "tlv/location.hpp"
#include "tlv/writer.hpp"

namespace lldp::test {

using core::Actions;
using core::AlarmCode;
using core::Event;
using core::Link;
using core::Scope;
using core::Statistics;
using tlv::Claim;

inline Claim host_claim() { return {.device = DeviceType::kHost, .level = level(0)}; }
inline Claim switch_claim(std::optional<std::size_t> l, PortType port = PortType::kUnmarked) {
  return {.device = DeviceType::kSwitch, .level = l ? Level::make(*l) : std::nullopt, .port = port};
}

/// What a neighbor sends.
struct Peer {
  std::string name = "peer";  ///< system name, and chassis ID (locally assigned)
  std::string port = "p1";
  std::uint16_t ttl = 120;
  std::optional<Claim> tr{};
  std::optional<Claim> contribution{};
  std::optional<Layers> layers{};
  Bytes location{};  ///< the octets of a LocationTlv
  std::optional<std::uint16_t> capabilities{};
  Scope scope = Scope::kNearestBridge;
  std::optional<MacAddress> source{};  ///< else one of its own, by its name
  Bytes tail{};                        ///< octets in the place of the End TLV
};

/// What follows OUI and subtype, whatever it is.
struct AnyOctets {
  tlv::Octets octets{};
  static constexpr void layout(auto& io, auto& v) {
    io.rest("octets", v.octets, 0, tlv::kMaxInformation);
  }
};

inline Bytes frame_of(const Peer& p) {
  const MacAddress to = group_address(p.scope);
  Bytes frame(to.begin(), to.end());
  const auto hash = std::hash<std::string>{}(p.name);
  const MacAddress source = p.source.value_or(mac(hash & 0xffff, hash >> 16 & 0xffff));
  frame.insert(frame.end(), source.begin(), source.end());
  frame.insert(frame.end(), {0x88, 0xcc});
  tlv::LldpduWriter w(frame, 1500);
  w.add(tlv::ChassisIdTlv{ChassisId::kLocal, as_octets(p.name)});
  w.add(tlv::PortIdTlv{PortId::kInterfaceName, as_octets(p.port)});
  w.add(tlv::Ttl{p.ttl});
  if (p.tr) w.add(tlv::to_tr(*p.tr));
  if (p.contribution) w.add(tlv::to_contribution(*p.contribution));
  if (p.layers) w.add(tlv::to_layers_tlv(*p.layers));
  if (!p.location.empty()) w.add(AnyOctets{p.location}, tlv::LocationTlv::kKey);
  if (p.capabilities) w.add(tlv::Capabilities{*p.capabilities, *p.capabilities});
  w.add(tlv::SystemName{p.name});
  if (p.tail.empty()) {
    w.end();
  } else {
    frame.insert(frame.end(), p.tail.begin(), p.tail.end());
  }
  return frame;
}
inline Peer host(std::string name = "srv") { return {.name = std::move(name), .tr = host_claim()}; }
inline Peer a_switch(std::string name, std::optional<std::size_t> l,
                     PortType port = PortType::kUnmarked) {
  return {.name = std::move(name), .tr = switch_claim(l, port)};
}

/// One agent, its time moved by hand.
struct Single {
  struct Sent {
    TimePoint time{};
    Ifindex port{};
    Bytes frame{};
  };

  explicit Single(Settings settings = {}, const core::State& restored = {})
      : agent(at_once(std::move(settings)), restored, now) {}
  /// A newcomer waits for no neighbor: what it does then is tested by itself.
  static Settings at_once(Settings settings) {
    settings.newcomer_wait = {};
    return settings;
  }

  /// Ports on which nothing need be heard: few tests are about that.
  void up(std::size_t port, std::size_t ports = 1) {
    for (std::size_t i = port; i < port + ports; ++i)
      set({.ifindex = ifindex(i), .up = true, .may_be_unheard = true});
  }
  void down(std::size_t port) { set({.ifindex = ifindex(port), .may_be_unheard = true}); }
  /// Fills in name and address.
  void set(Link link) {
    const std::size_t n = link.ifindex.value();
    if (link.name.empty()) link.name = "swp" + std::to_string(n);
    link.address = mac(0xff, n);
    agent.set_link(link, now, out);
    take();
  }
  void configure(Settings settings) {
    agent.configure(std::move(settings), now, out);
    take();
  }
  void pin(std::size_t to) {
    Settings settings = agent.settings();
    settings.pinned_level = level(to);
    configure(std::move(settings));
  }
  void hear(std::size_t port, const Peer& peer) { hear(port, frame_of(peer)); }
  void hear(std::size_t port, ByteSpan frame) {
    agent.receive(ifindex(port), frame, now, out);
    take();
  }
  /// Lets time go by, doing what is due when it is due.
  void pass(Duration d) {
    const TimePoint end = now + d;
    for (auto due = agent.next_deadline(); due && *due <= end; due = agent.next_deadline()) {
      now = *due;
      take();
    }
    now = end;
  }
  /// Takes over what the agent asks for, and lets it do what is due now.
  void take() {
    for (;;) {
      for (const core::Send& s : out.sends) {
        sent.push_back({now, s.port, Bytes(s.frame.begin(), s.frame.end())});
      }
      bool is_told = false;
      for (Event& e : out.events) {
        is_told |= e.kind == Event::Kind::kState;
        events.push_back(std::move(e));
      }
      std::vector<std::pair<Ifindex, std::uint32_t>> requests;
      for (std::size_t i = events.size(); i-- > 0 && confirms;) {
        if (events[i].kind != Event::Kind::kPort) continue;
        requests.emplace_back(events[i].port, agent.request(events[i].port).generation);
      }
      out.clear();
      for (const auto& [port, generation] : requests)
        if (generation != confirmed[port]) {
          confirmed[port] = generation;
          agent.in_force(port, generation, now, out);
        }
      if (!out.events.empty()) continue;
      if (looks_at_what_is_saved) {
        core::State state = to_be_saved();
        if (!is_told) {
          EXPECT_EQ(state, saved) << "and nobody is told to save it";
        }
        saved = std::move(state);
      }
      if (agent.next_deadline().value_or(TimePoint::max()) > now) return;
      agent.advance(now, out);
      EXPECT_GT(agent.next_deadline().value_or(TimePoint::max()), now) << "left undone";
    }
  }
  /// What outlives a restart, without what the file may be behind with: counted time, carriers.
  [[nodiscard]] core::State to_be_saved() const {
    core::State state = agent.state();
    state.supported = {};
    state.surroundings.clear();
    for (core::PortState& port : state.ports) {
      port.ifindex = {};
      port.carrier_changes.reset();
    }
    return state;
  }
  /// What was sent on the port since last asked.
  std::vector<Sent> sends(std::size_t port) {
    std::vector<Sent> mine;
    std::erase_if(sent, [&](Sent& s) {
      if (s.port != ifindex(port)) return false;
      mine.push_back(std::move(s));
      return true;
    });
    return mine;
  }
  [[nodiscard]] core::PortInfo info(std::size_t port) const {
    for (auto& p : agent.snapshot(now).ports) {
      if (p.ifindex == ifindex(port)) return p;
    }
    return {};
  }
  [[nodiscard]] PortType type(std::size_t port) const { return agent.type(ifindex(port)); }
  [[nodiscard]] Order order(std::size_t port) const { return agent.order(ifindex(port)); }
  [[nodiscard]] Statistics statistics(std::size_t port) const {
    return agent.statistics(ifindex(port)).value();
  }
  /// The text of a standing alarm.
  [[nodiscard]] std::optional<std::string> alarm(AlarmCode code, std::string_view port) const {
    for (const auto& a : agent.snapshot(now).alarms) {
      if (a.code == code && a.port == port) return a.text;
    }
    return std::nullopt;
  }
  void forget(std::optional<std::size_t> port = {}) {
    agent.forget(port ? std::optional(ifindex(*port)) : std::nullopt, now, out);
    take();
  }
  /// The device starts anew with what it kept.
  void restart(bool clean = false) {
    if (clean) agent.shutdown(now, out), take();
    agent = core::Agent(agent.settings(), agent.state(), now);
    confirmed.clear();
    saved = to_be_saved();
  }
  [[nodiscard]] std::size_t count(Event::Kind kind) const {
    return static_cast<std::size_t>(std::count_if(events.begin(), events.end(),
                                                  [&](const Event& e) { return e.kind == kind; }));
  }

  TimePoint now{seconds(1000)};
  core::Agent agent;
  Actions out{};
  std::vector<Sent> sent{};
  std::vector<Event> events{};
  bool confirms = true;  ///< the data plane has in force at once what it is asked for
  std::map<Ifindex, std::uint32_t> confirmed{};
  core::State saved = to_be_saved();
  /// After every event; a test of a thousand ports or of many days is about something else.
  bool looks_at_what_is_saved = true;
};

inline tlv::LldpduView read(const Bytes& frame) {
  static const std::vector<tlv::Oui> ouis{{0x02, 0x4c, 0x56}};
  return tlv::decode(ByteSpan(frame).subspan(14), {.contribution_ouis = ouis}).value();
}

}  // namespace lldp::test
