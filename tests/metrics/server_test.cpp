// SPDX-License-Identifier: Apache-2.0
// The exporter's server: clients that are slow, many or mistaken keep nobody from his answer.
#include "agent/metrics/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <functional>
#include <optional>

#include "tests/support/no_descriptors.hpp"

namespace lldp::metrics {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;
namespace asio = boost::asio;
using asio::ip::tcp;

class MetricsServer : public testing::Test {
 protected:
  void open(ServerLimits limits = {}) {
    {
      const tcp::acceptor probe(loop_, {asio::ip::address_v4::loopback(), 0});
      there_ = probe.local_endpoint();
    }
    auto opened = Server::open(
        loop_, "127.0.0.1:" + std::to_string(there_.port()),
        [this] { return "n " + std::to_string(++scrapes_) + padding_ + "\n"; }, limits);
    ASSERT_TRUE(opened) << to_string(opened.error());
    server_ = std::move(*opened);
  }
  bool turn_until(const std::function<bool()>& done, std::chrono::milliseconds time = 5s) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (!done()) {
      if (std::chrono::steady_clock::now() > end) return false;
      loop_.restart();
      loop_.run_for(1ms);
    }
    return true;
  }

  class Client {
   public:
    explicit Client(MetricsServer& test) : test_(test), socket_(test.loop_) {
      socket_.connect(test.there_);
      socket_.non_blocking(true);
    }
    void say(const std::string& text) {
      boost::system::error_code error;
      asio::write(socket_, asio::buffer(text), error);
    }
    /// What has come once the server has hung up; nullopt: it has not.
    std::optional<std::string> answer(std::chrono::milliseconds patience = 5s) {
      if (!test_.turn_until([&] { return ended(); }, patience)) return std::nullopt;
      return received_;
    }
    bool ended() {
      char octets[1 << 16];
      boost::system::error_code error;
      while (!error) received_.append(octets, socket_.read_some(asio::buffer(octets), error));
      return error != asio::error::would_block;
    }

   private:
    MetricsServer& test_;
    tcp::socket socket_;
    std::string received_;
  };
  static constexpr const char* kGet = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";

  asio::io_context loop_;
  tcp::endpoint there_;
  int scrapes_ = 0;
  std::string padding_;
  std::optional<Server> server_;
};

TEST_F(MetricsServer, AnswersOneQuestionAndHangsUp) {
  open();
  Client client(*this);
  client.say(kGet);
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_THAT(*answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(*answer, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_TRUE(answer->ends_with("\r\n\r\nn 1\n"));
}

TEST_F(MetricsServer, PutsOutWhoHasNotAskedInTimeHoweverItTrickles) {
  open({.patience = 50ms});
  Client silent(*this);
  Client trickling(*this);
  EXPECT_TRUE(turn_until([&] {
    trickling.say("G");
    return trickling.ended() && silent.ended();
  }));
  EXPECT_EQ(scrapes_, 0);
}

TEST_F(MetricsServer, PutsOutWhoDoesNotTakeHisAnswer) {
  open({.patience = 50ms});
  padding_ = std::string(16 << 20, 'x');  // more than the kernel holds for him
  Client lazy(*this);
  lazy.say(kGet);
  ASSERT_TRUE(turn_until([&] { return scrapes_ == 1; }));
  loop_.restart();
  loop_.run_for(200ms);
  const auto answer = lazy.answer();
  ASSERT_TRUE(answer) << "still served";
  EXPECT_LT(answer->size(), padding_.size());
}

TEST_F(MetricsServer, WhoHadToWaitForTheScrapeHasHisTimeToTakeIt) {
  open({.patience = 400ms, .pause = 600ms});
  padding_ = std::string(16 << 20, 'x');  // more than the kernel holds for him
  for (int i = 0; i < 2; ++i) {           // the second one waits
    Client client(*this);
    client.say(kGet);
    EXPECT_GT(client.answer().value_or("").size(), padding_.size());
  }
}

TEST_F(MetricsServer, OneTooManyPutsOutTheOldest) {
  open({.clients = 2});
  Client oldest(*this);
  Client other(*this);
  Client newest(*this);
  newest.say(kGet);
  EXPECT_THAT(newest.answer().value_or(""), HasSubstr("200 OK"));
  EXPECT_EQ(oldest.answer(), "");
  other.say(kGet);
  EXPECT_THAT(other.answer().value_or(""), HasSubstr("200 OK"));
}

TEST_F(MetricsServer, ManyWhoAskAtOnceGetOneScrape) {
  open({.pause = 100ms});
  Client first(*this);
  first.say(kGet);
  EXPECT_TRUE(first.answer());
  std::vector<std::unique_ptr<Client>> many;
  for (int i = 0; i < 20; ++i) {
    many.push_back(std::make_unique<Client>(*this));
    many.back()->say(kGet);
  }
  for (const auto& client : many) EXPECT_THAT(client->answer().value_or(""), HasSubstr("\nn 2\n"));
  EXPECT_EQ(scrapes_, 2);
}

TEST_F(MetricsServer, RefusesWhatIsNoQuestionForMetrics) {
  open();
  for (const auto& [request, answer] :
       {std::pair<std::string, std::string>{"POST /metrics HTTP/1.1\r\n\r\n", "405 Method"},
        {"GET /other HTTP/1.0\r\n\r\n", "404 Not Found"},
        {"GET /metrics?x=1 HTTP/1.0\r\n\r\n", "200 OK"}}) {
    Client client(*this);
    client.say(request);
    EXPECT_THAT(client.answer().value_or(""), HasSubstr(answer));
  }
  for (const std::string& request : {std::string("nonsense\r\n\r\n"),
                                     "GET /" + std::string(10'000, 'x') + " HTTP/1.1\r\n\r\n"}) {
    Client client(*this);
    client.say(request);
    EXPECT_EQ(client.answer(), "");
  }
  EXPECT_EQ(scrapes_, 1);
}

TEST_F(MetricsServer, WhoComesWhileThereAreNoDescriptorsIsServedLater) {
  open();
  Client client(*this);
  {
    const support::NoDescriptors none;
    client.say(kGet);
    EXPECT_EQ(client.answer(20ms), std::nullopt);
  }
  EXPECT_THAT(client.answer().value_or(""), StartsWith("HTTP/1.1 200 OK"));
}

TEST_F(MetricsServer, ReadsNoMoreOfAQuestionThanItsLimit) {
  open({.request_octets = 100});
  for (const std::size_t length : {10U, 100U}) {
    Client client(*this);
    client.say("GET /metrics HTTP/1.1\r\nHost: a\r\nX: " + std::string(length, 'x') + "\r\n\r\n");
    EXPECT_EQ(client.answer().value_or("none").starts_with("HTTP/1.1 200 OK"), length == 10);
  }
}

}  // namespace
}  // namespace lldp::metrics
