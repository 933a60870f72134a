// SPDX-License-Identifier: Apache-2.0
#include "cabling/drawing.hpp"

namespace lldp::cabling {
namespace {

using testing::ElementsAre;

/// One line a link: `a:1 - b:2`.
std::vector<std::string> links_of(const Drawing& drawing) {
  std::vector<std::string> out;
  for (const Link& link : drawing.links) {
    const auto end = [&](const End& e) { return drawing.nodes[e.node].name + ":" + e.port; };
    out.push_back(end(link.ends[0]) + " - " + end(link.ends[1]));
  }
  return out;
}

std::string refusal(const Result<Drawing>& r) { return r ? "accepted" : to_string(r.error()); }

TEST(Dot, ReadsWhatPtmTakes) {
  const auto drawing = read(R"(
    # parameters and templates of PTM, which say nothing of the cabling
    graph G {
      LLDP=""
      BFD="upMinTx=150,requiredMinRx=250"
      LLDP1="match_type=ifname"
      "leaf1":"swp44" -- "qct-ly2-04":"swp20" [BFD="bfdtmpl=BFD1", LLDP="lldptmpl=LLDP1"]
      "leaf1":"swp46" -- "qct-ly2-04":"swp22"
    })");
  ASSERT_TRUE(drawing) << to_string(drawing.error());
  EXPECT_THAT(links_of(*drawing), ElementsAre("leaf1:swp44 - qct-ly2-04:swp20",  //
                                              "leaf1:swp46 - qct-ly2-04:swp22"));
  EXPECT_EQ(drawing->links[1].line, 8U);
  EXPECT_EQ(place_of(drawing->links[1]), "line 8");
}

TEST(Dot, HandsOnAttributesDefaultsAndChains) {
  const auto drawing = read(R"(strict digraph "lab" {
    rankdir=LR; node [shape=box] edge [delay_ns=500]
    subgraph cluster0 { a [role=host, shape=oval] }
    a:1 -> b:2 -> c:"3":n [rate_bps=7] // compass points are passed over
    d
    a:2 -- d:1 [delay_ns=1; delay_ns=2])"
                            "}");
  ASSERT_TRUE(drawing) << to_string(drawing.error());
  EXPECT_EQ(drawing->name, "lab");
  EXPECT_THAT(links_of(*drawing), ElementsAre("a:1 - b:2", "b:2 - c:3", "a:2 - d:1"));
  EXPECT_EQ(*drawing->nodes[0].attributes.find("role"), "host");
  EXPECT_EQ(*drawing->nodes[0].attributes.find("shape"), "oval");
  EXPECT_EQ(*drawing->nodes[3].attributes.find("shape"), "box");
  EXPECT_EQ(drawing->nodes[3].attributes.find("role"), nullptr);
  EXPECT_EQ(*drawing->links[1].attributes.find("delay_ns"), "500");
  EXPECT_EQ(*drawing->links[1].attributes.find("rate_bps"), "7");
  EXPECT_EQ(*drawing->links[2].attributes.find("delay_ns"), "2");
}

TEST(Dot, EndsTheDefaultsOfASubgraphWithIt) {
  const auto drawing = read(R"(graph {
    node [shape=box] edge [delay_ns=1]
    subgraph servers {
      node [role=host, shape=oval] edge [delay_ns=2]
      h1
      { node [shape=point] h2:1 -- h3:1 }
      h4:1 -- h5:1
    }
    s1:1 -- s2:1
  })");
  ASSERT_TRUE(drawing) << to_string(drawing.error());
  std::vector<std::string> nodes;
  for (const Node& node : drawing->nodes) {
    const std::string* role = node.attributes.find("role");
    nodes.push_back(node.name + " " + *node.attributes.find("shape") + " " +
                    (role == nullptr ? "-" : *role));
  }
  EXPECT_THAT(nodes, ElementsAre("h1 oval host", "h2 point host", "h3 point host", "h4 oval host",
                                 "h5 oval host", "s1 box -", "s2 box -"));
  std::vector<std::string> delays;
  for (const Link& link : drawing->links) delays.push_back(*link.attributes.find("delay_ns"));
  EXPECT_THAT(delays, ElementsAre("2", "2", "1"));
}

