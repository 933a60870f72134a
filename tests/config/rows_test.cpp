// SPDX-License-Identifier: Apache-2.0
// Rows of SONiC's CONFIG_DB as configuration: by the same table and checks as the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "agent/config/config.hpp"
#include "base/text.hpp"
#include "tests/config/texts.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::config {
namespace {

using testing::ElementsAre;

class ConfigRows : public testing::Test {
 protected:
  LoadedConfig with(Rows rows, std::vector<std::pair<std::string, std::string>> set = {}) {
    std::ofstream(file_) << "role = host\nlldp.tx-interval = 7\nport.swp1.admin = rx\n";
    return read({.file = file_, .rows = std::move(rows), .set = std::move(set)});
  }
  std::string source_of(const LoadedConfig& loaded, std::string_view key) {
    for (const Setting& s : settings(loaded.config))
      if (s.key == key) return s.value + " by " + s.source;
    return "";
  }
  TempDir files_;
  const std::string file_ = files_ / "lldp-level.conf";
};

TEST_F(ConfigRows, GoBeforeTheFileAndAfterTheCommandLine) {
  const auto loaded =
      with({{"LLDP_LEVEL|GLOBAL", {{"role", "switch"}, {"level", "3"}, {"lossless", "roce"}}},
            {"LLDP_LEVEL_PORT|Ethernet0", {{"admin", "tx"}, {"description", "rack 4 # left"}}}},
           {{"level", "2"}});
  ASSERT_TRUE(loaded.errors.empty()) << to_string(loaded.errors.front());
  EXPECT_EQ(loaded.config.role, Role::kSwitch);
  EXPECT_EQ(loaded.config.core.pinned_level, Level::make(2));
  EXPECT_EQ(source_of(loaded, "role"), "switch by CONFIG_DB LLDP_LEVEL|GLOBAL");
  EXPECT_EQ(source_of(loaded, "level"), "2 by command line");
  EXPECT_EQ(source_of(loaded, "qos.lossless"), "roce by CONFIG_DB LLDP_LEVEL|GLOBAL");
  EXPECT_EQ(source_of(loaded, "lldp.tx-interval"), "7 by " + file_ + ":2");
  EXPECT_EQ(source_of(loaded, "port.Ethernet0.admin"), "tx by CONFIG_DB LLDP_LEVEL_PORT|Ethernet0");
  EXPECT_EQ(loaded.config.description.at("Ethernet0"), "rack 4 # left");
  EXPECT_EQ(loaded.config.admin.at("swp1"), core::AdminStatus::enabledRxOnly);
}

TEST_F(ConfigRows, WrongFieldsAreAllNamedWithTheirRow) {
  const auto loaded = with({{"LLDP_LEVEL|GLOBAL",
                             {{"level", "0"},
                              {"lossless", "3:dscp3>3:dscp4"},
                              {"colour", "red"},
                              {"description", "of a port"}}},
                            {"LLDP_LEVEL_PORT|Ethernet*", {{"admin", "rx"}}},
                            {"LLDP_LEVEL_PORT|Ethernet4",
                             {{"admin", "on"}, {"role", "host"}, {"description", "a\nb"}}}});
  EXPECT_THAT(
      texts(loaded.errors),
      ElementsAre(
          "CONFIG_DB LLDP_LEVEL_PORT|Ethernet*: admin: 'Ethernet*' is no name: name one port",
          "CONFIG_DB LLDP_LEVEL_PORT|Ethernet4: admin: 'on' is none of rxtx, tx, rx, off",
          testing::AllOf(testing::StartsWith("CONFIG_DB LLDP_LEVEL_PORT|Ethernet4: description: "),
                         testing::HasSubstr("has a control character")),
          "CONFIG_DB LLDP_LEVEL_PORT|Ethernet4: role: unknown field: the model sonic-lldp-level "
          "has the fields",
          "CONFIG_DB LLDP_LEVEL|GLOBAL: colour: unknown field: the model sonic-lldp-level has the "
          "fields",
          "CONFIG_DB LLDP_LEVEL|GLOBAL: description: unknown field: the model sonic-lldp-level has "
          "the fields",
          "CONFIG_DB LLDP_LEVEL|GLOBAL: level: '0' is not in range: use 1-254",
          testing::StartsWith("CONFIG_DB LLDP_LEVEL|GLOBAL: lossless: ")));
}

TEST_F(ConfigRows, EmptyRowsAndRowsOfOthersAreNone) {
  const auto loaded = with({{"LLDP_LEVEL|GLOBAL", {{"NULL", "NULL"}}},
                            {"LLDP_LEVEL|Ethernet0", {{"dscp_to_tc_map", "AZURE"}}},
                            {"LLDP_LEVEL_PORTS|Ethernet0", {{"admin", "on"}}}});
  EXPECT_TRUE(loaded.errors.empty()) << to_string(loaded.errors.front());
  EXPECT_EQ(loaded.config.role, Role::kHost);
}

TEST_F(ConfigRows, OptionsOfStartKeepTheirSource) {
  Config running = with({}).config;
  Config fresh = with({{"LLDP_LEVEL|GLOBAL", {{"backend", "none"}}}}).config;
  EXPECT_THAT(keep_what_is_of_start(fresh, running),
              ElementsAre(Setting{"backend", "none", "CONFIG_DB LLDP_LEVEL|GLOBAL"}));
  EXPECT_EQ(fresh.backend, "auto");
}

/// The leaves of a container of the model: the text of each one's type.
std::map<std::string, std::string> leaves(const std::string& model, const std::string& container) {
  std::map<std::string, std::string> out;
  auto at = model.find(container + " {");
  const auto end = model.find("\n    container ", at) == model.npos
                       ? model.find("\n        }\n", at)
                       : model.find("\n        }\n", at);
  for (at = model.find("leaf ", at); at != model.npos && at < end;
       at = model.find("leaf ", at + 1)) {
    const auto name_end = model.find(' ', at + 5);
    const auto next = std::min(model.find("leaf ", name_end), end);
    out[model.substr(at + 5, name_end - at - 5)] = model.substr(name_end, next - name_end);
  }
  return out;
}

// One table of keys: the model has its fields, and takes no value that the table does not.
TEST(ConfigModel, HasTheFieldsOfTheTableWithTheirValues) {
  std::ifstream file(support::source_dir() + "/packaging/sonic/sonic-lldp-level.yang");
  std::stringstream text;
  text << file.rdbuf();
  const std::string model = text.str();
  std::map<std::string, std::string> device = leaves(model, "container LLDP_LEVEL");
  std::map<std::string, std::string> port = leaves(model, "container LLDP_LEVEL_PORT");
  EXPECT_EQ(port.erase("ifname"), 1U);
  std::size_t fields = 0;
  for (const Option& o : options()) {
    if (o.field.empty()) continue;
    ++fields;
    auto& of = o.of_ports ? port : device;
    ASSERT_TRUE(of.contains(std::string(o.field))) << o.field;
    const std::string& type = of.at(std::string(o.field));
    std::smatch range;
    if (std::regex_search(type, range, std::regex(R"re(range "(\d+)\.\.(\d+)")re"))) {
      EXPECT_EQ(range[1].str() + "-" + range[2].str(), o.values) << o.field;
    } else if (type.find("enumeration") != type.npos && o.field != "backend") {
      std::set<std::string> enums;
      const std::regex one("enum ([a-z-]+);");
      for (std::sregex_iterator i(type.begin(), type.end(), one); i != std::sregex_iterator(); ++i)
        enums.insert((*i)[1].str());
      const auto values = split_list(o.values, '|');
      EXPECT_EQ(enums, std::set<std::string>(values.begin(), values.end())) << o.field;
    } else {
      EXPECT_TRUE(type.find("type string") != type.npos || o.field == "backend") << o.field;
    }
  }
  EXPECT_EQ(fields, device.size() + port.size());
}

}  // namespace
}  // namespace lldp::config
