// SPDX-License-Identifier: Apache-2.0
// The command line, the file and what is set at run time, put together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "agent/config/config.hpp"
#include "agent/config/listen.hpp"
#include "base/text.hpp"
#include "tests/config/texts.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::config {
namespace {

using testing::Contains;
using testing::ElementsAre;

class ConfigLoad : public testing::Test {
 protected:
  Result<Config, Errors> load_with(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), {"--config", path_.c_str()});
    const auto invocation = parse_command_line(arguments);
    EXPECT_TRUE(invocation);
    return load(*invocation);
  }
  void write(const char* text) { std::ofstream(path_) << text; }

  TempDir dir_;
  std::string path_ = dir_ / "conf";
};

TEST_F(ConfigLoad, CommandLineIsPutOverTheFile) {
  write("level = 2\nsystem-name = leaf1\n");
  const auto config = load_with({"--level", "3", "--lldp.tx-hold=2"});
  ASSERT_TRUE(config) << testing::PrintToString(texts(config.error()));
  EXPECT_EQ(config->core.pinned_level, Level::of<3>());
  EXPECT_EQ(config->core.msgTxHold, 2);
  EXPECT_EQ(config->core.system_name, "leaf1");
}

TEST_F(ConfigLoad, WhatIsWrongIsWhereItWasSetLast) {
  write("level = 2\nrole = host\n");
  EXPECT_THAT(texts(load_with({"--level", "3"}).error()),
              ElementsAre("--level: a host has level 0: remove this, or set role = switch"));
}

TEST_F(ConfigLoad, FlagsStandAloneOrWithAValue) {
  write("flush = yes\n");
  auto config = load_with({"--dry-run"});
  ASSERT_TRUE(config);
  EXPECT_TRUE(config->dry_run && config->flush);
  config = load_with({"--flush=no", "--dry-run=no"});
  ASSERT_TRUE(config);
  EXPECT_FALSE(config->dry_run || config->flush);
}

TEST_F(ConfigLoad, AdminStatusIsAnOptionOfTheCommandLineToo) {
  write("port.swp1.admin = rx\n");
  const auto config = load_with({"--port.swp1.admin=off", "--port.eth0.admin", "tx"});
  ASSERT_TRUE(config) << testing::PrintToString(texts(config.error()));
  EXPECT_EQ(config->admin.at("swp1"), core::AdminStatus::disabled);
  EXPECT_EQ(config->admin.at("eth0"), core::AdminStatus::enabledTxOnly);
  EXPECT_THAT(texts(load_with({"--port.eth0.speed", "1"}).error()),
              ElementsAre("--port.eth0.speed: unknown option: try --help"));
}

TEST_F(ConfigLoad, ExclusionsStandBehindAnEqualsSign) {
  write("");
  const auto config = load_with({"--ports=-eth0"});
  ASSERT_TRUE(config) << testing::PrintToString(texts(config.error()));
  EXPECT_THAT(config->ports.unwanted, ElementsAre("eth0"));
}

// It may run beside the service, with the service's own file.
TEST_F(ConfigLoad, DryRunMeetsTheServiceNowhere) {
  write("transport = lldpd\non-change = false\nmetrics.listen = 9888\nsocket = /run/x\n");
  auto config = load_with({"--dry-run"});
  ASSERT_TRUE(config) << testing::PrintToString(texts(config.error()));
  EXPECT_EQ(config->transport, Transport::kPacket);
  EXPECT_EQ(config->on_change, "");
  EXPECT_EQ(config->metrics_listen, "");
  EXPECT_EQ(config->socket, "/run/x.dry-run");
  EXPECT_EQ(config->state_file, std::string(kDefaultStateFile) + ".dry-run");
  config = load_with({"--dry-run", "--socket", "/tmp/c", "--state-file", "/tmp/s"});
  ASSERT_TRUE(config);
  EXPECT_EQ(config->socket, "/tmp/c");
  EXPECT_EQ(config->state_file, "/tmp/s");
  // Each for itself: a daemon that names one of them is still kept apart by the other.
  config = load_with({"--dry-run", "--socket", "/tmp/c"});
  ASSERT_TRUE(config);
  EXPECT_EQ(config->state_file, std::string(kDefaultStateFile) + ".dry-run");
  config = load_with({"--dry-run", "--state-file", "/tmp/s"});
  ASSERT_TRUE(config);
  EXPECT_EQ(config->socket, "/run/x.dry-run");
}

TEST_F(ConfigLoad, NamedFileMustBeThere) {
  EXPECT_THAT(texts(load_with({}).error()),
              ElementsAre(path_ + ": cannot be read: No such file or directory"));
}

TEST_F(ConfigLoad, FolderIsNoFile) {
  path_ = dir_.path();
  EXPECT_THAT(texts(load_with({}).error()),
              ElementsAre(path_ + ": cannot be read: Is a directory"));
}

TEST_F(ConfigLoad, DefaultFileMayBeMissing) {
  if (std::filesystem::exists(kDefaultFile)) GTEST_SKIP() << kDefaultFile << " is there";
  const auto config = load({});
  ASSERT_TRUE(config) << testing::PrintToString(texts(config.error()));
  EXPECT_EQ(*config, Config{});
}

