// SPDX-License-Identifier: Apache-2.0
// The commands, beside a daemon.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/local/datagram_protocol.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <regex>
#include <tuple>
#include <utility>

#include "tests/cli/cli_fixture.hpp"
#include "tests/support/unix_socket.hpp"

namespace lldp::cli {
namespace {

TEST_F(Cli, LocationTellsTheTiersOrThatNothingIsKnown) {
  start();
  for (const char* how : {"location", "location --json", "location --labels"}) {
    const Outcome nothing = run(at(how));
    EXPECT_EQ(nothing.status, 1) << how;
    EXPECT_EQ(nothing.out,
              "lldp-level: location: not known: no switch that tells its location has been heard: "
              "see lldp-level show\n");
  }
  change([&] {
    daemon.tiers = R"([{"level":1,"id":"02:00:00:00:00:07"},{"level":2,"id":"a leaf, \\x0a"}])";
  });
  EXPECT_EQ(run(at("location")).out, "tier 1  02:00:00:00:00:07\ntier 2  a leaf, \\x0a\n");
  EXPECT_EQ(run(at("location --json")).out,
            R"({"tiers":[{"level":1,"id":"02:00:00:00:00:07"},{"level":2,"id":"a leaf, \\x0a"}]})"
            "\n");
  const std::string labels = run(at("location --labels")).out;
  EXPECT_THAT(labels, testing::StartsWith("lldp-level.tier-1=02-00-00-00-00-07\n"
                                          "lldp-level.tier-2=id-"));
  EXPECT_EQ(run(at("location --json --labels")).status, 2);
  EXPECT_THAT(run(at("location") + " 2>&1 >/dev/full; echo $?").out,
              testing::MatchesRegex("lldp-level: standard output: .*\n3\n"));
  EXPECT_THAT(run(at("location --labels --first 0 --prefix fabric.topograph.run/tier-")).out,
              testing::StartsWith("fabric.topograph.run/tier-0=02-00-00-00-00-07\n"
                                  "fabric.topograph.run/tier-1=id-"));
  for (const char* wrong : {"location swp1", "location --first 0", "location --labels --first -1",
                            "location --labels --first 255", "location --labels --prefix 'a b'"})
    EXPECT_EQ(run(at(wrong)).status, 2) << wrong;
}

TEST_F(Cli, ShowPrintsTextToAPipeWithoutColour) {
  start();
  const Outcome show = run(at("show"));
  EXPECT_EQ(show.status, 0);
  EXPECT_EQ(show.out,
            "leaf1: switch, level 1 (host), protection active (bpf, lossless 5 6)\n"
            "PORT  LINK  TYPE    ORDER  NEIGHBOR  LEVEL  THEIR PORT  EXPIRES\n"
            "swp1  up    uplink  up     -\n");
}

TEST_F(Cli, APortThatIsNotThereIsAnError) {
  start();
  for (const char* command : {"show nosuch", "show --json nosuch", "stats nosuch"}) {
    const Outcome none = run(at(command));
    EXPECT_EQ(none.status, 1) << command;
    EXPECT_EQ(none.out, "lldp-level: nosuch: no such port: see lldp-level show\n") << command;
  }
  const Outcome some = run(at("show 'swp*' nosuch 'eth?'"));
  EXPECT_EQ(some.status, 1);
  EXPECT_THAT(some.out, testing::HasSubstr("swp1  up"));
  EXPECT_THAT(some.out,
              testing::EndsWith("lldp-level: nosuch, eth?: no such ports: see lldp-level show\n"));
  EXPECT_EQ(run(at("show swp1")).status, 0);
  const Outcome stats = run(at("stats swp1 nosuch"));
  EXPECT_EQ(stats.status, 1);
  EXPECT_THAT(stats.out, testing::HasSubstr("swp1"));
  EXPECT_THAT(stats.out,
              testing::EndsWith("lldp-level: nosuch: no such port: see lldp-level show\n"));
}

TEST_F(Cli, NobodyWaitsForAPortThatIsNotThere) {
  start();
  const std::string no = ": no such port: see lldp-level show\n";
  const std::string file = dir / "capture";
  const Outcome record = run(at("record " + file + " swp1 nosuch"));
  EXPECT_EQ(record.status, 1);
  EXPECT_EQ(record.out, "lldp-level: nosuch" + no);
  EXPECT_FALSE(std::filesystem::exists(file)) << "an empty capture says that nothing was heard";
  for (const char* command : {"watch 'eth*'", "watch --json 'eth*'"}) {
    const Outcome watch = run(at(command));
    EXPECT_EQ(watch.status, 1);
    EXPECT_EQ(watch.out, "lldp-level: eth*" + no);
  }
  const Outcome wait = run(at("wait --port swp1=downlink --port nosuch=uplink"));
  EXPECT_EQ(wait.status, 1);
  EXPECT_EQ(wait.out, "lldp-level: nosuch" + no);
  // Within a time it may yet come.
  const Outcome patient = run(at("wait --port nosuch=uplink --timeout 0.05"));
  EXPECT_EQ(patient.status, 1);
  EXPECT_THAT(patient.out, testing::HasSubstr("not in time: nosuch is not there, not uplink"));
}

TEST_F(Cli, WhatTheDaemonRefusesIsASentence) {
  start();
  daemon.wrong = {
      {0, "f:1: level", "out of range"}, {0, "f:2", "is nothing"}, {0, "", "no change"}};
  const Outcome reload = run(at("reload"));
  EXPECT_EQ(reload.status, 1);
  EXPECT_EQ(reload.out,
            "lldp-level: f:1: level: out of range\nlldp-level: f:2: is nothing\n"
            "lldp-level: no change\n");
  for (const char* command :
       {"forget swp9", "update", "pause swp9", "resume", "set level nonsense"}) {
    const Outcome it = run(at(command));
    EXPECT_EQ(it.status, 1) << command;
    EXPECT_EQ(it.out, "lldp-level: f:1: level: out of range\n") << command;
  }
}

TEST_F(Cli, ReloadNamesWhatWaitsForARestart) {
  start();
  EXPECT_EQ(run(at("reload")).out, "");
  daemon.reloaded = R"({"restart":["dry-run","qdisc"]})";
  const Outcome reload = run(at("reload"));
  EXPECT_EQ(reload.status, 0) << "the rest is applied";
  EXPECT_EQ(reload.out, "restart the daemon to apply: dry-run, qdisc\n");
}

TEST_F(Cli, ShowJsonIsTheDaemonsOwn) {
  start();
  EXPECT_EQ(run(at("show --json")).out, daemon.show_json({}) + "\n");
}

TEST_F(Cli, NoDaemonIsSaidInOneLine) {
  const std::string none =
      socket() + ": no lldp-leveld answers here: start it, or name its socket with --socket\n";
  for (const char* command : {"show", "watch", "rules", "stats", "reload", "forget", "update",
                              "pause", "resume", "set level 1", "location", "record f"}) {
    const Outcome it = run(at(command));
    EXPECT_EQ(it.status, command == std::string("location") ? 3 : 1) << command;
    EXPECT_EQ(it.out, "lldp-level: " + none) << command;
  }
  const Outcome check = run(at("check"));
  EXPECT_EQ(check.status, 3);
  EXPECT_EQ(check.out, "LLDP-LEVEL UNKNOWN - " + none);
}

TEST_F(Cli, DoctorThatCanSayNothingEndsWithThreeAsIsWritten) {
  EXPECT_EQ(run(at("doctor")).status, 3);
  start();
  const Outcome none = run(at("doctor nosuch"));
  EXPECT_EQ(none.status, 3);
  EXPECT_EQ(none.out, "lldp-level: nosuch: no such port: see lldp-level show\n");
  EXPECT_THAT(run("--help").out, testing::HasSubstr("check, doctor, location: 3 state\nunknown ("));
  std::ifstream file(support::source_dir() + "/man/lldp-level.1");
  const std::string manual((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(manual,
              testing::HasSubstr("may be lost or stop; 3 state unknown: the daemon does not\n"
                                 "answer, or has no such port"));
}

TEST_F(Cli, CommandsNameThePortsOrNone) {
  start();
  std::vector<std::string> expected;
  for (const std::string command : {"forget", "update", "pause", "resume"}) {
    const Outcome ports = run(at(command) + " swp1 'swp2*'");
    EXPECT_EQ(ports.status, 0) << ports.out;
    EXPECT_EQ(ports.out, "");
    EXPECT_EQ(run(at(command)).status, 0);
    expected.push_back(command + " swp1 swp2*");
    expected.push_back(command);
  }
  stop();  // its thread has written
  EXPECT_EQ(daemon.commands, expected);
}

TEST_F(Cli, SetPassesKeyAndValueOnAsTheyAre) {
  start();
  EXPECT_EQ(run(at("set") + " system-name 'a \"b\" c'").status, 0);
  EXPECT_EQ(run(at("set") + " -- ports -eth0").status, 0);
  const Outcome lacks = run(at("set") + " system-name");
  EXPECT_EQ(lacks.status, 2);
  EXPECT_EQ(lacks.out, "lldp-level: use: lldp-level set KEY VALUE: try --help\n");
  stop();
  EXPECT_EQ(daemon.commands,
            (std::vector<std::string>{"set system-name a \"b\" c", "set ports -eth0"}));
}

TEST_F(Cli, CheckTellsFineFromAlarm) {
  start();
  const Outcome fine = run(at("check"));
  EXPECT_EQ(fine.status, 0);
  EXPECT_EQ(fine.out,
            "LLDP-LEVEL OK - leaf1: switch, level 1 (host), protection active | level=1 alarms=0 "
            "ports_up=1 neighbors=0\n");
  change([this] {
    EXPECT_EQ(daemon.asked, "rules show ") << "what is read back for the rules is in the answer";
    daemon.alarms = R"([{"code":"self-loop","port":"swp1","since":"","text":"a | level=9"}])";
    daemon.level = "null";
  });
  const Outcome alarm = run(at("check"));
  EXPECT_EQ(alarm.status, 1);
  EXPECT_EQ(alarm.out,
            "LLDP-LEVEL WARNING - leaf1: switch, no level yet, protection active, alarm self-loop "
            "swp1: a / level=9 | level=U alarms=1 ports_up=1 neighbors=0\n");
}

TEST_F(Cli, CheckWhoseVerdictNobodyHearsEndsWithThree) {
  start();
  const Outcome it =
      run_command(support::program("lldp-level") + " " + at("check") + " >/dev/full");
  EXPECT_EQ(it.status, 3);
}

// A daemon that is stopped takes connections, and answers nothing.
TEST_F(Cli, CheckGivesADaemonThatHangsLessTimeThanAMonitorGivesIt) {
  const UniqueFd listener = socket_at(socket(), SOCK_STREAM, 16);
  ASSERT_TRUE(listener);
  const Outcome it = run_command("timeout 9 " + support::program("lldp-level") + " " + at("check"));
  EXPECT_EQ(it.status, 3) << it.out;
  EXPECT_THAT(it.out, testing::HasSubstr("LLDP-LEVEL UNKNOWN - "));
}

TEST_F(Cli, CheckGoesByTheSeverityOfAlarmsAndNamesTheWorstFirst) {
  const auto alarm = [](const char* code, const char* severity) {
    return R"({"code":")" + std::string(code) + R"(","port":"swp1","severity":")" + severity +
           R"(","since":"","text":"x"})";
  };
  daemon.alarms = "[" + alarm("silent", "warning") + "," + alarm("new-one", "critical") + "]";
  start();
  const Outcome worst = run(at("check"));
  EXPECT_EQ(worst.status, 2);
  EXPECT_THAT(worst.out, testing::HasSubstr("alarm new-one swp1: x (and 1 more)"));
  change([&] { daemon.alarms = "[" + alarm("pfc-mismatch", "warning") + "]"; });
  EXPECT_EQ(run(at("check")).status, 1);
}

TEST_F(Cli, ConfigNamesEachKeyWithItsSource) {
  start();
  EXPECT_EQ(run(at("config")).out,
            "KEY    VALUE   SOURCE\n"
            "role   switch  /etc/x:3\n"
            "level  -       default\n"
            "bpffs  /x      default; after a restart: /y\n"
            "qdisc  htb     /etc/x:9; after a restart: -\n");
}

TEST_F(Cli, ExplainTellsWhatAPortOrAnAlarmDependsOn) {
  daemon.alarms = R"([{"code":"unheard","port":"swp1","severity":"warning","text":"no frame"}])";
  daemon.rules =
      R"({"version":1,"ports":[{"name":"swp1","order":"up","installed":"yes","parts":)"
      R"([{"part":"remap","state":"bypassed","text":"a filter"}],"bounces":{"5":3},"restored":2}]})";
  start();
  const std::string text =
      "swp1: up, order up, type uplink\n"
      "  device: switch, level 1 (host)\n"
      "  no neighbor is heard: the order is what the port remembers, or unknown\n"
      "  rules for up installed: yes\n"
      "    remap bypassed: a filter\n"
      "  packets that turned here, by priority: 5: 3; rules reinstalled: 2\n"
      "  ALARM unheard: no frame\n";
  EXPECT_EQ(run(at("explain swp1")).out, text);
  EXPECT_EQ(run(at("explain 'swp\\x31'")).out, text);  // another spelling
  EXPECT_THAT(run(at("explain unheard")).out, testing::StartsWith("severity: warning\n"));
  EXPECT_EQ(run(at("explain swp9")).status, 1);
  change([this] { daemon.level = "null"; });
  EXPECT_THAT(run(at("explain swp1")).out, testing::HasSubstr("device: switch, no level (host)\n"));
}

TEST_F(Cli, HelpOfACommandHasItsOptionsAndNoOthers) {
  const Outcome it = run("help rules");
  EXPECT_EQ(it.status, 0);
  EXPECT_THAT(it.out, testing::StartsWith("usage: lldp-level rules [OPTION]...\n"));
  EXPECT_THAT(it.out, testing::HasSubstr("--json"));
  EXPECT_THAT(it.out, testing::Not(testing::HasSubstr("--timeout")));
  EXPECT_EQ(run("help").out, run("--help").out);
  EXPECT_EQ(run("help nosuch").status, 2);
}

TEST_F(Cli, MutePassesAnAlarmOnWithItsTimeInSeconds) {
  start();
  EXPECT_EQ(run(at("mute unheard swp3 --for 8h")).status, 0);
  EXPECT_EQ(run(at("mute set --for 0")).status, 0);
  EXPECT_EQ(run(at("mute unheard swp3")).status, 2);
  EXPECT_EQ(run(at("mute unheard --for soon")).status, 2);
  stop();
  EXPECT_EQ(daemon.commands, (std::vector<std::string>{"mute unheard swp3 28800", "mute set  0"}));
}

TEST_F(Cli, CheckPassesOverAMutedAlarmAndSaysSo) {
  daemon.alarms =
      R"([{"code":"unheard","port":"swp3","since":"","text":"why","muted_until":"2026-01-31T23:59:59Z"}])";
  start();
  const Outcome it = run(at("check"));
  EXPECT_EQ(it.status, 0);
  EXPECT_THAT(it.out, testing::HasSubstr(", muted: unheard swp3 until 2026-01-31T23:59:59Z |"));
  change([this] { daemon.state = "failed"; });
  EXPECT_EQ(run(at("check")).status, 2) << "failed is never muted";
}

TEST_F(Cli, WaitReturnsWhenAllHolds) {
  daemon.level = "null";
  daemon.state = "inactive";
  start();
  auto waiting = std::async(std::launch::async, [this] {
    return run(at("wait --level 2 --protected --port swp1=uplink --timeout 10"));
  });
  change([this] { daemon.level = "2"; });
  EXPECT_EQ(waiting.wait_for(50ms), std::future_status::timeout) << "it is not protected yet";
  change([this] { daemon.state = "active"; });
  const Outcome it = waiting.get();
  EXPECT_EQ(it.status, 0);
  EXPECT_EQ(it.out, "");
}

TEST_F(Cli, WaitSaysWhatIsMissingWhenItIsTooLate) {
  start();
  const Outcome it =
      run(at("wait --level 2 --port swp1=downlink --port swp9=uplink --timeout 0.05"));
  EXPECT_EQ(it.status, 1);
  EXPECT_EQ(it.out,
            "lldp-level: " + socket() +
                ": not in time: level is 1, not 2, swp1 is uplink, not downlink, swp9 is not "
                "there, not uplink: see lldp-level show\n");
}

TEST_F(Cli, WaitWithoutTimeAsksOnce) {
  namespace local = boost::asio::local;
  daemon.level = "1";
  const std::string now = R"({"parameters":)" + daemon.show_json({}) + R"(,"continues":true})";
  for (const auto& [wanted, status, said] :
       {std::tuple("1", 0, std::string()),
        {"2", 1,
         "lldp-level: " + socket() + ": not in time: level is 1, not 2: see lldp-level show\n"}}) {
    boost::asio::io_context loop;
    local::stream_protocol::acceptor acceptor(loop, socket());
    auto busy = std::async(std::launch::async, [&] {
      local::stream_protocol::socket client = acceptor.accept();
      std::this_thread::sleep_for(50ms);
      boost::system::error_code hung_up;
      boost::asio::write(client, boost::asio::buffer(now.c_str(), now.size() + 1), hung_up);
      char byte = 0;
      while (!hung_up) client.read_some(boost::asio::buffer(&byte, 1), hung_up);
    });
    const Outcome it = run(at("wait --timeout 0 --level " + std::string(wanted)));
    busy.get();
    std::filesystem::remove(socket());
    EXPECT_EQ(it.status, status);
    EXPECT_EQ(it.out, said);
  }
}

TEST_F(Cli, AnswerOfAnotherVersionIsSaidInOneLine) {
  start();
  for (const char* answer : {"{}", R"({"device":7})", R"({"device":{},"alarms":[]})"}) {
    change([this, answer] { daemon.answer = answer; });
    for (const char* command : {"show", "wait --level 1 --timeout 10",
                                "wait --protected --timeout 10", "wait --port a=uplink"}) {
      const Outcome it = run(at(command));
      EXPECT_EQ(it.status, 1) << command << answer;
      EXPECT_EQ(it.out,
                "lldp-level: the daemon's answer is not understood: is it of another version?\n")
          << command << answer;
    }
    const Outcome check = run(at("check"));
    EXPECT_EQ(check.status, 3);
    EXPECT_EQ(check.out,
              "LLDP-LEVEL UNKNOWN - the daemon's answer is not understood: is it of another "
              "version?\n");
  }
}

TEST_F(Cli, AnswerOfAnotherProgramIsSaidInOneLine) {
  namespace local = boost::asio::local;
  for (const auto& [answer, what] :
       {std::pair("{\"error\":7}", "the daemon refuses: 7"),
        std::pair("{\"error\":\"x.Y\",\"parameters\":8}", "the daemon refuses: x.Y"),
        std::pair("{\"error\":\"x\\n\\u001b[2J\"}", "the daemon refuses: x\\x0a\\x1b[2J"),
        std::pair("HTTP/1.1 400",
                  "the answer is not Varlink: does another program have this socket?"),
        std::pair("[]", "the answer is not Varlink: does another program have this socket?")}) {
    boost::asio::io_context loop;
    local::stream_protocol::acceptor acceptor(loop, socket());
    const std::string sent(answer, std::strlen(answer) + 1);
    auto other = std::async(std::launch::async, [&] {
      local::stream_protocol::socket client = acceptor.accept();
      boost::asio::write(client, boost::asio::buffer(sent));
      char byte = 0;
      boost::system::error_code hung_up;
      while (!hung_up) client.read_some(boost::asio::buffer(&byte, 1), hung_up);
    });
    const Outcome it = run(at("wait --level 1 --timeout 10"));
    other.get();
    std::filesystem::remove(socket());
    EXPECT_EQ(it.status, 1);
    EXPECT_EQ(it.out, "lldp-level: " + socket() + ": " + what + "\n");
  }
}

TEST_F(Cli, RecordOfWhatIsNoFrameEndsWithAnError) {
  namespace local = boost::asio::local;
  boost::asio::io_context loop;
  local::stream_protocol::acceptor acceptor(loop, socket());
  auto other = std::async(std::launch::async, [&] {
    local::stream_protocol::socket client = acceptor.accept();
    for (const char* answer : {R"({"parameters":{},"continues":true})",
                               R"({"parameters":{"frame":"no base64"},"continues":true})"})
      boost::asio::write(client, boost::asio::buffer(answer, std::strlen(answer) + 1));
    acceptor.accept();  // asked whether lldpd speaks; not answered
    char byte = 0;
    boost::system::error_code hung_up;
    while (!hung_up) client.read_some(boost::asio::buffer(&byte, 1), hung_up);
  });
  const Outcome it = run(at("record " + std::string(dir / "r.pcap")));
  other.get();
  EXPECT_EQ(it.status, 1);
  EXPECT_EQ(it.out, "lldp-level: " + socket() +
                        ": the answer is no frame: is the daemon of another version?\n");
}

// As a forwarder of the socket does whose other end is gone.
TEST_F(Cli, WhoHangsUpAtOnceIsAskedWithPausesAndNoLongerThanToldTo) {
  namespace local = boost::asio::local;
  boost::asio::io_context loop;
  local::stream_protocol::acceptor acceptor(loop, socket());
  std::atomic<int> taken = 0;
  std::thread other([&] {
    for (boost::system::error_code closed; !closed; ++taken) acceptor.accept(closed);
  });
  const Outcome it = run(at("wait --level 2 --timeout 0.4"));
  ::shutdown(acceptor.native_handle(), SHUT_RDWR);
  other.join();
  EXPECT_EQ(it.status, 1);
  EXPECT_EQ(std::count(it.out.begin(), it.out.end(), '\n'), 1) << it.out;
  EXPECT_LE(taken, 6);
}

TEST_F(Cli, WaitOutlivesTheDaemonsRestart) {
  auto waiting =
      std::async(std::launch::async, [this] { return run(at("wait --level 2 --timeout 10")); });
  EXPECT_EQ(waiting.wait_for(50ms), std::future_status::timeout);
  start();
  EXPECT_EQ(waiting.wait_for(50ms), std::future_status::timeout);
  stop();
  daemon.level = "2";
  start();
  EXPECT_EQ(waiting.get().status, 0);
}

TEST_F(Cli, RecordWritesACaptureThatDecodeReads) {
  start();
  const std::string file = dir / "r.pcap";
  auto recording =
      std::async(std::launch::async, [this, &file] { return run(at("record " + file + " swp*")); });
  while (!std::filesystem::exists(file)) std::this_thread::sleep_for(1ms);
  // Chassis ID, Port ID and TTL of 121 s, to the nearest bridge.
  const Bytes frame{0x01, 0x80, 0xc2, 0,    0,   0x0e, 0x02, 0, 0, 0, 0, 9, 0x88, 0xcc,  //
                    0x02, 0x07, 4,    0x02, 0,   0,    0,    0, 9,                       //
                    0x04, 0x03, 5,    'p',  '1',                                         //
                    0x06, 0x02, 0,    121,  0,   0};
  seen(io::Direction::kIn, "eth0", frame);  // not asked for
  std::size_t size = 24;
  Bytes longest;
  for (std::size_t behind_the_end : {0U, 1U, 2U}) {  // the ends that base64 has
    longest = frame;
    longest.resize(frame.size() + behind_the_end, 0xa5);
    seen(io::Direction::kIn, "swp1", longest);
    size += 16 + longest.size();
  }
  for (int i = 0; i < 5000 && std::filesystem::file_size(file) < size; ++i)
    std::this_thread::sleep_for(1ms);
  stop();
  const Outcome it = recording.get();
  EXPECT_EQ(it.status, 1);
  EXPECT_EQ(it.out, "lldp-level: " + socket() + ": the daemon hung up: see its log\n");
  std::ifstream stream(file);
  const std::string capture((std::istreambuf_iterator<char>(stream)), {});
  EXPECT_EQ(capture.size(), size);
  EXPECT_TRUE(capture.ends_with(as_text(longest)));
  EXPECT_THAT(run("decode --json " + file).out,
              testing::HasSubstr(R"("source":"02:00:00:00:00:09","ignored":null,"missing":0,)"
                                 R"("chassis_id":"02:00:00:00:00:09")"));
}

}  // namespace
}  // namespace lldp::cli
