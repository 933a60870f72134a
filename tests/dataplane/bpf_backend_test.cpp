// SPDX-License-Identifier: Apache-2.0
// The bpf back end on real interfaces: the contract, and what is true of this back end alone.
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "dataplane/bpf/clsact.hpp"
#include "dataplane/bpf/pins.hpp"
#include "dataplane/bpf/tcx.hpp"
#include "dataplane/factory.hpp"
#include "tests/dataplane/contract.hpp"
#include "tests/dataplane/packet.hpp"
#include "tests/dataplane/private_net.hpp"
#include "tests/dataplane/probe.hpp"
#include "tests/dataplane/wire.hpp"

namespace {

/// A netlink request of this type fails, the n-th from now on; the kernel never sees it.
struct {
  int type = 0;
  int after = 0;
} refused;

}  // namespace

/// In the place of libc's.
extern "C" ssize_t send(int fd, const void* data, size_t size, int flags) {
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

namespace lldp::dataplane {
namespace {

using packet::frame4;
using packet::frame6;
using packet::readdressed;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Ports p0 and p1, fresh for every test.
class BpfWorld : public World {
 public:
  explicit BpfWorld(Options options) : options_(std::move(options)) {
    why_not_ = PrivateNet::enter();
    if (!why_not_.empty()) return;
    if (options_.bpffs.empty()) options_.bpffs = PrivateNet::bpffs();
    for (int n : {0, 1}) {
      sh("ip link del p" + std::to_string(n) + " 2>/dev/null");
      sh("ip link add p" + std::to_string(n) + " up type veth peer name q" + std::to_string(n));
    }
  }
  std::unique_ptr<Backend> open() override {
    if (!why_not_.empty()) return nullptr;
    auto backend = make_backend("bpf", options_);
    if (backend) return std::move(*backend);
    why_not_ = to_string(backend.error());
    return nullptr;
  }
  std::string why_not() const override { return why_not_; }
  Ifindex port(int n) override {
    return *Ifindex::make(::if_nametoindex(("p" + std::to_string(n)).c_str()));
  }
  const Options& options() const { return options_; }

 private:
  Options options_;
  std::string why_not_{};
};

struct ClsactWorld : BpfWorld {
  ClsactWorld() : BpfWorld({.bpffs = "", .hook = Options::Hook::kClsact}) {}
};
struct AutoWorld : BpfWorld {
  AutoWorld() : BpfWorld({.bpffs = ""}) {}
};
struct ClsactWithoutBpffsWorld : BpfWorld {
  ClsactWithoutBpffsWorld() : BpfWorld({.bpffs = "/nonexistent"}) {}
};
struct QueuesWorld : BpfWorld {
  QueuesWorld() : BpfWorld({.bpffs = "/nonexistent", .queues = true}) {
    // Somebody's own: the contract is that of a back end without queues.
    for (const char* port : {"p0", "p1"})
      if (why_not().empty()) sh("tc qdisc add dev " + std::string(port) + " root handle 1: pfifo");
  }
};
struct TcxWorld : BpfWorld {
  TcxWorld() : BpfWorld({.bpffs = "", .hook = Options::Hook::kTcx}) {}
};

INSTANTIATE_TEST_SUITE_P(Bpf, BackendContract,
                         testing::Values(world_case<AutoWorld>("Auto"),
                                         world_case<ClsactWorld>("Clsact"),
                                         world_case<ClsactWithoutBpffsWorld>("ClsactNoBpffs"),
                                         world_case<QueuesWorld>("OwnQdiscKept"),
                                         world_case<TcxWorld>("Tcx")),
                         [](const auto& c) { return c.param.name; });

using Tags = std::initializer_list<packet::Tag>;
/// Frames between the far ends of p0 and p1, as a bridge leaves them.
Bytes across4(const packet::Ipv4& h, Tags tags = {}) { return readdressed(frame4(h, tags), 4, 2); }
Bytes across6(const packet::Ipv6& h, Tags tags = {}) { return readdressed(frame6(h, tags), 4, 2); }

enum class Means { kAuto, kClsact, kClsactWithoutBpffs, kTcx };
std::ostream& operator<<(std::ostream& os, Means m) {
  switch (m) {
    case Means::kAuto:
      return os << "Auto";
    case Means::kClsact:
      return os << "Clsact";
    case Means::kClsactWithoutBpffs:
      return os << "ClsactNoBpffs";
    case Means::kTcx:
      return os << "Tcx";
  }
  return os;
}

Options::Hook hook_of(Means m) {
  return m == Means::kAuto  ? Options::Hook::kAuto
         : m == Means::kTcx ? Options::Hook::kTcx
                            : Options::Hook::kClsact;
}

/// The same on every hook: a switch with ports p0 and p1, whose wires are held by their other ends.
class BpfBackend : public testing::TestWithParam<Means> {
 protected:
  void SetUp() override {
    if (const std::string why = PrivateNet::enter(); !why.empty()) GTEST_SKIP() << why;
    for (const char* n : {"p0", "p1", "br0"}) sh("ip link del " + std::string(n) + " 2>/dev/null");
    // The switch's addresses end in 1 and 3, those of its neighbours in 2 and 4.
    ASSERT_TRUE(
        sh("ip link add p0 address 02:00:00:00:00:01 type veth peer name q0 address "
           "02:00:00:00:00:02 &&"
           "ip link add p1 address 02:00:00:00:00:03 type veth peer name q1 address "
           "02:00:00:00:00:04 &&"
           "for i in lo p0 q0 p1 q1; do ip link set $i up; done &&"
           "echo 1 >/proc/sys/net/ipv4/conf/all/forwarding &&"
           "echo 1 >/proc/sys/net/ipv6/conf/all/forwarding"));
    backend_ = open();
    ASSERT_TRUE(backend_);
    p0_ = *Ifindex::make(::if_nametoindex("p0"));
    p1_ = *Ifindex::make(::if_nametoindex("p1"));
  }
  static std::unique_ptr<Backend> open(Means means = GetParam()) {
    auto backend = make_backend(
        "bpf", {.bpffs = means == Means::kClsactWithoutBpffs ? "/nonexistent" : PrivateNet::bpffs(),
                .hook = hook_of(means)});
    EXPECT_TRUE(backend) << to_string(backend.error());
    return backend ? std::move(*backend) : nullptr;
  }
  void put(Ifindex port, const qos::Ruleset& rules) {
    const auto plan = backend_->plan(port, rules);
    ASSERT_TRUE(plan) << to_string(plan.error());
    const auto done = backend_->apply(*plan);
    ASSERT_TRUE(done) << to_string(done.error());
  }
  void put(Order p0, Order p1) {
    put(p0_, rules_of(p0));
    put(p1_, rules_of(p1));
  }
  void flush() {
    const std::vector<Ifindex> ports = *backend_->ports();
    for (Ifindex port : ports) {
      const auto plan = backend_->plan_removal(port);
      ASSERT_TRUE(plan) << to_string(plan.error());
      const auto done = backend_->apply(*plan);
      ASSERT_TRUE(done) << to_string(done.error());
    }
  }
  /// A router between the subnets of packet::ipv4 and packet::ipv6; `vlan`: behind VLAN interfaces.
  static void route(const std::string& vlan = "") {
    const std::string in = "p0" + vlan;
    const std::string out = "p1" + vlan;
    ASSERT_TRUE(sh("ip addr add 192.0.2.254/24 dev " + in +
                   " && ip addr add 198.51.100.254/24 dev " + out +
                   " && ip neigh replace 198.51.100.2 lladdr 02:00:00:00:00:04 dev " + out +
                   " && ip -6 route replace 3031:3233::/32 dev " + out +
                   " && ip -6 neigh replace 3031:3233:3435:3637:3839:3a3b:3c3d:3e3f lladdr "
                   "02:00:00:00:00:04 dev " +
                   out));
  }
  static void bridge() {
    ASSERT_TRUE(
        sh("ip link add br0 up type bridge && ip link set p0 master br0 && ip link set p1 master "
           "br0"));
  }
  /// The n-th request of this type is refused while this lives.
  struct Refusal {
    explicit Refusal(int type, int n = 1) { refused = {type, n}; }
    ~Refusal() { refused = {}; }
  };
  static std::string filters_of(const std::string& port) {
    return output_of("tc filter show dev " + port + " ingress; tc filter show dev " + port +
                     " egress");
  }
  /// What comes out at q1 of what goes in at q0.
  static std::optional<Bytes> through(const Bytes& frame) {
    const Wire in("q0");
    const Wire out("q1");
    EXPECT_TRUE(in.send(frame));
    return out.receive();
  }

  std::unique_ptr<Backend> backend_;
  Ifindex p0_{};
  Ifindex p1_{};
};
INSTANTIATE_TEST_SUITE_P(On, BpfBackend,
                         testing::Values(Means::kAuto, Means::kClsact, Means::kClsactWithoutBpffs,
                                         Means::kTcx),
                         testing::PrintToStringParamName());

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

TEST_P(BpfBackend, CountersGoOnAfterARestart) {
  bridge();
  put(Order::kUp, Order::kUp);
  through(across4({.dscp = 43}));
  backend_ = nullptr;
  through(across4({.dscp = 43}));  // nobody is there, and the rules are
  backend_ = open();
  EXPECT_TRUE(backend_->plan(p1_, rules_of(Order::kUp))->empty());
  EXPECT_EQ(through(across4({.dscp = 51})), across4({.dscp = 0}));
  put(p1_, rules_of(Order::kDown));
  put(p1_, rules_of(Order::kUp));
  through(across4({.dscp = 43}));
  EXPECT_EQ(backend_->bounces(p1_), (Bounces{0, 0, 0, 0, 0, 3, 1, 0}));
}

TEST_P(BpfBackend, NoPacketMissesARuleWhileProgramsAreReplaced) {
  bridge();
  const auto other =
      qos::compile(*qos::Policy::parse("5:dscp43,6:dscp51", "1:dscp8"), {.order = Order::kUp});
  put(Order::kUp, Order::kUp);
  std::atomic<bool> done = false;
  std::atomic<std::size_t> sent = 0;
  std::atomic<std::size_t> changed = 0;
  std::atomic<std::size_t> missed = 0;
  const Wire in("q0");
  const Wire out("q1");
  std::thread sender([&] {
    const Bytes frame = across4({.dscp = 43});
    while (!done)  // few enough on their way that no queue overflows
      if (sent - changed - missed < 200 && in.send(frame)) ++sent;
  });
  std::thread receiver([&] {
    const Bytes right = across4({.dscp = 51});
    while (const auto frame = out.receive(300)) ++(*frame == right ? changed : missed);
  });
  for (int i = 0; i < 40; ++i) {
    backend_ = nullptr;  // as a restart with another configuration
    backend_ = open();
    for (Ifindex p : {p0_, p1_}) put(p, i % 2 == 0 ? other : rules_of(Order::kUp));
  }
  done = true;
  sender.join();
  receiver.join();
  EXPECT_EQ(missed, 0U);
  EXPECT_EQ(changed, sent);
  EXPECT_GT(sent, 1000U);
}

TEST_P(BpfBackend, MovesBetweenHooksWithoutAGap) {
  bridge();
  put(Order::kUp, Order::kUp);
  for (Means next : {Means::kTcx, Means::kClsact, Means::kTcx}) {
    backend_ = nullptr;
    backend_ = open(next);
    ASSERT_THAT(*backend_->ports(), ElementsAre(p0_, p1_));
    // Seen before anything is changed, and once when both are there: not twice changed.
    EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51})) << next;
    put(Order::kUp, Order::kUp);
    EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51})) << next;
    EXPECT_TRUE(backend_->plan(p0_, rules_of(Order::kUp))->empty());
  }
  EXPECT_THAT(output_of("tc qdisc show dev p0; tc qdisc show dev p1"), Not(HasSubstr("clsact")));
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
    if (!link) GTEST_SKIP() << "this kernel has no TCX";
    EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51})) << flags;
  }
  probe__destroy(programs);
}