TEST_F(ConfigLoad, DefaultFileThatCannotBeReadIsAnError) {
  const pid_t child = ::fork();
  if (child == 0) {  // with an /etc of its own
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", "", MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("etc", "/etc", "tmpfs", 0, nullptr) != 0)
      ::_exit(77);
    std::filesystem::create_directories(kDefaultFile);
    const auto config = load({});
    ::_exit(!config && texts(config.error()) == std::vector{std::string(kDefaultFile) +
                                                            ": cannot be read: Is a directory"}
                ? 0
                : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "needs root, for an /etc of its own";
  EXPECT_EQ(status, 0);
}

TEST_F(ConfigLoad, ErrorsOfBothAreToldEachWithItsPlace) {
  write("role = host\nlldp.tx-hold = 0\n");
  EXPECT_THAT(
      texts(load_with({"--level", "4", "--backend", "x"}).error()),
      ElementsAre(path_ + ":2: lldp.tx-hold: '0' is not in range: use 1-100",
                  "--backend: 'x' is none of auto, bpf, dcb, flower, print, sai, soft, sonic, none",
                  "--level: a host has level 0: remove this, or set role = switch"));
}

TEST(CommandLine, HelpAndVersionHaveALetter) {
  const auto parsed = [](const char* word) { return parse_command_line(std::vector{word}); };
  EXPECT_TRUE(parsed("-h")->help && parsed("--help")->help);
  EXPECT_TRUE(parsed("-V")->version && parsed("--version")->version);
}

TEST(CommandLine, HelpFitsEightyColumns) {
  std::istringstream text(help());
  for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(CommandLine, MistakesAreToldInOneLine) {
  const auto told = [](std::vector<const char*> arguments) {
    const auto parsed = parse_command_line(arguments);
    return parsed ? "" : to_string(parsed.error());
  };
  EXPECT_EQ(told({"--frob"}), "unrecognised option '--frob': try --help");
  EXPECT_EQ(told({"--lev", "3"}), "unrecognised option '--lev': try --help");
  EXPECT_EQ(told({"--level"}), "the required argument for option '--level' is missing: try --help");
  EXPECT_EQ(told({"start"}), "start: not an option: options begin with --; try --help");
}

TEST(WithOption, TakesWhatTheFileWouldAndNothingElse) {
  const auto base = parse("level = 3\nlldp.tx-interval = 20\n", "f");
  ASSERT_TRUE(base);
  const auto one = with_option(*base, "lldp.tx-interval", "10");
  ASSERT_TRUE(one) << to_string(one.error());
  EXPECT_EQ(*one, *parse("level = 3\nlldp.tx-interval = 10\n", "f"));
  const auto port = with_option(*one, "port.swp1.admin", "off");
  ASSERT_TRUE(port);
  EXPECT_EQ(*with_option(*port, "port.swp1.admin", "rxtx"), *one);
  EXPECT_TRUE(with_option(*base, "qos.lossless", "3:dscp26"));

  const auto refusal = [&](std::string_view key, std::string_view value) {
    const auto it = with_option(*base, key, value);
    return it ? "taken" : to_string(it.error());
  };
  EXPECT_EQ(refusal("nonsense", "1"), "nonsense: unknown key: lldp-leveld --help lists the keys");
  EXPECT_EQ(refusal("", ""), "unknown key: lldp-leveld --help lists the keys");
  EXPECT_EQ(refusal("level", "999"), "level: '999' is not in range: use 1-254");
  EXPECT_EQ(refusal("role", "host"), "role: a host has level 0: remove this, or set role = switch");
  EXPECT_EQ(refusal("port.*.admin", "off"), "port.*.admin: '*' is no name: name one port");
  EXPECT_EQ(refusal("system-name", "a\nlevel = 7"),
            "system-name: 'a\\x0alevel = 7' has a control character: leave it out");
  EXPECT_THAT(refusal("system-name", "a\x7f"), testing::HasSubstr("has a control character"));
  EXPECT_EQ(refusal("tlv.custom", std::string(20'000, 'x')),
            "tlv.custom: longer than 16384 characters: shorten it");
  EXPECT_THAT(refusal("qos.lossless", "3:dscp26,3:dscp27"), testing::StartsWith("qos.lossless: "));
  for (const char* key :
       {"dry-run", "socket", "control.group", "seccomp", "state-file", "transport", "lldpd.socket",
        "lldpd.grace", "backend", "bpffs", "flower.offload", "soft.socket", "sonic.redis",
        "sonic.config", "sonic.config-db", "qdisc", "qos.rewrite-verified"})
    EXPECT_EQ(refusal(key, "no"), std::string(key) +
                                      ": is read at start only: write it into the file and restart "
                                      "the daemon");
}

TEST(WithOption, TheIdentityIsNoneForAWhile) {
  const auto it = with_option({}, "chassis-id", "leaf1");
  ASSERT_FALSE(it);
  EXPECT_EQ(
      to_string(it.error()),
      "chassis-id: is the device's identity, and no value for a while: write it into the file");
}

TEST(WithOption, DryRunStaysWithoutWhatRunsBesideIt) {
  Config dry;
  dry.dry_run = true;
  for (const char* key : {"on-change", "metrics.listen", "snmp.agentx"})
    EXPECT_FALSE(with_option(dry, key, "9100")) << key;
  EXPECT_TRUE(with_option(dry, "lldp.tx-hold", "3"));
}

TEST(OfStart, IsPutBackAndNamed) {
  Config running = parse("qdisc = htb\n", "f").value();
  Config fresh = parse("backend = print\nlldp.tx-hold = 9\n", "g").value();
  EXPECT_THAT(keep_what_is_of_start(fresh, running),
              testing::ElementsAre(Setting{"backend", "print", "g:1"},
                                   Setting{"qdisc", "keep", "default"}));
  running.core.msgTxHold = 9;
  running.origins = fresh.origins;
  EXPECT_EQ(fresh, running);
  fresh.transport = Transport::kPacket;  // as in a dry run
  EXPECT_THAT(keep_what_is_of_start(fresh, running), testing::IsEmpty());
  EXPECT_EQ(fresh, running);
}

TEST(Listen, IsWrittenInFull) {
  EXPECT_EQ(parse_listen("9888").value(), "127.0.0.1:9888");
  EXPECT_EQ(parse_listen(":9888").value(), "127.0.0.1:9888");
  EXPECT_EQ(parse_listen("0.0.0.0:1").value(), "0.0.0.0:1");
  EXPECT_EQ(parse_listen("[::1]:65535").value(), "[::1]:65535");
  for (const char* wrong : {"", ":", "0", "65536", "1.2.3:4", "localhost:80", "::1:80", "[::1]",
                            "[]:1", "1.2.3.4:x", "1.2.3.4:80 ", "-1"}) {
    const auto parsed = parse_listen(wrong);
    ASSERT_FALSE(parsed) << wrong;
    EXPECT_EQ(to_string(parsed.error()),
              "'" + std::string(wrong) +
                  "' is no address and port: write 127.0.0.1:9888, [::1]:9888, or 9888 for this "
                  "machine alone");
  }
}

TEST(Settings, EveryKeyHasItsValueAndWhereThatComesFrom) {
  const TempDir dir;
  const std::string file = dir / "conf";
  std::ofstream(file) << "level = 2\n\n[lldp]\ntx-hold = 7\n";
  std::filesystem::create_directory(file + ".d");
  std::ofstream(file + ".d/20-b.conf") << "lldp.tx-hold = 9\nport.swp1.admin = rx\n";
  std::ofstream(file + ".d/10-a.conf") << "lldp.tx-hold = 8\nhost-ports = swp2\n";
  std::ofstream(file + ".d/notes.txt") << "no configuration\n";
  std::ofstream(file + ".d/.hidden.conf") << "level = 5\n";
  const auto config = load({.file = file, .set = {{"level", "3"}}});
  ASSERT_TRUE(config) << to_string(config.error().front());
  EXPECT_EQ(config->core.msgTxHold, 9) << "the last in the order of names";
  EXPECT_EQ(config->core.pinned_level, Level::of<3>());
  const auto set = with_option(*config, "infer.raise-hold", "1");
  ASSERT_TRUE(set);
  const std::vector<Setting> all = settings(*set);
  const auto has = [&](const Setting& setting) {
    return std::ranges::find(all, setting) != all.end();
  };
  EXPECT_TRUE(has({"level", "3", "command line"}));
  EXPECT_TRUE(has({"lldp.tx-hold", "9", file + ".d/20-b.conf:1"}));
  EXPECT_TRUE(has({"port.swp1.admin", "rx", file + ".d/20-b.conf:2"}));
  EXPECT_TRUE(has({"host-ports", "swp2", file + ".d/10-a.conf:2"}));
  EXPECT_TRUE(has({"infer.raise-hold", "1", "set"}));
  EXPECT_TRUE(has({"backend", "auto", "default"}));
  EXPECT_TRUE(has({"expect", "", "default"}));
}

TEST(DropIns, MistakeIsToldWithItsFileAndLine) {
  const TempDir dir;
  const std::string file = dir / "conf";
  std::ofstream(file) << "level = 2\n";
  std::filesystem::create_directory(file + ".d");
  std::ofstream(file + ".d/a.conf") << "\nlevl = 2\n";
  const auto config = load({.file = file});
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().front().where, file + ".d/a.conf:2: levl");
}

TEST(DropIns, PipeIsRefusedAndNotWaitedFor) {
  const TempDir dir;
  const std::string file = dir / "conf";
  std::ofstream(file) << "level = 2\n";
  std::filesystem::create_directory(file + ".d");
  const std::string pipe = file + ".d/a.conf";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto config = load({.file = file});
  ASSERT_FALSE(config);
  EXPECT_EQ(to_string(config.error().front()),
            pipe + ": is a pipe, which gives what it has once: name a file");
}

}  // namespace
}  // namespace lldp::config
