// SPDX-License-Identifier: Apache-2.0
#include "sim/packets/trace.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lldp::lab::packets {
namespace {

constexpr std::uint32_t kSectionHeader = 0x0A0D'0D0A;
constexpr std::uint32_t kInterface = 1;
constexpr std::uint32_t kEnhancedPacket = 6;
constexpr std::uint16_t kEthernet = 1;
constexpr std::uint16_t kIfName = 2;
constexpr std::uint16_t kIfTsResol = 9;
constexpr std::uint8_t kControlDscp = 48;
/// Of a RoCEv2 acknowledgement up to its ICRC: two octets more than the shortest frame, which is
/// what the simulation takes it for.
constexpr std::size_t kAckOctets = 62;
constexpr std::uint32_t kFirstQueuePair = 16;  ///< 0 and 1 are for management
constexpr std::size_t kFcsOctets = 4;          ///< of a frame's length; a capture leaves it out

/// pcapng is in the writer's byte order; ours is little-endian on every machine.
void little(Bytes& out, std::uint64_t v, std::size_t octets) {
  for (std::size_t i = 0; i < octets; ++i) out.push_back(static_cast<std::uint8_t>(v >> 8 * i));
}
void big(Bytes& out, std::uint64_t v, std::size_t octets) {
  for (std::size_t i = octets; i-- > 0;) out.push_back(static_cast<std::uint8_t>(v >> 8 * i));
}
void option(Bytes& out, std::uint16_t code, std::string_view value) {
  little(out, code, 2);
  little(out, value.size(), 2);
  out.insert(out.end(), value.begin(), value.end());
  while (out.size() % 4 != 0) out.push_back(0);
}
/// A frame's length without FCS; what is shorter than Ethernet allows is padded.
std::size_t captured_length(const Slot& f) {
  constexpr std::size_t kLeast = kControlOctets - kFcsOctets;
  if (f.kind == Kind::kAck) return kAckOctets;
  return f.kind == Kind::kData ? std::max<std::size_t>(f.octets - kFcsOctets, kLeast) : kLeast;
}
void mac(Bytes& out, std::size_t link, std::size_t end) {
  const MacAddress address = port_address(link, end);
  out.insert(out.end(), address.begin(), address.end());
}

}  // namespace

