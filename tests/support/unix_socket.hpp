// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "os/fd.hpp"
#include "os/unix_address.hpp"

namespace lldp {

/// A socket of that type (SOCK_STREAM, ...) bound to `path`, on which a test waits for whom it
/// tests; with a backlog it listens. Does not block.
inline UniqueFd socket_at(const std::string& path, int type, std::optional<int> backlog = {}) {
  UniqueFd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto address = unix_address(path);
  if (!address || ::bind(fd.get(), address->get(), address->size) != 0 ||
      (backlog && ::listen(fd.get(), *backlog) != 0)) {
    std::perror(path.c_str());
    std::abort();
  }
  return fd;
}

/// Sends the message until no more of it fits; how often.
inline std::size_t fill(int fd, std::string_view message) {
  std::size_t sent = 0;
  while (::send(fd, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) ++sent;
  return sent;
}

}  // namespace lldp
