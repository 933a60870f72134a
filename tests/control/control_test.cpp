// SPDX-License-Identifier: Apache-2.0
#include "agent/control/control.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "agent/control/connection.hpp"
#include "tests/control/control_fixture.hpp"
#include "tests/support/no_descriptors.hpp"

namespace lldp::io {
namespace {

using testing::HasSubstr;

TEST_F(ControlSocket, ConnectionForAChildMayLookAndNotCommand) {
  open();
  auto fd = server->connect();
  ASSERT_TRUE(fd) << to_string(fd.error());
  Client child(std::move(*fd), *this);
  child.call(R"({"method":"org.lldplevel.Show"})");
  EXPECT_EQ(child.hear(), R"({"parameters":{"n":1}})");
  child.call(R"({"method":"org.lldplevel.Reload"})");
  EXPECT_THAT(child.hear(), HasSubstr("org.lldplevel.NotAllowed"));
  EXPECT_EQ(handler.reloads, 0);
}

TEST_F(ControlSocket, AnswersShow) {
  open();
  Client c = client();
  c.call(R"({"method":"org.lldplevel.Show"})");
  EXPECT_EQ(c.hear(), R"({"parameters":{"n":1}})");
  c.call(R"({"method":"org.lldplevel.Show","parameters":{"ports":["swp*"]}})");
  EXPECT_EQ(c.hear(), R"({"parameters":{"n":2,"swp*":1}})");
}

TEST_F(ControlSocket, DescribesItself) {
  open();
  Client c = client();
  c.call(R"({"method":"org.varlink.service.GetInfo"})");
  const std::string info = c.hear();
  EXPECT_THAT(info, HasSubstr(R"("interfaces":["org.varlink.service","org.lldplevel"])"));
  for (const char* name : {"org.lldplevel", "org.varlink.service"}) {
    c.call(
        R"({"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":")" +
        std::string(name) + R"("}})");
    EXPECT_THAT(c.hear(), HasSubstr("interface " + std::string(name) + "\\n"));
  }
}

TEST_F(ControlSocket, CommandsTakePortsAndSetTakesTwoStrings) {
  open();
  Client c = client();
  for (const char* method : {"Forget", "Update", "Pause", "Resume"}) {
    const std::string name = R"({"method":"org.lldplevel.)" + std::string(method) + "\"";
    c.call(name + "}");
    EXPECT_EQ(c.hear(), R"({"parameters":{}})");
    c.call(name + R"(,"parameters":{"ports":["p1","p2"]}})");
    EXPECT_EQ(c.hear(), R"({"parameters":{}})");
    c.call(name + R"(,"parameters":{"ports":["nosuch"]}})");
    EXPECT_THAT(c.hear(), HasSubstr(R"("parameters":{"reason":"nosuch: is no port"})"));
  }
  c.call(R"({"method":"org.lldplevel.Set","parameters":{"value":"1","key":"level"}})");
  EXPECT_EQ(c.hear(), R"({"parameters":{}})");
  for (const char* method : {"AcceptPfc", "RejectPfc"}) {
    c.call(R"({"method":"org.lldplevel.)" + std::string(method) +
           R"(","parameters":{"port":"p1"}})");
    EXPECT_EQ(c.hear(), R"({"parameters":{}})");
  }
  EXPECT_THAT(handler.commands,
              testing::ElementsAre("forget", "forget p1 p2", "forget nosuch", "update",
                                   "update p1 p2", "update nosuch", "pause", "pause p1 p2",
                                   "pause nosuch", "resume", "resume p1 p2", "resume nosuch",
                                   "set level 1", "accept p1", "reject p1"));
}

