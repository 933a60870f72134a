// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/bpf_route.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "tests/dataplane/route_messages.hpp"

namespace lldp::dataplane::routes {
namespace {

using bpf::BpfRoute;
using bpf::parse_bpf_route;

const std::optional<BpfRoute> kRoute = BpfRoute{"route", "198.51.100.0/24 table 1000"};

TEST(BpfRoute, IsOneWhoseProgramMaySendOn) {
  EXPECT_EQ(parse_bpf_route(route().encapsulated(kXmit).get()), kRoute);
  EXPECT_EQ(parse_bpf_route(route(RTM_DELROUTE).encapsulated(kXmit).get()), kRoute);
  EXPECT_EQ(parse_bpf_route(route6().encapsulated(kXmit).get()),
            (BpfRoute{"route", "2001:db8::/32 table 254"}));
  EXPECT_EQ(parse_bpf_route(nexthop(kXmit).get()), (BpfRoute{"nexthop", "id 9"}));
  EXPECT_EQ(parse_bpf_route(nexthop(kXmit, RTM_DELNEXTHOP).get()), (BpfRoute{"nexthop", "id 9"}));
}

TEST(BpfRoute, OfOtherProgramsAndEncapsulationsThereIsNone) {
  for (const Encapsulation& other : {kPlain, kInOut, kMpls}) {
    EXPECT_EQ(parse_bpf_route(route().encapsulated(other).get()), std::nullopt);
    EXPECT_EQ(parse_bpf_route(nexthop(other).get()), std::nullopt);
    EXPECT_EQ(parse_bpf_route(route().paths({other, other}).get()), std::nullopt);
  }
  Message link(RTM_NEWLINK, 0);
  link.add(ifinfomsg{}).encapsulated(kXmit);
  EXPECT_EQ(parse_bpf_route(link.get()), std::nullopt);
}

TEST(BpfRoute, AnyPathMayHaveTheProgram) {
  EXPECT_EQ(parse_bpf_route(route().paths({kXmit, kPlain}).get()), kRoute);
  EXPECT_EQ(parse_bpf_route(route().paths({kPlain, kMpls, kXmit}, 16).get()), kRoute);
  EXPECT_EQ(parse_bpf_route(route().paths({kPlain, kInOut, kXmit}, 0).get()), kRoute);
}

TEST(BpfRoute, ToEverywhereHasNoDestination) {
  Message message(RTM_NEWROUTE, 0);
  message.add(rtmsg{.rtm_family = AF_INET6, .rtm_table = RT_TABLE_MAIN}).encapsulated(kXmit);
  EXPECT_EQ(parse_bpf_route(message.get()), (BpfRoute{"route", "::/0 table 254"}));
}

// Wherever it is cut off, with memory of its own length.
TEST(BpfRoute, CutOffIsNoneOrTheSame) {
  const Message whole = [] {
    Message message = route();
    message.paths({kPlain, kXmit});
    return message;
  }();
  for (std::size_t size = sizeof(nlmsghdr); size < whole.octets().size(); ++size) {
    const std::unique_ptr<std::uint32_t[]> room(new std::uint32_t[(size + 3) / 4]);
    std::memcpy(room.get(), whole.octets().data(), size);
    auto* const header = reinterpret_cast<nlmsghdr*>(room.get());
    header->nlmsg_len = static_cast<std::uint32_t>(size);
    const auto found = parse_bpf_route(header);
    EXPECT_TRUE(!found || found == kRoute) << size;
  }
}

}  // namespace
}  // namespace lldp::dataplane::routes
