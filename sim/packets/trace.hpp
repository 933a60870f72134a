// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "sim/packets/network.hpp"

namespace lldp::lab::packets {

/// Frames as a pcapng capture (draft-ietf-opsawg-pcapng): an interface for each direction of a
/// link, `Leaf2:swp1>Spine1`; time is when a frame's first bit leaves. Data and ACKs are RoCEv2
/// (UDP 4791) with their DSCP and their number as PSN, cut after the headers; PAUSE is as on the
/// wire.
class CaptureWriter {
 public:
  using Write = std::function<void(ByteSpan)>;
  CaptureWriter(const Fabric& fabric, const Settings& settings, Write write);
  void frame(Picoseconds begin, const Slot& frame);

 private:
  void roce(const Slot& frame);
  void pause(const Slot& frame);
  void check(const Slot& frame);
  void block(std::uint32_t type);

  const Settings& settings_;
  Write write_;
  Bytes body_{};   ///< of the block being made
  Bytes frame_{};  ///< what of it is kept
};

}  // namespace lldp::lab::packets
