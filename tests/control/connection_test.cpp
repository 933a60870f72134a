// SPDX-License-Identifier: Apache-2.0
// The side of whoever asks the daemon.
#include "agent/control/connection.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "os/fd.hpp"
#include "os/unix_address.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::control {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

UniqueFd listen_at(const std::string& path) {
  const auto address = unix_address(path);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::bind(fd.get(), address->get(), address->size), 0);
  EXPECT_EQ(::listen(fd.get(), 4), 0);
  return fd;
}

/// A connection and the daemon's end of it.
struct Ends {
  Ends() {
    int fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    daemon = UniqueFd(fds[0]);
    client.emplace(Connection::adopt(fds[1], "d"));
  }
  void say(std::string_view text) const {
    EXPECT_EQ(::send(daemon.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  [[nodiscard]] std::string next() {
    const auto reply = client->next(steady_clock::now() + 60s);
    return reply ? *reply : to_string(reply.error());
  }
  [[nodiscard]] std::string asked() const {
    char buffer[4096];
    const ssize_t n = ::recv(daemon.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    return n < 0 ? "(nothing)" : std::string(buffer, static_cast<std::size_t>(n));
  }
  UniqueFd daemon{};
  std::optional<Connection> client{};
};

TEST(Connection, AnAnswerThatComesTooLateIsNotTheNextOnes) {
  Ends ends;
  const auto call = [&](const char* method, bool more = false) {
    const auto asked = ends.client->call(method, "{}", more, steady_clock::now());
    return asked ? 0 : asked.error().code;
  };
  const std::string end(1, '\0');
  EXPECT_EQ(call("m.One", true), 0);
  EXPECT_EQ(ends.client->next(steady_clock::now()).error().code, ETIMEDOUT);
  EXPECT_THAT(ends.asked(), testing::HasSubstr("m.One"));
  EXPECT_EQ(call("m.Two"), ETIMEDOUT);
  EXPECT_EQ(ends.asked(), "(nothing)") << "who does not answer is not asked more and more";
  ends.say(R"({"parameters":{"a":1},"continues":true})" + end + R"({"parameters":{"a":2})");
  EXPECT_EQ(call("m.Two"), ETIMEDOUT);
  ends.say("}");
  EXPECT_TRUE(ends.client->stays());
  pollfd ready{ends.client->fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&ready, 1, 0), 0) << "what is here is read, and nobody told of it again";
  ends.say(end);
  EXPECT_EQ(call("m.Two"), 0);
  ends.say(R"({"parameters":{"b":1}})" + end);
  EXPECT_EQ(ends.next(), R"({"b":1})");
  EXPECT_TRUE(ends.client->stays());
  ends.daemon = UniqueFd();
  EXPECT_FALSE(ends.client->stays());
}

TEST(Connection, WhatNobodyAskedForIsAnEnd) {
  Ends ends;
  EXPECT_TRUE(ends.client->stays());
  ASSERT_TRUE(ends.client->call("m.One", "{}"));
  EXPECT_EQ(ends.client->next(steady_clock::now()).error().code, ETIMEDOUT);
  std::atomic<bool> said = false;
  std::thread daemon([&] {
    ends.say(std::string(1 << 20, ' ') + '\0');
    said = true;
  });
  pollfd ready{ends.client->fd(), POLLIN, 0};
  for (bool more = true; more || !said;) {
    more = ::poll(&ready, 1, 1) == 1;
    EXPECT_TRUE(!more || ends.client->stays()) << "it is late, and long";
  }
  daemon.join();
  ends.say("{}");
  EXPECT_FALSE(ends.client->stays()) << "poll(2) would tell of it for ever";
}

TEST(Connection, WhoHangsLetsNobodyInAfterAWhile) {
  const TempDir dir;
  const std::string path = dir / "control";
  const UniqueFd hung = listen_at(path);
  std::vector<Connection> waiting;
  std::optional<Error> refused;
  while (!refused && waiting.size() < 100) {
    auto next = Connection::open(path, 20ms);
    if (next)
      waiting.push_back(std::move(*next));
    else
      refused = next.error();
  }
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, ETIMEDOUT);
  EXPECT_EQ(to_string(*refused), path + ": the daemon does not answer: see its log");
}

TEST(Connection, WhoNeverEndsDoesNotAnswer) {
  Ends ends;
  std::thread flood([&] {
    const std::string much(65536, 'x');
    while (::send(ends.daemon.get(), much.data(), much.size(), MSG_NOSIGNAL) > 0) continue;
  });
  EXPECT_EQ(ends.client->next(steady_clock::now() + 20ms).error().code, ETIMEDOUT);
  EXPECT_EQ(ends.client->next(steady_clock::now() + 60s).error().code, EPROTO) << "nor for ever";
  ends.client.reset();
  flood.join();
}

struct ReplyCase {
  const char* name = "";
  const char* reply = "";
  const char* taken = "";  ///< its parameters, or the error
  friend void PrintTo(const ReplyCase& c, std::ostream* os) { *os << c.name; }
};
class ConnectionReply : public testing::TestWithParam<ReplyCase> {};
TEST_P(ConnectionReply, IsTakenApart) {
  Ends ends;
  ends.say(std::string(GetParam().reply) + '\0');
  EXPECT_EQ(ends.next(), GetParam().taken);
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
TEST(Connection, TakesNoReplyThatIsNestedWithoutEnd) {
  const std::string lists = std::string(200'000, '[') + std::string(200'000, ']');
  for (const char* begin : {R"({"parameters":{"ports":)", R"({ "parameters":{"ports":)",
                            R"({"error":"org.lldplevel.Refused","parameters":{"reason":)"}) {
    Ends ends;
    std::thread daemon([&] { ends.say(begin + lists + "}}" + '\0'); });
    EXPECT_EQ(ends.next(), kNoVarlink) << begin;
    daemon.join();
  }
}

INSTANTIATE_TEST_SUITE_P(Replies, ConnectionReply, testing::ValuesIn(kReplies),
                         [](const auto& c) { return c.param.name; });

TEST(Connection, AsksAsVarlinkHasIt) {
  Ends ends;
  ASSERT_TRUE(ends.client->call("org.lldplevel.Show", ports_parameter({})));
  EXPECT_EQ(ends.asked(), std::string(R"({"method":"org.lldplevel.Show","parameters":{}})") + '\0');
  const std::vector<std::string> ports{"swp*", "a\"b", "\xff"};
  ASSERT_TRUE(ends.client->call("org.lldplevel.Watch", ports_parameter(ports), true));
  EXPECT_EQ(ends.asked(),
            std::string("{\"method\":\"org.lldplevel.Watch\",\"parameters\":{\"ports\":[\"swp*\","
                        "\"a\\\"b\",\"\xef\xbf\xbd\"]},\"more\":true}") +
                '\0');
}

TEST(Connection, TakesRepliesOneByOneHoweverTheyCome) {
  const std::string plain = std::string(R"({"parameters":{"n":1},"continues":true})") + '\0';
  const std::string blanks = std::string(R"({ "parameters": {"n":2}})") + '\0';
  {
    Ends ends;
    ends.say(plain + blanks + plain);
    EXPECT_EQ(ends.next(), R"({"n":1})");
    EXPECT_TRUE(ends.client->has_next());
    EXPECT_EQ(ends.next(), R"({"n":2})");
    EXPECT_EQ(ends.next(), R"({"n":1})");
    EXPECT_FALSE(ends.client->has_next());
  }
  Ends ends;
  std::thread daemon([&] {
    for (const char c : plain + blanks) ends.say({&c, 1});
  });
  EXPECT_EQ(ends.next(), R"({"n":1})");
  EXPECT_EQ(ends.next(), R"({"n":2})");
  daemon.join();
}

TEST(Connection, TakesALongReply) {
  Ends ends;
  const std::string parameters = R"({"p":")" + std::string(3 << 20, 'x') + "\"}";
  std::thread daemon([&] { ends.say(R"({"parameters":)" + parameters + "}" + '\0'); });
  EXPECT_EQ(ends.next(), parameters);
  daemon.join();
}

TEST(Connection, SaysWhyNothingCame) {
  Ends ends;
  const auto late = ends.client->next(steady_clock::now() - 1s);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ETIMEDOUT);
  EXPECT_EQ(to_string(late.error()), "d: the daemon does not answer: see its log");
  ends.say("{\"param");
  ends.daemon = UniqueFd();
  const auto gone = ends.client->next();
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ECONNRESET);
  EXPECT_EQ(to_string(gone.error()), "d: the daemon hung up: see its log");
  const auto unasked = ends.client->call("org.lldplevel.Show", "{}");
  ASSERT_FALSE(unasked);
  EXPECT_EQ(unasked.error().code, EPIPE);
  EXPECT_EQ(to_string(unasked.error()), "d: cannot ask the daemon: Broken pipe");
}

struct ErrorCase {
  const char* name = "";
  const char* reply = "";
  const char* text = "";
  friend void PrintTo(const ErrorCase& c, std::ostream* os) { *os << c.name; }
};
class ErrorReply : public testing::TestWithParam<ErrorCase> {};
TEST_P(ErrorReply, IsToldToAPerson) {
  Ends ends;
  ends.say(GetParam().reply + std::string(1, '\0'));
  EXPECT_EQ(ends.next(), GetParam().text);
}
const ErrorCase kErrors[] = {
    {"ReloadFailed",
     R"({"error":"org.lldplevel.ReloadFailed","parameters":{"reason":"f:1: level: bad"}})",
     "f:1: level: bad"},
    {"ForgetFailed", R"({"error":"org.lldplevel.ForgetFailed","parameters":{"reason":"pinned"}})",
     "pinned"},
    {"NotAllowed", R"({"error":"org.lldplevel.NotAllowed","parameters":{"who":"only root"}})",
     "d: only root"},
    {"TooManyClients", R"({"error":"org.lldplevel.TooManyClients","parameters":{}})",
     "d: the daemon has too many clients: end some, or ask as root"},
    {"UnknownMethod",
     R"({"error":"org.varlink.service.MethodNotFound","parameters":{"method":"a.B"}})",
     "d: the daemon does not know the method a.B: is it of another version?"},
    {"UnknownInterface",
     R"({"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"a"}})",
     "d: the daemon does not know the interface a: is it of another version?"},
    {"WrongParameter",
     R"({"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"p"}})",
     "d: the daemon does not know the parameter p: is it of another version?"},
    {"Another", R"({"error":"org.lldplevel.Odd"})", "d: the daemon refuses: org.lldplevel.Odd"},
    {"AnotherWithParameters", R"({"error":"a.Odd","parameters":{"x":1}})",
     "d: the daemon refuses: a.Odd"},
    {"NoText", R"({"error":7})", "d: the daemon refuses: 7"},
    {"ReasonNoText", R"({"error":"org.lldplevel.Refused","parameters":{"reason":[1]}})", "[1]"},
};
INSTANTIATE_TEST_SUITE_P(Errors, ErrorReply, testing::ValuesIn(kErrors),
                         [](const auto& c) { return c.param.name; });

