// SPDX-License-Identifier: Apache-2.0
#include "agent/control/control.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <fstream>
#include <functional>
#include <optional>

#include "agent/control/connection.hpp"
#include "os/fd.hpp"
#include "tests/control/commanded.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::io {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Answers with what was asked, and counts.
class FakeHandler : public test::CommandedHandler {
 public:
  std::string show_json(std::span<const std::string> ports) override {
    std::string out = R"({"n":)" + std::to_string(++shows);
    for (const std::string& p : ports) out += ",\"" + p + "\":1";
    return out + padding + "}";
  }
  std::string stats_json(std::span<const std::string>) override { return R"({"stats":1})"; }
  std::string rules_json() override { return R"({"rules":{}})"; }
  Result<void> commanded(std::string what, std::span<const std::string> words) override {
    for (const std::string& word : words) what += " " + word;
    commands.push_back(std::move(what));
    if (words.size() == 1 && words[0] == "nosuch")
      return fail(Error{.where = "nosuch", .what = "is no port"});
    return {};
  }
  std::vector<std::string> commands{};
  Result<void, std::vector<Error>> reload() override {
    ++reloads;
    if (refuse)
      return fail(std::vector<Error>{{.where = "f:1: level", .what = "out of range"},
                                     {.what = "nothing is changed"}});
    return {};
  }
  int shows = 0;
  int reloads = 0;
  bool refuse = false;
  std::string padding{};
};

class ControlSocket : public testing::Test {
 protected:
  void open(ControlLimits limits = {}) {
    auto opened = ControlServer::open(loop, dir / "control", handler, limits);
    ASSERT_TRUE(opened) << to_string(opened.error());
    server = std::move(*opened);
  }

  /// Turns the loop until `done` holds; false when it does not in time.
  bool turn_until(std::chrono::milliseconds time, const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + time;
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      loop.restart();
      loop.run_for(1ms);
    }
    return true;
  }
  void turn(std::chrono::milliseconds time) {
    loop.restart();
    loop.run_for(time);
  }

  class Client {
   public:
    explicit Client(const std::string& path, ControlSocket& test) : test_(test) {
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      path.copy(address.sun_path, path.size());
      fd_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      connected_ = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    }
    Client(UniqueFd fd, ControlSocket& test) : test_(test), fd_(std::move(fd)), connected_(true) {
      ::fcntl(fd_.get(), F_SETFL, O_NONBLOCK);
    }
    [[nodiscard]] bool connected() const { return connected_; }
    [[nodiscard]] int fd() const { return fd_.get(); }
    void say(std::string_view text) const {
      ASSERT_EQ(::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(text.size()));
    }
    void call(std::string text) const {
      text += '\0';
      say(text);
    }
    /// The next message; "(end)" when the server hung up, "(silence)" when none came in time.
    std::string hear(std::chrono::milliseconds patience = 1s) {
      test_.turn_until(patience,
                       [&] { return received_.find('\0') != received_.npos || take() == 0; });
      const std::size_t end = received_.find('\0');
      if (end == received_.npos) return ended_ ? "(end)" : "(silence)";
      std::string message = received_.substr(0, end);
      received_.erase(0, end + 1);
      return message;
    }
    void hang_up() { fd_ = UniqueFd(); }

   private:
    /// 0 when the server hung up.
    ssize_t take() {
      char buffer[4096];
      const ssize_t n = ::recv(fd_.get(), buffer, sizeof buffer, 0);
      if (n > 0) received_.append(buffer, static_cast<std::size_t>(n));
      ended_ = n == 0 || (n < 0 && errno == ECONNRESET);
      return ended_ ? 0 : -1;
    }
    ControlSocket& test_;
    UniqueFd fd_;
    bool connected_ = false;
    bool ended_ = false;
    std::string received_;
  };
  Client client() { return Client(dir / "control", *this); }
  /// One of another user; the test must be root's.
  Client client_of(uid_t user, gid_t group) {
    EXPECT_EQ(::setegid(group) | ::seteuid(user), 0);
    Client theirs = client();
    EXPECT_EQ(::seteuid(0) | ::setegid(0), 0);
    return theirs;
  }
  /// The socket for a group; false where the test cannot be somebody else.
  bool open_to(gid_t group, ControlLimits limits = {}) {
    if (::geteuid() != 0) return false;
    EXPECT_EQ(::chmod(dir.path().c_str(), 0755), 0);
    auto opened = ControlServer::open(loop, dir / "control", handler, limits, group);
    EXPECT_TRUE(opened) << to_string(opened.error());
    server = std::move(*opened);
    return true;
  }

  TempDir dir;
  boost::asio::io_context loop;
  FakeHandler handler;
  std::unique_ptr<ControlServer> server;
};

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
  EXPECT_THAT(
      handler.commands,
      testing::ElementsAre("forget", "forget p1 p2", "forget nosuch", "update", "update p1 p2",
                           "update nosuch", "pause", "pause p1 p2", "pause nosuch", "resume",
                           "resume p1 p2", "resume nosuch", "set level 1"));
}

