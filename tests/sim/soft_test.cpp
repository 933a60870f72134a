// SPDX-License-Identifier: Apache-2.0
// The back end `soft` and a real switch process, on real interfaces.
#include <poll.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "dataplane/factory.hpp"
#include "sim/lossless/client.hpp"
#include "sim/lossless/ports.hpp"
#include "sim/lossless/switch_process.hpp"
#include "tests/dataplane/chip.hpp"
#include "tests/dataplane/private_net.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::dataplane {
namespace {

using namespace std::chrono_literals;
using lab::lossless::Load;
using testing::HasSubstr;

constexpr MacAddress kHere{2, 0, 0, 0, 0, 1};
constexpr MacAddress kThere{2, 0, 0, 0, 0, 2};

/// A switch of two ports, `swp0` and `swp1`, whose far ends are `far0` and `far1`.
class SwitchBox {
 public:
  SwitchBox() {
    why_not_ = PrivateNet::enter();
    if (!why_not_.empty()) return;
    for (const char* n : {"0", "1"}) {
      const std::string port(n);
      sh("ip link del swp" + port + " 2>/dev/null");
      if (!sh("ip link add swp" + port + " type veth peer name far" + port + " && ip link set swp" +
              port + " up && ip link set far" + port + " up"))
        why_not_ = "no veth interfaces here";
    }
    file_ = {.socket = directory_.path() + "/switch",
             .station = {.name = "box",
                         .ports = {{"swp0", kHere}, {"swp1", kHere}},
                         .routes = {{{198, 18, 0, 2}, "swp1", kThere}},
                         .rate_bps = 100'000'000}};
    start();
  }
  ~SwitchBox() { stop(); }
  SwitchBox(const SwitchBox&) = delete;
  SwitchBox& operator=(const SwitchBox&) = delete;

  void start() {
    if (!why_not_.empty()) return;
    begin();
    const auto client = lab::lossless::SwitchClient::open(
        file_.socket, std::chrono::steady_clock::now() + std::chrono::seconds(60));
    if (!client) why_not_ = to_string(client.error());
  }
  /// Does not wait until it can be asked.
  void begin() {
    child_ = ::fork();
    if (child_ == 0) {
      const auto done = lab::lossless::run_switch(file_);
      if (!done) std::fprintf(stderr, "%s\n", to_string(done.error()).c_str());
      std::_Exit(done ? 0 : 1);
    }
  }
  void stop() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
  }
  /// In good order; true: it said that all went well.
  bool end() {
    int status = 0;
    ::kill(child_, SIGTERM);
    ::waitpid(std::exchange(child_, -1), &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  [[nodiscard]] const lab::lossless::SwitchFile& file() const { return file_; }
  void signal(int number) const { ::kill(child_, number); }
  [[nodiscard]] SoftOptions options() const {
    return {.socket = file_.socket, .opening = std::chrono::seconds(5)};
  }
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  [[nodiscard]] static PortRef port(int n) {
    const std::string name = "swp" + std::to_string(n);
    return {*Ifindex::make(::if_nametoindex(name.c_str())), name};
  }

 private:
  TempDir directory_{};
  std::string why_not_{};
  lab::lossless::SwitchFile file_{};
  pid_t child_ = -1;
};

class SoftWorld : public World {
 public:
  std::unique_ptr<Backend> open() override {
    if (!box_.why_not().empty()) return nullptr;
    return std::make_unique<OpenedAnew>(
        *this, [this] { return std::move(*make_backend("soft", {.soft = box_.options()})); });
  }
  std::string why_not() const override { return box_.why_not(); }
  PortRef port(int n) override { return SwitchBox::port(n); }
  bool forgets() const override { return false; }  // the switch keeps it
  bool remembers() const override { return true; }

 private:
  SwitchBox box_;
};
INSTANTIATE_TEST_SUITE_P(Soft, BackendContract, testing::Values(world_case<SoftWorld>("Soft")),
                         [](const auto& c) { return c.param.name; });

class SoftTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!box_.why_not().empty()) GTEST_SKIP() << box_.why_not();
    auto opened = make_backend("soft", {.soft = box_.options()});
    ASSERT_TRUE(opened) << to_string(opened.error());
    backend_ = std::move(*opened);
  }
  void put(int port, Order order) {
    const auto plan = backend_->plan(SwitchBox::port(port), rules_of(order));
    ASSERT_TRUE(plan) << to_string(plan.error());
    const auto done = finish(*backend_, *plan);
    ASSERT_TRUE(done) << to_string(done.error());
  }
  /// Waits for its events until `holds`.
  template <class Holds>
  bool until(Holds holds) {
    for (const auto end = std::chrono::steady_clock::now() + 60s; !holds();) {
      if (std::chrono::steady_clock::now() > end) return false;
      pollfd ready{.fd = backend_->events(), .events = POLLIN, .revents = 0};
      ::poll(&ready, 1, 1000);
      for (Outcome& o : backend_->take_events().outcomes) outcomes_.push_back(std::move(o));
    }
    return true;
  }

  SwitchBox box_;
  std::unique_ptr<Backend> backend_;
  std::vector<Outcome> outcomes_;
};