TEST_P(BpfBackend, StrangerThatIsFirstOnTcxComesAfterUs) {
  if (GetParam() != Means::kAuto && GetParam() != Means::kTcx)
    GTEST_SKIP() << "clsact comes after TCX, whoever is there";
  probe* programs = probe__open_and_load();
  ASSERT_NE(programs, nullptr);
  bridge();
  std::vector<UniqueFd> links;
  for (Ifindex port : {p0_, p1_})
    for (int hook : {46, 47})
      links.emplace_back(bpf_link_create(bpf_program__fd(programs->progs.last_word),
                                         static_cast<int>(port.value()),
                                         static_cast<bpf_attach_type>(hook), nullptr));
  if (!links.back()) GTEST_SKIP() << "this kernel has no TCX";
  put(Order::kUp, Order::kUp);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  EXPECT_THAT(filters_of("p0") + filters_of("p1"), IsEmpty());
  probe__destroy(programs);
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
    for (Part part : {Part::kIngress, Part::kEgress}) {
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

TEST_P(BpfBackend, FrameWithThreeTagsTurnsAndOneWithFourPasses) {
  bridge();
  put(Order::kUp, Order::kUp);
  EXPECT_EQ(through(across4({.dscp = 43}, {{0x88a8, 0xa064}, {0x8100, 0xb065}, {0x8100, 0x66}})),
            across4({.dscp = 51}, {{0x88a8, 0xc064}, {0x8100, 0xd065}, {0x8100, 0xc066}}));
  const Bytes four =
      across4({.dscp = 43}, {{0x88a8, 0xa064}, {0x8100, 1}, {0x8100, 2}, {0x8100, 3}});
  EXPECT_EQ(through(four), four);
}

/// The directory of this namespace in the BPF file system.
std::string own_directory(const std::string& bpffs = PrivateNet::bpffs()) {
  return bpffs + "/lldp-level/" + bpf::Namespace::current().name();
}

TEST_P(BpfBackend, DirectoryOfADeadNamespaceIsNotTaken) {
  if (GetParam() == Means::kClsactWithoutBpffs) GTEST_SKIP() << "nothing is pinned";
  const std::string file = std::to_string(bpf::Namespace::current().file);
  bridge();
  // What had our file's number before, and what a version left that knew of the number alone.
  for (const std::string& dead : {file + "-1", file}) {
    put(Order::kUp, Order::kUp);
    through(across4({.dscp = 43}));
    EXPECT_EQ(backend_->bounces(p1_)->at(5), 1U);
    backend_ = nullptr;
    const std::string path = PrivateNet::bpffs() + "/lldp-level/" + dead;
    ASSERT_TRUE(sh("mv " + own_directory() + " " + path));
    ASSERT_TRUE(sh("rm -f " + path +
                   "/port-*; for p in p0 p1; do tc qdisc del dev $p clsact "
                   "2>/dev/null; done; true"));  // its interfaces went with it
    backend_ = open();
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_THAT(*backend_->ports(), IsEmpty());
    put(Order::kUp, Order::kUp);
    EXPECT_EQ(backend_->bounces(p1_), Bounces{});
    flush();
  }
}

TEST_P(BpfBackend, DirectoriesOfOtherNamespacesAreLeftAlone) {
  if (GetParam() == Means::kClsactWithoutBpffs) GTEST_SKIP() << "nothing is pinned";
  const std::string file = std::to_string(bpf::Namespace::current().file);
  for (const std::string& other : {"1" + file + "-1", file + "1", std::string("other")})
    std::filesystem::create_directories(PrivateNet::bpffs() + "/lldp-level/" + other);
  backend_ = open();
  for (const std::string& other : {"1" + file + "-1", file + "1", std::string("other")})
    EXPECT_TRUE(std::filesystem::remove(PrivateNet::bpffs() + "/lldp-level/" + other)) << other;
  std::filesystem::remove(PrivateNet::bpffs() + "/lldp-level");
}

TEST_P(BpfBackend, InterfaceThatOutlivedItsNamespaceIsFoundWithItsPrograms) {
  if (GetParam() != Means::kTcx) GTEST_SKIP() << "filters are found by their names";
  bridge();
  put(Order::kUp, Order::kUp);
  backend_ = nullptr;
  const std::string file = std::to_string(bpf::Namespace::current().file);
  ASSERT_TRUE(sh("mv " + own_directory() + " " + PrivateNet::bpffs() + "/lldp-level/" + file));
  backend_ = open();
  EXPECT_THAT(*backend_->ports(), ElementsAre(p0_, p1_));
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  put(Order::kUp, Order::kDown);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 43}));
  flush();
  EXPECT_FALSE(std::filesystem::exists(PrivateNet::bpffs() + "/lldp-level"));
}

