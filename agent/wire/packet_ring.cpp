// SPDX-License-Identifier: Apache-2.0
#include "agent/wire/packet_ring.hpp"

#include <sys/mman.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace lldp::io {
namespace {

/// What the kernel takes of its memory at a time.
constexpr std::size_t kBlock = std::size_t{64} << 10;
static_assert(kBlock % PacketRing::kSlot == 0);
// Where the address follows it.
static_assert(sizeof(tpacket2_hdr) % TPACKET_ALIGNMENT == 0);

}  // namespace

Result<PacketRing> PacketRing::make(int socket, std::size_t octets) {
  const int version = TPACKET_V2;
  // Else what is longer than a slot would be cut.
  const int copy = 1;
  const auto blocks = static_cast<unsigned>(octets / kBlock);
  const tpacket_req request{.tp_block_size = kBlock,
                            .tp_block_nr = blocks,
                            .tp_frame_size = kSlot,
                            .tp_frame_nr = static_cast<unsigned>(blocks * (kBlock / kSlot))};
  const auto refused = [] { return fail(Error{errno, "packet ring", std::strerror(errno)}); };
  if (::setsockopt(socket, SOL_PACKET, PACKET_VERSION, &version, sizeof version) != 0 ||
      ::setsockopt(socket, SOL_PACKET, PACKET_COPY_THRESH, &copy, sizeof copy) != 0 ||
      ::setsockopt(socket, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) != 0)
    return refused();
  void* memory = ::mmap(nullptr, blocks * kBlock, PROT_READ | PROT_WRITE, MAP_SHARED, socket, 0);
  if (memory == MAP_FAILED) {
    auto error = refused();
    // Otherwise frames would go to a ring that is never read.
    const tpacket_req none{};
    ::setsockopt(socket, SOL_PACKET, PACKET_RX_RING, &none, sizeof none);
    return error;
  }
  return PacketRing(static_cast<std::uint8_t*>(memory), request.tp_frame_nr);
}

PacketRing::~PacketRing() {
  if (memory_ != nullptr) ::munmap(memory_, slots_ * kSlot);
}

bool PacketRing::ready() const {
  const std::atomic_ref status(header(at_).tp_status);
  return (status.load(std::memory_order_acquire) & TP_STATUS_USER) != 0;
}

PacketRing::Frame PacketRing::front() const {
  const tpacket2_hdr& of = header(at_);
  const auto* slot = memory_ + at_ * kSlot;
  const std::size_t next = at_ + 1 == slots_ ? 0 : at_ + 1;
  // They were written by another processor.
  for (std::size_t line = 0; line < 4; ++line)
    __builtin_prefetch(memory_ + next * kSlot + line * 64);
  return {.from = *reinterpret_cast<const sockaddr_ll*>(slot + sizeof of),
          .octets = ByteSpan(slot + of.tp_mac, of.tp_snaplen),
          .cut = of.tp_snaplen < of.tp_len,
          .waits = (of.tp_status & TP_STATUS_COPY) != 0};
}

void PacketRing::release() {
  std::atomic_ref(header(at_).tp_status).store(TP_STATUS_KERNEL, std::memory_order_release);
  at_ = at_ + 1 == slots_ ? 0 : at_ + 1;
}

}  // namespace lldp::io
