// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "agent/config/config.hpp"
#include "base/text.hpp"
#include "lab/topology/configuration.hpp"
#include "lab/topology/expanders.hpp"
#include "lab/topology/forwarding.hpp"
#include "lab/topology/generators.hpp"
#include "lab/topology/json.hpp"
#include "lab/topology/server_fabrics.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::lab {
namespace {

using enum Order;

/// Links by "name:port name:port", nodes by name: h... is a host.
class Cabling {
 public:
  Cabling& link(const std::string& a, const std::string& b) {
    fabric_.links.push_back({.ends = {end(a), end(b)}});
    return *this;
  }
  Cabling& layers(unsigned a, unsigned b) {
    fabric_.links.back().ends[0].layer = qos::Layer::make(a);
    fabric_.links.back().ends[1].layer = qos::Layer::make(b);
    return *this;
  }
  [[nodiscard]] Fabric done() const {
    auto fabric = complete(fabric_);
    EXPECT_TRUE(fabric) << to_string(fabric.error());
    return *fabric;
  }

 private:
  LinkEnd end(const std::string& text) {
    const auto colon = text.find(':');
    const std::string name = text.substr(0, colon);
    std::size_t i = 0;
    while (i < fabric_.nodes.size() && fabric_.nodes[i].name != name) ++i;
    if (i == fabric_.nodes.size())
      fabric_.nodes.push_back({.name = name, .role = name[0] == 'h' ? Role::kHost : Role::kSwitch});
    return {i, text.substr(colon + 1)};
  }
  Fabric fabric_{.name = "test"};
};

/// CASE 1: two spines, four leaves, spine1-leaf4 and spine2-leaf1 failed.
Fabric case1() {
  Cabling c;
  for (const char* n : {"1", "2", "3", "4"})
    c.link(std::string("leaf") + n + ":swp1", std::string("host") + n + ":eth0");
  c.link("leaf1:swp2", "spine1:swp1").link("leaf2:swp2", "spine1:swp2");
  c.link("leaf3:swp2", "spine1:swp3").link("leaf2:swp3", "spine2:swp2");
  c.link("leaf3:swp3", "spine2:swp3").link("leaf4:swp3", "spine2:swp4");
  return c.done();
}

TEST(SwitchGraph, LeavesHostsOutAndKeepsTheFabricsLinks) {
  const Fabric fabric = case1();
  const auto graph = switch_graph(fabric, Span::kLevels);
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->forwarding.switches,
            (std::vector<std::string>{"leaf1", "leaf2", "leaf3", "leaf4", "spine1", "spine2"}));
  EXPECT_EQ(graph->links, (std::vector<std::size_t>{4, 5, 6, 7, 8, 9}));
  for (const auto& link : graph->forwarding.links) {
    EXPECT_EQ(link.at_a, (qos::PortClass{kUp, qos::Layer{}}));  // leaf first
    EXPECT_EQ(link.at_b, (qos::PortClass{kDown, qos::Layer{}}));
  }
}

TEST(SwitchGraph, TakesBothEndsOfALoopForUpAsAgentsDo) {
  const auto fabric = Cabling().link("h1:1", "a:1").link("a:2", "a:3").done();
  const auto graph = switch_graph(fabric, Span::kLevels);
  ASSERT_TRUE(graph) << to_string(graph.error());
  ASSERT_EQ(graph->forwarding.links.size(), 1U);
  EXPECT_EQ(graph->forwarding.links[0].at_a, (qos::PortClass{kUp, qos::Layer{}}));
  EXPECT_EQ(graph->forwarding.links[0].at_b, (qos::PortClass{kUp, qos::Layer{}}));
  EXPECT_TRUE(qos::prove(graph->forwarding, qos::Policy()).deadlock_free());
  EXPECT_FALSE(qos::prove(graph->forwarding, qos::Policy(), qos::OnTurn::kStays).deadlock_free());
}

TEST(SwitchGraph, GivesNoOrderWhereThereIsNoLevel) {
  const auto graph = switch_graph(Cabling().link("a:1", "b:1").done(), Span::kLevels);
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->forwarding.links[0].at_a, qos::PortClass{});
  EXPECT_EQ(graph->forwarding.links[0].at_b, qos::PortClass{});
}

