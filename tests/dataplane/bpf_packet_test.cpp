// SPDX-License-Identifier: Apache-2.0
// What the rules make of packets that are bridged and routed, whatever others do to them.
#include <linux/if_packet.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "dataplane/bpf/clsact.hpp"
#include "dataplane/bpf/pins.hpp"
#include "dataplane/bpf/tcx.hpp"
#include "tests/dataplane/bpf_fixture.hpp"
#include "tests/dataplane/probe.hpp"

namespace lldp::dataplane {
namespace {

using packet::frame4;
using packet::frame6;
using packet::readdressed;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST_P(BpfBackend, RoutedPacketBouncesOnlyFromUpToUp) {
  route();
  const Bytes v4 = frame4({.dscp = 43, .ecn = 1});
  const Bytes v6 = frame6({.dscp = 43, .ecn = 2});
  const auto routed4 = [](unsigned dscp) {
    return readdressed(frame4({.dscp = dscp, .ecn = 1, .ttl = 63}), 4, 3);
  };
  const auto routed6 = [](unsigned dscp) {
    return readdressed(frame6({.dscp = dscp, .ecn = 2, .hops = 63}), 4, 3);
  };
  for (Order in : {Order::kUp, Order::kDown, Order::kUnknown}) {
    for (Order out : {Order::kUp, Order::kDown, Order::kUnknown}) {
      put(in, out);
      const bool bounces = in == Order::kUp && out == Order::kUp;
      EXPECT_EQ(through(v4), routed4(bounces ? 51 : 43)) << to_string(in) << to_string(out);
      EXPECT_EQ(through(v6), routed6(bounces ? 51 : 43)) << to_string(in) << to_string(out);
    }
  }
  EXPECT_EQ(backend_->bounces(p1_), (Bounces{0, 0, 0, 0, 0, 2, 0, 0}));
  EXPECT_EQ(backend_->bounces(p0_), Bounces{});
}

TEST_P(BpfBackend, BridgedPacketBouncesWithItsTag) {
  bridge();
  put(Order::kUp, Order::kUp);
  EXPECT_EQ(through(across4({.dscp = 43, .ecn = 3})), across4({.dscp = 51, .ecn = 3}));
  EXPECT_EQ(through(across6({.dscp = 51})), across6({.dscp = 0}));
  EXPECT_EQ(through(across4({.dscp = 43}, {{0x8100, 0xa064}})),
            across4({.dscp = 51}, {{0x8100, 0xc064}}));
  EXPECT_EQ(through(across4({.dscp = 43}, {{0x88a8, 0xa064}, {0x8100, 0xb065}})),
            across4({.dscp = 51}, {{0x88a8, 0xc064}, {0x8100, 0xd065}}));
  const Bytes other = across4({.dscp = 46}, {{0x8100, 0xa064}});
  EXPECT_EQ(through(other), other);
}

TEST_P(BpfBackend, PacketRoutedBetweenVlansBouncesOnThePortBelow) {
  if (!sh("ip link add link p0 name p0.10 up type vlan id 10 && ip link add link p1 name p1.10 up "
          "type vlan id 10"))
    GTEST_SKIP() << "this kernel has no VLAN interfaces";
  route(".10");
  put(Order::kUp, Order::kUp);
  EXPECT_EQ(through(frame4({.dscp = 43}, {{0x8100, 10}})),
            readdressed(frame4({.dscp = 51, .ttl = 63}, {{0x8100, 0xc00a}}), 4, 3));
}

TEST_P(BpfBackend, VlanInterfacesOfUnknownOrderTakeNoProtectionOff) {
  if (!sh("ip link add link p0 name p0.10 up type vlan id 10 && ip link add link p1 name p1.10 up "
          "type vlan id 10"))
    GTEST_SKIP() << "this kernel has no VLAN interfaces";
  route(".10");
  put(Order::kUp, Order::kUp);
  for (const char* vlan : {"p0.10", "p1.10"})
    put(*Ifindex::make(::if_nametoindex(vlan)), qos::compile(qos::Policy(), {.stacked = true}));
  EXPECT_EQ(through(frame4({.dscp = 43}, {{0x8100, 10}})),
            readdressed(frame4({.dscp = 51, .ttl = 63}, {{0x8100, 0xc00a}}), 4, 3));
}

/// The kernel gives a datagram of IPv6 that it cuts a number of its own.
Bytes without_id(Bytes f) {
  constexpr std::size_t kHeader = 14 + 40;
  if (f[12] == 0x86 && f[14 + 6] == 44) std::fill_n(f.begin() + kHeader + 4, 4, std::uint8_t{0});
  return f;
}
/// What comes out at q1 of two fragments of a datagram that go in at q0.
std::array<std::optional<Bytes>, 2> both_through(const Bytes& first, const Bytes& later) {
  const Wire in("q0");
  const Wire out("q1");
  EXPECT_TRUE(in.send(first) && in.send(later));
  std::array<std::optional<Bytes>, 2> got;
  for (auto& one : got)
    if (one = out.receive(); one) one = without_id(*one);
  return got;
}

// Of different classes, so that the second one's is seen. On their own each turns in its own.
TEST_P(BpfBackend, RoutedPacketFragmentsLeaveLossyOnceTheKernelJoinsThem) {
  const auto v4 = [](unsigned dscp, bool later, unsigned ttl) {
    return frame4({.dscp = dscp, .ttl = ttl, .fragment = later ? 3U : 0x2000U, .payload = 24});
  };
  const auto v6 = [](unsigned dscp, bool later, unsigned hops) {
    return packet::frame(
        0x86dd, packet::fragment6({.dscp = dscp, .hops = hops},
                                  {.offset = later ? 16U : 0U, .more = !later, .data = 16}));
  };
  const auto pair = [](const auto& make, unsigned first, unsigned later) {
    return testing::ElementsAre(without_id(readdressed(make(first, false, 63), 4, 3)),
                                without_id(readdressed(make(later, true, 63), 4, 3)));
  };
  // What comes out at q1 is not routed back.
  if (!sh("nft 'add table inet d; add chain inet d c { type filter hook prerouting priority -450; "
          "}; "
          "add rule inet d c iif q1 drop' 2>/dev/null"))
    GTEST_SKIP() << "this kernel has no nftables";
  route();
  put(Order::kUp, Order::kUp);
  EXPECT_THAT(both_through(v4(43, false, 64), v4(51, true, 64)), pair(v4, 51, 0));
  EXPECT_THAT(both_through(v6(43, false, 64), v6(51, true, 64)), pair(v6, 51, 0));
  if (!sh("nft 'add table inet t; add chain inet t c { type filter hook prerouting priority 0; }; "
          "add rule inet t c ct state new counter' 2>/dev/null"))
    GTEST_SKIP() << "this kernel follows no connections";
  EXPECT_THAT(both_through(v4(43, false, 64), v4(51, true, 64)), pair(v4, 51, 0))
      << "the very first";
  EXPECT_THAT(both_through(v4(51, false, 64), v4(43, true, 64)), pair(v4, 0, 0));
  EXPECT_THAT(both_through(v6(43, false, 64), v6(43, true, 64)), pair(v6, 0, 0));
  EXPECT_THAT(backend_->description(),
              HasSubstr("the kernel joins or cuts them anew (3 since the start)"));
  // A last one of so few octets finds room where the header of a fragment was.
  const Bytes last = packet::frame(0x86dd, packet::fragment6({.dscp = 51}, {.offset = 16}));
  Bytes whole = packet::frame(0x86dd, packet::ipv6({.hops = 63}));
  whole.resize(14 + 40 + 24, 0x5a);
  whole[14 + 5] = 24;
  EXPECT_THAT(both_through(v6(43, false, 64), last),
              testing::ElementsAre(readdressed(whole, 4, 3), std::nullopt));
  put(p1_, rules_of(Order::kDown));
  EXPECT_THAT(both_through(v4(43, false, 64), v4(51, true, 64)), pair(v4, 0, 0));
  EXPECT_EQ(through(frame4({.dscp = 43})), readdressed(frame4({.dscp = 43, .ttl = 63}), 4, 3));
  ASSERT_TRUE(sh("nft delete table inet t"));
  EXPECT_THAT(both_through(v4(43, false, 64), v4(51, true, 64)), pair(v4, 0, 51))
      << "the first one yet";
  backend_ = open();
  EXPECT_THAT(both_through(v4(43, false, 64), v4(51, true, 64)), pair(v4, 43, 51));
  ASSERT_TRUE(sh("nft delete table inet d"));
}

// What this switch cuts itself came in whole: it keeps its mark.
TEST_P(BpfBackend, RoutedPacketThatIsCutHereTurnsWhole) {
  route();
  put(Order::kUp, Order::kUp);
  ASSERT_TRUE(sh("ip link set p1 mtu 576"));
  const auto whole = [](unsigned dscp) {
    return frame4({.dscp = dscp, .fragment = 0, .payload = 800});
  };
  const Wire in("q0");
  const Wire out("q1");
  ASSERT_TRUE(in.send(whole(43)));
  for (const unsigned fragment : {0x2000U, 552U / 8})
    EXPECT_EQ(out.receive(), readdressed(frame4({.dscp = 51,
                                                 .ttl = 63,
                                                 .fragment = fragment,
                                                 .payload = fragment == 0x2000 ? 552U : 248U}),
                                         4, 3));
  ASSERT_TRUE(sh("ip link set p1 mtu 1500"));
}

TEST_P(BpfBackend, OwnPacketsOfTheSwitchAreLeftAlone) {
  route();
  put(Order::kUp, Order::kUp);
  const Wire out("q1");
  const UniqueFd udp(::socket(AF_INET, SOCK_DGRAM, 0));
  const int tos = 43 << 2;
  ASSERT_EQ(::setsockopt(udp.get(), IPPROTO_IP, IP_TOS, &tos, sizeof tos), 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(4791);
  to.sin_addr.s_addr = htonl(0xc6336402);  // 198.51.100.2
  ASSERT_EQ(::sendto(udp.get(), "x", 1, 0, reinterpret_cast<sockaddr*>(&to), sizeof to), 1);
  const auto frame = out.receive();
  ASSERT_TRUE(frame);
  EXPECT_EQ((*frame)[15], 43 << 2);
  EXPECT_EQ(backend_->bounces(p1_), Bounces{});
}

/// Filters of others at the ingress of p0 after which the kernel has forgotten our mark, or takes
/// another for it.
struct Stranger {
  const char* name = "";
  std::string command{};
  friend void PrintTo(const Stranger& s, std::ostream* os) { *os << s.name; }
};
const Stranger kStrangers[] = {
    {"BehindUs", "tc filter add dev p0 ingress prio 100 protocol all u32 match u32 0 0 flowid 1:7"},
    {"BehindUsWithOurMark",
     "tc filter add dev p0 ingress prio 100 protocol all u32 match u32 0 0 flowid 1:b001"},
    {"BehindUsWithTheWholeMark",
     "tc filter add dev p0 ingress prio 100 protocol all u32 match u32 0 0 flowid 1:b341"},
    {"BehindUsBpf", "tc filter add dev p0 ingress prio 100 bpf da pinned $LAST_WORD"},
    {"BeforeUs", "tc filter add dev p0 ingress prio 1 protocol all u32 match u32 0 0 flowid 1:7"},
};

TEST_P(BpfBackend, PacketTurnsWhateverStrangersDoToOurMark) {
  probe* programs = probe__open_and_load();
  ASSERT_NE(programs, nullptr);
  const std::string pin = PrivateNet::bpffs() + "/last_word";
  ASSERT_EQ(bpf_obj_pin(bpf_program__fd(programs->progs.last_word), pin.c_str()), 0);
  ::setenv("LAST_WORD", pin.c_str(), 1);
  route();
  sh("tc qdisc add dev p0 clsact");
  for (const Stranger& stranger : kStrangers) {
    put(Order::kUp, Order::kUp);
    ASSERT_TRUE(sh(stranger.command)) << stranger.name;
    EXPECT_EQ(through(frame4({.dscp = 43})), readdressed(frame4({.dscp = 51, .ttl = 63}), 4, 3))
        << stranger.name;
    EXPECT_EQ(through(frame6({.dscp = 43})), readdressed(frame6({.dscp = 51, .hops = 63}), 4, 3))
        << stranger.name;
    put(p0_, rules_of(Order::kDown));
    EXPECT_EQ(through(frame4({.dscp = 43})), readdressed(frame4({.dscp = 43, .ttl = 63}), 4, 3))
        << stranger.name;
    ASSERT_TRUE(
        sh("tc filter del dev p0 ingress prio 100 2>/dev/null || tc filter del dev p0 "
           "ingress prio 1"));
  }
  EXPECT_EQ(backend_->bounces(p1_)->at(5), 2 * std::size(kStrangers));
  std::filesystem::remove(pin);
  probe__destroy(programs);
}

/// On TCX the first who says OK has the last word: before us, and after us.
TEST_P(BpfBackend, PacketTurnsWhateverStrangersOnTcxDoToOurMark) {
  if (!bpf::has_tcx()) GTEST_SKIP() << "this kernel has no TCX";
  probe* programs = probe__open_and_load();
  ASSERT_NE(programs, nullptr);
  bridge();
  put(Order::kUp, Order::kUp);
  for (std::uint32_t flags : {1U << 3, 1U << 4}) {  // BPF_F_BEFORE, BPF_F_AFTER
    LIBBPF_OPTS(bpf_link_create_opts, options);
    options.flags = flags;
    const UniqueFd link(bpf_link_create(bpf_program__fd(programs->progs.last_word),
                                        static_cast<int>(p0_.value()),
                                        static_cast<bpf_attach_type>(46), &options));
    EXPECT_TRUE(link);
    EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51})) << flags;
  }
  probe__destroy(programs);
}