TEST_P(BpfBackend, RestartsWithOtherBpfFileSystemsWithoutAGap) {
  if (GetParam() == Means::kClsactWithoutBpffs) GTEST_SKIP() << "there is none to change";
  const std::string other = PrivateNet::bpffs() + "-other";
  std::filesystem::create_directory(other);
  ASSERT_EQ(::mount("bpf", other.c_str(), "bpf", 0, nullptr), 0);
  bridge();
  put(Order::kUp, Order::kUp);
  const auto other_rules =
      qos::compile(*qos::Policy::parse("5:dscp43,6:dscp51", "1:dscp8"), {.order = Order::kUp});
  for (Ifindex port : {p0_, p1_}) EXPECT_EQ(backend_->settle(port), backend_->settles());
  std::atomic<bool> done = false;
  std::atomic<std::size_t> sent = 0;
  std::atomic<std::size_t> changed = 0;
  std::atomic<std::size_t> missed = 0;
  const Wire in("q0");
  const Wire out("q1");
  std::thread sender([&] {
    const Bytes frame = across4({.dscp = 43});
    while (!done)  // few enough on their way that no queue overflows
      if (sent - changed - missed < 200 && in.send(frame)) ++sent;
  });
  std::thread receiver([&] {
    const Bytes right = across4({.dscp = 51});
    while (const auto frame = out.receive(300)) ++(*frame == right ? changed : missed);
  });
  const std::string own = PrivateNet::bpffs();
  const auto hook = hook_of(GetParam());
  for (const std::string& bpffs : {other, own, other, own}) {
    backend_ = nullptr;
    backend_ = std::move(*make_backend("bpf", {.bpffs = bpffs, .hook = hook}));
    EXPECT_THAT(*backend_->ports(), ElementsAre(p0_, p1_));
    EXPECT_TRUE(backend_->plan(p0_, rules_of(Order::kUp))->empty());
    EXPECT_TRUE(std::filesystem::exists(own_directory(bpffs)));
    EXPECT_FALSE(std::filesystem::exists((bpffs == own ? other : own) + "/lldp-level"));
    put(Order::kUp, Order::kUp);
    for (Ifindex port : {p0_, p1_}) put(port, other_rules);
    for (Ifindex port : {p0_, p1_}) put(port, rules_of(Order::kUp));
  }
  // None at all: what is kept elsewhere is used there.
  backend_ = nullptr;
  if (GetParam() != Means::kTcx) {
    backend_ = std::move(*make_backend("bpf", {.bpffs = "/nonexistent", .hook = hook}));
    EXPECT_TRUE(backend_->plan(p0_, rules_of(Order::kUp))->empty());
    EXPECT_TRUE(backend_->plan(p1_, rules_of(Order::kUp))->empty());
  } else {
    backend_ = open();
  }
  done = true;
  sender.join();
  receiver.join();
  EXPECT_GT(sent, 100U);
  EXPECT_EQ(missed, 0U);
  EXPECT_EQ(changed, sent);
  EXPECT_EQ(backend_->bounces(p1_)->at(5), changed);
  // What was kept elsewhere is at work no more: a change is the only one.
  put(Order::kUp, Order::kDown);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 43}));
  flush();
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 43}));
  EXPECT_FALSE(std::filesystem::exists(own + "/lldp-level"));
  ::umount2(other.c_str(), MNT_DETACH);
  std::filesystem::remove(other);
}