struct ErrorCase {
  const char* name = "";
  const char* call = "";
  const char* answer = "";
  friend void PrintTo(const ErrorCase& c, std::ostream* os) { *os << c.name; }
};
class ControlError : public ControlSocket, public testing::WithParamInterface<ErrorCase> {};
TEST_P(ControlError, IsTheStandardsOwn) {
  open();
  Client c = client();
  c.call(GetParam().call);
  EXPECT_EQ(c.hear(), GetParam().answer);
  c.call(R"({"method":"org.lldplevel.Stats"})");  // and the connection goes on
  EXPECT_EQ(c.hear(), R"({"parameters":{"stats":1}})");
}
const ErrorCase kErrors[] = {
    {"UnknownMethod", R"({"method":"org.lldplevel.Frob"})",
     R"({"error":"org.varlink.service.MethodNotFound","parameters":{"method":"org.lldplevel.Frob"}})"},
    {"UnknownInterface", R"({"method":"org.example.Frob"})",
     R"({"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"org.example"}})"},
    {"NoInterface", R"({"method":"Frob"})",
     R"({"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"Frob"}})"},
    {"UnknownParameter", R"({"method":"org.lldplevel.Show","parameters":{"port":"swp1"}})",
     R"({"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"port"}})"},
    {"ParameterOfAnotherType", R"({"method":"org.lldplevel.Show","parameters":{"ports":"swp1"}})",
     R"({"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"ports"}})"},
    {"ParameterOfNoType", R"({"method":"org.lldplevel.Show","parameters":{"ports":[1]}})",
     R"({"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"ports"}})"},
    {"SetWithoutAValue", R"({"method":"org.lldplevel.Set","parameters":{"key":"level"}})",
     R"({"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"value"}})"},
    {"SetOfAList", R"({"method":"org.lldplevel.Set","parameters":{"key":"level","value":["1"]}})",
     R"({"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"value"}})"},
    {"ListWithoutAName",
     R"({"method":"org.varlink.service.GetInterfaceDescription","parameters":{"":[]}})",
     R"({"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":""}})"},
    {"StringWithoutAName", R"({"method":"org.lldplevel.Rules","parameters":{"":"x"}})",
     R"({"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":""}})"},
    {"MisfitWithoutAName", R"({"method":"org.lldplevel.Show","parameters":{"":1}})",
     R"({"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":""}})"},
    {"ParameterMissing", R"({"method":"org.varlink.service.GetInterfaceDescription"})",
     R"({"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"interface"}})"},
    {"InterfaceNotDescribed",
     R"({"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"a.b"}})",
     R"({"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"a.b"}})"},
    {"WatchWithoutMore", R"({"method":"org.lldplevel.Watch"})",
     R"({"error":"org.varlink.service.ExpectedMore","parameters":{}})"},
};
INSTANTIATE_TEST_SUITE_P(Calls, ControlError, testing::ValuesIn(kErrors),
                         [](const auto& c) { return c.param.name; });

TEST_F(ControlSocket, AnswersPipelinedCallsInOrderAndOnewayOnesNotAtAll) {
  open();
  Client c = client();
  c.say(
      std::string_view("{\"method\":\"org.lldplevel.Show\"}\0"
                       "{\"method\":\"org.lldplevel.Show\",\"oneway\":true}\0"
                       "{\"method\":\"org.lldplevel.Stats\"}\0",
                       31 + 45 + 32 + 3));
  EXPECT_EQ(c.hear(), R"({"parameters":{"n":1}})");
  EXPECT_EQ(c.hear(), R"({"parameters":{"stats":1}})");
  EXPECT_EQ(handler.shows, 2);
}

TEST_F(ControlSocket, CallsThatWantNoAnswerLetOthersGoFirst) {
  open();
  Client many = client();
  Client one = client();
  turn(5ms);  // both are accepted
  std::string calls;
  for (int i = 0; i < 80; ++i)
    calls += std::string(R"({"method":"org.lldplevel.Show","oneway":true})") + '\0';
  many.say(calls);
  one.call(R"({"method":"org.lldplevel.Show"})");
  EXPECT_THAT(one.hear(), testing::MatchesRegex("[{].parameters.:[{].n.:[0-9][}][}]"));
  EXPECT_TRUE(turn_until(1s, [this] { return handler.shows == 81; }));
}

