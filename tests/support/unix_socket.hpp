// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

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

}  // namespace lldp
