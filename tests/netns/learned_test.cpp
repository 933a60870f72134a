// SPDX-License-Identifier: Apache-2.0
// The daemon's own defaults beside a NIC that speaks DCBX: the classes are learned, packets that
// turn change class, and spares end at the host.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "os/fd.hpp"
#include "tests/netns/support.hpp"
#include "tests/support/places.hpp"
#include "tlv/dcbx.hpp"
#include "tlv/dot1.hpp"
#include "tlv/lldpdu.hpp"
#include "tlv/writer.hpp"

namespace lldp::netns {
namespace {

constexpr std::array<std::uint8_t, 6> kServer{2, 0, 0, 0, 0, 0x11};
constexpr std::array<std::uint8_t, 6> kBehindSpine{2, 0, 0, 0, 0, 0x22};
constexpr unsigned kVlan = 7;
constexpr unsigned kEcn = 2;  ///< ECT(0): whatever happens to the DSCP, it stays

enum class Dcbx : std::uint8_t { kIeee, kCee };
std::string_view to_string(Dcbx dcbx) { return dcbx == Dcbx::kIeee ? "Ieee" : "Cee"; }

/// What a NIC's firmware says: a station with PFC for priority 3.
std::vector<std::uint8_t> lldp_of_nic(Dcbx dcbx) {
  std::vector<std::uint8_t> frame{1, 0x80, 0xc2, 0, 0, 0x0e};
  frame.insert(frame.end(), kServer.begin(), kServer.end());
  frame.insert(frame.end(), {0x88, 0xcc});
  tlv::LldpduWriter w(frame, 1500);
  const ByteSpan mac(kServer);
  w.add(tlv::ChassisIdTlv{ChassisId::kMacAddress, mac});
  w.add(tlv::PortIdTlv{PortId::kMacAddress, mac});
  w.add(tlv::Ttl{120});
  w.add(tlv::Capabilities{tlv::Capabilities::kStationOnly, tlv::Capabilities::kStationOnly});
  if (dcbx == Dcbx::kIeee) {
    w.add(tlv::PfcConfig{.willing = true, .cap = 8, .enabled = 0x08});
  } else {
    const Bytes feature =
        tlv::encode_info(tlv::DcbxPfc{.header = {.enabled = true}, .priorities = 0x08});
    tlv::DcbxCee cee;
    cee.features.items[0] = {tlv::DcbxFeature::kPfc, feature};
    cee.features.count = 1;
    w.add(cee);
  }
  w.end();
  return frame;
}

/// A tagged UDP packet over IPv4.
std::vector<std::uint8_t> packet(const std::array<std::uint8_t, 6>& to, unsigned dscp,
                                 unsigned pcp) {
  std::vector<std::uint8_t> frame(to.begin(), to.end());
  const auto put = [&](std::initializer_list<unsigned> octets) {
    for (const unsigned o : octets) frame.push_back(static_cast<std::uint8_t>(o));
  };
  put({2, 0, 0, 0, 0, 0x33, 0x81, 0, pcp << 5, kVlan, 8, 0});
  const std::size_t ip = frame.size();
  put({0x45, dscp << 2 | kEcn, 0, 28, 0, 1, 0, 0, 64, 17, 0, 0, 198, 18, 0, 1, 198, 18, 0, 2});
  unsigned sum = 0;
  for (std::size_t i = ip; i < frame.size(); i += 2) sum += frame[i] * 256U + frame[i + 1];
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  frame[ip + 10] = static_cast<std::uint8_t>(~sum >> 8 & 0xff);
  frame[ip + 11] = static_cast<std::uint8_t>(~sum & 0xff);
  put({0x12, 0xb7, 0x12, 0xb7, 0, 8, 0, 0});  // RoCE's port
  return frame;
}

/// The marks that a packet came with.
struct Seen {
  unsigned dscp = 0;
  unsigned ecn = 0;
  unsigned pcp = 0;
  friend bool operator==(const Seen&, const Seen&) = default;
  friend void PrintTo(const Seen& s, std::ostream* os) {
    *os << "dscp " << s.dscp << " ecn " << s.ecn << " pcp " << s.pcp;
  }
};

/// Sees what arrives at p0 of a namespace.
class Ears {
 public:
  explicit Ears(const Namespace& space) {
    const Inside in(space);
    fd_ = UniqueFd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_ALL)));
    const int on = 1;
    EXPECT_EQ(::setsockopt(fd_.get(), SOL_PACKET, PACKET_AUXDATA, &on, sizeof on), 0);
    sockaddr_ll here{};
    here.sll_family = AF_PACKET;
    here.sll_protocol = htons(ETH_P_ALL);
    here.sll_ifindex = static_cast<int>(::if_nametoindex("p0"));
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here), 0);
  }
  /// The next packet of ours; nothing: none has come.
  std::optional<Seen> take() {
    for (;;) {
      std::array<std::uint8_t, 2048> octets{};
      alignas(cmsghdr) std::array<char, 256> control{};
      iovec part{octets.data(), octets.size()};
      sockaddr_ll from{};
      msghdr message{.msg_name = &from,
                     .msg_namelen = sizeof from,
                     .msg_iov = &part,
                     .msg_iovlen = 1,
                     .msg_control = control.data(),
                     .msg_controllen = control.size(),
                     .msg_flags = 0};
      const ssize_t n = ::recvmsg(fd_.get(), &message, 0);
      if (n < 0) return std::nullopt;
      if (n < 34 || from.sll_pkttype == PACKET_OUTGOING) continue;
      unsigned pcp = 0;
      for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
        tpacket_auxdata aux{};
        if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA) continue;
        std::memcpy(&aux, CMSG_DATA(c), sizeof aux);
        if ((aux.tp_status & TP_STATUS_VLAN_VALID) != 0) pcp = aux.tp_vlan_tci >> 13U;
      }
      if (octets[12] != 8 || octets[13] != 0 || octets[23] != 17) continue;
      const unsigned tos = octets[15];
      return Seen{tos >> 2U, tos & 3U, pcp};
    }
  }

 private:
  UniqueFd fd_;
};

