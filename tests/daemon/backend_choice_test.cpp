// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/backend_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_dir.hpp"

namespace lldp::io {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Machine machine(int ports, const std::string& switch_id) {
  std::map<Ifindex, Interface> all;
  for (int i = 1; i <= ports; ++i) {
    const auto ifindex = *Ifindex::make(static_cast<unsigned>(i));
    all[ifindex] = {.ifindex = ifindex,
                    .name = "swp" + std::to_string(i),
                    .switch_id = switch_id,
                    .ethernet = true};
    all[ifindex].physical = true;
  }
  return Machine(all);
}

class BackendChoiceTest : public testing::Test {
 protected:
  BackendChoiceTest() {
    config_.state_file = files_ / "state";
    config_.sonic_config = files_ / "database_config.json";
  }
  void write(const char* name, const std::string& text) const {
    std::ofstream(files_ / name) << text;
  }

  TempDir files_;
  config::Config config_{};
};

TEST_F(BackendChoiceTest, IsTheMachines) {
  EXPECT_EQ(choose_backend(config_, machine(2, "")).name, "bpf,dcb");
  EXPECT_EQ(choose_backend(config_, machine(32, "one chip")).name, "flower,dcb");
  EXPECT_THAT(choose_backend(config_, machine(32, "one chip")).why, HasSubstr("32 ports"));
  write("database_config.json", "{}");
  EXPECT_EQ(choose_backend(config_, machine(32, "one chip")).name, "sonic");
}

TEST_F(BackendChoiceTest, WithTheAddressOfARedisIsSonic) {
  config_.sonic_redis = "127.0.0.1:6379";
  EXPECT_EQ(choose_backend(config_, machine(2, "")).name, "sonic");
}

TEST_F(BackendChoiceTest, ThatIsSetNeedsNoReason) {
  config_.backend = "bpf";
  const BackendChoice choice = choose_backend(config_, machine(32, "one chip"));
  EXPECT_EQ(choice.name, "bpf");
  EXPECT_THAT(choice.why, IsEmpty());
}

TEST_F(BackendChoiceTest, OfAFirstStartIsNoChange) {
  EXPECT_THAT(keep_choice(config_, choose_backend(config_, machine(2, ""))), IsEmpty());
}

TEST_F(BackendChoiceTest, OfAnUpgradeIsToldOnce) {
  write("state", "lldp-level-state 3\n");  // of a version that kept no choice
  const BackendChoice choice = choose_backend(config_, machine(32, "one chip"));
  const std::string line = keep_choice(config_, choice);
  EXPECT_THAT(
      line, HasSubstr("backend auto is flower,dcb here, for this machine has a front panel of 32"));
  EXPECT_THAT(line, HasSubstr("it was bpf: `lldp-leveld --remove-rules --backend bpf`"));
  EXPECT_THAT(keep_choice(config_, choice), IsEmpty());
}

TEST_F(BackendChoiceTest, OfAMachineThatBecameAnotherIsTold) {
  static_cast<void>(keep_choice(config_, choose_backend(config_, machine(2, ""))));
  EXPECT_THAT(keep_choice(config_, choose_backend(config_, machine(32, "one chip"))),
              HasSubstr("it was bpf,dcb"));
}

TEST_F(BackendChoiceTest, ThatTheOperatorChangedIsNotTold) {
  static_cast<void>(keep_choice(config_, choose_backend(config_, machine(2, ""))));
  config_.backend = "bpf";
  EXPECT_THAT(keep_choice(config_, choose_backend(config_, machine(2, ""))), IsEmpty());
}

TEST_F(BackendChoiceTest, InADamagedFileIsShownSafely) {
  write("state.backend", "\x1b[2J\n");
  EXPECT_THAT(keep_choice(config_, choose_backend(config_, machine(2, ""))),
              testing::Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace lldp::io