TEST(Connection, SaysThatADaemonRunsWhoseSocketIsGone) {
  const TempDir dir;
  const std::string path = dir / "control";
  const int lock = ::open(lock_name(path).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  const auto lost = Connection::open(path);
  ASSERT_FALSE(lost);
  EXPECT_EQ(to_string(lost.error()),
            path +
                ": the socket's file was removed while lldp-leveld runs: the daemon makes its "
                "socket again within a minute, and at once after kill -HUP");
  EXPECT_TRUE(is_no_daemon(lost.error()));
  ::close(lock);
}

TEST(Connection, SaysWhatToDoWhereNobodyListens) {
  const TempDir dir;
  const std::string path = dir / "control";
  const std::string start =
      path + ": no lldp-leveld answers here: start it, or name its socket with --socket";
  const auto none = Connection::open(path);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ENOENT);
  EXPECT_EQ(to_string(none.error()), start);
  EXPECT_TRUE(is_no_daemon(none.error()));
  std::ignore = listen_at(path);  // it is dead
  const auto dead = Connection::open(path);
  ASSERT_FALSE(dead);
  EXPECT_EQ(dead.error().code, ECONNREFUSED);
  EXPECT_EQ(to_string(dead.error()), start);
  EXPECT_TRUE(is_no_daemon(dead.error()));
  const std::string nowhere = dir / "none/control";
  EXPECT_EQ(to_string(Connection::open(nowhere).error()),
            nowhere +
                ": no lldp-leveld answers here, and the directory of its socket is missing: start "
                "it, or name its socket with --socket; if it runs, its log has why its socket is "
                "not there");
  const std::string file = dir / "file";
  std::ofstream(file) << "precious";
  EXPECT_EQ(to_string(Connection::open(file).error()),
            file +
                ": a file has the place of the socket of lldp-leveld: remove it, or name the "
                "socket with --socket");
  const auto below = Connection::open(path + "/control");
  ASSERT_FALSE(below);
  EXPECT_EQ(to_string(below.error()), path + "/control: cannot connect: Not a directory");
  EXPECT_FALSE(is_no_daemon(below.error()));
  const std::string endless = "/" + std::string(200, 'x');
  EXPECT_EQ(to_string(Connection::open(endless).error()),
            endless + ": too long for a socket: check --socket");
  EXPECT_EQ(to_string(Connection::open("").error()),
            "the name of the socket is empty: check --socket");
}

