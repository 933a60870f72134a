// SPDX-License-Identifier: Apache-2.0
// Whom the exporter and the subagent ask.
#include "agent/control/source.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "os/fd.hpp"
#include "os/unix_address.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::control {
namespace {

using namespace std::chrono_literals;
using Answers = std::array<std::string, 2>;

/// A daemon of one client, which thinks about each call and answers with the call's number.
class Daemon {
 public:
  Daemon(const std::string& path, std::chrono::milliseconds thinks) {
    const auto address = unix_address(path);
    listening_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(listening_.get(), address->get(), address->size), 0);
    EXPECT_EQ(::listen(listening_.get(), 4), 0);
    serving_ = std::thread([this, thinks] {
      const UniqueFd client(::accept(listening_.get(), nullptr, nullptr));
      char asked[1024];
      for (int n = 1; ::recv(client.get(), asked, sizeof asked, 0) > 0; ++n) {
        const std::string said = R"({"parameters":{"n":)" + std::to_string(n) + "}}";
        std::this_thread::sleep_for(thinks);
        ::send(client.get(), said.c_str(), said.size() + 1, MSG_NOSIGNAL);
      }
    });
  }
  ~Daemon() { serving_.join(); }

 private:
  UniqueFd listening_{};
  std::thread serving_{};
};

TEST(DaemonSource, HasTheAnswersInTheOrderOfTheQuestions) {
  const TempDir dir;
  DaemonSource source(dir / "control");
  EXPECT_FALSE(source.given());
  const Daemon daemon(dir / "control", 0ms);
  const auto said = source.ask({"m.One", "m.Two"}, 5s);
  ASSERT_TRUE(said) << to_string(said.error());
  EXPECT_EQ(*said, (Answers{R"({"n":1})", R"({"n":2})"}));
}

TEST(DaemonSource, OneTimeIsForAllOfTheQuestions) {
  const TempDir dir;
  DaemonSource source(dir / "control");
  const Daemon daemon(dir / "control", 30ms);
  const auto said = source.ask({"m.One", "m.Two"}, 50ms);
  ASSERT_FALSE(said) << "each of them alone would have its answer in time";
  EXPECT_EQ(said.error().code, ETIMEDOUT);
}

TEST(DaemonSource, SaysOnceWhatIsWrong) {
  const TempDir dir;
  DaemonSource source(dir / "control");
  const auto asked = source.ask({"m.One"}, 5s);
  ASSERT_FALSE(asked);
  EXPECT_EQ(source.news(asked), to_string(asked.error()));
  EXPECT_EQ(source.news(asked), std::nullopt);
  const Result<int> another = fail(Error{.what = "another"});
  EXPECT_EQ(source.news(another), "another");
  EXPECT_EQ(source.news(Result<int>(1)), std::nullopt);
  EXPECT_EQ(source.news(another), "another") << "it was well in between";
}

}  // namespace
}  // namespace lldp::control
