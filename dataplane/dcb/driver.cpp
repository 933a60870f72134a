// SPDX-License-Identifier: Apache-2.0
#include "dataplane/dcb/driver.hpp"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>

#include "os/fd.hpp"

namespace lldp::dataplane::dcb {
namespace {

Error refused(const std::string& port, int code) {
  std::string what = code == ENODEV ? "the port has vanished" : std::strerror(code);
  if (code == EPERM) what += ": run with CAP_NET_ADMIN, or leave dcb out of `backend`";
  return {code, port, std::move(what)};
}

class Kernel : public Driver {
 public:
  explicit Kernel(UniqueFd socket) : socket_(std::move(socket)) {}

  Result<dcbnl::Settings> get(const std::string& port) override {
    std::optional<dcbnl::Settings> found;
    const int code = ask(dcbnl::get_request(port, ++sequence_), [&](ByteSpan message) {
      found = dcbnl::parse(message);
      return found ? std::optional(0) : dcbnl::parse_outcome(message);
    });
    if (code != 0) return fail(refused(port, code));
    return std::move(*found);
  }
  Result<void> set_pfc(const std::string& port, std::uint8_t enabled) override {
    return change(port, dcbnl::set_request(port, ++sequence_, enabled, {}));
  }
  Result<void> add(const std::string& port, std::span<const dcbnl::App> apps) override {
    return change(port, dcbnl::set_request(port, ++sequence_, std::nullopt, apps));
  }
  Result<void> remove(const std::string& port, std::span<const dcbnl::App> apps) override {
    return change(port, dcbnl::delete_request(port, ++sequence_, apps));
  }

 private:
  Result<void> change(const std::string& port, const Bytes& request) {
    if (const int code = ask(request, dcbnl::parse_outcome); code != 0)
      return fail(refused(port, code));
    return {};
  }
  /// The errno by which it ends. The kernel has answered when send() returns; `read` tells what an
  /// answer means, or nothing of what is none.
  int ask(const Bytes& request, const std::function<std::optional<int>(ByteSpan)>& read) {
    if (::send(socket_.get(), request.data(), request.size(), 0) < 0) return errno;
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

  UniqueFd socket_;
  std::uint32_t sequence_ = 0;
  alignas(nlmsghdr) std::array<std::uint8_t, 32768> buffer_{};
};

}  // namespace

Result<std::unique_ptr<Driver>> open_driver() {
  UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!fd) return fail(Error{errno, "dcbnl", std::strerror(errno)});
  return std::make_unique<Kernel>(std::move(fd));
}

}  // namespace lldp::dataplane::dcb