TEST(Connection, WhoMayNotEnterIsToldWhoMay) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  const TempDir dir;
  ASSERT_EQ(::chmod(dir.path().c_str(), 0755), 0);
  const std::string path = dir / "control";
  const UniqueFd listening = listen_at(path);
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  ASSERT_EQ(::seteuid(65534), 0);
  const auto opened = Connection::open(path);
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_FALSE(opened);
  EXPECT_EQ(to_string(opened.error()),
            path +
                ": cannot connect: Permission denied: run as root, or as a member of the "
                "socket's group");
}

TEST(Connection, LeavesNoDescriptorBehind) {
  const TempDir dir;
  const std::string path = dir / "control";
  const UniqueFd before(::dup(STDERR_FILENO));
  const int lowest = before.get() + 1;
  {
    const UniqueFd listening = listen_at(path);
    auto first = Connection::open(path);
    ASSERT_TRUE(first);
    const Connection moved(std::move(*first));
    EXPECT_GE(moved.fd(), lowest);
    EXPECT_FALSE(Connection::open(dir / "none"));
    EXPECT_TRUE(open_when_there(path, std::nullopt));
  }
  EXPECT_FALSE(open_when_there(path, steady_clock::now()));
  const UniqueFd after(::dup(STDERR_FILENO));
  EXPECT_EQ(after.get(), lowest);
}