TEST_P(BpfBackend, StrangerThatIsFirstOnTcxComesAfterUs) {
  if (GetParam() != Means::kAuto && GetParam() != Means::kTcx)
    GTEST_SKIP() << "clsact comes after TCX, whoever is there";
  if (!bpf::has_tcx()) GTEST_SKIP() << "this kernel has no TCX";
  probe* programs = probe__open_and_load();
  ASSERT_NE(programs, nullptr);
  bridge();
  std::vector<UniqueFd> links;
  for (Ifindex port : {p0_, p1_})
    for (int hook : {46, 47})
      links.emplace_back(bpf_link_create(bpf_program__fd(programs->progs.last_word),
                                         static_cast<int>(port.value()),
                                         static_cast<bpf_attach_type>(hook), nullptr));
  EXPECT_TRUE(links.back());
  put(Order::kUp, Order::kUp);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  EXPECT_THAT(filters_of("p0") + filters_of("p1"), IsEmpty());
  probe__destroy(programs);
}

TEST_P(BpfBackend, WhereClsactHasNoPlaceTcxHas) {
  if (GetParam() != Means::kAuto) GTEST_SKIP() << "who names a hook means it";
  if (!bpf::has_tcx()) GTEST_SKIP() << "this kernel has no TCX";
  bridge();
  for (const std::string theirs : {"ingress", "ingress_block 7 egress_block 8 clsact"}) {
    const std::string kind = theirs.substr(theirs.rfind(' ') + 1);
    for (const char* port : {"p0", "p1"})
      ASSERT_TRUE(sh(std::string("tc qdisc add dev ") + port + " " + theirs));
    put(Order::kUp, Order::kUp);
    EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51})) << theirs;
    backend_ = open();
    for (const Ifindex port : {p0_, p1_}) {
      const auto reading = backend_->verify(ref(port), rules_of(Order::kUp));
      ASSERT_TRUE(reading);
      EXPECT_TRUE(reading->mend.empty());
      for (const PartReading& part : reading->parts)
        EXPECT_EQ(part.state, PartState::kDone) << theirs << ": " << part.text;
    }
    flush();
    EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 43}));
    for (const char* port : {"p0", "p1"}) {
      EXPECT_THAT(output_of(std::string("tc qdisc show dev ") + port), HasSubstr(kind));
      ASSERT_TRUE(sh(std::string("tc qdisc del dev ") + port + " " + kind));
    }
  }
}

