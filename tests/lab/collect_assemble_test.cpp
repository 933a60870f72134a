// SPDX-License-Identifier: Apache-2.0
// One fabric of what many devices tell, and what others make of it.
#include <gmock/gmock.h>

#include <array>
#include <set>
#include <sstream>

#include "base/text.hpp"
#include "lab/collect/assemble.hpp"
#include "lab/collect/exports.hpp"
#include "lab/collect/read.hpp"
#include "lab/collect/report.hpp"
#include "lab/topology/configuration.hpp"
#include "lab/topology/expanders.hpp"
#include "lab/topology/forwarding.hpp"
#include "lab/topology/generators.hpp"
#include "lab/topology/json.hpp"

namespace lldp::lab::collect {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Kind = CollectedProblem::Kind;

// The fabric

Device told(const std::string& name, unsigned level, std::vector<Port> ports) {
  Device d{.source = name + ".json",
           .chassis = "02:00:00:00:00:" + std::to_string(10 + name.back()),
           .name = name,
           .role = Role::kSwitch,
           .level = Level::make(level),
           .lossless = "5,6",
           .ports = std::move(ports)};
  return d;
}
HeardNeighbor heard(const Device& from, const std::string& port) {
  return {.chassis = from.chassis,
          .name = from.name,
          .port = port,
          .role = Role::kSwitch,
          .level = from.level};
}

std::vector<std::string> texts(const Collection& c) {
  std::vector<std::string> all;
  for (const CollectedProblem& f : c.findings)
    all.push_back(std::string(to_string(f.kind)) + " " + f.device + (f.port.empty() ? "" : ":") +
                  f.port + ": " + f.text);
  return all;
}

/// Two leaves a, b under one spine s, a host on each leaf; as agents tell it when all is well.
struct Small {
  Device a = told("a", 1, {});
  Device b = told("b", 1, {});
  Device s = told("s", 2, {});
  HeardNeighbor host{
      .chassis = "02:aa:00:00:00:01", .name = "h1", .port = "eth0", .role = Role::kHost};
  HeardNeighbor other{
      .chassis = "02:aa:00:00:00:02", .name = "h2", .port = "eth0", .role = Role::kHost};
  Small() {
    a.ports = {{.name = "p1", .order = Order::kUp, .heard = {heard(s, "p1")}},
               {.name = "p9", .order = Order::kDown, .heard = {host}}};
    b.ports = {{.name = "p1", .order = Order::kUp, .heard = {heard(s, "p2")}},
               {.name = "p9", .order = Order::kDown, .heard = {other}}};
    s.ports = {{.name = "p1", .order = Order::kDown, .heard = {heard(a, "p1")}},
               {.name = "p2", .order = Order::kDown, .heard = {heard(b, "p1")}}};
  }
  [[nodiscard]] Collection collected(const Hints& hints = {}) const {
    return *assemble({a, b, s}, hints);
  }
  [[nodiscard]] std::vector<std::string> findings(const Hints& hints = {}) const {
    return texts(collected(hints));
  }
};

TEST(Assemble, MakesOneLinkOfWhatBothEndsTell) {
  const auto c = Small().collected({.name = "lab"});
  EXPECT_THAT(c.findings, IsEmpty());
  EXPECT_EQ(c.two_sided, 2U);
  EXPECT_EQ(c.devices_told, 3U);
  const Fabric& f = c.fabric;
  ASSERT_EQ(f.nodes.size(), 5U);
  ASSERT_EQ(f.links.size(), 4U);
  EXPECT_EQ(f.nodes[0].name, "a");
  EXPECT_EQ(f.nodes[0].level, Level::of<1>());
  EXPECT_EQ(f.nodes[2].level, Level::of<2>());
  const Link& up = f.links[0];
  EXPECT_EQ(up.ends[0], (LinkEnd{.node = 0, .port = "p1", .order = Order::kUp}));
  EXPECT_EQ(up.ends[1], (LinkEnd{.node = 2, .port = "p1", .order = Order::kDown}));
  EXPECT_EQ(fabric_from_json(to_json(f)), f);
}

TEST(Assemble, MarksTheLinkOfAProblemOfAPortAndElseTheNode) {
  Small net;
  net.s.ports[0].heard.clear();  // a hears s, which does not hear it
  net.b.level.reset();
  const auto c = net.collected();
  const Marks marks = marks_of(c);
  ASSERT_EQ(marks.doubtful_links.size(), 1U);
  const auto& [link, why] = *marks.doubtful_links.begin();
  const auto& ends = c.fabric.links[link].ends;
  EXPECT_EQ(c.fabric.nodes[ends[0].node].name + c.fabric.nodes[ends[1].node].name, "as");
  EXPECT_FALSE(why.empty());
  ASSERT_EQ(marks.doubtful_nodes.size(), 1U);
  EXPECT_EQ(c.fabric.nodes[marks.doubtful_nodes.begin()->first].name, "b");
}

TEST(Assemble, HoldsAnAgentThatTellsNoClassesAgainstNobody) {
  Small net;
  net.a.lossless = "";
  EXPECT_THAT(net.findings(), IsEmpty());
}

TEST(Assemble, ListsWhatOneEndAloneTells) {
  Small net;
  net.s.ports[0].heard.clear();
  EXPECT_THAT(net.findings(), ElementsAre("one-sided s:p1: does not hear a:p1, which hears it"));
  EXPECT_EQ(net.collected().fabric.links.size(), 4U);
}

TEST(Assemble, ListsPortsBehindWhichSomebodyIsWhomNobodyHears) {
  Small net;
  net.s.ports.push_back({.name = "p3", .order = Order::kDown, .up = true, .unheard = "silent: x"});
  net.s.ports.push_back({.name = "p4", .order = Order::kDown, .up = true});
  net.s.ports.push_back({.name = "p5", .order = Order::kDown});
  net.s.ports.push_back({.name = "p6", .up = true});
  net.a.ports.push_back({.name = "p7", .order = Order::kUp, .up = true});
  net.a.ports.push_back({.name = "p8", .order = Order::kDown, .up = true});
  EXPECT_THAT(
      net.findings(),
      ElementsAre(
          "unheard a:p7: no neighbor is heard, though the port is up and its order is up",
          "unheard s:p3: silent: x",
          "unheard s:p4: no neighbor is heard, though the port is up and its order is down"))
      << "a server below a leaf may be mute; without an order nothing is known";
  EXPECT_TRUE(net.collected().has_problems());
  EXPECT_THAT(net.findings({.ignored_ports = {"p3", "p4", "p7"}}), IsEmpty());
}

TEST(Assemble, ListsALinkThatIsSilentAtBothEnds) {
  Small net;
  for (Port* port : {&net.b.ports[0], &net.s.ports[1]}) {
    port->heard.clear();
    port->unheard = "silent: x";
  }
  EXPECT_THAT(net.findings(), ElementsAre("unheard b:p1: silent: x", "unheard s:p2: silent: x"));
  // One end hears the other: the link is there, and one-sided says all.
  net.b.ports[0].heard = {heard(net.s, "p2")};
  net.b.ports[0].unheard.clear();
  EXPECT_THAT(net.findings(), ElementsAre("one-sided s:p2: does not hear b:p1, which hears it"));
  // A host in the place of the switch that was there.
  net = {};
  net.a.ports[1].unheard = "silent: y";
  EXPECT_THAT(net.findings(), ElementsAre("unheard a:p9: silent: y"));
}

TEST(Assemble, ListsADeviceThatDidNotAnswer) {
  const Small net;
  const auto c = *assemble({net.a, net.b}, {});
  ASSERT_EQ(c.findings.size(), 1U);
  EXPECT_EQ(c.findings[0],
            (CollectedProblem{Kind::kSilent, "s", "",
                              "a switch, heard by a and 1 more, that was not told of"}));
  EXPECT_EQ(c.fabric.links.size(), 4U);
  EXPECT_EQ(c.fabric.links[0].ends[1].order, Order::kUnknown);
}

TEST(Assemble, ListsEndsThatSeeNoOneOrderOrLevel) {
  Small net;
  net.s.ports[0].order = Order::kUp;
  net.a.ports[0].heard[0].level = Level::of<7>();
  EXPECT_THAT(net.findings(), ElementsAre("order a:p1: up here, up at s:p1",
                                          "level a:p1: hears s with level 7, which now has 2"));
}

TEST(Assemble, ListsSwitchesWithoutRulesAndTakesTheirOrderForUnknown) {
  Small net;
  net.a.ports[0].unprotected = "remap missing";
  EXPECT_THAT(net.findings(), ElementsAre("no-rules a:p1: s is there, and remap missing"));
  EXPECT_EQ(net.collected().fabric.links[0].ends[0].order, Order::kUnknown);
  EXPECT_EQ(net.collected().fabric.links[0].ends[1].order, Order::kDown);
}

TEST(Assemble, ListsADeviceThatIsToldOfTwiceAndNamesThatAreTwos) {
  Small net;
  Device again = net.a;
  again.source = "copy.json";
  again.level = Level::of<9>();
  auto c = *assemble({net.a, net.b, net.s, again}, {});
  ASSERT_EQ(c.findings.size(), 1U);
  EXPECT_EQ(c.findings[0].text, "told of by a.json and by copy.json: the first counts");
  EXPECT_EQ(c.fabric.nodes[0].level, Level::of<1>());

  Device twin = told("z", 1, {});
  twin.name = "a";
  c = *assemble({net.a, net.b, net.s, twin}, {});
  ASSERT_EQ(c.findings.size(), 1U);
  EXPECT_EQ(c.findings[0].kind, Kind::kSameName);
  EXPECT_EQ(c.fabric.nodes[3].name, "a (" + twin.chassis + ")");
}

TEST(Assemble, NamesTwoHostsWithOneChassisIdOnce) {
  Small net;
  HeardNeighbor twin = net.host;
  twin.name = "twin";
  twin.port = "elsewhere";
  net.b.ports.push_back({.name = "p7", .order = Order::kDown, .heard = {twin}});
  net.s.ports.push_back({.name = "p7", .order = Order::kDown, .heard = {twin}});
  const auto findings = net.findings();
  EXPECT_EQ(std::ranges::count_if(
                findings, [](const std::string& f) { return f.starts_with("same-chassis"); }),
            1)
      << testing::PrintToString(findings);
  twin.name = net.host.name + ".example.net";
  Small full;
  full.a.ports[1].heard = {twin};
  EXPECT_THAT(full.findings(), testing::Each(testing::Not(testing::HasSubstr("same-chassis"))));
}

TEST(Assemble, KeepsOneCableAPortAndListsTheOther) {
  Small net;
  net.a.ports[0].heard.push_back(heard(net.b, "p7"));
  EXPECT_THAT(net.findings(),
              UnorderedElementsAre("port-twice a:p1: s and b are both there: the first counts"));
  net = {};
  HeardNeighbor card = net.host;
  card.chassis = "02:aa:00:00:00:99";
  card.name = "";
  net.a.ports[1].heard.push_back(card);
  EXPECT_THAT(
      net.findings(),
      ElementsAre("shared-port a:p9: h1 and 02:aa:00:00:00:99 are both there: the first counts"));
  EXPECT_FALSE(net.collected().has_problems());
}

TEST(Assemble, ListsOtherClassesMissingLevelsAndLoops) {
  Small net;
  net.b.lossless = "3,4";
  net.s.level.reset();
  net.a.ports[0].heard[0].level.reset();
  net.b.ports[0].heard[0].level.reset();
  net.b.ports.push_back({.name = "p8", .heard = {heard(net.b, "p8")}});
  EXPECT_THAT(net.findings(),
              ElementsAre("no-level s: a switch that has no level",
                          "classes b: lossless 3,4, while a has 5,6",
                          "self b:p8: the port hears itself: something behind it sends frames "
                          "back"));
}

TEST(Assemble, TakesALoopWithinOneDeviceForACable) {
  Small net;
  net.b.ports.push_back({.name = "p7", .order = Order::kUp, .heard = {heard(net.b, "p8")}});
  net.b.ports.push_back({.name = "p8", .order = Order::kUp, .heard = {heard(net.b, "p7")}});
  const auto c = net.collected();
  EXPECT_THAT(texts(c), IsEmpty());
  EXPECT_EQ(c.two_sided, 3U);
  ASSERT_EQ(c.fabric.links.size(), 5U);
  const auto loop = std::find_if(c.fabric.links.begin(), c.fabric.links.end(),
                                 [](const Link& l) { return l.ends[0].node == l.ends[1].node; });
  ASSERT_NE(loop, c.fabric.links.end());
  EXPECT_EQ(loop->ends[0].port + loop->ends[1].port, "p7p8");
  EXPECT_EQ(loop->ends[1].order, Order::kUp);
  EXPECT_EQ(fabric_from_json(to_json(c.fabric)), c.fabric);
  net.b.ports.back().heard.clear();
  EXPECT_THAT(net.findings(), ElementsAre("one-sided b:p8: does not hear b:p7, which hears it"));
}

TEST(Assemble, ListsEntriesThatAreHalfWritten) {
  Small net;
  net.a.left_out = {{"p3", "a neighbor without a chassis"}};
  EXPECT_THAT(net.findings(), ElementsAre("left-out a:p3: a neighbor without a chassis: left out"));
  EXPECT_TRUE(net.collected().has_problems());
}

TEST(Assemble, KeepsWhatElseAPortIsHeardBy) {
  Small net;
  net.s.ports[0].port_id = "02:00:00:00:00:aa";
  net.a.ports[0].heard[0].port = "02:00:00:00:00:aa";
  net.a.ports[0].heard[0].description = "etp1";
  const auto c = net.collected();
  const auto& up = c.fabric.links[0];
  EXPECT_EQ(up.ends[1].port, "p1");
  EXPECT_THAT(up.ends[1].aliases, ElementsAre("02:00:00:00:00:aa", "etp1"));
  EXPECT_THAT(up.ends[0].aliases, IsEmpty());
}

TEST(Assemble, NotesALevelThatContradictsTheLinks) {
  Small net;
  net.s.level = Level::of<4>();
  for (Device* leaf : {&net.a, &net.b}) leaf->ports[0].heard[0].level = net.s.level;
  EXPECT_THAT(net.findings(), ElementsAre("misplaced s: level 4, though 2 by its links"));
  EXPECT_FALSE(net.collected().has_problems());
}

TEST(Assemble, FindsParallelLinksByWhatTheFarEndHears) {
  Device a = told("a", 1, {});
  Device s = told("s", 2, {});
  // Port IDs are addresses, as many agents tell them; one end describes its ports.
  const auto from = [](const Device& d, const char* id, const char* text) {
    return HeardNeighbor{.chassis = d.chassis,
                         .name = d.name,
                         .port = id,
                         .description = text,
                         .role = Role::kSwitch};
  };
  a.ports = {{.name = "p1", .heard = {from(s, "02:00:00:00:01:01", "q1")}},
             {.name = "p2", .heard = {from(s, "02:00:00:00:01:02", "q2")}}};
  s.ports = {{.name = "q2", .heard = {from(a, "02:00:00:00:02:02", "")}},
             {.name = "q1", .heard = {from(a, "02:00:00:00:02:01", "")}}};
  const auto c = *assemble({a, s}, {});
  EXPECT_EQ(c.two_sided, 2U);
  ASSERT_EQ(c.fabric.links.size(), 2U);
  EXPECT_EQ(c.fabric.links[0].ends[0].port + c.fabric.links[0].ends[1].port, "p1q1");
  EXPECT_EQ(c.fabric.links[1].ends[0].port + c.fabric.links[1].ends[1].port, "p2q2");
}

TEST(Assemble, GuessesNothingWhereParallelLinksLookTheSame) {
  Device a = told("a", 1, {});
  Device s = told("s", 2, {});
  a.ports = {{.name = "p1", .port_id = "x", .heard = {heard(s, "y")}},
             {.name = "p2", .port_id = "x", .heard = {heard(s, "y")}}};
  s.ports = {{.name = "q1", .port_id = "y", .heard = {heard(a, "x")}},
             {.name = "q2", .port_id = "y", .heard = {heard(a, "x")}}};
  EXPECT_EQ(assemble({a, s}, {})->two_sided, 0U);
}

TEST(Assemble, TakesWhoDoesNotSayWhatItIsForAHostAtTheEndOfOneCable) {
  Small net;
  net.host.role.reset();
  net.a.ports[1].heard = {net.host};
  EXPECT_THAT(net.findings(),
              ElementsAre("unknown-role h1: does not say what it is; with one cable, taken for a "
                          "host: say --hosts or --switches"));
  const auto f = net.collected().fabric;
  const auto h1 =
      std::find_if(f.nodes.begin(), f.nodes.end(), [](const Node& n) { return n.name == "h1"; });
  ASSERT_NE(h1, f.nodes.end());
  EXPECT_EQ(h1->role, Role::kHost);
}

TEST(Assemble, KnowsAFabricWithoutAgentsByNamesAlone) {
  Device leaf = *read_device(
      "LocalPort    RemoteDevice         RemotePortID  Capability  RemotePortDescr\n"
      "-----------  -------------------  ------------  ----------  ---------------\n"
      "Ethernet0    spine1.dc.example    etp1          BR          Ethernet8\n"
      "Ethernet4    srv1                 eth0          R           eth0\n"
      "Total entries displayed:  2\n",
      "leaf1");
  Device spine = *read_device(
      "LocalPort    RemoteDevice         RemotePortID  Capability  RemotePortDescr\n"
      "-----------  -------------------  ------------  ----------  ---------------\n"
      "Ethernet8    leaf1                etp0          BR          Ethernet0\n"
      "Total entries displayed:  1\n",
      "spine1");
  const auto c = *assemble({leaf, spine}, {.hosts = {"srv*"}});
  EXPECT_THAT(
      texts(c),
      ElementsAre("no-agent fabric: no switch tells of an agent: what is proved is what the "
                  "rules would do"));
  ASSERT_EQ(c.fabric.nodes.size(), 3U);
  EXPECT_EQ(c.fabric.nodes[0].level, Level::of<1>());
  EXPECT_EQ(c.fabric.nodes[1].level, Level::of<2>());
  EXPECT_EQ(c.fabric.nodes[2].role, Role::kHost);
  ASSERT_EQ(c.fabric.links.size(), 2U);
  EXPECT_EQ(c.fabric.links[0].ends[0].order, std::nullopt);
}

TEST(Assemble, HostileTextsMakeAFabricThatCanBeReadAgain) {
  Small net;
  net.a.name = R"(a\x1b[2J)";
  net.b.name = R"(a\\b)";
  net.s.name = R"(a\b)";
  net.a.ports[1].heard[0].name = std::string(300, 'x') + "\"\n<";
  net.b.ports[1].heard[0] = {.chassis = "02:aa:00:00:00:02"};
  for (Device* d : {&net.a, &net.b, &net.s})
    for (Port& p : d->ports) p.heard[0].level.reset();
  const Fabric f = net.collected().fabric;
  const auto again = fabric_from_json(to_json(f));
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(*again, f);
  EXPECT_EQ(f.nodes[1].name, R"(a\b)");
}

// For schedulers

TEST(Assemble, ListsAHostThatOthersHearAsASwitch) {
  Small net;
  net.s.role = Role::kHost;
  EXPECT_THAT(net.findings(),
              ElementsAre("role s: says that it is a host, while a hears a switch"));
  EXPECT_THAT(net.findings({.hosts = {"s"}}), IsEmpty()) << "the operator knows better";
  // What tells of no agent may forward and yet be a server: its neighbors hear capabilities.
  net.s.dialect = AgentKind::kLldpcli;
  net.a.dialect = net.b.dialect = AgentKind::kLldpcli;
  EXPECT_THAT(net.findings(), ElementsAre("no-agent fabric: no switch tells of an agent: what is "
                                          "proved is what the rules would do"));
}

TEST(Assemble, ListsHintsThatContradictAnAgentOrMatchNobody) {
  const Small net;
  EXPECT_THAT(net.findings({.hosts = {"s", "x*"}, .switches = {"y"}}),
              ElementsAre("role s: a host by --hosts, though its agent says that it is a switch",
                          "unmatched x*: --hosts: no device has such a name",
                          "unmatched y: --switches: no device has such a name"));
  EXPECT_FALSE(net.collected({.hosts = {"x*"}}).has_problems());
}

TEST(Assemble, TakesNobodyForAHostWithoutAProblem) {
  Small net;
  net.a.ports[1].heard[0].role.reset();
  EXPECT_THAT(net.findings(), ElementsAre("unknown-role h1: does not say what it is; with one "
                                          "cable, taken for a host: say --hosts or --switches"));
  EXPECT_TRUE(net.collected().has_problems());
  EXPECT_THAT(net.findings({.hosts = {"h1"}}), IsEmpty());
}

TEST(Assemble, HoldsThePrioritiesOfWhoTellsNoDscpsAgainstTheOthers) {
  Small net;
  net.a.lossless = "5:dscp43,6:dscp51";
  net.s.lossless = "5:dscp43,6:dscp52";
  EXPECT_THAT(net.findings(),
              ElementsAre("classes s: lossless 5:dscp43,6:dscp52, while a has 5:dscp43,6:dscp51"));
  net.s.lossless = net.a.lossless;
  net.b.lossless = "3,4";
  EXPECT_THAT(net.findings(),
              ElementsAre("classes b: lossless 3,4, while a has 5:dscp43,6:dscp51"));
}

TEST(Assemble, GivesWhoTellsNoAddressOneThatIsFree) {
  Small net;
  net.s.chassis = "spine";
  for (Device* leaf : {&net.a, &net.b}) leaf->ports[0].heard[0].chassis = "spine";
  net.a.chassis = net.s.ports[0].heard[0].chassis = "02:00:00:00:00:03";  // the third's, else
  const auto c = net.collected();
  EXPECT_THAT(c.findings, IsEmpty());
  ASSERT_EQ(c.fabric.nodes.size(), 5U);
  EXPECT_EQ(lldp::to_string(c.fabric.nodes[2].chassis), "02:00:00:00:00:08");
}

TEST(Assemble, SaysWhatMakesNoFabricInsteadOfEnding) {
  Small net;
  net.a.ports[0].name = "";  // no reader lets it through
  net.s.ports[0].heard.clear();
  const auto c = assemble({net.a, net.b, net.s}, {});
  ASSERT_FALSE(c);
  EXPECT_EQ(to_string(c.error()), "a: a link without a port name");
}

/// What the agents of a layered expander tell, with rules that are done.
std::vector<Device> told_of(const Fabric& fabric) {
  std::vector<Device> devices;
  for (const Node& node : fabric.nodes)
    devices.push_back({.source = node.name,
                       .chassis = lldp::to_string(node.chassis),
                       .name = node.name,
                       .role = node.role,
                       .level = node.level,
                       .lossless = "5,6"});
  for (const Link& link : fabric.links)
    for (std::size_t e = 0; e < 2; ++e) {
      const LinkEnd& far = link.ends[1 - e];
      const Node& peer = fabric.nodes[far.node];
      devices[link.ends[e].node].ports.push_back(
          {.name = link.ends[e].port,
           .order = port_class_of(fabric, link, e, Span::kLayers)->order,
           .layers = layers_of(link, e),
           .heard = {{.chassis = lldp::to_string(peer.chassis),
                      .name = peer.name,
                      .port = far.port,
                      .role = peer.role,
                      .level = peer.level,
                      .layers = layers_of(link, 1 - e)}}});
    }
  return devices;
}

TEST(Assemble, CarriesTheLayersOfALayeredExpander) {
  const auto fabric = fcplus({.switches = 12, .ports = 6});
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  auto devices = told_of(*fabric);
  const auto c = *assemble(devices, {});
  EXPECT_FALSE(c.has_problems());
  const auto proof = [](const Fabric& f, Span span) {
    return qos::prove(switch_graph(f, span)->forwarding, qos::Policy());
  };
  EXPECT_TRUE(proof(c.fabric, Span::kAsSet).deadlock_free());
  EXPECT_TRUE(proof(c.fabric, Span::kLayers).deadlock_free());
  EXPECT_TRUE(configuration_of(c.fabric, 0));

  // One that did not tell: its neighbors say what its ends join, and it is still not protected.
  auto silent = devices;
  silent.erase(silent.begin());
  const auto without = *assemble(silent, {});
  EXPECT_FALSE(not_layered(without.fabric));
  EXPECT_TRUE(without.has_problems());

  const auto at =
      std::ranges::find_if(devices[0].ports, [](const Port& p) { return p.layers.has_value(); });
  ASSERT_NE(at, devices[0].ports.end());
  at->layers = Layers{Layer::of<30>(), Layer::of<31>()};
  const auto wrong = *assemble(devices, {});
  EXPECT_THAT(texts(wrong), ElementsAre(testing::StartsWith("layers " + devices[0].name + ":" +
                                                            at->name + ": 30:31 here, ")));
  at->layers.reset();
  EXPECT_THAT(texts(*assemble(devices, {})), ElementsAre(HasSubstr(": none here, ")));
}

TEST(Exports, GroupsAClosIntoATree) {
  auto f = *clos({.switches = {4, 4, 2}, .pods = {2}, .hosts = 4});
  f.nodes.back().name = "two words";
  EXPECT_EQ(to_slurm(f),
            "# topology.conf of Slurm's topology/tree, by lldp-level-lab collect\n"
            "SwitchName=tor1 Nodes=host1\nSwitchName=tor2 Nodes=host2\n"
            "SwitchName=tor3 Nodes=host3\n"
            "# agg1: agg1, agg2\nSwitchName=agg1 Switches=tor1,tor2\n"
            "# agg3: agg3, agg4\nSwitchName=agg3 Switches=tor3\n"
            "# spine1: spine1, spine2\nSwitchName=spine1 Switches=agg1,agg3\n"
            "# left out for its name: two words\n");
}

TEST(Exports, BlocksAreTheGroupsOfLeaves) {
  auto f = *clos({.switches = {2, 2}, .pods = {}, .hosts = 4});
  f.nodes.back().name = "two words";
  EXPECT_EQ(to_slurm(f, SlurmForm::kBlock),
            "# topology.conf of Slurm's topology/block, by lldp-level-lab collect\n"
            "BlockName=leaf1 Nodes=host1,host2\nBlockName=leaf2 Nodes=host3\n"
            "BlockSizes=1\n"
            "# left out for its name: two words\n");
}

TEST(Exports, ModelOfTopographNamesSwitchesAndBlocks) {
  const auto f = *clos({.switches = {2, 2}, .pods = {}, .hosts = 2});
  EXPECT_EQ(to_topograph(f),
            "# model of topograph, by lldp-level-lab collect\n"
            "switches:\n"
            "  \"leaf1\":\n    switches: []\n"
            "  \"leaf2\":\n    switches: []\n"
            "  # spine1: spine1, spine2\n"
            "  \"spine1\":\n    switches: [\"leaf1\", \"leaf2\"]\n"
            "blocks:\n"
            "- switch: \"leaf1\"\n  nodes: [\"host1\"]\n"
            "- switch: \"leaf2\"\n  nodes: [\"host2\"]\n");
  EXPECT_EQ(to_topograph(Fabric()),
            "# model of topograph, by lldp-level-lab collect\nswitches: {}\nblocks: []\n");
}

TEST(Exports, HyperNodesHaveNamesThatKubernetesTakes) {
  auto f = *clos({.switches = {2, 1}, .pods = {}, .hosts = 2});
  for (Node& n : f.nodes) {
    if (n.name == "leaf1") n.name = "LEAF_1";
    if (n.name == "leaf2") n.name = "leaf-1";
    if (n.name == "host1") n.name = "Host1";
  }
  EXPECT_EQ(to_hypernodes(f),
            "# HyperNodes of Volcano, by lldp-level-lab collect\n"
            "---\n"
            "apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\n"
            "metadata:\n  name: \"leaf-1\"\nspec:\n  tier: 1\n  members:\n"
            "  - type: Node\n    selector:\n      exactMatch:\n        name: \"host1\"\n"
            "---\n"
            "apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\n"
            "metadata:\n  name: \"tier1-0\"\nspec:\n  tier: 1\n  members:\n"
            "  - type: Node\n    selector:\n      exactMatch:\n        name: \"host2\"\n"
            "---\n"
            "apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\n"
            "metadata:\n  name: \"spine1\"\nspec:\n  tier: 2\n  members:\n"
            "  - type: HyperNode\n    selector:\n      exactMatch:\n        name: \"leaf-1\"\n"
            "  - type: HyperNode\n    selector:\n      exactMatch:\n        name: \"tier1-0\"\n");
}

TEST(Exports, NameNoSwitchBelowThatIsNotThere) {
  // A leaf with no hosts, as those have that lead out of the fabric, and a pod of such.
  for (const std::size_t hosts : {1U, 2U, 3U}) {
    auto f = *clos({.switches = {4, 4, 2}, .pods = {2}, .hosts = 4});
    for (Node& n : f.nodes)  // the others are left out for their names
      if (n.role == Role::kHost && n.name > "host" + std::to_string(hosts))
        n.name += " of two words";
    std::set<std::string> there;
    std::istringstream lines(to_slurm(f));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("SwitchName=")) continue;
      there.insert(line.substr(11, line.find(' ') - 11));
      const auto at = line.find("Switches=");
      if (at == std::string::npos) continue;
      std::istringstream below(line.substr(at + 9));
      for (std::string name; std::getline(below, name, ',');)
        EXPECT_TRUE(there.contains(name)) << line;
    }
    EXPECT_EQ(there.size(), (std::array<std::size_t, 4>{0, 3, 4, 6}[hosts]));
  }
}

