// SPDX-License-Identifier: Apache-2.0
#include "lab/live/watcher.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "lab/live/ending.hpp"
#include "os/unix_address.hpp"

namespace lldp::lab::live {
namespace {

using namespace std::string_view_literals;
/// Varlink ends a message with a NUL.
constexpr std::string_view kWatch =
    "{\"method\":\"org.lldplevel.Watch\",\"more\":true,\"parameters\":{}}\0"sv;

/// How long an agent that is starting is left alone before the next try.
constexpr std::chrono::milliseconds kRetry{5};
constexpr std::uint64_t kEnding = ~std::uint64_t{0};

UniqueFd connect_to(const std::string& path) {
  const auto address = unix_address(path);
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!address || !fd || connect(fd.get(), address->get(), address->size) < 0 ||
      send(fd.get(), kWatch.data(), kWatch.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(kWatch.size()))
    return {};
  return fd;
}

}  // namespace

Watcher::Watcher(const FabricPlace& place, const Fabric& fabric)
    : place_(place),
      fabric_(fabric),
      ports_(adjacencies(fabric)),
      connections_(fabric.nodes.size()),
      seen_(fabric.nodes.size()),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      ending_(watch_for_ending()) {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = kEnding}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, ending_.get(), &event);
}

bool Watcher::wait_until_right(Clock::time_point deadline) {
  while (right_ < fabric_.nodes.size()) {
    if (Clock::now() >= deadline || is_ending()) return false;
    const bool missing = connect_all();
    wait(missing ? std::min(deadline, Clock::now() + kRetry) : deadline);
  }
  return true;
}

bool Watcher::wait_until_located(Clock::time_point deadline) {
  while (!wrongly_located(fabric_, seen_).empty()) {
    if (Clock::now() >= deadline || is_ending()) return false;
    const bool missing = connect_all();
    wait(missing ? std::min(deadline, Clock::now() + kRetry) : deadline);
  }
  return true;
}

std::optional<std::size_t> Watcher::wait_until_settled(const std::vector<std::size_t>& nodes,
                                                       bool is_protected,
                                                       Clock::time_point deadline) {
  const auto settled = [&](std::size_t node) {
    const SeenDevice& seen = seen_[node];
    const auto fine = [&](const Adjacency& a) {
      const Verdict::Kind kind = judge(fabric_, seen, a).kind;
      return kind == Verdict::Kind::kRight || kind == Verdict::Kind::kDown;
    };
    // The type of a port is known before the order, which is `up` until the rank of this device has
    // risen. (Layers join switches of one level: such ports have the order of their layers at
    // once.)
    const auto ordered = [&](const Adjacency& a) {
      const Link& link = fabric_.links[a.link];
      const Node& neighbor = fabric_.nodes[link.ends[1 - a.own_end].node];
      const bool is_below = neighbor.role == Role::kHost ||
                            (neighbor.level && neighbor.level < fabric_.nodes[node].level);
      if (!is_below) return true;
      const auto port = seen.ports.find(link.ends[a.own_end].port);
      return port == seen.ports.end() || !port->second.up || port->second.order == "down";
    };
    const bool forwards = fabric_.nodes[node].role == Role::kSwitch;
    return seen.answers && seen.level == fabric_.nodes[node].level &&
           std::all_of(ports_[node].begin(), ports_[node].end(), fine) &&
           (!forwards || !is_protected || std::ranges::all_of(ports_[node], ordered)) &&
           (!is_protected || fabric_.nodes[node].role == Role::kHost || seen.is_protected);
  };
  for (;;) {
    const auto late = std::find_if_not(nodes.begin(), nodes.end(), settled);
    if (late == nodes.end()) return std::nullopt;
    if (Clock::now() >= deadline || is_ending()) return *late;
    const bool missing = connect_all();
    wait(missing ? std::min(deadline, Clock::now() + kRetry) : deadline);
  }
}

bool Watcher::wait_until_protected(std::size_t node, Clock::time_point deadline) {
  while (!seen_[node].is_protected && seen_[node].protection != "inactive") {
    if (Clock::now() >= deadline || is_ending()) return false;
    const bool missing = connect_all();
    wait(missing ? std::min(deadline, Clock::now() + kRetry) : deadline);
  }
  return true;
}

void Watcher::look(Clock::time_point deadline) {
  connect_all();
  const auto waiting = [&] {
    for (std::size_t n = 0; n < connections_.size(); ++n)
      if (connections_[n].fd && !seen_[n].answers) return true;
    return false;
  };
  while (waiting() && Clock::now() < deadline && !is_ending()) wait(deadline);
}

bool Watcher::connect_all() {
  bool missing = false;
  for (std::size_t n = 0; n < connections_.size(); ++n) {
    Connection& c = connections_[n];
    if (c.fd) continue;
    c.fd = connect_to(place_.socket(fabric_.nodes[n].name));
    missing = missing || !c.fd;
    if (!c.fd) continue;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = n;
    epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, c.fd.get(), &event);
  }
  return missing;
}

void Watcher::wait(Clock::time_point deadline) {
  using std::chrono::milliseconds;
  const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
  std::array<epoll_event, 64> events{};
  const int n = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                           static_cast<int>(std::clamp<milliseconds::rep>(left, 0, 60'000)));
  for (int i = 0; i < n; ++i)
    if (const std::uint64_t node = events[static_cast<std::size_t>(i)].data.u64; node != kEnding)
      read_from(node);
}

void Watcher::read_from(std::size_t node) {
  Connection& c = connections_[node];
  std::array<char, 1 << 16> chunk{};
  const ssize_t n = recv(c.fd.get(), chunk.data(), chunk.size(), 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return forget(node);
  c.received.append(chunk.data(), static_cast<std::size_t>(n));
  const std::size_t last = c.received.rfind('\0');
  if (last == std::string::npos) return;
  // Only the newest whole message counts.
  const std::size_t before = last == 0 ? std::string::npos : c.received.rfind('\0', last - 1);
  const std::size_t first = before == std::string::npos ? 0 : before + 1;
  const auto reply =
      parse_json<nlohmann::json>(std::string_view(c.received).substr(first, last - first));
  c.received.erase(0, last + 1);
  const auto parameters = reply.is_object() ? reply.find("parameters") : reply.end();
  if (parameters == reply.end()) return;
  auto device = device_from_json(*parameters);
  if (!device) return;
  seen_[node] = std::move(*device);
  const bool right = all_right(fabric_, node, seen_[node], ports_[node]);
  if (right != c.right) right_ += right ? 1 : std::size_t(-1);
  c.right = right;
}

void Watcher::forget(std::size_t node) {
  if (connections_[node].right) --right_;
  connections_[node] = {};
  seen_[node] = {};
}

}  // namespace lldp::lab::live
