// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "agent/wire/packet_io.hpp"
#include "tests/netns/support.hpp"

namespace lldp::io {

using netns::Inside;
using netns::Namespace;

inline constexpr MacAddress kGroup{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e};
inline const std::vector<MacAddress> kGroups{kGroup};
using Heard = std::vector<std::pair<Ifindex, Bytes>>;

/// A frame to the group, whose payload begins with `mark`; `tag` comes before the EtherType.
inline Bytes frame(std::uint8_t mark, const Bytes& tag = {},
                   const Bytes& ether_type = {0x88, 0xcc}) {
  Bytes octets(kGroup.begin(), kGroup.end());
  octets.insert(octets.end(), {2, 0, 0, 0, 0, 1});
  octets.insert(octets.end(), tag.begin(), tag.end());
  octets.insert(octets.end(), ether_type.begin(), ether_type.end());
  octets.push_back(mark);
  octets.resize(60);
  return octets;
}

/// Two namespaces with two links, p0 and p1, and the one's PacketIo on the near end of p0.
class PacketIoTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = netns::missing_privilege(); !why.empty()) GTEST_SKIP() << why;
    here_.emplace();
    there_.emplace();
    netns::join(*here_, *there_, 2);
    {
      const Inside in(*there_);
      far_.emplace(PacketIo::open(kGroups).value());
      far_port_ = index("p0");
    }
    const Inside in(*here_);
    near_.emplace(PacketIo::open(kGroups).value());
    port_ = index("p0");
  }
  static Ifindex index(const char* name) { return *Ifindex::make(::if_nametoindex(name)); }

  void hear(Hearing hearing, Ifindex master = {}) {
    const Inside in(*here_);
    ASSERT_TRUE(near_->add({.ifindex = port_, .master = master, .hearing = hearing}));
  }
  void send(const Bytes& octets) {
    std::vector<PacketIo::SendFailure> failures;
    far_->send(std::array{core::Send{far_port_, octets}}, failures);
    EXPECT_THAT(failures, testing::IsEmpty());
  }
  /// What was heard up to the frame with mark 0xff, which is sent last. A veth delivers in order.
  Heard heard() {
    send(frame(0xff));
    Heard all;
    bool end = false;
    const auto take = [&](Ifindex port, ByteSpan octets) {
      if (octets[14] == 0xff)
        end = true;
      else
        all.emplace_back(port, Bytes(octets.begin(), octets.end()));
    };
    EXPECT_TRUE(netns::eventually([&] {
      static_cast<void>(near_->receive_shared(take));
      static_cast<void>(near_->receive_own(take));
      return end;
    }));
    return all;
  }

  std::optional<Namespace> here_;
  std::optional<Namespace> there_;
  std::optional<PacketIo> far_;
  std::optional<PacketIo> near_;
  Ifindex port_{};
  Ifindex far_port_{};
};

}  // namespace lldp::io
