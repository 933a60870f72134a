// SPDX-License-Identifier: Apache-2.0
#include "tests/dataplane/bpf_fixture.hpp"

#include <sys/syscall.h>

#include <cerrno>
#include <cstring>

namespace lldp::dataplane {

RefusedRequest refused_request;

INSTANTIATE_TEST_SUITE_P(On, BpfBackend,
                         testing::Values(Means::kAuto, Means::kClsact, Means::kClsactWithoutBpffs,
                                         Means::kTcx),
                         testing::PrintToStringParamName());

}  // namespace lldp::dataplane

/// In the place of libc's.
extern "C" ssize_t send(int fd, const void* data, size_t size, int flags) {
  auto& refused = lldp::dataplane::refused_request;
  if (refused.type != 0 && size >= sizeof(nlmsghdr)) {
    nlmsghdr header{};
    std::memcpy(&header, data, sizeof header);
    if (header.nlmsg_type == refused.type && --refused.after <= 0) {
      errno = ENOMEM;
      return -1;
    }
  }
  return ::syscall(SYS_sendto, fd, data, size, flags, nullptr, 0);
}
