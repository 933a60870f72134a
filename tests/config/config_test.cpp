// SPDX-License-Identifier: Apache-2.0
#include "agent/config/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace lldp::config {

void PrintTo(const Option& o, std::ostream* os) { *os << o.name; }

namespace {

using testing::ElementsAre;

std::vector<std::string> texts(const Errors& errors) {
  std::vector<std::string> out;
  for (const Error& e : errors) out.push_back(to_string(e));
  return out;
}

TEST(ConfigTable, PresetsAreTheDefaultsOfConfig) {
  std::string file;
  for (const Option& o : options())
    if (!o.preset.empty()) file += std::string(o.name) + " = " + std::string(o.preset) + "\n";
  const auto config = parse(file, "presets");
  ASSERT_TRUE(config) << testing::PrintToString(texts(config.error()));
  EXPECT_EQ(*config, Config{});
}

TEST(ConfigTable, EveryOptionHasHelpOnOneLineAndSaysWhatItTakes) {
  for (const Option& o : options()) {
    EXPECT_FALSE(o.help.empty()) << o.name;
    EXPECT_EQ(o.help.find('\n'), std::string_view::npos) << o.name;
    EXPECT_FALSE(o.values.empty()) << o.name;
  }
}

TEST(ConfigFile, ReadsKeysSectionsAndComments) {
  const auto config = parse(
      "# a comment\n"
      "role = switch   # at the end\n"
      "level=2\n"
      "\n"
      "[lldp]\n"
      "tx-interval = 5\n"
      "[tlv]\r\n"
      "send = tr\r\n"
      "contribution-oui = 02-00-01, 02:00:02\n",
      "f");
  ASSERT_TRUE(config) << testing::PrintToString(texts(config.error()));
  Config want;
  want.role = Role::kSwitch;
  want.core.pinned_level = Level::of<2>();
  want.core.msgTxInterval = std::chrono::seconds(5);
  want.core.send_contribution = false;
  want.core.contribution_oui = {2, 0, 1};
  want.core.accepted_ouis = {{2, 0, 1}, {2, 0, 2}};
  EXPECT_EQ(*config, want);
}

TEST(ConfigFile, ReportsEveryErrorWithItsLine) {
  const auto config = parse(
      "colour = red\n"
      "level = 300\n"
      "role = host\n"
      "role = switch\n"
      "just words\n"
      "[lldp]\n"
      "tx-hold = many\n",
      "/etc/x.conf");
  ASSERT_FALSE(config);
  EXPECT_THAT(
      texts(config.error()),
      ElementsAre("/etc/x.conf:1: colour: unknown key: lldp-leveld --help lists the keys",
                  "/etc/x.conf:2: level: '300' is not in range: use 1-254",
                  "/etc/x.conf:4: role: set before in line 3: remove one",
                  "/etc/x.conf:5: 'just words' is neither a key nor a section: write key = value",
                  "/etc/x.conf:7: lldp.tx-hold: 'many' is not in range: use 1-100"));
}

}  // namespace
}  // namespace lldp::config
