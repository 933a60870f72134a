// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/text.hpp"

namespace lldp::lab::packets {

/// An object of a hand-written file: every member is read by name, with its range. The first error
/// is kept, with the path of its key; so is a key that is never read.
class JsonObject {
 public:
  using Json = nlohmann::json;

  JsonObject(const Json& value, std::string path, std::optional<Error>& error)
      : value_(value), path_(std::move(path)), error_(error) {
    if (!value.is_object()) refuse("", "is no object");
  }
  ~JsonObject() {
    if (!value_.is_object()) return;
    for (const auto& [key, unused] : value_.items())
      if (std::find(asked_.begin(), asked_.end(), key) == asked_.end())
        refuse(escape(key), "there is no such key");
  }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  /// nullptr: the member is not there.
  const Json* find(std::string_view key) {
    asked_.emplace_back(key);
    if (!value_.is_object()) return nullptr;
    const auto at = value_.find(key);
    return at == value_.end() ? nullptr : &*at;
  }
  template <class T>
  void number(std::string_view key, T& into, std::uint64_t least, std::uint64_t most,
              std::uint64_t scale = 1) {
    const Json* v = find(key);
    if (v == nullptr) return;
    const auto whole = whole_number(*v);
    if (!whole || *whole < least || *whole > most)
      return refuse(key,
                    fmt::format("{}: give a whole number from {} to {}", shown(*v), least, most));
    into = static_cast<T>(*whole * scale);
  }
  void flag(std::string_view key, bool& into) {
    const Json* v = find(key);
    if (v == nullptr) return;
    if (!v->is_boolean()) return refuse(key, "give true or false");
    into = v->get<bool>();
  }
  void text(std::string_view key, std::string& into) {
    const Json* v = find(key);
    if (v == nullptr) return;
    if (!v->is_string()) return refuse(key, "give a string");
    into = v->get<std::string>();
  }
  template <class Enum, std::size_t n>
  void choice(std::string_view key, Enum& into, const std::string_view (&names)[n]) {
    std::string name;
    if (find(key) == nullptr) return;
    text(key, name);
    const auto at = std::find(std::begin(names), std::end(names), name);
    if (at == std::end(names))
      return refuse(key, fmt::format("`{}`: there are {}", escape(name), fmt::join(names, ", ")));
    into = static_cast<Enum>(at - std::begin(names));
  }
  /// Calls each(member, its path) for every element of a list.
  template <class Each>
  void list(std::string_view key, const Each& each) {
    const Json* v = find(key);
    if (v == nullptr) return;
    if (!v->is_array()) return refuse(key, "give a list");
    for (std::size_t i = 0; i < v->size() && !error_; ++i)
      each((*v)[i], fmt::format("{}[{}]", path_of(key), i));
  }
  void refuse(std::string_view key, std::string what) {
    if (!error_) error_ = Error{0, path_of(key), std::move(what)};
  }
  [[nodiscard]] std::string path_of(std::string_view key) const {
    if (key.empty()) return path_;
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  }
  [[nodiscard]] std::optional<Error>& error() { return error_; }

 private:
  /// 5e6 is one, too, as in a JSON schema.
  static std::optional<std::uint64_t> whole_number(const Json& v) {
    if (v.is_number_unsigned()) return v.get<std::uint64_t>();
    constexpr double kMostExact = 9007199254740992;  // 2^53
    const double number = v.is_number_float() ? v.get<double>() : -1;
    if (!(number >= 0 && number <= kMostExact) || number != std::floor(number)) return std::nullopt;
    return static_cast<std::uint64_t>(number);
  }
  static std::string shown(const Json& v) {
    return escape(v.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 40));
  }

  const Json& value_;
  std::string path_;
  std::optional<Error>& error_;
  std::vector<std::string> asked_{};
};

}  // namespace lldp::lab::packets