TEST_P(BpfBackend, TwoOfOurProgramsTurnAPacketOnce) {
  if (GetParam() != Means::kTcx) GTEST_SKIP() << "the same for all";
  bridge();
  bpf::Programs programs(bpf::Pins::open(PrivateNet::bpffs()));
  bpf::Clsact clsact(*TcSocket::open(), programs);
  bpf::Tcx tcx(programs);
  const bpf::Programs::Loaded& up = **programs.get(rules_of(Order::kUp));
  for (Ifindex port : {p0_, p1_}) {
    ASSERT_TRUE(programs.need_place(port));
    programs.set_tag(port, qos::Tag::of<1>());
    for (Part part : {Part::kClassify, Part::kRemap}) {
      ASSERT_TRUE(clsact.put(port, part, up));
      ASSERT_TRUE(tcx.put(port, part, up));
    }
  }
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  EXPECT_EQ(programs.bounces(p1_), (Bounces{0, 0, 0, 0, 0, 1, 0, 0}));
}

/// A frame that a driver left outside the linear data but for its Ethernet header: what a
/// PACKET_TX_RING makes.
bool send_in_pieces(const char* interface, const Bytes& frame) {
  const UniqueFd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  const int version = TPACKET_V2;
  constexpr unsigned kPage = 4096;
  constexpr std::size_t kData = (sizeof(tpacket2_hdr) + 15) / 16 * 16;  // TPACKET_ALIGN
  tpacket_req ring{
      .tp_block_size = kPage, .tp_block_nr = 1, .tp_frame_size = 2048, .tp_frame_nr = 2};
  if (::setsockopt(fd.get(), SOL_PACKET, PACKET_VERSION, &version, sizeof version) != 0 ||
      ::setsockopt(fd.get(), SOL_PACKET, PACKET_TX_RING, &ring, sizeof ring) != 0)
    return false;
  void* memory = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return false;
  auto* header = static_cast<tpacket2_hdr*>(memory);
  std::memcpy(static_cast<std::uint8_t*>(memory) + kData, frame.data(), frame.size());
  header->tp_len = static_cast<__u32>(frame.size());
  header->tp_status = TP_STATUS_SEND_REQUEST;
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_protocol = htons(ETH_P_ALL);
  to.sll_ifindex = static_cast<int>(::if_nametoindex(interface));
  const bool sent = ::sendto(fd.get(), nullptr, 0, 0, reinterpret_cast<sockaddr*>(&to),
                             sizeof to) == static_cast<ssize_t>(frame.size());
  ::munmap(memory, kPage);
  return sent;
}

