// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/from_drawing.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "base/text.hpp"
#include "lab/topology/complete.hpp"

namespace lldp::lab {
namespace {

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t v = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), v);
  return code == std::errc{} && end == text.data() + text.size() ? std::optional(v) : std::nullopt;
}

std::optional<Order> order_from(std::string_view text) {
  for (const Order o : {Order::kUnknown, Order::kDown, Order::kUp, Order::kShut})
    if (text == to_string(o)) return o;
  return std::nullopt;
}

Result<Node> node_from(cabling::Node& drawn) {
  const auto refuse = [&](const char* what) { return fail(Error{0, escape(drawn.name), what}); };
  Node node;
  if (const std::string* level = drawn.attributes.find("level")) {
    if (const auto number = whole_number(*level)) node.level = Level::make(*number);
    if (!node.level) return refuse("level is not a whole number from 0 to 254");
  }
  const std::string* role = drawn.attributes.find("role");
  const std::string* function = drawn.attributes.find("function");
  if (role != nullptr && *role != "host" && *role != "switch")
    return refuse("role is not host or switch");
  const bool host = role != nullptr
                        ? *role == "host"
                        : (function != nullptr && *function == "host") || node.level == Level{};
  node.role = host ? Role::kHost : Role::kSwitch;
  if (const std::string* relays = drawn.attributes.find("relays")) {
    if (*relays != "true" && *relays != "false") return refuse("relays is not true or false");
    node.relays = *relays == "true";
  }
  if (const std::string* chassis = drawn.attributes.find("chassis")) {
    const auto mac = parse_mac(*chassis);
    if (!mac) return refuse("chassis is not a MAC address");
    node.chassis = chassis_id_from_mac(*mac);
  }
  node.name = std::move(drawn.name);
  return node;
}

/// DOT has attributes of a link alone: `layers` and `orders` there name both ends', in the order in
/// which the ends are written. `place` makes the link's place in the file, for an error.
template <class Place>
Result<void> share_out(cabling::Link& drawn, const Place& place) {
  for (const auto& [name, member] :
       {std::pair{"layers", &cabling::End::layer}, std::pair{"orders", &cabling::End::order}}) {
    const std::string* both = drawn.attributes.find(name);
    if (both == nullptr) continue;
    const auto colon = both->find(':');
    if (colon == both->npos || both->find(':', colon + 1) != both->npos || both->size() == 1)
      return fail(Error{0, place(), fmt::format("{} is not one of each end, as 1:2", name)});
    drawn.ends[0].*member = both->substr(0, colon);
    drawn.ends[1].*member = both->substr(colon + 1);
  }
  return {};
}

template <class Place>
Result<Link> link_from(cabling::Link& drawn, const Place& place, const std::vector<Node>& nodes) {
  if (auto shared = share_out(drawn, place); !shared) return fail(std::move(shared.error()));
  Link link;
  for (std::size_t e = 0; e < 2; ++e) {
    cabling::End& end = drawn.ends[e];
    link.ends[e] = {
        .node = end.node, .port = std::move(end.port), .aliases = std::move(end.aliases)};
    if (!end.order.empty()) link.ends[e].order = order_from(end.order);
    if (!end.order.empty() && !link.ends[e].order)
      return fail(Error{0, place(),
                        fmt::format("the order on {} is not up, down, shut or unknown",
                                    escape(nodes[end.node].name))});
    if (end.layer.empty()) continue;
    if (const auto number = whole_number(end.layer)) link.ends[e].layer = qos::Layer::make(*number);
    if (!link.ends[e].layer)
      return fail(Error{0, place(),
                        fmt::format("the layer on {} is not a whole number from 0 to {}",
                                    escape(nodes[end.node].name), qos::Layer::kMax)});
  }
  for (const auto& [name, into] :
       {std::pair{"rate_bps", &link.rate_bps}, std::pair{"delay_ns", &link.delay_ns},
        std::pair{"loss_ppb", &link.loss_ppb}}) {
    const std::string* text = drawn.attributes.find(name);
    if (text == nullptr) continue;
    const auto number = whole_number(*text);
    if (!number) return fail(Error{0, place(), fmt::format("{} is not a whole number", name)});
    *into = *number;
  }
  return link;
}

}  // namespace

Result<Fabric> fabric_from(Result<cabling::Drawing> drawing) {
  if (!drawing) return fail(std::move(drawing.error()));
  Fabric fabric{.name = std::move(drawing->name)};
  fabric.nodes.reserve(drawing->nodes.size());
  for (cabling::Node& drawn : drawing->nodes) {
    auto node = node_from(drawn);
    if (!node) return fail(std::move(node.error()));
    fabric.nodes.push_back(std::move(*node));
  }
  fabric.links.reserve(drawing->links.size());
  for (cabling::Link& drawn : drawing->links) {
    auto link = link_from(
        drawn, [&] { return place_of(drawn); }, fabric.nodes);
    if (!link) return fail(std::move(link.error()));
    fabric.links.push_back(std::move(*link));
  }
  return complete(std::move(fabric),
                  [&](std::size_t link) { return place_of(drawing->links[link]); });
}

}  // namespace lldp::lab
