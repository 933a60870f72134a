// SPDX-License-Identifier: Apache-2.0
#include "lab/converge/converge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agent/core/agent.hpp"
#include "lab/converge/event_queue.hpp"
#include "lab/random.hpp"

namespace lldp::lab::converge {
namespace {

/// Virtual time begins here; any moment but zero, which an agent might take for "never".
constexpr TimePoint kBegin{std::chrono::seconds(1000)};
constexpr std::uint64_t kEventsPerTell = 4096;

struct Event {
  enum class Kind : std::uint8_t { kStart, kStop, kCut, kRepair, kDeliver, kWake };
  Kind kind = Kind::kWake;
  bool orderly = false;     ///< kStop: with a shutdown frame
  std::uint32_t node = 0;   ///< kDeliver: the receiver
  std::uint32_t port = 0;   ///< kDeliver: the receiver's
  std::uint32_t link = 0;   ///< kCut, kRepair
  std::uint32_t frame = 0;  ///< kDeliver: its place in the pool
};

/// Frames on the wire: each agent's octets hold only until it is next called.
class FramePool {
 public:
  std::uint32_t put(ByteSpan frame) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(frames_.size()));
      frames_.emplace_back();
    }
    const std::uint32_t at = free_.back();
    free_.pop_back();
    frames_[at].assign(frame.begin(), frame.end());
    return at;
  }
  [[nodiscard]] ByteSpan get(std::uint32_t at) const { return frames_[at]; }
  void release(std::uint32_t at) { free_.push_back(at); }

 private:
  std::vector<Bytes> frames_{};
  std::vector<std::uint32_t> free_{};
};

struct Port {
  std::uint32_t link = 0;
  std::uint32_t own_end = 0;
  std::uint32_t peer = 0;
  std::uint32_t peer_port = 0;
  PortType truth = PortType::kUnmarked;
  bool right = false;
};

struct Device {
  std::optional<core::Agent> agent{};  ///< empty while stopped
  core::State state{};                 ///< the state file
  std::vector<Port> ports{};           ///< port n has ifindex n + 1
  std::optional<TimePoint> wake{};     ///< the earliest kWake that is queued
  bool right = false;                  ///< its level
};

Ifindex ifindex_of(std::size_t port) { return *Ifindex::make(port + 1); }

class Run {
 public:
  Run(const Fabric& fabric, const Scenario& scenario)
      : fabric_(fabric),
        scenario_(scenario),
        random_(scenario.seed),
        devices_(fabric.nodes.size()),
        cut_(fabric.links.size(), 0) {
    for (std::uint32_t l = 0; l < fabric.links.size(); ++l) {
      const Link& link = fabric.links[l];
      for (std::uint32_t e = 0; e < 2; ++e) {
        const std::size_t peer = link.ends[1 - e].node;
        // Pushed in pairs: the peer's port comes next (e = 0) or came just now (e = 1).
        devices_[link.ends[e].node].ports.push_back(
            {.link = l,
             .own_end = e,
             .peer = static_cast<std::uint32_t>(peer),
             .peer_port = static_cast<std::uint32_t>(devices_[peer].ports.size()) - e,
             .truth = true_port_type(fabric, link, e)});
      }
    }
    wrong_levels_ = devices_.size();
    wrong_ports_ = 2 * fabric.links.size();
    total_ = wrong_levels_ + wrong_ports_;
  }

  Outcome go(const std::function<void(const Progress&)>& tell) {
    plan();
    const TimePoint last = kBegin + outcome_.last_disturbance;
    const TimePoint end = last + scenario_.timeout;
    std::optional<TimePoint> right_since;
    sample(kBegin);
    while (!queue_.empty()) {
      const TimePoint now = queue_.next_time();
      if (now > end || (right_since && now > std::max(*right_since, last) + scenario_.settle))
        break;
      handle(queue_.pop(), now);
      sample(now);
      if (wrong_levels_ + wrong_ports_ != 0)
        right_since.reset();
      else if (!right_since)
        right_since = now;
      if (++outcome_.events % kEventsPerTell == 0 && tell)
        tell({now - kBegin, total_ - wrong_levels_ - wrong_ports_, total_});
    }
    if (right_since) outcome_.convergence = std::max(*right_since, last) - last;
    thin_curve();
    list_what_is_wrong();
    return std::move(outcome_);
  }

 private:
  Duration draw(Duration below) {
    return Duration(
        static_cast<Duration::rep>(random_.below(static_cast<std::uint64_t>(below.count()) + 1)));
  }

