// SPDX-License-Identifier: Apache-2.0
// `backend = auto` where no driver has dcbnl, as on every veth.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "dataplane/dcb/driver.hpp"
#include "tests/netns/support.hpp"
#include "tests/support/places.hpp"

namespace lldp::netns {
namespace {

TEST(BackendAuto, LeavesPfcUnverifiedWhereTheKernelRefusesDcbnl) {
  if (const auto why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
  const Namespace a;
  const Namespace b;
  join(a, b);
  {
    const Inside in(a);
    const auto driver = dataplane::dcb::open_driver();
    ASSERT_TRUE(driver);
    EXPECT_EQ((*driver)->get("p0").error().code, EOPNOTSUPP);
    EXPECT_EQ((*driver)->set_pfc("p0", 0x60).error().code, EOPNOTSUPP);
    EXPECT_EQ((*driver)->get("none").error().code, ENODEV);
  }
  const Agent leaf(a, {"--backend", "auto", "--role", "switch", "--level", "1"});
  const Agent spine(b, {"--role", "switch", "--level", "2"});
  EXPECT_TRUE(eventually([&] { return leaf.show()["protection"]["state"] == "active"; }))
      << leaf.show().dump(1);
  const auto protection = leaf.show()["protection"];
  EXPECT_EQ(protection["backend"], "bpf,dcb");
  EXPECT_THAT(protection["backend_reason"].get<std::string>(), testing::HasSubstr("SONiC"));
  EXPECT_EQ(protection["pfc_unverified"], 1);
  const auto rules = leaf.call("org.lldplevel.Rules");
  const auto& parts = rules["ports"][0]["parts"];
  ASSERT_EQ(parts.size(), 3U) << rules.dump(1);
  EXPECT_EQ(parts[2]["part"], "pfc");
  EXPECT_EQ(parts[2]["state"], "unsupported");
  EXPECT_EQ(rules["ports"][0]["pfc"], nlohmann::json::array());
}

TEST(DoctorCommand, SaysOfAVethWhatCannotBeKnown) {
  if (const auto why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
  const Namespace a;
  const Namespace b;
  join(a, b);
  const Agent leaf(a, {"--role", "switch"});
  const Agent host(b, {"--role", "host", "--tlv.send", "tr,contribution,pfc"});
  ASSERT_TRUE(eventually([&] { return leaf.neighbors("p0") == 1; }));
  const TemporaryDirectory files;
  int runs = 0;
  const auto doctor = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {support::program("lldp-level"), "doctor"});
    return std::make_unique<Process>(a.inside(more), files.file(std::to_string(runs++)));
  };
  const auto text = doctor({"--socket", leaf.socket()});
  EXPECT_EQ(text->wait(), 1) << text->output();
  EXPECT_THAT(
      text->output(),
      testing::HasSubstr("unknown the driver reports no PFC state (no dcbnl): without PFC"));
  const auto json = doctor({"--socket", leaf.socket(), "--json", "p0"});
  EXPECT_EQ(json->wait(), 1);
  const auto parsed = nlohmann::json::parse(json->output());
  EXPECT_EQ(parsed["status"], 1);
  EXPECT_EQ(parsed["ports"][0]["name"], "p0");
  EXPECT_TRUE(parsed["ports"][0]["pauses"].is_null());
  EXPECT_TRUE(parsed["ports"][0]["frames"].is_null());
  const auto watching = doctor({"--socket", leaf.socket(), "--watch"});
  EXPECT_TRUE(eventually([&] { return !watching->output().empty(); }));
  EXPECT_EQ(watching->wait(std::chrono::milliseconds(10)), -1) << watching->output();
  b.ip("link set p0 mtu 4000");
  EXPECT_TRUE(eventually([&] {
    return watching->output().find("bad frames of 1514 octets here, of 4014 at ") !=
           std::string::npos;
  })) << watching->output();
  const auto bad = doctor({"--socket", leaf.socket(), "p0"});
  EXPECT_EQ(bad->wait(), 2) << bad->output();
  EXPECT_THAT(bad->output(), testing::HasSubstr("ip link set dev p0 mtu 4000\n"));
  const auto nobody = doctor({"--socket", files.file("none")});
  EXPECT_EQ(nobody->wait(), 3);
}

TEST(DoctorCommand, WatchesOnWhilePortsAndDaemonsComeAndGo) {
  if (const auto why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
  const Namespace a;
  const Namespace b;
  join(a, b);
  std::optional<Agent> leaf(std::in_place, a, std::vector<std::string>{"--role", "switch"});
  const TemporaryDirectory files;
  Process watching(a.inside({support::program("lldp-level"), "--socket", leaf->socket(), "doctor",
                             "p0", "--watch"}),
                   files.file("watching"));
  const auto said = [&](std::string_view what) {
    return watching.output().find(what) != std::string::npos;
  };
  ASSERT_TRUE(eventually([&] { return said("p0: 2 findings\n"); })) << watching.output();
  a.ip("link del p0");
  EXPECT_TRUE(eventually([&] { return said("p0: is down, or gone\n"); })) << watching.output();
  join(a, b);
  EXPECT_TRUE(eventually([&] { return said("gone\np0: 2 findings\n"); })) << watching.output();
  leaf.reset();
  EXPECT_TRUE(eventually([&] { return said("asked again every second\n"); })) << watching.output();
  EXPECT_EQ(watching.wait(std::chrono::milliseconds(2200)), -1) << watching.output();
  const std::string all = watching.output();
  EXPECT_EQ(all.find("asked again"), all.rfind("asked again")) << all;  // and told once
}

}  // namespace
}  // namespace lldp::netns
