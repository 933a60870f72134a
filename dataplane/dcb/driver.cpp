// SPDX-License-Identifier: Apache-2.0
#include "dataplane/dcb/driver.hpp"

#include <net/if.h>

#include <array>
#include <cerrno>

#include "os/dcbnl_socket.hpp"

namespace lldp::dataplane::dcb {
namespace {

class Kernel : public Driver {
 public:
  explicit Kernel(dcbnl::Socket socket) : socket_(std::move(socket)) {}

  std::optional<std::string> name_of(Ifindex port) const override {
    std::array<char, IF_NAMESIZE> name{};
    if (::if_indextoname(port.value(), name.data()) == nullptr) return std::nullopt;
    return name.data();
  }
  Result<dcbnl::Settings> get(const std::string& port) override { return socket_.get(port); }
  Result<void> set_pfc(const std::string& port, std::uint8_t enabled) override {
    return explained(socket_.set_pfc(port, enabled));
  }
  Result<void> add(const std::string& port, std::span<const dcbnl::App> apps) override {
    return explained(socket_.add(port, apps));
  }
  Result<void> remove(const std::string& port, std::span<const dcbnl::App> apps) override {
    return explained(socket_.remove(port, apps));
  }

 private:
  static Result<void> explained(Result<void> done) {
    if (!done && done.error().code == EPERM)
      done.error().what += ": run with CAP_NET_ADMIN, or leave dcb out of `backend`";
    return done;
  }
  dcbnl::Socket socket_;
};

}  // namespace

Result<std::unique_ptr<Driver>> open_driver() {
  auto socket = dcbnl::Socket::open();
  if (!socket) return fail(socket.error());
  return std::make_unique<Kernel>(std::move(*socket));
}

}  // namespace lldp::dataplane::dcb
