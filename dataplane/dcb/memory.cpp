// SPDX-License-Identifier: Apache-2.0
#include "dataplane/dcb/memory.hpp"

#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace lldp::dataplane::dcb {
namespace {

using nlohmann::json;

json json_of(const std::set<dcbnl::App>& apps) {
  json list = json::array();
  for (const dcbnl::App& app : apps) list.push_back({app.selector, app.priority, app.protocol});
  return list;
}

/// Throws what json does where it is another thing.
unsigned number(const json& value, unsigned most) {
  const auto n = value.get<unsigned>();
  if (!value.is_number_unsigned() || n > most) throw json::other_error::create(0, "range", nullptr);
  return n;
}

Ifindex port_of(const json& value) {
  return Ifindex::make(number(value, Ifindex::kMax)).value_or(Ifindex());
}

std::set<dcbnl::App> apps_of(const json& list) {
  std::set<dcbnl::App> apps;
  for (const json& entry : list)
    apps.insert({static_cast<std::uint8_t>(number(entry.at(0), 255)),
                 static_cast<std::uint8_t>(number(entry.at(1), Priority::kMax)),
                 static_cast<std::uint16_t>(number(entry.at(2), 65535))});
  return apps;
}

}  // namespace

std::string format(const Memory& memory, std::string_view boot) {
  json ports = json::object();
  for (const auto& [ifindex, originals] : memory)
    ports[std::to_string(ifindex.value())] = {{"name", originals.name},
                                              {"turned_on", originals.turned_on},
                                              {"added", json_of(originals.added)},
                                              {"removed", json_of(originals.removed)}};
  return json{{"version", 2}, {"boot", boot}, {"ports", ports}}.dump(
             1, ' ', true, json::error_handler_t::replace) +
         "\n";
}

Result<Memory> parse(std::string_view text, std::string_view boot) {
  try {
    const json all = parse_json<json>(text);
    Memory memory;
    const unsigned version = number(all.at("version"), 2);
    if (all.at("boot").get<std::string>() != boot) return memory;
    for (const auto& [key, port] : all.at("ports").items())
      memory[port_of(version == 1 ? port.at("ifindex") : parse_json<json>(key))] = {
          .name = version == 1 ? key : port.at("name").get<std::string>(),
          .turned_on = static_cast<std::uint8_t>(number(port.at("turned_on"), 255)),
          .added = apps_of(port.at("added")),
          .removed = apps_of(port.at("removed"))};
    return memory;
  } catch (const json::exception&) {
    return fail(Error{.what = "is damaged"});
  }
}

}  // namespace lldp::dataplane::dcb