  /// Draws everything that will befall the fabric, but for the loss of frames.
  void plan() {
    for (std::uint32_t n = 0; n < devices_.size(); ++n) {
      const Duration at = draw(scenario_.start_spread);
      outcome_.last_start = std::max(outcome_.last_start, at);
      queue_.push(kBegin + at, {.kind = Event::Kind::kStart, .node = n});
    }
    outcome_.last_disturbance = outcome_.last_start;
    const auto interval = [&](auto from, auto to) {
      Duration a = draw(scenario_.churn_span);
      Duration b = draw(scenario_.churn_span);
      if (a > b) std::swap(a, b);
      queue_.push(kBegin + outcome_.last_start + a, from);
      queue_.push(kBegin + outcome_.last_start + b, to);
      outcome_.last_disturbance = std::max(outcome_.last_disturbance, outcome_.last_start + b);
    };
    for (std::size_t i = 0; i < scenario_.restarts && !devices_.empty(); ++i) {
      const auto node = static_cast<std::uint32_t>(random_.below(devices_.size()));
      interval(Event{.kind = Event::Kind::kStop, .orderly = random_.chance(0.5), .node = node},
               Event{.kind = Event::Kind::kStart, .node = node});
    }
    for (std::size_t i = 0; i < scenario_.cuts && !cut_.empty(); ++i) {
      const auto link = static_cast<std::uint32_t>(random_.below(cut_.size()));
      interval(Event{.kind = Event::Kind::kCut, .link = link},
               Event{.kind = Event::Kind::kRepair, .link = link});
    }
  }

  void handle(const Event& e, TimePoint now) {
    switch (e.kind) {
      case Event::Kind::kStart:
        return start(e.node, now);
      case Event::Kind::kStop:
        return stop(e.node, e.orderly, now);
      case Event::Kind::kCut:
        if (cut_[e.link]++ == 0) set_link(e.link, now);
        return;
      case Event::Kind::kRepair:
        if (--cut_[e.link] == 0) set_link(e.link, now);
        return;
      case Event::Kind::kDeliver:
        return deliver(e, now);
      case Event::Kind::kWake:
        return wake(e.node, now);
    }
  }

  void start(std::uint32_t n, TimePoint now) {
    Device& d = devices_[n];
    if (d.agent) return;  // two restarts that overlap
    core::Settings settings;
    settings.role = fabric_.nodes[n].role;
    settings.chassis_id = fabric_.nodes[n].chassis;
    settings.system_name = fabric_.nodes[n].name;
    d.agent.emplace(std::move(settings), d.state, now);
    for (std::size_t p = 0; p < d.ports.size(); ++p) tell_link(n, p, now);
    check_level(n);
    for (std::size_t p = 0; p < d.ports.size(); ++p) check_port(n, p);
    schedule(n);
  }

  void stop(std::uint32_t n, bool orderly, TimePoint now) {
    Device& d = devices_[n];
    if (!d.agent) return;
    d.state = d.agent->state();
    if (orderly) {
      d.agent->shutdown(now, actions_);
      act(n, now);
    }
    d.agent.reset();
    d.wake.reset();
    count(d.right, false, wrong_levels_);
    for (Port& p : d.ports) count(p.right, false, wrong_ports_);
  }

  /// Both ends see the carrier go or come.
  void set_link(std::uint32_t link, TimePoint now) {
    for (const LinkEnd& end : fabric_.links[link].ends) {
      const auto n = static_cast<std::uint32_t>(end.node);
      if (!devices_[n].agent) continue;
      const auto& ports = devices_[n].ports;
      const auto at =
          std::find_if(ports.begin(), ports.end(), [&](const Port& p) { return p.link == link; });
      tell_link(n, static_cast<std::size_t>(at - ports.begin()), now);
      schedule(n);
    }
  }

  void tell_link(std::uint32_t n, std::size_t p, TimePoint now) {
    const Port& port = devices_[n].ports[p];
    const LinkEnd& end = fabric_.links[port.link].ends[port.own_end];
    devices_[n].agent->set_link({.ifindex = ifindex_of(p),
                                 .name = end.port,
                                 .address = port_address(port.link, port.own_end),
                                 .up = cut_[port.link] == 0},
                                now, actions_);
    act(n, now);
  }

  void deliver(const Event& e, TimePoint now) {
    Device& d = devices_[e.node];
    if (d.agent && cut_[d.ports[e.port].link] == 0) {
      d.agent->receive(ifindex_of(e.port), frames_.get(e.frame), now, actions_);
      act(e.node, now);
      schedule(e.node);
    }
    frames_.release(e.frame);
  }