TEST(Dot, ReadsHtmlLabelsAndJoinedWords) {
  const auto d = read_dot(
      "graph {\n\"leaf\" + \"1\":\"swp1\" -- spine1:swp1 [label=<<b>100\nG</b>>, color=red]\n}");
  ASSERT_TRUE(d) << to_string(d.error());
  EXPECT_EQ(d->nodes[0].name, "leaf1");
  EXPECT_EQ(*d->links[0].attributes.find("label"), "<<b>100\nG</b>>");
  EXPECT_EQ(*d->links[0].attributes.find("color"), "red");
  EXPECT_EQ(to_string(read_dot("graph {\na [label=<b>>]\n").error()),
            "line 2: `>` is not understood");
  EXPECT_EQ(to_string(read_dot("graph {\na [label=<<b>\n").error()), "line 2: a `<` is not closed");
  EXPECT_EQ(to_string(read_dot("graph {\n\"a\" +\nb }").error()),
            "line 3: what `+` joins is quoted on both sides");
}

TEST(Dot, NamesTheLineOfASecondGraph) {
  EXPECT_EQ(to_string(read_dot("graph a { }\n\nstrict digraph b { }").error()),
            "line 3: a second graph begins here: give it a file of its own");
  EXPECT_TRUE(read_dot("graph a { }\n// the end\n"));
}

TEST(Dot, TakesAPortsMacAddressForAnAlias) {
  const auto drawing = read(R"(graph { a:1 -- b:1 [left_mac="02:00:00:00:00:01"]; a:2 -- b:2 })");
  ASSERT_TRUE(drawing) << to_string(drawing.error());
  EXPECT_THAT(drawing->links[0].ends[0].aliases, ElementsAre("02:00:00:00:00:01"));
  EXPECT_THAT(drawing->links[0].ends[1].aliases, ElementsAre());
  EXPECT_THAT(drawing->links[1].ends[0].aliases, ElementsAre());
}

TEST(Dot, TakesAMinusForPartOfAWord) {
  const auto drawing = read("graph { bb=-5; a:-1 -- b:1 [at=-2.5] }");
  ASSERT_TRUE(drawing) << to_string(drawing.error());
  EXPECT_THAT(links_of(*drawing), ElementsAre("a:-1 - b:1"));
  EXPECT_EQ(*drawing->links[0].attributes.find("at"), "-2.5");
}

TEST(Dot, TakesABackslashForWhatItIsAndForWhatItHides) {
  const auto drawing = read(R"(graph { "a\\":"p\"1" -- "b\n":p2 })");
  ASSERT_TRUE(drawing) << to_string(drawing.error());
  EXPECT_THAT(links_of(*drawing), ElementsAre(R"(a\:p"1 - b\n:p2)"));
}

TEST(Json, ReadsWhatNetworkxMakesOfIt) {
  // Numbers as names, source and target exchanged, `edges` for `links`, nothing optional.
  const auto drawing = read(R"({"directed": false, "multigraph": false, "graph": {"name": "g"},
    "nodes": [{"id": 1, "level": 0, "up": true, "chassis": null}, {"id": "leaf"}],
    "edges": [{"source": "leaf", "target": 1, "ports": {"1": "eth0", "leaf": "swp1"},
               "layers": {"leaf": 2}}]})");
  ASSERT_TRUE(drawing) << to_string(drawing.error());
  EXPECT_EQ(drawing->name, "g");
  EXPECT_THAT(links_of(*drawing), ElementsAre("leaf:swp1 - 1:eth0"));
  EXPECT_EQ(*drawing->nodes[0].attributes.find("level"), "0");
  EXPECT_EQ(*drawing->nodes[0].attributes.find("up"), "true");
  EXPECT_EQ(drawing->nodes[0].attributes.find("chassis"), nullptr);
  EXPECT_EQ(drawing->links[0].ends[0].layer, "2");
  EXPECT_EQ(drawing->links[0].ends[1].layer, "");
  EXPECT_EQ(place_of(drawing->links[0]), "links[0]");
}