TEST_F(ControlSocket, ReloadsAndTellsWhyNot) {
  open();
  Client c = client();
  c.call(R"({"method":"org.lldplevel.Reload"})");
  EXPECT_EQ(c.hear(), R"({"parameters":{"restart":["dry-run"]}})");
  handler.refuse = true;
  c.call(R"({"method":"org.lldplevel.Reload"})");
  EXPECT_EQ(
      c.hear(),
      R"({"error":"org.lldplevel.ReloadFailed","parameters":{"reason":"f:1: level: out of range\nnothing is changed"}})");
}

TEST_F(ControlSocket, WatcherIsToldAtOnceAndOnceForManyChanges) {
  open({.watch_pause = 1ms});
  Client c = client();
  c.call(R"({"method":"org.lldplevel.Watch","more":true})");
  EXPECT_EQ(c.hear(), R"({"parameters":{"n":1},"continues":true})");
  for (int i = 0; i < 100; ++i) server->notify_changed();
  EXPECT_EQ(c.hear(), R"({"parameters":{"n":2},"continues":true})");
  turn(10ms);
  EXPECT_EQ(handler.shows, 2);
  server->notify_changed();
  EXPECT_EQ(c.hear(), R"({"parameters":{"n":3},"continues":true})");
}

TEST_F(ControlSocket, WatcherIsLeftInPeaceForThePause) {
  open({.watch_pause = 100ms});
  Client c = client();
  c.call(R"({"method":"org.lldplevel.Watch","more":true})");
  c.hear();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; ++i) {
    server->notify_changed();
    EXPECT_THAT(c.hear(), HasSubstr(R"("continues":true)"));
  }
  EXPECT_GE(std::chrono::steady_clock::now() - start, 200ms);
}

TEST_F(ControlSocket, NobodyIsAskedWhileNobodyWatches) {
  open();
  Client c = client();
  c.call(R"({"method":"org.lldplevel.Watch","more":true})");
  c.hear();
  c.hang_up();
  turn(10ms);
  server->notify_changed();
  turn(50ms);
  EXPECT_EQ(handler.shows, 1);
}

TEST_F(ControlSocket, WatcherIsToldThoughOthersHaveLeft) {
  open({.watch_pause = 1ms});
  for (const bool streams : {false, true}) {
    Client other = client();
    other.call(streams ? R"({"method":"org.lldplevel.Record","more":true})"
                       : R"({"method":"org.lldplevel.Stats"})");
    other.hear();
    other.hang_up();
    turn(10ms);
  }
  Client c = client();
  c.call(R"({"method":"org.lldplevel.Watch","more":true})");
  EXPECT_EQ(c.hear(), R"({"parameters":{"n":1},"continues":true})");
  server->notify_changed();
  EXPECT_EQ(c.hear(), R"({"parameters":{"n":2},"continues":true})");
}

TEST_F(ControlSocket, RecorderHearsItsPortsFrames) {
  open();
  Client c = client();
  c.call(R"({"method":"org.lldplevel.Record","more":true,"parameters":{"ports":["swp*"]}})");
  EXPECT_EQ(c.hear(), R"({"parameters":{},"continues":true})");
  server->frame_seen(Direction::kIn, "eth0", as_octets("no"));
  server->frame_seen(Direction::kOut, "swp1", as_octets("foobar"));
  EXPECT_THAT(c.hear(), testing::MatchesRegex(
                            R"(\{"parameters":\{"time":[0-9]+,"port":"swp1","direction":"out",)"
                            R"("frame":"Zm9vYmFy"\},"continues":true\})"));
}

TEST_F(ControlSocket, SlowRecorderLosesFramesAndIsToldHowMany) {
  open({.queue_octets = 4096});
  Client c = client();
  c.call(R"({"method":"org.lldplevel.Record","more":true})");
  c.hear();
  const Bytes frame(1500);
  for (int i = 0; i < 2000; ++i) {  // more than the kernel's buffer and ours hold
    server->frame_seen(Direction::kIn, "swp1", frame);
    loop.poll();
  }
  int heard = 0;
  while (c.hear(20ms) != "(silence)") ++heard;
  EXPECT_GT(heard, 0);
  EXPECT_LT(heard, 2000);
  server->frame_seen(Direction::kIn, "swp1", frame);
  EXPECT_THAT(c.hear(), HasSubstr(R"(,"dropped":)" + std::to_string(2000 - heard) + "}"));
}

