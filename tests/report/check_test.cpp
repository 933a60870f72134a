// SPDX-License-Identifier: Apache-2.0
// What `check` says of a device to monitors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "agent/report/report.hpp"
#include "agent/report/text.hpp"

namespace lldp::report {
namespace {

/// A device of these few members, for check.
std::string shown(const std::string& role, const std::string& ports, const std::string& protection,
                  const std::string& alarms = "[]") {
  return R"({"version":1,"device":{"role":")" + role +
         R"(","level":1,"level_source":"host","system_name":"leaf1"},"ports":)" + ports +
         R"(,"protection":)" + protection + R"(,"alarms":)" + alarms + "}";
}
std::string protected_by(const std::string& backend, const std::string& state,
                         const std::string& reasons = "[]") {
  return R"({"backend":")" + backend + R"(","state":")" + state +
         R"(","lossless":[5,6],"reasons":)" + reasons + R"(,"pfc_unverified":0})";
}
constexpr const char* kOnePort = R"([{"name":"swp1","up":true,"neighbors":[]}])";
constexpr const char* kAlarm =
    R"([{"code":"crosslink","port":"swp3","since":"","text":"leaf2 stands on our own level 1"}])";
constexpr const char* kReason =
    R"([{"port":"swp1","part":"classify","state":"bypassed","text":"by XDP"},)"
    R"({"port":"swp2","part":"remap","state":"missing","text":"not there"}])";

struct CheckCase {
  const char* name = "";
  std::string show{};
  Status status{};
  std::string line{};
  friend void PrintTo(const CheckCase& c, std::ostream* os) { *os << c.name; }
};
class Check : public testing::TestWithParam<CheckCase> {};
TEST_P(Check, SaysWhatMonitorsAreToThink) {
  const auto verdict = check(GetParam().show);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->status, GetParam().status);
  EXPECT_THAT(verdict->line, testing::StartsWith("LLDP-LEVEL " + GetParam().line + " | level="));
}
/// That device before it has learned its level.
std::string unplaced(std::string show) {
  const std::string_view level = R"("level":1,"level_source":"host")";
  return show.replace(show.find(level), level.size(), R"("level":null,"level_source":"none")");
}
const CheckCase kChecks[] = {
    {"AllIsDone", shown("switch", kOnePort, protected_by("bpf", "active")), Status::kOk,
     "OK - leaf1: switch, level 1 (host), protection active"},
    {"NothingToProtect", shown("host", kOnePort, protected_by("bpf", "inactive")), Status::kOk,
     "OK - leaf1: host, level 1 (host), protection inactive"},
    {"SwitchWithoutALevel", unplaced(shown("switch", kOnePort, protected_by("bpf", "inactive"))),
     Status::kWarning, "WARNING - leaf1: switch, no level yet, protection inactive"},
    {"SwitchWithoutALevelAndWithoutALink",
     unplaced(shown("switch", R"([{"name":"swp1","up":false,"neighbors":[]}])",
                    protected_by("bpf", "inactive"))),
     Status::kOk, "OK - leaf1: switch, no level yet, protection inactive"},
    {"RulesOnPaper",
     shown("switch", kOnePort,
           protected_by(
               "print", "inactive",
               R"([{"port":"swp1","part":"remap","state":"unsupported","text":"printed"}])")),
     Status::kUnknown,
     "UNKNOWN - leaf1: switch, level 1 (host), protection inactive, swp1: remap unsupported: "
     "printed"},
    {"AlarmThatLeavesProtectionWhole",
     shown("switch", kOnePort, protected_by("bpf", "active"), kAlarm), Status::kWarning,
     "WARNING - leaf1: switch, level 1 (host), protection active, alarm crosslink swp3: leaf2 "
     "stands on our own level 1"},
    {"PortToASwitchIsNotProtected",
     shown("switch", kOnePort, protected_by("bpf", "partial", kReason)), Status::kCritical,
     "CRITICAL - leaf1: switch, level 1 (host), protection partial, swp1: classify bypassed: by "
     "XDP (and 1 more)"},
    {"ChipCannotDoAllOfIt",
     shown("switch", kOnePort,
           protected_by(
               "sonic", "partial",
               R"([{"port":"swp1","part":"remap","state":"limited","text":"last hop lossy"},)"
               R"({"port":"swp2","part":"remap","state":"unverified","text":"not seen"}])")),
     Status::kWarning,
     "WARNING - leaf1: switch, level 1 (host), protection partial, swp1: remap limited: last hop "
     "lossy (and 1 more)"},
    {"ChipCannotDoAllOfItAndAPartIsMissing",
     shown("switch", kOnePort,
           protected_by(
               "sonic", "partial",
               R"([{"port":"swp1","part":"remap","state":"limited","text":"last hop lossy"},)"
               R"({"port":"swp2","part":"remap","state":"missing","text":"not there"}])")),
     Status::kCritical,
     "CRITICAL - leaf1: switch, level 1 (host), protection partial, swp1: remap limited: last hop "
     "lossy (and 1 more)"},
    {"NoClassIsKnown",
     shown("switch", kOnePort,
           R"({"backend":"bpf","state":"inactive","lossless":[],"chains":[],"evidence":[],)"
           R"("classes_known":false,"reasons":[],"pfc_unverified":0})"),
     Status::kWarning,
     "WARNING - leaf1: switch, level 1 (host), protection inactive: no lossless class is known "
     "(lldp-level set qos.lossless roce)"},
    {"TheOperatorSaysThatThereIsNoClass",
     shown("switch", kOnePort,
           R"({"backend":"bpf","state":"inactive","lossless":[],"chains":[],"evidence":[],)"
           R"("classes_known":true,"reasons":[],"pfc_unverified":0})"),
     Status::kOk, "OK - leaf1: switch, level 1 (host), protection inactive"},
    {"ClassesDiffer",
     shown(
         "switch", kOnePort, protected_by("bpf", "active"),
         R"([{"code":"class-mismatch","port":"swp3","severity":"critical","since":"","text":"they differ"}])"),
     Status::kCritical,
     "CRITICAL - leaf1: switch, level 1 (host), protection active, alarm class-mismatch swp3: "
     "they differ"},
    {"DataPlaneRefused", shown("switch", kOnePort, protected_by("bpf", "failed")),
     Status::kCritical, "CRITICAL - leaf1: switch, level 1 (host), protection failed"},
    {"SwitchWithoutPorts", shown("switch", "[]", protected_by("bpf", "inactive")),
     Status::kCritical,
     "CRITICAL - leaf1: switch, level 1 (host), protection inactive, no port at all: see `ports` "
     "in lldp-level.conf(5)"},
    {"HostWithoutPorts", shown("host", "[]", protected_by("bpf", "inactive")), Status::kOk,
     "OK - leaf1: host, level 1 (host), protection inactive"},
    {"SwitchWithoutABackEnd", shown("switch", kOnePort, protected_by("none", "inactive")),
     Status::kUnknown, "UNKNOWN - leaf1: switch, level 1 (host), protection inactive"}};
INSTANTIATE_TEST_SUITE_P(Nagios, Check, testing::ValuesIn(kChecks),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace lldp::report