TEST(SwitchGraph, TakesLayersForSpansAndRefusesALinkWithoutThem) {
  Cabling c;
  c.link("a:1", "b:1").layers(1, 2);
  const auto graph = switch_graph(c.done(), Span::kLayers);
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->forwarding.links[0].at_a, (qos::PortClass{kUp, qos::Layer::of<1>()}));
  EXPECT_EQ(graph->forwarding.links[0].at_b, (qos::PortClass{kDown, qos::Layer::of<2>()}));
  const auto refused = switch_graph(c.link("a:2", "c:1").done(), Span::kLayers);
  ASSERT_FALSE(refused);
  EXPECT_EQ(to_string(refused.error()),
            "a:2: the link has no layers: rules by spans need them on both ends of every link");
}

TEST(Configuration, OfASwitchSaysWhatItsPortsJoin) {
  Cabling c;
  c.link("a:swp1", "b:swp1").layers(1, 2).link("c:swp4", "a:swp2").layers(1, 2);
  const Fabric fabric = c.done();
  const auto text = configuration_of(fabric, 0);
  ASSERT_TRUE(text) << to_string(text.error());
  EXPECT_THAT(*text,
              testing::EndsWith("2 virtual switches on 2 layers. For lldp-level.conf(5); all "
                                "switches of the\n"
                                "# fabric need theirs, from the same file.\n"
                                "port.swp1.layers = 1:2  # link index 1, to b port swp1\n"
                                "port.swp2.layers = 2:1  # link index 1, to c port swp4\n"));
  const auto refusal = [](const Fabric& f) { return to_string(configuration_of(f, 0).error()); };
  EXPECT_EQ(refusal(Cabling().link("a:1", "b:1").done()),
            "a:1: the link has no layers: this is not a fabric of `topo fcplus` or `topo fc`");
  EXPECT_EQ(refusal(Cabling().link("a:1", "b:1").layers(1, 3).done()),
            "a:1: layers 1:3 do not stand next to each other");
  EXPECT_EQ(refusal(Cabling().link("a:1", "b:1").layers(2, 2).done()),
            "a:1: layers 2:2 do not stand next to each other");
}

TEST(HasLayers, WhereAnyEndOfALinkHasOne) {
  Fabric fabric = Cabling().link("a:1", "b:1").done();
  EXPECT_FALSE(has_layers(fabric));
  for (const std::size_t end : {0U, 1U}) {
    Fabric one = fabric;
    one.links[0].ends[end].layer = qos::Layer::of<1>();
    EXPECT_TRUE(has_layers(one)) << end;
  }
}

TEST(SwitchGraph, LayersGoThroughTheFile) {
  const Fabric fabric = Cabling().link("a:1", "b:1").layers(1, 31).link("b:2", "a:2").done();
  const auto read = fabric_from_json(to_json(fabric));
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(*read, fabric);
  std::string bad = to_json(fabric);
  bad.replace(bad.find("\"b\":31"), 6, "\"b\":32");
  EXPECT_EQ(to_string(fabric_from_json(bad).error()),
            "links[0]: the layer on b is not a whole number from 0 to 31");
}

