// SPDX-License-Identifier: Apache-2.0
#include "sim/lossless/switch_process.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <string_view>

#include "lab/live/ending.hpp"
#include "os/file.hpp"
#include "os/unix_address.hpp"
#include "sim/lossless/ports.hpp"

namespace lldp::lab::lossless {
namespace {

namespace soft = dataplane::soft;

constexpr std::size_t kMostConnections = 16;
constexpr char kForwarding[] = "/proc/sys/net/ipv4/ip_forward";

/// Two switches would take every frame twice. Names without a file belong to a network namespace,
/// and vanish with the process that holds them.
Result<UniqueFd> only_one_here() {
  constexpr std::string_view kName("\0lldp-level-lab switch", 22);
  const auto here = unix_address(kName);
  UniqueFd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (fd && bind(fd.get(), here->get(), here->size) == 0) return fd;
  if (fd && errno == EADDRINUSE)
    return fail(Error{EADDRINUSE, "switch", "a switch runs in this network namespace already"});
  return fail(failed("switch", "cannot be the only one here"));
}

/// The socket at which it is asked. What else stands at its path, or comes to stand there, is left
/// alone.
class Listener {
 public:
  static Result<Listener> at(const std::string& path) {
    const auto here = unix_address(path);
    if (!here) return fail(Error{ENAMETOOLONG, path, "is too long for a socket"});
    Listener self;
    self.path_ = path;
    self.fd_ = UniqueFd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!self.fd_) return fail(failed(path, "cannot listen"));
    struct stat there {};
    if (lstat(path.c_str(), &there) == 0) {
      if (!S_ISSOCK(there.st_mode))
        return fail(Error{EEXIST, path, "is there already, and no socket"});
      // A socket without a listener may be removed; one with a listener stays.
      if (connect(self.fd_.get(), here->get(), here->size) == 0 || errno != ECONNREFUSED)
        return fail(Error{EADDRINUSE, path, "a switch runs there already"});
      unlink(path.c_str());
    }
    const mode_t before = umask(0117);
    const bool bound = bind(self.fd_.get(), here->get(), here->size) == 0;
    umask(before);
    if (!bound || listen(self.fd_.get(), kMostConnections) < 0 ||
        lstat(path.c_str(), &self.made_) < 0)
      return fail(failed(path, "cannot listen"));
    return self;
  }
  Listener(Listener&&) = default;
  Listener& operator=(Listener&&) = delete;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    struct stat there {};
    if (fd_ && lstat(path_.c_str(), &there) == 0 && there.st_ino == made_.st_ino &&
        there.st_dev == made_.st_dev && S_ISSOCK(there.st_mode))
      unlink(path_.c_str());
  }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  Listener() = default;
  std::string path_{};
  UniqueFd fd_{};
  struct stat made_ {};
};

class Process {
 public:
  Process(const SwitchFile& file, Station station, Ports& ports, Listener listener)
      : station_(std::move(station)),
        pace_(file.station.rate_bps),
        late_(packets::Picoseconds{file.rules_late_ms} * packets::kMillisecond),
        ports_(ports),
        listener_(std::move(listener)) {}

  void run() {
    poll_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
    for (std::size_t i = 0; i < ports_.size(); ++i) watch(ports_.fd(i), kPort, i);
    watch(listener_.fd(), kListener);
    watch(timer_.fd(), kTimer);
    watch(end_.get(), kEnd);
    while (!ended_) {
      const auto due = pace_.due(station_.next());
      clock_.set(timer_, asked_.empty() ? due : std::min(due, asked_.front().due));
      std::array<epoll_event, 32> ready{};
      const int n = epoll_wait(poll_.get(), ready.data(), ready.size(), -1);
      station_.run(pace_.at(clock_.now(), station_.next()));
      for (int i = 0; i < n; ++i) happen(ready[static_cast<std::size_t>(i)].data.u64);
      for (; !asked_.empty() && asked_.front().due <= clock_.now(); asked_.pop_front())
        put(asked_.front());
    }
  }