TEST(Json, NameThatIsNoTextIsNone) {
  const auto drawing = read(R"({"graph": {"name": 7}, "nodes": [], "links": []})");
  ASSERT_TRUE(drawing) << to_string(drawing.error());
  EXPECT_EQ(drawing->name, "");
}

TEST(Json, NamesThePortsOfPlainNetworkxAndSaysSo) {
  const auto drawing = read(R"({"directed": false, "multigraph": true, "graph": {},
    "nodes": [{"id": "a"}, {"id": "b"}],
    "links": [{"source": "a", "target": "b", "key": 0}, {"source": "b", "target": "a", "key": 1},
              {"source": "a", "target": "b", "ports": {"a": "to-b-3", "b": "p9"}},
              {"source": "a", "target": "b"}, {"source": "a", "target": "a"}]})");
  ASSERT_TRUE(drawing) << to_string(drawing.error());
  EXPECT_THAT(links_of(*drawing),
              ElementsAre("a:to-b - b:to-a", "b:to-a-2 - a:to-b-2", "a:to-b-3 - b:p9",
                          "a:to-b-4 - b:to-a-3", "a:to-a - a:to-a-2"));
  EXPECT_TRUE(drawing->links[0].ends[1].unnamed);
  EXPECT_FALSE(drawing->links[2].ends[0].unnamed);
  EXPECT_THAT(drawing->notes,
              ElementsAre("4 links have no `ports`: the ports are called after their neighbors, as "
                          "to-leaf1"));
}

TEST(Json, ReadsALoopWithinOneDevice) {
  const auto drawing = read(R"({"nodes": [{"id": "a"}], "links": [{"source": "a", "target": "a",
    "ports": {"a": ["p1", "p2"]}, "orders": {"a": ["up", null]}, "aliases": {"a": [["x"], []]}}]})");
  ASSERT_TRUE(drawing) << to_string(drawing.error());
  EXPECT_THAT(links_of(*drawing), ElementsAre("a:p1 - a:p2"));
  EXPECT_EQ(drawing->links[0].ends[0].order, "up");
  EXPECT_EQ(drawing->links[0].ends[1].order, "");
  EXPECT_THAT(drawing->links[0].ends[0].aliases, ElementsAre("x"));
}

TEST(Drawing, PassesOverAByteOrderMark) {
  EXPECT_THAT(links_of(*read("\xef\xbb\xbfgraph { a:1 -- b:2 }")), ElementsAre("a:1 - b:2"));
  EXPECT_THAT(links_of(*read("\xef\xbb\xbf{\"nodes\": [], \"links\": []}")), ElementsAre());
}

