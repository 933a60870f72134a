// SPDX-License-Identifier: Apache-2.0
#include "agent/process/service.hpp"

#include <fmt/core.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <ctime>

#include "os/fd.hpp"
#include "os/unix_address.hpp"

namespace lldp::io {

Service::Service() {
  if (const char* path = std::getenv("NOTIFY_SOCKET")) socket_ = path;
  const char* usec = std::getenv("WATCHDOG_USEC");
  const char* pid = std::getenv("WATCHDOG_PID");
  if (usec && (!pid || std::strtol(pid, nullptr, 10) == ::getpid())) {
    if (const auto allowed = std::strtoll(usec, nullptr, 10); allowed > 1)
      watchdog_ = std::chrono::microseconds(allowed / 2);
  }
}

void Service::reloading() const {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  notify(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", t.tv_sec * 1'000'000 + t.tv_nsec / 1000));
}

void Service::notify(std::string_view state, bool patient) const {
  std::string name = socket_;
  if (name.starts_with('@')) name.front() = '\0';  // sd_notify(3): no file
  const auto address = unix_address(name);
  if (!address) return;
  const UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd) return;
  // A manager that hangs, or is being replaced, holds nobody up for longer than this; what is said
  // again and again does not wait for it at all.
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  ::sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL | (patient ? 0 : MSG_DONTWAIT),
           address->get(), address->size);
}

}  // namespace lldp::io
