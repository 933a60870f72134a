// SPDX-License-Identifier: Apache-2.0
// A live fabric of lossless switches: real agents, whose rules they take, and packets through it.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "os/file.hpp"
#include "sim/lossless/client.hpp"
#include "sim/lossless/frames.hpp"
#include "sim/lossless/ports.hpp"
#include "tests/netns/support.hpp"
#include "tests/support/places.hpp"

namespace lldp::netns {
namespace {

using namespace std::chrono_literals;
using lab::lossless::Load;
using lab::lossless::PfcFrame;
using lab::lossless::Ports;
using lab::lossless::SwitchClient;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

/// `live run FABRIC --lossless` until it is taken down.
class LiveLossless : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
    home_ = UniqueFd(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  }
  void TearDown() override {
    if (home_) setns(home_.get(), CLONE_NEWNET);
    if (lab_) end();
    if (!std::filesystem::exists("/run/netns")) return;
    for (const auto& left : std::filesystem::directory_iterator("/run/netns"))
      EXPECT_FALSE(left.path().filename().string().starts_with(prefix_ + "-")) << left.path();
  }
  /// Two leaves with a host each, and two spines.
  void start(std::vector<std::string> more = {}) {
    std::ofstream(files_.file("fabric.dot")) << R"(graph f {
      h0 [role=host]; h1 [role=host];
      "h0":"eth0" -- "leaf0":"swp1"; "h1":"eth0" -- "leaf1":"swp1";
      "leaf0":"swp2" -- "spine2":"swp1"; "leaf1":"swp2" -- "spine2":"swp2";
      "leaf0":"swp3" -- "spine3":"swp1"; "leaf1":"swp3" -- "spine3":"swp2"; })";
    std::vector<std::string> words{support::program("lldp-level-lab"),
                                   "live",
                                   "run",
                                   files_.file("fabric.dot"),
                                   "--lossless",
                                   "--prefix",
                                   prefix_,
                                   "--dir",
                                   files_.file("lab")};
    words.insert(words.end(), more.begin(), more.end());
    lab_.emplace(words, files_.file("output"));
  }
  int end() {
    lab_->signal(SIGTERM);
    return lab_->wait(30s);
  }
  [[nodiscard]] std::string output() const { return lab_->output(); }
  [[nodiscard]] std::string file_of(const std::string& node, const std::string& file) const {
    return files_.file("lab") + "/" + node + "/" + file;
  }
  [[nodiscard]] std::optional<dataplane::soft::View> view(const std::string& node) const {
    const auto client = SwitchClient::open(file_of(node, "switch"), Clock::now() + 60s);
    if (!client) return std::nullopt;
    const auto read = client->read();
    return read ? std::optional(*read) : std::nullopt;
  }
  /// Nothing tells of what another process comes to.
  template <class Holds>
  static bool until(Holds holds) {
    for (const auto end = Clock::now() + 60s; !holds(); ::poll(nullptr, 0, 20))
      if (Clock::now() > end) return false;
    return true;
  }
  [[nodiscard]] bool has_rules(const std::string& node) const {
    const auto seen = view(node);
    return seen && std::all_of(seen->ports.begin(), seen->ports.end(),
                               [](const auto& port) { return port.second.rules.has_value(); });
  }
  bool is_up() {
    return until([&] { return output().find("Ctrl-C takes it down") != std::string::npos; });
  }
  [[nodiscard]] pid_t process_of(const std::string& node) const {
    return process_with(file_of(node, "switch.json"));
  }
  /// A packet socket on a port of a node.
  [[nodiscard]] std::optional<Ports> at(const std::string& node, const std::string& port) const {
    const UniqueFd there(
        open(("/run/netns/" + prefix_ + "-" + node).c_str(), O_RDONLY | O_CLOEXEC));
    if (!there || setns(there.get(), CLONE_NEWNET) != 0) return std::nullopt;
    auto ports = Ports::open({port});
    setns(home_.get(), CLONE_NEWNET);
    return ports ? std::optional(std::move(*ports)) : std::nullopt;
  }
  [[nodiscard]] nlohmann::json switch_file(const std::string& node) const {
    const auto text = read_file(file_of(node, "switch.json"));
    return text ? nlohmann::json::parse(*text) : nlohmann::json();
  }
  [[nodiscard]] MacAddress address(const std::string& node, const std::string& port) const {
    MacAddress found{};
    const nlohmann::json file = switch_file(node);
    for (const auto& p : file.at("ports"))
      if (p.at("name") == port)
        for (std::size_t i = 0; i < found.size(); ++i)
          found[i] = static_cast<std::uint8_t>(
              std::stoul(p.at("address").get<std::string>().substr(3 * i, 2), nullptr, 16));
    return found;
  }
  /// By which a switch sends to an address.
  [[nodiscard]] std::string port_to(const std::string& node, const std::string& to) const {
    const nlohmann::json file = switch_file(node);
    for (const auto& route : file.at("routes"))
      if (route.at("to") == to) return route.at("port");
    return {};
  }
  template <class Found>
  static bool comes(Ports& ports, Found found) {
    bool seen = false;
    const auto end = Clock::now() + 60s;
    while (!seen && Clock::now() < end) {
      pollfd ready{.fd = ports.fd(0), .events = POLLIN, .revents = 0};
      ::poll(&ready, 1, 1000);
      ports.receive(0, [&](ByteSpan frame) { seen = seen || found(frame); });
    }
    return seen;
  }

  TemporaryDirectory files_{};
  std::string prefix_ = fmt::format("lossless{}", getpid());
  std::optional<Process> lab_{};
  UniqueFd home_{};
};

