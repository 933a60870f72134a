// SPDX-License-Identifier: Apache-2.0
// `transport`: beside a real lldpd, in namespaces of the test's own.
#include "tests/netns/lldpd.hpp"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "os/fd.hpp"
#include "tests/netns/support.hpp"
#include "tlv/lldpdu.hpp"

namespace lldp::netns {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

/// Every LLDP frame that comes to the ports of a namespace.
class Wiretap {
 public:
  explicit Wiretap(const Namespace& space) {
    const Inside here(space);
    fd_ = UniqueFd(
        ::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(tlv::kEtherType)));
    const int size = 8 << 20;
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
  }
  /// Who was heard since the last call: per interface the MSAPs of all frames but shutdowns.
  std::map<int, std::set<std::string>> agents() {
    std::map<int, std::set<std::string>> out;
    std::array<std::uint8_t, 2000> frame{};
    sockaddr_ll from{};
    for (socklen_t size = sizeof from;; size = sizeof from) {
      const ssize_t n = ::recvfrom(fd_.get(), frame.data(), frame.size(), 0,
                                   reinterpret_cast<sockaddr*>(&from), &size);
      if (n < 0) return out;
      if (n < 15 || from.sll_pkttype == PACKET_OUTGOING) continue;
      const auto pdu =
          tlv::decode(ByteSpan(frame).subspan(14, static_cast<std::size_t>(n) - 14), {});
      if (!pdu || pdu->ttl == 0) continue;
      out[from.sll_ifindex].insert(std::string(as_text(pdu->chassis_octets)) + '/' +
                                   std::string(as_text(pdu->port_octets)));
    }
  }

 private:
  UniqueFd fd_;
};

/// Of a peer: lldpd is asked three times within the shortest TTL whether it lives, which confirms
/// its neighbors and tells which interfaces it has: each second with this one.
const std::vector<std::string> kShortTtl{"--lldp.tx-interval", "1", "--lldp.tx-hold", "2"};

class LldpdTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
    if (::access("/usr/sbin/lldpd", X_OK) != 0) GTEST_SKIP() << "no /usr/sbin/lldpd here";
    a_.emplace();
    b_.emplace();
    lldpd_.emplace(*a_);
  }
  /// Ours beside lldpd, on level 3 above a peer that speaks for itself.
  void start_agents(std::vector<std::string> options = {}, std::vector<std::string> of_peer = {}) {
    options.insert(options.end(), {"--role", "switch", "--lldpd.socket", lldpd_->socket()});
    of_peer.insert(of_peer.end(), {"--role", "switch", "--level", "2", "--transport", "packet"});
    peer_.emplace(*b_, std::move(of_peer));
    agent_.emplace(*a_, std::move(options));
  }
  [[nodiscard]] std::string transport() const { return agent_->show()["device"]["transport"]; }
  [[nodiscard]] std::string chassis() const { return agent_->show()["device"]["chassis_id"]; }
  /// The peer knows us alone, on every port, with our level, and we know the peer.
  [[nodiscard]] bool protected_by_level() const {
    const auto full = [](const nlohmann::json& show, int level, std::string_view type) {
      return std::ranges::all_of(show["ports"], [&](const auto& port) {
        return port["neighbors"].size() == 1 && port["neighbors"][0]["level"] == level &&
               port["type"] == type;
      });
    };
    return agent_->level() == 3 && full(agent_->show(), 2, "downlink") &&
           full(peer_->show(), 3, "uplink");
  }
  testing::AssertionResult comes_to(const std::string& speaker,
                                    std::chrono::milliseconds timeout = 15s) const {
    const auto there = [&] { return transport() == speaker && protected_by_level(); };
    if (eventually(there, timeout)) return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << agent_->show().dump(1) << peer_->show().dump(1) << agent_->log();
  }

  std::optional<Namespace> a_;
  std::optional<Namespace> b_;
  std::optional<Lldpd> lldpd_;
  std::optional<Agent> peer_;
  std::optional<Agent> agent_;
};

TEST_F(LldpdTest, SpeaksForUsAndTheWireShowsOneAgent) {
  join(*a_, *b_, 2);
  Wiretap wire(*b_);
  lldpd_->start();
  ASSERT_TRUE(eventually([&] { return ::access(lldpd_->socket().c_str(), F_OK) == 0; }));
  start_agents();
  ASSERT_TRUE(comes_to("lldpd"));
  const auto agents = wire.agents();
  EXPECT_EQ(agents.size(), 2U);
  for (const auto& [port, seen] : agents) EXPECT_EQ(seen.size(), 1U);
  EXPECT_EQ(chassis(), peer_->port("p0")["neighbors"][0]["chassis_id"]);
  EXPECT_THAT(lldpd_->ask("chassis"), HasSubstr(chassis()));
  EXPECT_THAT(agent_->show()["alarms"], SizeIs(0));
}

