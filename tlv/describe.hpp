// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/text.hpp"
#include "tlv/layout.hpp"

/// A TLV made legible: a tree that text and JSON printers render alike.
namespace lldp::tlv {

struct Field;
using Fields = std::vector<Field>;
struct Value {
  /// Strings are escaped.
  std::variant<bool, std::uint64_t, std::string, std::vector<Value>, Fields> is{};
  friend bool operator==(const Value&, const Value&);
};
struct Field {
  std::string_view name{};  ///< lower case and hyphens
  Value value{};
  friend bool operator==(const Field&, const Field&) = default;
};
inline bool operator==(const Value& a, const Value& b) { return a.is == b.is; }

/// Follows a layout like Reader and Writer do, and collects names and values.
class Describer {
 public:
  explicit Describer(Fields& out) : out_(out) {}

  Describer& field(std::string_view name, const auto& v, unsigned) {
    if constexpr (std::is_same_v<decltype(v), const bool&>) {
      return add(name, Value{v});
    } else {
      return add(name, Value{std::uint64_t{v}});
    }
  }
  Describer& choice(std::string_view name, const auto& v, unsigned, Names names) {
    return add(name, named(v, names));
  }
  Describer& flags(std::string_view name, const auto& v, unsigned bits, Names names = {}) {
    std::vector<Value> set;
    for (std::uint32_t bit = 0; bit < bits; ++bit) {
      if ((v >> bit & 1U) != 0) set.push_back(named(bit, names));
    }
    return add(name, Value{std::move(set)});
  }
  Describer& reserved(unsigned) { return *this; }
  Describer& surplus() { return *this; }
  Describer& array(std::string_view name, const auto& v, unsigned, Names names = {}) {
    std::vector<Value> elements;
    for (const auto& element : v) elements.push_back(named(element, names));
    return add(name, Value{std::move(elements)});
  }
  Describer& rest(std::string_view name, const auto& v, std::size_t, std::size_t) {
    if constexpr (std::is_same_v<decltype(v), const std::string_view&>) {
      return add(name, Value{escape(v)});
    } else {
      return add(name, Value{to_hex(v)});
    }
  }
  Describer& rest(std::string_view name, const auto& v, std::size_t, std::size_t, auto show) {
    return add(name, Value{show(v)});
  }
  Describer& counted(std::string_view name, const auto& v, std::size_t least, std::size_t most,
                     auto... show) {
    return rest(name, v, least, most, show...);
  }
  template <class T, std::size_t N>
  Describer& list(std::string_view name, const List<T, N>& v) {
    std::vector<Value> records;
    for (const T& item : v.view()) {
      Fields record;
      Describer inner(record);
      T::layout(inner, item);
      records.push_back(Value{std::move(record)});
    }
    return add(name, Value{std::move(records)});
  }
  template <class T>
  Describer& optional(const std::optional<T>& v) {
    if (v) T::layout(*this, *v);
    return *this;
  }

 private:
  static Value named(std::uint32_t number, Names names) {
    for (const Name& n : names) {
      if (n.number == number) return Value{std::string(n.name)};
    }
    return Value{std::uint64_t{number}};
  }
  Describer& add(std::string_view name, Value value) {
    out_.push_back({name, std::move(value)});
    return *this;
  }

  Fields& out_;
};

template <class T>
[[nodiscard]] Fields describe_as(ByteSpan information) {
  Fields out;
  if (const auto v = decode_as<T>(information)) {
    Describer describer(out);
    T::layout(describer, *v);
  }
  return out;
}

}  // namespace lldp::tlv
