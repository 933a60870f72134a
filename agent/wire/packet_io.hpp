// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "agent/core/actions.hpp"
#include "agent/wire/packet_ring.hpp"
#include "base/bounded.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "os/fd.hpp"

namespace lldp::io {

/// Where a port's frames are heard.
enum class Hearing : std::uint8_t {
  kShared,  ///< on the one socket of all ports
  kBound,   ///< on a socket bound to the port: its master passes frames on as its own (bond, team)
  kTap,     ///< as kBound, but before the master takes the frame (Open vSwitch), and so with a
            ///< kernel filter: such a socket would see data traffic too
};

/// A port to speak on.
struct Port {
  Ifindex ifindex{};
  Ifindex master{};  ///< 0: none
  Hearing hearing = Hearing::kShared;
  friend bool operator==(const Port&, const Port&) = default;
};

/// LLDP frames in and out, by packet sockets.
///
/// One socket for the EtherType, bound to no interface, serves every port without a master that
/// takes frames over: a port costs its group memberships, and data traffic costs nothing.
///
/// A port that sends many frames turn after turn is set apart: it gets a socket of its own, whose
/// frames come by memory shared with the kernel, and an overflow is that port's loss. Frames of
/// other ports never wait behind it. After kCalm without a flood it returns to the shared socket.
/// The shared socket sees other interfaces too: one that sends many frames turn after turn, and is
/// no port or has a socket of its own, is filtered there (a bridge has the broadcast of its ports).
///
/// LLDPDUs go untagged (IEEE 802.1AB-2016 7). A frame with a priority tag (VID 0) counts as
/// untagged; one of a VLAN belongs to that VLAN, not to the link, and is not received: the kernel
/// marks it as PACKET_OTHERHOST or shows it on the VLAN's own interface. That is also why
/// PACKET_ORIGDEV, which hides the latter, is not used.
class PacketIo {
 public:
  /// Longer frames are cut off there, which the decoder finds out.
  static constexpr std::size_t kMaxFrame = 9216 + 14;
  /// At most this many in one receive(), so that a flood starves neither timers nor control.
  static constexpr std::size_t kFramesPerTurn = 512;
  /// More than this many in one turn are called busy.
  static constexpr std::size_t kBusy = 16;
  /// So many busy turns of the shared socket in a row are too many; then the port that has most of
  /// their frames is set apart, if they are enough to keep us busy by themselves.
  static constexpr std::size_t kBusyTurns = 16;
  static constexpr std::chrono::minutes kCalm{1};

  /// What receive() found.
  enum class Turn : std::uint8_t {
    kIdle,       ///< few frames, and no more for now
    kBusy,       ///< many: better come back in a while than be woken for each
    kUnfinished  ///< there are more
  };
  struct SendFailure {
    Ifindex port{};
    int error = 0;  ///< errno: ENETDOWN, ENXIO (the interface is gone), ENOBUFS, EMSGSIZE
  };
  using Handler = std::function<void(Ifindex, ByteSpan)>;

  /// `groups`: the destination addresses to hear.
  [[nodiscard]] static Result<PacketIo> open(std::span<const MacAddress> groups);
  PacketIo(PacketIo&&) noexcept;
  PacketIo& operator=(PacketIo&&) noexcept;
  ~PacketIo();

  /// Hears on a port; for one that is heard already, takes over how. An interface that vanishes
  /// in the middle of it is no error: netlink will tell.
  [[nodiscard]] Result<void> add(const Port& port);
  void remove(Ifindex port);
  /// Other groups, for all ports.
  void set_groups(std::span<const MacAddress> groups);

  /// Whether to receive at all; deaf, the sockets let nothing in and cause no wake-up.
  void set_deaf(bool deaf);

  /// Readable when frames wait on the shared socket, and on any of the ports' own.
  [[nodiscard]] int shared_fd() const { return shared_.get(); }
  [[nodiscard]] int own_fd() const { return own_set_.get(); }
  [[nodiscard]] Turn receive_shared(const Handler& handler);
  [[nodiscard]] Turn receive_own(const Handler& handler);
  /// To be told the time now and then, for the ports that are calm again.
  void rejoin(TimePoint now);

  /// How many frames of a VLAN without an interface came to the port and were passed over.
  [[nodiscard]] std::uint64_t tagged(Ifindex port) const;

  /// Sends all, in as few system calls as it takes; `failures` gets those that could not be.
  void send(std::span<const core::Send> frames, std::vector<SendFailure>& failures);

 private:
  struct Heard {
    Port port{};
    UniqueFd own{};
    bool apart = false;  ///< `own` is there though the port is heard on the shared socket
    std::shared_ptr<PacketRing> ring{};  ///< of `own`, if apart and the kernel has the memory
    bool busy = false;                   ///< since the last rejoin()
    TimePoint calm_since{};
    std::size_t frames = 0;  ///< in the turns counted by busy_turns_
    std::uint64_t tagged = 0;
  };
  struct Buffers;
  PacketIo();
  [[nodiscard]] Result<void> open_own(Heard& heard);
  [[nodiscard]] Result<void> bind_own(Heard& heard, UniqueFd fd);
  void close_own(Heard& heard);
  /// Without a descriptor left, or room for a filter, the port stays where it is.
  void set_apart(Heard& heard);
  void membership(Ifindex port, int option) const;
  /// False if the kernel refuses.
  bool apply_filter(int fd, Hearing hearing) const;
  void count_tagged(Ifindex port);
  /// On the shared socket, what comes by this interface is passed over.
  void shut_out(Ifindex interface);
  bool apply_shared_filter() const;
  void watch_shares(Turn turn);
  [[nodiscard]] static Turn turn_of(std::size_t frames, std::size_t limit);
  /// Hands the frame over, unless it is for another host or of a VLAN.
  void take(const sockaddr_ll& from, ByteSpan frame, const Port* own, const Handler& handler);
  [[nodiscard]] Turn drain(int fd, const Heard* own, std::size_t limit, const Handler& handler);
  [[nodiscard]] Turn drain_ring(const Heard& own, std::size_t limit, const Handler& handler);

  std::vector<MacAddress> groups_;
  UniqueFd shared_;
  UniqueFd own_set_;  ///< an epoll set of the ports' own sockets
  std::unordered_map<Ifindex, Heard> ports_;
  std::size_t own_count_ = 0;
  std::size_t busy_turns_ = 0;                            ///< of the shared socket, in a row
  std::unordered_map<Ifindex, std::size_t> passed_over_;  ///< frames, as Heard::frames
  std::vector<Ifindex> shut_out_;                         ///< the oldest first
  bool deaf_ = false;
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace lldp::io