TEST_F(ControlSocket, FrameThatWouldPassTheBoundOfTheQueueIsDropped) {
  open({.queue_octets = 4096});
  Client c = client();
  c.call(R"({"method":"org.lldplevel.Record","more":true})");
  c.hear();
  server->frame_seen(Direction::kIn, "swp1", Bytes(4096));  // more than that as text
  server->frame_seen(Direction::kIn, "swp1", Bytes(64));
  EXPECT_THAT(c.hear(), HasSubstr(R"(,"dropped":1})"));
  server->frame_seen(Direction::kIn, "swp1", Bytes(64));  // and is told once
  EXPECT_THAT(c.hear(), testing::Not(HasSubstr("dropped")));
}

TEST_F(ControlSocket, NobodyRecordsOnceTheRecorderHasLeft) {
  open();
  Client c = client();
  EXPECT_FALSE(server->recording());
  c.call(R"({"method":"org.lldplevel.Record","more":true})");
  c.hear();
  EXPECT_TRUE(server->recording());
  c.hang_up();
  EXPECT_TRUE(turn_until(1s, [&] { return !server->recording(); }));
}

TEST_F(ControlSocket, WatcherThatIsSlowGetsTheLastState) {
  open({.watch_pause = 1ms});
  handler.padding = R"(,"p":")" + std::string(4 << 20, 'x') + '"';
  Client slow = client();
  slow.call(R"({"method":"org.lldplevel.Watch","more":true})");
  ASSERT_TRUE(turn_until(1s, [&] { return handler.shows == 1; }));
  handler.padding.clear();
  for (int i = 0; i < 3; ++i) {  // while the first answer waits to be taken
    server->notify_changed();
    turn(5ms);
  }
  EXPECT_THAT(slow.hear(10s), testing::StartsWith(R"({"parameters":{"n":1,)"));
  EXPECT_EQ(slow.hear(), R"({"parameters":{"n":2},"continues":true})");
}

TEST_F(ControlSocket, SecondDaemonIsToldWhatToDo) {
  open();
  const auto second = ControlServer::open(loop, dir / "control", handler);
  ASSERT_FALSE(second);
  EXPECT_EQ(to_string(second.error()),
            (dir / "control") +
                ": another lldp-leveld has this control socket: stop it, or give this one its own "
                "--socket and --state-file");
  EXPECT_TRUE(client().connected()) << "the first one's socket was harmed";
}

