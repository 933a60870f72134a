// SPDX-License-Identifier: Apache-2.0
#include "os/dcbnl_socket.hpp"

#include <linux/netlink.h>
#include <netlink/msg.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace lldp::dcbnl {
namespace {

Error refused(const std::string& name, int code) {
  return {code, name, code == ENODEV ? "the port has vanished" : std::strerror(code)};
}

}  // namespace

Result<Socket> Socket::open() {
  UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!fd) return fail(Error{errno, "dcbnl", std::strerror(errno)});
  return Socket(std::move(fd));
}

int Socket::ask(const Bytes& request, const std::function<std::optional<int>(ByteSpan)>& read) {
  if (::send(socket_.get(), request.data(), request.size(), 0) < 0) return errno;
  // The kernel has answered when send() returns: what is not there now does not come.
  for (;;) {
    const ssize_t size = ::recv(socket_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno == EAGAIN ? EPROTO : errno;
    int left = static_cast<int>(size);
    for (auto* h = reinterpret_cast<nlmsghdr*>(buffer_.data()); nlmsg_ok(h, left);
         h = nlmsg_next(h, &left)) {
      if (h->nlmsg_seq != sequence_) continue;  // of a question that was given up
      if (const auto code = read({reinterpret_cast<const std::uint8_t*>(h), h->nlmsg_len}))
        return *code;
    }
  }
}

Result<Settings> Socket::get(const std::string& name) {
  std::optional<Settings> found;
  const int code = ask(get_request(name, ++sequence_), [&](ByteSpan message) {
    found = parse(message);
    return found ? std::optional(0) : parse_outcome(message);
  });
  if (code == 0 && !found) return fail(refused(name, EPROTO));
  if (code != 0) return fail(refused(name, code));
  return std::move(*found);
}

Result<void> Socket::change(const std::string& name, const Bytes& request) {
  if (const int code = ask(request, parse_outcome); code != 0) return fail(refused(name, code));
  return {};
}

Result<void> Socket::set_pfc(const std::string& name, std::uint8_t enabled) {
  return change(name, set_request(name, ++sequence_, enabled, {}));
}

Result<void> Socket::add(const std::string& name, std::span<const App> apps) {
  return change(name, set_request(name, ++sequence_, std::nullopt, apps));
}

Result<void> Socket::remove(const std::string& name, std::span<const App> apps) {
  return change(name, delete_request(name, ++sequence_, apps));
}

}  // namespace lldp::dcbnl
