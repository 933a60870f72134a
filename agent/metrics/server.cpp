// SPDX-License-Identifier: Apache-2.0
#include "agent/metrics/server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_static_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/write.hpp>
#include <charconv>
#include <list>
#include <optional>
#include <vector>

namespace lldp::metrics {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

/// After a failed accept (no descriptors left): long enough not to spin.
constexpr std::chrono::milliseconds kAcceptPause{100};

using Text = std::shared_ptr<const std::string>;
Text text_of(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

}  // namespace

class Server::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(asio::io_context& loop, tcp::acceptor acceptor, Scrape scrape, const ServerLimits& limits)
      : scrape_(std::move(scrape)),
        limits_(limits),
        acceptor_(std::move(acceptor)),
        accept_again_(loop),
        next_(loop) {}

  void accept() {
    acceptor_.async_accept([self = shared_from_this()](error_code error, tcp::socket socket) {
      if (!error) {
        self->admit(std::move(socket));
        return self->accept();
      }
      self->accept_again_.expires_after(kAcceptPause);
      self->accept_again_.async_wait([self](error_code) { self->accept(); });
    });
  }

 private:
  /// One connection: one request, one answer, and the end.
  struct Client : std::enable_shared_from_this<Client> {
    Client(tcp::socket socket, Impl& its_owner) : owner(its_owner), stream(std::move(socket)) {
      parser.header_limit(static_cast<std::uint32_t>(owner.limits_.request_octets));
      parser.body_limit(0);
    }

    void read() {
      stream.expires_after(owner.limits_.patience);  // for all of it, however it comes
      http::async_read(stream, buffer, parser,
                       [self = shared_from_this()](error_code error, std::size_t) {
                         error ? self->owner.ended(*self) : self->serve();
                       });
    }
    void serve() {
      const auto& request = parser.get();
      const auto target = request.target().substr(0, request.target().find('?'));
      if (target != "/metrics") return answer(http::status::not_found, text_of("Not Found\n"));
      if (request.method() != http::verb::get && request.method() != http::verb::head)
        return answer(http::status::method_not_allowed, text_of("GET only\n"));
      owner.ask(shared_from_this());
    }
    void answer(http::status status, Text its_text) {
      text = std::move(its_text);
      auto& head = response.emplace();
      head.result(status);
      head.set(http::field::content_type, status == http::status::ok
                                              ? "text/plain; version=0.0.4; charset=utf-8"
                                              : "text/plain; charset=utf-8");
      if (status == http::status::method_not_allowed) head.set(http::field::allow, "GET, HEAD");
      head.keep_alive(false);
      head.content_length(text->size());
      if (parser.get().method() != http::verb::head) head.body() = {text->data(), text->size()};
      stream.expires_after(owner.limits_.patience);
      http::async_write(stream, *response, [self = shared_from_this()](error_code, std::size_t) {
        error_code ignored;
        self->stream.socket().shutdown(tcp::socket::shutdown_both, ignored);
        self->owner.ended(*self);
      });
    }

    Impl& owner;
    beast::tcp_stream stream;
    beast::flat_static_buffer<4096> buffer;
    http::request_parser<http::empty_body> parser;
    Text text;
    std::optional<http::response<http::span_body<const char>>> response;
  };

  void admit(tcp::socket socket) {
    if (clients_.size() >= limits_.clients) {
      const auto oldest = clients_.front();
      clients_.pop_front();
      oldest->stream.cancel();
      error_code ignored;
      oldest->stream.socket().close(ignored);
    }
    clients_.push_back(std::make_shared<Client>(std::move(socket), *this));
    clients_.back()->read();
  }

  void ended(const Client& client) {
    clients_.remove_if([&](const auto& c) { return c.get() == &client; });
  }

  void ask(std::shared_ptr<Client> client) {
    asking_.push_back(std::move(client));
    if (asking_.size() > 1) return;
    next_.expires_at(last_ + limits_.pause);
    next_.async_wait([self = shared_from_this()](error_code) { self->answer_all(); });
  }
  void answer_all() {
    const Text text = text_of(scrape_());
    last_ = std::chrono::steady_clock::now();
    for (const auto& client : std::exchange(asking_, {}))
      if (client->stream.socket().is_open()) client->answer(http::status::ok, text);
  }

  Scrape scrape_;
  const ServerLimits limits_;
  tcp::acceptor acceptor_;
  asio::steady_timer accept_again_;
  std::list<std::shared_ptr<Client>> clients_;  ///< in the order of connecting
  std::vector<std::shared_ptr<Client>> asking_;
  asio::steady_timer next_;
  std::chrono::steady_clock::time_point last_{};
};

Result<Server> Server::open(asio::io_context& loop, const std::string& address, Scrape scrape,
                            ServerLimits limits) {
  const std::size_t colon = address.rfind(':');
  const bool bracketed = address.front() == '[';
  error_code error;
  const auto host = asio::ip::make_address(
      bracketed ? address.substr(1, colon - 2) : address.substr(0, colon), error);
  std::uint16_t port = 0;
  std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
  if (error) return fail(Error{EINVAL, address, "is no address"});
  const tcp::endpoint there(host, port);
  tcp::acceptor acceptor(loop);
  acceptor.open(there.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && host.is_v6()) acceptor.set_option(asio::ip::v6_only(true), error);
  if (!error) acceptor.bind(there, error);
  if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
  if (error)
    return fail(Error{error.value(), address, "cannot be listened at: " + error.message()});
  auto impl = std::make_shared<Impl>(loop, std::move(acceptor), std::move(scrape), limits);
  impl->accept();
  return Server(std::move(impl));
}

}  // namespace lldp::metrics
