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

}  // namespace

std::optional<std::string> Presence::other() {
  const auto there = unix_address(kName);
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return std::nullopt;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::connect(fd.get(), there->get(), there->size) != 0)
    // Too many have looked who it is: it is there all the same.
    return errno == EAGAIN ? std::optional("another process") : std::nullopt;
  const bool known = ::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
                     peer.pid > 0;  // none of this PID namespace's
  return known ? "process " + std::to_string(peer.pid) : "another process";
}

Result<Presence> Presence::announce() {
  const auto address = unix_address(kName);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (fd && ::bind(fd.get(), address->get(), address->size) == 0 &&
      ::listen(fd.get(), kBacklog) == 0)
    return Presence(std::move(fd));
  if (errno != EADDRINUSE) return fail(Error{errno, "presence", std::strerror(errno)});
  return fail(Error{EADDRINUSE, "ports",
                    other().value_or("another process") +
                        " is an lldp-leveld of this network namespace too: on a port of both they "
                        "fight over its rules"});
}

}  // namespace lldp::io