TEST_F(ControlSocket, DeadDaemonsSocketIsTakenOver) {
  {
    const auto address = unix_address(dir / "control");
    const UniqueFd dead(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(::bind(dead.get(), address->get(), address->size), 0);
  }
  ASSERT_FALSE(client().connected());
  open();
  EXPECT_TRUE(client().connected());
}

// As by a cleaner of /run, which may remove the lock beside it, and the directory too.
TEST_F(ControlSocket, IsMadeAgainWhereItsFileIsGone) {
  open();
  Client before = client();
  before.call(R"({"method":"org.lldplevel.Rules"})");
  EXPECT_EQ(before.hear(), R"({"parameters":{"rules":{}}})");
  const auto renewed = server->renew();
  ASSERT_TRUE(renewed) << to_string(renewed.error());
  EXPECT_FALSE(*renewed) << "it is there";
  for (const char* gone : {"control", "control.lock", "control control.lock"}) {
    SCOPED_TRACE(gone);
    std::istringstream names(gone);
    for (std::string name; names >> name;) ASSERT_EQ(::unlink((dir / name.c_str()).c_str()), 0);
    const bool needed = std::string_view(gone) != "control.lock";
    const auto again = server->renew();
    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_EQ(*again, needed);
    Client c = client();
    c.call(R"({"method":"org.lldplevel.Rules"})");
    EXPECT_EQ(c.hear(), R"({"parameters":{"rules":{}}})");
    struct stat is {};
    ASSERT_EQ(::stat((dir / "control").c_str(), &is), 0);
    EXPECT_EQ(is.st_mode & 07777, 0660U);
    EXPECT_FALSE(ControlServer::open(loop, dir / "control", handler))
        << "a second daemon may take it";
  }
  before.call(R"({"method":"org.lldplevel.Rules"})");
  EXPECT_EQ(before.hear(), R"({"parameters":{"rules":{}}})") << "it was cut off";
}

TEST_F(ControlSocket, IsMadeAgainWithItsDirectory) {
  const std::string path = dir / "run/control";
  server = std::move(*ControlServer::open(loop, path, handler));
  std::filesystem::remove_all(dir / "run");
  std::ofstream(dir / "run") << "precious";
  const auto blocked = server->renew();
  ASSERT_FALSE(blocked);
  EXPECT_EQ(to_string(blocked.error()),
            path +
                ".lock: cannot be opened: Not a directory: remove what has the place of its "
                "directory");
  std::filesystem::remove(dir / "run");
  const auto again = server->renew();
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_TRUE(*again);
  EXPECT_TRUE(control::Connection::open(path));
}

TEST_F(ControlSocket, SaysWhatHasItsPlaceAndLeavesItThere) {
  open();
  const std::string path = dir / "control";
  const auto expect_told = [&](const std::string& kind) {
    const auto blocked = server->renew();
    ASSERT_FALSE(blocked);
    EXPECT_EQ(to_string(blocked.error()),
              path + ": " + kind +
                  " has the place of the control socket: remove it, or use another --socket");
    EXPECT_EQ(to_string(control::Connection::open(path).error()),
              path + ": lldp-leveld runs, and " + kind +
                  " has the place of its socket: remove it; the daemon makes its socket again "
                  "within a minute, and at once after kill -HUP");
  };
  std::filesystem::remove(path);
  std::ofstream(path) << "precious";
  expect_told("a file");
  EXPECT_EQ(std::filesystem::file_size(path), 8U);
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/etc/passwd", path);
  expect_told("a symbolic link");
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  expect_told("a directory");
  std::filesystem::remove(path);
  const auto again = server->renew();
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_TRUE(*again);
  EXPECT_TRUE(client().connected());
}

TEST_F(ControlSocket, IsMadeAgainInThePlaceOfAnotherSocket) {
  open();
  const std::string path = dir / "control";
  std::filesystem::remove(path);
  {
    const auto address = unix_address(path);
    const UniqueFd other(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(::bind(other.get(), address->get(), address->size), 0);
  }
  EXPECT_EQ(to_string(control::Connection::open(path).error()),
            path +
                ": lldp-leveld runs, and another program's socket has the place of its own: the "
                "daemon makes its socket again within a minute, and at once after kill -HUP");
  const auto again = server->renew();
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_TRUE(*again);
  EXPECT_TRUE(client().connected());
}

TEST_F(ControlSocket, IsNotMadeAgainWhereAnotherHasItsPlace) {
  open();
  for (const char* name : {"control", "control.lock"}) ASSERT_EQ(::unlink((dir / name).c_str()), 0);
  auto other = ControlServer::open(loop, dir / "control", handler);
  ASSERT_TRUE(other) << to_string(other.error());
  const auto beside = server->renew();
  ASSERT_FALSE(beside);
  EXPECT_THAT(to_string(beside.error()), HasSubstr("another lldp-leveld has this control socket"));
  server.reset();
  EXPECT_TRUE(client().connected()) << "the other one's socket was removed";
}

TEST_F(ControlSocket, IsForOwnerAndGroupAndGoneAtTheEnd) {
  const mode_t before = ::umask(077);
  open();
  ::umask(before);
  struct stat is {};
  ASSERT_EQ(::stat((dir / "control").c_str(), &is), 0);
  EXPECT_EQ(is.st_mode & 07777, 0660U);
  server.reset();
  EXPECT_NE(::stat((dir / "control").c_str(), &is), 0);
}

TEST_F(ControlSocket, FileThatIsNoSocketIsLeftAlone) {
  std::ofstream(dir / "control") << "precious";
  const auto opened = ControlServer::open(loop, dir / "control", handler);
  ASSERT_FALSE(opened);
  EXPECT_EQ(to_string(opened.error()),
            (dir / "control") +
                ": a file has the place of the control socket: remove it, or use another --socket");
}

TEST_F(ControlSocket, PathTooLongForASocketIsRefused) {
  const std::string path = dir.path() + "/" + std::string(120, 'x');
  const auto opened = ControlServer::open(loop, path, handler);
  ASSERT_FALSE(opened);
  EXPECT_EQ(to_string(opened.error()),
            path + ": too long for a socket: use at most 103 characters");
}

TEST_F(ControlSocket, DirectoryIsMadeIfItAloneIsMissing) {
  const std::string path = dir / "run/control";
  auto opened = ControlServer::open(loop, path, handler);
  ASSERT_TRUE(opened) << to_string(opened.error());
  opened->reset();
  const auto deeper = ControlServer::open(loop, dir / "a/b/control", handler);
  ASSERT_FALSE(deeper);
  EXPECT_EQ(to_string(deeper.error()),
            (dir / "a/b/control.lock") +
                ": cannot be opened: No such file or directory: make its directory, for the user "
                "that the daemon runs as");
}

TEST_F(ControlSocket, DirectoryOfAnotherIsRefusedWithTheRemedy) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  ASSERT_EQ(::chmod(dir.path().c_str(), 0755), 0);
  ASSERT_EQ(::seteuid(65534), 0);
  const auto opened = ControlServer::open(loop, dir / "control", handler);
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_FALSE(opened);
  EXPECT_EQ(to_string(opened.error()),
            (dir / "control.lock") +
                ": cannot be opened: Permission denied: its directory must "
                "belong to the user that the daemon runs as");
}

TEST_F(ControlSocket, LeavesNothingBehindWhereItCannotStand) {
  ASSERT_EQ(::mkdir((dir / "control").c_str(), 0755), 0);  // no name for a socket
  EXPECT_FALSE(ControlServer::open(loop, dir / "control", handler));
  EXPECT_NE(::access((dir / "control.new").c_str(), F_OK), 0);
}

TEST_F(ControlSocket, ServerMayGoWhileClientsWait) {
  open();
  Client watcher = client();
  watcher.call(R"({"method":"org.lldplevel.Watch","more":true})");
  watcher.hear();
  Client idle = client();
  turn(5ms);
  server->notify_changed();
  server.reset();
  EXPECT_EQ(watcher.hear(), "(end)");
  EXPECT_EQ(idle.hear(), "(end)");
}

TEST_F(ControlSocket, OnceTheServerIsGoneNothingOfItWaitsInTheLoop) {
  open({.stall = 1h, .watch_pause = 1h});
  Client watcher = client();
  watcher.call(R"({"method":"org.lldplevel.Watch","more":true})");
  watcher.hear();
  server->notify_changed();  // told in an hour
  handler.padding = R"(,"p":")" + std::string(4 << 20, 'x') + '"';
  Client hanging = client();
  hanging.call(R"({"method":"org.lldplevel.Show"})");
  ASSERT_TRUE(turn_until(1s, [&] { return handler.shows == 2; }));
  Client idle = client();
  turn(1ms);
  const Client waiting = client();
  {
    const support::NoDescriptors none;
    turn(1ms);  // it cannot be let in now
  }
  server.reset();
  loop.restart();
  while (loop.poll() != 0) {
  }
  EXPECT_TRUE(loop.stopped()) << "there is more to wait for";
}

}  // namespace
}  // namespace lldp::io
