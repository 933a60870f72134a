// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "agent/core/snapshot.hpp"
#include "base/fabric.hpp"

namespace lldp::report {

inline constexpr int kVersion = 1;  ///< of every JSON text

/// Appends compact JSON to a string, in the order of the calls; balances nothing by itself. It
/// exists because a snapshot of 512 ports is written at every change while a client watches.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& open(char bracket) {
    comma();
    out_ += bracket;
    fresh_ = true;
    return *this;
  }
  JsonWriter& close(char bracket) {
    out_ += bracket;
    fresh_ = false;
    return *this;
  }
  JsonWriter& key(std::string_view name) {
    comma();
    string(name);
    out_ += ':';
    fresh_ = true;
    return *this;
  }
  JsonWriter& value(std::string_view text) {
    comma();
    string(text);
    return *this;
  }
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool v) { return raw(v ? "true" : "false"); }
  template <std::integral Int>
  JsonWriter& value(Int v) {
    return raw(std::to_string(v));
  }
  /// A number in tenths.
  JsonWriter& tenths(std::uint64_t v) {
    return raw(std::to_string(v / 10) + "." + std::to_string(v % 10));
  }
  template <class T>
  JsonWriter& value(const std::optional<T>& v) {
    return v ? value(*v) : raw("null");
  }
  template <class T>
  JsonWriter& member(std::string_view name, const T& v) {
    return key(name).value(v);
  }
  /// As `lldp-level location` prints them.
  JsonWriter& member(std::string_view name, const Tiers& tiers,
                     std::span<const core::TierNote> notes = {});

 private:
  JsonWriter& raw(std::string_view text) {
    comma();
    out_ += text;
    return *this;
  }
  void comma() {
    if (!fresh_) out_ += ',';
    fresh_ = false;
  }
  /// RFC 8259 section 7. The text is valid UTF-8: what came over the wire was escaped before.
  void string(std::string_view text);

  std::string& out_;
  bool fresh_ = true;  ///< nothing to set a comma after
};

}  // namespace lldp::report
