// SPDX-License-Identifier: Apache-2.0
#include "agent/process/presence.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace lldp::io {
namespace {

/// An abstract name: of the network namespace, not of a file system, and gone with its process.
constexpr std::string_view kName{"\0lldp-leveld", 12};
/// Of those who looked who it is; they are never answered.
constexpr int kBacklog = 4;

std::string who_listens(const sockaddr* address, socklen_t length) {
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ucred peer{};
  socklen_t size = sizeof peer;
  const bool known = fd && ::connect(fd.get(), address, length) == 0 &&
                     ::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
                     peer.pid > 0;  // none of this PID namespace's
  return known ? "process " + std::to_string(peer.pid) : "another process";
}

}  // namespace

Result<Presence> Presence::announce() {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  kName.copy(name.sun_path, kName.size());
  const auto* address = reinterpret_cast<const sockaddr*>(&name);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + kName.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (fd && ::bind(fd.get(), address, length) == 0 && ::listen(fd.get(), kBacklog) == 0)
    return Presence(std::move(fd));
  if (errno != EADDRINUSE) return fail(Error{errno, "presence", std::strerror(errno)});
  return fail(Error{EADDRINUSE, "ports",
                    who_listens(address, length) +
                        " is an lldp-leveld of this network namespace too: on a port of both they "
                        "fight over its rules"});
}

}  // namespace lldp::io
