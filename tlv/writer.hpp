// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.hpp"
#include "tlv/basic.hpp"
#include "tlv/layout.hpp"
#include "tlv/topology.hpp"

namespace lldp::tlv {

/// Builds an LLDPDU behind what `out` holds (an Ethernet header, say), at most `limit` octets of
/// it. Room for the End TLV is kept. A TLV that does not fit, or whose value its layout does not
/// allow (text of more than 255 octets), is left out and counted: lldpduLengthErrors, IEEE
/// 802.1AB-2016 9.2.7.
///
///     LldpduWriter(frame, mtu).add(ChassisIdTlv{4, mac}).add(PortIdTlv{5,
///     name}).add(Ttl{121}).end();
class LldpduWriter {
 public:
  LldpduWriter(Bytes& out, std::size_t limit) : out_(out), start_(out.size()), limit_(limit) {}

  template <class T>
  LldpduWriter& add(const T& tlv, const Key& key = T::kKey) {
    std::array<std::uint8_t, kHeader + kMaxInformation> room;
    append(write(room, tlv, key));
    return *this;
  }
  /// A TLV of ours under the OUI of the operator's choice.
  template <class T>
  LldpduWriter& add(const T& tlv, const std::array<std::uint8_t, 3>& oui) {
    Key key = T::kKey;
    key.oui = static_cast<std::uint32_t>(oui[0] << 16 | oui[1] << 8 | oui[2]);
    return add(tlv, key);
  }
  void end();
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

 private:
  static constexpr std::size_t kHeader = 2;

  /// A TLV but for its length; nothing: it could not be written. With all that it calls inlined the
  /// positions in the octets are constants.
  template <class T>
  [[gnu::flatten]] static std::span<std::uint8_t> write(std::span<std::uint8_t> room, const T& tlv,
                                                        const Key& key) {
    Writer writer(room);
    writer.field("type", key.type, 7).reserved(9);  // the length, when it is known
    if (key.type == kOrganizational)
      writer.field("oui", key.oui, 24).field("subtype", key.subtype, 8);
    T::layout(writer, tlv);
    return writer.octets();
  }
  void append(std::span<std::uint8_t> tlv);

  Bytes& out_;
  std::size_t start_;
  std::size_t limit_;
  std::size_t left_out_ = 0;
};

/// The information string alone (for type 127: what follows OUI and subtype), in `room`; nothing:
/// it could not be written.
template <class T>
[[nodiscard, gnu::flatten]] ByteSpan encode_info(const T& tlv,
                                                 std::array<std::uint8_t, kMaxInformation>& room) {
  Writer writer(room);
  T::layout(writer, tlv);
  return writer.octets();
}
template <class T>
[[nodiscard]] Bytes encode_info(const T& tlv) {
  std::array<std::uint8_t, kMaxInformation> room;
  const ByteSpan octets = encode_info(tlv, room);
  return {octets.begin(), octets.end()};
}

}  // namespace lldp::tlv