class Learned : public testing::TestWithParam<Dcbx> {
 protected:
  void SetUp() override {
    if (const auto why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
    join_as(server_, "h0");
    join_as(spine1_, "u0");
    join_as(spine2_, "v0");
    // The leaf forwards as a bridge does that knows where every address is.
    leaf_.ip_batch(
        "link add br0 type bridge\n"
        "link set br0 up\n"
        "link set h0 master br0\nlink set u0 master br0\nlink set v0 master br0\n");
    for (const auto& [mac, port] :
         {std::pair("02:00:00:00:00:11", "h0"), {"02:00:00:00:00:22", "v0"}})
      run(leaf_.inside({"bridge", "fdb", "add", mac, "dev", port, "master", "static"}));
    // What the defaults of a machine with a front panel are. In a namespace nothing is physical.
    const std::vector<std::string> defaults{"--role",  "switch",         "--backend",
                                            "auto",    "--qos.lossless", "auto",
                                            "--bpffs", "/nonexistent"};
    auto leaf = defaults;
    leaf.insert(leaf.end(), {"--ports", "h0,u0,v0"});
    agent_.emplace(leaf_, leaf);
    auto spine = defaults;
    spine.insert(spine.end(), {"--ports", "p0", "--level", "2"});
    first_.emplace(spine1_, spine);
    second_.emplace(spine2_, spine);
  }
  /// A cable: PORT of the leaf, p0 of the other.
  void join_as(const Namespace& space, const std::string& port) {
    join(leaf_, space, 1, port.substr(0, 1));
    space.ip("link set " + port + " down");
    space.ip("link set " + port + " name p0");
    space.ip("link set p0 up");
  }
  /// Marks with which a packet comes out at the far end. One that is on its way when a port gets
  /// its first rules can be lost: then another is sent.
  std::optional<Seen> arrives(Ears& at, const std::array<std::uint8_t, 6>& to, unsigned dscp,
                              unsigned pcp) {
    constexpr std::chrono::seconds kMoment{1};
    std::optional<Seen> seen;
    while (at.take()) {
    }
    EXPECT_TRUE(eventually([&] {
      send(spine1_, packet(to, dscp, pcp));
      return eventually([&] { return (seen = at.take()).has_value(); }, kMoment);
    }));
    return seen;
  }

  Namespace leaf_;
  Namespace server_;
  Namespace spine1_;
  Namespace spine2_;
  std::optional<Agent> agent_;
  std::optional<Agent> first_;
  std::optional<Agent> second_;
};

TEST_P(Learned, TurnedPacketsChangeClassAndReachTheHostInTheirOwn) {
  Ears spine(spine2_);
  Ears host(server_);
  EXPECT_EQ(agent_->show()["protection"]["classes_known"], false);
  EXPECT_EQ(agent_->show()["protection"]["state"], "inactive");
  send(server_, lldp_of_nic(GetParam()));
  ASSERT_TRUE(eventually([&] { return agent_->port("v0")["order"] == "up"; }));
  // From the first frame of the NIC on, the classes are known by themselves.
  ASSERT_TRUE(eventually([&] {
    return arrives(spine, kBehindSpine, 26, 3) == Seen{19, kEcn, 2};
  })) << agent_->show().dump(1);
  EXPECT_EQ(agent_->show()["protection"]["chains"].dump(),
            R"([[{"dscps":[26,24,25,27,28,29,30,31],"priority":3},{"dscps":[19],"priority":2}]])");
  EXPECT_EQ(agent_->show()["protection"]["evidence"][0], "from h0's neighbor");
  // All DSCPs of the class turn, a second turn is lossy, and other traffic is left alone.
  EXPECT_EQ(arrives(spine, kBehindSpine, 24, 3), (Seen{19, kEcn, 2}));
  EXPECT_EQ(arrives(spine, kBehindSpine, 19, 2), (Seen{0, kEcn, 0}));
  EXPECT_EQ(arrives(spine, kBehindSpine, 46, 5), (Seen{46, kEcn, 5}));
  // The last hop: a packet that turned before arrives as it was sent.
  ASSERT_TRUE(eventually([&] {
    return arrives(host, kServer, 19, 2) == Seen{26, kEcn, 3};
  })) << agent_->call("org.lldplevel.Rules").dump(1);
  EXPECT_EQ(arrives(host, kServer, 26, 3), (Seen{26, kEcn, 3}));
  EXPECT_EQ(arrives(host, kServer, 46, 5), (Seen{46, kEcn, 5}));
  // Both ends of each link know the same, by the leaf's word alone.
  EXPECT_TRUE(eventually([&] {
    return second_->show()["protection"]["chains"] == agent_->show()["protection"]["chains"];
  })) << second_->show().dump(1);
}
INSTANTIATE_TEST_SUITE_P(Dcbx, Learned, testing::Values(Dcbx::kIeee, Dcbx::kCee),
                         [](const auto& p) { return std::string(to_string(p.param)); });

// Such a host gets spares as they are, and whether it has PFC for them nothing shows on a veth:
// that is no OK.
TEST_P(Learned, HostWithAnAgentIsAnUnverifiedLastHop) {
  Ears host(server_);
  send(server_, lldp_of_nic(GetParam()));
  ASSERT_TRUE(eventually([&] { return arrives(host, kServer, 19, 2) == Seen{26, kEcn, 3}; }));
  ASSERT_TRUE(eventually([&] { return agent_->show()["protection"]["state"] == "active"; }))
      << agent_->show().dump(1);
  const Agent agent(server_, {"--role", "host", "--ports", "p0"});
  ASSERT_TRUE(eventually([&] { return arrives(host, kServer, 19, 2) == Seen{19, kEcn, 2}; }));
  ASSERT_TRUE(eventually([&] { return agent_->show()["protection"]["state"] == "partial"; }))
      << agent_->show().dump(1);
  const auto reasons = agent_->show()["protection"]["reasons"];
  ASSERT_EQ(reasons.size(), 1U) << reasons.dump(1);
  EXPECT_EQ(reasons[0]["port"], "h0");
  EXPECT_EQ(reasons[0]["state"], "unverified");
  EXPECT_THAT(reasons[0]["text"].get<std::string>(),
              testing::HasSubstr("last hop unverified: spare classes reach "));
  const TemporaryDirectory files;
  Process check(
      leaf_.inside({support::program("lldp-level"), "check", "--socket", agent_->socket()}),
      files.file("check"));
  EXPECT_EQ(check.wait(), 1) << check.output();
}

// To restore at a port to what has become a switch would bring a spare back into a class that
// others have left.
TEST_P(Learned, RestoringEndsWhereTheHostBecomesASwitch) {
  Ears host(server_);
  send(server_, lldp_of_nic(GetParam()));
  ASSERT_TRUE(eventually([&] { return arrives(host, kServer, 19, 2) == Seen{26, kEcn, 3}; }));
  const Agent turned(server_, {"--role", "switch", "--ports", "p0", "--qos.lossless", "auto"});
  // It stays a spare, or turns where the switch stands above by now; but never again is it
  // restored.
  const Seen restored{26, kEcn, 3};
  ASSERT_TRUE(eventually([&] { return arrives(host, kServer, 19, 2) != restored; }))
      << agent_->call("org.lldplevel.Rules").dump(1);
  ASSERT_TRUE(eventually([&] {
    const auto seen = arrives(host, kServer, 19, 2);
    EXPECT_NE(seen, restored);
    return agent_->port("h0")["order"] == "up" && seen == Seen{0, kEcn, 0};
  })) << agent_->call("org.lldplevel.Rules").dump(1);
}

}  // namespace
}  // namespace lldp::netns