TEST_F(LiveLossless, TakesTheRulesOfRealAgentsAndPausesWhoSendsTooMuch) {
  start();
  ASSERT_TRUE(is_up()) << output();
  for (const char* node : {"leaf0", "leaf1", "spine2", "spine3"})
    EXPECT_TRUE(has_rules(node)) << node;
  auto h0 = at("h0", "eth0");
  auto h1 = at("h1", "eth0");
  ASSERT_TRUE(h0 && h1);
  const auto packet = [&](std::uint16_t to, const MacAddress& port) {
    return lab::lossless::format(Load{.flow = to, .dscp = Dscp::of<43>()}, 1048, {2}, port);
  };
  const auto arrives_with = [&](Ports& host, Dscp dscp) {
    return comes(host, [&](ByteSpan frame) {
      const auto load = lab::lossless::parse_load(frame);
      return load && load->dscp == dscp;
    });
  };
  // Up and down: the class stays.
  h0->send(0, packet(1, address("leaf0", "swp1")));
  EXPECT_TRUE(arrives_with(*h1, Dscp::of<43>()));
  // Down from the spine by which leaf1 does not send to h0, and so up again: it changes.
  const std::string up = port_to("leaf1", "198.18.0.2");
  const std::string other = up == "swp2" ? "swp3" : "swp2";
  auto spine = at("spine" + other.substr(3), "swp2");
  ASSERT_TRUE(spine);
  spine->send(0, packet(0, address("leaf1", other)));
  EXPECT_TRUE(arrives_with(*h0, Dscp::of<51>()));
  EXPECT_EQ(view("leaf1")->ports.at(up).bounces[5], 1U);
  PfcFrame stop;
  stop.quanta[5] = 0xffff;
  const auto stopped = [&] {  // for 1.7 s more
    h1->send(0, lab::lossless::format(stop, {2}));
    return view("leaf1")->ports.at("swp1").stopped == 1U << 5;
  };
  ASSERT_TRUE(until(stopped));
  // Beyond XOFF at the last switch the one before is stopped, and so on to the sender.
  const Bytes one = packet(1, address("leaf0", "swp1"));
  for (int i = 0; i < 600; ++i) h0->send(0, one);
  bool paused = false;
  EXPECT_TRUE(until([&] {
    static_cast<void>(stopped());
    h0->receive(0, [&](ByteSpan frame) {
      const auto pause = lab::lossless::parse_pfc(frame);
      paused = paused || (pause && pause->quanta[5].value_or(0) != 0);
    });
    return paused;
  }));
  EXPECT_TRUE(until([&] { return view("leaf1")->ports.at("swp1").sent == 601; }));
  for (const auto& [node, port] : {std::pair("h0", "eth0"), std::pair("leaf0", "swp1")})
    EXPECT_EQ(
        Process({"ip", "-n", prefix_ + "-" + node, "link", "set", port, "mtu", "1600"}, "/dev/null")
            .wait(10s),
        0);
  h0->send(0, lab::lossless::format(Load{.flow = 1, .dscp = Dscp::of<43>()}, 1519, {2},
                                    address("leaf0", "swp1")));
  EXPECT_TRUE(until([&] { return view("leaf0")->too_long == 1; }));
  for (const char* node : {"leaf0", "leaf1", "spine2", "spine3"})
    EXPECT_EQ(view(node)->drops, 0U) << node;
  EXPECT_EQ(end(), 0);
  EXPECT_THAT(output(), HasSubstr("live: 1 packet longer than any link carries, dropped\n"));
}

TEST_F(LiveLossless, StartsASwitchAgainThatHasEndedAndItsAgentGivesItTheRules) {
  start();
  ASSERT_TRUE(is_up()) << output();
  const pid_t before = process_of("spine2");
  ASSERT_GT(before, 0);
  ::kill(before, SIGKILL);
  ASSERT_TRUE(
      until([&] { return output().find("spine2: its switch has ended") != std::string::npos; }));
  ASSERT_TRUE(until([&] { return process_of("spine2") > 0 && process_of("spine2") != before; }));
  EXPECT_TRUE(until([&] { return has_rules("spine2"); }));
  EXPECT_EQ(end(), 0);
  EXPECT_THAT(output(), HasSubstr("switches were started again 1 time\n"));
}

// A chip takes its time: the fabric is up when the rules are in force, not when they are asked for.
TEST_F(LiveLossless, IsUpWhenLateRulesAreInForce) {
  start({"--rules-late", "300"});
  ASSERT_TRUE(is_up()) << output();
  for (const char* node : {"leaf0", "leaf1", "spine2", "spine3"}) {
    EXPECT_EQ(switch_file(node).at("rules_late_ms"), 300);
    EXPECT_TRUE(has_rules(node)) << node;
  }
}

TEST_F(LiveLossless, EndsWhenItIsToldTo) {
  start({"--agent", "/bin/true", "--timeout", "600"});
  ASSERT_TRUE(until([&] { return std::filesystem::exists(file_of("spine2", "switch")); }));
  EXPECT_NE(end(), -1) << "not before its ten minutes are over";
}

TEST_F(LiveLossless, IsForRunAlone) {
  Process up({support::program("lldp-level-lab"), "live", "up", "x.dot", "--lossless"},
             files_.file("up"));
  EXPECT_EQ(up.wait(10s), 2);
  EXPECT_THAT(up.output(), HasSubstr("--lossless is for `run`"));
}

}  // namespace
}  // namespace lldp::netns
