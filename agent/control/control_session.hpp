// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/control/control.hpp"
#include "agent/control/varlink.hpp"

/// Inside of the control socket: one client's connection.
namespace lldp::io {

enum class Stream : std::uint8_t { kNone, kWatch, kRecord };

/// The other end of a connection.
struct Client {
  std::uint32_t user = 0xffff'ffff;  ///< (uid_t)-1 is no user
  bool may_command = false;          ///< root, or the daemon's own user
};

class Session;

/// What a session needs of its server.
class SessionOwner {
 public:
  virtual ControlHandler& handler() = 0;
  [[nodiscard]] virtual const ControlLimits& limits() const = 0;
  virtual void stream_began(Stream stream) = 0;
  virtual void ended(Session& session) = 0;

 protected:
  ~SessionOwner() = default;
};

/// Reads a call, answers it, reads the next: never more than one answer waits, so that a client
/// that asks without reading costs one answer's memory. A client with a stream has nothing more to
/// say; if it speaks, it is put out. Shared with the operations that wait in the loop.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(boost::asio::local::stream_protocol::socket socket, SessionOwner& owner, Client client);

  void start() { read(); }
  void close();

  [[nodiscard]] const Client& client() const { return client_; }
  [[nodiscard]] Stream stream() const { return stream_; }
  [[nodiscard]] std::chrono::steady_clock::time_point last_heard() const { return last_heard_; }

  /// For a watcher: an answer now, or as soon as the last one is written.
  void changed();
  /// For a recorder of this port: `text` holds the reply's members.
  void frame_seen(std::string_view port, std::string_view text);

 private:
  struct Method;
  void read();
  void serve();
  void answer(const varlink::Call& call);
  [[nodiscard]] static std::optional<std::string> wrong_parameter(const Method& method,
                                                                  const varlink::Call& call);
  void dispatch(const Method& method, const varlink::Call& call);
  void send(const std::string& message);
  void write();

  void get_info(const varlink::Call& call);
  void get_interface_description(const varlink::Call& call);
  void show(const varlink::Call& call);
  void detail(const varlink::Call& call);
  void watch(const varlink::Call& call);
  void stats(const varlink::Call& call);
  void rules(const varlink::Call& call);
  void config(const varlink::Call& call);
  void mute(const varlink::Call& call);
  void record(const varlink::Call& call);
  void reload(const varlink::Call& call);
  void forget(const varlink::Call& call);
  void update(const varlink::Call& call);
  void pause(const varlink::Call& call);
  void resume(const varlink::Call& call);
  void set(const varlink::Call& call);
  void accept_pfc(const varlink::Call& call);
  void answer(const Result<void>& done);
  /// False, and the client is told, if it may only ask.
  [[nodiscard]] bool may_command();

  boost::asio::local::stream_protocol::socket socket_;
  SessionOwner* owner_;  ///< null once closed
  const Client client_;
  std::chrono::steady_clock::time_point last_heard_ = std::chrono::steady_clock::now();

  std::array<char, 4096> input_{};
  varlink::Framer framer_;

  std::string queued_;   ///< messages that wait for the write under way
  std::string writing_;  ///< what the socket is taking
  std::size_t written_ = 0;
  boost::asio::steady_timer stall_;
  bool mute_ = false;  ///< the call under way is oneway

  Stream stream_ = Stream::kNone;
  std::vector<std::string> ports_;  ///< the stream's globs
  bool stale_ = false;              ///< watch: something changed since the last answer
  std::uint64_t dropped_ = 0;       ///< record: frames left out since the last reply
};

}  // namespace lldp::io
