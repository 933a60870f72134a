// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/bytes.hpp"

/// How a TLV struct and its octets become each other. A struct says once, in `layout(io, v)`, what
/// its information string is made of; Reader, Writer and Describer (describe.hpp) follow it:
///
///     io.field(NAME, v.x, BITS)              a number or a truth value, most significant bit first
///     io.choice(NAME, v.x, BITS, NAMES)      a number some of whose values have names
///     io.flags(NAME, v.x, BITS, NAMES)       a set of bits, bit 0 the least significant
///     io.reserved(BITS)                      sent as zero, ignored on receipt
///     io.array(NAME, v.x, BITS[, NAMES])     as many numbers as the array has
///     io.rest(NAME, v.x, LEAST, MOST[, SHOW])     octets or text up to the end
///     io.counted(NAME, v.x, LEAST, MOST[, SHOW])  the same after an octet that holds their number
///     io.list(NAME, v.x)                     records up to the end
///     io.optional(v.x)                       a group that is there or not, at the end
///     io.surplus()                           octets to the end that a receiver ignores
///
/// Octets and text are borrowed, never copied.
namespace lldp::tlv {

/// What a TLV is: its type and, for type 127, the organization's identifier and its subtype.
struct Key {
  std::uint8_t type = 0;
  std::uint32_t oui = 0;  ///< 24 bits
  std::uint8_t subtype = 0;
  friend bool operator==(const Key&, const Key&) = default;
};
inline constexpr std::uint8_t kOrganizational = 127;  ///< IEEE 802.1AB-2016 8.6
inline constexpr std::uint32_t kDot1 = 0x0080c2;      ///< IEEE 802.1
inline constexpr std::uint32_t kDot3 = 0x00120f;      ///< IEEE 802.3
inline constexpr std::size_t kMaxInformation = 511;   ///< the length field has nine bits

/// Borrowed octets that compare by content.
struct Octets : ByteSpan {
  constexpr Octets() = default;
  constexpr Octets(ByteSpan octets) : ByteSpan(octets) {}
  constexpr Octets(const Bytes& octets) : ByteSpan(octets) {}
  friend bool operator==(const Octets& a, const Octets& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
};

/// Up to N records in place.
template <class T, std::size_t N>
struct List {
  std::array<T, N> items{};
  std::size_t count = 0;
  [[nodiscard]] std::span<const T> view() const { return {items.data(), count}; }
  friend bool operator==(const List& a, const List& b) {
    return std::equal(a.items.begin(), a.items.begin() + a.count, b.items.begin(),
                      b.items.begin() + b.count);
  }
};

/// A value, or the number of a bit, and its name in output.
struct Name {
  std::uint32_t number = 0;
  std::string_view name{};
};
using Names = std::span<const Name>;

/// Octets -> value. Remembers the first short read or length out of range and is asked once.
class Reader {
 public:
  explicit Reader(ByteSpan information) : octets_(information) {}
  /// Everything was there, and nothing is left over.
  [[nodiscard]] bool done() const { return ok_ && bit_ == 8 * octets_.size(); }

  Reader& field(std::string_view, auto& v, unsigned bits) {
    v = static_cast<std::remove_reference_t<decltype(v)>>(take(bits));
    return *this;
  }
  Reader& choice(std::string_view name, auto& v, unsigned bits, Names) {
    return field(name, v, bits);
  }
  Reader& flags(std::string_view name, auto& v, unsigned bits, Names = {}) {
    return field(name, v, bits);
  }
  Reader& reserved(unsigned bits) {
    take(bits);
    return *this;
  }
  Reader& surplus() {
    if (ok_) bit_ = 8 * octets_.size();
    return *this;
  }
  Reader& array(std::string_view name, auto& v, unsigned bits, Names = {}) {
    for (auto& element : v) field(name, element, bits);
    return *this;
  }
  template <class Show = int>
  Reader& rest(std::string_view, auto& v, std::size_t least, std::size_t most, Show = {}) {
    borrow(v, octets_.size() - bit_ / 8, least, most);
    return *this;
  }
  template <class Show = int>
  Reader& counted(std::string_view, auto& v, std::size_t least, std::size_t most, Show = {}) {
    borrow(v, take(8), least, most);
    return *this;
  }
  template <class T, std::size_t N>
  Reader& list(std::string_view, List<T, N>& v) {
    while (ok_ && !done()) {
      if (v.count == N) return fail();
      T::layout(*this, v.items[v.count++]);
    }
    return *this;
  }
  template <class T>
  Reader& optional(std::optional<T>& v) {
    if (ok_ && !done()) T::layout(*this, v.emplace());
    return *this;
  }

