// SPDX-License-Identifier: Apache-2.0
// The table of options: each key of the configuration, what it sets, and what it takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "agent/config/config.hpp"
#include "base/text.hpp"

namespace lldp::config {
namespace {

TEST(ConfigTable, PresetsAreTheDefaultsOfConfig) {
  std::string file;
  for (const Option& o : options())
    if (!o.preset.empty()) file += std::string(o.name) + " = " + std::string(o.preset) + "\n";
  const auto config = parse(file, "presets");
  ASSERT_TRUE(config) << to_string(config.error().front());
  EXPECT_EQ(*config, Config{});
}

TEST(ConfigTable, EveryOptionHasHelpOnOneLineAndSaysWhatItTakes) {
  for (const Option& o : options()) {
    EXPECT_FALSE(o.help.empty()) << o.name;
    EXPECT_EQ(o.help.find('\n'), std::string_view::npos) << o.name;
    EXPECT_FALSE(o.values.empty()) << o.name;
  }
}

TEST(ConfigTable, TextsAreAsLongAsTheirTlvAndNoLonger) {
  for (const char* key :
       {"chassis-id", "system-name", "system-description", "port.swp1.description"}) {
    const std::string line = std::string(key) + " = ";
    EXPECT_TRUE(parse(line + std::string(255, 'x'), "f")) << key;
    const auto longer = parse(line + std::string(256, 'x'), "f");
    ASSERT_FALSE(longer) << key;
    EXPECT_THAT(to_string(longer.error().front()),
                testing::HasSubstr("longer than 255 characters"));
  }
  EXPECT_TRUE(parse("on-change = /" + std::string(4095, 'x'), "f"));
  EXPECT_FALSE(parse("on-change = /" + std::string(4096, 'x'), "f"));
}

/// One line, and what is different for it.
struct KeyCase {
  std::string_view key{};  ///< as options() has it
  const char* line = "";
  void (*becomes)(Config&) = nullptr;
};
const KeyCase kKeys[] = {
    {"role", "role = host", [](Config& c) { c.role = Role::kHost; }},
    {"level", "level = 254", [](Config& c) { c.core.pinned_level = Level::of<254>(); }},
    {"ports", "ports = swp*, !swp9",
     [](Config& c) {
       c.ports = {{"swp*"}, {"swp9"}};
     }},
    {"port.NAME.admin", "port.swp1.admin = tx",
     [](Config& c) { c.admin["swp1"] = core::AdminStatus::enabledTxOnly; }},
    {"port.NAME.layers", "port.swp1.layers = 4:3",
     [](Config& c) {
       c.layers["swp1"] = {Layer::of<4>(), Layer::of<3>()};
       c.core.layered = true;
     }},
    {"port.NAME.description", "port.swp1.description = to leaf 1",
     [](Config& c) { c.description["swp1"] = "to leaf 1"; }},
    {"port.NAME.unheard", "port.swp1.unheard = ok", [](Config& c) { c.unheard_ok.insert("swp1"); }},
    {"port.NAME.crosslink", "port.swp1.crosslink = yes",
     [](Config& c) { c.crosslink_ok.insert("swp1"); }},
    {"port.NAME.rail", "port.eth0.rail = compute 1",
     [](Config& c) { c.rail["eth0"] = "compute 1"; }},
    {"rails", "rails = port-number",
     [](Config& c) { c.core.rails = cabling::RailDesign::kPortNumber; }},
    {"host-ports", "host-ports = swp1, swp2*",
     [](Config& c) {
       c.core.host_ports = {"swp1", "swp2*"};
     }},
    {"expect", "expect = /a", [](Config& c) { c.expect = "/a"; }},
    {"backend", "backend = dcb,bpf", [](Config& c) { c.backend = "dcb,bpf"; }},
    {"flower.offload", "flower.offload = require",
     [](Config& c) { c.offload = Offload::kRequire; }},
    {"sai.library", "sai.library = /a", [](Config& c) { c.sai_library = "/a"; }},
    {"sai.profile", "sai.profile = /a", [](Config& c) { c.sai_profile = "/a"; }},
    {"soft.socket", "soft.socket = /a", [](Config& c) { c.soft_socket = "/a"; }},
    {"sonic.redis", "sonic.redis = 6379", nullptr},
    {"sonic.redis", "sonic.redis = 127.0.0.1:6379",
     [](Config& c) { c.sonic_redis = "127.0.0.1:6379"; }},
    {"sonic.redis", "sonic.redis = /a", [](Config& c) { c.sonic_redis = "/a"; }},
    {"sonic.config", "sonic.config = /a", [](Config& c) { c.sonic_config = "/a"; }},
    {"qdisc", "qdisc = htb", [](Config& c) { c.htb = true; }},
    {"bpffs", "bpffs = /a", [](Config& c) { c.bpffs = "/a"; }},
    {"transport", "transport = packet", [](Config& c) { c.transport = Transport::kPacket; }},
    {"lldpd.socket", "lldpd.socket = /a", [](Config& c) { c.lldpd_socket = "/a"; }},
    {"lldpd.grace", "lldpd.grace = 6", [](Config& c) { c.lldpd_grace = std::chrono::seconds(6); }},
    {"socket", "socket = /a", [](Config& c) { c.socket = "/a"; }},
    {"state-file", "state-file = /a", [](Config& c) { c.state_file = "/a"; }},
    {"control.group", "control.group = noc", [](Config& c) { c.control_group = "noc"; }},
    {"seccomp", "seccomp = no", [](Config& c) { c.seccomp = false; }},
    {"metrics.listen", "metrics.listen = 9100",
     [](Config& c) { c.metrics_listen = "127.0.0.1:9100"; }},
    {"snmp.agentx", "snmp.agentx = tcp:localhost:705",
     [](Config& c) { c.snmp_agentx = "tcp:localhost:705"; }},
    {"on-change", "on-change = logger x", [](Config& c) { c.on_change = "logger x"; }},
    {"system-name", "system-name = leaf 1", [](Config& c) { c.core.system_name = "leaf 1"; }},
    {"system-description", "system-description = a switch",
     [](Config& c) { c.core.system_description = "a switch"; }},
    {"chassis-id", "chassis-id = 02:00:00:00:00:01",
     [](Config& c) {
       c.core.chassis_id = chassis_id_from_mac({2, 0, 0, 0, 0, 1});
     }},
    {"dry-run", "dry-run = yes", [](Config& c) { c.dry_run = true; }},
    {"flush", "flush = yes", [](Config& c) { c.flush = true; }},
    {"tlv.send", "tlv.send = tr", [](Config& c) { c.core.send_contribution = false; }},
    {"tlv.send", "tlv.send = contribution,pfc",
     [](Config& c) {
       c.core.send_tr = false;
       c.core.send_pfc = true;
     }},
    {"tlv.contribution-oui", "tlv.contribution-oui = 02-00-01",
     [](Config& c) {
       c.core.contribution_oui = {2, 0, 1};
       c.core.accepted_ouis = {{2, 0, 1}};
     }},
    {"tlv.custom", "tlv.custom = 00-11-22,255,c0ffee",
     [](Config& c) {
       c.core.custom_tlvs = {
           {.oui = {0, 0x11, 0x22}, .subtype = 255, .information = {0xc0, 0xff, 0xee}}};
     }},
    {"infer.host-from-capabilities", "infer.host-from-capabilities = no",
     [](Config& c) { c.core.host_from_capabilities = false; }},
    {"infer.raise-hold", "infer.raise-hold = 0",
     [](Config& c) { c.core.raise_hold = std::chrono::seconds(0); }},
    {"infer.lower-hold", "infer.lower-hold = 61",
     [](Config& c) { c.core.lower_hold = std::chrono::seconds(61); }},
    {"infer.establish", "infer.establish = 31536000",
     [](Config& c) { c.core.establish = std::chrono::hours(365 * 24); }},
    {"infer.withdraw-hold", "infer.withdraw-hold = 6",
     [](Config& c) { c.core.withdraw_hold = std::chrono::seconds(6); }},
    {"infer.unsupported-after", "infer.unsupported-after = 601",
     [](Config& c) { c.core.unsupported_after = std::chrono::seconds(601); }},
    {"infer.max-level", "infer.max-level = 9",
     [](Config& c) { c.core.max_level = Level::of<9>(); }},
    {"lldp.management-address", "lldp.management-address = none",
     [](Config& c) { c.management.reset(); }},
    {"lldp.management-address", "lldp.management-address = lo, fd00:*",
     [](Config& c) {
       c.management = {"lo", "fd00:*"};
     }},
    {"lldp.port-id", "lldp.port-id = alias", [](Config& c) { c.port_id = PortIdKind::kAlias; }},
    {"lldp.tx-interval", "lldp.tx-interval = 31",
     [](Config& c) { c.core.msgTxInterval = std::chrono::seconds(31); }},
    {"lldp.tx-hold", "lldp.tx-hold = 6", [](Config& c) { c.core.msgTxHold = 6; }},
    {"lldp.fast-tx", "lldp.fast-tx = 7",
     [](Config& c) { c.core.msgFastTx = std::chrono::seconds(7); }},
    {"lldp.fast-init", "lldp.fast-init = 8", [](Config& c) { c.core.txFastInit = 8; }},
    {"lldp.credit-max", "lldp.credit-max = 10", [](Config& c) { c.core.txCreditMax = 10; }},
    {"lldp.reinit-delay", "lldp.reinit-delay = 10",
     [](Config& c) { c.core.reinitDelay = std::chrono::seconds(10); }},
    {"lldp.scopes", "lldp.scopes = nearest-customer-bridge",
     [](Config& c) { c.core.scopes = {core::Scope::kNearestCustomerBridge}; }},
    {"lldp.max-neighbors-per-port", "lldp.max-neighbors-per-port = 33",
     [](Config& c) { c.core.max_neighbors_per_port = 33; }},
    {"lldp.max-neighbors", "lldp.max-neighbors = 34", [](Config& c) { c.core.max_neighbors = 34; }},
    {"qos.lossless", "qos.lossless = 3:dscp26",
     [](Config& c) {
       c.lossless = "3:dscp26";
       c.policy = *qos::Policy::parse("3:dscp26", c.lossy);
       c.chains = c.policy.chains();
     }},
    {"qos.lossy", "qos.lossy = 1:dscp8",
     [](Config& c) {
       c.lossy = "1:dscp8";
       c.policy = *qos::Policy::parse("none", "1:dscp8");  // nothing is learned yet
     }},
    {"qos.restore", "qos.restore = no", [](Config& c) { c.core.restores = false; }},
    {"sonic.config-db", "sonic.config-db = yes", [](Config& c) { c.config_db = true; }},
    {"qos.rewrite-verified", "qos.rewrite-verified = yes",
     [](Config& c) { c.rewrite_verified = true; }},
};

TEST(ConfigTable, EveryKeySetsWhatItNamesAndNothingElse) {
  std::set<std::string_view> seen;
  const Config none = parse("", "f").value();
  for (const KeyCase& c : kKeys) {
    seen.insert(c.key);
    const auto config = parse(c.line, "f");
    ASSERT_EQ(config.has_value(), c.becomes != nullptr) << c.line;
    if (!config) continue;
    Config want = none;
    c.becomes(want);
    EXPECT_EQ(*config, want) << c.line;
    EXPECT_NE(*config, none) << c.line;
  }
  for (const Option& o : options()) EXPECT_TRUE(seen.contains(o.name)) << o.name;
}

TEST(ConfigTable, EveryChoiceAndTheEndsOfEveryRangeAreTaken) {
  for (const Option& o : options()) {
    std::string key(o.name);
    if (const auto name = key.find("NAME"); name != key.npos) key.replace(name, 4, "swp1");
    const auto taken = [&](const std::string& value) {
      return parse(key + " = " + value + "\n", "f").has_value();
    };
    EXPECT_EQ(taken(""), key == "host-ports") << key;  // of which there may be none
    unsigned least = 0;
    unsigned most = 0;
    if (std::sscanf(o.values.c_str(), "%u-%u", &least, &most) == 2) {
      EXPECT_TRUE(taken(std::to_string(least)) && taken(std::to_string(most))) << key;
      EXPECT_FALSE(taken(std::to_string(most + 1))) << key;
      EXPECT_FALSE(taken(std::to_string(static_cast<std::int64_t>(least) - 1))) << key;
      EXPECT_FALSE(taken(std::to_string(least) + "x") || taken("x") || taken("")) << key;
    } else if (o.values.find('|') != o.values.npos && o.values.find(' ') == o.values.npos) {
      for (const std::string& choice : split_list(o.values, '|'))
        EXPECT_TRUE(taken(choice)) << key << choice;
      EXPECT_FALSE(taken(o.values)) << key;
    }
  }
}

}  // namespace
}  // namespace lldp::config
