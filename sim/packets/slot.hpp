// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lldp::lab::packets {

/// Time since the start of a run. 2^64 ps are 213 days.
using Picoseconds = std::uint64_t;
inline constexpr Picoseconds kNever = ~Picoseconds{0};
inline constexpr Picoseconds kNanosecond = 1000;
inline constexpr Picoseconds kMicrosecond = 1000 * kNanosecond;
inline constexpr Picoseconds kMillisecond = 1000 * kMicrosecond;
inline constexpr Picoseconds kSecond = 1000 * kMillisecond;
[[nodiscard]] constexpr double micros(Picoseconds t) { return static_cast<double>(t) / 1e6; }

/// Octets that the processor moves together.
inline constexpr std::size_t kCacheLine = 64;

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// What a slot is.
enum class Kind : std::uint8_t {
  kPortFree,      ///< timer: the port of `arc` can send again
  kHostWake,      ///< timer: a flow of that host's port may send again
  kRetransmit,    ///< timer: of `flow`
  kPauseExpires,  ///< timer: what pauses the port of `arc`
  kFlowControl,   ///< timer of the flow control, on `arc`
  kDetector,      ///< timer of the detector, on `arc`; `number` and `flow` are its own
  kNic,           ///< timer: the NIC that `arc` leads to may have room again
  kStart,         ///< timer: of `flow`
  kFinished,      ///< a notice: the last octet of `flow` has arrived
  kMoment,        ///< a notice: it is time; `number` is the caller's
  kPause,         ///< frame: `number` is pause_of(), `flow` the priorities to let go
  kCheck,         ///< frame of the detector
  kData,          ///< frame
  kAck,           ///< frame: `number` is the next one wanted, `octets` what came beyond it (IRN)
};

/// All that waits is a slot: for its time, in a queue, or to be used. Two of them fill a line of
/// the processor's cache.
struct alignas(32) Slot {
  Picoseconds at = 0;          ///< when it happens, or a frame has arrived in full
  std::uint32_t next = kNone;  ///< the one after it, wherever it waits
  std::uint32_t arc = 0;       ///< of a frame: what it travels on; in a queue: what it came by
  std::uint32_t flow = 0;
  std::uint32_t number = 0;  ///< of a frame in its flow
  std::uint32_t route = 0;   ///< index in Network::routes of `arc`
  std::uint16_t octets = 0;
  std::uint8_t arrival : 4 = 0;   ///< the priority it arrived in, and is accounted for in
  std::uint8_t priority : 4 = 0;  ///< the one it leaves in, or travels in
  Kind kind : 4 = Kind::kPortFree;
  bool marked : 1 = false;  ///< congestion experienced; in an ACK: told back
  bool nack : 1 = false;
  bool broken : 1 = false;  ///< a link has destroyed it: it is lost where it arrives

  /// A frame that begins in a priority.
  void begin_in(std::uint8_t p) { arrival = priority = p & 0xf; }
};
static_assert(sizeof(Slot) == 32);

/// `number` of a PAUSE by PFC: the priorities to stop, and for how long.
[[nodiscard]] constexpr std::uint32_t pause_of(std::uint8_t stops, std::uint16_t quanta) {
  return stops | std::uint32_t{quanta} << 16;
}
[[nodiscard]] constexpr std::uint8_t stops_of(const Slot& pause) {
  return static_cast<std::uint8_t>(pause.number & 0xff);
}
[[nodiscard]] constexpr std::uint16_t quanta_of(const Slot& pause) {
  return static_cast<std::uint16_t>(pause.number >> 16);
}

/// Slots that are used again: as many as were ever waiting at one moment.
class Pool {
 public:
  Slot& operator[](std::uint32_t at) { return slots_[at]; }
  const Slot& operator[](std::uint32_t at) const { return slots_[at]; }
  std::uint32_t take() {
    if (free_ == kNone) {
      slots_.emplace_back();
      return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const std::uint32_t at = free_;
    free_ = slots_[at].next;
    return at;
  }
  void release(std::uint32_t at) {
    slots_[at].next = free_;
    free_ = at;
  }
  /// It is wanted soon; kNone: none is.
  void fetch(std::uint32_t at) const {
    if (at != kNone) __builtin_prefetch(slots_.data() + at);
  }
  /// Room for so many at once: what grows by and by takes up to twice as much.
  void reserve(std::size_t slots) { slots_.reserve(slots); }
  [[nodiscard]] std::size_t size() const { return slots_.size(); }

 private:
  std::vector<Slot> slots_{};
  std::uint32_t free_ = kNone;
};

}  // namespace lldp::lab::packets
