// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/packets/host/congestion.hpp"
#include "sim/packets/settings.hpp"
#include "sim/packets/slot.hpp"

namespace lldp::lab::packets {

/// What is to be sent.
struct FlowSpec {
  std::uint64_t octets = 0;    ///< payload; 0: as long as the run
  std::uint64_t rate_bps = 0;  ///< on the wire; 0: the host's link's
  Picoseconds start = 0;       ///< from the start of the run, or when all of Plan::after are in
  HostTransport transport = HostTransport::kPaced;
  std::uint8_t lossless_class = 0;  ///< index in qos::Policy::classes() in which it starts
};

/// What IRN keeps of a flow at its two ends: one bit for each frame beyond the first missing one.
struct Selective {
  explicit Selective(std::uint32_t window) : words(window / 64 + 2) {}
  [[nodiscard]] bool test(std::vector<std::uint64_t>& bits, std::uint32_t n) const {
    return (bits[n / 64 % words] >> n % 64 & 1) != 0;
  }
  std::uint32_t words = 0;
  std::vector<std::uint64_t> received = std::vector<std::uint64_t>(words);
  std::vector<std::uint64_t> sacked = std::vector<std::uint64_t>(words);
  std::uint32_t highest_sacked = 0;  ///< one beyond
  std::uint32_t recovery_until = 0;  ///< where next stood when a loss was seen
  std::uint32_t repair = 0;          ///< the next one to look at for sending again
  bool recovering = false;
};

/// What few flows have.
struct FlowExtras {
  std::unique_ptr<CongestionControl> control{};  ///< none: at its rate
  std::unique_ptr<Selective> selective{};
  std::uint32_t most_window = kNone;  ///< frames that may be under way, by the transport
  std::uint32_t first_follower = 0;   ///< in Network::followers: those that wait for it
  std::uint32_t followers = 0;
  std::uint32_t first_way = 0;    ///< in Network::ways: those that its frames are spread over
  std::uint32_t other_route = 0;  ///< it may take this one instead when it starts; 0: none
  std::uint8_t other_priority = 0;
};

/// Both ends of a flow: sender and receiver write to their own line of the processor's cache only,
/// and read their own for every frame.
struct Flow {
  // The sender's
  alignas(kCacheLine) std::uint32_t route = 0;  ///< index in Network::routes of its first arc
  std::uint32_t frames = kNone;
  std::uint32_t next = 0;        ///< frame to send next
  std::uint32_t acked = 0;       ///< all before have arrived
  std::uint32_t window = kNone;  ///< frames that may be under way now
  std::uint32_t next_ready = kNone;
  Picoseconds allowed_at = 0;        ///< the next frame's
  Picoseconds progress_at = 0;       ///< something was acknowledged, or sent after a pause
  std::uint64_t paced_bps = 0;       ///< at which it sends
  Picoseconds paced_until = kNever;  ///< when the congestion control is to be asked again
  std::uint16_t last_octets = 0;     ///< payload of the last frame
  HostTransport transport = HostTransport::kPaced;
  std::uint8_t priority = 0;
  bool queued : 1 = false;  ///< it is with its source, now or later
  bool done : 1 = false;
  bool timer : 1 = false;
  bool hears_all : 1 =
      false;  ///< the congestion control wants every acknowledgement, not marks alone

  // The receiver's, and what neither needs for every frame
  alignas(kCacheLine) std::uint64_t received = 0;  ///< payload in order
  std::uint64_t octets = ~std::uint64_t{0};        ///< payload in all
  Picoseconds finish = kNever;                     ///< the last octet is at the receiver
  std::uint32_t expected = 0;
  HostTransport receiver = HostTransport::kPaced;  ///< as `transport`
  bool nacked = false;                             ///< for `expected`
  std::uint16_t ways = 0;
  std::uint32_t waits_for = 0;  ///< flows that must have arrived before it starts
  std::uint32_t again = 0;      ///< frames sent more than once
  Picoseconds start = 0;
  std::uint64_t rate_bps = 0;  ///< at most
  std::unique_ptr<FlowExtras> extras{};

  [[nodiscard]] CongestionControl* control() const {
    return extras ? extras->control.get() : nullptr;
  }
  [[nodiscard]] Selective* selective() const { return extras ? extras->selective.get() : nullptr; }
  FlowExtras& more() {
    if (!extras) extras = std::make_unique<FlowExtras>();
    return *extras;
  }
  /// From now on it sends at this rate at most.
  void limit(std::uint64_t bps) {
    rate_bps = paced_bps = bps;
    paced_until = control() != nullptr ? 0 : kNever;
  }
};
static_assert(sizeof(Flow) == 2 * kCacheLine);

}  // namespace lldp::lab::packets
