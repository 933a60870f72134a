// SPDX-License-Identifier: Apache-2.0
#include "sim/bounce/act.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <numeric>
#include <set>
#include <thread>

#include "lab/live/agents.hpp"
#include "lab/live/ending.hpp"
#include "lab/live/fabric_of_namespaces.hpp"
#include "lab/live/processes.hpp"
#include "lab/live/watcher.hpp"
#include "sim/bounce/capture.hpp"
#include "sim/bounce/counters.hpp"
#include "sim/bounce/forwarder.hpp"

namespace lldp::lab::bounce {
namespace {

using live::Watcher;
using Seconds = std::chrono::duration<double>;

/// Others' traffic: best effort, CS1, AF41, EF and the network's own, which are no business of
/// ours.
constexpr std::uint8_t kOthers[] = {0, 8, 34, 46, 48};

bool is_lossless(const qos::Policy& policy, Dscp dscp) {
  return std::ranges::any_of(policy.classes(),
                             [&](const qos::LosslessClass& c) { return c.dscps.contains(dscp); });
}

/// Passages through the switches of a path, as the tracks of `probes` tell.
std::vector<Hop> hops_of(const Fabric& fabric, const Path& path, const qos::Policy& policy,
                         const std::vector<ProbePacket>& probes,
                         const std::map<std::uint32_t, Track>& tracks) {
  const auto spots = spots_of(fabric, path);
  const auto turns = turns_of(fabric, path);
  std::vector<Hop> hops;
  for (std::size_t i = 1; i + 1 < path.nodes.size(); ++i) {
    const Spot& in = spots[2 * i - 1];
    const Spot& out = spots[2 * i];
    Hop hop{.node = path.nodes[i],
            .in = {in.link, in.end, path.nodes[i - 1]},
            .out = {out.link, out.end, path.nodes[i + 1]},
            .turn = std::find(turns.begin(), turns.end(), i) != turns.end()};
    for (const ProbePacket& probe : probes) {
      const auto track = tracks.find(probe.serial);
      if (!is_lossless(policy, probe.marking.dscp) || track == tracks.end()) continue;
      const auto came = track->second.find(in);
      const auto left = track->second.find(out);
      if (came == track->second.end() || left == track->second.end()) continue;
      const std::pair pair(came->second.marking, left->second.marking);
      if (std::find(hop.seen.begin(), hop.seen.end(), pair) == hop.seen.end())
        hop.seen.push_back(pair);
    }
    hops.push_back(std::move(hop));
  }
  return hops;
}

/// The live fabric from the agents' start on.
class Act {
 public:
  Act(const NamedCase& scenario, const qos::Policy& policy, const Settings& settings)
      : fabric_(scenario.fabric), scenario_(scenario), policy_(policy), settings_(settings) {
    // What arrives is to show what became of it on the way.
    arguments_ = {"--backend",   settings.backend,    "--qos.lossless", policy.lossless_text(),
                  "--qos.lossy", policy.lossy_text(), "--qos.restore",  "no"};
    arguments_.insert(arguments_.end(), settings.agent_arguments.begin(),
                      settings.agent_arguments.end());
  }

  Result<Outcome> play() {
    auto forwarder = Forwarder::open(settings_.place, fabric_, settings_.mode);
    if (!forwarder) return fail(forwarder.error());
    Outcome outcome{.backend = settings_.backend};
    const auto begin = Watcher::Clock::now();
    std::vector<std::size_t> all(fabric_.nodes.size());
    std::iota(all.begin(), all.end(), 0);
    if (auto ok = start(all); !ok) return fail(ok.error());
    outcome.ready_seconds = Seconds(Watcher::Clock::now() - begin).count();
    auto before = send_all(*forwarder, FailedLinks(fabric_.links.size()));
    if (!before) return fail(before.error());
    outcome.before = std::move(*before);
    if (auto ok = forwarder->cut(scenario_.failed); !ok) return fail(ok.error());
    auto after = send_all(*forwarder, scenario_.failed);
    if (!after) return fail(after.error());
    outcome.after = std::move(*after);
    const auto counted = counted_bounces(settings_.place, fabric_);
    if (!counted) return fail(counted.error());
    outcome.miscounts = miscounts(fabric_, *counted, turns_);
    for (const auto& [where, count] : turns_) outcome.turns += count;
    if (settings_.restarts > 0) {
      auto restarts = restart_under_traffic(*forwarder);
      if (!restarts) return fail(restarts.error());
      outcome.restarts = std::move(*restarts);
    }
    return outcome;
  }