CaptureWriter::CaptureWriter(const Fabric& fabric, const Settings& settings, Write write)
    : settings_(settings), write_(std::move(write)) {
  little(body_, 0x1A2B'3C4D, 4);  // byte order
  little(body_, 1, 2);            // version 1.0
  little(body_, 0, 2);
  little(body_, ~std::uint64_t{0}, 8);  // the section's length: not given
  block(kSectionHeader);
  for (std::size_t a = 0; a < 2 * fabric.links.size(); ++a) {
    const Link& link = fabric.links[a / 2];
    little(body_, kEthernet, 2);
    little(body_, 0, 2);
    little(body_, 0, 4);  // no limit
    option(body_, kIfName,
           fmt::format("{}:{}>{}", fabric.nodes[link.ends[a % 2].node].name, link.ends[a % 2].port,
                       fabric.nodes[link.ends[1 - a % 2].node].name));
    option(body_, kIfTsResol, std::string_view("\x09", 1));  // nanoseconds
    little(body_, 0, 4);                                     // end of options
    block(kInterface);
  }
}

void CaptureWriter::block(std::uint32_t type) {
  while (body_.size() % 4 != 0) body_.push_back(0);
  const std::size_t length = body_.size() + 12;
  Bytes out;
  out.reserve(length);
  little(out, type, 4);
  little(out, length, 4);
  out.insert(out.end(), body_.begin(), body_.end());
  little(out, length, 4);
  write_(out);
  body_.clear();
}

void CaptureWriter::frame(Picoseconds begin, const Slot& f) {
  frame_.clear();
  if (f.kind == Kind::kPause)
    pause(f);
  else
    f.kind == Kind::kCheck ? check(f) : roce(f);
  const std::size_t wire = captured_length(f);
  const Picoseconds ns = begin / kNanosecond;
  little(body_, f.arc, 4);
  little(body_, ns >> 32, 4);
  little(body_, ns & 0xffff'ffff, 4);
  const std::size_t kept = std::min(frame_.size(), wire);
  little(body_, kept, 4);
  little(body_, wire, 4);
  body_.insert(body_.end(), frame_.begin(), frame_.begin() + static_cast<std::ptrdiff_t>(kept));
  block(kEnhancedPacket);
}

/// IEEE 802.1Q-2018 36.2: the class-enable vector, and a time for each priority.
void CaptureWriter::pause(const Slot& f) {
  big(frame_, 0x0180'C200'0001, 6);
  mac(frame_, f.arc / 2, f.arc % 2);
  if (settings_.flow_control == FlowControlKind::kPortFc) {  // not standardized: numbers, no mask
    big(frame_, 0x88B5, 2);
    big(frame_, f.flow != 0 ? 1U : 0U, 1);  // pause, else resume
    big(frame_, f.number >> 1, 1);          // port
    big(frame_, f.number & 1, 1);           // queues: 0 of what is relayed, 1 direct
    return frame_.resize(kControlOctets - kFcsOctets);
  }
  big(frame_, 0x8808, 2);
  big(frame_, 0x0101, 2);
  big(frame_, stops_of(f) | f.flow, 2);
  for (unsigned p = 0; p < kPriorities; ++p)
    big(frame_, (f.number >> p & 1) != 0 ? quanta_of(f) : 0U, 2);
  if (f.marked) {  // a check rides on it, in the padding
    big(frame_, f.route, 4);
    big(frame_, f.octets, 2);
    big(frame_, f.nack ? 1U : 0U, 1);
  }
  frame_.resize(kControlOctets - kFcsOctets);
}

/// The contents of a detector's check are not standardized: a local experimental EtherType (IEEE
/// 802-2014 9.2.4), then as in Slot: the counter that began, episode, round and priority.
void CaptureWriter::check(const Slot& f) {
  big(frame_, 0x0180'C200'0001, 6);
  mac(frame_, f.arc / 2, f.arc % 2);
  big(frame_, 0x88B5, 2);
  big(frame_, f.route, 4);
  big(frame_, f.octets, 2);
  big(frame_, f.nack ? 1U : 0U, 1);
  frame_.resize(kControlOctets - kFcsOctets);
}

void CaptureWriter::roce(const Slot& f) {
  const bool data = f.kind == Kind::kData;
  const std::size_t wire = captured_length(f);
  std::uint8_t dscp = kControlDscp;
  const qos::Policy& policy = settings_.policy;
  if (settings_.flow_control == FlowControlKind::kPortFc) {  // its queues are no priorities
    if (data) dscp = policy.lossless()[0].dscp.value();
  } else {
    for (const qos::LosslessClass& c : policy.classes())
      if (c.priority.value() == f.priority) dscp = c.dscp.value();
    if (policy.lossy().priority.value() == f.priority) dscp = policy.lossy().dscp.value();
  }
  mac(frame_, f.arc / 2, 1 - f.arc % 2);
  mac(frame_, f.arc / 2, f.arc % 2);
  big(frame_, 0x0800, 2);
  const std::uint32_t here = 0x0A00'0000U | (f.flow & 0x7f'ffffU) << 1;
  const std::uint32_t from = data ? here : here | 1U;
  const std::size_t header = frame_.size();
  big(frame_, 0x45, 1);
  big(frame_, std::uint64_t{dscp} << 2 | (f.marked && data ? 3U : 2U), 1);
  big(frame_, wire - 14, 2);
  big(frame_, 0, 4);
  big(frame_, 64, 1);
  big(frame_, 17, 1);
  big(frame_, 0, 2);
  big(frame_, from, 4);
  big(frame_, from ^ 1U, 4);
  std::uint32_t sum = 0;
  for (std::size_t i = header; i < frame_.size(); i += 2)
    sum += std::uint32_t{frame_[i]} << 8 | frame_[i + 1];
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  frame_[header + 10] = static_cast<std::uint8_t>(~sum >> 8);
  frame_[header + 11] = static_cast<std::uint8_t>(~sum);
  big(frame_, 0xC000U | (f.flow & 0x3fffU), 2);
  big(frame_, 4791, 2);
  big(frame_, wire - 34, 2);
  big(frame_, 0, 2);
  big(frame_, data ? 0x04 : 0x11, 1);  // SEND Only, Acknowledge
  big(frame_, 0x40, 1);
  big(frame_, 0xffff, 2);
  big(frame_, (f.flow + kFirstQueuePair) & 0xff'ffff, 4);
  big(frame_, f.number & 0xff'ffff, 4);
  if (!data) {  // AETH: NAK is 0x60 (PSN sequence error)
    big(frame_, f.nack ? 0x60 : 0x1f, 1);
    big(frame_, f.number & 0xff'ffff, 3);
  }
  frame_.resize(wire);  // zeros: payload and ICRC; a dissector takes less for malformed
}

}  // namespace lldp::lab::packets
