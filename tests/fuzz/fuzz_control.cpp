// SPDX-License-Identifier: Apache-2.0
// What a client may send, through a session: nothing but whole replies comes back, whatever it is,
// and the daemon is there afterwards. The first octet says who asks and how its octets are cut.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "agent/control/control_session.hpp"
#include "os/fd.hpp"
#include "tests/control/commanded.hpp"

namespace {

using namespace lldp::io;

/// Answers with what was asked for, and owns the one session.
struct Server final : test::CommandedHandler, SessionOwner {
  std::string show_json(std::span<const std::string> ports) override {
    return nlohmann::json({{"ports", ports.size()}}).dump();
  }
  std::string stats_json(std::span<const std::string> ports) override { return show_json(ports); }
  std::string rules_json() override { return "{}"; }
  lldp::Result<std::string, std::vector<lldp::Error>> reload_json() override {
    if (!may_command) std::abort();
    return "{}";
  }
  lldp::Result<void> commanded(std::string, std::span<const std::string>) override {
    if (!may_command) std::abort();
    return {};
  }
  ControlHandler& handler() override { return *this; }
  const ControlLimits& limits() const override { return limits_; }
  void stream_began(Stream) override {}
  void ended(Session&) override { session.reset(); }

  bool may_command = false;
  ControlLimits limits_{.message_octets = 4096, .queue_octets = 4096};
  std::shared_ptr<Session> session{};
};

void check(std::string_view replies) {
  while (!replies.empty()) {
    const std::size_t end = replies.find('\0');
    if (end == replies.npos) std::abort();
    const auto reply = nlohmann::json::parse(replies.substr(0, end), nullptr, false);
    if (!reply.is_object() || !reply.contains("parameters")) std::abort();
    replies.remove_prefix(end + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 1 << 14) return 0;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return 0;
  const lldp::UniqueFd client(ends[0]);
  boost::asio::io_context loop(1);
  Server server;
  server.may_command = (data[0] & 1U) != 0;
  const std::size_t piece = (data[0] & 2U) != 0 ? 7 : size;
  server.session =
      std::make_shared<Session>(boost::asio::local::stream_protocol::socket(
                                    loop, boost::asio::local::stream_protocol(), ends[1]),
                                server, Client{.may_command = server.may_command});
  server.session->start();

  std::string replies;
  const auto turn = [&] {
    loop.restart();
    loop.poll();
    char buffer[4096];
    for (ssize_t n = 0; (n = ::recv(client.get(), buffer, sizeof buffer, 0)) > 0;)
      replies.append(buffer, static_cast<std::size_t>(n));
  };
  for (std::size_t at = 1; at < size && server.session; at += piece) {
    const std::size_t n = std::min(piece, size - at);
    if (::send(client.get(), data + at, n, MSG_NOSIGNAL) < 0) break;
    turn();
  }
  if (server.session) {  // for a stream, if it has asked for one
    if (server.session->stream() == Stream::kWatch) server.session->changed();
    server.session->frame_seen("swp1", R"("frame":"AA==")");
  }
  for (int i = 0; i < 4; ++i) turn();
  check(replies);
  if (server.session) server.session->close();
  turn();
  return 0;
}
