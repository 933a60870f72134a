// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "base/bytes.hpp"

/// Packets for the data plane's tests, built whole and from the standards' formulas, so that they
/// can be held against what the program makes of others.
namespace lldp::dataplane::packet {

inline void append(Bytes& to, std::initializer_list<unsigned> octets) {
  for (unsigned o : octets) to.push_back(static_cast<std::uint8_t>(o));
}
inline void append(Bytes& to, ByteSpan octets) {
  to.insert(to.end(), octets.begin(), octets.end());
}

/// RFC 1071 over an even number of octets.
inline std::uint16_t checksum(ByteSpan octets) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < octets.size(); i += 2)
    sum += static_cast<std::uint32_t>(octets[i] << 8 | octets[i + 1]);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

struct Ipv4 {
  unsigned dscp = 0;
  unsigned ecn = 0;
  unsigned ttl = 64;
  unsigned id = 0x1234;
  unsigned fragment = 0x4000;  ///< flags and offset; default: don't fragment
  Bytes options{};             ///< a multiple of 4
  std::size_t payload = 26;    ///< a UDP header and data: nothing here looks into it
};
inline Bytes ipv4(const Ipv4& h) {
  const Bytes payload(h.payload, 0xa5);
  const auto words = static_cast<unsigned>(5 + h.options.size() / 4);
  const auto total = static_cast<unsigned>(4 * words + payload.size());
  Bytes out;
  append(out, {0x40 | words,
               h.dscp << 2 | h.ecn,
               total >> 8,
               total & 255,
               h.id >> 8,
               h.id & 255,
               h.fragment >> 8,
               h.fragment & 255,
               h.ttl,
               17,
               0,
               0,
               192,
               0,
               2,
               1,
               198,
               51,
               100,
               2});
  append(out, h.options);
  const std::uint16_t sum = checksum(out);
  out[10] = static_cast<std::uint8_t>(sum >> 8);
  out[11] = static_cast<std::uint8_t>(sum & 255);
  append(out, payload);
  return out;
}

struct Ipv6 {
  unsigned dscp = 0;
  unsigned ecn = 0;
  unsigned flow = 0xbeef5;
  unsigned next = 17;
  unsigned hops = 64;
};
inline Bytes ipv6(const Ipv6& h) {
  const unsigned tc = h.dscp << 2 | h.ecn;
  Bytes out;
  append(out, {0x60 | tc >> 4, (tc & 15) << 4 | h.flow >> 16, h.flow >> 8 & 255, h.flow & 255, 0,
               16, h.next, h.hops});
  for (unsigned i = 0; i < 32; ++i) append(out, {0x20 + i});
  append(out, Bytes(16, 0x5a));
  return out;
}

/// A fragment with one of these headers before its own: `offset`, a multiple of 8, and whether more
/// follow.
struct Fragment6 {
  unsigned offset = 0;
  bool more = false;
  Bytes before{};        ///< 8 octets each; the first octet of each is another's number
  std::size_t data = 8;  ///< octets
};
inline Bytes fragment6(const Ipv6& h, const Fragment6& f) {
  Bytes out = ipv6(h);
  out.resize(40);
  append(out, f.before);
  append(out, {17, 0, f.offset >> 8, (f.offset & 255) | (f.more ? 1U : 0U), 1, 2, 3, 4});
  append(out, Bytes(f.data, 0x5a));
  out[5] = static_cast<std::uint8_t>(out.size() - 40);
  out[6] = f.before.empty() ? 44 : static_cast<std::uint8_t>(h.next);
  return out;
}

struct Tag {
  unsigned tpid = 0x8100;
  unsigned tci = 0;
};
/// An Ethernet frame from 02:00:00:00:00:02 to 02:00:00:00:00:01.
inline Bytes frame(unsigned type, ByteSpan payload, std::initializer_list<Tag> tags = {}) {
  Bytes out;
  append(out, {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2});
  for (const Tag& t : tags) append(out, {t.tpid >> 8, t.tpid & 255, t.tci >> 8, t.tci & 255});
  append(out, {type >> 8, type & 255});
  append(out, payload);
  return out;
}
inline Bytes frame4(const Ipv4& h, std::initializer_list<Tag> tags = {}) {
  return frame(0x0800, ipv4(h), tags);
}
inline Bytes frame6(const Ipv6& h, std::initializer_list<Tag> tags = {}) {
  return frame(0x86dd, ipv6(h), tags);
}

/// The frame with other addresses: from 02:...:`from` to 02:...:`to`.
inline Bytes readdressed(Bytes f, std::uint8_t to, std::uint8_t from) {
  f[5] = to;
  f[11] = from;
  return f;
}

}  // namespace lldp::dataplane::packet
