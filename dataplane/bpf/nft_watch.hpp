// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <utility>

#include "base/result.hpp"
#include "os/fd.hpp"
#include "os/timer.hpp"

namespace lldp::dataplane::bpf {

/// Reports that a transaction changed nftables in the network namespace of the thread that opens
/// this.
///
/// A ruleset may have a hundred thousand rules, of each of which the kernel tells, and come anew
/// every second. So the kernel lets through the end of a transaction alone, and after a report
/// there is no other one for some seconds.
class NftWatch {
 public:
  /// Between two reports. Without a watch nftables is asked no more often.
  static constexpr std::chrono::seconds kPause{9};

  /// A socket of netfilter that hears of the end of each transaction, of at least a few that it was
  /// not read of: more are an error of it (ENOBUFS).
  [[nodiscard]] static Result<UniqueFd> open_socket();

  /// Fails where the kernel has no netfilter, or does not allow it (CAP_NET_ADMIN).
  [[nodiscard]] static Result<NftWatch> open(std::chrono::nanoseconds pause = kPause);
  /// Readable when there is something to take().
  [[nodiscard]] int fd() const { return poll_.get(); }
  /// True once after transactions that may not have been reported.
  [[nodiscard]] bool take();

 private:
  NftWatch(UniqueFd poll, Timer timer, UniqueFd socket, std::chrono::nanoseconds pause)
      : poll_(std::move(poll)),
        timer_(std::move(timer)),
        socket_(std::move(socket)),
        pause_(pause) {}
  void listen(bool on);

  UniqueFd poll_;  ///< epoll: timer_, and socket_ while none is set
  Timer timer_;
  UniqueFd socket_;
  std::chrono::nanoseconds pause_;
  bool listens_ = true;
};

}  // namespace lldp::dataplane::bpf
