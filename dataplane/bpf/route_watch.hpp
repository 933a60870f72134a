// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netlink/msg.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "base/result.hpp"
#include "dataplane/bpf/bpf_route.hpp"
#include "os/fd.hpp"
#include "os/timer.hpp"

namespace lldp::dataplane::bpf {

/// Whether a BPF program of a route may send packets on, past the rules of ports, in the network
/// namespace of the thread that opens this.
///
/// Routes may be a million, and change all the time. So all are listed once, a bounded number
/// at a time, and the kernel tells of those alone that have such a program, when they come or go.
/// While there is one, all are listed again and again: the kernel does not tell that a route
/// without a program takes its place, or that its interface goes down.
class RouteWatch {
 public:
  using Opener = std::function<Result<UniqueFd>()>;
  /// A socket of rtnetlink that hears of routes with a BPF program.
  [[nodiscard]] static Result<UniqueFd> open_socket();

  [[nodiscard]] static Result<RouteWatch> open(Opener opener = open_socket);
  /// Readable when there is something to take().
  [[nodiscard]] int fd() const { return poll_.get(); }
  /// True if found() or unread() may be another than before.
  [[nodiscard]] bool take();
  /// One that may send packets on.
  [[nodiscard]] const std::optional<BpfRoute>& found() const { return found_; }
  /// Why there may be one that is not known, an errno: EINPROGRESS until all were listed once; 0:
  /// there is none.
  [[nodiscard]] int unread() const { return unread_; }

 private:
  using Clock = std::chrono::steady_clock;
  /// What is listed at the moment.
  enum class List : std::uint8_t { kNone, kIpv4, kIpv6, kNexthops };

  RouteWatch(UniqueFd poll, Timer timer, Opener opener)
      : poll_(std::move(poll)), timer_(std::move(timer)), opener_(std::move(opener)) {}
  void begin();
  /// Asks for the next list.
  void ask(List list);
  void refuse(int code);
  void read();
  /// False: what comes behind it is of no use.
  [[nodiscard]] bool take(nlmsghdr* message);
  [[nodiscard]] bool take_end(const nlmsghdr* message);
  void finish();
  /// The next list, if one is needed, as soon as lists leave time for all else.
  void schedule();

  UniqueFd poll_;  ///< epoll: timer_ and socket_
  Timer timer_;    ///< until the next list
  Opener opener_;
  UniqueFd socket_{};
  std::uint32_t sequence_ = 0;
  List list_ = List::kNone;
  bool again_ = false;        ///< what was listed may be there no more, or some were not heard of
  bool interrupted_ = false;  ///< the same, and the kernel says that the list may lack something
  int interruptions_ = 0;     ///< in a row
  Clock::time_point began_{};
  Clock::time_point ended_{};
  Clock::duration took_{};
  std::optional<BpfRoute> listed_{};
  std::optional<BpfRoute> found_{};
  int unread_ = EINPROGRESS;
};

}  // namespace lldp::dataplane::bpf