TEST_F(LldpdTest, SendsTheOperatorsTlvsUntilTheyAreTakenBack) {
  join(*a_, *b_);
  lldpd_->start();
  agent_.emplace(*a_,
                 std::vector<std::string>{"--role", "switch", "--lldpd.socket", lldpd_->socket()});
  peer_.emplace(
      *b_, std::vector<std::string>{"--role", "switch", "--level", "2", "--transport", "packet"});
  ASSERT_TRUE(comes_to("lldpd"));
  const auto heard = [&] {
    return peer_->call("org.lldplevel.Detail").dump().find("fe06334455fe55aa") != std::string::npos;
  };
  EXPECT_FALSE(heard());
  agent_->write_config("tlv.custom = 33-44-55,254,55aa\n");
  agent_->process().signal(SIGHUP);
  EXPECT_TRUE(eventually(heard));
  agent_->write_config("");
  agent_->process().signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return !heard(); }));
}

TEST_F(LldpdTest, SendsOurLocationWhichAHostTakesAndAnotherLldpdShowsAsUnknown) {
  join(*a_, *b_);
  lldpd_->start();
  Lldpd stock(*b_);  // on the same wire as the host of ours
  stock.start();
  agent_.emplace(*a_, std::vector<std::string>{"--role", "switch", "--level", "1", "--lldpd.socket",
                                               lldpd_->socket()});
  peer_.emplace(*b_, std::vector<std::string>{"--role", "host", "--transport", "packet"});
  ASSERT_TRUE(eventually([&] { return transport() == "lldpd"; }));
  const auto tiers = [&] { return peer_->show()["device"]["location"]["tiers"]; };
  ASSERT_TRUE(eventually([&] { return tiers().size() == 1; })) << peer_->show().dump(1);
  EXPECT_EQ(tiers()[0]["level"], 1);
  EXPECT_EQ(tiers()[0]["id"], chassis());
  const std::string unknown =
      "unknown-tlv.oui=02,4C,56\nlldp.p0.unknown-tlvs.unknown-tlv.subtype=2";
  EXPECT_TRUE(eventually([&] {
    return stock.neighbors("keyvalue").find(unknown) != std::string::npos;
  })) << stock.neighbors("keyvalue");
}

TEST_F(LldpdTest, KeepsLevelAndIdentityWhenItIsKilledAndStartedAnew) {
  join(*a_, *b_, 2);
  lldpd_->start();
  start_agents();
  ASSERT_TRUE(comes_to("lldpd"));
  const std::string before = chassis();
  lldpd_->kill();
  EXPECT_TRUE(eventually([&] { return transport() == "none"; }));
  EXPECT_TRUE(protected_by_level());
  lldpd_->start();
  EXPECT_TRUE(comes_to("lldpd"));
  EXPECT_EQ(chassis(), before);
  EXPECT_THAT(agent_->log(), Not(HasSubstr("level 3 ->")));
  EXPECT_THAT(agent_->log(), Not(HasSubstr("neighbor removed")));
}

TEST_F(LldpdTest, IsReplacedWhenItIsGoneAndGivenTheWireWhenItComes) {
  join(*a_, *b_, 2);
  lldpd_->start();
  start_agents();
  ASSERT_TRUE(comes_to("lldpd"));
  Wiretap wire(*b_);
  lldpd_->stop();
  ASSERT_TRUE(comes_to("packet"));
  lldpd_->start();
  ASSERT_TRUE(comes_to("lldpd"));
  // All three times the same.
  for (const auto& [port, seen] : wire.agents()) EXPECT_EQ(seen.size(), 1U);
  EXPECT_THAT(agent_->log(), Not(HasSubstr("level 3 ->")));
}

TEST_F(LldpdTest, GetsTheWireFromUsWhenItIsStartedLater) {
  join(*a_, *b_, 2);
  start_agents();
  ASSERT_TRUE(comes_to("packet"));
  lldpd_->start();
  ASSERT_TRUE(comes_to("lldpd"));
  Wiretap wire(*b_);
  a_->ip("link set p0 down");
  a_->ip("link set p0 up");  // makes whoever speaks there speak
  ASSERT_TRUE(comes_to("lldpd"));
  for (const auto& [port, seen] : wire.agents()) EXPECT_EQ(seen.size(), 1U);
}

