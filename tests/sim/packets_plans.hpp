// SPDX-License-Identifier: Apache-2.0
// Plans that several tests of packets run.
#pragma once

#include <gtest/gtest.h>

#include "lab/topology/generators.hpp"
#include "sim/packets/run.hpp"

namespace lldp::lab::packets {

inline Plan of_case(std::string_view name, std::size_t x, std::size_t y,
                    ProtectionScheme protection, Picoseconds duration) {
  auto plan = plan_of_case(name, x, y);
  EXPECT_TRUE(plan) << to_string(plan.error());
  plan->settings.protection = protection;
  plan->duration = duration;
  return std::move(*plan);
}

inline Outcome outcome_of(const Plan& plan) {
  auto outcome = run(plan);
  EXPECT_TRUE(outcome) << to_string(outcome.error());
  EXPECT_TRUE(outcome->levels_agreed);
  return std::move(*outcome);
}

/// Two hosts, `switches` switches in a row between them.
inline Plan line(std::size_t switches, std::uint64_t octets, HostTransport transport) {
  Plan plan;
  plan.fabric.name = "line";
  plan.fabric.nodes.push_back({.name = "a", .role = Role::kHost});
  for (std::size_t i = 0; i < switches; ++i)
    plan.fabric.nodes.push_back({.name = "s" + std::to_string(i)});
  plan.fabric.nodes.push_back({.name = "b", .role = Role::kHost});
  for (std::size_t i = 0; i + 1 < plan.fabric.nodes.size(); ++i)
    plan.fabric.links.push_back({.ends = {LinkEnd{i, "r"}, LinkEnd{i + 1, "l"}}});
  plan.fabric = *complete(std::move(plan.fabric));
  plan.flows.push_back({.spec = {.octets = octets, .start = 12'345, .transport = transport},
                        .way = {.name = {"f"}, .from = 0, .to = switches + 1}});
  return plan;
}

/// `senders` hosts to one, through one switch.
inline Plan incast(std::size_t senders, std::uint64_t octets, HostTransport transport) {
  Plan plan;
  plan.fabric.nodes.push_back({.name = "leaf"});
  for (std::size_t i = 0; i <= senders; ++i) {
    plan.fabric.nodes.push_back({.name = "h" + std::to_string(i), .role = Role::kHost});
    plan.fabric.links.push_back(
        {.ends = {LinkEnd{0, "p" + std::to_string(i)}, LinkEnd{i + 1, "e"}}});
  }
  plan.fabric = *complete(std::move(plan.fabric));
  for (std::size_t i = 1; i <= senders; ++i)
    plan.flows.push_back({.spec = {.octets = octets, .transport = transport},
                          .way = {.name = {"f"}, .from = i + 1, .to = 1}});
  plan.duration = 50 * kMillisecond;
  return plan;
}

}  // namespace lldp::lab::packets
