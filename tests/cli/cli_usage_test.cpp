// SPDX-License-Identifier: Apache-2.0
// How it is called, and what needs no daemon.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>

#include "tests/cli/cli_fixture.hpp"
#include "tests/support/golden.hpp"

namespace lldp::cli {
namespace {

TEST_F(Cli, OnlyCaptureFilesNeedLibpcap) {
  // Files that are no libraries stand in the way of the real ones.
  for (const char* name : {"libpcap.so.0.8", "libpcap.so.1"}) std::ofstream(dir / name) << "no";
  ASSERT_EQ(::setenv("LD_LIBRARY_PATH", dir.path().c_str(), 1), 0);
  const Outcome version = run("--version");
  const Outcome decode = run("decode /dev/null");
  ::unsetenv("LD_LIBRARY_PATH");
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(decode.status, 1);
  EXPECT_EQ(decode.out, "lldp-level: libpcap: capture files need it: install libpcap0.8\n");
}

TEST_F(Cli, CheckConfigReportsEveryErrorWithItsLine) {
  std::ofstream(dir / "conf") << "level = 0\nfrob = 1\n";
  const Outcome it = run("check-config " + (dir / "conf"));
  EXPECT_EQ(it.status, 1);
  EXPECT_EQ(it.out, "lldp-level: " + (dir / "conf") +
                        ":1: level: '0' is not in range: use 1-254\n" +
                        "lldp-level: " + (dir / "conf") +
                        ":2: frob: unknown key: lldp-leveld --help lists the keys\n");
  EXPECT_EQ(run("check-config " + (dir / "none")).out,
            "lldp-level: " + (dir / "none") + ": cannot be read: No such file or directory\n");
  std::ofstream(dir / "fine") << "level = 1\n";
  const Outcome fine = run("check-config " + (dir / "fine"));
  EXPECT_EQ(fine.status, 0);
  EXPECT_EQ(fine.out, (dir / "fine") + ": fine\n");
}

TEST_F(Cli, CheckConfigTellsOfEveryMistakeOfEveryKind) {
  const std::string conf = dir / "conf";
  std::ofstream(conf)
      << "expect = /nonexistent\ncontrol.group = no-such-group\nhost-ports = nic*\n"
         "port.nic7.admin = off\nports = lo,nic9,-nic8,-nic*\nrole = host\nlevel = 2\n"
         "[]\n";
  const Outcome it = run("check-config " + conf);
  EXPECT_EQ(it.status, 1);
  const std::string no = "' is no interface here: correct it, unless the interface comes later\n";
  EXPECT_EQ(it.out,
            "lldp-level: " + conf + ":8: '[]' is no section: name one, or remove the line\n" +
                "lldp-level: " + conf +
                ":7: level: a host has level 0: remove this, or set role = switch\n"
                "lldp-level: expect: /nonexistent: cannot be read: No such file or directory\n"
                "lldp-level: control.group: there is no group 'no-such-group': create it, or name "
                "another\n"
                "lldp-level: ports: 'nic9" +
                no + "lldp-level: ports: 'nic8" + no + "lldp-level: host-ports: 'nic*" + no +
                "lldp-level: port.nic7.admin: 'nic7" + no);
  std::ofstream(conf) << "host-ports = nic9\n";  // no mistake where it is to come
  const Outcome early = run("check-config " + conf);
  EXPECT_EQ(early.status, 0);
  EXPECT_EQ(early.out, "lldp-level: host-ports: 'nic9" + no + conf + ": fine\n");
}

TEST_F(Cli, CheckConfigLooksForWhatTheFileNames) {
  const std::string drawing = dir / "drawing";
  std::ofstream(dir / "conf") << "expect = " + drawing + "\ncontrol.group = no-such-group\n";
  Outcome it = run("check-config " + (dir / "conf"));
  EXPECT_EQ(it.status, 1);
  EXPECT_EQ(it.out, "lldp-level: expect: " + drawing +
                        ": cannot be read: No such file or directory\n"
                        "lldp-level: control.group: there is no group 'no-such-group': create it, "
                        "or name another\n");
  std::ofstream(drawing) << "graph {";
  it = run("check-config " + (dir / "conf"));
  EXPECT_EQ(it.status, 1);
  EXPECT_THAT(it.out, testing::StartsWith("lldp-level: expect: " + drawing + ": "));
  std::ofstream(drawing) << "graph { a:p -- b:q }";
  // The daemon reads it anew at a reload, and waits for nobody who may write it.
  const std::string pipe = dir / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::ofstream(dir / "conf") << "expect = " + pipe + "\n";
  it = run("check-config " + (dir / "conf"));
  EXPECT_EQ(it.status, 1);
  EXPECT_EQ(it.out, "lldp-level: expect: " + pipe +
                        ": is a pipe, which gives what it has once: name a file\n");
  std::ofstream(dir / "conf") << "expect = " + drawing + "\ncontrol.group = root\n";
  EXPECT_EQ(run("check-config " + (dir / "conf")).out, (dir / "conf") + ": fine\n");
}

TEST_F(Cli, ReplayPassesOverThePortsOwnFrames) {
  const std::string replay =
      "replay " + support::source_dir() + "/tests/captures/gopacket-siemens-scalance.pcap --port p";
  const Outcome all = run(replay);
  EXPECT_EQ(all.status, 0);
  const Outcome others = run(replay + " --own 00:1b:1b:02:e6:1f");
  EXPECT_EQ(others.status, 0);
  EXPECT_NE(others.out, all.out);
}

TEST_F(Cli, HelpIsAsItWas) {
  const Outcome help = run("--help");
  EXPECT_EQ(help.status, 0);
  support::expect_golden(help.out, "cli/golden/help.txt");
  EXPECT_EQ(run("-h").out, help.out);
  EXPECT_EQ(run("show --help").out, help.out);
}

TEST_F(Cli, OutputThatCannotBeWrittenIsAFailure) {
  start();
  std::ofstream(dir / "conf") << "level = 1\n";
  const std::string capture =
      support::source_dir() + "/tests/captures/gopacket-siemens-scalance.pcap";
  for (const std::string& arguments :
       {at("show"), at("stats"), "decode " + capture, "replay --port p " + capture,
        "check-config " + (dir / "conf"), std::string("--help"), std::string("--version")})
    for (const char* output : {"/dev/full", "&-"}) {
      const Outcome it = run(arguments + " 2>&1 >" + output + "; echo $?");
      EXPECT_EQ(it.out, "lldp-level: standard output: cannot be written\n1\n")
          << arguments << output;
    }
}

TEST_F(Cli, ManualReadsAsItIsMeant) {
  const std::string page = support::source_dir() + "/man/lldp-level.1";
  FILE* pipe = ::popen(("MANWIDTH=10000 man -E UTF-8 -l " + page + " 2>/dev/null").c_str(), "r");
  std::string text;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  if (::pclose(pipe) != 0) GTEST_SKIP() << "there is no man(1) here";
  for (const char* phrase :
       {R"(is ‘{"tiers": [{"level": 1, "id": "02:00:00:00:00:01"}, ...]}’.)",
        "also over restarts, until forget.", "(the attribute ‘chassis’ of a node)"})
    EXPECT_NE(text.find(phrase), text.npos) << phrase;
}

// Under the name of lldpd's client there is what others run of it, and a word for the rest.
TEST_F(Cli, RefusesWhatOfLldpdsClientIsNotThere) {
  start();
  for (const char* name : {"lldpctl", "lldpcli"})
    std::filesystem::create_symlink(support::program("lldp-level"), dir / name);
  const auto client = [&](const std::string& words) {
    return run_command((dir / words.c_str()) + " -u " + socket());
  };
  EXPECT_EQ(client("lldpctl -f json").status, 0);
  EXPECT_EQ(client("lldpcli -f json show nei details hidden ports swp1,swp2").status, 0);
  for (const char* words :
       {"lldpcli", "lldpcli show", "lldpcli show configuration", "lldpcli show c", "lldpcli watch",
        "lldpcli configure system hostname x", "lldpcli show neighbors ports",
        "lldpcli show neighbors protocol CDP", "lldpcli show chassis hidden"}) {
    const Outcome it = client(words);
    EXPECT_EQ(it.status, 1) << words;
    EXPECT_THAT(it.out, testing::MatchesRegex(
                            "lldpcli: .*: lldp-leveld answers only `show neighbors` "
                            "and `show chassis` for lldpd: [^\n]*\n|lldpcli: lldpcli: .*\n"))
        << words;
  }
  EXPECT_THAT(client("lldpctl -f yaml").out,
              "lldpctl: -f yaml: the formats are plain, keyvalue, json, json0 and xml\n");
  EXPECT_THAT(client("lldpctl -x").out, "lldpctl: -x: unknown, or its value is missing: try -h\n");
}

TEST_F(Cli, RecordEndsWhereItCannotWrite) {
  start();
  auto recording = std::async(std::launch::async, [this] { return run(at("record /dev/full")); });
  while (recording.wait_for(5ms) == std::future_status::timeout)
    seen(io::Direction::kIn, "swp1", Bytes(1500));
  const Outcome it = recording.get();
  EXPECT_EQ(it.status, 1);
  EXPECT_EQ(it.out, "lldp-level: /dev/full: cannot write: No space left on device\n");
}

TEST_F(Cli, FileThatIsNotThereIsNamed) {
  for (const char* command : {"decode", "expect", "replay --port p"})
    EXPECT_THAT(run(command + std::string(" /no/such")).out,
                testing::MatchesRegex("lldp-level: /no/such: .*No such file or directory\n"))
        << command;
}

TEST_F(Cli, DrawingThatIsNoneIsNamedBeforeAnybodyIsAsked) {
  std::ofstream(dir / "plan.dot") << "graph {\n  a -- \n}\n";
  const Outcome it = run("expect " + (dir / "plan.dot"));
  EXPECT_EQ(it.status, 1);
  EXPECT_THAT(it.out, testing::StartsWith("lldp-level: " + (dir / "plan.dot") + ": "));
  EXPECT_THAT(it.out, testing::Not(testing::HasSubstr("control")));
}

struct UsageCase {
  const char* name = "";
  const char* arguments = "";
  const char* what = "";
  friend void PrintTo(const UsageCase& c, std::ostream* os) { *os << c.name; }
};
class CliUsage : public testing::TestWithParam<UsageCase> {};
TEST_P(CliUsage, IsOneLineAndStatusTwo) {
  const Outcome it = run(GetParam().arguments);
  EXPECT_EQ(it.status, 2);
  EXPECT_EQ(it.out, std::string("lldp-level: ") + GetParam().what + ": try --help\n");
}
const UsageCase kUsages[] = {
    {"NoCommand", "", "no command"},
    {"UnknownCommand", "frob", "no command is called 'frob'"},
    {"UnknownOption", "show --frob", "unrecognised option '--frob'"},
    {"NoFormat", "show --format yaml", "--format takes table, json, keyvalue or csv"},
    {"TwoFormats", "show --json --format csv", "--json and --format csv contradict"},
    {"NoFilter", "show --filter color=red",
     "--filter: 'color=red' is no KEY=VALUE with a key of port, up, type, order, admin, level, "
     "system-name, device, chassis-id, port-id, port-description, port-type"},
    {"EmptyFilter", "show --filter ''", "--filter: nothing to filter by: write KEY=VALUE"},
    {"FilterOfNothing", "show --filter ,", "--filter: nothing to filter by: write KEY=VALUE"},
    {"OptionOfAnother", "show --level 1", "--level is not an option of show"},
    {"LevelOutOfRange", "wait --level 255", "--level takes 0-254"},
    {"LevelNotANumber", "wait --level x", "--level takes 0-254"},
    {"TimeoutNegative", "wait --timeout=-1", "--timeout takes seconds, 0-1000000"},
    {"LevelWithMoreBehind", "wait --level 1x", "--level takes 0-254"},
    {"TimeoutWithMoreBehind", "wait --timeout 5s", "--timeout takes seconds, 0-1000000"},
    {"TimeoutTooLong", "wait --timeout 1000001", "--timeout takes seconds, 0-1000000"},
    {"TimeoutThatIsNoNumber", "wait --timeout nan", "--timeout takes seconds, 0-1000000"},
    {"PortWithoutType", "wait --port swp1",
     "--port takes PORT=TYPE, and TYPE is uplink, downlink, crosslink or unmarked"},
    {"PortOfUnknownType", "wait --port swp1=up",
     "--port takes PORT=TYPE, and TYPE is uplink, downlink, crosslink or unmarked"},
    {"OwnNoMac", "replay x --port p --own 02:00",
     "--own takes a MAC address, as 02:00:00:00:00:01"},
    {"ForWithoutANumber", "mute unheard --for soon",
     "--for takes a time as 90s, 15m, 8h or 3d, 30d at most"},
    {"ForTooLong", "mute unheard --for 721h",
     "--for takes a time as 90s, 15m, 8h or 3d, 30d at most"},
    // In 32 bits it is 17 hours and a half.
    {"ForOfAnAge", "mute unheard --for 49711d",
     "--for takes a time as 90s, 15m, 8h or 3d, 30d at most"},
    {"TooManyOperands", "check-config a b", "use: lldp-level check-config [FILE]"},
};
INSTANTIATE_TEST_SUITE_P(Arguments, CliUsage, testing::ValuesIn(kUsages),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace lldp::cli