struct ReplyCase {
  const char* name = "";
  const char* reply = "";
  const char* taken = "";  ///< its parameters, or the error
  friend void PrintTo(const ReplyCase& c, std::ostream* os) { *os << c.name; }
};
class ConnectionReply : public testing::TestWithParam<ReplyCase> {};
TEST_P(ConnectionReply, IsTakenApart) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd daemon(ends[0]);
  auto client = control::Connection::adopt(ends[1], "d");
  const std::string reply = GetParam().reply;
  ASSERT_EQ(::send(daemon.get(), reply.c_str(), reply.size() + 1, 0),
            static_cast<ssize_t>(reply.size() + 1));
  const auto taken = client.next(std::chrono::steady_clock::now() + 1s);
  EXPECT_EQ(taken ? *taken : to_string(taken.error()), GetParam().taken);
}
constexpr const char* kNoVarlink =
    "d: the answer is not Varlink: does another program have this socket?";
const ReplyCase kReplies[] = {
    {"Plain", R"({"parameters":{"a":{"b":[1]}}})", R"({"a":{"b":[1]}})"},
    {"Empty", R"({"parameters":{}})", "{}"},
    {"OneOfMany", R"({"parameters":{"a":1},"continues":true})", R"({"a":1})"},
    {"BracketsInText", R"({"parameters":{"a":"}{\"}","b":"\\"}})", R"({"a":"}{\"}","b":"\\"})"},
    {"MemberOfTheSameName", R"({"parameters":{"a":1,"continues":true}})",
     R"({"a":1,"continues":true})"},
    {"WithBlanks", R"({ "parameters" : {"a" : 1} })", R"({"a":1})"},
    {"None", "{}", "{}"},
    {"ErrorBehind", R"({"parameters":{"reason":"no"},"error":"org.lldplevel.Refused"})", "no"},
    {"ErrorBetween",
     R"({"parameters":{"reason":"no"},"error":"org.lldplevel.Refused","parameters2":{}})", "no"},
    {"NoObject", R"({"parameters":1{}})", kNoVarlink},
    {"NumberForAnObject", R"({"parameters":1})", "1"},
    {"CutShort", R"({"parameters":{"a":{}})", kNoVarlink},
    {"TooMuch", R"({"parameters":{"a":1}}})", kNoVarlink},
    {"OpenText", R"({"parameters":{"a":"}})", kNoVarlink},
    {"Escape", "{\"parameters\":{\"a\":\"\\", kNoVarlink},
    {"Nothing", "", kNoVarlink},
};
INSTANTIATE_TEST_SUITE_P(Replies, ConnectionReply, testing::ValuesIn(kReplies),
                         [](const auto& c) { return c.param.name; });

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
  EXPECT_EQ(c.hear(), R"({"parameters":{}})");
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

TEST_F(ControlSocket, ClientThatTakesNothingIsPutOut) {
  open({.stall = 20ms});
  handler.padding = R"(,"p":")" + std::string(4 << 20, 'x') + '"';
  Client hanging = client();
  hanging.call(R"({"method":"org.lldplevel.Watch","more":true})");
  turn(10ms);
  server->notify_changed();
  turn(100ms);
  EXPECT_EQ(handler.shows, 1) << "a second answer was made while the first one waits";
  handler.padding.clear();
  Client other = client();
  other.call(R"({"method":"org.lldplevel.Stats"})");
  EXPECT_EQ(other.hear(), R"({"parameters":{"stats":1}})");
  server->notify_changed();
  turn(50ms);
  EXPECT_EQ(handler.shows, 1) << "the hanging watcher is still served";
}

