// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/result.hpp"
#include "dataplane/soft/messages.hpp"
#include "os/fd.hpp"

namespace lldp::lab::lossless {

/// Asks one switch process what it has counted.
class Client {
 public:
  /// Waits until it is there, or live::is_ending().
  [[nodiscard]] static Result<Client> open(const std::string& socket,
                                           std::chrono::steady_clock::time_point deadline);
  [[nodiscard]] Result<dataplane::soft::View> read() const;
  /// Says that the switch has gone (EPOLLRDHUP).
  [[nodiscard]] int fd() const { return socket_.get(); }

 private:
  std::string path_{};
  UniqueFd socket_{};
};

}  // namespace lldp::lab::lossless
