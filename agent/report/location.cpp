// SPDX-License-Identifier: Apache-2.0
#include "agent/report/location.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agent/core/inference.hpp"
#include "agent/report/shape.hpp"

namespace lldp::report {
namespace {

constexpr std::size_t kLongestLabel = 63;

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
bool is_in_label(char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; }

/// `line` of each tier.
template <class Line>
Result<std::string> lines(std::string_view show, Line line) {
  return with_json(show, [&](const json& all) {
    std::string out;
    for (const json& tier : all.at("device").at("location").at("tiers"))
      out += line(tier.at("level").get<unsigned>(), str(tier, "id")) + '\n';
    return out;
  });
}

}  // namespace

Result<std::string> location_text(std::string_view show) {
  return lines(show, [](unsigned level, const std::string& id) {
    return fmt::format("tier {}  {}", level, id);
  });
}

Result<std::string> location_json(std::string_view show) {
  return with_json(show, [](const json& all) {
    const json& location = all.at("device").at("location");
    return location.at("tiers").empty() ? std::string() : location.dump() + '\n';
  });
}

Result<std::string> location_labels(std::string_view show, const LabelKeys& keys) {
  return lines(show, [&](unsigned level, const std::string& id) {
    return fmt::format("{}{}={}", keys.prefix, level - 1 + keys.first, label_value(id));
  });
}

bool can_begin_a_key(std::string_view prefix) {
  constexpr std::size_t kDigits = 3;
  constexpr std::size_t kLongestDomain = 253;
  std::string_view name = prefix;
  if (const std::size_t slash = prefix.find('/'); slash != std::string_view::npos) {
    const std::string_view domain = prefix.substr(0, slash);
    name = prefix.substr(slash + 1);
    const auto is_in_domain = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    };
    if (domain.empty() || domain.size() > kLongestDomain || !is_alphanumeric(domain.front()) ||
        !is_alphanumeric(domain.back()) || !std::ranges::all_of(domain, is_in_domain))
      return false;
  }
  return name.size() + kDigits <= kLongestLabel && std::ranges::all_of(name, is_in_label) &&
         (name.empty() || is_alphanumeric(name.front()));
}

std::string label_value(std::string_view id) {
  std::string value(id);
  std::ranges::replace(value, ':', '-');
  const bool fits = !value.empty() && value.size() <= kLongestLabel &&
                    is_alphanumeric(value.front()) && is_alphanumeric(value.back()) &&
                    std::ranges::all_of(value, is_in_label);
  if (fits) return value;
  ChassisId as_id;
  as_id.octets = id;
  return fmt::format("id-{:016x}", core::hash_of(as_id));
}

}  // namespace lldp::report
