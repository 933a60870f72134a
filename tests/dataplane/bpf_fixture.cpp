// SPDX-License-Identifier: Apache-2.0
#include "tests/dataplane/bpf_fixture.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <utility>

namespace lldp::dataplane {

RefusedRequest refused_request;
RefuseCall refuse_call;
Meanwhile meanwhile;

namespace {

bool is_refused_call() {
  if (refuse_call.which == Refuse::kNone) return false;
  --refuse_call.left;
  return refuse_call.left == 0 ||
         (refuse_call.left < 0 && refuse_call.which == Refuse::kAllFromThere);
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(On, BpfBackend,
                         testing::Values(Means::kAuto, Means::kClsact, Means::kClsactWithoutBpffs,
                                         Means::kTcx),
                         testing::PrintToStringParamName());

}  // namespace lldp::dataplane

// In the place of libc's.
extern "C" long syscall(long number, ...) noexcept {
  using Real = long (*)(long, ...);
  static const auto real = reinterpret_cast<Real>(::dlsym(RTLD_NEXT, "syscall"));
  if (number == SYS_bpf && lldp::dataplane::is_refused_call()) {
    errno = ENOMEM;
    return -1;
  }
  std::array<long, 6> words{};
  va_list rest;
  va_start(rest, number);
  for (long& word : words) word = va_arg(rest, long);
  va_end(rest);
  return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
// The linker puts this in the place of what the product itself maps by, and no sanitizer.
extern "C" void* __real_mmap64(void*, size_t, int, int, int, off_t);
extern "C" void* __wrap_mmap64(void* at, size_t size, int protection, int flags, int fd,
                               off_t from) {
  if (lldp::dataplane::is_refused_call()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return __real_mmap64(at, size, protection, flags, fd, from);
}
extern "C" ssize_t send(int fd, const void* data, size_t size, int flags) {
  auto& refused = lldp::dataplane::refused_request;
  nlmsghdr header{};
  if (size >= sizeof header) std::memcpy(&header, data, sizeof header);
  if (refused.type != 0 && header.nlmsg_type == refused.type && --refused.after <= 0) {
    errno = ENOMEM;
    return -1;
  }
  if (header.nlmsg_type == lldp::dataplane::meanwhile.type)
    std::exchange(lldp::dataplane::meanwhile, {}).happens();
  if (lldp::dataplane::is_refused_call()) {
    errno = ENOMEM;
    return -1;
  }
  return ::syscall(SYS_sendto, fd, data, size, flags, nullptr, 0);
}