TEST(PollTime, IsRoundedUpAndBounded) {
  EXPECT_LT(poll_time(std::nullopt), 0);
  EXPECT_EQ(poll_time(steady_clock::now() - 1h), 0);
  const int soon = poll_time(steady_clock::now() + 10s);
  EXPECT_GT(soon, 5'000);
  EXPECT_LE(soon, 10'000);
  EXPECT_EQ(poll_time(steady_clock::now() + 1ms), 1) << "rounded down it would spin";
  EXPECT_EQ(poll_time(steady_clock::now() + 24h), 1'000'000);
}

TEST(OpenWhenThere, WaitsForTheSocketAndItsDirectories) {
  const TempDir dir;
  const std::string directory = dir / "run";
  const std::string path = directory + "/lldp/control";
  std::thread daemon([&] {
    EXPECT_EQ(::mkdir(directory.c_str(), 0755), 0);
    EXPECT_EQ(::mkdir((directory + "/lldp").c_str(), 0755), 0);
    const UniqueFd listening = listen_at(path + ".new");
    EXPECT_EQ(::rename((path + ".new").c_str(), path.c_str()), 0);
    EXPECT_TRUE(UniqueFd(::accept(listening.get(), nullptr, nullptr)));
  });
  const auto opened = open_when_there(path, steady_clock::now() + 60s);
  EXPECT_TRUE(opened) << to_string(opened.error());
  daemon.join();
}

/// As many as the kernel lets in while nobody accepts them.
std::vector<Connection> fill_queue(const std::string& path) {
  std::vector<Connection> waiting;
  while (auto another = Connection::open(path, 20ms)) waiting.push_back(std::move(*another));
  return waiting;
}

TEST(OpenWhenThere, WaitsForNobodyWhoHangsLongerThanItMay) {
  const TempDir dir;
  const std::string path = dir / "control";
  const UniqueFd hung = listen_at(path);
  const std::vector<Connection> waiting = fill_queue(path);
  const auto refused = open_when_there(path, steady_clock::now() + 100ms);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ETIMEDOUT);
}

TEST(OpenWhenThere, WaitsForWhoIsBusyAsLongAsIsSaid) {
  const TempDir dir;
  const std::string path = dir / "control";
  const UniqueFd busy = listen_at(path);
  const std::vector<Connection> waiting = fill_queue(path);
  std::thread daemon([&] {
    std::this_thread::sleep_for(50ms);
    EXPECT_TRUE(UniqueFd(::accept(busy.get(), nullptr, nullptr)));
  });
  EXPECT_TRUE(open_when_there(path, steady_clock::now(), kPatience));
  daemon.join();
}

TEST(OpenWhenThere, GivesUpInTimeAndWhereWaitingIsOfNoUse) {
  const TempDir dir;
  const auto late = open_when_there(dir / "control", steady_clock::now() + 20ms);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ENOENT);
  const std::string path = "/" + std::string(200, 'x');
  EXPECT_EQ(open_when_there(path, std::nullopt).error().code, ENAMETOOLONG);
}

}  // namespace
}  // namespace lldp::control