TEST_F(ControlSocket, ClientThatAsksWithoutReadingCostsOneAnswer) {
  open();
  handler.padding = R"(,"p":")" + std::string(1 << 20, 'x') + '"';
  Client c = client();
  for (int i = 0; i < 100; ++i) c.call(R"({"method":"org.lldplevel.Show"})");
  turn(50ms);
  EXPECT_EQ(handler.shows, 1);
}

struct BadCase {
  const char* name = "";
  std::string octets{};
  friend void PrintTo(const BadCase& c, std::ostream* os) { *os << c.name; }
};
class ControlBadClient : public ControlSocket, public testing::WithParamInterface<BadCase> {};
TEST_P(ControlBadClient, IsPutOutAndOthersAreServed) {
  open({.message_octets = 4096});
  Client bad = client();
  bad.say(GetParam().octets);
  EXPECT_EQ(bad.hear(), "(end)");
  Client good = client();
  good.call(R"({"method":"org.lldplevel.Stats"})");
  EXPECT_EQ(good.hear(), R"({"parameters":{"stats":1}})");
}
const BadCase kBad[] = {
    {"Garbage", std::string("\xff\xfe hello\n\0", 10)},
    {"Http", std::string("GET / HTTP/1.1\r\n\r\n\0", 19)},
    {"OnlyNul", std::string(1, '\0')},
    {"NoMethod", std::string("{}\0", 3)},
    {"DeeplyNested", std::string(4000, '[') + std::string(1, '\0')},
    {"TooLongUnfinished", std::string(5000, 'x')},
    {"TooLongFinished", std::string(5000, ' ') + std::string(1, '\0')},
};
INSTANTIATE_TEST_SUITE_P(Octets, ControlBadClient, testing::ValuesIn(kBad),
                         [](const auto& c) { return c.param.name; });

TEST_F(ControlSocket, WatcherThatSpeaksIsPutOut) {
  open();
  Client c = client();
  c.call(R"({"method":"org.lldplevel.Watch","more":true})");
  c.hear();
  c.say("more");
  EXPECT_EQ(c.hear(), "(end)");
}

TEST_F(ControlSocket, ClientThatLeavesInTheMiddleIsForgotten) {
  open();
  handler.padding = R"(,"p":")" + std::string(4 << 20, 'x') + '"';
  for (int i = 0; i < 10; ++i) {
    Client in_a_call = client();
    in_a_call.say(R"({"method":"org.lldp)");
    Client in_an_answer = client();
    in_an_answer.call(R"({"method":"org.lldplevel.Show"})");
    turn(2ms);
  }
  handler.padding.clear();
  Client c = client();
  c.call(R"({"method":"org.lldplevel.Stats"})");
  EXPECT_EQ(c.hear(), R"({"parameters":{"stats":1}})");
}

TEST_F(ControlSocket, OneClientTooManyPutsOutTheLongestSilent) {
  open({.clients = 2});
  Client first = client();
  turn(2ms);
  Client second = client();
  turn(2ms);
  first.call(R"({"method":"org.lldplevel.Stats"})");
  EXPECT_EQ(first.hear(), R"({"parameters":{"stats":1}})");
  Client third = client();
  third.call(R"({"method":"org.lldplevel.Stats"})");
  EXPECT_EQ(third.hear(), R"({"parameters":{"stats":1}})");
  EXPECT_EQ(second.hear(), "(end)");
  first.call(R"({"method":"org.lldplevel.Stats"})");
  EXPECT_EQ(first.hear(), R"({"parameters":{"stats":1}})");
}

TEST_F(ControlSocket, StreamsAreNotPutOutForAnother) {
  open({.clients = 1});
  Client watcher = client();
  watcher.call(R"({"method":"org.lldplevel.Watch","more":true})");
  watcher.hear();
  Client late = client();
  EXPECT_EQ(late.hear(), R"({"error":"org.lldplevel.TooManyClients","parameters":{}})");
  EXPECT_EQ(late.hear(), "(end)");
}

