// SPDX-License-Identifier: Apache-2.0
// Clients that hang, speak nonsense, leave, or are too many: the others are served.
#include <gmock/gmock.h>

#include "tests/control/control_fixture.hpp"
#include "tests/support/no_descriptors.hpp"

namespace lldp::io {
namespace {

using testing::HasSubstr;

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

TEST_F(ControlSocket, WhoComesWhileThereAreNoDescriptorsIsServedLater) {
  open();
  Client c = client();
  {
    const support::NoDescriptors none;
    c.call(R"({"method":"org.lldplevel.Stats"})");
    turn(20ms);
  }
  EXPECT_EQ(c.hear(), R"({"parameters":{"stats":1}})");
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
        R"({"method":"org.lldplevel.AcceptPfc","parameters":{"port":"p1"}})",
        R"({"method":"org.lldplevel.RejectPfc","parameters":{"port":"p1"}})",
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

}  // namespace
}  // namespace lldp::io
