// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <prometheus/metric_family.h>

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "os/ethtool.hpp"

/// What a daemon tells on its control socket, in Prometheus' terms.
namespace lldp::metrics {

/// Answers of one daemon, each a JSON object as text.
struct Answers {
  std::string info{};   ///< org.varlink.service.GetInfo
  std::string show{};   ///< org.lldplevel.Show
  std::string stats{};  ///< org.lldplevel.Stats
  std::string rules{};  ///< org.lldplevel.Rules
};

/// What the driver of a port counts, by the port's name and ifindex; nullptr: nothing. `state`: of
/// what the driver's table of counters may depend.
using DriverCounts = std::function<const ethtool::PriorityCounts*(
    const std::string& port, unsigned ifindex, std::uint64_t state)>;

/// All families, always the same ones in the same order. No two samples of a family have the same
/// labels: a neighbor chooses its own names, and Prometheus refuses a whole scrape with a double.
/// `drivers` is asked for the pauses of ports of which the back end tells none.
/// An error: an answer is not of the shape that agent/report writes.
[[nodiscard]] Result<std::vector<prometheus::MetricFamily>> families(
    const Answers& answers, const DriverCounts& drivers = {});

/// What is told when no daemon answers: `lldp_level_up 0`.
[[nodiscard]] std::vector<prometheus::MetricFamily> no_daemon();

}  // namespace lldp::metrics
