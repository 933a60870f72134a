// SPDX-License-Identifier: Apache-2.0
#include "agent/process/service.hpp"

#include <fmt/core.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

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

void Service::reloading() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  owed_.clear();  // that it was ready before
  owe(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", t.tv_sec * 1'000'000 + t.tv_nsec / 1000));
}

void Service::stopping() {
  owed_.clear();
  owe("STOPPING=1");
}

void Service::owe(std::string state) {
  owed_.push_back(std::move(state));
  retry();
}

void Service::retry() {
  while (!owed_.empty() && send(owed_.front())) owed_.pop_front();
}

bool Service::send(std::string_view state) const {
  std::string name = socket_;
  if (name.starts_with('@')) name.front() = '\0';  // sd_notify(3): no file
  const auto address = unix_address(name);
  if (!address) return true;
  const UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd) return false;
  // Its queue is that of all services.
  return ::sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT, address->get(),
                  address->size) >= 0 ||
         (errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM);
}

}  // namespace lldp::io