struct BadFile {
  const char* name = "";
  const char* text = "";
  const char* error = "";
  friend void PrintTo(const BadFile& b, std::ostream* os) { *os << b.name; }
};
class BadDrawing : public testing::TestWithParam<BadFile> {};
TEST_P(BadDrawing, IsRefusedInOneLine) {
  EXPECT_EQ(refusal(read(GetParam().text)), GetParam().error);
}
const std::string kDeep = "graph " + std::string(1001, '{');
const std::string kDeepJson = R"({"nodes": [{"id": "a", "x": )" + std::string(200'000, '[') +
                              std::string(200'000, ']') + R"(}], "links": []})";
const BadFile kBadFiles[] = {
    {"Empty", "", "line 1: the file is empty"},
    {"OrdersAreNoObject",
     R"({"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b",
      "ports": {"a": "1", "b": "1"}, "orders": "up"}]})",
     "links[0]: orders: not an object"},
    {"OrderOfAStranger",
     R"({"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b",
      "ports": {"a": "1", "b": "1"}, "orders": {"a": "up", "c": "down"}}]})",
     "links[0]: orders: c is at neither end"},
    {"Blank", "\n\n", "line 1: the file is empty"},
    {"Text", "leaf1 swp1", "line 1: a DOT file begins with graph or digraph"},
    {"NoBrace", "graph x\n y", "line 2: `{` is missing"},
    {"Open", "graph {\n", "line 2: `}` is missing"},
    {"OpenComment", "graph { /* }\n", "line 2: `}` is missing"},
    {"OpenQuotation", "graph {\n\"a", "line 2: a quotation mark is not closed"},
    {"OpenValue", "graph {\nrankdir = \"LR }", "line 2: a quotation mark is not closed"},
    {"OpenAttribute", "graph {\na [\"color = red]; }", "line 2: a quotation mark is not closed"},
    {"TooDeep", kDeep.c_str(), "line 1: more than 1000 `{` stand open"},
    {"TooDeepJson", kDeepJson.c_str(), "fabric: nested more than 32 levels deep"},
    {"NoPort", "graph {\na -- b:1\n}",
     "line 2: the link has no port on a: write \"node\":\"port\""},
    {"NoEnd", "graph { a:1 -- }", "line 1: a node's name is missing"},
    {"NoPortName", "graph {\na: -- b:1 }", "line 2: a port's name is missing after `:`"},
    {"OutOfPlace", "graph { ] }", "line 1: `]` is out of place"},
    {"BadCharacter", "graph { \x01 }", "line 1: `\\x01` is not understood"},
    {"NoEquals", "graph { a [level] }", "line 1: `=` is missing after level"},
    {"NoValue", "graph { a [level=] }", "line 1: a value is missing for level"},
    {"TornJson", "{\"nodes\": [],\n\"links\": [",
     "line 2: cut off: the JSON has no end: write the file again"},
    {"HugeNumber", R"({"nodes":[9e999],"links":[]})", "fabric: a number is out of range"},
    {"NoObject", "[]", "fabric: not a node-link object"},
    {"NoNodes", R"({"links":[]})", "fabric: no list of nodes"},
    {"NoLinks", R"({"nodes":[]})", "fabric: no list of links"},
    {"NoId", R"({"nodes":[{"id":"a"},{}],"links":[]})",
     "nodes[1]: no id (a string or a whole number)"},
    {"TwoNames", R"({"nodes":[{"id":"a\u001b"},{"id":"a\u001b"}],"links":[]})",
     "a\\x1b: two nodes have this name"},
    {"NoLink", R"({"nodes":[],"links":[7]})", "links[0]: not an object"},
    {"NoTarget", R"({"nodes":[{"id":"a"}],"links":[{"source":"a","ports":{"a":"1"}}]})",
     "links[0]: no target"},
    {"NoSuchNode",
     R"({"nodes":[{"id":"a"}],"links":[{"source":"a","target":"b","ports":{"a":"1"}}]})",
     "links[0]: target b is no node"},
    {"OnePort",
     R"({"nodes":[{"id":"a"},{"id":"b"}],"links":[{"source":"a","target":"b","ports":{"b":"1"}}]})",
     "links[0]: the port on a is not in ports"},
    {"OnePortOfALoop",
     R"({"nodes":[{"id":"a"}],"links":[{"source":"a","target":"a","ports":{"a":"1"}}]})",
     "links[0]: the port on a is not in ports: a link to itself has [\"port\", \"port\"] there"},
};
INSTANTIATE_TEST_SUITE_P(Texts, BadDrawing, testing::ValuesIn(kBadFiles),
                         [](const auto& c) { return c.param.name; });

TEST(Csv, ReadsColumnsByTheirNames) {
  for (const char* text :
       {"Source,Source Port,Destination,Destination Port\nleaf1,swp1,spine1,swp3\n",
        "\xef\xbb\xbfsource "
        "device;SOURCE_INTERFACE;target;target-port\r\nleaf1;swp1;spine1;swp3\r\n",
        "A\tA port\tspeed\tB\tB port\nleaf1\t swp1 \t100G\tspine1\tswp3",
        "# of rack 7\n\nrow,src,dst,srcPort,dst.port\n\n1,\"leaf1\", \"spine1\" "
        ",swp1,swp3\n,,,,\n"}) {
    const auto drawing = read(text);
    ASSERT_TRUE(drawing) << text << to_string(drawing.error());
    EXPECT_THAT(links_of(*drawing), ElementsAre("leaf1:swp1 - spine1:swp3")) << text;
    EXPECT_THAT(drawing->notes, ElementsAre()) << text;
  }
  const auto drawing =
      read("from,from port,to,to port,Speed,MTU\na,1,\"b \"\"x\"\",\ny\",2,25G,\n");
  ASSERT_TRUE(drawing) << to_string(drawing.error());
  EXPECT_EQ(drawing->nodes[1].name, "b \"x\",\ny");
  EXPECT_EQ(*drawing->links[0].attributes.find("speed"), "25G");
  EXPECT_EQ(drawing->links[0].attributes.find("mtu"), nullptr);
  EXPECT_EQ(place_of(drawing->links[0]), "line 2");
}

