// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace lldp::control {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;  ///< nullopt: for ever

/// The milliseconds that poll(2) takes until then, rounded up; -1 for ever.
[[nodiscard]] int poll_time(const Deadline& deadline);

/// Parameters of a call that takes names or globs of ports; none: all.
[[nodiscard]] std::string ports_parameter(std::span<const std::string> ports);

/// A daemon that is busy answers in milliseconds; one that is stuck never does.
inline constexpr std::chrono::seconds kPatience{10};

/// For how long an alarm may be muted, in seconds: 30 days.
inline constexpr std::uint32_t kLongestMute = 30 * 86'400;

/// The file beside a control socket that its daemon has locked for as long as it runs.
[[nodiscard]] inline std::string lock_name(const std::string& socket) { return socket + ".lock"; }

/// One connection to the daemon's Varlink socket, blocking. Errors have the errno as code where
/// there is one: ENOENT and ECONNREFUSED when no daemon answers, ETIMEDOUT, ECONNRESET when it
/// hung up.
class Connection {
 public:
  /// `patience`: a daemon that hangs accepts connections until the backlog is full; then connecting
  /// blocks.
  [[nodiscard]] static Result<Connection> open(const std::string& path,
                                               std::chrono::milliseconds patience = kPatience);
  /// A connection that another program has made; `name` is what errors call it. Takes the
  /// descriptor.
  [[nodiscard]] static Connection adopt(int fd, std::string name) { return {fd, std::move(name)}; }
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&&) = delete;
  ~Connection();

  /// `parameters`: a JSON object as text. `more`: any number of replies are wanted. `deadline`: for
  /// what is still to come for a call that was given up; it is passed over before this one is made.
  [[nodiscard]] Result<void> call(std::string_view method, std::string_view parameters,
                                  bool more = false, const Deadline& deadline = std::nullopt);
  /// The parameters of the next reply, a JSON object as text. An error reply is an error. After
  /// ETIMEDOUT the call is given up.
  [[nodiscard]] Result<std::string> next(const Deadline& deadline = std::nullopt);
  /// call() and its one reply.
  [[nodiscard]] Result<std::string> ask(std::string_view method, std::string_view parameters,
                                        const Deadline& deadline);
  /// To call when poll(2) reports data and no call waits: skips late replies. False: the other end
  /// has hung up, or sends what was not asked for.
  [[nodiscard]] bool stays();
  /// Whether next() would not have to wait; else the descriptor tells by poll(2) when it may not.
  [[nodiscard]] bool has_next() const { return received_.find('\0') != std::string::npos; }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  Connection(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  [[nodiscard]] Error failed(int code, std::string what) const {
    return {code, path_, std::move(what)};
  }

  [[nodiscard]] Result<void> settle(const Deadline& deadline);
  /// Where the next message ends, when it is here.
  [[nodiscard]] Result<std::size_t> hear(const Deadline& deadline);

  int fd_;
  std::string path_;
  std::string received_;   ///< of the next message
  bool given_up_ = false;  ///< a call whose answer is to come yet
};

/// Whether the error means that no daemon listens at the socket.
[[nodiscard]] bool is_no_daemon(const Error& error);

/// Whether an error is that the other end hung up.
[[nodiscard]] bool is_hang_up(const Error& error);

/// Between a hang-up and the next attempt: without a pause, a peer that accepts and hangs up at
/// once, as a forwarder without its own other end, would be asked in a tight loop.
inline constexpr std::chrono::milliseconds kPause{100};

/// Connects, waiting for the daemon to come where there is none yet. Does not poll: it is told of
/// what is made in the socket's directory. `least`: one that is there has so long to let us in,
/// however near the deadline is.
[[nodiscard]] Result<Connection> open_when_there(
    const std::string& path, const Deadline& deadline,
    std::chrono::milliseconds least = std::chrono::milliseconds(1));

}  // namespace lldp::control
