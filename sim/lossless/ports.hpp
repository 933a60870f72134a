// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "os/fd.hpp"
#include "os/timer.hpp"
#include "sim/packets/slot.hpp"

namespace lldp::lab::lossless {

/// What errno says of it.
[[nodiscard]] Error failed(const std::string& where, const char* doing);

/// Packet sockets on interfaces of the namespace in which they were opened: they see IPv4 and MAC
/// control frames that come in, and nothing that leaves.
class Ports {
 public:
  [[nodiscard]] static Result<Ports> open(const std::vector<std::string>& names);

  [[nodiscard]] int fd(std::size_t port) const { return sockets_[port].get(); }
  [[nodiscard]] std::size_t size() const { return sockets_.size(); }
  [[nodiscard]] const std::string& name(std::size_t port) const { return names_[port]; }
  /// The interface that was taken is there, and has its name still.
  [[nodiscard]] bool is_there(std::size_t port) const;
  /// Where it is not, takes one that has the name now: true, and fd() is another one, if it could.
  bool take_again(std::size_t port);
  /// Hands over what has come, a bounded number; returns how many. What is longer than any link's
  /// MTU here, as the kernel makes it of several frames (GSO), no switch would have got: counted.
  std::size_t receive(std::size_t port, const std::function<void(ByteSpan)>& take);
  /// What the interface does not take is counted as missed.
  void send(std::size_t port, ByteSpan frame);
  /// Frames for which the kernel had no room, so far.
  [[nodiscard]] std::uint64_t missed();
  [[nodiscard]] std::uint64_t too_long() const { return too_long_; }

 private:
  std::vector<std::string> names_{};
  std::vector<UniqueFd> sockets_{};
  std::uint64_t missed_ = 0;
  std::uint64_t too_long_ = 0;
};

/// Time since it was made, in the simulator's unit.
class Stopwatch {
 public:
  Stopwatch();
  [[nodiscard]] packets::Picoseconds now() const;
  /// The timer's time comes then; kNever: never.
  void set(const Timer& timer, packets::Picoseconds at) const;

 private:
  std::int64_t begin_ns_ = 0;
};

}  // namespace lldp::lab::lossless
