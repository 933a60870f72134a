// SPDX-License-Identifier: Apache-2.0
// A message of a dump of qdiscs or filters, as the kernel gives it: the first octet says of which,
// and the rest is what follows the netlink header.
#include <linux/rtnetlink.h>

#include <cstdint>
#include <cstring>
#include <memory>

#include "dataplane/bpf/qdiscs.hpp"
#include "dataplane/bpf/strangers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lldp::dataplane;
  if (size == 0 || size > 65536) return 0;
  const bool filter = (data[0] & 1) != 0;
  ++data;
  --size;
  // Of its own size, so that every octet behind it is none of its.
  const std::size_t length = NLMSG_HDRLEN + size;
  const std::unique_ptr<std::uint32_t[]> room(new std::uint32_t[(length + 3) / 4]);
  auto* header = reinterpret_cast<nlmsghdr*>(room.get());
  *header = {};
  header->nlmsg_len = static_cast<std::uint32_t>(length);
  header->nlmsg_type = filter ? RTM_NEWTFILTER : RTM_NEWQDISC;
  if (size != 0) std::memcpy(NLMSG_DATA(header), data, size);
  const auto object = parse_tc(header);
  if (!object) return 0;
  if (filter) {
    (void)bpf::power_of(*object);
    return 0;
  }
  bpf::Qdiscs qdiscs;
  qdiscs.take(*object);
  (void)qdiscs.with_filters();
  (void)qdiscs.of(object->port);
  return 0;
}