 private:
  /// Starts the agents of these nodes and waits until they are right and protected.
  Result<void> start(const std::vector<std::size_t>& nodes) {
    const auto deadline = Watcher::Clock::now() +
                          std::chrono::duration_cast<Watcher::Clock::duration>(settings_.timeout);
    const auto started =
        live::start_agents(settings_.place, fabric_, names_of(nodes), settings_.agent, arguments_);
    if (!started) return fail(started.error());
    Watcher watcher(settings_.place, fabric_);
    // Without a data plane there is no protection to wait for; what the packets say, counts.
    const bool is_protected = settings_.backend == "bpf";
    const auto late = watcher.wait_until_settled(nodes, is_protected, deadline);
    if (!late) return {};
    if (live::is_ending()) return fail(Error{EINTR, "", "ended by a signal"});
    return fail(
        Error{0, fabric_.nodes[*late].name,
              fmt::format("its agent is not ready after {:g} s: {}", settings_.timeout.count(),
                          live::last_line(settings_.place.log(fabric_.nodes[*late].name)))});
  }

  std::vector<std::string> names_of(const std::vector<std::size_t>& nodes) const {
    std::vector<std::string> names;
    for (const std::size_t n : nodes) names.push_back(fabric_.nodes[n].name);
    return names;
  }

  Result<std::vector<FlowResult>> send_all(Forwarder& forwarder, const FailedLinks& failed) {
    std::vector<FlowResult> results;
    for (std::size_t f = 0; f < scenario_.flows.size(); ++f) {
      auto path = path_of(fabric_, failed, scenario_.flows[f]);
      if (!path) return fail(path.error());
      if (auto ok = forwarder.lay(f, *path); !ok) return fail(ok.error());
      auto result = send(f, std::move(*path), forwarder);
      if (!result) return fail(result.error());
      results.push_back(std::move(*result));
    }
    return results;
  }

  Result<FlowResult> send(std::size_t flow, Path path, const Forwarder& forwarder) {
    auto capture = Capture::open(settings_.place, fabric_);
    if (!capture) return fail(capture.error());
    const auto sender = PacketSender::open(settings_.place, fabric_, path.nodes.front());
    if (!sender) return fail(sender.error());
    const auto probes = probes_for(flow, policy_, settings_.mode, next_serial_);
    next_serial_ += static_cast<std::uint32_t>(probes.size());
    for (const ProbePacket& probe : probes)
      if (auto ok = sender->send(frame_of(probe, forwarder.first_hop(flow, path))); !ok)
        return fail(ok.error());
    const auto tracks = capture->take(probes.size() * 2 * path.links.size());
    FlowResult result{.flow = *scenario_.flows[flow].name, .path = path, .sent = probes.size()};
    const Spot arrival = spots_of(fabric_, path).back();
    for (const ProbePacket& probe : probes) {
      count_turns(fabric_, path, policy_, probe.marking, turns_);
      const auto found = tracks.find(probe.serial);
      const Track track = found == tracks.end() ? Track() : found->second;
      if (const auto at = track.find(arrival); at != track.end())
        ++(at->second.marking == probe.marking ? result.as_sent : result.remarked);
      const std::string problem = problem_of(fabric_, path, policy_, settings_.mode, probe, track);
      if (!problem.empty()) result.problems.push_back(to_string(probe) + ": " + problem);
    }
    result.hops = hops_of(fabric_, path, policy_, probes, tracks);
    return result;
  }

