// SPDX-License-Identifier: Apache-2.0
#include "qos/ruleset.hpp"

#include <fmt/format.h>

#include <iterator>
#include <tuple>

#include "base/text.hpp"

namespace lldp::qos {
namespace {

/// Every class a port can have, by tag. Tag 2n: down port of layer n; 2n + 1: up port of layer n.
/// What comes up into layer 0 can only go on upwards or turn up-down, so tag 0 can mean "no tag".
constexpr PortClass class_of(std::uint8_t tag) {
  return {(tag & 1) != 0 ? Order::kUp : Order::kDown, *Layer::make(tag / 2)};
}

/// What a class is on the link of the port.
Class crossing(const Policy& policy, PortClass port, Class c) {
  return policy.after_turn(c) == c || port.lets_cross(c.priority) ? c : policy.lossy();
}

}  // namespace

PortClass class_of_span(Layer near, const ChassisId& self, Layer far, const ChassisId& neighbor) {
  const auto order = std::tie(far, neighbor) <=> std::tie(near, self);
  return {order > 0 ? Order::kUp : order < 0 ? Order::kDown : Order::kUnknown, near};
}

Tag tag_of(PortClass port) {
  if (port.order != Order::kUp && port.order != Order::kDown) return {};
  return *Tag::make(2U * port.near.value() + (port.order == Order::kUp ? 1U : 0U));
}

Ruleset compile(const Policy& policy, PortClass port, bool layered) {
  Ruleset rules;
  rules.port = port;
  rules.layered = layered;
  rules.lossy = policy.lossy();
  if (port.passive()) {
    rules.pfc_enable = policy.pfc_enable();
    return rules;
  }
  const auto turns_of_all = policy.turns();
  for (const Remap& turn : turns_of_all)
    rules.ingress.push_back({crossing(policy, port, turn.from).priority, turn.from.dscp});
  if (policy.lossy().dscp != Dscp{}) rules.ingress.push_back(policy.lossy());
  rules.tag = tag_of(port);
  for (std::uint8_t tag = 0; tag <= Tag::kMax; ++tag)
    if (turns(class_of(tag), port)) rules.turning_tags |= std::uint64_t{1} << tag;
  for (const auto& [from, to] : turns_of_all) {
    if (!port.lets_cross(from.priority)) {
      rules.entering.push_back({from, policy.lossy()});
      rules.leaving.push_back({from, policy.lossy()});
    }
    if (rules.turning_tags != 0)
      rules.remaps.push_back(
          {from, port.restores() ? policy.restored(to) : crossing(policy, port, to)});
    if (port.restores() && policy.restored(from) != from)
      rules.leaving.push_back({from, policy.restored(from)});
  }
  rules.pfc_enable = port.restores() ? policy.application_priorities() : policy.pfc_enable();
  return rules;
}

Class remap(const Policy& policy, PortClass in, PortClass out, Class c) {
  const Class came = crossing(policy, in, c);
  const Class after = turns(in, out) ? policy.after_turn(came) : came;
  return out.restores() ? policy.restored(after) : crossing(policy, out, after);
}

std::string to_string(const Ruleset& rules, std::string_view port) {
  std::string text;
  const auto line = [&, out = std::back_inserter(text)](std::string_view rule) {
    fmt::format_to(out, "{} {}\n", port, rule);
  };
  const bool layer = rules.layered || rules.port.near != Layer{};
  line(layer
           ? fmt::format("is {}, of layer {}", to_string(rules.port.order), rules.port.near.value())
           : fmt::format("is {}", to_string(rules.port.order)));
  if (rules.port.passive()) line("leaves packets to the rules of the interfaces below");
  for (std::size_t i = 0; i < rules.ingress.size();) {
    const Priority priority = rules.ingress[i].priority;
    DscpSet dscps;
    for (; i < rules.ingress.size() && rules.ingress[i].priority == priority; ++i)
      dscps.insert(rules.ingress[i].dscp);
    line(fmt::format("ingress dscp{} -> priority {}", to_string(dscps), priority.value()));
  }
  const auto remaps = [&](std::string_view where, const std::vector<Remap>& rows) {
    for (std::size_t i = 0; i < rows.size();) {
      const Remap& first = rows[i];
      DscpSet dscps;
      for (; i < rows.size() && rows[i].from.priority == first.from.priority &&
             rows[i].to == first.to;
           ++i)
        dscps.insert(rows[i].from.dscp);
      line(fmt::format("{} {}:dscp{} -> {}", where, first.from.priority.value(), to_string(dscps),
                       to_string(first.to)));
    }
  };
  remaps("ingress", rules.entering);
  if (rules.tag != Tag{}) line(fmt::format("ingress tag {}", rules.tag.value()));
  remaps("egress turn", rules.remaps);
  remaps("egress", rules.leaving);
  for (std::uint8_t p = 0; p <= Priority::kMax; ++p)
    if ((rules.pfc_enable >> p & 1) != 0)
      line(fmt::format("priority {} needs PFC, which is not set here", p));
  return text;
}

}  // namespace lldp::qos