 private:
  /// Rules that are asked for and not in force yet: they come, whatever becomes of the asker.
  struct Asked {
    packets::Picoseconds due = 0;
    int connection = -1;
    soft::Set set{};
  };
  enum What : std::uint64_t { kPort, kListener, kTimer, kEnd, kConnection };

  void watch(int fd, What what, std::size_t number = 0) {
    epoll_event interest{.events = EPOLLIN, .data = {.u64 = std::uint64_t{number} << 8 | what}};
    epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &interest);
  }

  void happen(std::uint64_t event) {
    const std::size_t number = event >> 8;
    switch (static_cast<What>(event & 0xff)) {
      case kPort:
        ports_.receive(number, [&](ByteSpan frame) { station_.receive(number, frame); });
        return;
      case kListener:
        return accept_one();
      case kTimer:
        static_cast<void>(timer_.take());
        return;
      case kConnection:
        return answer(static_cast<int>(number));
      case kEnd:
        ended_ = true;  // and the signal is taken, that nothing else ends us by it
        signalfd_siginfo signal{};
        static_cast<void>(!read(end_.get(), &signal, sizeof signal));
    }
  }

  void accept_one() {
    UniqueFd fd(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
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
    if (!request) {  // gone, or a client of another protocol
      close(number);
      return;
    }
    if (const auto* set = std::get_if<soft::Set>(&*request)) {
      Asked asked{.due = clock_.now() + late_, .connection = number, .set = *set};
      if (late_ == 0)
        put(asked);
      else
        asked_.push_back(std::move(asked));
      return;
    }
    soft::View view = station_.view();
    view.missed = ports_.missed();
    view.too_long += ports_.too_long();
    view.behind_us = pace_.behind() / packets::kMicrosecond;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      // A port that has come back is opened again, before a client can learn that all is well.
      if (ports_.take_again(i)) watch(ports_.fd(i), kPort, i);
      view.ports[ports_.name(i)].gone = !ports_.is_there(i);
    }
    reply(number, std::move(view));
  }

  void put(const Asked& asked) {
    const auto done = station_.set_rules(asked.set.port, asked.set.rules);
    reply(
        asked.connection,
        done ? soft::Done{.id = asked.set.id}
             : soft::Done{.id = asked.set.id, .code = done.error().code, .why = done.error().what});
  }
  void reply(int number, const soft::Answer& answer) {
    if (!connections_.contains(number)) return;
    const std::string out = soft::format(answer);
    // A client that does not read what it asked for is not waited for.
    if (send(number, out.data(), out.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) close(number);
  }
  void close(int number) {
    connections_.erase(number);
    for (Asked& asked : asked_)
      if (asked.connection == number) asked.connection = -1;  // the next one may have that number
  }

  Station station_;
  Pace pace_;
  packets::Picoseconds late_;
  std::deque<Asked> asked_{};  ///< in their order
  Ports& ports_;
  Stopwatch clock_{};
  Timer timer_;
  Listener listener_;
  UniqueFd end_ = live::watch_for_ending();
  UniqueFd poll_{};
  std::map<int, UniqueFd> connections_{};
  bool ended_ = false;
};

}  // namespace

Result<void> run_switch(const SwitchFile& file) {
  // From here on a client that finds the socket may end this process, and the socket is removed
  // with it.
  const live::SignalsHeld held;
  const auto kernel = read_file(kForwarding);
  if (!kernel || kernel->starts_with('1'))
    return fail(Error{0, kForwarding,
                      "the kernel forwards in this network namespace too, and packets would go "
                      "twice: write 0 there"});
  std::vector<std::string> names;
  for (const StationPort& port : file.station.ports) names.push_back(port.name);
  const auto only = only_one_here();
  if (!only) return fail(only.error());
  auto ports = Ports::open(names);
  if (!ports) return fail(ports.error());
  auto station = Station::of(file.station,
                             [&](std::size_t port, ByteSpan frame) { ports->send(port, frame); });
  if (!station) return fail(station.error());
  auto listener = Listener::at(file.socket);
  if (!listener) return fail(listener.error());
  Process(file, std::move(*station), *ports, std::move(*listener)).run();
  return {};
}

}  // namespace lldp::lab::lossless