TEST_P(BpfBackend, ShortPacketInPiecesTurnsToo) {
  bridge();
  put(Order::kUp, Order::kUp);
  const Wire out("q1");
  Bytes frame = across4({.dscp = 43});
  Bytes turned = across4({.dscp = 51});
  ASSERT_LT(frame.size(), 62U);  // two tags and IPv6: all that is ever needed in one piece
  ASSERT_TRUE(send_in_pieces("q0", frame));
  EXPECT_EQ(out.receive(), turned);
}

// All that is ever needed in one piece: IPv6 behind two tags, the outermost being in the metadata.
TEST_P(BpfBackend, LongestHeadersInPiecesTurnToo) {
  bridge();
  put(Order::kUp, Order::kUp);
  const Wire out("q1");
  ASSERT_TRUE(send_in_pieces(
      "q0", across6({.dscp = 43}, {{0x88a8, 0xa064}, {0x8100, 0xb065}, {0x8100, 0xa066}})));
  EXPECT_EQ(out.receive(),
            across6({.dscp = 51}, {{0x88a8, 0xc064}, {0x8100, 0xd065}, {0x8100, 0xc066}}));
}

TEST_P(BpfBackend, FrameWithThreeTagsTurnsAndOneWithFourPasses) {
  bridge();
  put(Order::kUp, Order::kUp);
  EXPECT_EQ(through(across4({.dscp = 43}, {{0x88a8, 0xa064}, {0x8100, 0xb065}, {0x8100, 0x66}})),
            across4({.dscp = 51}, {{0x88a8, 0xc064}, {0x8100, 0xd065}, {0x8100, 0xc066}}));
  const Bytes four =
      across4({.dscp = 43}, {{0x88a8, 0xa064}, {0x8100, 1}, {0x8100, 2}, {0x8100, 3}});
  EXPECT_EQ(through(four), four);
}

