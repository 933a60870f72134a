// SPDX-License-Identifier: Apache-2.0
// `backend = auto` where no driver has dcbnl, as on every veth.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "dataplane/dcb/driver.hpp"
#include "tests/netns/support.hpp"

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
  EXPECT_EQ(protection["backend"], "auto");
  EXPECT_EQ(protection["pfc_unverified"], 1);
  const auto rules = leaf.call("org.lldplevel.Rules");
  const auto& parts = rules["ports"][0]["parts"];
  ASSERT_EQ(parts.size(), 3U) << rules.dump(1);
  EXPECT_EQ(parts[2]["part"], "pfc");
  EXPECT_EQ(parts[2]["state"], "unsupported");
  EXPECT_EQ(rules["ports"][0]["pfc"], nlohmann::json::array());
}

}  // namespace
}  // namespace lldp::netns
