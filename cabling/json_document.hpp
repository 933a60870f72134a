// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lldp::cabling {

struct JsonMember;

/// A value of a JsonDocument, which owns what it points to.
class JsonValue {
 public:
  enum class Kind : std::uint8_t { kNull, kBoolean, kWhole, kReal, kString, kList, kObject };

  JsonValue() = default;
  JsonValue(Kind kind, std::string_view text)
      : at_(text.data()), size_(static_cast<std::uint32_t>(text.size())), kind_(kind) {}
  JsonValue(Kind kind, std::span<const JsonMember> members);

  [[nodiscard]] bool is(Kind kind) const { return kind_ == kind; }
  /// Of a string, a number, true or false; nothing: it is null, or has parts.
  [[nodiscard]] std::optional<std::string_view> text() const {
    if (kind_ < Kind::kBoolean || kind_ > Kind::kString) return std::nullopt;
    return std::string_view(static_cast<const char*>(at_), size_);
  }
  /// Of an object, in the order of the text; of a list, without names.
  [[nodiscard]] std::span<const JsonMember> members() const;
  /// The last member of that name, unless it is null; nullptr: there is none, or no object.
  [[nodiscard]] const JsonValue* find(std::string_view name) const;
  /// Written as JSON again.
  [[nodiscard]] std::string dump() const;

 private:
  const void* at_ = nullptr;
  std::uint32_t size_ = 0;
  Kind kind_ = Kind::kNull;
};

struct JsonMember {
  JsonValue name{};
  JsonValue value{};
};

/// A JSON text whose values stand side by side: reading a large fabric file takes no allocation
/// for each of its millions of values.
class JsonDocument {
 public:
  /// At most 4 GB of text. Errors name the line.
  [[nodiscard]] static Result<JsonDocument> parse(std::string_view text);
  [[nodiscard]] const JsonValue& root() const { return root_; }

 private:
  class Builder;
  JsonDocument() = default;
  std::unique_ptr<std::pmr::monotonic_buffer_resource> memory_{};
  JsonValue root_{};
};

}  // namespace lldp::cabling
