// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "agent/core/agent.hpp"

namespace lldp::test {

using core::Agent;
using core::Settings;
using std::chrono::milliseconds;
using std::chrono::seconds;

inline Ifindex ifindex(std::size_t n) { return *Ifindex::make(n); }
inline Level level(std::size_t n) { return *Level::make(n); }
/// The locally administered address 02:00:NODE:NODE:PORT:PORT.
inline MacAddress mac(std::size_t node, std::size_t port) {
  const auto octet = [](std::size_t v) { return static_cast<std::uint8_t>(v); };
  return {0x02, 0, octet(node >> 8), octet(node), octet(port >> 8), octet(port)};
}

/// Agents, and links between them that take time, lose and repeat frames; on virtual time. What is
/// random comes from the seed.
class Network {
 public:
  explicit Network(std::uint64_t seed = 1) : random_(seed) {}

  struct Node {
    Settings settings{};
    core::State state{};             ///< as a state file would hold it
    std::unique_ptr<Agent> agent{};  ///< null: not running
    std::vector<std::size_t> links{};
    std::vector<core::Event> events{};
  };
  struct End {
    std::size_t node = 0;
    Ifindex port{};
  };
  struct Cable {
    End a{};
    End b{};
    bool up = true;
    std::uint32_t changes = 0;
  };

  double loss = 0;         ///< probability that a frame is lost
  double duplication = 0;  ///< and that it arrives twice
  Duration delay = milliseconds(1);
  std::uint64_t frames = 0;           ///< sent so far
  std::optional<std::size_t> mute{};  ///< nothing that this node sends arrives
  /// Sees every frame that is sent.
  std::function<void(TimePoint, std::size_t node, const core::Send&)> on_send{};
  /// Called whenever an agent has done something.
  std::function<void()> on_step{};

  std::size_t add(Role role, Settings settings = {}) {
    settings.role = role;
    settings.system_name = (role == Role::kHost ? "host" : "switch") + std::to_string(nodes.size());
    nodes.push_back({.settings = std::move(settings)});
    return nodes.size() - 1;
  }
  std::size_t connect(std::size_t a, std::size_t b) {
    cables.push_back({.a = {a, port_of(a)}, .b = {b, port_of(b)}});
    nodes[a].links.push_back(cables.size() - 1);
    nodes[b].links.push_back(cables.size() - 1);
    return cables.size() - 1;
  }

  void start(std::size_t node) {
    Node& n = nodes[node];
    n.agent = std::make_unique<Agent>(n.settings, n.state, now);
    for (std::size_t i = 0; i < n.links.size(); ++i) report_link(node, n.links[i]);
  }
  void start_all() {
    for (std::size_t i = 0; i < nodes.size(); ++i) start(i);
  }
  /// A clean stop says goodbye, a crash does not.
  void stop(std::size_t node, bool clean) {
    if (clean) nodes[node].agent->shutdown(now, actions_), act(node);
    nodes[node].state = nodes[node].agent->state();
    nodes[node].agent.reset();
  }
  /// The node's settings have been changed.
  void configure(std::size_t node) {
    nodes[node].agent->configure(nodes[node].settings, now, actions_);
    act(node);
  }
  void forget(std::size_t node, std::optional<Ifindex> port) {
    nodes[node].agent->forget(port, now, actions_);
    act(node);
  }
  void set_cable(std::size_t cable, bool up) {
    cables[cable].changes += static_cast<std::uint32_t>(cables[cable].up != up);
    cables[cable].up = up;
    for (const End& e : {cables[cable].a, cables[cable].b}) {
      if (nodes[e.node].agent) report_link(e.node, cable);
    }
  }

  void run_until(TimePoint end) {
    while (!due_.empty() && due_.top().time <= end) {
      const Due d = due_.top();
      due_.pop();
      now = d.time;
      Agent* agent = nodes[d.node].agent.get();
      if (agent == nullptr) continue;
      if (d.frame) {
        if (!cables[d.cable].up) continue;
        agent->receive(d.port, *d.frame, now, actions_);
      } else {
        agent->advance(now, actions_);
      }
      act(d.node);
      if (on_step) on_step();
    }
    now = end;
  }
  void run_for(Duration d) { run_until(now + d); }

  [[nodiscard]] std::optional<Level> level_of(std::size_t node) const {
    return nodes[node].agent->level();
  }
  [[nodiscard]] Agent& agent(std::size_t node) { return *nodes[node].agent; }
  /// The end of a cable that is at `node`.
  [[nodiscard]] Ifindex port_at(std::size_t cable, std::size_t node) const {
    return cables[cable].a.node == node ? cables[cable].a.port : cables[cable].b.port;
  }
  std::mt19937_64& random() { return random_; }

  std::vector<Node> nodes{};
  std::vector<Cable> cables{};
  TimePoint now{seconds(1000)};

 private:
  struct Due {
    TimePoint time{};
    std::uint64_t sequence = 0;
    std::size_t node = 0;
    std::size_t cable = 0;
    Ifindex port{};
    std::shared_ptr<Bytes> frame{};  ///< null: the node's own deadline
    bool operator<(const Due& o) const {
      return std::tie(o.time, o.sequence) < std::tie(time, sequence);
    }
  };

  [[nodiscard]] Ifindex port_of(std::size_t node) const {
    return ifindex(nodes[node].links.size() + 1);
  }
  void report_link(std::size_t node, std::size_t cable) {
    const Ifindex port = port_at(cable, node);
    nodes[node].agent->set_link({.ifindex = port,
                                 .name = "p" + std::to_string(port.value()),
                                 .address = mac(node, port.value()),
                                 .up = cables[cable].up,
                                 .carrier_changes = cables[cable].changes},
                                now, actions_);
    act(node);
  }
  bool happens(double probability) {
    return probability > 0 && std::uniform_real_distribution<>()(random_) < probability;
  }
  void act(std::size_t node) {
    Node& n = nodes[node];
    for (const core::Send& s : actions_.sends) {
      ++frames;
      if (on_send) on_send(now, node, s);
      const std::size_t cable = n.links[s.port.value() - 1];
      const Cable& c = cables[cable];
      if (!c.up || mute == node || happens(loss)) continue;
      const End& to = c.a.node == node && c.a.port == s.port ? c.b : c.a;
      const auto frame = std::make_shared<Bytes>(s.frame.begin(), s.frame.end());
      for (int copies = happens(duplication) ? 2 : 1; copies > 0; --copies) {
        due_.push({now + delay, ++sequence_, to.node, cable, to.port, frame});
      }
    }
    for (core::Event& e : actions_.events) n.events.push_back(std::move(e));
    actions_.clear();
    if (const auto deadline = n.agent->next_deadline()) {
      due_.push({.time = *deadline, .sequence = ++sequence_, .node = node});
    }
  }

  std::priority_queue<Due> due_{};
  std::uint64_t sequence_ = 0;
  std::mt19937_64 random_;
  core::Actions actions_{};
};

}  // namespace lldp::test