TEST(Csv, LeavesOutARowThatIsNoCableAndSaysWhich) {
  const auto drawing = read(
      "source,source port,destination,destination port\n"
      "a,1,b,1\n"
      "b,1,a,1\n"  // the other end of the same cable
      "a,1,c,1\n"
      "a,,c,1\n"
      "a,2\n"
      "a,3,c,1\n"
      "a,4,\"c,2\n");
  ASSERT_TRUE(drawing) << to_string(drawing.error());
  EXPECT_THAT(links_of(*drawing), ElementsAre("a:1 - b:1", "a:3 - c:1"));
  EXPECT_THAT(drawing->notes,
              ElementsAre("line 4: a:1 has a cable already, by line 2: left out",
                          "line 5: no source port: left out", "line 6: no destination: left out",
                          "line 8: a quote is not closed: left out"));
  std::string table = "source,source port,destination,destination port\na,1,b,1\n";
  for (int row = 0; row < 1000; ++row) table += "x\n";
  const auto mostly_wrong = read(table);
  ASSERT_TRUE(mostly_wrong);
  EXPECT_EQ(first_notes(*mostly_wrong).size(), 11U);
  EXPECT_EQ(first_notes(*mostly_wrong).back(), "and 990 more");
}

TEST(Plan, LeavesOutASecondLinkAtAPortAndSaysWhere) {
  const auto dot =
      read_plan("graph {\na:1 -- b:1\na:1 -- c:1\nb:1 -- a:1\na:2 -- a:2\nc:1 -- a:3\n}");
  ASSERT_TRUE(dot) << to_string(dot.error());
  EXPECT_THAT(links_of(*dot), ElementsAre("a:1 - b:1", "c:1 - a:3"));
  EXPECT_THAT(dot->notes, ElementsAre("line 3: a:1 has a cable already, by line 2: left out",
                                      "line 5: a:2 is both ends of a cable: left out"));
  const auto json = read_plan(R"({"nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}], "links": [)"
                              R"({"source": "a", "target": "b", "ports": {"a": "1", "b": "1"}},)"
                              R"({"source": "c", "target": "b", "ports": {"c": "1", "b": "1"}},)"
                              R"({"source": "c", "target": "a", "ports": {"c": "1", "a": "2"}}]})");
  ASSERT_TRUE(json) << to_string(json.error());
  EXPECT_THAT(links_of(*json), ElementsAre("a:1 - b:1", "c:1 - a:2"));
  EXPECT_THAT(json->notes, ElementsAre("links[1]: b:1 has a cable already, by links[0]: left out"));
  EXPECT_EQ(place_of(json->links[1]), "links[2]") << "as in the file";
}

TEST(Csv, RefusesATableThatHasNoCables) {
  EXPECT_EQ(refusal(read("rack,unit,device,serial\n1,2,leaf1,x\n")),
            "line 1: no column for the source: name the columns source, source port, destination, "
            "destination port");
  EXPECT_EQ(refusal(read("source,source port,to,speed\na,1,b,100G\n")),
            "line 1: no column for the destination port: name the columns source, source port, "
            "destination, destination port");
  EXPECT_EQ(refusal(read("source,source port,destination,destination port\n,,,\na,1\n")),
            "the table: no row of it is a cable: line 3: no destination: left out");
  EXPECT_EQ(refusal(read_csv("a b c")),
            "line 1: not a row of at least four cells: name the columns source, source port, "
            "destination, destination port");
}

}  // namespace
}  // namespace lldp::cabling