using BpfSettling = BpfBackend;
INSTANTIATE_TEST_SUITE_P(On, BpfSettling, testing::Values(Means::kAuto),
                         testing::PrintToStringParamName());

TEST_P(BpfSettling, RulesMoveToTcxWithoutAGapAndStayThere) {
  bridge();
  put(Order::kUp, Order::kUp);
  EXPECT_THAT(output_of("tc filter show dev p1 egress"), HasSubstr("lldp-level"));
  if (!backend_->settles()) GTEST_SKIP() << "this kernel has no TCX";
  EXPECT_EQ(backend_->settle(p0_), true);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  EXPECT_EQ(backend_->settle(p1_), true);
  EXPECT_EQ(backend_->settle(p1_), false);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  EXPECT_THAT(output_of("tc qdisc show dev p0; tc qdisc show dev p1"), Not(HasSubstr("clsact")));
  // Changes, also those of a later back end, are made where the rules are.
  backend_ = nullptr;
  backend_ = open();
  EXPECT_TRUE(backend_->plan(p0_, rules_of(Order::kUp))->empty());
  put(Order::kUp, Order::kDown);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 43}));
  put(Order::kUp, Order::kUp);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  EXPECT_THAT(output_of("tc filter show dev p0 ingress"), Not(HasSubstr("lldp-level")));
  flush();
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 43}));
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
  // One before us with our own favourite preference and handle, one after us, and one on TCX.
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

