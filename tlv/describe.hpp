// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "tlv/layout.hpp"

/// A TLV made legible: a tree that text and JSON printers render alike.
namespace lldp::tlv {

/// A named value, or an element of a list.
struct Field {
  enum class Kind : std::uint8_t { kBool, kNumber, kTenths, kText, kList, kRecord };
  std::string_view name{};  ///< lower case and hyphens; empty in a list
  Kind kind = Kind::kNumber;
  std::uint64_t number = 0;       ///< of kBool, kNumber and kTenths
  std::string text{};             ///< of kText, escaped
  std::vector<Field> children{};  ///< of kList and kRecord
  friend bool operator==(const Field&, const Field&) = default;

  static Field truth(std::string_view name, bool v) { return {name, Kind::kBool, v, {}, {}}; }
  static Field of(std::string_view name, std::uint64_t v) {
    return {name, Kind::kNumber, v, {}, {}};
  }
  static Field tenths(std::string_view name, std::uint64_t v) {
    return {name, Kind::kTenths, v, {}, {}};
  }
  static Field of(std::string_view name, std::string v) {
    return {name, Kind::kText, 0, std::move(v), {}};
  }
  static Field list(std::string_view name, std::vector<Field> v) {
    return {name, Kind::kList, 0, {}, std::move(v)};
  }
  static Field record(std::string_view name, std::vector<Field> v) {
    return {name, Kind::kRecord, 0, {}, std::move(v)};
  }
};
using Fields = std::vector<Field>;

/// Follows a layout like Reader and Writer do, and collects names and values.
class Describer {
 public:
  explicit Describer(Fields& out) : out_(out) {}

  Describer& field(std::string_view name, const auto& v, unsigned) {
    if constexpr (std::is_same_v<decltype(v), const bool&>) {
      return add(Field::truth(name, v));
    } else {
      return add(Field::of(name, std::uint64_t{v}));
    }
  }
  Describer& tenths(std::string_view name, const auto& v, unsigned) {
    return add(Field::tenths(name, v));
  }
  Describer& choice(std::string_view name, const auto& v, unsigned, Names names) {
    return add(named(name, v, names));
  }
  Describer& flags(std::string_view name, const auto& v, unsigned bits, Names names = {}) {
    Fields set;
    for (std::uint32_t bit = 0; bit < bits; ++bit) {
      if ((v >> bit & 1U) != 0) set.push_back(named({}, bit, names));
    }
    return add(Field::list(name, std::move(set)));
  }
  Describer& reserved(unsigned) { return *this; }
  Describer& surplus() { return *this; }
  Describer& array(std::string_view name, const auto& v, unsigned, Names names = {}) {
    Fields elements;
    for (const auto& element : v) elements.push_back(named({}, element, names));
    return add(Field::list(name, std::move(elements)));
  }
  Describer& rest(std::string_view name, const auto& v, std::size_t, std::size_t) {
    if constexpr (std::is_same_v<decltype(v), const std::string_view&>) {
      return add(Field::of(name, escape(v)));
    } else {
      return add(Field::of(name, to_hex(v)));
    }
  }
  /// `show` makes one text of it, or fields that stand in its place.
  Describer& rest(std::string_view name, const auto& v, std::size_t, std::size_t, auto show) {
    if constexpr (std::is_same_v<decltype(show(v)), Fields>) {
      for (Field& field : show(v)) add(std::move(field));
      return *this;
    } else {
      return add(Field::of(name, show(v)));
    }
  }
  Describer& counted(std::string_view name, const auto& v, std::size_t least, std::size_t most,
                     auto... show) {
    return rest(name, v, least, most, show...);
  }
  Describer& sized(std::string_view name, const auto& v, unsigned, std::size_t least,
                   std::size_t most, auto... show) {
    return rest(name, v, least, most, show...);
  }
  template <class T, std::size_t N>
  Describer& list(std::string_view name, const List<T, N>& v) {
    Fields records;
    for (const T& item : v.view()) {
      Fields record;
      Describer inner(record);
      T::layout(inner, item);
      records.push_back(Field::record({}, std::move(record)));
    }
    return add(Field::list(name, std::move(records)));
  }
  template <class T>
  Describer& optional(const std::optional<T>& v) {
    if (v) T::layout(*this, *v);
    return *this;
  }

 private:
  static Field named(std::string_view name, std::uint32_t number, Names names) {
    for (const Name& n : names) {
      if (n.number == number) return Field::of(name, std::string(n.name));
    }
    return Field::of(name, std::uint64_t{number});
  }
  Describer& add(Field field) {
    out_.push_back(std::move(field));
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