TEST_F(LldpdTest, HasNoTlvsOfOursWhereThePortMayNotSend) {
  join(*a_, *b_, 2);
  lldpd_->start();
  start_agents();
  ASSERT_TRUE(comes_to("lldpd"));
  lldpd_->be_bridge();
  const auto told = [&](const char* port) {
    return peer_->neighbors(port) == 1 && peer_->port(port)["neighbors"][0]["level"] == 3;
  };
  const auto configure = [&](const char* admin) {
    agent_->write_config(std::string("port.p0.admin = ") + admin + "\n");
    agent_->process().signal(SIGHUP);
  };
  for (const char* admin : {"off", "rx"}) {
    configure(admin);
    EXPECT_TRUE(eventually([&] { return !told("p0"); })) << admin;
    EXPECT_EQ(peer_->neighbors("p0"), 1U) << "lldpd itself speaks on";
    EXPECT_TRUE(told("p1"));
    EXPECT_TRUE(eventually(
        [&] { return agent_->neighbors("p0") == (admin == std::string("rx") ? 1U : 0U); }));
    configure("rxtx");
    EXPECT_TRUE(comes_to("lldpd")) << admin;
  }
}

TEST_F(LldpdTest, FollowsPortsThatComeAndGo) {
  join(*a_, *b_);
  lldpd_->start();
  start_agents();
  ASSERT_TRUE(comes_to("lldpd"));
  join(*a_, *b_, 1, "q");
  EXPECT_TRUE(eventually([&] { return agent_->show()["ports"].size() == 2; }));
  ASSERT_TRUE(comes_to("lldpd"));
  a_->ip("link del p0");
  EXPECT_TRUE(eventually([&] { return agent_->show()["ports"].size() == 1; }));
  ASSERT_TRUE(comes_to("lldpd"));
}

TEST_F(LldpdTest, PortThatItLeavesOutIsAnAlarmForAsLongAsItIsThere) {
  lldpd_.emplace(*a_, "configure system interface pattern p0\n");
  join(*a_, *b_);
  join(*a_, *b_, 1, "q");
  lldpd_->start();
  start_agents({}, kShortTtl);
  const auto alarmed = [&] {
    const auto alarms = agent_->show()["alarms"];
    return std::ranges::any_of(alarms, [](const auto& alarm) {
      const std::string text = alarm["text"];
      return alarm["port"] == "q0" && text.find("does not speak here") != text.npos;
    });
  };
  EXPECT_TRUE(eventually(alarmed)) << agent_->show().dump(1);
  a_->ip("link del q0");
  EXPECT_TRUE(eventually([&] { return !alarmed(); })) << agent_->show().dump(1);
}

TEST_F(LldpdTest, NeighbourThatHasSaidGoodbyeIsNotConfirmedAnyMore) {
  join(*a_, *b_);
  lldpd_->start();
  start_agents({}, kShortTtl);
  ASSERT_TRUE(comes_to("lldpd"));
  peer_->process().signal(SIGTERM);
  ASSERT_EQ(peer_->process().wait(), 0);
  ASSERT_TRUE(eventually([&] { return agent_->neighbors("p0") == 0; }));
  EXPECT_FALSE(eventually([&] { return agent_->neighbors("p0") != 0; }, 2s));
}

TEST_F(LldpdTest, LosesOurTlvsWhenWeStop) {
  join(*a_, *b_);
  lldpd_->start();
  start_agents();
  ASSERT_TRUE(comes_to("lldpd"));
  // Of a station a switch is still taken for what it said, until that expires.
  lldpd_->be_bridge();
  agent_->process().signal(SIGTERM);
  EXPECT_EQ(agent_->process().wait(), 0);
  const auto untold = [&] {
    return peer_->neighbors("p0") == 1 && peer_->port("p0")["neighbors"][0]["level"].is_null();
  };
  EXPECT_TRUE(eventually(untold));
  // lldpd drops one TLV after the other, and sends in between.
  EXPECT_THAT(peer_->log(), Not(HasSubstr("tlv-conflict")));
}

TEST_F(LldpdTest, ThatEndsInOrderIsReplacedAtOnce) {
  join(*a_, *b_);
  lldpd_->start();
  start_agents();
  ASSERT_TRUE(comes_to("lldpd"));
  lldpd_->stop();  // it says goodbye to all neighbors
  EXPECT_TRUE(comes_to("packet", 3s)) << "they wait for us as if lldpd had been killed";
}