TEST_P(BpfBackend, FlushRemovesExactlyWhatWeMade) {
  ASSERT_TRUE(sh("tc qdisc add dev p0 clsact"));
  put(Order::kUp, Order::kUp);
  flush();
  EXPECT_THAT(*backend_->ports(), IsEmpty());
  EXPECT_THAT(output_of("tc qdisc show dev p0"), HasSubstr("clsact"));
  EXPECT_THAT(output_of("tc qdisc show dev p1"), Not(HasSubstr("clsact")));
  EXPECT_THAT(output_of("tc filter show dev p0 ingress; tc filter show dev p0 egress"), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(PrivateNet::bpffs() + "/lldp-level"));
}

TEST_P(BpfBackend, ClsactThatAStrangerCameToNeedStays) {
  if (GetParam() == Means::kTcx) GTEST_SKIP() << "no qdisc is made";
  put(Order::kUp, Order::kUp);
  ASSERT_TRUE(sh("tc filter add dev p1 egress prio 100 protocol all u32 match u32 0 0 flowid 1:7"));
  flush();
  EXPECT_THAT(output_of("tc filter show dev p1 egress"), HasSubstr("u32"));
  EXPECT_THAT(output_of("tc qdisc show dev p0"), Not(HasSubstr("clsact")));
}

TEST_P(BpfBackend, LinkOfADeletedInterfaceIsNoRuleOfTheNext) {
  bridge();
  put(Order::kUp, Order::kUp);
  backend_ = nullptr;
  ASSERT_TRUE(sh("ip link del p1 && ip link add p1 index " + std::to_string(p1_.value()) +
                 " address 02:00:00:00:00:03 up type veth peer name q1 address 02:00:00:00:00:04 "
                 "&& ip link set q1 up && ip link set p1 master br0"));
  ASSERT_EQ(::if_nametoindex("p1"), p1_.value());
  backend_ = open();
  EXPECT_THAT(
      backend_->plan(p1_, rules_of(Order::kUp))->changes,
      ElementsAre(Change{Action::kAdd, Part::kIngress}, Change{Action::kAdd, Part::kEgress}));
  put(Order::kUp, Order::kUp);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
}

