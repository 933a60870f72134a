// SPDX-License-Identifier: Apache-2.0
#include "agent/io/control.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <boost/asio/io_context.hpp>
#include <fstream>
#include <functional>
#include <optional>

#include "agent/io/unique_fd.hpp"
#include "tests/io/temp_dir.hpp"

namespace lldp::io {
namespace {

using namespace std::chrono_literals;

/// Answers with what was asked, and counts.
class FakeHandler : public ControlHandler {
 public:
  std::string show_json(std::span<const std::string> ports) override {
    std::string out = R"({"n":)" + std::to_string(++shows);
    for (const std::string& p : ports) out += ",\"" + p + "\":1";
    return out + padding + "}";
  }
  std::string stats_json(std::span<const std::string>) override { return R"({"stats":1})"; }
  std::string rules_json() override { return R"({"rules":{}})"; }
  Result<void> reload() override {
    ++reloads;
    if (refuse) return fail(Error{.where = "f:1: level", .what = "out of range"});
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

  /// Turns the loop until `done` holds; false after a second.
  bool turn_until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + 1s;
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
    /// The next message; "(end)" when the server hung up, "(silence)" after a second.
    std::string hear() {
      test_.turn_until([&] { return received_.find('\0') != received_.npos || take() == 0; });
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

  TempDir dir;
  boost::asio::io_context loop;
  FakeHandler handler;
  std::unique_ptr<ControlServer> server;
};

TEST_F(ControlSocket, AnswersShow) {
  open();
  Client c = client();
  c.call(R"({"method":"org.lldplevel.Show"})");
  EXPECT_EQ(c.hear(), R"({"parameters":{"n":1}})");
  c.call(R"({"method":"org.lldplevel.Show","parameters":{"ports":["swp*"]}})");
  EXPECT_EQ(c.hear(), R"({"parameters":{"n":2,"swp*":1}})");
}

}  // namespace
}  // namespace lldp::io
