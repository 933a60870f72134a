// SPDX-License-Identifier: Apache-2.0
// Topologies and traffic in the formats of other simulators.
#include <gmock/gmock.h>

#include "lab/topology/generators.hpp"
#include "lab/topology/hpcc.hpp"
#include "sim/packets/report.hpp"
#include "sim/packets/run.hpp"
#include "sim/packets/workload/foreign.hpp"

namespace lldp::lab::packets {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Hosts 0 and 1 at switch 4, 2 and 3 at switch 5, one link between the switches.
constexpr std::string_view kDumbbell =
    "6 2 5\n"
    "4 5\n"
    "0 4 100Gbps 0.001ms 0\n"
    "1 4 100Gbps 1us 0\n"
    "2 5 100Gbps 1000ns 0.000000\n"
    "3 5 100000Mbps 1e-6s 0\n"
    "4 5 100Gbps 0.001ms 0\n";

Plan dumbbell() {
  auto fabric = fabric_from_hpcc(kDumbbell);
  EXPECT_TRUE(fabric) << to_string(fabric.error());
  Plan plan{.fabric = std::move(*fabric)};
  plan.failed.resize(plan.fabric.links.size());
  return plan;
}

Plan with(std::string_view traffic, HostTransport transport = HostTransport::kGoBackN) {
  Plan plan = dumbbell();
  const auto added = add_foreign_traffic(plan, traffic, transport);
  EXPECT_TRUE(added) << to_string(added.error());
  return plan;
}

Outcome outcome_of_foreign(const Plan& plan) {
  auto outcome = run(plan);
  EXPECT_TRUE(outcome) << to_string(outcome.error());
  return std::move(*outcome);
}

std::string refusal(std::string_view traffic) {
  Plan plan = dumbbell();
  const auto added = add_foreign_traffic(plan, traffic, HostTransport::kGoBackN);
  return added ? "taken" : to_string(added.error());
}

/// From its start to its last octet, over so many links of 1 us and 100 Gb/s, alone there; of whole
/// frames.
Picoseconds unloaded(std::uint64_t octets, std::uint64_t links) {
  return (octets / 1000 + links - 1) * 1048 * 80 + links * kMicrosecond;
}

TEST(ForeignTraffic, GoesOtherWaysWithAnotherSeed) {
  const auto hashes = [](std::uint64_t seed) {
    Plan plan = dumbbell();
    plan.settings.seed = seed;
    const auto added = add_foreign_traffic(
        plan, "Nodes 4\nConnections 2\n0->2 start 0 size 5000\n1->3 start 0 size 5000\n",
        HostTransport::kGoBackN);
    EXPECT_TRUE(added);
    return std::pair(plan.flows.at(0).way.hash, plan.flows.at(1).way.hash);
  };
  EXPECT_EQ(hashes(1), hashes(1));
  EXPECT_NE(hashes(1).first, hashes(2).first);
  EXPECT_NE(hashes(1).second, hashes(2).second);
  EXPECT_NE(hashes(2), hashes(3));
}

TEST(HpccTopology, HasNodesByTheirNumbersAndLinksAsTheyAreWritten) {
  const auto fabric = fabric_from_hpcc(kDumbbell);
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  ASSERT_EQ(fabric->nodes.size(), 6U);
  EXPECT_EQ(fabric->nodes[3].name, "3");
  EXPECT_EQ(fabric->nodes[3].role, Role::kHost);
  EXPECT_EQ(fabric->nodes[4].role, Role::kSwitch);
  ASSERT_EQ(fabric->links.size(), 5U);
  for (const Link& l : fabric->links) {
    EXPECT_EQ(l.rate_bps, 100'000'000'000);
    EXPECT_EQ(l.delay_ns, 1000U);
  }
}

TEST(HpccTopology, NeedsNoSwitch) {
  const auto fabric = fabric_from_hpcc("2 0 1\n\n0 1 100Gbps 1us 0\n");
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  for (const Node& node : fabric->nodes) EXPECT_EQ(node.role, Role::kHost);
}

/// SimAI's header: nodes, GPUs of a server, NVSwitches, other switches, links, the GPU's name.
TEST(HpccTopology, OfSimAiHasNvSwitchesToo) {
  const auto fabric = fabric_from_hpcc(
      "6 2 2 1 6 A100\n4 5 3\n0 4 2400Gbps 0.000025ms 0\n1 4 2400Gbps 0.000025ms 0\n"
      "2 5 2400Gbps 0.000025ms 0\n0 3 200Gbps 0.0005ms 0\n1 3 200Gbps 0.0005ms 0\n"
      "2 3 200Gbps 0.0005ms 0\n");
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  EXPECT_EQ(fabric->links.size(), 6U);
  EXPECT_EQ(fabric->links[0].rate_bps, 2'400'000'000'000U);
  EXPECT_EQ(fabric->links[3].delay_ns, 500U);
  for (std::size_t n = 0; n < 6; ++n)
    EXPECT_EQ(fabric->nodes[n].role, n < 3 ? Role::kHost : Role::kSwitch) << n;
  EXPECT_THAT(to_string(fabric_from_hpcc("6 2 5 2 6 A100\n").error()),
              HasSubstr("line 1: `2`: the number of switches is a whole number from 0 to 1"));
}

TEST(HpccTopology, IsRefusedWithTheLine) {
  const auto refused = [](std::string_view text) {
    const auto fabric = fabric_from_hpcc(text);
    return fabric ? std::string("taken") : to_string(fabric.error());
  };
  EXPECT_THAT(refused(""), HasSubstr("line 1: the end of the file: the number of nodes"));
  EXPECT_THAT(refused("3 1 2\n3\n"),
              HasSubstr("line 2: `3`: a switch is a whole number from 0 to 2"));
  EXPECT_THAT(refused("3 2 2\n2 2\n"), HasSubstr("line 2: 2 is named as a switch twice"));
  EXPECT_THAT(refused("3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100 1us 0\n"),
              HasSubstr("line 4: `100`: a rate has a unit"));
  EXPECT_THAT(refused("3 1 2\n2\n0 2 -1Gbps 1us 0\n"), HasSubstr("line 3: `-1`: a rate"));
  EXPECT_THAT(refused("3 1 2\n2\n0 2 0bps 1us 0\n"), HasSubstr("line 3: a rate of 0"));
  EXPECT_THAT(refused("3 1 2\n2\n0 2 nanGbps 1us 0\n"), HasSubstr("line 3: `nan`: a rate"));
  EXPECT_THAT(refused("3 1 2\n2\n0 2 1Gbps 1h 0\n"), HasSubstr("line 3: `1h`: a delay has a unit"));
  EXPECT_THAT(refused("3 1 2\n2\n0 2 1Gbps 2s 0\n"), HasSubstr("line 3: `2`: a delay"));
  EXPECT_THAT(refused("3 1 2\n2\n0 2 1Gbps 1us 1\n"),
              HasSubstr("line 3: an error rate of 1: no frame would arrive"));
  const auto lossy = fabric_from_hpcc("3 1 2\n2\n0 2 1Gbps 1us 0.001\n1 2 1Gbps 1us 0\n");
  ASSERT_TRUE(lossy) << to_string(lossy.error());
  EXPECT_EQ(lossy->links[0].loss_ppb, 1'000'000U);
  EXPECT_EQ(lossy->links[1].loss_ppb, 0U);
  EXPECT_THAT(refused("3 1 2\n2\n0 0 1Gbps 1us 0\n"), HasSubstr("line 3: a link from 0 to itself"));
  EXPECT_THAT(refused("3 1 2\n2\n0 2 1Gbps 1us 0\n"),
              HasSubstr("the end of the file: an end of a link"));
  EXPECT_THAT(refused("3 1 1\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n"),
              HasSubstr("line 4: there are more than 1 links"));
  EXPECT_THAT(refused("99999999999999999999 1 1"), HasSubstr("line 1: "));
}

TEST(HpccFlows, BeginWithTheFirstAndTakeWhatTheirLinksTake) {
  const Plan plan = with("2\n0 2 3 100 10000 2\n3 1 3 101 5000 2.0005\n");
  const Outcome o = outcome_of_foreign(plan);
  ASSERT_EQ(o.flows.size(), 2U);
  EXPECT_EQ(flow_name(plan, plan.flows[0]), "1");
  EXPECT_EQ(o.flows[0].fct, unloaded(10'000, 3));
  EXPECT_EQ(o.flows[1].fct, unloaded(5000, 3));
  EXPECT_EQ(plan.flows[0].spec.start, 0U);
  EXPECT_EQ(plan.flows[1].spec.start, 500 * kMicrosecond);
}

/// ConWeave's have no port.
TEST(HpccFlows, MayHaveFiveColumns) {
  const Plan plan = with("2\n0 2 3 10000 2\n3 1 3 5000 2.0005\n");
  ASSERT_EQ(plan.flows.size(), 2U);
  EXPECT_EQ(plan.flows[0].spec.octets, 10'000U);
  EXPECT_EQ(plan.flows[1].spec.octets, 5'000U);
  EXPECT_EQ(plan.flows[1].spec.start, 500 * kMicrosecond);
  EXPECT_THAT(refusal("1\n0 1 3 0 2\n"), HasSubstr("line 2: `0`: a size"));
  EXPECT_THAT(refusal("1\n0 1 3 70000 10 2\n"), HasSubstr("line 2: `70000`: a port"));
}

TEST(HpccFlows, AreRefusedWithTheLine) {
  EXPECT_THAT(refusal("1\n0 9 3 100 10000 2\n"),
              HasSubstr("line 2: `9`: the fabric has no such host (4 hosts)"));
  EXPECT_THAT(refusal("1\n0 4 3 100 10000 2\n"),
              HasSubstr("line 2: `4`: the fabric has no such host"))
      << "a switch";
  EXPECT_THAT(refusal("1\n0 0 3 100 10000 2\n"), HasSubstr("line 2: a flow from a host to itself"));
  EXPECT_THAT(refusal("1\n0 1 8 100 10000 2\n"), HasSubstr("line 2: `8`: a priority group"));
  EXPECT_THAT(refusal("1\n0 1 3 100 0 2\n"), HasSubstr("line 2: `0`: a size"));
  EXPECT_THAT(refusal("1\n0 1 3 100 10 inf\n"), HasSubstr("line 2: `inf`: a time in seconds"));
  EXPECT_THAT(refusal("2\n0 1 3 100 10 2\n"),
              HasSubstr("the end of the file: the fabric has no such host"));
  EXPECT_THAT(refusal("1\n0 1 3 100 10 2\n0 1 3 100 10 2\n"),
              HasSubstr("line 3: there are more than 1 flows"));
  EXPECT_THAT(refusal(""), HasSubstr("this is no flow.txt of HPCC"));
  EXPECT_THAT(refusal("hello"), HasSubstr("this is no flow.txt of HPCC"));
}

TEST(ConnectionMatrix, TriggersBeginOneWhenAnotherHasArrived) {
  const Plan plan = with(
      "Nodes 4\nConnections 4\nTriggers 2\n"
      "0->2 id 1 start 0 size 10000 send_done_trigger 1\n"
      "2->1 id 2 trigger 1 size 5000 recv_done_trigger 7\n"
      "3->2 id 4 start 2e6 size 1000 recv_done_trigger 7\n"
      "1->3 id 9 trigger 7 size 2000 prio 3\n"
      "trigger id 1 oneshot\n"
      "trigger id 7 barrier count 2\n");
  const Outcome o = outcome_of_foreign(plan);
  ASSERT_EQ(o.flows.size(), 4U);
  const auto as_alone = [](const FlowResult& f, std::uint64_t octets) {  // but for others' ACKs
    return f.fct >= unloaded(octets, 3) && f.fct <= unloaded(octets, 3) + 4 * 64 * 80;
  };
  EXPECT_EQ(o.flows[0].fct, unloaded(10'000, 3));
  EXPECT_TRUE(as_alone(o.flows[1], 5000));
  EXPECT_EQ(flow_name(plan, plan.flows[3]), "9");
  EXPECT_TRUE(as_alone(o.flows[3], 2000));
}

TEST(ConnectionMatrix, IsRefusedWithTheLine) {
  const auto refused = [](const std::string& lines) {
    return refusal("Nodes 4\nConnections 1\n" + lines);
  };
  EXPECT_THAT(refusal("Nodes 5\n"), HasSubstr("line 1: 5 nodes, and the fabric has 4 hosts"));
  EXPECT_THAT(refusal("Nodes 4\nTriggers 1\n"),
              HasSubstr("line 2: `Triggers`: `Connections N` follows"));
  EXPECT_THAT(refused("0->4 start 0 size 1\n"),
              HasSubstr("line 3: `4`: a node is a number below 4"));
  EXPECT_THAT(refused("0->0 start 0 size 1\n"),
              HasSubstr("line 3: a connection from a node to itself"));
  EXPECT_THAT(refused("0->1 start 0\n"), HasSubstr("line 3: a connection without a size"));
  EXPECT_THAT(refused("0->1 size 5\n"),
              HasSubstr("line 3: give a connection a start or a trigger"));
  EXPECT_THAT(refused("0->1 start 0 colour 5\n"),
              HasSubstr("line 3: `colour`: there is no such key"));
  EXPECT_THAT(refused("0->1 trigger 3 size 5\n"),
              HasSubstr("trigger 3 is used, and described nowhere"));
  EXPECT_THAT(refused("0->1 trigger 3 size 5\ntrigger id 3 oneshot\n"),
              HasSubstr("line 3: trigger 3 never comes: 0 of 1"));
  EXPECT_THAT(refused("0->1 start 0 size 5\ntrigger id 3 sometimes\n"),
              HasSubstr("line 4: `sometimes`: there are oneshot"));
  EXPECT_THAT(refused("0->1 start 0 size 5 id 3\n0->1 start 0 size 5 id 3\n"),
              HasSubstr("line 4: id 3 is given twice"));
  EXPECT_THAT(refused(""), HasSubstr("1 connections are announced, 0 are there"));
  EXPECT_THAT(refused("Failures 1\n"),
              HasSubstr("line 3: `1`: the number of failures is a whole number from 0 to 0"));
}

/// A ping-pong with 700 ns of work between.
constexpr std::string_view kPingPong =
    "num_ranks 2 // two\n"
    "rank 0 {\n"
    "a: send 5000b to 1 tag 3 cpu 0 nic 0\n"
    "b: recv 2000b from 1 tag 4\n"
    "b requires a\n"
    "}\n"
    "/* the other\n   one */\n"
    "rank 1 {\n"
    "x: recv 5000b from 0 tag 3\n"
    "y: calc 300\n"
    "z: calc 400 cpu 0\n"
    "s: send 2000b to 0 tag 4\n"
    "y requires x\n"
    "z irequires y\n"
    "s requires y\n"
    "s requires z\n"
    "}\n";

TEST(Goal, HappensInTheOrderOfItsDependencies) {
  Plan plan = with(kPingPong);
  ASSERT_EQ(plan.flows.size(), 2U);
  std::vector<Picoseconds> begun;
  Hooks hooks;
  hooks.trace = [&](Picoseconds at, const Slot& f) {
    if (f.kind == Kind::kData && f.number == 0 && f.arc % 2 == 0 && f.arc < 8 &&
        begun.size() == f.flow)
      begun.push_back(at);
  };
  const auto o = run(plan, hooks);
  ASSERT_TRUE(o) << to_string(o.error());
  EXPECT_EQ(o->flows[0].fct, unloaded(5000, 2));
  EXPECT_EQ(o->flows[1].fct, unloaded(2000, 2));
  ASSERT_EQ(begun.size(), 2U);
  // z may begin with y, and waits for the same processor.
  EXPECT_EQ(begun[1], unloaded(5000, 2) + 700 * kNanosecond);
}

TEST(Goal, AMessageMayComeBeforeItIsWanted) {
  const Outcome o = outcome_of_foreign(
      with("num_ranks 3\nrank 0 {\na: send 1000b to 1\nb: send 0b to 1\n}\n"
           "rank 1 {\nw: calc 50000\nr: recv 1000b from 0\nq: recv 0b from 0\ns: send 1000b to 2\n"
           "r requires w\nq requires r\ns requires q\n}\nrank 2 {\nrecv 1000b from 1\n}\n"));
  ASSERT_EQ(o.flows.size(), 3U);
  EXPECT_TRUE(o.flows[2].fct);
  EXPECT_EQ(o.flows[1].received_octets, 1U) << "a message of nothing is one octet";
}

TEST(Goal, IsRefusedWithTheLine) {
  const auto refused = [](const std::string& lines) {
    return refusal("num_ranks 2\nrank 0 {\n" + lines);
  };
  EXPECT_THAT(refusal("num_ranks 5\n"), HasSubstr("line 1: 5 ranks, and the fabric has 4 hosts"));
  EXPECT_THAT(refused("calc 5\n"), HasSubstr("line 4: rank 0 has no `}`"));
  EXPECT_THAT(refused("}\nrank 0 {"), HasSubstr("line 4: rank 0 comes twice"));
  EXPECT_THAT(refused("jump 5\n}"), HasSubstr("line 3: `jump`: there are calc, send and recv"));
  EXPECT_THAT(refused("send 5 to 1\n}"), HasSubstr("line 3: `5`: a size is written as `100b`"));
  EXPECT_THAT(refused("send -1b to 1\n}"), HasSubstr("line 3: `-1`: a size is a whole number"));
  EXPECT_THAT(refused("send 5b to 2\n}"),
              HasSubstr("line 3: `2`: a rank is a whole number from 0 to 1"));
  EXPECT_THAT(refused("send 5b to 0\n}"), HasSubstr("line 3: a message from a rank to itself"));
  EXPECT_THAT(refused("send 5b from 1\n}"), HasSubstr("line 3: `from`: `to` is wanted"));
  EXPECT_THAT(refused("send 5b to 1 colour 3\n}"),
              HasSubstr("line 3: `colour`: there are tag, cpu and nic"));
  EXPECT_THAT(refused("send 5b to 1\n}"),
              HasSubstr("line 3: 1 sends and 0 receives from 0 to 1 with tag 0"));
  EXPECT_THAT(refused("a: calc 5\na: calc 5\n}"), HasSubstr("line 4: label `a` is given twice"));
  EXPECT_THAT(refused("a: calc 5\na requires b\n}"),
              HasSubstr("line 4: `b`: no operation of this rank has that label"));
  EXPECT_THAT(refused("a: calc 5\nb: calc 5\na requires b\nb irequires a\n}"),
              HasSubstr("line 3: waits for itself in a circle"));
  EXPECT_THAT(refused("send 5b to 1\n}\nrank 1 {\nrecv 6b from 0\n}"),
              HasSubstr("line 3: 5 octets are sent and 6 received from 0 to 1 with tag 0"));
  EXPECT_THAT(refused("calc 1000000000000000\ncalc 1\n}"),
              HasSubstr("line 4: all that is computed takes more"));
}

TEST(Goal, RefusesACircleAcrossRanks) {
  EXPECT_THAT(refusal("num_ranks 2\nrank 0 {\nr: recv 5b from 1\ns: send 5b to 1\ns requires r\n}\n"
                      "rank 1 {\nr: recv 5b from 0\ns: send 5b to 0\ns requires r\n}\n"),
              HasSubstr("line 3: waits for itself in a circle"));
}

TEST(ConnectionMatrix, RefusesACircleOfTriggers) {
  EXPECT_THAT(refusal("Nodes 2\nConnections 2\nTriggers 2\n"
                      "0->1 id 1 trigger 2 size 100 send_done_trigger 1\n"
                      "1->0 id 2 trigger 1 size 100 send_done_trigger 2\n"
                      "trigger id 1 oneshot\ntrigger id 2 oneshot\n"),
              HasSubstr("waits for itself in a circle"));
}

TEST(ConnectionMatrix, TellsTheLineOfACircleInTheSecondFile) {
  Plan plan = with(kPingPong);
  const auto added = add_foreign_traffic(plan,
                                         "Nodes 2\nConnections 1\nTriggers 1\n"
                                         "0->1 id 1 trigger 1 size 100 send_done_trigger 1\n"
                                         "trigger id 1 oneshot\n",
                                         HostTransport::kGoBackN);
  ASSERT_FALSE(added);
  EXPECT_THAT(to_string(added.error()), HasSubstr("line 4: waits for itself in a circle"));
}

TEST(ConnectionMatrix, TakesATriggerThatNobodyWaitsFor) {
  const auto o =
      outcome_of_foreign(with("Nodes 2\nConnections 1\nTriggers 2\n"
                              "0->1 id 1 start 0 size 1000 send_done_trigger 1\n"
                              "trigger id 1 barrier 3\ntrigger id 2 oneshot\n"));
  EXPECT_EQ(o.flows[0].fct, unloaded(1000, 2));
}

TEST(ConnectionMatrix, MayHaveLinesThatBeginWithAHash) {
  const Plan plan = with(
      "# two of them\n"
      "Nodes 4\n"
      "Connections 2\n"
      "  # a header's\r\n"
      "0->2 start 0 size 1000\n"
      "#1->2 start 0 size 1000\n"
      "1->3 start 0 size 2000\n"
      "#");
  ASSERT_EQ(plan.flows.size(), 2U);
  EXPECT_EQ(plan.flows[1].spec.octets, 2000U);
  EXPECT_THAT(refusal("# one\n# two\nNodes 4\nConnections 1\n0->9 start 0 size 1\n"),
              HasSubstr("line 5: `9`"));
  EXPECT_THAT(refusal("Nodes 4\nConnections 1\n0->2 start 0 size 1 # why\n"),
              HasSubstr("line 3: `#`: there is no such key"));
  EXPECT_THAT(refusal("# 1\n0 2 3 100 1000 2.0\n"), HasSubstr("this is no flow.txt"));
}

TEST(ConnectionMatrix, MaySayThatNothingFails) {
  const std::string connection = "0->1 start 0 size 1000\n";
  for (const char* header :
       {"Failures 0\n", "Triggers 0\nFailures 0\n", "Failures 0\nTriggers 0\n"})
    EXPECT_EQ(refusal("Nodes 2\nConnections 1\n" + (header + connection)), "taken") << header;
}

TEST(ForeignTraffic, IsTheSameEveryTime) {
  const Plan plan = with(kPingPong);
  EXPECT_EQ(outcome_of_foreign(plan).count.digest,
            outcome_of_foreign(with(kPingPong)).count.digest);
}

TEST(ForeignTraffic, NamesHostsByNumberWhereTheyAreCalledSo) {
  auto fabric = clos({.switches = {2, 1}, .pods = {}, .hosts = 4});
  ASSERT_TRUE(fabric);
  Plan plan{.fabric = *fabric};
  ASSERT_TRUE(add_foreign_traffic(plan, "1\n0 3 3 100 1000 2\n", HostTransport::kGoBackN));
  EXPECT_EQ(plan.fabric.nodes[plan.flows[0].way.from].name, "host1")
      << "the first, where none is called 0";
  EXPECT_EQ(plan.fabric.nodes[plan.flows[0].way.to].name, "host4");
}

/// Hosts called `1` and `2` at a switch `0`.
Plan from_one() {
  auto fabric = fabric_from_hpcc("3 1 2\n0\n1 0 100Gbps 1us 0\n2 0 100Gbps 1us 0\n");
  EXPECT_TRUE(fabric) << to_string(fabric.error());
  Plan plan{.fabric = std::move(*fabric)};
  plan.failed.resize(plan.fabric.links.size());
  return plan;
}

TEST(ForeignTraffic, TwoRanksAreTwoHosts) {
  for (const char* text :
       {"num_ranks 2\nrank 0 {\nsend 5000b to 1\n}\nrank 1 {\nrecv 5000b from 0\n}",
        "Nodes 2\nConnections 1\n0->1 start 0 size 5000\n"}) {
    Plan plan = from_one();
    const auto added = add_foreign_traffic(plan, text, HostTransport::kGoBackN);
    ASSERT_TRUE(added) << to_string(added.error());
    EXPECT_EQ(plan.fabric.nodes[plan.flows[0].way.from].name, "1");
    EXPECT_EQ(plan.fabric.nodes[plan.flows[0].way.to].name, "2");
    EXPECT_EQ(outcome_of_foreign(plan).flows[0].fct, unloaded(5000, 2));
  }
}

TEST(HpccFlows, NameHostsAllByTheirNamesOrAllByTheirIndexes) {
  const auto refused = [](Plan plan, std::string_view text) {
    const auto added = add_foreign_traffic(plan, text, HostTransport::kGoBackN);
    return added ? "taken" : to_string(added.error());
  };
  EXPECT_EQ(refused(from_one(), "1\n1 2 3 100 1000 2\n"), "taken");
  EXPECT_THAT(refused(from_one(), "1\n0 1 3 100 1000 2\n"),
              HasSubstr("line 2: `0`: the fabric has no such host (2 hosts)"))
      << "the switch";
  Plan one_number = from_one();
  one_number.fabric.nodes[1].name = "a";
  EXPECT_THAT(refused(std::move(one_number), "1\n1 2 3 100 1000 2\n"),
              HasSubstr("line 2: `1`: the fabric has no such host"));
  Plan no_number = from_one();
  for (Node& n : no_number.fabric.nodes) n.name += "x";
  EXPECT_EQ(refused(std::move(no_number), "1\n0 1 3 100 1000 2\n"), "taken");
}

TEST(Report, SaysWhichFlowsHaveNotEnded) {
  Plan plan = with("2\n0 2 3 100 1000 2\n3 1 3 101 5000 2.5\n");
  plan.duration = kSecond;
  EXPECT_THAT(to_text(plan, outcome_of_foreign(plan)), Not(HasSubstr("not ended")));
  plan.duration = kMillisecond;
  EXPECT_THAT(
      to_text(plan, outcome_of_foreign(plan)),
      HasSubstr("\n1 of 2 flows has not ended (1 never began): give a longer --duration\n"));
  plan.flows[1].spec.start = 0;
  plan.duration = 2 * kMicrosecond;
  EXPECT_THAT(to_text(plan, outcome_of_foreign(plan)),
              HasSubstr("\n2 of 2 flows have not ended: give a longer --duration\n"));
  plan.flows[1].spec.octets = 0;
  EXPECT_THAT(to_text(plan, outcome_of_foreign(plan)), HasSubstr("\n1 of 1 flow has not ended: "));
}

}  // namespace
}  // namespace lldp::lab::packets