TEST_P(BpfBackend, HalfFailedApplyLeavesABarePortBare) {
  if (GetParam() == Means::kTcx) GTEST_SKIP() << "rtnetlink has no part in it";
  const auto plan = backend_->plan(p1_, rules_of(Order::kUp));
  ASSERT_TRUE(plan);
  for (int n : {1, 2}) {  // the filter at ingress, and the one at egress
    const Refusal refusal(RTM_NEWTFILTER, n);
    const auto done = backend_->apply(*plan);
    ASSERT_FALSE(done);
    EXPECT_EQ(to_string(done.error()), std::string("p1: add ") + (n == 1 ? "classify" : "remap") +
                                           ": RTM_NEWTFILTER: Cannot allocate memory");
    EXPECT_THAT(filters_of("p1"), IsEmpty());
    EXPECT_THAT(output_of("tc qdisc show dev p1"), Not(HasSubstr("clsact")));
    EXPECT_EQ(backend_->plan(p1_, rules_of(Order::kUp))->changes, plan->changes);
  }
  put(p1_, rules_of(Order::kUp));
}

TEST_P(BpfBackend, VanishedPortLeavesNothingBehind) {
  put(Order::kUp, Order::kUp);
  ASSERT_TRUE(sh("ip link del p0"));
  backend_ = nullptr;
  backend_ = open();
  EXPECT_THAT(*backend_->ports(), ElementsAre(p1_));
  backend_->forget(p0_);
  EXPECT_THAT(*backend_->ports(), ElementsAre(p1_));
  flush();
  EXPECT_FALSE(std::filesystem::exists(PrivateNet::bpffs() + "/lldp-level"));
}

TEST_P(BpfBackend, OlderProgramsAreReplacedInPlace) {
  bridge();
  put(Order::kUp, Order::kUp);
  if (GetParam() == Means::kClsactWithoutBpffs) GTEST_SKIP() << "nothing is pinned";
  backend_ = nullptr;
  // As if pinned by a version with other code: its keys are unknown to us.
  ASSERT_TRUE(
      sh("cd " + PrivateNet::bpffs() + "/lldp-level/* && for f in *-in *-out; do mv $f 0$f; done"));
  backend_ = open();
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  EXPECT_EQ(backend_->plan(p1_, rules_of(Order::kUp))->changes.back(),
            (Change{Action::kReplace, Part::kEgress}));
  put(Order::kUp, Order::kUp);
  EXPECT_TRUE(backend_->plan(p1_, rules_of(Order::kUp))->empty());
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  EXPECT_EQ(backend_->bounces(p1_), (Bounces{0, 0, 0, 0, 0, 2, 0, 0}));
}

TEST_P(BpfBackend, InterfaceMovedToAnotherNamespaceAndBack) {
  bridge();
  put(Order::kUp, Order::kUp);
  // A process that lives there is the other namespace.
  ASSERT_TRUE(
      sh("unshare -n sleep 30 & echo $! >moved.pid; while [ $(readlink /proc/$!/ns/net) = "
         "$(readlink /proc/self/ns/net) ]; do sleep 0.01; done; ip link set p1 netns $!"));
  if (GetParam() != Means::kTcx) {  // a TCX link goes along, and may still be changed
    const auto refused = backend_->apply(
        {.port = p1_, .want = rules_of(Order::kUp), .changes = {{Action::kAdd, Part::kIngress}}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ENODEV);
  }
  // What the agent does when netlink tells that the interface is gone.
  if (const auto away = backend_->plan_removal(p1_); away && !away->empty()) {
    EXPECT_TRUE(backend_->apply(*away));
  }
  backend_->forget(p1_);
  EXPECT_THAT(*backend_->ports(), ElementsAre(p0_));

  ASSERT_TRUE(
      sh("nsenter -n -t $(cat moved.pid) ip link set p1 netns $$; kill $(cat moved.pid); "
         "rm moved.pid; ip link set p1 up; ip link set q1 up; ip link set p1 master br0"));
  p1_ = *Ifindex::make(::if_nametoindex("p1"));
  EXPECT_THAT(
      backend_->plan(p1_, rules_of(Order::kUp))->changes,
      ElementsAre(Change{Action::kAdd, Part::kIngress}, Change{Action::kAdd, Part::kEgress}));
  put(Order::kUp, Order::kUp);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  flush();
  EXPECT_THAT(output_of("tc qdisc show dev p1"), Not(HasSubstr("clsact")));
}

TEST_P(BpfBackend, HalfFailedApplyLeavesThePortAsItWas) {
  if (GetParam() == Means::kClsactWithoutBpffs)
    GTEST_SKIP() << "programs of another daemon cannot be had again where nothing is pinned";
  put(p1_, rules_of(Order::kUp));
  const std::string before =
      output_of("tc filter show dev p1 ingress; tc filter show dev p1 egress");
  // The third part, queues, is refused: a root qdisc appeared after the plan was made.
  auto queued = make_backend(
      "bpf",
      {.bpffs = GetParam() == Means::kClsactWithoutBpffs ? "/nonexistent" : PrivateNet::bpffs(),
       .hook = hook_of(GetParam()),
       .queues = true});
  ASSERT_TRUE(queued);
  const auto plan = (*queued)->plan(p1_, rules_of(Order::kDown));
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->changes.size(), 3U);
  ASSERT_TRUE(sh("tc qdisc add dev p1 root handle 1: pfifo"));
  const auto done = (*queued)->apply(*plan);
  ASSERT_FALSE(done);
  EXPECT_THAT(to_string(done.error()), testing::StartsWith("p1: add queues: RTM_NEWQDISC: "));
  EXPECT_TRUE((*queued)->plan(p1_, rules_of(Order::kUp))->empty());
  EXPECT_EQ(output_of("tc filter show dev p1 ingress; tc filter show dev p1 egress"), before);
  EXPECT_THAT(output_of("tc qdisc show dev p1"), HasSubstr("pfifo 1: root"));
}

