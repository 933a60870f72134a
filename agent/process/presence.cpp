// SPDX-License-Identifier: Apache-2.0
#include "agent/process/presence.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "os/unix_address.hpp"

namespace lldp::io {
namespace {

/// An abstract name: of the network namespace, not of a file system, and gone with its process.
constexpr std::string_view kName{"\0lldp-leveld", 12};
/// Of those who looked who it is; they are never answered.
constexpr int kBacklog = 4;

std::string who_listens(const UnixAddress& address) {
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ucred peer{};
  socklen_t size = sizeof peer;
  const bool known = fd && ::connect(fd.get(), address.get(), address.size) == 0 &&
                     ::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
                     peer.pid > 0;  // none of this PID namespace's
  return known ? "process " + std::to_string(peer.pid) : "another process";
}

}  // namespace

Result<Presence> Presence::announce() {
  const auto address = unix_address(kName);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (fd && ::bind(fd.get(), address->get(), address->size) == 0 &&
      ::listen(fd.get(), kBacklog) == 0)
    return Presence(std::move(fd));
  if (errno != EADDRINUSE) return fail(Error{errno, "presence", std::strerror(errno)});
  return fail(Error{EADDRINUSE, "ports",
                    who_listens(*address) +
                        " is an lldp-leveld of this network namespace too: on a port of both they "
                        "fight over its rules"});
}

}  // namespace lldp::io