TEST_F(LldpdTest, HasItsNeighboursAgeFromItsEndOn) {
  join(*a_, *b_);
  lldpd_->start();
  start_agents();
  ASSERT_TRUE(comes_to("lldpd"));
  const auto expires = [&] {
    const auto neighbors = agent_->port("p0")["neighbors"];
    return neighbors.empty() ? 0 : neighbors[0]["expires_in"].get<int>();
  };
  ASSERT_TRUE(eventually([&] { return expires() <= 119; })) << "of 121 s";
  lldpd_->kill();
  ASSERT_TRUE(eventually([&] { return transport() == "none"; }));
  EXPECT_GE(expires(), 120) << "up to its end it had told us that the neighbour is there";
}

TEST_F(LldpdTest, ThatIsStoppedKeepsNobodyWaiting) {
  join(*a_, *b_);
  lldpd_->start();
  start_agents();
  ASSERT_TRUE(comes_to("lldpd"));
  lldpd_->signal(SIGSTOP);
  b_->ip("link set p0 down");  // something to tell lldpd of
  EXPECT_TRUE(eventually([&] { return !agent_->port("p0")["up"].get<bool>(); }));
  b_->ip("link set p0 up");
  EXPECT_TRUE(eventually([&] { return agent_->port("p0")["up"].get<bool>(); }));
  EXPECT_EQ(agent_->level(), 3);
  lldpd_->signal(SIGCONT);
  EXPECT_TRUE(comes_to("lldpd"));
}

TEST_F(LldpdTest, IsWaitedForWithAnAlarmWhenNobodyElseMaySpeak) {
  join(*a_, *b_);
  Wiretap wire(*b_);
  start_agents({"--transport", "lldpd", "--lldpd.grace", "1"});
  EXPECT_TRUE(eventually([&] { return !agent_->show()["alarms"].empty(); }));
  EXPECT_EQ(agent_->show()["alarms"][0]["code"], "lldpd");
  EXPECT_EQ(transport(), "none");
  EXPECT_TRUE(wire.agents().empty());
  lldpd_->start();
  EXPECT_TRUE(comes_to("lldpd"));
  EXPECT_THAT(agent_->show()["alarms"], SizeIs(0));
}

TEST_F(LldpdTest, ThatOnlyListensLeavesTheWireToUs) {
  join(*a_, *b_);
  lldpd_->start({"-r"});
  start_agents();
  EXPECT_TRUE(comes_to("packet"));
  EXPECT_TRUE(eventually([&] {
    return agent_->log().find("lldpd cannot send our TLVs: " + lldpd_->socket() +
                              ": lldpd only listens: start it without -r") != std::string::npos;
  }));
}

TEST_F(LldpdTest, OfAnotherNamespaceIsLeftAlone) {
  join(*a_, *b_);
  Lldpd other(*b_);
  other.start();
  ASSERT_TRUE(eventually([&] { return ::access(other.socket().c_str(), F_OK) == 0; }));
  const Agent agent(*a_, {"--role", "switch", "--lldpd.socket", other.socket()});
  EXPECT_EQ(agent.show()["device"]["transport"], "packet");
  EXPECT_TRUE(eventually([&] {
    return agent.log().find("no lldpd of this network namespace made it") != std::string::npos;
  }));
}

TEST_F(LldpdTest, SpeaksForUsOn256Ports) {
  constexpr std::size_t kPorts = 256;
  join(*a_, *b_, kPorts);
  lldpd_->start();
  start_agents();
  ASSERT_TRUE(comes_to("lldpd", 45s));  // 8 s where nothing else runs
  Wiretap wire(*b_);
  agent_->write_config("level = 3\ntlv.send = tr\n");  // one TLV less, on every port
  agent_->process().signal(SIGHUP);
  std::map<int, std::set<std::string>> heard;
  const auto all_heard = [&] {
    for (const auto& [port, agents] : wire.agents())
      heard[port].insert(agents.begin(), agents.end());
    return heard.size() == kPorts;
  };
  EXPECT_TRUE(eventually(all_heard));
  for (const auto& [port, agents] : heard) EXPECT_EQ(agents.size(), 1U);
  const auto heeded = [&] {
    return std::ranges::all_of(peer_->show()["ports"], [](const auto& port) {
      return port["neighbors"].size() == 1 &&
             port["neighbors"][0]["tlv"] == nlohmann::json::array({"tr"});
    });
  };
  EXPECT_TRUE(eventually(heeded));
  EXPECT_TRUE(comes_to("lldpd"));
}

}  // namespace
}  // namespace lldp::netns
