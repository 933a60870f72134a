// SPDX-License-Identifier: Apache-2.0
#include "agent/cli/doctor.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/golden.hpp"

namespace lldp::cli {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kRules =
    R"({"chains": [[{"priority": 5, "dscps": [43]}, {"priority": 6, "dscps": [51]}]]})";

/// What the daemon tells of one port, p0, and its neighbor.
json answer(json pfc = {5, 6}) {
  return {{"ports",
           {{{"name", "p0"},
             {"ifindex", 7},
             {"up", true},
             {"neighbors",
              {{{"system_name", "spine1"},
                {"chassis_id", "02:00:00:00:00:09"},
                {"port_id", "swp3"},
                {"pfc_enabled", std::move(pfc)}}}}}}}};
}

/// A NIC with which nothing is wrong.
LocalPort fine() {
  return {.driver = "mlx5_core",
          .mtu = 9000,
          .dcb = dcbnl::Settings{.name = "p0",
                                 .pfc = dcbnl::Pfc{.enabled = 0x60, .cap = 8},
                                 .apps = {{dcbnl::kDscp, 5, 43}, {dcbnl::kDscp, 6, 51}}},
          .pause = LocalPort::GlobalPause{}};
}

Health examined(const LocalPort& local, const json& show = answer(),
                std::string_view rules = kRules) {
  const auto health =
      examine(show.dump(), rules, [&](const std::string&, unsigned) { return local; });
  EXPECT_TRUE(health);
  return health.value_or(Health{});
}
/// Codes of what is found.
std::vector<std::string> codes(const Health& health) {
  std::vector<std::string> out;
  for (const PortHealth& port : health.ports)
    for (const Finding& f : port.findings) out.push_back(f.code);
  return out;
}

TEST(Doctor, FindsNothingWhereNothingIsWrong) {
  EXPECT_THAT(codes(examined(fine())), IsEmpty());
  EXPECT_EQ(examined(fine()).status(), 0);
}

TEST(Doctor, NeighborWithoutANameIsCalledByItsChassis) {
  json show = answer(nullptr);
  json& neighbor = show["ports"][0]["neighbors"][0];
  neighbor["system_name"] = "";
  const Health health = examined(fine(), show);
  ASSERT_THAT(codes(health), ElementsAre("neighbor-pfc-unknown"));
  EXPECT_EQ(health.ports[0].findings[0].text, "02:00:00:00:00:09 swp3 reports no PFC state");
}

TEST(Doctor, PfcThatIsOff) {
  LocalPort local = fine();
  local.dcb->pfc->enabled = 0x20;
  const Health health = examined(local, answer({5}));
  EXPECT_THAT(
      health.ports.at(0).findings,
      ElementsAre(Finding{Finding::Severity::kBad, "pfc-off", "no PFC for priority 6",
                          "a full buffer drops its packets", "dcb pfc set dev p0 prio-pfc 6:on"},
                  Finding{Finding::Severity::kBad, "neighbor-pfc-off",
                          "spine1 swp3 has no PFC for priority 6",
                          "it drops instead of pausing this end, and ignores pauses",
                          "lldp-level doctor, there"}));
  EXPECT_EQ(health.status(), 2);
}

TEST(Doctor, PfcForAPriorityOfNoClassHereAndAtTheNeighbor) {
  LocalPort local = fine();
  local.dcb->pfc->enabled = 0x68;
  const Health health = examined(local, answer({4, 5, 6}));
  const char* const why =
      "its packets keep their priority where they turn: they can wait for each other in a cycle";
  EXPECT_THAT(
      health.ports.at(0).findings,
      ElementsAre(
          Finding{Finding::Severity::kBad, "pfc-unclassed",
                  "PFC is on for priority 3, which is in no lossless class", why,
                  "lldp-level set qos.lossless "
                  "'5:dscp43>6:dscp51,3:dscp26+24-31>2:dscp19'"},
          Finding{Finding::Severity::kBad, "neighbor-pfc-unclassed",
                  "PFC is on at spine1 swp3 for priority 4, which is in no lossless class", why,
                  "lldp-level set qos.lossless "
                  "'5:dscp43>6:dscp51,4:dscp34+32-39>1:dscp11'"}));
}

TEST(Doctor, SaysThatNoLosslessClassIsKnown) {
  LocalPort local = fine();
  local.dcb->pfc->enabled = 0x08;
  EXPECT_THAT(examined(local, answer({3}), R"({"chains": []})").ports.at(0).findings,
              ElementsAre(Finding{Finding::Severity::kUnknown, "classes-unknown",
                                  "no lossless class is known here",
                                  "without one nothing can be said of the path of lossless traffic",
                                  "lldp-level set qos.lossless '3:dscp26+24-31>2:dscp19'"}));
  json none = answer({3});
  none["device"] = {{"role", "switch"}};
  none["protection"] = {{"classes_known", true}};
  EXPECT_THAT(codes(examined(local, none, R"({"chains": []})")), IsEmpty());
}

// Hosts need PFC for application classes only.
TEST(Doctor, SpareClassNeedsNoPfcWhereItIsRestored) {
  LocalPort local = fine();
  local.dcb->pfc->enabled = 0x20;
  json rules = json::parse(kRules);
  rules["ports"] = {
      {{"name", "p0"},
       {"parts", json::array()},
       {"leaving",
        {{{"from", {{"priority", 6}, {"dscp", 51}}}, {"to", {{"priority", 5}, {"dscp", 43}}}}}}}};
  EXPECT_THAT(codes(examined(local, answer({5}), rules.dump())), IsEmpty());
  rules["ports"][0]["leaving"][0]["to"]["priority"] = 0;  // as a shut port does
  EXPECT_THAT(codes(examined(local, answer({5}), rules.dump())),
              ElementsAre("pfc-off", "neighbor-pfc-off"));
}

/// A switch chip that the daemon reads, and the kernel does not know.
std::string read_back(std::string_view pfc, std::string_view text = "null") {
  return fmt::format(
      R"({{"chains": [[{{"priority": 5, "dscps": [43]}}, {{"priority": 6, "dscps": [51]}}]], "ports": [)"
      R"({{"name": "p0", "parts": [{{"part": "classify", "state": "done", "text": null}},)"
      R"({{"part": "pfc", "state": "{}", "text": {}}}], "pauses": [)"
      R"({{"priority": 5, "received": 7, "sent": 3}}, {{"priority": 9, "received": 1, "sent": 1}}],)"
      R"("frames": [{{"priority": 5, "received": null, "sent": 9000}}]}}]}})",
      pfc, text);
}

TEST(Doctor, TellsTheCountsOfTheLowestAndTheHighestPriorityToo) {
  Health health;
  PortHealth& port = health.ports.emplace_back();
  port.name = "p0";
  for (const unsigned p : {0U, 7U}) {
    health.lossless.push_back({*Priority::make(p), *Dscp::make(p)});
    port.carried.frames.sent[p] = 1 + p;
    port.carried.pauses.received[p] = 2 + p;
    port.carried.lost.frames.sent[p] = 3 + p;
    port.carried.paused_microseconds.received[p] = 1'500'000 + p;
    port.carried.paused_microseconds.sent[p] = p;
    port.carried.last_pause_microseconds.received[p] = 1'769'904'000'999'999 + p;
  }
  EXPECT_EQ(health_text(health, {}),
            "p0: fine\n"
            "  priority 0: 1 frames sent\n"
            "  priority 7: 8 frames sent\n"
            "  priority 0: paused by the neighbor 2 times\n"
            "  priority 7: paused by the neighbor 9 times\n"
            "  priority 0: paused by the neighbor for 1.5 s, the neighbor's last pause began "
            "2026-02-01T00:00:00Z\n"
            "  priority 7: paused by the neighbor for 1.50001 s, paused it for 7e-06 s, the "
            "neighbor's last pause began 2026-02-01T00:00:01Z\n"
            "  priority 0: 3 frames dropped in their queue\n"
            "  priority 7: 10 frames dropped in their queue\n");
}

TEST(Doctor, OfASwitchChipSaysWhatTheDaemonReadsThere) {
  LocalPort chip;
  chip.mtu = 9000;
  const Health done = examined(chip, answer(), read_back("done"));
  EXPECT_THAT(codes(done), IsEmpty());
  qos::Carried carried;
  carried.pauses.received[5] = 7;
  carried.pauses.sent[5] = 3;
  carried.frames.sent[5] = 9000;
  EXPECT_EQ(done.ports.at(0).carried, carried);
  EXPECT_EQ(health_text(done, {}),
            "p0: fine\n"
            "  priority 5: 9000 frames sent\n"
            "  priority 5: paused by the neighbor 7 times, paused it 3 times\n");
  const Health missing = examined(chip, answer(), read_back("missing", R"("3,4 in its place")"));
  EXPECT_THAT(missing.ports.at(0).findings,
              ElementsAre(Finding{Finding::Severity::kBad, "pfc-off",
                                  "PFC is missing in the hardware (3,4 in its place)",
                                  "a full buffer drops lossless packets", "lldp-level rules"}));
  EXPECT_THAT(codes(examined(chip, answer(), read_back("unsupported"))),
              ElementsAre("pfc-unknown"));
  LocalPort counts = chip;
  counts.carried.pauses.sent[5] = 0;
  carried.pauses = counts.carried.pauses;
  EXPECT_EQ(examined(counts, answer(), read_back("done")).ports.at(0).carried, carried)
      << "the driver's own come first";
}

/// The same, which has lost frames: of each priority, on arrival and in its queue, and when.
std::string with_lost(json lost) {
  json rules = json::parse(read_back("done"));
  rules["ports"][0].erase("frames");
  rules["ports"][0].erase("pauses");
  rules["ports"][0]["lost"] = std::move(lost);
  return rules.dump();
}
json lost_of(unsigned priority, json received, json sent, json received_ago, json sent_ago) {
  return {{"priority", priority},
          {"received", std::move(received)},
          {"sent", std::move(sent)},
          {"received_ago", std::move(received_ago)},
          {"sent_ago", std::move(sent_ago)}};
}

TEST(Doctor, FramesOfALosslessPriorityThatWereLostJustNow) {
  LocalPort chip;
  const Health health =
      examined(chip, answer(),
               with_lost({lost_of(0, 1000, 1000, 1, 1), lost_of(5, 12, 3, 40, 599),
                          lost_of(6, nullptr, 7, nullptr, 0)}));
  EXPECT_THAT(health.ports.at(0).findings,
              ElementsAre(Finding{Finding::Severity::kBad, "frames-lost",
                                  "frames of priority 5 were dropped on arrival in the last 10 min",
                                  "the buffer was full: the neighbor was not paused, or it "
                                  "went on after that",
                                  "show priority-group drop counters"},
                          Finding{Finding::Severity::kBad, "frames-lost",
                                  "frames of priority 5, 6 were dropped in their queue in the last "
                                  "10 min",
                                  "it was full, or the PFC watchdog emptied it",
                                  "show queue counters p0"}));
  EXPECT_EQ(health.status(), 2);
  const std::string text = health_text(health, {});
  EXPECT_EQ(text.substr(text.find("  priority")),
            "  priority 5: 12 frames dropped on arrival (the last 40 s ago), 3 frames dropped in "
            "their queue (the last 9 min ago)\n"
            "  priority 6: 7 frames dropped in their queue (the last 0 s ago)\n");
  EXPECT_EQ(json::parse(health_json(health))["ports"][0]["lost"][5].dump(),
            R"({"priority":5,"received":12,"received_ago":40,"sent":3,"sent_ago":599})");
}

// Of a second chain too.
TEST(Doctor, FramesOfTheHighestPriorityWereLostWhereItIsLossless) {
  json rules = json::parse(with_lost(json::array({lost_of(7, 3, 0, 1, nullptr)})));
  EXPECT_THAT(codes(examined({}, answer(), rules.dump())),
              testing::Not(testing::Contains("frames-lost")));
  rules["chains"].push_back(json::parse(R"([{"priority": 7, "dscps": [59]}])"));
  EXPECT_THAT(codes(examined({}, answer(), rules.dump())), testing::Contains("frames-lost"));
}

// A count says nothing of when: what was lost before anybody looked, or long ago, is no finding.
TEST(Doctor, FramesThatWereLostLongAgoAreToldAndNoFinding) {
  LocalPort chip;
  const Health health = examined(
      chip, answer(),
      with_lost({lost_of(5, 12, 0, 600, nullptr), lost_of(6, nullptr, 7, nullptr, nullptr)}));
  EXPECT_THAT(codes(health), IsEmpty());
  EXPECT_EQ(health_text(health, {}),
            "p0: fine\n"
            "  priority 5: 12 frames dropped on arrival (the last 10 min ago)\n"
            "  priority 6: 7 frames dropped in their queue\n");
  EXPECT_TRUE(
      json::parse(health_json(examined(chip, answer(), with_lost(nullptr))))["ports"][0]["lost"]
          .is_null());
}

TEST(Doctor, FramesLostSinceTheLastLook) {
  LocalPort chip;
  const auto look = [&](unsigned received, unsigned sent) {
    return examined(chip, answer(),
                    with_lost({lost_of(0, received, sent, nullptr, nullptr),
                               lost_of(5, received, sent, nullptr, nullptr)}));
  };
  EXPECT_EQ(health_changes(look(12, 3), look(15, 3), {}),
            "p0: dropped on arrival frames of priority 5: 3\n");
  EXPECT_EQ(health_changes(look(12, 3), look(12, 4), {}),
            "p0: dropped in their queue frames of priority 5: 1\n");
  EXPECT_EQ(health_changes(look(12, 3), look(0, 0), {}),
            "p0: counters went back, as after a reload of the driver: counted anew\n");
}

TEST(Doctor, WhatCannotBeKnownIsNoFault) {
  LocalPort local;
  EXPECT_THAT(codes(examined(local, answer(nullptr))),
              ElementsAre("pfc-unknown", "neighbor-pfc-unknown"));
  json show = answer();
  show["ports"][0]["neighbors"] = json::array();
  EXPECT_THAT(codes(examined(fine(), show)), ElementsAre("no-neighbor"));
  EXPECT_EQ(examined(fine(), show).status(), 1);
  show["ports"][0]["up"] = false;
  EXPECT_THAT(examined(fine(), show).ports, IsEmpty());
}

TEST(Doctor, DscpsWithoutTheirPriority) {
  LocalPort local = fine();
  local.dcb->apps = {{dcbnl::kDscp, 3, 43}, {1, 6, 51}};
  const Health health = examined(local);
  ASSERT_THAT(codes(health), ElementsAre("dscp-map", "dscp-map"));
  EXPECT_EQ(health.ports[0].findings[0].text, "DSCP 43 has priority 3, not 5");
  EXPECT_EQ(health.ports[0].findings[0].command, "dcb app replace dev p0 dscp-prio 43:5");
  EXPECT_EQ(health.ports[0].findings[1].text, "DSCP 51 has no priority");
  EXPECT_EQ(health.ports[0].findings[1].command, "dcb app add dev p0 dscp-prio 51:6");
}

TEST(Doctor, DscpThatIsNotLookedAt) {
  LocalPort local = fine();
  local.dcb->trusted = {255};  // the PCP alone
  const Health health = examined(local);
  EXPECT_THAT(codes(health), ElementsAre("dscp-trust"));
  EXPECT_EQ(health.status(), 2);
  EXPECT_EQ(health.ports[0].findings[0].command, "dcb apptrust set dev p0 order dscp");
  local.dcb->trusted = {255, dcbnl::kDscp};
  EXPECT_THAT(codes(examined(local)), IsEmpty());
}

TEST(Doctor, LosslessPrioritiesHaveRoomOfTheirOwn) {
  LocalPort local = fine();
  dcbnl::Buffers& buffers = local.dcb->buffers.emplace();
  buffers.of = {0, 0, 0, 0, 0, 1, 1, 0};
  buffers.octets = {20000, 100000};
  EXPECT_THAT(codes(examined(local)), IsEmpty()) << "lossless ones may share theirs";
  buffers.octets[1] = 0;
  const Health none = examined(local);
  EXPECT_THAT(codes(none), ElementsAre("no-headroom", "no-headroom"));
  EXPECT_EQ(none.ports[0].findings[1].text, "priority 6 has no room (buffer 1)");
  EXPECT_EQ(none.ports[0].findings[1].command, "dcb buffer set dev p0 buffer-size 1:OCTETS");
  buffers.of = {0, 0, 6, 0, 0, 1, 0, 0};
  buffers.octets = {20000, 100000};
  const Health shared = examined(local);
  EXPECT_THAT(codes(shared), ElementsAre("shared-buffer"));
  EXPECT_EQ(shared.ports[0].findings[0].text, "priority 6 shares buffer 0 with lossy priorities");
  EXPECT_EQ(shared.ports[0].findings[0].command, "dcb buffer set dev p0 prio-buffer 6:1")
      << "6 is taken by priority 2";
  buffers.of = {};
  EXPECT_EQ(examined(local).ports[0].findings[1].command, "dcb buffer set dev p0 prio-buffer 6:6");
}

TEST(Doctor, GlobalPauseAndFirmware) {
  LocalPort local = fine();
  local.pause = LocalPort::GlobalPause{.rx = true};
  local.dcb->dcbx = 0x0a;  // LLD_MANAGED
  local.private_flags = {{"fw-lldp-agent", true}, {"disable-fw-lldp", false}, {"other", true}};
  const Health health = examined(local);
  EXPECT_THAT(codes(health),
              ElementsAre("firmware-dcbx", "global-pause", "firmware-lldp", "firmware-lldp"));
  EXPECT_EQ(health.ports[0].findings[1].text, "global pause is on (rx)");
  EXPECT_EQ(health.ports[0].findings[2].command, "ethtool --set-priv-flags p0 fw-lldp-agent off");
  EXPECT_EQ(health.ports[0].findings[3].command, "ethtool --set-priv-flags p0 disable-fw-lldp on");
  local = fine();  // the agent is off by either flag
  local.private_flags = {{"fw-lldp-agent", false}, {"disable-fw-lldp", true}};
  EXPECT_THAT(codes(examined(local)), IsEmpty());
}

TEST(Doctor, FrameSizesThatDiffer) {
  const auto show = [](const char* size) {
    json out = answer();
    out["ports"][0]["neighbors"][0]["lldpdu"] = std::string(
                                                    "020704020000000009"
                                                    "040305"
                                                    "7031"
                                                    "06020079"
                                                    "fe0600120f04") +
                                                size + "0000";
    return out;
  };
  EXPECT_THAT(codes(examined(fine(), show("2336"))), IsEmpty());  // 9014
  EXPECT_THAT(codes(examined(fine(), show("233e"))), IsEmpty());  // a tag and the check more
  const Health health = examined(fine(), show("05ee"));           // 1518
  ASSERT_THAT(codes(health), ElementsAre("mtu"));
  EXPECT_EQ(health.ports[0].findings[0].text, "frames of 9014 octets here, of 1518 at spine1 swp3");
  LocalPort small = fine();
  small.mtu = 1500;
  for (const auto& [size, mtu] :
       {std::pair("2336", "9000"), {"233a", "9000"}, {"233e", "9000"}, {"240e", "9216"}})
    EXPECT_EQ(examined(small, show(size)).ports[0].findings[0].command,
              std::string("ip link set dev p0 mtu ") + mtu);
  EXPECT_THAT(codes(examined(fine(), show("0000"))), IsEmpty());  // it does not know
}

TEST(Doctor, WhoPausedWhomSinceTheLastLook) {
  LocalPort local = fine();
  local.carried.pauses.received[5] = 100;
  local.carried.pauses.sent[6] = 0;
  const Health before = examined(local);
  local.carried.pauses.received[5] = 112;
  local.carried.pauses.sent[6] = 1;
  EXPECT_EQ(health_changes(before, examined(local), {}),
            "p0: the neighbor paused priority 5: 12\np0: paused the neighbor on priority 6: 1\n");
  local.carried.pauses.received[5] = 3;  // the driver was loaded anew
  local.carried.pauses.sent[6] = 0;
  EXPECT_EQ(health_changes(before, examined(local), {}),
            "p0: counters went back, as after a reload of the driver: counted anew\n");
}

TEST(Doctor, TellsOfPortsThatComeGoAndChangeAndOfNoOthers) {
  const auto port = [](std::string name, std::vector<Finding> findings) {
    return PortHealth{.name = std::move(name), .findings = std::move(findings)};
  };
  const Finding found{.code = "no-neighbor", .text = "no neighbor is heard", .why = "so"};
  const Health before{.ports = {port("p0", {found}), port("p1", {}), port("p2", {})}};
  EXPECT_EQ(health_changes(before, before, {}), "");
  const Health now{.ports = {port("p0", {found}), port("p2", {found}), port("p3", {})}};
  EXPECT_EQ(health_changes(before, now, {}),
            "p1: is down, or gone\n"
            "p2: 1 finding\n"
            "  unknown no neighbor is heard: so\n"
            "p3: fine\n");
}

// Whoever asks is told "nothing found" only where something was looked at.
TEST(Doctor, KnowsNothingOfADeviceWithoutPorts) {
  json show = answer();
  show["ports"][0]["up"] = false;
  EXPECT_EQ(examined(fine(), show).status(), 1);
}
TEST(Doctor, SaysOfAPortThatWasAskedForThatItIsDown) {
  json show = answer();
  show["ports"][0]["up"] = false;
  const auto nobody = [](const std::string&, unsigned) { return LocalPort{}; };
  const auto asked = [&](const std::vector<std::string>& names) {
    return examine(show.dump(), kRules, nobody, names).value_or(Health{});
  };
  EXPECT_EQ(health_text(asked({"p1", "p0"}), {}),
            "p0: 1 finding\n"
            "  unknown the port is down: nothing can be known of its path\n");
  EXPECT_EQ(asked({"p0"}).status(), 1);
  EXPECT_THAT(asked({"p*"}).ports, IsEmpty()) << "one of many";
}
TEST(Doctor, KnowsNothingOfPortsOfAnotherNamespace) {
  LocalPort local;
  local.here = false;
  const Health health = examined(local);
  EXPECT_THAT(codes(health), ElementsAre("elsewhere"));
  EXPECT_EQ(health.status(), 1);
}

TEST(Doctor, TextAndJson) {
  LocalPort local = fine();
  local.pause = LocalPort::GlobalPause{.rx = true, .tx = true};
  local.carried.pauses.received[5] = 112;
  local.carried.frames.sent[5] = 9000;
  const Health health = examined(local, answer(nullptr));
  EXPECT_EQ(health_text(health, {}),
            "p0: 2 findings\n"
            "  bad global pause is on (rx, tx): it stops all priorities at once, and most NICs do "
            "no PFC beside it: ethtool -A p0 autoneg off rx off tx off\n"
            "  unknown spine1 swp3 reports no PFC state: its buffers may drop what this end sends\n"
            "  priority 5: 9000 frames sent\n"
            "  priority 5: paused by the neighbor 112 times\n");
  const json parsed = json::parse(health_json(health));
  EXPECT_EQ(parsed["status"], 2);
  EXPECT_EQ(parsed["ports"][0]["findings"][0]["code"], "global-pause");
  EXPECT_TRUE(parsed["ports"][0]["findings"][1]["command"].is_null());
  EXPECT_EQ(parsed["ports"][0]["pauses"][5]["received"], 112);
  EXPECT_EQ(parsed["ports"][0]["frames"][5]["sent"], 9000);
  EXPECT_EQ(health_text({}, {}), "no port is up: nothing is known\n");
  support::expect_golden(health_json(health) + "\n", "cli/golden/doctor.json");
}

// Whole: why each matters, and what to do about it.
TEST(Doctor, EveryFindingInItsWords) {
  std::string said;
  const auto say = [&](const LocalPort& local, const json& show = answer(),
                       std::string_view rules = kRules) {
    said += health_text(examined(local, show, rules), {}) + "\n";
  };
  LocalPort local;
  say(local, answer(nullptr));
  local.driver = "mlx5_core";
  say(local, answer({}));
  local.here = false;
  say(local);
  local = fine();
  local.dcb->pfc->enabled = 0;
  local.dcb->dcbx = 0x0a;  // LLD_MANAGED
  local.dcb->apps = {{dcbnl::kDscp, 3, 43}};
  local.dcb->trusted = {255};
  say(local, answer({3}));
  local = fine();
  local.dcb->buffers.emplace().of = {0, 0, 6, 0, 0, 1, 0, 0};
  say(local);
  for (const auto& [rx, tx] : {std::pair(true, false), {false, true}, {true, true}}) {
    local = fine();
    local.pause = LocalPort::GlobalPause{.rx = rx, .tx = tx};
    local.private_flags = {{"fw-lldp-agent", rx}, {"disable-fw-lldp", !tx}};
    say(local);
  }
  json alone = answer();
  alone["ports"][0]["neighbors"] = json::array();
  say(fine(), alone);
  LocalPort chip;
  chip.mtu = 9000;
  for (const auto& [state, text] :
       {std::pair("missing", "null"), {"foreign", R"("another's")"}, {"unsupported", "null"}})
    say(chip, answer(), read_back(state, text));
  support::expect_golden(said, "cli/golden/doctor-findings.txt");
}

TEST(Doctor, AnswersThatAreNoneAreRefused) {
  const auto nobody = [](const std::string&, unsigned) { return LocalPort{}; };
  for (const char* text : {"", "{}", "[]", R"({"ports": [{}]})"})
    EXPECT_FALSE(examine(text, kRules, nobody)) << text;
  EXPECT_FALSE(
      examine(answer().dump(), R"({"chains": [[{"priority": 9, "dscps": [1]}]]})", nobody));
}

}  // namespace
}  // namespace lldp::cli
