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
#include <utility>

#include "base/bytes.hpp"

/// How a TLV struct and its octets become each other. A struct says once, in `layout(io, v)`, what
/// its information string is made of; Reader, Writer and Describer (describe.hpp) follow it:
///
///     io.field(NAME, v.x, BITS)              a number or a truth value, most significant bit first
///     io.choice(NAME, v.x, BITS, NAMES)      a number some of whose values have names
///     io.tenths(NAME, v.x, BITS)             a number in tenths of its unit
///     io.flags(NAME, v.x, BITS, NAMES)       a set of bits, bit 0 the least significant;
///                                            up to 64
///     io.reserved(BITS)                      sent as zero, ignored on receipt
///     io.array(NAME, v.x, BITS[, NAMES])     as many numbers as the array has
///     io.rest(NAME, v.x, LEAST, MOST[, SHOW])     octets or text up to the end
///     io.counted(NAME, v.x, LEAST, MOST[, SHOW])  the same after an octet that holds their number
///     io.sized(NAME, v.x, BITS, LEAST, MOST[, SHOW])  the same after a number of so many bits
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
inline constexpr std::uint32_t kTia = 0x0012bb;       ///< LLDP-MED
inline constexpr std::uint32_t kIntel = 0x001b21;     ///< DCBX before IEEE 802.1Qaz
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

/// How long an information string can be, by its layout. Constant-evaluated.
class Measurer {
 public:
  template <class T>
  static constexpr Measurer of() {
    Measurer m;
    const T v{};
    T::layout(m, v);
    return m;
  }
  [[nodiscard]] constexpr std::uint16_t least() const {
    return static_cast<std::uint16_t>(least_ / 8);
  }
  [[nodiscard]] constexpr std::uint16_t most() const {
    return static_cast<std::uint16_t>(std::min(most_ / 8, kMaxInformation));
  }
  /// Every length from least to most is right, whatever the octets say.
  [[nodiscard]] constexpr bool length_is_all() const { return length_is_all_; }

  constexpr Measurer& field(std::string_view, const auto&, unsigned bits) {
    return add(bits, bits);
  }
  constexpr Measurer& choice(std::string_view, const auto&, unsigned bits, Names) {
    return add(bits, bits);
  }
  constexpr Measurer& tenths(std::string_view, const auto&, unsigned bits) {
    return add(bits, bits);
  }
  constexpr Measurer& flags(std::string_view, const auto&, unsigned bits, Names = {}) {
    return add(bits, bits);
  }
  constexpr Measurer& reserved(unsigned bits) { return add(bits, bits); }
  constexpr Measurer& surplus() { return add(0, 8 * kMaxInformation); }
  constexpr Measurer& array(std::string_view, const auto& v, unsigned bits, Names = {}) {
    return add(v.size() * bits, v.size() * bits);
  }
  template <class Show = int>
  constexpr Measurer& rest(std::string_view, const auto&, std::size_t least, std::size_t most,
                           Show = {}) {
    return add(8 * least, 8 * most);
  }
  template <class Show = int>
  constexpr Measurer& counted(std::string_view name, const auto& v, std::size_t least,
                              std::size_t most, Show = {}) {
    return sized(name, v, 8, least, most);
  }
  template <class Show = int>
  constexpr Measurer& sized(std::string_view, const auto&, unsigned bits, std::size_t least,
                            std::size_t most, Show = {}) {
    length_is_all_ = false;
    return add(bits + 8 * least, bits + 8 * most);
  }
  template <class T, std::size_t N>
  constexpr Measurer& list(std::string_view, const List<T, N>&) {
    length_is_all_ = false;
    return add(0, N * of<T>().most_);
  }
  template <class T>
  constexpr Measurer& optional(const std::optional<T>&) {
    length_is_all_ = false;
    return add(0, of<T>().most_);
  }

 private:
  constexpr Measurer& add(std::size_t least, std::size_t most) {
    least_ += least;
    most_ += most;
    return *this;
  }
  std::size_t least_ = 0;  ///< bits
  std::size_t most_ = 0;   ///< bits
  bool length_is_all_ = true;
};

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
  Reader& tenths(std::string_view name, auto& v, unsigned bits) { return field(name, v, bits); }
  Reader& flags(std::string_view name, auto& v, unsigned bits, Names = {}) {
    if constexpr (sizeof(v) <= sizeof(std::uint32_t)) {
      return field(name, v, bits);
    } else {
      const std::uint64_t high = take(bits - 32);
      v = high << 32 | take(32);
      return *this;
    }
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
    borrow(v, ok_ ? octets_.size() - bit_ / 8 : 0, least, most);
    return *this;
  }
  template <class Show = int>
  Reader& counted(std::string_view name, auto& v, std::size_t least, std::size_t most, Show = {}) {
    return sized(name, v, 8, least, most);
  }
  template <class Show = int>
  Reader& sized(std::string_view, auto& v, unsigned bits, std::size_t least, std::size_t most,
                Show = {}) {
    borrow(v, take(bits), least, most);
    return *this;
  }
  template <class T, std::size_t N>
  Reader& list(std::string_view, List<T, N>& v) {
    while (ok_ && !done()) {
      ok_ = v.count < N;
      if (ok_) T::layout(*this, v.items[v.count++]);
    }
    return *this;
  }
  template <class T>
  Reader& optional(std::optional<T>& v) {
    if (ok_ && !done()) T::layout(*this, v.emplace());
    return *this;
  }

 private:
  /// Whether so many bits are there. Past a failure the position still moves on by what a layout
  /// asks for, so that it stays a constant for the compiler.
  bool enough(std::size_t bits) {
    ok_ = ok_ && bit_ + bits <= 8 * octets_.size();
    return ok_;
  }
  [[gnu::always_inline]] std::uint64_t take(unsigned bits) {
    const std::size_t first = bit_ / 8;
    const bool there = enough(bits);
    bit_ += bits;
    if (!there) return 0;
    // Up to 32 bits that begin anywhere lie in at most five octets. Written out, since a loop would
    // be one at run time, too.
    const std::size_t end = (bit_ + 7) / 8;
    std::uint64_t v = octets_[first];
    if (first + 1 < end) v = v << 8 | octets_[first + 1];
    if (first + 2 < end) v = v << 8 | octets_[first + 2];
    if (first + 3 < end) v = v << 8 | octets_[first + 3];
    if (first + 4 < end) v = v << 8 | octets_[first + 4];
    return v >> (8 * end - bit_) & ((std::uint64_t{1} << bits) - 1);
  }
  void borrow(auto& v, std::size_t n, std::size_t least, std::size_t most) {
    ok_ = ok_ && n >= least && n <= most;
    if (!enough(8 * n)) return;
    const ByteSpan octets = octets_.subspan(bit_ / 8, n);
    if constexpr (std::is_same_v<decltype(v), std::string_view&>) {
      v = as_text(octets);
    } else {
      v = octets;
    }
    // Begins anew behind it, so that the position stays a constant for the compiler.
    octets_ = octets_.subspan(bit_ / 8 + n);
    bit_ = 0;
  }

  ByteSpan octets_;
  std::size_t bit_ = 0;
  bool ok_ = true;
};

