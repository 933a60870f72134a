// SPDX-License-Identifier: Apache-2.0
// A control server whose loop the test turns, a handler that counts, and its clients.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agent/control/control.hpp"
#include "os/fd.hpp"
#include "os/unix_address.hpp"
#include "tests/control/commanded.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::io {

using namespace std::chrono_literals;

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
  Result<std::string, std::vector<Error>> reload_json() override {
    ++reloads;
    if (refuse)
      return fail(std::vector<Error>{{.where = "f:1: level", .what = "out of range"},
                                     {.what = "nothing is changed"}});
    return R"({"restart":["dry-run"]})";
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
      const auto address = unix_address(path);
      fd_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      connected_ = ::connect(fd_.get(), address->get(), address->size) == 0;
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

}  // namespace lldp::io
