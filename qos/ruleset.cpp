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

}  // namespace

PortClass class_of_span(Layer near, const ChassisId& self, Layer far, const ChassisId& neighbor) {
  const auto order = std::tie(far, neighbor) <=> std::tie(near, self);
  return {order > 0 ? Order::kUp : order < 0 ? Order::kDown : Order::kUnknown, near};
}

Tag tag_of(PortClass port) {
  if (port.order == Order::kUnknown) return {};
  return *Tag::make(2U * port.near.value() + (port.order == Order::kUp ? 1U : 0U));
}

Ruleset compile(const Policy& policy, PortClass port, bool layered) {
  Ruleset rules;
  rules.port = port;
  rules.layered = layered;
  rules.ingress = policy.lossless();
  if (policy.lossy().dscp != Dscp{}) rules.ingress.push_back(policy.lossy());
  rules.tag = tag_of(port);
  for (std::uint8_t tag = 0; tag <= Tag::kMax; ++tag)
    if (turns(class_of(tag), port)) rules.turning_tags |= std::uint64_t{1} << tag;
  if (rules.turning_tags != 0) rules.remaps = policy.turns();
  rules.pfc_enable = policy.pfc_enable();
  return rules;
}

Class remap(const Policy& policy, PortClass in, PortClass out, Class c) {
  return turns(in, out) ? policy.after_turn(c) : c;
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
  for (const Class& c : rules.ingress)
    line(fmt::format("ingress dscp{} -> priority {}", c.dscp.value(), c.priority.value()));
  if (rules.tag != Tag{}) line(fmt::format("ingress tag {}", rules.tag.value()));
  for (const Remap& r : rules.remaps)
    line(fmt::format("egress turn {} -> {}", to_string(r.from), to_string(r.to)));
  for (std::uint8_t p = 0; p <= Priority::kMax; ++p)
    if ((rules.pfc_enable >> p & 1) != 0)
      line(fmt::format("priority {} needs PFC, which is not set here", p));
  return text;
}

}  // namespace lldp::qos
