// SPDX-License-Identifier: Apache-2.0
#include "sim/lossless/frames.hpp"

#include <algorithm>
#include <string_view>

#include "sim/bounce/octets.hpp"
#include "sim/bounce/probe.hpp"

namespace lldp::lab::lossless {
namespace {

constexpr MacAddress kMacControl{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};
constexpr unsigned kMacControlType = 0x8808;
constexpr unsigned kPfcOpcode = 0x0101;
constexpr unsigned kIpv4Type = 0x0800;
constexpr unsigned kUdp = 17;
constexpr std::size_t kShortest = 60;  ///< without the FCS
constexpr std::size_t kEthernet = 14;
constexpr std::size_t kIp = 20;
constexpr std::size_t kUdpHeader = 8;
constexpr unsigned kRoce = 4791;  ///< the UDP port of RoCEv2
constexpr unsigned kFirstPort = 0xc000;
constexpr std::uint8_t kHopLimit = 64;
constexpr std::string_view kMagic = "lldp-level load";
constexpr std::size_t kLoad = kEthernet + kIp + kUdpHeader;  ///< where its payload begins

std::size_t header_octets(ByteSpan frame) { return std::size_t{frame[kEthernet] & 15U} * 4; }

void set_checksum(Bytes& frame) {
  frame[kEthernet + 10] = frame[kEthernet + 11] = 0;
  const unsigned sum = ~ones_sum(ByteSpan(frame).subspan(kEthernet, header_octets(frame)));
  frame[kEthernet + 10] = static_cast<std::uint8_t>(sum >> 8);
  frame[kEthernet + 11] = static_cast<std::uint8_t>(sum);
}

}  // namespace

Bytes format(const PfcFrame& pause, const MacAddress& from) {
  Bytes frame;
  frame.reserve(kShortest);
  put(frame, kMacControl);
  put(frame, from);
  put16(frame, kMacControlType);
  put16(frame, kPfcOpcode);
  unsigned enabled = 0;
  for (std::size_t p = 0; p < pause.quanta.size(); ++p) enabled |= pause.quanta[p] ? 1U << p : 0U;
  put16(frame, enabled);
  for (const auto& quanta : pause.quanta) put16(frame, quanta.value_or(0));
  frame.resize(kShortest);
  return frame;
}

std::optional<PfcFrame> parse_pfc(ByteSpan frame) {
  constexpr std::size_t kVector = kEthernet + 2;
  if (frame.size() < kVector + 2 + 16 ||
      !std::equal(kMacControl.begin(), kMacControl.end(), frame.begin()) ||
      get16(frame, 12) != kMacControlType || get16(frame, kEthernet) != kPfcOpcode)
    return std::nullopt;
  PfcFrame pause;
  for (std::size_t p = 0; p < pause.quanta.size(); ++p)
    if ((get16(frame, kVector) >> p & 1) != 0)
      pause.quanta[p] = static_cast<std::uint16_t>(get16(frame, kVector + 2 + 2 * p));
  return pause;
}

std::optional<Ipv4Frame> parse_ipv4(ByteSpan frame) {
  if (frame.size() < kEthernet + kIp || get16(frame, 12) != kIpv4Type) return std::nullopt;
  const ByteSpan ip = frame.subspan(kEthernet);
  const std::size_t header = header_octets(frame);
  const unsigned total = get16(ip, 2);
  if (ip[0] >> 4 != 4 || header < kIp || total < header || total > ip.size() ||
      ones_sum(ip.first(header)) != 0xffff)
    return std::nullopt;
  Ipv4Frame found{.dscp = *Dscp::make(ip[1] >> 2), .ttl = ip[8]};
  std::copy_n(ip.begin() + 16, found.to.size(), found.to.begin());
  return found;
}

void forward(Bytes& frame, const MacAddress& from, const MacAddress& to, Dscp dscp) {
  std::copy(to.begin(), to.end(), frame.begin());
  std::copy(from.begin(), from.end(), frame.begin() + 6);
  frame[kEthernet + 1] = static_cast<std::uint8_t>(dscp.value() << 2 | (frame[kEthernet + 1] & 3));
  --frame[kEthernet + 8];
  set_checksum(frame);
}

Bytes format(const Load& load, std::size_t octets, const MacAddress& from, const MacAddress& to) {
  const std::size_t size = octets - kFcsOctets;
  Bytes frame;
  frame.reserve(size);
  put(frame, to);
  put(frame, from);
  put16(frame, kIpv4Type);
  put16(frame, 0x4500U | unsigned{load.dscp.value()} << 2 | 2U);  // ECT(0)
  put16(frame, size - kEthernet);
  put16(frame, load.number & 0xffff);
  put16(frame, 0x4000);  // don't fragment
  put16(frame, unsigned{kHopLimit} << 8 | kUdp);
  put16(frame, 0);
  put(frame, bounce::ipv4_of(load.flow, false));
  put(frame, bounce::ipv4_of(load.flow, true));
  set_checksum(frame);
  put16(frame, (kFirstPort + load.flow) & 0xffff);
  put16(frame, kRoce);
  put16(frame, size - kEthernet - kIp);
  put16(frame, 0);  // no checksum, as RoCEv2 has none
  put(frame, kMagic);
  put16(frame, load.flow);
  put16(frame, load.number >> 16);
  put16(frame, load.number & 0xffff);
  frame.resize(size);
  return frame;
}

std::optional<Load> parse_load(ByteSpan frame) {
  const auto ip = parse_ipv4(frame);
  if (!ip || header_octets(frame) != kIp || frame[kEthernet + 9] != kUdp ||
      frame.size() < kLoad + kMagic.size() + 6 ||
      !std::equal(kMagic.begin(), kMagic.end(), frame.begin() + kLoad))
    return std::nullopt;
  const std::size_t at = kLoad + kMagic.size();
  return Load{.flow = static_cast<std::uint16_t>(get16(frame, at)),
              .number = get16(frame, at + 2) << 16 | get16(frame, at + 4),
              .dscp = ip->dscp};
}

}  // namespace lldp::lab::lossless
