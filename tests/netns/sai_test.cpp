// SPDX-License-Identifier: Apache-2.0
// The daemon with a libsai that misbehaves, in a process of its own.
#include <gmock/gmock.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/dataplane/sai_box.hpp"
#include "tests/netns/support.hpp"
#include "tests/support/places.hpp"

namespace lldp::netns {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// A leaf whose front panel is Ethernet0, to a spine.
class SaiDaemon : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
    leaf_.emplace();
    spine_.emplace();
    leaf_->ip("link add Ethernet0 type veth peer name p0 netns " + spine_->name());
    leaf_->ip("link set up dev Ethernet0");
    spine_->ip("link set up dev p0");
  }
  std::vector<std::string> options() const {
    return {"--backend", "sai",           "--role",      "switch",        "--level",
            "1",         "--sai.library", LLDP_FAKE_SAI, "--sai.profile", box_.profile()};
  }
  static std::string state(const Agent& agent) { return agent.show()["protection"]["state"]; }
  std::optional<Namespace> leaf_;
  std::optional<Namespace> spine_;
  dataplane::SaiBox box_;
};

TEST_F(SaiDaemon, IsNotHeldUpByALibraryThatHangsOrCrashes) {
  {
    const Agent leaf(*leaf_, options());
    const Agent spine(*spine_, {"--role", "switch", "--level", "2"});
    ASSERT_TRUE(eventually([&] { return state(leaf) == "active"; })) << leaf.show().dump(1);
    EXPECT_EQ(box_.forward(0, 0, 43).dscp, 51U);

    box_.chip().hang = 5000;  // the next reading, within 5 s
    ASSERT_TRUE(eventually([&] { return box_.chip().hang == 0; }));
    // It tells of the hang while it lasts, so it does not wait for the library.
    EXPECT_TRUE(eventually([&] { return state(leaf) == "failed"; }));
    EXPECT_THAT(leaf.call("org.lldplevel.Rules").dump(),
                HasSubstr("libsai has not answered for 1.5 s"));
    EXPECT_TRUE(eventually([&] { return state(leaf) == "active"; })) << leaf.show().dump(1);

    box_.chip().crash = 1;
    box_.port(0).maps[2] = 0;  // somebody makes us write
    EXPECT_TRUE(eventually([&] { return state(leaf) == "failed"; }));
    EXPECT_TRUE(eventually([&] { return state(leaf) == "active"; })) << leaf.show().dump(1);
    EXPECT_NE(box_.port(0).maps[2], 0U);
    EXPECT_THAT(leaf.log(), HasSubstr("killed by signal 11"));
  }
  EXPECT_EQ(box_.forward(0, 0, 43).dscp, 51U);  // they outlive the daemon
  EXPECT_FALSE(box_.chip().initialized);
}

}  // namespace
}  // namespace lldp::netns