/// Runs `lldp-level-lab ARGUMENTS` by the shell: exit status and all output.
std::pair<int, std::string> lab(const std::string& arguments) {
  const std::string command =
      "{ " + support::program("lldp-level-lab") + " " + arguments + "; } 2>&1";
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  char buffer[4096];
  while (const std::size_t n = fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, n);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

/// Runs `lldp-level-lab prove ARGUMENTS FILE` on the fabric.
std::pair<int, std::string> prove(const Fabric& fabric, const std::string& arguments) {
  const TempDir dir;
  std::ofstream(dir / "f.json") << to_json(fabric);
  return lab("prove " + arguments + " " + (dir / "f.json"));
}

using Outcome = std::pair<int, std::string>;

TEST(ProveCommand, ShowsTheRingOfCaseOneWithoutRules) {
  EXPECT_EQ(prove(case1(), "--rules none --lossless 1"),
            Outcome(1,
                    "6 switches, 6 links between them; rules none, lossless 5:dscp43>lossy\n"
                    "12 buffers, 28 dependencies: a cycle of 4\n"
                    "  leaf2 -> spine1 [p5] -> leaf3 [p5] -> spine2 [p5] -> leaf2 [p5]\n"
                    "  leaf2:swp2 -> spine1:swp2  priority 5\n"
                    "  spine1:swp3 -> leaf3:swp2  priority 5\n"
                    "  leaf3:swp3 -> spine2:swp3  priority 5\n"
                    "  spine2:swp2 -> leaf2:swp3  priority 5\n"
                    "What arrives by each line can wait for room in the next one, and by the last "
                    "for the\nfirst.\n"));
}

TEST(ProveCommand, ProvesCaseOneWithTheRulesAsShipped) {
  EXPECT_EQ(
      prove(case1(), ""),
      Outcome(0,
              "6 switches, 6 links between them; rules down-up, lossless 5:dscp43>6:dscp51\n"
              "24 buffers, 46 dependencies: no cycle\n"
              "Deadlock-free for every routing and every set of failures, as long as every switch "
              "has\nthese rules and the order of its ports stays as it is here (levels outlive "
              "failures).\n"));
}

TEST(ProveCommand, HoldsVirtualChannelsApartWhichClassesShare) {
  const auto [status, text] = prove(case1(), "--classes vc");
  EXPECT_EQ(status, 0) << text;
  EXPECT_THAT(text, testing::HasSubstr("in 2 virtual channels"));
  const auto [one, cycle] = prove(case1(), "--classes vc --channels 1");
  EXPECT_EQ(one, 1);
  EXPECT_THAT(cycle, testing::HasSubstr("in 1 virtual channel\n"));
  EXPECT_THAT(cycle, testing::HasSubstr("a cycle of 4"));
  EXPECT_THAT(cycle, testing::HasSubstr("channel 0"));
  const auto [json_status, json] = prove(case1(), "--classes vc --channels 1 --json");
  EXPECT_EQ(json_status, 1);
  EXPECT_THAT(json, testing::HasSubstr("\"channel\": 0"));
  EXPECT_THAT(json, testing::HasSubstr("\"channels\": 1"));
  EXPECT_EQ(prove(case1(), "--classes vc --lossless 3 --channels 2").first, 1);
  EXPECT_EQ(prove(case1(), "--classes vc --lossless 3 --channels 3").first, 0);
  EXPECT_THAT(
      prove(case1(), "--classes vc --channels 3").second,
      testing::HasSubstr("--channels: there are 2 lossless classes, so no class uses the last"));
  EXPECT_EQ(prove(case1(), "--channels 2").first, 2);
  EXPECT_EQ(prove(case1(), "--classes credits").first, 2);
}

TEST(ProveCommand, PrintsJson) {
  const auto [status, text] = prove(case1(), "--stay-in-last --json");
  EXPECT_EQ(status, 1);
  EXPECT_NE(text.find("\"deadlock_free\": false"), std::string::npos) << text;
  EXPECT_NE(text.find("\"from\": \"leaf2\",\n      \"from_port\": \"swp2\",\n      "
                      "\"to\": \"spine1\",\n      \"to_port\": \"swp2\",\n      \"priority\": 6"),
            std::string::npos)
      << text;
}

TEST(ProveCommand, RefusesWhatMakesNoSense) {
  const std::string see = ": see `lldp-level-lab prove --help`\n";
  EXPECT_EQ(
      prove(case1(), "--rules x"),
      Outcome(2, "lldp-level-lab prove: --rules: `x` is not none, down-up, spans or as-set" + see));
  EXPECT_EQ(prove(case1(), "--lossless 8"),
            Outcome(2, "lldp-level-lab prove: --lossless: give a number from 1 to 7" + see));
  EXPECT_EQ(
      prove(case1(), "--rules none --stay-in-last"),
      Outcome(2, "lldp-level-lab prove: --stay-in-last: there is no turn with --rules none" + see));
  EXPECT_EQ(prove(case1(), "/dev/null"),
            Outcome(2, "lldp-level-lab prove: name one fabric file" + see));
  EXPECT_EQ(prove(case1(), "--rules spans"),
            Outcome(2,
                    "lldp-level-lab prove: leaf1:swp2: the link has no layers: rules by spans need "
                    "them on both ends of every link\n"));
}

TEST(ProveCommand, ProvesNothingOfNothing) {
  const auto [status, text] = prove({}, "");
  EXPECT_EQ(status, 2);
  EXPECT_THAT(text, testing::EndsWith(": a fabric without links: there is nothing to prove\n"));
  const auto [hosts, why] = prove(Cabling().link("h1:1", "h2:1").done(), "");
  EXPECT_EQ(hosts, 2);
  EXPECT_THAT(why, testing::EndsWith(": a fabric without switches: there is nothing to prove\n"));
}

TEST(ProveCommand, DoesNotCallSwitchesThatNothingJoinsDeadlockFree) {
  const auto [status, text] = prove(Cabling().link("h1:1", "a:1").link("h2:1", "b:1").done(), "");
  EXPECT_EQ(status, 2);
  EXPECT_THAT(text, testing::EndsWith(": 2 switches and no link between them: a file that leaves "
                                      "links out, or takes switches for hosts?\n"));
  EXPECT_EQ(prove(Cabling().link("h1:1", "a:1").link("h2:1", "a:2").done(), "").first, 0)
      << "one switch";
}

TEST(ProveCommand, CountsOnNoRulesWhereHostsRelay) {
  Fabric fabric = *ndc(2, 1);
  const auto [status, text] = prove(fabric, "");
  EXPECT_EQ(status, 1) << text;
  EXPECT_THAT(text, AllOf(testing::HasSubstr("8 switches, 8 links between them"),
                          testing::HasSubstr("4 of them are hosts that relay: "),
                          testing::HasSubstr("a cycle of ")));
  EXPECT_THAT(prove(fabric, "--json").second, testing::HasSubstr("\"relaying_hosts\": 4,"));
  // The same as switches, with levels that are set.
  for (Node& node : fabric.nodes) {
    node.level = node.role == Role::kHost ? Level::of<1>() : Level::of<2>();
    node.role = Role::kSwitch;
    node.relays = false;
  }
  const auto [as_switches, why] = prove(fabric, "");
  EXPECT_EQ(as_switches, 0) << why;
  EXPECT_THAT(why, testing::Not(testing::HasSubstr("relay")));
}

TEST(ProveCommand, FailsWhereItsAnswerCannotBeWritten) {
  const TempDir dir;
  if (mknod((dir / "full").c_str(), S_IFCHR | 0600, makedev(1, 7)) != 0)
    GTEST_SKIP() << "device nodes need root";
  const auto [status, text] = prove(case1(), ">" + (dir / "full"));
  EXPECT_EQ(status, 2);
  EXPECT_EQ(text, "lldp-level-lab prove: standard output: No space left on device\n");
}

/// PTM's files name no hosts.
TEST(ProveCommand, HasNoVerdictWhereNoDeviceIsAHost) {
  Fabric fabric = Cabling()
                      .link("leaf1:swp1", "spine1:swp1")
                      .link("leaf1:swp2", "spine2:swp1")
                      .link("leaf2:swp1", "spine1:swp2")
                      .link("leaf2:swp2", "spine2:swp2")
                      .link("server1:eth0", "leaf1:swp3")
                      .link("server2:eth0", "leaf2:swp3")
                      .done();
  for (Node& node : fabric.nodes) {
    node.role = Role::kSwitch;
    node.level.reset();
  }
  const auto [status, text] = prove(fabric, "");
  EXPECT_EQ(status, 3) << text;
  EXPECT_THAT(text,
              AllOf(testing::HasSubstr(": no verdict: no device is a host"),
                    testing::HasSubstr("--hosts GLOB"), testing::HasSubstr("--level NODE=N")));
  EXPECT_THAT(prove(fabric, "--json").second, testing::HasSubstr("\"verdict\": \"none\""));
  EXPECT_EQ(prove(fabric, "--hosts 'server*'").first, 0);
  EXPECT_EQ(prove(fabric, "--level 'leaf*=1' --level 'spine*=2' --level 'server*=3'").first, 0);
  EXPECT_EQ(prove(fabric, "--rules none").first, 1) << "no levels are needed for that";
  for (const char* const wrong : {"--hosts 'x*'", "--level leaf1", "--level leaf1=0",
                                  "--level leaf1=x", "--level x=1", "--level leaf1=255"})
    EXPECT_EQ(prove(fabric, wrong).first, 2) << wrong;
}

TEST(LabCommands, SayThatTheyCouldNotPrint) {
  for (const char* word : {"--help", "--version", "prove --help"}) {
    const auto [status, text] = lab(std::string(word) + " >/dev/full");
    EXPECT_EQ(status, 2) << word;
    EXPECT_THAT(text, testing::EndsWith(": standard output: No space left on device\n")) << word;
  }
}

TEST(LabCommands, RefuseNumbersOutOfBounds) {
  const TempDir dir;
  const std::string file = dir / "f.json";
  std::ofstream(file) << to_json(case1());
  const auto refusal = [&](const std::string& arguments) {
    const auto [status, text] = lab(arguments);
    EXPECT_EQ(status, 2) << text;
    const auto from = text.find(": ") + 2;
    return text.substr(from, text.find(": see") - from);
  };
  EXPECT_EQ(refusal("whatif " + file + " --samples -1"),
            "--samples: give a number from 1 to 1000000000000");
  EXPECT_EQ(refusal("whatif " + file + " --max-exposure nan"),
            "--max-exposure: give a number, 0 or more");
  EXPECT_EQ(refusal("whatif " + file + " --max-turns -1"), "--max-turns: give a number, 0 or more");
  EXPECT_EQ(refusal("whatif " + file + " --seed -1"), "--seed: give a number, 0 or more");
  EXPECT_EQ(refusal("converge " + file + " --restarts -1"),
            "--restarts: give a number from 0 to 1000000");
  EXPECT_EQ(refusal("topo clos --rate-bps -1"),
            "--rate-bps: give a number from 1 to 100000000000000");
  EXPECT_EQ(refusal("topo clos --delay-ns -1"),
            "--delay-ns: give a number from 0 to 1000000000000");
  EXPECT_EQ(refusal("topo clos --hosts 3x"), "--hosts: give a number from 0 to 10000000");
  EXPECT_EQ(refusal("throughput " + file + " --gap inf"), "--gap: give a number from 0.0001 to 1");
  for (const char* flows : {"2", "2+", "+1", "2x1", "2+1x"})
    EXPECT_EQ(refusal("sim case1 --flows " + std::string(flows)), "--flows: write X+Y, as in 2+1");
}

TEST(TopoCommand, RefusesOptionsThatDoNothing) {
  const auto refusal = [](const std::string& arguments) {
    const auto [status, text] = lab("topo " + arguments);
    EXPECT_EQ(status, 2) << text;
    return text.substr(0, text.find(": see"));
  };
  EXPECT_EQ(refusal("fattree 4 --switches 3,3"),
            "lldp-level-lab topo: --switches: does nothing for fattree");
  EXPECT_EQ(refusal("case1 --rate-bps 5"),
            "lldp-level-lab topo: --rate-bps: does nothing for case1");
  EXPECT_EQ(refusal("fc 24 --ports 6 --v 3"), "lldp-level-lab topo: --v: does nothing for fc");
  EXPECT_EQ(refusal("clos --dot --json"),
            "lldp-level-lab topo: --json and --dot exclude each other");
}

TEST(LabCommands, RefuseOrSayWhereLevelsAreNotWhatRoutesAFabric) {
  const TempDir dir;
  const std::string file = dir / "f.json";
  std::ofstream(file) << to_json(*fcplus({.switches = 12, .ports = 6}));
  const auto [status, text] = lab("whatif " + file);
  EXPECT_EQ(status, 2);
  EXPECT_THAT(text, testing::HasSubstr("its packets are not routed by levels"));
  Fabric torn = *fcplus({.switches = 12, .ports = 6});
  for (Link& link : torn.links) {
    if (!link.ends[0].layer) continue;
    link.ends[0].layer.reset();
    break;
  }
  std::ofstream(file) << to_json(torn);
  EXPECT_THAT(lab("converge " + file),
              testing::Pair(2, testing::HasSubstr("the link has no layers")));
}

TEST(ThroughputCommand, TellsOfARateOfZeroAndNoMoreThanTheBound) {
  const TempDir dir;
  const std::string file = dir / "f.json";
  Fabric fabric = *clos({.switches = {4, 4}, .pods = {}, .hosts = 4});
  std::ofstream(file) << to_json(fabric);
  const auto [status, text] = lab("throughput " + file + " --json");
  EXPECT_EQ(status, 0) << text;
  const auto json = nlohmann::json::parse(text);
  EXPECT_LE(json.at("upper"), json.at("bound")) << text;
  EXPECT_LE(json.at("lower"), json.at("upper")) << text;
  for (Link& link : fabric.links) link.rate_bps = 0;
  std::ofstream(file) << to_json(fabric);
  EXPECT_THAT(lab("throughput " + file).second, testing::HasSubstr("its link's rate is 0"));
}

TEST(Configuration, NamesPortsAsTheDaemonReadsThem) {
  for (const std::string name : {"swp1", "swp#1", "swp=1", "[swp1]", "swp*", "a\\b",
                                 "\xd1\x83\xd1\x83", "x\xff\x1b[m", "-x"}) {
    Cabling c;
    c.link("a:" + name, "b:far\n#=").layers(1, 2);
    const auto text = configuration_of(c.done(), 0);
    ASSERT_TRUE(text) << to_string(text.error());
    const auto config = config::parse(*text, "a.conf");
    ASSERT_TRUE(config) << to_string(config.error().front()) << '\n' << *text;
    ASSERT_EQ(config->layers.size(), 1U) << *text;
    EXPECT_EQ(config->layers.begin()->first, name);
    EXPECT_EQ(config->layers.begin()->second, parse_layers("1:2"));
  }
}

TEST(Configuration, RefusesAPortThatNoInterfaceIsCalled) {
  auto fabric = fcplus({.switches = 12, .ports = 6});
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  const auto link = std::ranges::find_if(fabric->links,
                                         [](const Link& l) { return l.ends[0].layer.has_value(); });
  ASSERT_NE(link, fabric->links.end());
  const TempDir dir;
  const auto refused = [&](const char* name) {
    link->ends[0].port = name;
    const std::string file = dir / "f.json";
    std::ofstream(file) << to_json(*fabric);
    const auto [status, text] =
        lab("config " + file + " --node " + fabric->nodes[link->ends[0].node].name);
    EXPECT_EQ(status, 2) << text;
    return text;
  };
  EXPECT_THAT(refused("Ethernet1/1"), testing::HasSubstr("x2f1' is no name of an interface"));
  EXPECT_THAT(refused("swp1\nfoo = bar"), testing::HasSubstr("is no name of an interface"));
  EXPECT_THAT(refused("FourHundredGigE1"), testing::HasSubstr("longer than an interface's name"));
}

TEST(Prove, TwoPrioritiesDoForAllPathsOfFcPlusUnlessTheSecondTurnStaysLossless) {
  const auto fabric = fcplus({.switches = 12, .ports = 6});
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  EXPECT_THAT(prove(*fabric, "").second, testing::HasSubstr("rules spans, "));
  const auto [status, text] = prove(*fabric, "--rules spans");
  EXPECT_EQ(status, 0) << text;
  EXPECT_THAT(text, testing::HasSubstr("no cycle"));
  const auto [twice, cycle] = prove(*fabric, "--rules spans --stay-in-last");  // T_du = 2, lossless
  EXPECT_EQ(twice, 1) << cycle;
  EXPECT_THAT(cycle, testing::HasSubstr("a cycle of "));
  EXPECT_EQ(prove(*fabric, "--rules none --lossless 1").first, 1);
}

}  // namespace
}  // namespace lldp::lab
