// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hiredis/async.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace lldp::dataplane::sonic {

/// One connection to a Redis server, which never blocks: it lives in the owner's
/// epoll set, whose events for it are told to handle().
class Redis {
 public:
  using Command = std::vector<std::string>;
  /// nullptr: the connection is lost.
  using OnReply = std::function<void(const redisReply*)>;

  /// `lost` is told why there is no connection (any more), with the errno where that is one.
  Redis(int epoll, std::function<void(Error)> lost);
  Redis(const Redis&) = delete;
  Redis& operator=(const Redis&) = delete;
  ~Redis();

  /// Begins, at the path of a socket or at ADDRESS:PORT ([ADDRESS]:PORT); commands may be sent at
  /// once. A failure is told to `lost`, perhaps before this returns.
  void connect(const std::string& at);
  [[nodiscard]] bool connected() const { return context_ != nullptr; }
  void disconnect();
  void send(const Command& command, OnReply on_reply);
  /// Asks for the keys that are written to, by PSUBSCRIBE: the connection takes no other command
  /// then. `on_event` is told that following has begun, and of each write.
  void follow(const std::vector<std::string>& patterns, std::function<void()> on_event);
  void handle(std::uint32_t events);
  [[nodiscard]] std::size_t waiting() const { return waiting_; }  ///< commands without a reply

 private:
  void watch(std::uint32_t events);
  void gone(const redisAsyncContext* context, const char* why);

  int epoll_;
  std::function<void(Error)> lost_;
  redisAsyncContext* context_ = nullptr;
  std::uint32_t watched_ = 0;
  std::size_t waiting_ = 0;
  std::function<void()> on_event_{};
};

}  // namespace lldp::dataplane::sonic
