// SPDX-License-Identifier: Apache-2.0
// A live fabric of lossless switches without processes: what each of them would do at which time,
// and what comes of it where some get their turn late.
#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <random>

#include "lab/live/agents.hpp"
#include "lab/live/fabric_of_namespaces.hpp"
#include "sim/bounce/probe.hpp"
#include "sim/lossless/fabric.hpp"
#include "sim/lossless/stage.hpp"
#include "sim/lossless/station.hpp"
#include "sim/lossless/switch_file.hpp"
#include "sim/packets/plan.hpp"

namespace lldp::lab::lossless {
namespace {

using packets::kMicrosecond;
using packets::kMillisecond;
using packets::kSecond;
using packets::Picoseconds;

constexpr std::uint64_t kRate = 20'000'000;
constexpr Picoseconds kFills = 40 * kMillisecond;  ///< 100,000 octets

/// From `at` on it gets no turn, for so long.
struct Delay {
  Picoseconds at = 0;
  Picoseconds length = 0;
};

/// Case 1 without protection, with one lossless priority.
class LateFabric {
 public:
  LateFabric(std::size_t x, std::size_t y)
      : plan_(packets::plan_of_case("case1", x, y).value()), processes_(fabric().nodes.size()) {
    const auto policy = qos::Policy::parse("5:dscp43", "0:dscp0").value();
    std::vector<Way> ways;
    for (const packets::PlannedFlow& flow : plan_.flows)
      ways.push_back(
          {bounce::ipv4_of(ways.size(), true), path_of(fabric(), plan_.failed, flow.way).value()});
    const auto files = switch_files({.dir = "/lab"}, fabric(), ways, policy, kRate);
    const auto links = adjacencies(fabric());
    const auto addresses = live::port_addresses(fabric());
    for (std::size_t n = 0; n < processes_.size(); ++n) {
      const Node& node = fabric().nodes[n];
      StationSettings settings{
          .name = node.name, .forwards = false, .policy = policy, .rate_bps = kRate};
      for (const Adjacency& a : links[n]) {
        settings.ports.push_back(
            {fabric().links[a.link].ends[a.own_end].port, addresses[a.link][a.own_end]});
        const std::size_t peer = fabric().links[a.link].ends[1 - a.own_end].node;
        for (std::size_t port = 0; port < links[peer].size(); ++port)
          if (links[peer][port].link == a.link) processes_[n].peers.emplace_back(peer, port);
      }
      if (node.role == Role::kSwitch)
        settings = parse_switch_file(files.at(node.name)).value().station;
      processes_[n].station.emplace(
          Station::of(settings, [this, n](std::size_t port, ByteSpan frame) {
            const auto [peer, at] = processes_[n].peers[port];
            processes_[peer].come.emplace_back(at, Bytes(frame.begin(), frame.end()));
          }).value());
    }
    for (std::size_t f = 0; f < ways.size(); ++f) {
      const std::size_t host = ways[f].path.nodes.front();
      const Adjacency port = links[host].front();
      processes_[host].station->load(static_cast<std::uint16_t>(f), 1048,
                                     addresses[port.link][1 - port.own_end]);
    }
  }

  [[nodiscard]] std::size_t size() const { return processes_.size(); }
  [[nodiscard]] std::size_t node(std::string_view name) const {
    for (std::size_t n = 0; n < size(); ++n)
      if (fabric().nodes[n].name == name) return n;
    return size();
  }
  void delay(std::size_t node, Delay delay) { processes_.at(node).delays.push_back(delay); }

  /// What `bounce` would say after sending for so long.
  Outcome play(Picoseconds sending) {
    run(sending);
    Outcome outcome{.late_us = lateness_.most() / kMicrosecond,
                    .fills_us = kFills / kMicrosecond,
                    .sent_us = sending / kMicrosecond};
    for (Process& p : processes_) p.station->halt();
    run(sending + 2 * kSecond);
    Views views;
    for (std::size_t n = 0; n < size(); ++n)
      if (fabric().nodes[n].role == Role::kSwitch) views[n] = processes_[n].station->view();
    outcome.deadlock = stopped_cycle(fabric(), views);
    for (const auto& [n, view] : views) {
      add(outcome.lost, view);
      for (const auto& [name, port] : view.ports) outcome.waiting_octets += port.waiting_octets;
    }
    return outcome;
  }

