// SPDX-License-Identifier: Apache-2.0
// A message of a dump of filters, as the kernel gives it: what follows the netlink header.
#include <linux/rtnetlink.h>

#include <cstdint>
#include <cstring>
#include <memory>

#include "dataplane/flower/rules.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lldp::dataplane;
  if (size > 65536) return 0;
  // Of its own size, so that every octet behind it is none of its.
  const std::size_t length = NLMSG_HDRLEN + size;
  const std::unique_ptr<std::uint32_t[]> room(new std::uint32_t[(length + 3) / 4]);
  auto* header = reinterpret_cast<nlmsghdr*>(room.get());
  *header = {};
  header->nlmsg_len = static_cast<std::uint32_t>(length);
  header->nlmsg_type = RTM_NEWTFILTER;
  if (size != 0) std::memcpy(NLMSG_DATA(header), data, size);
  if (const auto object = parse_tc(header))
    if (const auto found = flower::parse(*object)) (void)found->does(found->filter);
  return 0;
}
