// SPDX-License-Identifier: Apache-2.0
#include "lab/bounce/counters.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "dataplane/fd.hpp"

namespace lldp::lab::bounce {
namespace {

using Json = nlohmann::json;
using namespace std::string_view_literals;
/// Varlink ends a message with a NUL.
constexpr std::string_view kCall = "{\"method\":\"org.lldplevel.Rules\",\"parameters\":{}}\0"sv;
constexpr timeval kPatience{.tv_sec = 5, .tv_usec = 0};

Result<Json> ask(const std::string& path) {
  const auto failed = [&] { return fail(Error{errno, path, std::strerror(errno)}); };
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd || connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
    return failed();
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  if (send(fd.get(), kCall.data(), kCall.size(), MSG_NOSIGNAL) < 0) return failed();
  std::string reply;
  while (!reply.ends_with('\0')) {
    std::array<char, 1 << 14> chunk{};
    const ssize_t n = recv(fd.get(), chunk.data(), chunk.size(), 0);
    if (n < 0) return failed();
    if (n == 0) break;
    reply.append(chunk.data(), static_cast<std::size_t>(n));
  }
  if (!reply.empty()) reply.pop_back();
  Json json = Json::parse(reply, nullptr, false);
  if (json.is_discarded()) return fail(Error{0, path, "no whole answer"});
  return json;
}

void read_counts(const Json& reply, const Fabric& fabric, const std::vector<Adjacency>& ports,
                 Bounces& counted) {
  for (const Json& port : reply.at("parameters").at("ports"))
    for (const Adjacency& a : ports) {
      if (port.at("name") != fabric.links[a.link].ends[a.own_end].port) continue;
      for (const auto& [priority, count] : port.at("bounces").items()) {
        unsigned p = 0;
        std::from_chars(priority.data(), priority.data() + priority.size(), p);
        if (count != 0)
          counted[{{a.link, a.own_end, true}, Priority::make(p).value_or(Priority{})}] = count;
      }
    }
}

}  // namespace

Result<Bounces> counted_bounces(const live::Place& place, const Fabric& fabric) {
  const auto ports_of = adjacencies(fabric);
  Bounces counted;
  for (std::size_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].role == core::Role::kHost) continue;
    const std::string socket = place.socket(fabric.nodes[n].name);
    const auto reply = ask(socket);
    if (!reply) return fail(reply.error());
    try {
      read_counts(*reply, fabric, ports_of[n], counted);
    } catch (const Json::exception& e) {
      return fail(Error{0, socket, e.what()});
    }
  }
  return counted;
}

}  // namespace lldp::lab::bounce