TEST_F(SoftTest, RealPacketThatTurnsLeavesInTheNextClassAndIsCounted) {
  put(0, Order::kUp);
  put(1, Order::kUp);
  auto far = lab::lossless::Ports::open({"far0", "far1"});
  ASSERT_TRUE(far) << to_string(far.error());
  const Load sent{.number = 1, .dscp = Dscp::of<43>()};
  far->send(0, lab::lossless::format(sent, 1048, kThere, kHere));
  std::optional<Load> got;
  pollfd ready{.fd = far->fd(1), .events = POLLIN, .revents = 0};
  for (int i = 0; i < 10 && !got && ::poll(&ready, 1, 5000) > 0; ++i)
    far->receive(1, [&](ByteSpan frame) { got = lab::lossless::parse_load(frame); });
  ASSERT_TRUE(got);
  EXPECT_EQ(*got, (Load{.number = 1, .dscp = Dscp::of<51>()}));
  Bounces one{};
  one[5] = 1;
  EXPECT_TRUE(until([&] { return backend_->bounces(SwitchBox::port(1).ifindex) == one; }));
}

TEST_F(SoftTest, SaysThatTheSwitchHasEndedAndComesBackWithIt) {
  put(0, Order::kUp);
  box_.stop();
  ASSERT_TRUE(until([&] { return backend_->down().has_value(); }));
  EXPECT_THAT(backend_->down()->what, HasSubstr("has ended"));
  EXPECT_FALSE(backend_->plan(SwitchBox::port(0), rules_of(Order::kUp)));
  backend_->apply({.ports = {{.port = SwitchBox::port(0),
                              .want = rules_of(Order::kUp),
                              .changes = {{Action::kAdd, Part::kClassify}}}}});
  ASSERT_TRUE(until([&] { return !outcomes_.empty(); }));
  EXPECT_TRUE(outcomes_.front().why);
  box_.start();
  ASSERT_TRUE(until([&] { return !backend_->down(); }));
  // It has come back without rules: that is read, and put right.
  const auto reading = backend_->verify(SwitchBox::port(0), rules_of(Order::kUp));
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->parts.at(0).state, PartState::kMissing);
  put(0, Order::kUp);
}

TEST_F(SoftTest, NothingIsKnownWhileTheSwitchIsAway) {
  box_.stop();
  ASSERT_TRUE(until([&] { return backend_->down().has_value(); }));
  const auto said = [&](const auto& result) {
    ASSERT_FALSE(result);
    EXPECT_EQ(to_string(result.error()), to_string(*backend_->down()));
  };
  said(backend_->plan(box_.port(0), rules_of(Order::kUp)));
  said(backend_->plan_removal(box_.port(0)));
  said(backend_->verify(box_.port(0), rules_of(Order::kUp)));
  said(backend_->ports());
  said(backend_->bounces(box_.port(0).ifindex));
}

