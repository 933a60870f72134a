// SPDX-License-Identifier: Apache-2.0
#include "lab/live/observation.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace lldp::lab::live {
namespace {

using Json = nlohmann::json;

const Json kNothing;

const Json& at(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it == object.end() ? kNothing : *it;
}

std::optional<PortType> port_type(const Json& j) {
  for (const PortType t :
       {PortType::kUnmarked, PortType::kUplink, PortType::kDownlink, PortType::kCrosslink})
    if (j.is_string() && j.get_ref<const std::string&>() == to_string(t)) return t;
  return std::nullopt;
}

std::string text_of(const Json& j) { return j.is_string() ? j.get<std::string>() : std::string(); }

}  // namespace

Result<SeenDevice> device_from_json(const Json& j) {
  const auto refuse = [](const char* what) { return fail(Error{0, "agent", what}); };
  if (!j.is_object()) return refuse("the answer is not a JSON object");
  const Json& device = at(j, "device");
  if (!device.is_object()) return refuse("the answer has no device");
  SeenDevice seen{.answers = true};
  if (const Json& level = at(device, "level"); level.is_number_unsigned())
    seen.level = Level::make(level.get<std::uint64_t>());
  seen.chassis_id = text_of(at(device, "chassis_id"));
  if (const Json& location = at(device, "location"); location.is_object())
    for (const Json& tier : at(location, "tiers")) {
      if (!tier.is_object() || !at(tier, "level").is_number_unsigned())
        return refuse("a tier lacks its level");
      seen.tiers[at(tier, "level").get<unsigned>()] = text_of(at(tier, "id"));
    }
  if (!at(j, "ports").is_array()) return refuse("the answer has no ports");
  for (const Json& port : at(j, "ports")) {
    const auto type = port.is_object() ? port_type(at(port, "type")) : std::nullopt;
    if (!type || !at(port, "name").is_string() || !at(port, "up").is_boolean())
      return refuse("a port lacks its name, type or state");
    seen.ports[at(port, "name").get<std::string>()] = {at(port, "up").get<bool>(), *type,
                                                       text_of(at(port, "order"))};
  }
  if (const Json& protection = at(j, "protection"); protection.is_object()) {
    seen.protection = text_of(at(protection, "state"));
    const Json& reasons = at(protection, "reasons");
    const bool is_unverified =
        reasons.is_array() && !reasons.empty() && std::ranges::all_of(reasons, [](auto& r) {
          return r.is_object() && text_of(at(r, "part")) == "pfc" &&
                 text_of(at(r, "state")) == "unverified";
        });
    seen.is_protected =
        seen.protection == "active" || (seen.protection == "partial" && is_unverified);
  }
  if (at(j, "alarms").is_array())
    for (const Json& alarm : at(j, "alarms")) {
      if (!alarm.is_object()) return refuse("an alarm is not an object");
      const std::string port = text_of(at(alarm, "port"));
      seen.alarms.push_back(text_of(at(alarm, "code")) + (port.empty() ? "" : " ") + port + ": " +
                            text_of(at(alarm, "text")));
    }
  return seen;
}

std::vector<std::size_t> wrongly_located(const Fabric& fabric, const Observation& seen) {
  using Ids = std::map<unsigned, std::string>;
  std::vector<Ids> truth(fabric.nodes.size());
  constexpr unsigned kNone = 255;
  const auto level = [&](std::size_t n) {
    return fabric.nodes[n].level ? fabric.nodes[n].level->value() : kNone;
  };
  // Addresses and names both stand in the order of their octets.
  const auto lower = [](Ids& ids, unsigned tier, const std::string& id) {
    const auto [at, is_new] = ids.emplace(tier, id);
    if (!is_new && id < at->second) at->second = id;
  };
  unsigned highest = 0;
  for (std::size_t n = 0; n < truth.size(); ++n) {
    if (level(n) != kNone) highest = std::max(highest, level(n));
    if (level(n) == 1) truth[n][1] = seen[n].chassis_id;
  }
  const auto each_link = [&](unsigned below, auto what) {
    for (const Link& link : fabric.links)
      for (const auto& [a, b] : {std::pair{link.ends[0].node, link.ends[1].node},
                                 std::pair{link.ends[1].node, link.ends[0].node}})
        if (level(a) == below && level(b) == below + 1) what(a, b);
  };
  for (unsigned l = 1; l < highest; ++l)
    each_link(l, [&](std::size_t a, std::size_t b) {
      if (const auto id = truth[a].find(l); id != truth[a].end())
        lower(truth[b], l + 1, id->second);
    });
  for (unsigned l = highest; l-- > 0;)
    each_link(l, [&](std::size_t a, std::size_t b) {
      for (const auto& [tier, id] : truth[b])
        if (tier > l) lower(truth[a], tier, id);
    });
  // Which leaf's ID a tier has does not matter (docs/develop/rules.md P7), but that it has one, and
  // no other tier of the level the same.
  using Id = std::pair<unsigned, std::string>;
  std::map<Id, std::map<std::string, std::size_t>> counts;  // of a tier: IDs seen, by how many
  for (std::size_t n = 0; n < truth.size(); ++n)
    for (const auto& [tier, id] : truth[n])
      if (const auto is = seen[n].tiers.find(tier); is != seen[n].tiers.end())
        ++counts[{tier, id}][is->second];
  std::map<Id, std::string> named;
  std::map<Id, std::size_t> named_so;
  for (const auto& [tier, ids] : counts) {
    named[tier] = std::ranges::max_element(ids, {}, [](const auto& i) { return i.second; })->first;
    ++named_so[{tier.first, named[tier]}];
  }
  std::vector<std::size_t> wrong;
  for (std::size_t n = 0; n < truth.size(); ++n) {
    const auto is_right = [&](const auto& tier) {
      const auto is = seen[n].tiers.find(tier.first);
      return is != seen[n].tiers.end() && is->second == named[tier] &&
             named_so[{tier.first, is->second}] == 1;
    };
    if (!seen[n].answers || seen[n].tiers.size() != truth[n].size() ||
        !std::ranges::all_of(truth[n], is_right))
      wrong.push_back(n);
  }
  return wrong;
}

Verdict judge(const Fabric& fabric, const SeenDevice& seen, const Adjacency& port) {
  const Link& link = fabric.links[port.link];
  Verdict v{.truth = true_port_type(fabric, link, port.own_end)};
  const auto found = seen.ports.find(link.ends[port.own_end].port);
  if (found == seen.ports.end()) return v;
  v.seen = found->second.type;
  v.kind = !found->second.up   ? Verdict::Kind::kDown
           : v.seen == v.truth ? Verdict::Kind::kRight
                               : Verdict::Kind::kWrong;
  return v;
}

bool all_right(const Fabric& fabric, std::size_t node, const SeenDevice& seen,
               const std::vector<Adjacency>& ports) {
  return seen.answers && seen.level == fabric.nodes[node].level &&
         std::all_of(ports.begin(), ports.end(), [&](const Adjacency& a) {
           return judge(fabric, seen, a).kind == Verdict::Kind::kRight;
         });
}

}  // namespace lldp::lab::live