  Result<RestartResult> restart_under_traffic(const Forwarder& forwarder) {
    const FlowPath& flow = scenario_.flows.front();
    const auto path = path_of(fabric_, scenario_.failed, flow);
    if (!path) return fail(path.error());
    RestartResult result{.flow = *flow.name, .restarts = settings_.restarts};
    std::vector<std::size_t> turns;
    for (const std::size_t i : turns_of(fabric_, *path)) turns.push_back(path->nodes[i]);
    result.switches = names_of(turns);
    std::set<std::size_t> beside;
    for (const std::size_t i : turns_of(fabric_, *path))
      for (const std::size_t node : {path->nodes[i - 1], path->nodes[i + 1]})
        if (std::ranges::find(turns, node) == turns.end()) beside.insert(node);
    const std::vector<std::size_t> neighbors(beside.begin(), beside.end());
    result.neighbors = names_of(neighbors);
    const ProbePacket probe{.flow = 0,
                            .marking = {.dscp = policy_.lossless().front().dscp, .ecn = 2}};
    const Dscp due = expected_markings(fabric_, *path, policy_, probe.marking).back().dscp;
    const auto count = [&](bool right) {
      return PacketCounter::open(settings_.place, fabric_, flow.to, probe.flow, due, right);
    };
    const auto right = count(true);
    if (!right) return fail(right.error());
    const auto wrong = count(false);
    if (!wrong) return fail(wrong.error());
    const auto sender = PacketSender::open(settings_.place, fabric_, flow.from);
    if (!sender) return fail(sender.error());

    std::atomic<bool> stop = false;
    const Bytes frame = frame_of(probe, forwarder.first_hop(probe.flow, *path));
    const auto begin = Watcher::Clock::now();
    auto sent = std::async(std::launch::async, [&] {
      return sender->blast(frame, settings_.packets_per_second, stop);
    });
    Result<void> outcome;
    for (std::size_t i = 0; i < settings_.restarts && outcome; ++i) {
      // The two ways to end, abrupt and orderly: first this agent, then the agents whose orders it
      // uses.
      const bool here = i % 4 < 2;
      const auto& names = here ? result.switches : result.neighbors;
      if (i % 2 == 0) {
        live::kill_agents(settings_.place, names);
      } else {
        live::stop_agents(settings_.place, names);
      }
      outcome = start(here ? turns : neighbors);
    }
    stop = true;
    result.sent = sent.get();
    result.seconds = Seconds(Watcher::Clock::now() - begin).count();
    if (!outcome) return fail(outcome.error());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // what is under way arrives
    result.right = right->take();
    result.wrong = wrong->take();
    return result;
  }

  const Fabric& fabric_;
  const NamedCase& scenario_;
  const qos::Policy& policy_;
  const Settings& settings_;
  std::vector<std::string> arguments_;
  std::uint32_t next_serial_ = 1;
  Bounces turns_{};  ///< that the probes sent so far must have made
};

}  // namespace

bool Outcome::turned() const {
  return std::any_of(after.begin(), after.end(), [](const FlowResult& f) {
    return std::any_of(f.hops.begin(), f.hops.end(), [](const Hop& hop) { return hop.turn; });
  });
}

bool Outcome::holds() const {
  const auto fine = [](const FlowResult& f) { return f.problems.empty(); };
  return std::all_of(before.begin(), before.end(), fine) &&
         std::all_of(after.begin(), after.end(), fine) && turned() &&
         (!restarts || (restarts->wrong == 0 && restarts->right > 0));
}

std::vector<ProbePacket> probes_for(std::size_t flow, const qos::Policy& policy, BounceMode mode,
                                    std::uint32_t first_serial) {
  std::vector<Marking> markings;
  const auto add = [&](Dscp dscp, Priority pcp) {
    for (std::uint8_t ecn = 0; ecn < 4; ++ecn) {
      markings.push_back({.dscp = dscp, .ecn = ecn});
      if (mode == BounceMode::kBridged) markings.push_back({.dscp = dscp, .ecn = ecn, .pcp = pcp});
    }
  };
  for (const qos::Remap& turn : policy.turns()) add(turn.from.dscp, turn.from.priority);
  for (const std::uint8_t other : kOthers) {
    const Dscp dscp = *Dscp::make(other);
    if (!is_lossless(policy, dscp))
      add(dscp, Priority::of<3>());  // a PCP that nothing derives from the DSCP
  }
  std::vector<ProbePacket> probes;
  for (const Marking& marking : markings)
    for (const bool v6 : {false, true})
      probes.push_back({.serial = first_serial++, .flow = flow, .v6 = v6, .marking = marking});
  return probes;
}

Result<Outcome> run(const NamedCase& scenario, const qos::Policy& policy,
                    const Settings& settings) {
  const auto made = live::build(settings.place, scenario.fabric);
  if (!made) return fail(made.error());
  auto outcome = Act(scenario, policy, settings).play();
  const auto gone = live::remove(settings.place, *made);
  if (outcome && !gone) return fail(gone.error());
  return outcome;
}

}  // namespace lldp::lab::bounce