  void wake(std::uint32_t n, TimePoint now) {
    Device& d = devices_[n];
    if (d.wake != now) return;  // an earlier one took its place, or the agent was stopped
    d.wake.reset();
    d.agent->advance(now, actions_);
    act(n, now);
    schedule(n);
  }

  /// Only a deadline that moved forward costs an event; one that moved back is found out when the
  /// old one comes.
  void schedule(std::uint32_t n) {
    Device& d = devices_[n];
    const auto deadline = d.agent->next_deadline();
    if (!deadline || (d.wake && *d.wake <= *deadline)) return;
    d.wake = deadline;
    queue_.push(*deadline, {.kind = Event::Kind::kWake, .node = n});
  }

  void act(std::uint32_t n, TimePoint now) {
    Device& d = devices_[n];
    for (const core::Send& send : actions_.sends) {
      const Port& port = d.ports[send.port.value() - 1];
      ++outcome_.frames_sent;
      if (cut_[port.link] != 0) continue;
      if (scenario_.loss > 0 && random_.chance(scenario_.loss)) {
        ++outcome_.frames_lost;
        continue;
      }
      const Duration delay(static_cast<Duration::rep>(fabric_.links[port.link].delay_ns));
      queue_.push(now + delay, {.kind = Event::Kind::kDeliver,
                                .node = port.peer,
                                .port = port.peer_port,
                                .frame = frames_.put(send.frame)});
    }
    for (const core::Event& event : actions_.events) {
      if (event.kind == core::Event::Kind::kLevel) check_level(n);
      if (event.kind == core::Event::Kind::kPort) check_port(n, event.port.value() - 1);
    }
    actions_.clear();
  }

  static void count(bool& flag, bool right, std::size_t& wrong) {
    if (flag == right) return;
    flag = right;
    wrong += right ? std::size_t(-1) : 1;
  }
  void check_level(std::uint32_t n) {
    count(devices_[n].right, devices_[n].agent->level() == fabric_.nodes[n].level, wrong_levels_);
  }
  void check_port(std::uint32_t n, std::size_t p) {
    Port& port = devices_[n].ports[p];
    count(port.right, devices_[n].agent->type(ifindex_of(p)) == port.truth, wrong_ports_);
  }

  void sample(TimePoint now) {
    auto& curve = outcome_.curve;
    if (!curve.empty() && curve.back().levels == wrong_levels_ &&
        curve.back().ports == wrong_ports_)
      return;
    if (!curve.empty() && curve.back().at == now - kBegin) curve.pop_back();
    curve.push_back({now - kBegin, wrong_levels_, wrong_ports_});
  }
  void thin_curve() {
    auto& curve = outcome_.curve;
    if (curve.size() <= Outcome::kSamples) return;
    std::vector<Sample> thin;
    for (std::size_t i = 0; i < Outcome::kSamples; ++i)
      thin.push_back(curve[i * (curve.size() - 1) / (Outcome::kSamples - 1)]);
    curve = std::move(thin);
  }

  void list_what_is_wrong() {
    for (std::size_t n = 0; n < devices_.size(); ++n) {
      const Device& d = devices_[n];
      const Node& node = fabric_.nodes[n];
      const auto text = [](const std::optional<Level>& level) {
        return level ? std::to_string(level->value()) : "none";
      };
      if (!d.agent) {
        outcome_.wrong_levels.push_back(node.name + ": stopped");
        continue;
      }
      if (!d.right)
        outcome_.wrong_levels.push_back(
            fmt::format("{}: {}, not {}", node.name, text(d.agent->level()), text(node.level)));
      for (std::size_t p = 0; p < d.ports.size(); ++p)
        if (!d.ports[p].right)
          outcome_.wrong_ports.push_back(
              fmt::format("{}:{}: {}, not {}", node.name,
                          fabric_.links[d.ports[p].link].ends[d.ports[p].own_end].port,
                          to_string(d.agent->type(ifindex_of(p))), to_string(d.ports[p].truth)));
    }
  }

  const Fabric& fabric_;
  const Scenario& scenario_;
  Random random_;
  EventQueue<Event> queue_{};
  FramePool frames_{};
  core::Actions actions_{};
  std::vector<Device> devices_;
  std::vector<std::uint32_t> cut_;  ///< how many cuts of a link stand
  std::size_t wrong_levels_ = 0;
  std::size_t wrong_ports_ = 0;
  std::size_t total_ = 0;
  Outcome outcome_{};
};

}  // namespace

Outcome run(const Fabric& fabric, const Scenario& scenario,
            const std::function<void(const Progress&)>& tell) {
  return Run(fabric, scenario).go(tell);
}

}  // namespace lldp::lab::converge