/// The numbers of packets that HTB's classes on p1 have sent, by minor number, but for those at 0.
std::string sent_by_class() {
  return output_of(
      "tc -s class show dev p1 | "
      "awk '/^class htb/ {c = $3} / Sent / && $4 > 0 {printf \"%s %s,\", c, $4}'");
}

class BpfQueues : public BpfBackend {
 protected:
  static std::unique_ptr<Backend> open_queued(bool queues = true) {
    auto backend = make_backend("bpf", {.bpffs = "/nonexistent", .queues = queues});
    EXPECT_TRUE(backend) << to_string(backend.error());
    return backend ? std::move(*backend) : nullptr;
  }
};
INSTANTIATE_TEST_SUITE_P(On, BpfQueues, testing::Values(Means::kClsactWithoutBpffs),
                         testing::PrintToStringParamName());

TEST_P(BpfQueues, PrioritiesAreCountedApart) {
  bridge();
  backend_ = open_queued();
  put(Order::kUp, Order::kUp);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(through(across4({.dscp = 43})));  // leaves with 6
  EXPECT_TRUE(through(across4({.dscp = 51})));                              // lossy
  put(Order::kDown, Order::kUp);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(through(across4({.dscp = 43})));
  EXPECT_THAT(sent_by_class(), HasSubstr("4c4c:16 3,"));
  EXPECT_THAT(sent_by_class(), HasSubstr("4c4c:15 2,"));
  EXPECT_THAT(sent_by_class(), HasSubstr("4c4c:1f "));
}

TEST_P(BpfQueues, AreMadeOnceFoundAgainAndTakenAway) {
  const std::string before = output_of("tc qdisc show dev p1");
  backend_ = open_queued();
  EXPECT_EQ(backend_->plan(p1_, rules_of(Order::kUp))->changes.back(),
            (Change{Action::kAdd, Part::kQueues}));
  put(Order::kUp, Order::kUp);
  EXPECT_TRUE(backend_->plan(p1_, rules_of(Order::kUp))->empty());
  backend_ = open_queued();
  EXPECT_TRUE(backend_->plan(p1_, rules_of(Order::kUp))->empty());
  const auto other =
      qos::compile(*qos::Policy::parse("3:dscp26", "0:dscp0"), {.order = Order::kUp});
  put(p1_, other);
  EXPECT_TRUE(backend_->plan(p1_, other)->empty());
  EXPECT_THAT(output_of("tc class show dev p1"),
              AllOf(HasSubstr("4c4c:13 "), Not(HasSubstr("4c4c:15 "))));
  // Without its filter the tree is not whole.
  ASSERT_TRUE(sh("tc filter del dev p1 parent 4c4c:"));
  EXPECT_THAT(backend_->plan(p1_, other)->changes,
              ElementsAre(Change{Action::kReplace, Part::kQueues}));
  put(p1_, other);
  flush();
  EXPECT_EQ(output_of("tc qdisc show dev p1"), before);
}

TEST_P(BpfQueues, GoWhenNoLongerAskedFor) {
  backend_ = open_queued();
  put(Order::kUp, Order::kUp);
  backend_ = open_queued(false);
  EXPECT_THAT(backend_->plan(p1_, rules_of(Order::kUp))->changes,
              Contains(Change{Action::kRemove, Part::kQueues}));
  put(Order::kUp, Order::kUp);
  EXPECT_THAT(output_of("tc qdisc show dev p1"), Not(HasSubstr("htb")));
}

