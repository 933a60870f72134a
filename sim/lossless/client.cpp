// SPDX-License-Identifier: Apache-2.0
#include "sim/lossless/client.hpp"

#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <variant>

#include "lab/live/ending.hpp"
#include "os/unix_address.hpp"

namespace lldp::lab::lossless {
namespace {

namespace soft = dataplane::soft;

constexpr timeval kPatience{.tv_sec = 3, .tv_usec = 0};
constexpr std::chrono::milliseconds kPause{10};

}  // namespace

Result<SwitchClient> SwitchClient::open(const std::string& path,
                                        std::chrono::steady_clock::time_point deadline) {
  const auto there = unix_address(path);
  if (!there) return fail(Error{ENAMETOOLONG, path, "is too long for a socket"});
  SwitchClient client;
  client.path_ = path;
  for (;;) {
    client.socket_ = UniqueFd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!client.socket_) break;
    if (connect(client.socket_.get(), there->get(), there->size) == 0) {
      for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO})
        setsockopt(client.socket_.get(), SOL_SOCKET, option, &kPatience, sizeof kPatience);
      return client;
    }
    // Nothing tells when a socket comes to be but the socket.
    if (std::chrono::steady_clock::now() >= deadline || live::is_ending()) break;
    std::this_thread::sleep_for(kPause);
  }
  const int code = errno;
  return fail(Error{code, path, std::string("the switch is not there: ") + std::strerror(code)});
}

Error SwitchClient::silence(int code) const {
  return Error{code, path_, "the switch does not answer"};
}

Result<soft::View> SwitchClient::read() const {
  if (auto ok = ask(); !ok) return fail(ok.error());
  return answer();
}

Result<void> SwitchClient::ask() const {
  const std::string request = soft::format(soft::Request(soft::Read{}));
  if (send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0)
    return fail(silence(errno));
  return {};
}

Result<soft::View> SwitchClient::answer() const {
  std::string text(soft::kMaxMessage, '\0');
  const ssize_t size = recv(socket_.get(), text.data(), text.size(), 0);
  if (size <= 0) return fail(silence(errno));
  auto answer = soft::parse_answer({text.data(), static_cast<std::size_t>(size)});
  if (!answer) return fail(answer.error());
  if (auto* view = std::get_if<soft::View>(&*answer)) return std::move(*view);
  return fail(Error{0, path_, "the switch answers something else"});
}

}  // namespace lldp::lab::lossless
