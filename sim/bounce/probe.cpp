// SPDX-License-Identifier: Apache-2.0
#include "sim/bounce/probe.hpp"

#include <algorithm>
#include <string_view>

#include "sim/bounce/octets.hpp"

namespace lldp::lab::bounce {
namespace {

constexpr std::uint16_t kIpv4 = 0x0800;
constexpr std::uint16_t kIpv6 = 0x86dd;
constexpr std::uint16_t kTagged = 0x8100;
constexpr std::uint16_t kVid = 10;
constexpr std::uint8_t kUdp = 17;
constexpr std::uint16_t kRoce = 4791;  ///< the UDP port of RoCEv2
constexpr std::string_view kMagic = "lldp-level probe";
constexpr std::size_t kAddresses = 12;
constexpr std::size_t kUdpHeader = 8;
constexpr std::size_t kPayload = 64;

/// Over a datagram and its pseudo header; 0xffff if its checksum is right.
std::uint32_t udp_sum(ByteSpan addresses, ByteSpan datagram) {
  return ones_sum(datagram,
                  ones_sum(addresses) + kUdp + static_cast<std::uint32_t>(datagram.size()));
}

Bytes datagram_of(const ProbePacket& probe, ByteSpan addresses) {
  Bytes udp;
  put16(udp, 0xc000 + static_cast<unsigned>(probe.flow));
  put16(udp, kRoce);
  put16(udp, kUdpHeader + kPayload);
  put16(udp, 0);
  put(udp, kMagic);
  put16(udp, probe.serial >> 16);
  put16(udp, probe.serial & 0xffff);
  for (std::uint8_t i = 0; udp.size() < kUdpHeader + kPayload; ++i) udp.push_back(i);
  const std::uint32_t sum = ~udp_sum(addresses, udp) & 0xffff;
  udp[6] = static_cast<std::uint8_t>(sum >> 8);
  udp[7] = static_cast<std::uint8_t>(sum);
  return udp;
}

}  // namespace

std::array<std::uint8_t, 4> ipv4_of(std::size_t flow, bool destination) {
  return {198, 18, static_cast<std::uint8_t>(flow), static_cast<std::uint8_t>(destination ? 2 : 1)};
}
std::array<std::uint8_t, 16> ipv6_of(std::size_t flow, bool destination) {
  std::array<std::uint8_t, 16> a{0x20, 0x01, 0, 2};
  a[7] = static_cast<std::uint8_t>(flow);
  a[15] = destination ? 2 : 1;
  return a;
}
MacAddress mac_of(std::size_t flow, bool destination) {
  return {0x0a,
          0,
          0,
          0,
          static_cast<std::uint8_t>(flow),
          static_cast<std::uint8_t>(destination ? 2 : 1)};
}

Bytes frame_of(const ProbePacket& probe, const MacAddress& to) {
  Bytes frame;
  put(frame, to);
  put(frame, mac_of(probe.flow, false));
  if (probe.marking.pcp) {
    put16(frame, kTagged);
    put16(frame, unsigned{probe.marking.pcp->value()} << 13 | kVid);
  }
  const unsigned tos = unsigned{probe.marking.dscp.value()} << 2 | probe.marking.ecn;
  Bytes ip;
  Bytes addresses;
  if (probe.v6) {
    put(addresses, ipv6_of(probe.flow, false));
    put(addresses, ipv6_of(probe.flow, true));
    put16(frame, kIpv6);
    put16(ip, 0x6000 | tos << 4);
    put16(ip, 0xbeef);  // flow label
    put16(ip, kUdpHeader + kPayload);
    put16(ip, kUdp << 8 | kHopLimit);
    put(ip, addresses);
  } else {
    put(addresses, ipv4_of(probe.flow, false));
    put(addresses, ipv4_of(probe.flow, true));
    put16(frame, kIpv4);
    put16(ip, 0x4500 | tos);
    put16(ip, 20 + kUdpHeader + kPayload);
    put16(ip, 0x1234);  // identification
    put16(ip, 0x4000);  // don't fragment
    put16(ip, kHopLimit << 8 | kUdp);
    put16(ip, 0);
    put(ip, addresses);
    const std::uint32_t sum = ~ones_sum(ip) & 0xffff;
    ip[10] = static_cast<std::uint8_t>(sum >> 8);
    ip[11] = static_cast<std::uint8_t>(sum);
  }
  put(frame, ip);
  put(frame, datagram_of(probe, addresses));
  return frame;
}

std::optional<Sighting> recognise(ByteSpan frame) {
  std::size_t at = kAddresses;
  if (frame.size() < at + 6) return std::nullopt;
  Sighting s;
  std::copy_n(frame.begin(), 6, s.to.begin());
  std::copy_n(frame.begin() + 6, 6, s.from.begin());
  s.rest.assign(frame.begin() + kAddresses, frame.end());
  const auto blank = [&](std::size_t offset, std::uint8_t mask) {
    s.rest[offset - kAddresses] &= static_cast<std::uint8_t>(~mask);
  };
  if (get16(frame, at) == kTagged) {
    s.marking.pcp = Priority::make(frame[at + 2] >> 5);
    blank(at + 2, 0xe0);
    at += 4;
  }
  const unsigned type = get16(frame, at);
  at += 2;
  const std::size_t header = type == kIpv4 ? 20 : 40;
  if ((type != kIpv4 && type != kIpv6) || frame.size() != at + header + kUdpHeader + kPayload)
    return std::nullopt;
  const ByteSpan ip = frame.subspan(at, header);
  const ByteSpan udp = frame.subspan(at + header);
  const ByteSpan payload = udp.subspan(kUdpHeader);
  if (!std::equal(kMagic.begin(), kMagic.end(), payload.begin())) return std::nullopt;
  s.serial = get16(payload, kMagic.size()) << 16 | get16(payload, kMagic.size() + 2);
  if (type == kIpv4) {
    s.marking.dscp = *Dscp::make(ip[1] >> 2);
    s.marking.ecn = ip[1] & 3;
    s.hop_limit = ip[8];
    s.checksums_right = ones_sum(ip) == 0xffff && udp_sum(ip.subspan(12), udp) == 0xffff;
    for (const std::size_t octet : {1U, 8U, 10U, 11U}) blank(at + octet, 0xff);
  } else {
    const unsigned tos = get16(ip, 0) >> 4 & 0xff;
    s.marking.dscp = *Dscp::make(tos >> 2);
    s.marking.ecn = tos & 3;
    s.hop_limit = ip[7];
    s.checksums_right = udp_sum(ip.subspan(8), udp) == 0xffff;
    blank(at, 0x0f);
    blank(at + 1, 0xf0);
    blank(at + 7, 0xff);
  }
  return s;
}

}  // namespace lldp::lab::bounce
