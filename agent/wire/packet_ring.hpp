// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/if_packet.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace lldp::io {

/// The frames of one packet socket in memory that the kernel shares with us (packet(7),
/// PACKET_RX_RING, TPACKET_V2): none costs a system call or a buffer of its own. Only for ports
/// with very many frames, for the memory is taken whether frames come or not.
class PacketRing {
 public:
  /// A longer frame waits on the socket, too, in the same order.
  static constexpr std::size_t kSlot = 512;

  struct Frame {
    const sockaddr_ll& from;
    ByteSpan octets;     ///< until release()
    bool cut = false;    ///< too long for the ring
    bool waits = false;  ///< `cut`, and whole on the socket
  };

  /// For a socket that is not bound yet. `octets`: of memory.
  [[nodiscard]] static Result<PacketRing> make(int socket, std::size_t octets);
  PacketRing(PacketRing&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), slots_(other.slots_), at_(other.at_) {}
  PacketRing& operator=(PacketRing&&) = delete;
  ~PacketRing();

  /// Whether there is a frame: the oldest.
  [[nodiscard]] bool ready() const;
  [[nodiscard]] Frame front() const;
  /// Gives its room back to the kernel.
  void release();

 private:
  PacketRing(std::uint8_t* memory, std::size_t slots) : memory_(memory), slots_(slots) {}
  [[nodiscard]] tpacket2_hdr& header(std::size_t slot) const {
    return *reinterpret_cast<tpacket2_hdr*>(memory_ + slot * kSlot);
  }

  std::uint8_t* memory_;
  std::size_t slots_;
  std::size_t at_ = 0;
};

}  // namespace lldp::io
