// SPDX-License-Identifier: Apache-2.0
#include "sim/lossless/stage.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <set>

#include "lab/live/agents.hpp"
#include "lab/live/ending.hpp"
#include "lab/live/fabric_of_namespaces.hpp"
#include "lab/live/processes.hpp"
#include "lab/live/route_socket.hpp"
#include "lab/live/switches.hpp"
#include "lab/live/watcher.hpp"
#include "sim/bounce/probe.hpp"
#include "sim/bounce/verdict.hpp"
#include "sim/lossless/client.hpp"
#include "sim/lossless/ports.hpp"
#include "sim/lossless/station.hpp"

namespace lldp::lab::lossless {
namespace {

using live::Watcher;
using packets::kMicrosecond;
using packets::kSecond;

const Error kEnded{EINTR, "", "ended by a signal"};
constexpr int kStill = 20;  ///< rounds without any frame sent: for good
constexpr int kDone = 3;    ///< where nothing waits: the last may be on its way
constexpr Picoseconds kLongestWait = 60 * kSecond;  ///< for what waits to arrive

/// A host that sends or receives, in this process.
struct Host {
  std::size_t node = 0;
  Ports ports;
  Station station;
  Pace pace;
};

class Stage {
 public:
  Stage(const packets::Plan& plan, const Settings& settings)
      : plan_(plan), fabric_(plan.fabric), s_(settings) {
    outcome_.fills_us = StationSettings().xoff_octets * std::uint64_t{8'000'000} / s_.rate_bps;
    outcome_.sent_us = static_cast<std::uint64_t>(s_.sending.count() * 1e6);
  }

  Result<Outcome> play() {
    for (const packets::PlannedFlow& flow : plan_.flows) {
      auto path = path_of(fabric_, plan_.failed, flow.way);
      if (!path) return fail(path.error());
      outcome_.flows.push_back({.name = packets::flow_name(plan_, flow), .path = *path});
      paths_.push_back(std::move(*path));
    }
    const auto deadline =
        Watcher::Clock::now() + std::chrono::duration_cast<Watcher::Clock::duration>(s_.timeout);
    std::vector<Way> ways;
    for (std::size_t f = 0; f < paths_.size(); ++f)
      ways.push_back({bounce::ipv4_of(f, true), paths_[f]});
    if (auto ok = live::start_switches(
            s_.place, switch_files(s_.place, fabric_, ways, s_.policy, s_.rate_bps), s_.program);
        !ok)
      return fail(ok.error());
    std::map<std::size_t, SwitchClient> clients;
    for (std::size_t n = 0; n < fabric_.nodes.size(); ++n) {
      if (fabric_.nodes[n].role != Role::kSwitch) continue;
      auto client = SwitchClient::open(s_.place.switch_socket(fabric_.nodes[n].name), deadline);
      if (!client)
        return fail(Error{0, fabric_.nodes[n].name,
                          client.error().what + ": " +
                              live::last_line(s_.place.switch_log(fabric_.nodes[n].name))});
      clients.emplace(n, std::move(*client));
    }
    lookout_.emplace(std::move(clients));
    if (s_.is_protected)
      if (auto ok = protect(deadline); !ok) return fail(ok.error());
    if (live::is_ending()) return fail(kEnded);
    if (auto ok = cut(); !ok) return fail(ok.error());
    if (auto ok = open_hosts(); !ok) return fail(ok.error());
    if (auto ok = traffic(); !ok) return fail(ok.error());
    account();
    return std::move(outcome_);
  }

 private:
  Error switch_has_ended(const std::string& node) const {
    return {0, node, "its switch has ended: " + live::last_line(s_.place.switch_log(node))};
  }