constexpr const char* kNotRoot = "only root can connect as another user";
constexpr gid_t kGroup = 54321;
constexpr uid_t kUser = 54322;
constexpr uid_t kOther = 54323;
constexpr const char* kStats = R"({"method":"org.lldplevel.Stats"})";
constexpr const char* kStatsAnswer = R"({"parameters":{"stats":1}})";
constexpr const char* kWatch = R"({"method":"org.lldplevel.Watch","more":true})";
constexpr const char* kRefused = R"({"error":"org.lldplevel.TooManyClients","parameters":{}})";

TEST_F(ControlSocket, GroupMayLookAndNotChange) {
  if (!open_to(kGroup)) GTEST_SKIP() << kNotRoot;
  Client member = client_of(kUser, kGroup);
  member.call(kStats);
  EXPECT_EQ(member.hear(), kStatsAnswer);
  member.call(R"({"method":"org.lldplevel.Reload"})");
  EXPECT_EQ(member.hear(), R"({"error":"org.lldplevel.NotAllowed","parameters":)"
                           R"({"who":"only root and the daemon's own user may do this"}})");
  for (const char* call :
       {R"({"method":"org.lldplevel.Forget"})", R"({"method":"org.lldplevel.Update"})",
        R"({"method":"org.lldplevel.Pause"})", R"({"method":"org.lldplevel.Resume"})",
        R"({"method":"org.lldplevel.Set","parameters":{"key":"level","value":"1"}})"}) {
    member.call(call);
    EXPECT_THAT(member.hear(), HasSubstr("org.lldplevel.NotAllowed")) << call;
  }
  EXPECT_THAT(handler.commands, testing::IsEmpty());
  EXPECT_EQ(handler.reloads, 0);
  EXPECT_FALSE(client_of(kUser, kUser).connected()) << "who is no member";
}

TEST_F(ControlSocket, UserWithTooManyClientsPutsOutHisOwn) {
  if (!open_to(kGroup, {.clients_per_user = 2})) GTEST_SKIP() << kNotRoot;
  Client other = client_of(kOther, kGroup);  // the longest silent of all
  turn(2ms);
  Client first = client_of(kUser, kGroup);
  turn(2ms);
  Client second = client_of(kUser, kGroup);
  turn(2ms);
  Client third = client_of(kUser, kGroup);
  third.call(kStats);
  EXPECT_EQ(third.hear(), kStatsAnswer);
  EXPECT_EQ(first.hear(), "(end)");
  for (Client* c : {&other, &second}) {
    c->call(kStats);
    EXPECT_EQ(c->hear(), kStatsAnswer);
  }
}

TEST_F(ControlSocket, UserWithTooManyStreamsIsRefusedAndOthersAreNot) {
  if (!open_to(kGroup, {.clients_per_user = 1})) GTEST_SKIP() << kNotRoot;
  Client watcher = client_of(kUser, kGroup);
  watcher.call(kWatch);
  watcher.hear();
  Client again = client_of(kUser, kGroup);
  EXPECT_EQ(again.hear(), kRefused);
  Client other = client_of(kOther, kGroup);
  Client root = client();
  Client roots_second = client();
  for (Client* c : {&other, &root, &roots_second}) {
    c->call(kStats);
    EXPECT_EQ(c->hear(), kStatsAnswer);
  }
}

TEST_F(ControlSocket, RootFindsRoomWhereOthersWatch) {
  if (!open_to(kGroup, {.clients = 2})) GTEST_SKIP() << kNotRoot;
  Client first = client_of(kUser, kGroup);
  first.call(kWatch);
  first.hear();
  Client second = client_of(kOther, kGroup);
  second.call(kWatch);
  second.hear();
  Client refused = client_of(kUser, kGroup);
  EXPECT_EQ(refused.hear(), kRefused);
  Client root = client();
  root.call(kWatch);
  EXPECT_THAT(root.hear(), HasSubstr("continues"));
  EXPECT_EQ(first.hear(), "(end)");
  server->notify_changed();
  EXPECT_THAT(second.hear(), HasSubstr("continues"));
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
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (dir / "control").copy(address.sun_path, sizeof address.sun_path - 1);
    const UniqueFd dead(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ASSERT_FALSE(client().connected());
  open();
  EXPECT_TRUE(client().connected());
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
            (dir / "control") + ": is there and is no socket: remove it, or use another --socket");
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
            (dir / "a/b/control.lock") + ": cannot be opened: No such file or directory");
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

}  // namespace
}  // namespace lldp::io