TEST_P(BpfQueues, HalfFailedApplyLeavesABarePortBare) {
  const std::string before = output_of("tc qdisc show dev p1");
  backend_ = open_queued();
  const auto plan = backend_->plan(p1_, rules_of(Order::kUp));
  ASSERT_TRUE(plan);
  for (int type : {RTM_NEWTCLASS, RTM_NEWTFILTER}) {
    const Refusal refusal(type, type == RTM_NEWTCLASS ? 2 : 3);  // the third filter is the tree's
    const auto done = backend_->apply(*plan);
    ASSERT_FALSE(done);
    EXPECT_THAT(to_string(done.error()), testing::StartsWith("p1: add queues: "));
    EXPECT_EQ(output_of("tc qdisc show dev p1"), before);
    EXPECT_THAT(filters_of("p1"), IsEmpty());
  }
}

TEST_P(BpfQueues, RoutedPacketsLeaveInTheQueueOfTheirClass) {
  route();
  backend_ = open_queued();
  for (Order out : {Order::kDown, Order::kUnknown}) {
    backend_ = open_queued(false);
    put(p1_, rules_of(out));
    backend_ = open_queued();
    put(Order::kDown, out);
    // q1 is of the same router, which would send them round until their time is up.
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(through(frame4({.dscp = 43, .ttl = 2})));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(through(frame4({.dscp = 51, .ttl = 2})));
    // AF12, AF42, VOICE-ADMIT, NQB: forwarding takes their TOS for an interactive one's, 6.
    for (unsigned dscp : {12U, 36U, 44U, 45U})
      EXPECT_TRUE(through(frame4({.dscp = dscp, .ttl = 2})));
    EXPECT_THAT(sent_by_class(), HasSubstr("4c4c:15 5,")) << to_string(out);
    EXPECT_THAT(sent_by_class(), HasSubstr("4c4c:16 3,")) << to_string(out);
  }
}

TEST_P(BpfQueues, QdiscOfAnotherStays) {
  ASSERT_TRUE(sh("tc qdisc add dev p1 root handle 1: htb default 10"));
  backend_ = open_queued();
  put(Order::kUp, Order::kUp);
  EXPECT_THAT(output_of("tc qdisc show dev p1"), HasSubstr("htb 1: root"));
  EXPECT_THAT(backend_->description(),
              HasSubstr("htb queues except where a qdisc was configured (1 ports)"));
  flush();
  EXPECT_THAT(output_of("tc qdisc show dev p1"), HasSubstr("htb 1: root"));
}

TEST(BpfErrors, IngressQdiscInOurPlace) {
  if (const std::string why = PrivateNet::enter(); !why.empty()) GTEST_SKIP() << why;
  sh("ip link del p0 2>/dev/null");
  ASSERT_TRUE(sh("ip link add p0 type veth peer name q0 && tc qdisc add dev p0 ingress"));
  const auto port = *Ifindex::make(::if_nametoindex("p0"));
  auto backend = make_backend("bpf", {.bpffs = "/nonexistent"});
  ASSERT_TRUE(backend);
  const auto done = (*backend)->apply(*(*backend)->plan(port, rules_of(Order::kUp)));
  ASSERT_FALSE(done);
  EXPECT_EQ(to_string(done.error()),
            "p0: add classify: an ingress qdisc takes the place of clsact, which does the same and "
            "more: delete it, or leave the port out of `ports`");
  EXPECT_THAT(output_of("tc filter show dev p0 ingress"), IsEmpty());
  EXPECT_THAT(output_of("tc qdisc show dev p0"), HasSubstr("ingress"));
}

TEST(BpfErrors, TcxWithoutBpffs) {
  if (const std::string why = PrivateNet::enter(); !why.empty()) GTEST_SKIP() << why;
  const auto backend = make_backend("bpf", {.bpffs = "/nonexistent", .hook = Options::Hook::kTcx});
  ASSERT_FALSE(backend);
  EXPECT_EQ(to_string(backend.error()),
            "backend bpf: TCX needs Linux 6.6 and a BPF file system at /nonexistent that we may "
            "write: mount it, or use clsact");
}

TEST(BpfErrors, NoRightToLoadPrograms) {
  if (const std::string why = PrivateNet::enter(); !why.empty()) GTEST_SKIP() << why;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setresuid(65534, 65534, 65534) != 0) ::_exit(2);
    auto backend = make_backend("bpf", {.bpffs = "/nonexistent"});
    const qos::Ruleset rules[] = {rules_of(Order::kUp)};
    const auto done = backend ? (*backend)->prepare(rules) : fail(backend.error());
    const bool right =
        !done && to_string(done.error()) ==
                     "backend bpf: BPF_MAP_CREATE: Operation not permitted: run with CAP_BPF, "
                     "CAP_NET_ADMIN and CAP_PERFMON, or choose another backend";
    if (!right && !done) std::puts(to_string(done.error()).c_str());
    std::fflush(stdout);
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace lldp::dataplane
