// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/epoll.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/result.hpp"
#include "os/fd.hpp"

namespace lldp {

struct Awaited {
  int fd = -1;             ///< of one that could not be had the reason is in errno yet
  std::uint64_t word = 0;  ///< comes with its event
};

/// An epoll set that is readable when one of these is. `where`: of the error.
[[nodiscard]] inline Result<UniqueFd> make_poll_set(const char* where,
                                                    const std::vector<Awaited>& awaited) {
  const auto refused = [where](int code) { return fail(Error{code, where, std::strerror(code)}); };
  for (const Awaited& one : awaited)
    if (one.fd < 0) return refused(errno);
  UniqueFd set(::epoll_create1(EPOLL_CLOEXEC));
  if (!set) return refused(errno);
  for (const Awaited& one : awaited) {
    epoll_event interest{.events = EPOLLIN, .data = {.u64 = one.word}};
    if (::epoll_ctl(set.get(), EPOLL_CTL_ADD, one.fd, &interest) != 0) return refused(errno);
  }
  return set;
}

}  // namespace lldp
