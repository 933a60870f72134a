// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/result.hpp"
#include "dataplane/soft/messages.hpp"
#include "os/fd.hpp"

namespace lldp::lab::lossless {

/// Asks one switch process what it has counted.
class SwitchClient {
 public:
  /// Waits until it is there, or live::is_ending().
  [[nodiscard]] static Result<SwitchClient> open(const std::string& socket,
                                                 std::chrono::steady_clock::time_point deadline);
  [[nodiscard]] Result<dataplane::soft::View> read() const;
  /// read() in two parts, between which fd() tells that there is an answer (EPOLLIN), or that the
  /// switch has gone (EPOLLRDHUP).
  [[nodiscard]] Result<void> ask() const;
  [[nodiscard]] Result<dataplane::soft::View> answer() const;
  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] Error silence(int code) const;

 private:
  std::string path_{};
  UniqueFd socket_{};
};

}  // namespace lldp::lab::lossless