TEST(Exports, GroupsLeavesThatShareHosts) {
  const auto f = *clos({.switches = {2, 2}, .pods = {}, .hosts = 2, .links_per_host = 2});
  const std::string labels = to_labels(f);
  EXPECT_THAT(labels, HasSubstr("kubectl label --overwrite node host1 fabric.lldp-level/tier-1="));
  EXPECT_THAT(to_slurm(f), HasSubstr("Nodes=host1,host2\n"));
}

TEST(Exports, CallNoTwoGroupsTheSame) {
  auto f = *clos({.switches = {2, 1}, .pods = {}, .hosts = 2});
  for (Node& n : f.nodes) {
    if (n.name == "leaf1") n.name = "two words";
    if (n.name == "leaf2") n.name = "tier1-0";
  }
  EXPECT_THAT(to_slurm(f), AllOf(HasSubstr("SwitchName=tier1-1 Nodes=host1\n"),
                                 HasSubstr("SwitchName=tier1-0 Nodes=host2\n"),
                                 HasSubstr("SwitchName=spine1 Switches=tier1-0,tier1-1\n")));
}

TEST(Exports, CallHostsByShortNamesThatAreTheirsAlone) {
  auto f = *clos({.switches = {1, 1}, .pods = {}, .hosts = 3});
  std::vector<std::string> names{"gpu1.rack1.example", "gpu1.rack2.example", "gpu2.rack1.example"};
  for (Node& n : f.nodes) {
    if (n.role != Role::kHost) continue;
    n.name = names.back();
    names.pop_back();
  }
  EXPECT_THAT(to_slurm(f), HasSubstr("Nodes=gpu1.rack1.example,gpu1.rack2.example,gpu2\n"));
}

}  // namespace
}  // namespace lldp::lab::collect
