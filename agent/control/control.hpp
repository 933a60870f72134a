// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "os/fd.hpp"

namespace boost::asio {
class io_context;
}

namespace lldp::io {

/// What the control socket asks of the daemon. The texts are whole JSON objects, as
/// agent/control/org.lldplevel.varlink describes them. Called from the io_context's thread.
class ControlHandler {
 public:
  virtual ~ControlHandler() = default;
  /// `ports`: globs; empty for all. report::show_json.
  [[nodiscard]] virtual std::string show_json(std::span<const std::string> ports) = 0;
  /// The same with the octets that were received and would be sent.
  [[nodiscard]] virtual std::string detail_json(std::span<const std::string> ports) = 0;
  [[nodiscard]] virtual std::string stats_json(std::span<const std::string> ports) = 0;
  [[nodiscard]] virtual std::string rules_json() = 0;
  /// Every key of the configuration with its value in force, and where that comes from.
  [[nodiscard]] virtual std::string config_json() = 0;
  /// Reads the configuration anew, as SIGHUP does, and names the keys that wait for a restart.
  /// Fails with all that is wrong in it.
  [[nodiscard]] virtual Result<std::string, std::vector<Error>> reload_json() = 0;
  /// These ports send what they have to tell as soon as they may; all that may send, if there are
  /// none.
  [[nodiscard]] virtual Result<void> update(std::span<const std::string> ports) = 0;
  /// These ports (none: all that are there) neither send nor receive, until resume() or the
  /// daemon's end.
  [[nodiscard]] virtual Result<void> pause(std::span<const std::string> ports) = 0;
  /// None: all that are paused.
  [[nodiscard]] virtual Result<void> resume(std::span<const std::string> ports) = 0;
  /// One option of the configuration has another value until the next reload.
  [[nodiscard]] virtual Result<void> set(std::string_view key, std::string_view value) = 0;
  /// `check` passes over this alarm of a port (empty: of the device) for so many seconds; 0: no
  /// more.
  [[nodiscard]] virtual Result<void> mute(std::string_view alarm, std::string_view port,
                                          std::string_view seconds) = 0;
  /// PFC that the rules have taken from others on this port is meant to be off; or no longer.
  [[nodiscard]] virtual Result<void> accept_pfc(const std::string& port, bool accept) = 0;
  /// Drops the remembered, unheard neighbor of these ports; without ports, the level of the device.
  [[nodiscard]] virtual Result<void> forget(std::span<const std::string> ports) = 0;
};

/// Bounds that keep any number of bad clients harmless; tests make them small.
struct ControlLimits {
  std::size_t clients = 64;  ///< one more puts the longest silent one out
  std::size_t clients_per_user =
      16;  ///< of these; root and the daemon's own user have no such limit
  std::size_t message_octets = 1 << 16;  ///< a longer request ends the connection
  std::size_t queue_octets =
      4 << 20;  ///< frames waiting for a recorder; more are dropped, and counted
  std::chrono::milliseconds stall{10'000};  ///< a client that takes nothing for so long is put out
  std::chrono::milliseconds watch_pause{20};  ///< least time between two answers of one Watch
};

enum class Direction : std::uint8_t { kIn, kOut };

/// The daemon's control socket: Varlink interface org.lldplevel over a Unix stream socket. Runs on
/// the io_context; destroyed before it. Answers come from the handler, which must outlive it.
class ControlServer {
 public:
  /// Opens the socket, mode 0660 for the process's own user and `group` (nothing: its own), and
  /// makes its directory if only that is missing. Takes over what a dead daemon left; a living one
  /// on the same path is an error.
  [[nodiscard]] static Result<std::unique_ptr<ControlServer>> open(
      boost::asio::io_context& loop, const std::string& path, ControlHandler& handler,
      ControlLimits limits = {}, std::optional<std::uint32_t> group = {});
  ~ControlServer();  ///< closes every connection and removes the socket
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  /// Makes the socket anew where its file is gone, as after a cleaner of /run, or where another
  /// program's socket has its place; true if it did. An error: a daemon has taken the lock, or
  /// something else than a socket has the place, and stays. Cheap.
  [[nodiscard]] Result<bool> renew();
  /// A connection of the daemon's own making, for a child of its: it may look, and not command.
  [[nodiscard]] Result<UniqueFd> connect();
  /// What `show` would say is different. Cheap: watchers are told once per turn of the loop.
  void notify_changed();
  /// Whether a client records; otherwise frame_seen() has no effect.
  [[nodiscard]] bool recording() const { return recorders_ != 0; }
  /// A frame went over the wire, from the destination address on.
  void frame_seen(Direction direction, std::string_view port, ByteSpan frame) {
    if (recording()) record(direction, port, frame);
  }

 private:
  class Impl;
  ControlServer();
  void record(Direction direction, std::string_view port, ByteSpan frame);

  std::size_t recorders_ = 0;
  std::shared_ptr<Impl> impl_;  ///< shared with what waits in the loop
};

}  // namespace lldp::io