  Result<void> protect(Watcher::Clock::time_point deadline) {
    const auto begin = Watcher::Clock::now();
    if (const auto started =
            start_agents(s_.place, fabric_, s_.agent, s_.policy, s_.agent_arguments);
        !started)
      return fail(started.error());
    Watcher watcher(s_.place, fabric_);
    std::vector<std::size_t> all(fabric_.nodes.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    const auto late = watcher.wait_until_settled(all, true, deadline);
    if (late)  // for want of a switch, perhaps, whose neighbors wait for it
      for (const Node& node : fabric_.nodes)
        if (node.role == Role::kSwitch &&
            !SwitchClient::open(s_.place.switch_socket(node.name), Watcher::Clock::now()))
          return fail(switch_has_ended(node.name));
    if (late)
      return fail(Error{0, fabric_.nodes[*late].name,
                        fmt::format("its agent is not ready after {:g} s: {}", s_.timeout.count(),
                                    live::last_line(s_.place.log(fabric_.nodes[*late].name)))});
    outcome_.ready_seconds = std::chrono::duration<double>(Watcher::Clock::now() - begin).count();
    return {};
  }

  Result<void> cut() {
    const live::KeepNamespace home;
    for (std::size_t i = 0; i < plan_.failed.size(); ++i) {
      if (!plan_.failed[i]) continue;
      for (const LinkEnd& end : fabric_.links[i].ends) {
        if (auto ok = live::enter(s_.place, fabric_.nodes[end.node].name); !ok) return ok;
        auto batch = live::RouteBatch::open();
        if (!batch) return fail(batch.error());
        batch->set_down(end.port);
        if (auto ok = batch->commit(); !ok) return ok;
      }
    }
    return {};
  }

  Result<void> open_hosts() {
    std::set<std::size_t> ends;
    for (const Path& path : paths_) ends.insert({path.nodes.front(), path.nodes.back()});
    const auto addresses = live::port_addresses(fabric_);
    const auto links = adjacencies(fabric_);
    const live::KeepNamespace home;
    hosts_.reserve(ends.size());  // what follows points into it
    for (const std::size_t node : ends) {
      const Adjacency port = links[node].front();
      const std::string& name = fabric_.links[port.link].ends[port.own_end].port;
      if (auto ok = live::enter(s_.place, fabric_.nodes[node].name); !ok) return ok;
      auto ports = Ports::open({name});
      if (!ports) return fail(ports.error());
      const std::size_t at = hosts_.size();
      auto station = Station::of(
          {.name = fabric_.nodes[node].name,
           .forwards = false,
           .ports = {{name, addresses[port.link][port.own_end]}},
           .policy = s_.policy,
           .rate_bps = s_.rate_bps},
          [this, at](std::size_t p, ByteSpan frame) { hosts_[at].ports.send(p, frame); });
      if (!station) return fail(station.error());
      hosts_.push_back({node, std::move(*ports), std::move(*station), Pace(s_.rate_bps)});
    }
    return {};
  }

  /// Sends, and looks on until all has arrived or nothing moves.
  Result<void> traffic() {
    const UniqueFd poll(epoll_create1(EPOLL_CLOEXEC));
    const Timer timer;
    const UniqueFd ending = live::watch_for_ending();
    const auto watch = [&](int fd, std::size_t number, std::uint32_t events = EPOLLIN) {
      epoll_event interest{.events = events, .data = {.u64 = number}};
      epoll_ctl(poll.get(), EPOLL_CTL_ADD, fd, &interest);
    };
    const std::size_t tick = hosts_.size();
    const std::size_t end = tick + 1;
    const std::size_t one = end + 1;  // and the switch's node
    for (std::size_t h = 0; h < hosts_.size(); ++h) watch(hosts_[h].ports.fd(0), h);
    watch(timer.fd(), tick);
    watch(ending.get(), end);
    for (const auto& [node, client] : lookout_->switches())
      watch(client.fd(), one + node, EPOLLIN | EPOLLRDHUP);
    const Stopwatch clock;
    for (;;) {
      Picoseconds next = lookout_->due();
      for (Host& h : hosts_) next = std::min(next, h.pace.due(h.station.next()));
      clock.set(timer, next);
      std::array<epoll_event, 16> ready{};
      const int n = epoll_wait(poll.get(), ready.data(), ready.size(), -1);
      const Picoseconds now = clock.now();
      for (Host& h : hosts_) h.station.run(h.pace.at(now, h.station.next()));
      for (int i = 0; i < n; ++i) {
        const std::size_t which = ready[static_cast<std::size_t>(i)].data.u64;
        if (which < hosts_.size()) {
          hosts_[which].ports.receive(
              0, [&](ByteSpan frame) { hosts_[which].station.receive(0, frame); });
        } else if (which == tick) {
          static_cast<void>(timer.take());
        } else if (which == end) {
          return fail(kEnded);
        } else if ((ready[static_cast<std::size_t>(i)].events & EPOLLRDHUP) != 0) {
          return fail(switch_has_ended(fabric_.nodes[which - one].name));
        } else {
          const auto all = lookout_->take(which - one, now);
          if (!all) return fail(all.error());
          if (*all && is_over(now)) return {};
        }
      }
      if (auto ok = lookout_->run(now); !ok) return ok;
    }
  }

  void begin_flows() {
    const auto addresses = live::port_addresses(fabric_);
    for (std::size_t f = 0; f < paths_.size(); ++f) {
      const std::size_t link = paths_[f].links.front();
      const std::size_t far = fabric_.links[link].ends[0].node == paths_[f].nodes.front() ? 1 : 0;
      host(paths_[f].nodes.front())
          .station.load(static_cast<std::uint16_t>(f), s_.frame_octets, addresses[link][far]);
    }
  }

  /// A round of the lookout has been made, before the first packet the first one.
  bool is_over(Picoseconds now) {
    // What is late when nothing moves any more closes nothing.
    if (lookout_->still() <= 1) {
      for (const auto& [node, view] : lookout_->views())
        lateness_.read(node, view.behind_us * kMicrosecond);
      for (const Host& h : hosts_) lateness_.read(h.node, h.pace.behind());
    }
    if (stop_ == 0) {
      begin_flows();
      stop_ = now + static_cast<Picoseconds>(s_.sending.count() * static_cast<double>(kSecond));
      return false;
    }
    const std::uint64_t waiting = lookout_->sum(&dataplane::soft::Port::waiting_octets);
    outcome_.waiting_octets = waiting;
    if (waiting != 0 && lookout_->still() >= kStill) {
      auto cycle = stopped_cycle(fabric_, lookout_->views());
      if (halted_ || !cycle.empty()) {
        outcome_.deadlock = std::move(cycle);
        outcome_.still_seconds =
            static_cast<double>(now - lookout_->moved()) / static_cast<double>(kSecond);
        outcome_.still_pauses =
            lookout_->sum(&dataplane::soft::Port::pauses_sent) - lookout_->pauses_when_moved();
        return true;
      }
    }
    if (halted_) return waiting == 0 ? lookout_->still() >= kDone : now >= stop_ + kLongestWait;
    if (now < stop_) return false;
    for (Host& h : hosts_) h.station.halt();
    lookout_->forget_still();
    halted_ = true;
    return false;
  }

  void account() {
    outcome_.pauses = lookout_->sum(&dataplane::soft::Port::pauses_sent);
    outcome_.late_us = lateness_.most() / kMicrosecond;
    for (const auto& [node, view] : lookout_->views()) {
      add(outcome_.lost, view);
      for (const auto& [name, port] : view.ports)
        for (const std::uint64_t bounced : port.bounces) outcome_.turned += bounced;
    }
    for (Host& h : hosts_) {
      outcome_.lost.missed += h.ports.missed();
      outcome_.lost.too_long += h.ports.too_long();
    }
    const bounce::Marking first{.dscp = s_.policy.lossless().front().dscp, .ecn = 2};
    for (std::size_t f = 0; f < paths_.size(); ++f) {
      FlowResult& flow = outcome_.flows[f];
      flow.sent = host(flow.path.nodes.front()).station.sent(static_cast<std::uint16_t>(f));
      const auto& received = host(flow.path.nodes.back()).station.received();
      const auto at = received.find(static_cast<std::uint16_t>(f));
      if (at == received.end()) continue;
      flow.received = at->second.frames;
      flow.disordered = at->second.disordered;
      const Dscp due =
          s_.is_protected
              ? bounce::expected_markings(fabric_, flow.path, s_.policy, first).back().dscp
              : first.dscp;
      for (const auto& [dscp, count] : at->second.dscps)
        flow.mismarked += dscp == due.value() ? 0 : count;
    }
  }

  Host& host(std::size_t node) {
    return *std::find_if(hosts_.begin(), hosts_.end(),
                         [&](const Host& h) { return h.node == node; });
  }

  const packets::Plan& plan_;
  const Fabric& fabric_;
  const Settings& s_;
  std::vector<Path> paths_{};
  std::optional<Lookout> lookout_{};
  std::vector<Host> hosts_{};
  Lateness lateness_{};
  Picoseconds stop_ = 0;  ///< 0: nothing is sent yet
  bool halted_ = false;
  Outcome outcome_{};
};

}  // namespace

bool Outcome::is_good() const {
  return deadlock.empty() && lost.drops == 0 && lost.missed == 0 && waiting_octets == 0 &&
         std::all_of(flows.begin(), flows.end(), [](const FlowResult& f) {
           return f.received == f.sent && f.sent != 0 && f.disordered == 0 && f.mismarked == 0;
         });
}

Outcome::Verdict Outcome::verdict() const {
  const bool is_slow = lost.missed != 0 || is_late();
  if (!deadlock.empty()) return is_slow ? Verdict::kNone : Verdict::kDeadlock;
  if (is_good()) return is_short() ? Verdict::kNone : Verdict::kHolds;
  // Nothing is lost for less than the allowance, nor marked wrongly for any; where something is
  // lost, what comes next is out of its order.
  const bool may_lose =
      lost.missed != 0 || late_us > std::uint64_t{1000} * StationSettings().allowance_ms;
  const bool is_wrong = std::any_of(flows.begin(), flows.end(), [&](const FlowResult& f) {
    return f.mismarked != 0 || (f.disordered != 0 && !may_lose);
  });
  return is_wrong || (lost.drops != 0 && !may_lose) || !is_slow ? Verdict::kFails : Verdict::kNone;
}

std::vector<StoppedQueue> stopped_cycle(const Fabric& fabric, const Views& views) {
  std::set<StoppedQueue> queues;
  for (const Link& link : fabric.links)
    for (std::size_t e = 0; e < 2; ++e) {
      const LinkEnd& end = link.ends[e];
      const auto view = views.find(end.node);
      if (view == views.end()) continue;
      const auto port = view->second.ports.find(end.port);
      if (port == view->second.ports.end()) continue;
      for (std::uint8_t p = 0; p < 8; ++p)
        if ((port->second.stopped & port->second.waiting) >> p & 1)
          queues.insert({end.node, link.ends[1 - e].node, end.port, p});
    }
  for (std::size_t before = queues.size() + 1; before != queues.size();) {
    before = queues.size();
    std::set<std::size_t> nodes;
    std::set<std::size_t> peers;
    for (const StoppedQueue& q : queues) {
      nodes.insert(q.node);
      peers.insert(q.peer);
    }
    std::erase_if(queues, [&](const StoppedQueue& q) {
      return !nodes.contains(q.peer) || !peers.contains(q.node);
    });
  }
  return {queues.begin(), queues.end()};
}

Result<Outcome> run(const packets::Plan& plan, const Settings& settings) {
  const auto made = live::build(settings.place, plan.fabric);
  if (!made) return fail(made.error());
  auto outcome = Stage(plan, settings).play();
  if (!outcome && live::is_ending()) outcome = fail(kEnded);  // whatever it was that had to wait
  const auto gone = live::remove(settings.place, *made);
  if (outcome && !gone) return fail(gone.error());
  return outcome;
}

}  // namespace lldp::lab::lossless