/// Value -> octets, into the room that is given. A value too large for its field, a length out of
/// range, or more than the room is a fault of the caller's that ok() tells.
class Writer {
 public:
  explicit Writer(std::span<std::uint8_t> room) : room_(room) {}
  [[nodiscard]] bool ok() const { return ok_ && bits_ == 0; }
  /// What was written; nothing if not ok().
  [[nodiscard]] std::span<std::uint8_t> octets() const { return room_.first(ok() ? size_ : 0); }

  // Inline, as flags(), reserved() and put() are: the number and position of bits are constants for
  // the compiler.
  [[gnu::always_inline]] Writer& field(std::string_view, const auto& v, unsigned bits) {
    put(static_cast<std::uint64_t>(v), bits);
    return *this;
  }
  Writer& choice(std::string_view name, const auto& v, unsigned bits, Names) {
    return field(name, v, bits);
  }
  Writer& tenths(std::string_view name, const auto& v, unsigned bits) {
    return field(name, v, bits);
  }
  [[gnu::always_inline]] Writer& flags(std::string_view name, const auto& v, unsigned bits,
                                       Names = {}) {
    if constexpr (sizeof(v) <= sizeof(std::uint32_t)) {
      return field(name, v, bits);
    } else {
      put(v >> 32, bits - 32);
      put(v & 0xffffffff, 32);
      return *this;
    }
  }
  [[gnu::always_inline]] Writer& reserved(unsigned bits) {
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
    if (enough(v.size())) std::copy(v.begin(), v.end(), room_.begin() + at(v.size()));
    return *this;
  }
  template <class Show = int>
  Writer& counted(std::string_view name, const auto& v, std::size_t least, std::size_t most,
                  Show = {}) {
    return sized(name, v, 8, least, most);
  }
  template <class Show = int>
  Writer& sized(std::string_view name, const auto& v, unsigned bits, std::size_t least,
                std::size_t most, Show = {}) {
    put(v.size(), bits);
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
  bool enough(std::size_t octets) {
    ok_ = ok_ && octets <= room_.size() - size_;
    return ok_;
  }
  /// Where so many octets go.
  std::ptrdiff_t at(std::size_t octets) {
    return static_cast<std::ptrdiff_t>(std::exchange(size_, size_ + octets));
  }
  /// Up to 32 bits.
  [[gnu::always_inline]] void put(std::uint64_t v, unsigned bits) {
    ok_ = ok_ && v >> bits == 0;
    held_ = held_ << bits | v;
    bits_ += bits;
    const unsigned octets = bits_ / 8;
    bits_ %= 8;
    if (!enough(octets)) return;
    const std::uint64_t whole = held_ >> bits_;
    std::uint8_t* to = room_.data() + size_;
    // Written out, since a loop would be one at run time, too.
    if (octets > 3) *to++ = static_cast<std::uint8_t>(whole >> 24);
    if (octets > 2) *to++ = static_cast<std::uint8_t>(whole >> 16);
    if (octets > 1) *to++ = static_cast<std::uint8_t>(whole >> 8);
    if (octets > 0) *to = static_cast<std::uint8_t>(whole);
    size_ += octets;
  }

  std::span<std::uint8_t> room_;
  std::size_t size_ = 0;    ///< octets written
  std::uint64_t held_ = 0;  ///< its lowest bits_ bits wait for the rest of their octet
  unsigned bits_ = 0;
  bool ok_ = true;
};

/// The value of an information string (for type 127: what follows OUI and subtype); nullopt when
/// its length or shape is not the TLV's, or its parts contradict each other.
template <class T>
[[nodiscard]] std::optional<T> decode_as(ByteSpan information) {
  std::optional<T> out(std::in_place);  // filled where it is returned: a list is no small thing
  Reader reader(information);
  T::layout(reader, *out);
  bool valid = reader.done();
  if constexpr (requires { out->consistent(); }) valid = valid && out->consistent();
  if (!valid) out.reset();
  return out;
}

}  // namespace lldp::tlv
