// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/fabric.hpp"

/// Looking into JSON of which nothing is certain.
namespace lldp::lab::collect {

using Json = nlohmann::json;

/// nullptr: no object, or no such member, or null.
[[nodiscard]] inline const Json* find(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}
/// Empty: no such member, or it is no string.
[[nodiscard]] inline std::string text_at(const Json& object, const char* key) {
  const Json* value = find(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}
[[nodiscard]] inline std::optional<Level> level_at(const Json& object, const char* key) {
  const Json* value = find(object, key);
  if (value == nullptr || !value->is_number_unsigned()) return std::nullopt;
  return Level::make(value->get<std::uint64_t>());
}

/// {"near": 3, "far": 4}; nothing where there is none, or it is none.
[[nodiscard]] inline std::optional<Layers> layers_at(const Json& object, const char* key) {
  const Json* value = find(object, key);
  const auto layer = [&](const char* end) -> std::optional<Layer> {
    const Json* number = value != nullptr ? find(*value, end) : nullptr;
    if (number == nullptr || !number->is_number_unsigned()) return std::nullopt;
    return Layer::make(number->get<std::uint64_t>());
  };
  const auto near = layer("near");
  const auto far = layer("far");
  return near && far ? std::optional(Layers{*near, *far}) : std::nullopt;
}

}  // namespace lldp::lab::collect
