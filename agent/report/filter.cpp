// SPDX-License-Identifier: Apache-2.0
#include "agent/report/filter.hpp"

#include <algorithm>

#include "agent/report/shape.hpp"
#include "base/spelling.hpp"
#include "base/text.hpp"

namespace lldp::report {
namespace {

struct Key {
  std::string_view name{};
  const char* member = nullptr;
  bool of_port = false;
};
constexpr Key kKeys[] = {{"port", "name", true},
                         {"up", "up", true},
                         {"type", "type", true},
                         {"order", "order", true},
                         {"admin", "admin", true},
                         {"level", "level", false},
                         {"system-name", "system_name", false},
                         {"device", "device_type", false},
                         {"chassis-id", "chassis_id", false},
                         {"port-id", "port_id", false},
                         {"port-description", "port_description", false},
                         {"port-type", "port_type", false}};

/// A boolean by the words of the manual and of JSON.
constexpr std::string_view kYes[] = {"yes", "true"};
constexpr std::string_view kNo[] = {"no", "false"};

bool matches(const std::string& glob, const json& value) {
  const auto is_it = [&](std::string_view word) { return name_match(glob, word); };
  if (value.is_null()) return is_it("-");
  if (value.is_boolean())
    return value.get<bool>() ? std::ranges::any_of(kYes, is_it) : std::ranges::any_of(kNo, is_it);
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  return is_it(unescape(text).value_or(text));
}

bool matches(const json& object, const std::vector<std::pair<std::string, std::string>>& wanted) {
  return std::ranges::all_of(
      wanted, [&](const auto& want) { return matches(want.second, object.at(want.first)); });
}

}  // namespace

Result<ShowFilter> ShowFilter::parse(std::string_view text) {
  ShowFilter out;
  for (const std::string& part : split_list(text)) {
    const std::size_t equals = part.find('=');
    const auto key = std::ranges::find(kKeys, part.substr(0, equals), &Key::name);
    if (equals == part.npos || key == std::end(kKeys)) {
      std::string names;
      for (const Key& k : kKeys) names.append(names.empty() ? "" : ", ").append(k.name);
      return fail(Error{.what = "'" + escape(part) + "' is no KEY=VALUE with a key of " + names});
    }
    const std::string value = part.substr(equals + 1);
    if (key->name == "up" && !matches(value, true) && !matches(value, false))
      return fail(Error{.what = "'" + escape(part) + "': up is yes or no"});
    (key->of_port ? out.port_ : out.neighbor_).emplace_back(key->member, value);
  }
  if (out.port_.empty() && out.neighbor_.empty())
    return fail(Error{.what = "nothing to filter by: write KEY=VALUE"});
  return out;
}

Result<std::string> ShowFilter::apply(std::string_view text) const {
  return with_json(text, [this](json& show) {
    json kept = json::array();
    for (json& port : show.at("ports")) {
      if (!matches(port, port_)) continue;
      json heard = json::array();
      for (json& neighbor : port.at("neighbors"))
        if (matches(neighbor, neighbor_)) heard.push_back(std::move(neighbor));
      if (heard.empty() && !neighbor_.empty()) continue;
      port["neighbors"] = std::move(heard);
      kept.push_back(std::move(port));
    }
    show["ports"] = std::move(kept);
    return show.dump();
  });
}

}  // namespace lldp::report
