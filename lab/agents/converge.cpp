// SPDX-License-Identifier: Apache-2.0
#include "lab/agents/converge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/agents/curve.hpp"
#include "lab/agents/fabric_network.hpp"
#include "lab/agents/locations.hpp"
#include "lab/agents/script.hpp"
#include "lab/agents/truth.hpp"
#include "lab/topology/forwarding.hpp"

namespace lldp::lab::converge {
namespace {

using agents::Network;

constexpr std::uint64_t kEventsPerTell = 4096;

class Run {
 public:
  Run(const Fabric& fabric, const Scenario& scenario)
      : scenario_(scenario),
        network_(agents::network_of(fabric, scenario.seed)),
        script_(fabric, scenario.script, network_),
        truth_(network_, script_.levels()),
        locations_(network_, script_.levels()),
        cuts_(fabric.links.size(), 0) {
    network_.loss = scenario.loss;
    network_.saves_at_once = false;  // no agent dies between a frame and the saved state
    network_.watch(truth_);
    network_.watch(locations_);
    script_.set_back();
    outcome_.fabric = fabric.name;
    outcome_.devices = fabric.nodes.size();
    outcome_.links = fabric.links.size();
    layered_ = has_layers(fabric);
  }

  Outcome go(const std::function<void(const Progress&)>& tell) {
    plan();
    const TimePoint last = Network::kBegin + outcome_.last_disturbance;
    const TimePoint end = last + scenario_.timeout;
    agents::Curve curve(truth_);
    while (!network_.idle()) {
      const TimePoint next = network_.next_time();
      const auto right_since = curve.right_since();
      const bool all_right = right_since && located_since_;
      if (next > end ||
          (all_right && next > std::max({*right_since, *located_since_, last}) + scenario_.settle))
        break;
      network_.step();
      curve.sample(network_.now);
      if (locations_.wrong() != 0)
        located_since_.reset();
      else if (!located_since_)
        located_since_ = network_.now;
      if (++outcome_.events % kEventsPerTell == 0 && tell)
        tell({network_.now - Network::kBegin, truth_.total() - truth_.wrong(), truth_.total()});
    }
    if (const auto since = curve.right_since())
      outcome_.convergence = std::max(*since, last) - last;
    if (located_since_) outcome_.location = std::max(*located_since_, last) - last;
    outcome_.frames_sent = network_.frames_sent;
    outcome_.frames_lost = network_.frames_lost;
    outcome_.curve = curve.thinned(Outcome::kSamples);
    outcome_.wrong_levels = truth_.list_wrong_levels();
    outcome_.wrong_ports = truth_.list_wrong_ports();
    outcome_.wrong_locations = locations_.list_wrong();
    if (layered_) outcome_.cabling_alarms = cabling_alarms();
    return std::move(outcome_);
  }

 private:
  Duration draw(Duration below) {
    return Duration(static_cast<Duration::rep>(
        network_.random().below(static_cast<std::uint64_t>(below.count()) + 1)));
  }

  /// Draws everything that will befall the fabric, but for the loss of frames.
  void plan() {
    const std::size_t nodes = network_.nodes.size();
    for (std::size_t n = 0; n < nodes; ++n) {
      const Duration at = draw(scenario_.start_spread);
      outcome_.last_start = std::max(outcome_.last_start, at);
      if (!script_.comes_late(n)) network_.at(Network::kBegin + at, [this, n] { start(n); });
    }
    outcome_.last_disturbance = outcome_.last_start;
    if (!scenario_.script.empty()) {
      script_.play(Network::kBegin + outcome_.last_start, scenario_.churn_span);
      outcome_.last_disturbance += scenario_.churn_span;
    }
    const auto interval = [&](auto from, auto to) {
      Duration a = draw(scenario_.churn_span);
      Duration b = draw(scenario_.churn_span);
      if (a > b) std::swap(a, b);
      network_.at(Network::kBegin + outcome_.last_start + a, std::move(from));
      network_.at(Network::kBegin + outcome_.last_start + b, std::move(to));
      outcome_.last_disturbance = std::max(outcome_.last_disturbance, outcome_.last_start + b);
    };
    for (std::size_t i = 0; i < scenario_.restarts && nodes != 0; ++i) {
      const std::size_t node = network_.random().below(nodes);
      const bool orderly = network_.random().chance(0.5);
      interval([this, node, orderly] { stop(node, orderly); }, [this, node] { start(node); });
    }
    for (std::size_t i = 0; i < scenario_.cuts && !cuts_.empty(); ++i) {
      const std::size_t link = network_.random().below(cuts_.size());
      interval(
          [this, link] {
            if (cuts_[link]++ == 0) network_.set_cable(link, false);
          },
          [this, link] {
            if (--cuts_[link] == 0) network_.set_cable(link, true);
          });
    }
  }

  // Two restarts of one agent may overlap.
  void start(std::size_t node) {
    if (!network_.nodes[node].agent) network_.start(node);
  }
  void stop(std::size_t node, bool orderly) {
    if (network_.nodes[node].agent) network_.stop(node, orderly);
  }

  [[nodiscard]] std::vector<std::string> cabling_alarms() const {
    std::vector<std::string> list;
    for (const Network::Node& node : network_.nodes) {
      if (!node.agent) continue;
      for (const core::Alarm& a : node.agent->snapshot(network_.now).alarms)
        if (a.code == core::AlarmCode::kCabling)
          list.push_back(fmt::format("{}:{}: {}", node.name(), a.port, a.text));
    }
    return list;
  }

  const Scenario& scenario_;
  Network network_;
  Script script_;
  agents::Truth truth_;
  agents::LocationTruth locations_;
  std::optional<TimePoint> located_since_{};
  std::vector<std::uint32_t> cuts_;  ///< how many cuts of a link stand
  bool layered_ = false;
  Outcome outcome_{};
};

}  // namespace

Outcome run(Fabric fabric, const Scenario& scenario,
            const std::function<void(const Progress&)>& tell) {
  Run run(fabric, scenario);
  fabric = {};
  return run.go(tell);
}

}  // namespace lldp::lab::converge