 private:
  Reader& fail() {
    ok_ = false;
    bit_ = 8 * octets_.size();
    return *this;
  }
  std::uint64_t take(unsigned bits) {
    if (bits > 8 * octets_.size() - bit_) {
      fail();
      return 0;
    }
    std::uint64_t v = 0;
    while (bits > 0) {
      const unsigned free = 8 - static_cast<unsigned>(bit_ % 8);
      const unsigned here = std::min(bits, free);
      v = v << here |
          (static_cast<unsigned>(octets_[bit_ / 8]) >> (free - here) & ((1U << here) - 1));
      bit_ += here;
      bits -= here;
    }
    return v;
  }
  void borrow(auto& v, std::size_t n, std::size_t least, std::size_t most) {
    if (!ok_ || n < least || n > most || n > octets_.size() - bit_ / 8) {
      fail();
      return;
    }
    const ByteSpan octets = octets_.subspan(bit_ / 8, n);
    if constexpr (std::is_same_v<decltype(v), std::string_view&>) {
      v = as_text(octets);
    } else {
      v = octets;
    }
    bit_ += 8 * n;
  }

  ByteSpan octets_;
  std::size_t bit_ = 0;
  bool ok_ = true;
};

/// Value -> octets, appended to what is there. A value too large for its field, or a length out of
/// range, is a fault of the caller's that ok() tells.
class Writer {
 public:
  explicit Writer(Bytes& out) : out_(out) {}
  [[nodiscard]] bool ok() const { return ok_ && bit_ == 0; }

  Writer& field(std::string_view, const auto& v, unsigned bits) {
    put(static_cast<std::uint64_t>(v), bits);
    return *this;
  }
  Writer& choice(std::string_view name, const auto& v, unsigned bits, Names) {
    return field(name, v, bits);
  }
  Writer& flags(std::string_view name, const auto& v, unsigned bits, Names = {}) {
    return field(name, v, bits);
  }
  Writer& reserved(unsigned bits) {
    put(0, bits);
    return *this;
  }
  Writer& surplus() { return *this; }
  Writer& array(std::string_view name, const auto& v, unsigned bits, Names = {}) {
    for (const auto& element : v) field(name, element, bits);
    return *this;
  }
  template <class Show = int>
  Writer& rest(std::string_view, const auto& v, std::size_t least, std::size_t most, Show = {}) {
    ok_ = ok_ && v.size() >= least && v.size() <= most;
    out_.insert(out_.end(), v.begin(), v.end());
    return *this;
  }
  template <class Show = int>
  Writer& counted(std::string_view name, const auto& v, std::size_t least, std::size_t most,
                  Show = {}) {
    put(v.size(), 8);
    return rest(name, v, least, most);
  }
  template <class T, std::size_t N>
  Writer& list(std::string_view, const List<T, N>& v) {
    for (const T& item : v.view()) T::layout(*this, item);
    return *this;
  }
  template <class T>
  Writer& optional(const std::optional<T>& v) {
    if (v) T::layout(*this, *v);
    return *this;
  }

 private:
  void put(std::uint64_t v, unsigned bits) {
    ok_ = ok_ && (bits >= 64 || v >> bits == 0);
    while (bits > 0) {
      if (bit_ == 0) out_.push_back(0);
      const unsigned here = std::min(bits, 8 - bit_);
      bits -= here;
      const auto part = static_cast<unsigned>(v >> bits & ((1U << here) - 1));
      out_.back() = static_cast<std::uint8_t>(out_.back() | part << (8 - bit_ - here));
      bit_ = (bit_ + here) % 8;
    }
  }

  Bytes& out_;
  unsigned bit_ = 0;  ///< bits used of the last octet, 0: all
  bool ok_ = true;
};

/// The value of an information string (for type 127: what follows OUI and subtype); nullopt when
/// its length or shape is not the TLV's, or its parts contradict each other.
template <class T>
[[nodiscard]] std::optional<T> decode_as(ByteSpan information) {
  std::optional<T> v{std::in_place};
  Reader reader(information);
  T::layout(reader, *v);
  bool ok = reader.done();
  if constexpr (requires { v->consistent(); }) ok = ok && v->consistent();
  if (!ok) v.reset();
  return v;
}

}  // namespace lldp::tlv
