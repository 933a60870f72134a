// SPDX-License-Identifier: Apache-2.0
// tc flower against a kernel in memory (fake_tc): every request held against what a kernel takes,
// and what is programmed against the rules by an evaluation of its own.
// tests/dataplane/switch_flower_test does it in a kernel, and in a chip.
#include "dataplane/flower/flower.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poll.h>

#include <algorithm>

#include "tests/dataplane/contract.hpp"
#include "tests/dataplane/fake_tc.hpp"

namespace lldp::dataplane {
namespace {

using fake::Kernel;
using fake::Packet;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Offload = FlowerOptions::Offload;

constexpr std::uint32_t kFirst = 0x70000001;  // interfaces that this machine has not
PortRef port_of(int n) {
  const auto ifindex = *Ifindex::make(kFirst + static_cast<std::uint32_t>(n));
  return {ifindex, std::to_string(ifindex.value())};
}
std::uint32_t number_of(int n) { return port_of(n).ifindex.value(); }

template <bool kChip, Offload kOffload>
class FakeWorld : public World {
 public:
  FakeWorld() {
    Kernel::reset();
    for (int n : {0, 1}) Kernel::now().ports[number_of(n)] = {.chip = kChip};
  }
  std::unique_ptr<Backend> open() override { return std::move(*Flower::open({kOffload})); }
  PortRef port(int n) override { return port_of(n); }
  bool forgets() const override { return false; }  // the qdisc goes with the interface
};
INSTANTIATE_TEST_SUITE_P(Flower, BackendContract,
                         testing::Values(world_case<FakeWorld<false, Offload::kAuto>>("Software"),
                                         world_case<FakeWorld<true, Offload::kRequire>>("Chip")),
                         [](const auto& c) { return c.param.name; });

class FlowerTest : public testing::Test {
 protected:
  FlowerTest() { Kernel::reset(); }
  void make_ports(int count, bool chip) {
    for (int n = 0; n < count; ++n) kernel().ports[number_of(n)] = {.chip = chip};
  }
  static Kernel& kernel() { return Kernel::now(); }
  void open(Offload offload) { backend_ = std::move(*Flower::open({offload})); }
  Result<void> put(int n, const qos::Ruleset& rules) {
    const auto plan = backend_->plan(port_of(n), rules);
    if (!plan) return fail(plan.error());
    return finish(*backend_, *plan);
  }
  Result<void> put(int n, Order order) { return put(n, rules_of(order)); }
  Result<void> take(int n) {
    const auto plan = backend_->plan_removal(port_of(n));
    if (!plan) return fail(plan.error());
    return finish(*backend_, *plan);
  }
  static std::string text_of(const Result<Reading>& reading) {
    if (!reading) return to_string(reading.error());
    std::string text;
    for (const PartReading& part : reading->parts)
      text += fmt::format("{}{} {}{}{}", text.empty() ? "" : "; ", to_string(part.part),
                          to_string(part.state), part.text.empty() ? "" : ": ", part.text);
    return text;
  }
  std::string states(int n, const qos::Ruleset& rules) {
    return text_of(backend_->verify(port_of(n), rules));
  }
  std::string states(int n, Order order) { return states(n, rules_of(order)); }
  static std::vector<std::string> log() { return std::exchange(kernel().log, {}); }
  static std::string text_of(const Result<void>& done) {
    return done ? "done" : to_string(done.error());
  }

