// SPDX-License-Identifier: Apache-2.0
#include "lab/lossless/switch_process.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>

#include "lab/lossless/ports.hpp"
#include "os/file.hpp"

namespace lldp::lab::lossless {
namespace {

namespace soft = dataplane::soft;

constexpr std::size_t kMostConnections = 16;
constexpr char kForwarding[] = "/proc/sys/net/ipv4/ip_forward";

auto failed(const std::string& where, const char* doing) {
  const int code = errno;
  return fail(Error{code, where, fmt::format("{}: {}", doing, std::strerror(code))});
}

Result<UniqueFd> listen_at(const std::string& path) {
  sockaddr_un here{};
  here.sun_family = AF_UNIX;
  if (path.size() >= sizeof here.sun_path)
    return fail(Error{ENAMETOOLONG, path, "is too long for a socket"});
  path.copy(here.sun_path, path.size());
  UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto* address = reinterpret_cast<const sockaddr*>(&here);
  if (!fd) return failed(path, "cannot listen");
  // One that nobody listens to any more may go; another's, who does, stays.
  if (connect(fd.get(), address, sizeof here) == 0)
    return fail(Error{EADDRINUSE, path, "a switch runs there already"});
  unlink(path.c_str());
  const mode_t before = umask(0117);
  const bool bound = bind(fd.get(), address, sizeof here) == 0;
  umask(before);
  if (!bound || listen(fd.get(), kMostConnections) < 0) return failed(path, "cannot listen");
  return fd;
}

class Process {
 public:
  Process(Station station, Ports& ports) : station_(std::move(station)), ports_(ports) {}

  Result<void> run(const std::string& socket) {
    auto listener = listen_at(socket);
    if (!listener) return fail(listener.error());
    listener_ = std::move(*listener);
    sigset_t ending;
    sigemptyset(&ending);
    for (const int signal : {SIGINT, SIGTERM}) sigaddset(&ending, signal);
    sigprocmask(SIG_BLOCK, &ending, nullptr);
    const UniqueFd end(signalfd(-1, &ending, SFD_CLOEXEC));
    poll_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
    for (std::size_t i = 0; i < ports_.size(); ++i) watch(ports_.fd(i), kPort, i);
    watch(listener_.get(), kListener);
    watch(timer_.get(), kTimer);
    watch(end.get(), kEnd);
    while (!ended_) {
      clock_.set(timer_, station_.next());
      std::array<epoll_event, 32> ready{};
      const int n = epoll_wait(poll_.get(), ready.data(), ready.size(), -1);
      station_.run(clock_.now());
      for (int i = 0; i < n; ++i) happen(ready[static_cast<std::size_t>(i)].data.u64);
    }
    unlink(socket.c_str());
    return {};
  }

 private:
  enum What : std::uint64_t { kPort, kListener, kTimer, kEnd, kConnection };

  void watch(int fd, What what, std::size_t number = 0) {
    epoll_event interest{.events = EPOLLIN, .data = {.u64 = std::uint64_t{number} << 8 | what}};
    epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &interest);
  }

  void happen(std::uint64_t event) {
    const std::size_t number = event >> 8;
    std::uint64_t ticks = 0;
    switch (static_cast<What>(event & 0xff)) {
      case kPort:
        ports_.receive(number, [&](ByteSpan frame) { station_.receive(number, frame); });
        return;
      case kListener:
        return accept_one();
      case kTimer:
        static_cast<void>(read(timer_.get(), &ticks, sizeof ticks));
        return;
      case kConnection:
        return answer(static_cast<int>(number));
      case kEnd:
        ended_ = true;
    }
  }

  void accept_one() {
    UniqueFd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd || connections_.size() == kMostConnections) return;
    watch(fd.get(), kConnection, static_cast<std::size_t>(fd.get()));
    const int number = fd.get();
    connections_.emplace(number, std::move(fd));
  }

  void answer(int number) {
    static thread_local std::string text(soft::kMaxMessage, '\0');
    const ssize_t size = recv(number, text.data(), text.size(), MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    const auto request = size > 0
                             ? soft::parse_request({text.data(), static_cast<std::size_t>(size)})
                             : Result<soft::Request>(fail(Error{}));
    if (!request) {  // gone, or somebody who speaks otherwise
      connections_.erase(number);
      return;
    }
    soft::Answer reply;
    if (const auto* set = std::get_if<soft::Set>(&*request)) {
      const auto done = station_.set_rules(set->port, set->rules);
      reply = done ? soft::Done{.id = set->id}
                   : soft::Done{.id = set->id, .code = done.error().code, .why = done.error().what};
    } else {
      soft::View view = station_.view();
      view.missed = ports_.missed();
      reply = std::move(view);
    }
    const std::string out = soft::format(reply);
    // Who does not read what was asked for is not waited for.
    if (send(number, out.data(), out.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
      connections_.erase(number);
  }

  Station station_;
  Ports& ports_;
  Stopwatch clock_{};
  UniqueFd timer_ = make_timer();
  UniqueFd listener_{};
  UniqueFd poll_{};
  std::map<int, UniqueFd> connections_{};
  bool ended_ = false;
};

}  // namespace

Result<void> run_switch(const SwitchFile& file) {
  const auto kernel = read_file(kForwarding);
  if (!kernel || kernel->starts_with('1'))
    return fail(Error{0, kForwarding,
                      "the kernel forwards in this network namespace too, and packets would go "
                      "twice: write 0 there"});
  std::vector<std::string> names;
  for (const StationPort& port : file.station.ports) names.push_back(port.name);
  auto ports = Ports::open(names);
  if (!ports) return fail(ports.error());
  auto station = Station::of(file.station,
                             [&](std::size_t port, ByteSpan frame) { ports->send(port, frame); });
  if (!station) return fail(station.error());
  return Process(std::move(*station), *ports).run(file.socket);
}

}  // namespace lldp::lab::lossless
