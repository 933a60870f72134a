// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace boost::asio {
class io_context;
}

namespace lldp::metrics {

/// Bounds that keep any number of bad clients harmless; tests make them small.
struct ServerLimits {
  std::size_t clients = 32;  ///< one more puts out the one that has been here longest
  std::chrono::milliseconds patience{5'000};  ///< for a request, and for the answer to be taken
  std::size_t request_octets = 8 << 10;
  /// Between two scrapes; requests in between get the answer of the next scrape.
  std::chrono::milliseconds pause{50};
};

/// Answers GET /metrics by HTTP, in one thread. A client that sends or reads slowly is disconnected
/// in time, and sooner if others come.
class Server {
 public:
  /// The metrics as they are now, in Prometheus' text format.
  using Scrape = std::function<std::string()>;

  /// `address`: as config::parse_listen makes it.
  [[nodiscard]] static Result<Server> open(boost::asio::io_context& loop,
                                           const std::string& address, Scrape scrape,
                                           ServerLimits limits = {});

 private:
  class Impl;
  explicit Server(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;  ///< shared with what waits in the loop
};

}  // namespace lldp::metrics