TEST_P(BpfBackend, StrangersOnTheSameHookKeepWorkingAndStay) {
  probe* strangers = probe__open_and_load();
  ASSERT_NE(strangers, nullptr);
  const int program = bpf_program__fd(strangers->progs.stranger);
  const auto seen = [&] {
    const std::uint32_t zero = 0;
    std::uint64_t n = 0;
    bpf_map_lookup_elem(bpf_map__fd(strangers->maps.seen), &zero, &n);
    return n;
  };
  const std::string pin = PrivateNet::bpffs() + "/stranger";
  ASSERT_EQ(bpf_obj_pin(program, pin.c_str()), 0);
  bridge();
  // One before us with our own favorite preference and handle, one after us, and one on TCX.
  ASSERT_TRUE(sh(
      "tc qdisc add dev p1 clsact && tc filter add dev p1 egress prio 5 handle 1 bpf da pinned " +
      pin + " && tc filter add dev p1 egress prio 100 bpf da pinned " + pin));
  const UniqueFd link(bpf_link_create(program, static_cast<int>(p1_.value()),
                                      static_cast<bpf_attach_type>(47), nullptr));
  const std::string before = output_of("tc filter show dev p1 egress | grep -c stranger");
  put(Order::kUp, Order::kUp);
  const std::uint64_t base = seen();
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  EXPECT_GE(seen(), base + (link ? 3 : 2));
  flush();
  EXPECT_EQ(output_of("tc filter show dev p1 egress | grep -c stranger"), before);
  EXPECT_THAT(output_of("tc filter show dev p1 egress"), Not(HasSubstr("lldp-level")));
  const std::uint64_t after = seen();
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 43}));
  EXPECT_GE(seen(), after + (link ? 3 : 2));
  std::filesystem::remove(pin);
  probe__destroy(strangers);
}

}  // namespace
}  // namespace lldp::dataplane
