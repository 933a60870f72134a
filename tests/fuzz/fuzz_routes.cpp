// SPDX-License-Identifier: Apache-2.0
// Messages about routes, as the kernel gives them: of each its type, flags and sequence number
// (an octet each), its length (two octets) and what follows the netlink header.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

#include "dataplane/bpf/bpf_route.hpp"
#include "dataplane/bpf/route_watch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lldp;
  using namespace lldp::dataplane::bpf;
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
    return 0;
  const UniqueFd kernel(ends[0]);
  bool open = true;  // afterwards there is none
  auto routes = RouteWatch::open([&]() -> Result<UniqueFd> {
    if (!open) return fail(Error{.code = EMFILE});
    open = false;
    return UniqueFd(ends[1]);
  });
  if (!routes) return 0;
  bool any = false;
  constexpr std::size_t kHead = 5;
  while (size >= kHead) {
    const std::size_t wanted = static_cast<std::size_t>(data[3]) << 8 | data[4];
    const std::size_t body = std::min(wanted, size - kHead);
    // Of its own size, so that every octet behind it is none of its.
    const std::size_t length = NLMSG_HDRLEN + body;
    const std::unique_ptr<std::uint32_t[]> room(new std::uint32_t[(length + 3) / 4]);
    auto* header = reinterpret_cast<nlmsghdr*>(room.get());
    *header = {};
    header->nlmsg_len = static_cast<std::uint32_t>(length);
    header->nlmsg_type = data[0];
    header->nlmsg_flags = data[1];
    header->nlmsg_seq = data[2];
    if (body != 0) std::memcpy(NLMSG_DATA(header), data + kHead, body);
    any |= parse_bpf_route(header).has_value();
    (void)::send(kernel.get(), header, length, MSG_NOSIGNAL);
    (void)routes->take();
    data += kHead + body;
    size -= kHead + body;
  }
  if (routes->found() && !any) __builtin_trap();
  return 0;
}