  static constexpr const char* kDone = "classify done; remap done";
  std::unique_ptr<Backend> backend_;
};

/// The first octets of an IP header with this DSCP; all the other bits as the pattern has them.
Packet packet_of(Ifindex in, bool ipv6, unsigned dscp, std::uint32_t pattern, unsigned priority) {
  const std::uint32_t kept = ipv6 ? 0x003fffff : 0x0003ffff;
  const std::uint32_t word =
      ipv6 ? 6U << 28 | dscp << 22 | (pattern & kept) : 0x45U << 24 | dscp << 18 | (pattern & kept);
  Packet packet{.in = in, .ipv6 = ipv6, .priority = priority};
  for (std::size_t i = 0; i < 4; ++i)
    packet.header[i] = static_cast<std::uint8_t>(word >> (24 - 8 * i));
  return packet;
}

/// What the rules say of a packet, by qos::remap() and nothing else.
Packet expected(const qos::Policy& policy, Order in, Order out, Ifindex from, bool ipv6,
                unsigned dscp, std::uint32_t pattern) {
  constexpr unsigned kBefore = 9;  // what somebody else set
  qos::Class now{.dscp = *Dscp::make(dscp)};
  bool known = policy.lossy().dscp == now.dscp && policy.lossy().dscp.value() != 0;
  if (known) now.priority = policy.lossy().priority;
  for (const qos::Class c : policy.lossless())
    if (c.dscp == now.dscp) {
      known = true;
      now = qos::remap(policy, {.order = in}, {.order = out}, c);
      break;
    }
  Packet packet = packet_of(from, ipv6, now.dscp.value(), pattern, kBefore);
  if (known) packet.priority = now.priority.value();
  return packet;
}

struct Classes {
  const char* name = "";
  const char* lossless = "";
  const char* lossy = "";
};

TEST_F(FlowerTest, DoesWithEveryPacketWhatTheRulesSay) {
  for (const auto& [name, lossless, lossy] :
       {Classes{"default", "5:dscp43,6:dscp51", "0:dscp0"},
        Classes{"three", "1:dscp9,2:dscp63,4:dscp1", "0:dscp2"},
        Classes{"one", "3:dscp26", "0:dscp0"}})
    for (const bool chip : {false, true}) {
      Kernel::reset();
      make_ports(6, chip);
      open(chip ? Offload::kRequire : Offload::kOff);
      const auto policy = *qos::Policy::parse(lossless, lossy);
      const Order orders[] = {Order::kUp,   Order::kUp,      Order::kDown,
                              Order::kDown, Order::kUnknown, Order::kUp};
      for (int n = 0; n < 6; ++n) ASSERT_TRUE(put(n, qos::compile(policy, {.order = orders[n]})));
      ASSERT_TRUE(put(5, qos::compile(policy, {.order = Order::kDown})));  // it was up
      for (int in = 0; in < 6; ++in)
        for (int out = 0; out < 6; ++out)
          for (unsigned dscp = 0; dscp < 64; ++dscp)
            for (const bool ipv6 : {false, true}) {
              if (in == out) continue;
              const std::uint32_t pattern = (dscp + static_cast<unsigned>(in)) % 2 != 0 ? ~0U : 0;
              const Order from = in == 5 ? Order::kDown : orders[in];
              const Order to = out == 5 ? Order::kDown : orders[out];
              const Ifindex i = port_of(in).ifindex;
              const Packet packet =
                  kernel().through(packet_of(i, ipv6, dscp, pattern, 9), number_of(out));
              ASSERT_EQ(packet, expected(policy, from, to, i, ipv6, dscp, pattern))
                  << name << (chip ? " chip" : "") << (ipv6 ? " IPv6" : " IPv4") << " dscp" << dscp
                  << " from " << to_string(from) << " to " << to_string(to);
            }
    }
}

TEST_F(FlowerTest, AsksTheKernelForWhatDiffersAndNothingElse) {
  make_ports(3, false);
  open(Offload::kOff);
  ASSERT_TRUE(put(0, Order::kDown));
  EXPECT_THAT(log(), ElementsAre("add clsact 1879048193 4c4c01 4c4c03",  //
                                 "put 4c4c01 0 20 0800 44", "put 4c4c01 0 20 0800 52",
                                 "put 4c4c01 0 21 86dd 44", "put 4c4c01 0 21 86dd 52",
                                 "put 4c4c03 0 20 0800 44", "put 4c4c03 0 20 0800 52",
                                 "put 4c4c03 0 21 86dd 44", "put 4c4c03 0 21 86dd 52"));
  ASSERT_TRUE(put(1, Order::kDown));
  EXPECT_THAT(log(), ElementsAre("add clsact 1879048194 4c4c01 4c4c03"));
  ASSERT_TRUE(put(2, Order::kUp));
  EXPECT_THAT(log(), ElementsAre("add clsact 1879048195 4c4c01 4c4c02",  //
                                 "put 4c4c02 0 20 0800 44", "put 4c4c02 0 20 0800 52",
                                 "put 4c4c02 0 21 86dd 44", "put 4c4c02 0 21 86dd 52",
                                 "put 4c4c02 1 20 0800 44", "put 4c4c02 1 20 0800 52",
                                 "put 4c4c02 1 21 86dd 44", "put 4c4c02 1 21 86dd 52",
                                 "put 4c4c02 0 10 0003 1879048195"));
  ASSERT_TRUE(put(1, Order::kUp));
  EXPECT_THAT(log(), ElementsAre("del clsact 1879048194", "add clsact 1879048194 4c4c01 4c4c02",
                                 "put 4c4c02 0 10 0003 1879048194"));
  ASSERT_TRUE(put(2, Order::kUnknown));
  EXPECT_THAT(log(), ElementsAre("del 4c4c02 0 10 0003 1879048195", "del clsact 1879048195",
                                 "add clsact 1879048195 4c4c01 4c4c03"));
  EXPECT_THAT(
      kernel().filters(),
      ElementsAre(
          "4c4c01 chain 0 pref 20 proto 0800 handle 44 type 0800 tos ac/fc software, priority 5",
          "4c4c01 chain 0 pref 20 proto 0800 handle 52 type 0800 tos cc/fc software, priority 6",
          "4c4c01 chain 0 pref 21 proto 86dd handle 44 type 86dd tos ac/fc software, priority 5",
          "4c4c01 chain 0 pref 21 proto 86dd handle 52 type 86dd tos cc/fc software, priority 6",
          "4c4c02 chain 0 pref 10 proto 0003 handle 1879048194 in 1879048194 software, goto 1",
          "4c4c02 chain 0 pref 20 proto 0800 handle 44 type 0800 tos ac/fc software, priority 5",
          "4c4c02 chain 0 pref 20 proto 0800 handle 52 type 0800 tos cc/fc software, priority 6",
          "4c4c02 chain 0 pref 21 proto 86dd handle 44 type 86dd tos ac/fc software, priority 5",
          "4c4c02 chain 0 pref 21 proto 86dd handle 52 type 86dd tos cc/fc software, priority 6",
          "4c4c02 chain 1 pref 20 proto 0800 handle 44 type 0800 tos ac/fc software, "
          "pedit ip4 00cc0000/ff03ffff, csum, priority 6",
          "4c4c02 chain 1 pref 20 proto 0800 handle 52 type 0800 tos cc/fc software, "
          "pedit ip4 00000000/ff03ffff, csum, priority 0",
          "4c4c02 chain 1 pref 21 proto 86dd handle 44 type 86dd tos ac/fc software, "
          "pedit ip6 0cc00000/f03fffff, priority 6",
          "4c4c02 chain 1 pref 21 proto 86dd handle 52 type 86dd tos cc/fc software, "
          "pedit ip6 00000000/f03fffff, priority 0",
          "4c4c03 chain 0 pref 20 proto 0800 handle 44 type 0800 tos ac/fc software, priority 5",
          "4c4c03 chain 0 pref 20 proto 0800 handle 52 type 0800 tos cc/fc software, priority 6",
          "4c4c03 chain 0 pref 21 proto 86dd handle 44 type 86dd tos ac/fc software, priority 5",
          "4c4c03 chain 0 pref 21 proto 86dd handle 52 type 86dd tos cc/fc software, priority 6"));
  // Of the next one, which finds the same, nothing is asked.
  open(Offload::kOff);
  for (int n : {0, 2}) EXPECT_TRUE(backend_->plan(port_of(n), rules_of(Order::kDown))->empty());
  for (int n : {0, 2}) ASSERT_TRUE(take(n));
  ASSERT_TRUE(take(1));
  EXPECT_THAT(log(), ElementsAre("del clsact 1879048193", "del clsact 1879048195",
                                 "del 4c4c02 0 10 0003 1879048194", "del clsact 1879048194"));
  EXPECT_THAT(kernel().filters(), IsEmpty());
  EXPECT_TRUE(take(1));
  EXPECT_THAT(log(), IsEmpty());
}

TEST_F(FlowerTest, OtherClassesTakeThePlaceOfTheFirst) {
  make_ports(2, false);
  open(Offload::kOff);
  for (int n : {0, 1}) ASSERT_TRUE(put(n, Order::kUp));
  log();
  const auto rules =
      qos::compile(*qos::Policy::parse("4:dscp43,6:dscp50", "0:dscp0"), {.order = Order::kUp});
  ASSERT_TRUE(put(0, rules));
  // Those of a class that is another now are put in its place, those of one that is no more go.
  EXPECT_EQ(log(),
            std::vector<std::string>(
                {"del 4c4c01 0 20 0800 44", "put 4c4c01 0 20 0800 44", "put 4c4c01 0 20 0800 51",
                 "del 4c4c01 0 21 86dd 44", "put 4c4c01 0 21 86dd 44", "put 4c4c01 0 21 86dd 51",
                 "del 4c4c01 0 20 0800 52", "del 4c4c01 0 21 86dd 52", "del 4c4c02 0 20 0800 44",
                 "put 4c4c02 0 20 0800 44", "put 4c4c02 0 20 0800 51", "del 4c4c02 0 21 86dd 44",
                 "put 4c4c02 0 21 86dd 44", "put 4c4c02 0 21 86dd 51", "del 4c4c02 1 20 0800 44",
                 "put 4c4c02 1 20 0800 44", "put 4c4c02 1 20 0800 51", "del 4c4c02 1 21 86dd 44",
                 "put 4c4c02 1 21 86dd 44", "put 4c4c02 1 21 86dd 51", "del 4c4c02 0 20 0800 52",
                 "del 4c4c02 0 21 86dd 52", "del 4c4c02 1 20 0800 52", "del 4c4c02 1 21 86dd 52"}));
  EXPECT_EQ(states(1, rules), kDone);
  EXPECT_EQ(states(1, Order::kUp),
            "classify missing: the filters at the ingress are not as wanted; remap missing: the "
            "filters at the egress are not as wanted");
}

TEST_F(FlowerTest, EveryFilterThatIsGoneIsMissed) {
  make_ports(2, false);
  open(Offload::kOff);
  ASSERT_TRUE(put(0, Order::kUp));
  ASSERT_TRUE(put(1, Order::kDown));
  const std::string classify =
      "classify missing: the filters at the ingress are not as wanted; remap done";
  const std::string remap =
      "classify done; remap missing: the filters at the egress are not as wanted";
  const std::string from =
      "classify missing: no filter matches what came in by this port; remap done";
  for (const std::string& line : kernel().filters()) {
    ASSERT_EQ(kernel().remove(line), 1U);
    EXPECT_THAT(backend_->take_events().changed, testing::Contains(Ifindex()));
    const bool ingress = line.starts_with("4c4c01"), up = line.starts_with("4c4c02");
    EXPECT_EQ(states(0, Order::kUp), ingress                                  ? classify
                                     : line.find("goto") != std::string::npos ? from
                                     : up                                     ? remap
                                                                              : kDone)
        << line;
    EXPECT_EQ(states(1, Order::kDown), ingress ? classify : up ? kDone : remap) << line;
    log();
    ASSERT_TRUE(put(0, Order::kUp));
    ASSERT_TRUE(put(1, Order::kDown));
    EXPECT_EQ(log().size(), 1U) << line;
    EXPECT_EQ(states(0, Order::kUp), kDone);
    EXPECT_EQ(states(1, Order::kDown), kDone);
  }
}

TEST_F(FlowerTest, WhateverRequestIsRefusedThePortIsAsItWas) {
  const auto begin = [&](Order order) {
    Kernel::reset();
    make_ports(2, false);
    open(Offload::kOff);
    ASSERT_TRUE(put(1, Order::kUp));
    if (order != Order::kUnknown) {
      ASSERT_TRUE(put(0, order));
    }
    log();
  };
  for (const Order before : {Order::kUnknown, Order::kUp, Order::kDown})
    for (const Order after : {Order::kUp, Order::kDown}) {
      if (before == after) continue;
      int refusals = 0;
      for (int at = 0;; ++at) {
        begin(before);
        const auto was = kernel().filters();
        kernel().refusal = fake::Refusal{at, ENOMEM, "no room"};
        const auto done = put(0, after);
        if (done) break;
        ++refusals;
        kernel().refusal.reset();
        EXPECT_THAT(text_of(done), AllOf(HasSubstr(port_of(0).name + ": " +
                                                   (before == Order::kUnknown ? "add" : "replace")),
                                         HasSubstr("refused: no room")));
        // At the port, and at the other in any case. A filter of a block that only it has may be
        // left.
        EXPECT_EQ(states(1, Order::kUp), kDone) << at;
        const bool undone = before == Order::kUnknown
                                ? !kernel().ports[number_of(0)].clsact
                                : kernel().ports[number_of(0)].egress_block ==
                                      (before == Order::kUp ? 0x4c4c02U : 0x4c4c03U);
        EXPECT_TRUE(undone) << to_string(before) << " to " << to_string(after) << ", request "
                            << at;
        if (before == Order::kUp) {
          EXPECT_EQ(states(0, Order::kUp), kDone) << at;
        }
        ASSERT_TRUE(put(0, after));
        EXPECT_EQ(states(0, after), kDone);
      }
      EXPECT_GT(refusals, 1);
    }
}

TEST_F(FlowerTest, WhateverIsRefusedWhileTheClassesChangeIsSaid) {
  const auto other =
      qos::compile(*qos::Policy::parse("4:dscp43,6:dscp50", "0:dscp0"), {.order = Order::kUp});
  int refusals = 0;
  for (int at = 0;; ++at) {
    Kernel::reset();
    make_ports(1, false);
    open(Offload::kOff);
    ASSERT_TRUE(put(0, Order::kUp));
    kernel().refusal = fake::Refusal{at, ENOMEM, "no room"};
    const auto done = put(0, other);
    if (kernel().refusal) break;  // there are not so many requests
    ++refusals;
    EXPECT_THAT(text_of(done), HasSubstr("refused: no room")) << at;
    EXPECT_TRUE(put(0, other));
    EXPECT_TRUE(backend_->plan(port_of(0), other)->empty());
  }
  EXPECT_GT(refusals, 4);
}

TEST_F(FlowerTest, PortsOfOnePlanShareWhatTheFirstOfThemNeeds) {
  make_ports(3, false);
  kernel().ports[0x70000009] = {.clsact = true};  // another's
  open(Offload::kOff);
  const auto planned = [&](int n, Order order) {
    return *backend_->plan(port_of(n), rules_of(order));
  };
  backend_->apply({.ports = {planned(0, Order::kUp), planned(1, Order::kUp)}});
  EXPECT_EQ(log().size(), 1 + 4 + 8 + 1 + 2U);
  // The blocks go with the last port, and all that was in them: who comes next begins anew.
  backend_->apply({.ports = {*backend_->plan_removal(port_of(0)),
                             *backend_->plan_removal(port_of(1)), planned(2, Order::kDown)}});
  EXPECT_EQ(log().size(), 2 + 2 + 1 + 4 + 4U);
  EXPECT_EQ(states(2, Order::kDown), kDone);
  backend_->apply({.ports = {planned(0, Order::kUp), *backend_->plan_removal(port_of(2)),
                             planned(1, Order::kDown)}});
  EXPECT_EQ(log().size(), 1 + 8 + 1 + 1 + 1 + 4U);
  EXPECT_EQ(states(0, Order::kUp), kDone);
  EXPECT_EQ(states(1, Order::kDown), kDone);
  for (const Outcome& outcome : backend_->take_events().outcomes) EXPECT_FALSE(outcome.why);
}

TEST_F(FlowerTest, NumbersOfInterfacesAndOfClassesAreKeptApart) {
  // The handles of the filters for DSCP 43 and 51 are 44 and 52.
  for (const std::uint32_t n : {44U, 52U}) kernel().ports[n] = {};
  open(Offload::kOff);
  const auto change = [&](std::uint32_t n, Order order) {
    const auto plan = backend_->plan({*Ifindex::make(n), std::to_string(n)}, rules_of(order));
    return finish(*backend_, *plan);
  };
  for (const std::uint32_t n : {44U, 52U}) ASSERT_TRUE(change(n, Order::kUp));
  log();
  ASSERT_TRUE(change(44, Order::kDown));
  EXPECT_EQ(log().size(), 3 + 4U);
  kernel().another(52, "vanish");
  backend_->forget(Ifindex::of<52>());
  EXPECT_THAT(log(), IsEmpty());  // its block went with it
  ASSERT_TRUE(change(44, Order::kUp));
  kernel().ports[52] = {};
  ASSERT_TRUE(change(52, Order::kUp));
  log();
  kernel().another(52, "vanish");
  backend_->forget(Ifindex::of<52>());
  EXPECT_THAT(log(), ElementsAre("del 4c4c02 0 10 0003 52"));
  ASSERT_TRUE(finish(*backend_, *backend_->plan_removal({Ifindex::of<44>(), "44"})));
  EXPECT_THAT(log(), ElementsAre("del 4c4c02 0 10 0003 44", "del clsact 44"));
}

TEST_F(FlowerTest, RefusalOfARemovalIsSaid) {
  make_ports(1, false);
  open(Offload::kOff);
  for (const int at : {0, 1}) {
    ASSERT_TRUE(put(0, Order::kUp));
    kernel().refusal = fake::Refusal{at, EBUSY, "not now"};
    EXPECT_EQ(text_of(take(0)), port_of(0).name + ": remove classify: refused: not now") << at;
    EXPECT_TRUE(kernel().ports[number_of(0)].clsact);
  }
  // Somebody else was quicker.
  for (const int code : {ENOENT, EINVAL})
    for (const int at : {0, 1}) {
      ASSERT_TRUE(put(0, Order::kUp));
      kernel().refusal = fake::Refusal{at, code, ""};
      EXPECT_TRUE(take(0));
    }
}

TEST_F(FlowerTest, QdiscOfAnotherIsForeignAndStays) {
  make_ports(2, false);
  open(Offload::kAuto);
  for (const char* qdisc : {"add clsact", "add ingress"}) {
    kernel().another(number_of(0), qdisc);
    EXPECT_THAT(states(0, Order::kUp),
                AllOf(HasSubstr("classify foreign: a clsact or ingress qdisc that is not ours"),
                      HasSubstr("remap foreign")));
    EXPECT_TRUE(backend_->verify(port_of(0), rules_of(Order::kUp))->mend.empty());
    EXPECT_THAT(
        text_of(put(0, Order::kUp)),
        HasSubstr("add classify: a clsact or ingress qdisc that is not ours stands on the port"));
    ASSERT_TRUE(take(0));
    EXPECT_THAT(*backend_->ports(), IsEmpty());
    EXPECT_THAT(kernel().filters(), IsEmpty());
    kernel().another(number_of(0), "del clsact");
  }
  // One of another that shares our ingress block, and not our egress.
  kernel().another(number_of(1), "add clsact");
  kernel().ports[number_of(1)].ingress_block = 0x4c4c01;
  kernel().ports[number_of(1)].egress_block = 7;
  EXPECT_THAT(states(1, Order::kUp), HasSubstr("classify foreign"));
  kernel().ports[number_of(1)].ingress_block = 7;
  kernel().ports[number_of(1)].egress_block = 0x4c4c02;
  kernel().another(number_of(0), "");
  EXPECT_THAT(states(1, Order::kUp), HasSubstr("classify foreign"));
  EXPECT_THAT(log(), IsEmpty());
}

TEST_F(FlowerTest, ForeignQdiscThatCameSinceIsSaidToBeOne) {
  make_ports(1, false);
  open(Offload::kAuto);
  const auto plan = backend_->plan(port_of(0), rules_of(Order::kUp));
  kernel().refusal = fake::Refusal{0, EEXIST, ""};
  EXPECT_THAT(text_of(finish(*backend_, *plan)), HasSubstr("that is not ours stands on the port"));
}

TEST_F(FlowerTest, LayersAreUnsupportedAndTheRulesGo) {
  make_ports(1, false);
  open(Offload::kAuto);
  ASSERT_TRUE(put(0, Order::kUp));
  auto layered = rules_of(Order::kUp);
  layered.layered = true;
  EXPECT_EQ(states(0, layered),
            "classify unsupported: flower cannot tell layers apart: use bpf; remap "
            "unsupported: flower cannot tell layers apart: use bpf");
  EXPECT_EQ(backend_->plan(port_of(0), layered)->want, layered);
  ASSERT_TRUE(put(0, layered));
  EXPECT_FALSE(kernel().ports[number_of(0)].clsact);
  EXPECT_TRUE(backend_->plan(port_of(0), layered)->empty());
}

TEST_F(FlowerTest, AutomaticTakesTheDriverAndElseTheKernel) {
  make_ports(2, true);
  open(Offload::kAuto);
  EXPECT_EQ(backend_->description(), "tc flower on clsact, blocks 5000193 to 5000198");
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(states(0, Order::kUp), kDone);
  EXPECT_EQ(kernel().link_reads, 0U);  // in hardware, nothing goes past
  EXPECT_EQ(backend_->description(),
            "tc flower on clsact, blocks 5000193 to 5000198, in hardware, 0 packets of dscp43 "
            "turned, 0 packets of dscp51 turned");
  ASSERT_TRUE(take(0));
  kernel().takes_filters = false;
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_THAT(kernel().filters(), testing::Each(HasSubstr("software")));
  const std::string past =
      "in software, and the switch chip forwards past the kernel: RTM_NEWTFILTER: The table of "
      "rules is full";
  EXPECT_EQ(states(0, Order::kUp), "classify bypassed: " + past + "; remap bypassed: " + past);
  EXPECT_THAT(backend_->description(),
              HasSubstr(", in software (RTM_NEWTFILTER: The table of rules is full), 0 packets"));
  // The second port goes where the first is, and what is there decides for the next one opened.
  kernel().takes_filters = true;
  ASSERT_TRUE(put(1, Order::kUp));
  EXPECT_THAT(kernel().filters(), testing::Each(HasSubstr("software")));
  open(Offload::kAuto);
  EXPECT_TRUE(backend_->plan(port_of(1), rules_of(Order::kUp))->empty());
  for (int n : {0, 1}) ASSERT_TRUE(take(n));
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_THAT(kernel().filters(), testing::Each(HasSubstr("hardware")));
  EXPECT_THAT(backend_->description(), Not(HasSubstr("full")));
}

TEST_F(FlowerTest, WhatIsAskedForIsDoneOrRefused) {
  make_ports(2, true);
  open(Offload::kOff);
  EXPECT_EQ(backend_->capabilities(),
            (Capabilities{Support::kSoftware, Support::kSoftware, Support::kNo, Support::kNo}));
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_THAT(kernel().filters(), testing::Each(HasSubstr("software")));
  open(Offload::kRequire);
  EXPECT_EQ(backend_->capabilities(),
            (Capabilities{Support::kHardware, Support::kHardware, Support::kNo, Support::kNo}));
  EXPECT_THAT(states(0, Order::kUp),
              AllOf(HasSubstr("classify missing"), HasSubstr("remap missing")));
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_THAT(kernel().filters(), testing::Each(HasSubstr("hardware")));
  ASSERT_TRUE(take(0));
  kernel().takes_filters = false;
  EXPECT_THAT(text_of(put(0, Order::kUp)), HasSubstr("The table of rules is full"));
  EXPECT_FALSE(kernel().ports[number_of(0)].clsact);
}

TEST_F(FlowerTest, PortsThatNoDriverTakesAreNamedForWhatTheyAre) {
  make_ports(2, true);
  kernel().ports[number_of(1)].chip = false;
  open(Offload::kAuto);
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_THAT(
      text_of(put(1, Order::kUp)),
      HasSubstr("the driver takes no rules here, and those of other ports are in hardware"));
  EXPECT_EQ(states(0, Order::kUp), kDone);
  open(Offload::kRequire);
  ASSERT_TRUE(take(0));
  EXPECT_THAT(text_of(put(1, Order::kUp)), HasSubstr("takes no flower filters at the ingress"));
  for (const auto& [at, way] : {std::pair(1, "ingress"), std::pair(5, "egress")}) {
    kernel().refusal = fake::Refusal{at, EOPNOTSUPP, ""};
    EXPECT_THAT(text_of(put(0, Order::kUp)),
                HasSubstr(std::string("the driver of this port, or of another with rules, takes no "
                                      "flower filters at the ") +
                          way));
    kernel().refusal = fake::Refusal{at, EOPNOTSUPP, "The driver's words"};
    EXPECT_THAT(text_of(put(0, Order::kUp)), HasSubstr("refused: The driver's words"));
  }
}

TEST_F(FlowerTest, KernelWithoutFlowerIsNotTakenForADriver) {
  make_ports(1, false);
  open(Offload::kOff);
  kernel().refusal = fake::Refusal{1, EOPNOTSUPP, ""};
  EXPECT_THAT(text_of(put(0, Order::kUp)), HasSubstr("this kernel lacks a qdisc or classifier"));
}

TEST_F(FlowerTest, ErrorsThatSoftwareWouldHaveTooAreNotTriedThere) {
  make_ports(1, true);
  open(Offload::kAuto);
  for (const int code : {EPERM, EEXIST, ENODEV}) {
    kernel().refusal = fake::Refusal{1, code, ""};
    EXPECT_FALSE(put(0, Order::kUp)) << code;
    EXPECT_FALSE(kernel().ports[number_of(0)].clsact);
    EXPECT_THAT(backend_->description(), Not(HasSubstr("refused")));
    kernel().refusal.reset();
  }
}

TEST_F(FlowerTest, WhatTheDriverLetsGoIsSeenAtAGlance) {
  make_ports(2, true);
  open(Offload::kRequire);
  ASSERT_TRUE(put(0, Order::kUp));
  ASSERT_TRUE(put(1, Order::kDown));
  (void)backend_->take_events();
  const std::vector<Ifindex> both{port_of(0).ifindex, port_of(1).ifindex};
  EXPECT_EQ(backend_->glance(both, Backend::Glance::kOfTime), both);  // it has not looked yet
  EXPECT_THAT(backend_->glance(both, Backend::Glance::kOfTime), IsEmpty());
  kernel().evict(0x4c4c02);
  EXPECT_EQ(states(0, Order::kUp), kDone);  // nobody has told
  EXPECT_EQ(backend_->glance(both, Backend::Glance::kOfTime), both);
  EXPECT_THAT(states(0, Order::kUp),
              AllOf(HasSubstr("classify missing: the filter for what came in by this port is not"),
                    HasSubstr("remap missing")));
  EXPECT_EQ(states(1, Order::kDown), kDone);
  EXPECT_THAT(backend_->glance(both, Backend::Glance::kOfTime), IsEmpty());
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(states(0, Order::kUp), kDone);
  // A qdisc of another kind, filters as they were.
  (void)backend_->glance(both, Backend::Glance::kOfTime);
  kernel().ports[0x70000009] = {.ingress_qdisc = true};
  EXPECT_EQ(backend_->glance(both, Backend::Glance::kOfTime), both);
}

TEST_F(FlowerTest, WhatOthersChangeIsToldAndSeenAtOnce) {
  make_ports(2, false);
  open(Offload::kOff);
  ASSERT_TRUE(put(0, Order::kUp));
  pollfd ready{.fd = backend_->events(), .events = POLLIN, .revents = 0};
  (void)backend_->take_events();
  EXPECT_EQ(::poll(&ready, 1, 0), 0);
  EXPECT_EQ(states(0, Order::kUp), kDone);
  const unsigned dumps = kernel().dumps;
  EXPECT_EQ(states(0, Order::kUp), kDone);
  EXPECT_EQ(kernel().dumps, dumps);  // nothing was told: it is as it was
  kernel().another(number_of(0), "del clsact");
  EXPECT_EQ(states(0, Order::kUp), "classify missing: not there; remap missing: not there");
  EXPECT_EQ(::poll(&ready, 1, 0), 1);
  EXPECT_THAT(backend_->take_events().changed, ElementsAre(port_of(0).ifindex));
  ASSERT_TRUE(put(0, Order::kUp));
  EXPECT_EQ(states(0, Order::kUp), kDone);
}

TEST_F(FlowerTest, FilterOfAVanishedPortGoesAndOthersStay) {
  make_ports(3, false);
  open(Offload::kOff);
  for (int n : {0, 1}) ASSERT_TRUE(put(n, Order::kUp));
  ASSERT_TRUE(put(2, Order::kDown));
  log();
  backend_->forget(port_of(0).ifindex);  // which is there
  EXPECT_THAT(log(), IsEmpty());
  kernel().another(number_of(0), "vanish");
  backend_->forget(port_of(0).ifindex);
  EXPECT_THAT(log(), ElementsAre("del 4c4c02 0 10 0003 1879048193"));
  EXPECT_THAT(*backend_->ports(), ElementsAre(port_of(1), port_of(2)));
  EXPECT_EQ(states(1, Order::kUp), kDone);
  kernel().another(number_of(2), "vanish");
  backend_->forget(port_of(2).ifindex);
  EXPECT_THAT(log(), IsEmpty());
}

TEST_F(FlowerTest, ErrorsOfReadingAreSaid) {
  make_ports(1, false);
  open(Offload::kOff);
  kernel().refusal = fake::Refusal{-1, EPERM, ""};
  EXPECT_FALSE(backend_->plan(port_of(0), rules_of(Order::kUp)));
  EXPECT_FALSE(backend_->ports());
  EXPECT_FALSE(backend_->verify(port_of(0), rules_of(Order::kUp)));
  const std::vector<Ifindex> one{port_of(0).ifindex};
  EXPECT_EQ(backend_->glance(one, Backend::Glance::kOfTime), one);
  backend_->apply({.ports = {{.port = port_of(0),
                              .want = rules_of(Order::kUp),
                              .changes = {{Action::kAdd, Part::kRemap}}}}});
  const Events events = backend_->take_events();
  ASSERT_EQ(events.outcomes.size(), 1U);
  EXPECT_EQ(events.outcomes[0].port, port_of(0).ifindex);
  EXPECT_TRUE(events.outcomes[0].why);
  EXPECT_THAT(events.changed, ElementsAre(port_of(0).ifindex));
  kernel().refusal.reset();
  // A port that is not there: what it says of itself cannot be read.
  EXPECT_FALSE(backend_->verify(port_of(7), rules_of(Order::kUp)));
  // Older kernels have no dump of a block without ports.
  for (const int code : {EINVAL, ENOENT}) {
    Kernel::reset();
    make_ports(1, false);
    open(Offload::kOff);
    kernel().no_such_block = code;
    ASSERT_TRUE(put(0, Order::kUp)) << code;
    EXPECT_EQ(states(0, Order::kUp), kDone) << code;
  }
}

}  // namespace
}  // namespace lldp::dataplane