TEST_F(SoftTest, SaysThatTheSwitchHangs) {
  box_.signal(SIGSTOP);
  ASSERT_TRUE(until([&] { return backend_->down().has_value(); }));
  EXPECT_THAT(backend_->down()->what, HasSubstr("does not answer"));
  box_.signal(SIGCONT);
  EXPECT_TRUE(until([&] { return !backend_->down(); }));
}

TEST_F(SoftTest, InterfaceThatIsNoPortOfTheSwitchIsBypassed) {
  const PortRef lo{Ifindex::of<1>(), "lo"};
  const auto reading = backend_->verify(lo, rules_of(Order::kUp));
  ASSERT_TRUE(reading);
  for (const PartReading& read : reading->parts) {
    EXPECT_EQ(read.state, PartState::kBypassed);
    EXPECT_THAT(read.text, HasSubstr("the interface is no port of the switch at "));
  }
}

TEST_F(SoftTest, PortWhoseInterfaceIsGoneIsBypassedUntilItIsBack) {
  put(1, Order::kUp);
  const PortRef port = SwitchBox::port(1);
  const auto comes = [&](PartState state) {
    return until([&] {
      const auto reading = backend_->verify(port, rules_of(Order::kUp));
      return reading && reading->parts.at(0).state == state;
    });
  };
  EXPECT_TRUE(comes(PartState::kDone));
  ASSERT_TRUE(sh("ip link del swp1"));
  EXPECT_TRUE(comes(PartState::kBypassed));
  EXPECT_EQ(backend_->verify(port, rules_of(Order::kUp))->parts.at(0).text,
            "the switch has lost the interface, and takes it again when it is there");
  ASSERT_TRUE(sh("ip link add swp1 type veth peer name far1"));
  EXPECT_TRUE(comes(PartState::kDone));
  ASSERT_TRUE(sh("ip link set swp1 name else1"));
  EXPECT_TRUE(comes(PartState::kBypassed));
  ASSERT_TRUE(sh("ip link set else1 name swp1"));
  EXPECT_TRUE(comes(PartState::kDone));
}

TEST_F(SoftTest, SecondSwitchOfTheNamespaceIsRefused) {
  std::filesystem::remove(box_.file().socket);  // which the first would be known by
  const auto second = lab::lossless::run_switch(box_.file());
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().what, HasSubstr("a switch runs in this network namespace already"));
}

TEST_F(SoftTest, SwitchLeavesAFileThatIsNoSocketOfItsOwnAlone) {
  box_.stop();
  auto file = box_.file();
  file.socket += ".txt";
  std::ofstream(file.socket) << "dear";
  const auto done = lab::lossless::run_switch(file);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().what, HasSubstr("is there already, and no socket"));
  EXPECT_EQ(std::filesystem::file_size(file.socket), 4U);
  // What somebody has put in place of the socket meanwhile stays when the switch ends.
  box_.start();
  ASSERT_EQ(box_.why_not(), "");
  std::filesystem::remove(box_.file().socket);
  std::ofstream(box_.file().socket) << "dear";
  EXPECT_TRUE(box_.end());
  EXPECT_TRUE(std::filesystem::exists(box_.file().socket));
}

TEST_F(SoftTest, SwitchThatIsEndedAsItsSocketAppearsTakesItAlong) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(box_.end());
    EXPECT_FALSE(std::filesystem::exists(box_.file().socket));
    box_.begin();
    const auto latest = std::chrono::steady_clock::now() + 60s;
    while (!std::filesystem::exists(box_.file().socket) &&
           std::chrono::steady_clock::now() < latest) {
    }
  }
  EXPECT_TRUE(box_.end());
  EXPECT_FALSE(std::filesystem::exists(box_.file().socket));
}

TEST(SoftBackend, OpensWhereThereIsNoSwitchAndSaysSo) {
  const auto backend = make_backend("soft", {.soft = {.socket = "/nonexistent/switch"}});
  ASSERT_TRUE(backend) << to_string(backend.error());
  ASSERT_TRUE((*backend)->down());
  EXPECT_EQ(to_string(*(*backend)->down()),
            "backend soft: there is no switch at /nonexistent/switch: No such file or directory");
}

}  // namespace
}  // namespace lldp::dataplane