 private:
  struct Process {
    std::vector<std::pair<std::size_t, std::size_t>> peers{};  ///< by port: node and its port
    std::optional<Station> station{};
    Pace pace{kRate};
    std::deque<std::pair<std::size_t, Bytes>> come{};  ///< frames, and by which port
    std::deque<Delay> delays{};
    Picoseconds awake = 0;
  };
  [[nodiscard]] const Fabric& fabric() const { return plan_.fabric; }
  [[nodiscard]] Picoseconds due(Process& p) const {
    return p.come.empty() ? p.pace.due(p.station->next()) : now_;
  }

  void run(Picoseconds end) {
    for (;;) {
      Picoseconds next = end;
      for (Process& p : processes_) next = std::min(next, std::max(due(p), p.awake));
      for (std::size_t n = 0; n < size(); ++n) lateness_.read(n, processes_[n].pace.behind());
      now_ = std::max(now_, next);
      if (now_ >= end) return;
      for (Process& p : processes_)
        if (p.awake <= now_ && due(p) <= now_) turn(p);
    }
  }
  void turn(Process& p) {
    if (!p.delays.empty() && p.delays.front().at <= now_) {
      p.awake = now_ + p.delays.front().length;
      p.delays.pop_front();
      return;
    }
    p.station->run(p.pace.at(now_, p.station->next()));
    for (; !p.come.empty(); p.come.pop_front())
      p.station->receive(p.come.front().first, p.come.front().second);
  }

  packets::Plan plan_;
  std::vector<Process> processes_;
  Lateness lateness_{};
  Picoseconds now_ = 0;
};

TEST(LateFabric, InTimeIsTheModels) {
  const Outcome in_balance = LateFabric(1, 1).play(2 * kSecond);
  EXPECT_TRUE(in_balance.deadlock.empty());
  EXPECT_EQ(in_balance.waiting_octets, 0U);
  EXPECT_EQ(in_balance.late_us, 0U);
  const Outcome closed = LateFabric(2, 1).play(2 * kSecond);
  EXPECT_EQ(closed.deadlock.size(), 4U);
  EXPECT_EQ(closed.verdict(), Outcome::Verdict::kDeadlock);
}

TEST(LateFabric, InBalanceClosesByALateSwitchAloneAndThatIsNoVerdict) {
  std::size_t closed = 0;
  for (const char* node : {"Leaf2", "Leaf3", "Spine1", "Spine2"}) {
    LateFabric fabric(1, 1);
    for (std::uint64_t i = 1; i <= 4; ++i)
      fabric.delay(fabric.node(node), {i * 517 * kMillisecond, 200 * kMillisecond});
    const Outcome outcome = fabric.play(3 * kSecond);
    EXPECT_GT(outcome.late_us, 180'000U) << node;
    if (outcome.deadlock.empty()) continue;
    ++closed;
    EXPECT_EQ(outcome.verdict(), Outcome::Verdict::kNone) << node;
  }
  EXPECT_GT(closed, 0U);
}

TEST(LateFabric, InBalanceStaysOpenWhereVerdictsAreGiven) {
  // Every process is late by just less than is_late(): by one delay or by four, at any time, one
  // after the other, or all at once.
  constexpr Picoseconds kMost = kFills / 2 - kMillisecond;
  for (unsigned seed = 0; seed < 8; ++seed) {
    std::mt19937 chance(seed);
    LateFabric fabric(1, 1);
    for (std::size_t n = 0; n < fabric.size(); ++n) {
      const auto any = [&] { return (400 + chance() % 200) * kMillisecond; };
      if (seed % 4 == 0) fabric.delay(n, {any(), kMost});
      if (seed % 4 == 1) fabric.delay(n, {500 * kMillisecond, kMost});
      if (seed % 4 == 2) fabric.delay(n, {500 * kMillisecond + n * kMost, kMost});
      for (std::uint64_t i = 0; seed % 4 == 3 && i < 4; ++i)
        fabric.delay(n, {any() + i * 200 * kMillisecond, kMost / 4});
    }
    const Outcome outcome = fabric.play(2 * kSecond);
    EXPECT_FALSE(outcome.is_late()) << "seed " << seed;
    EXPECT_GT(outcome.late_us, 5'000U) << "seed " << seed;
    EXPECT_TRUE(outcome.deadlock.empty()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lldp::lab::lossless
