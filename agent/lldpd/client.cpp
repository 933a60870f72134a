// SPDX-License-Identifier: Apache-2.0
#include "agent/lldpd/client.hpp"

#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "os/unix_address.hpp"

namespace lldp::lldpd {
namespace {

std::string_view directory_of(std::string_view path) {
  return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
}
std::string_view name_in(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Client::Client(Settings settings, Heard heard)
    : settings_(std::move(settings)),
      heard_(std::move(heard)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

// Coming and going

void Client::watch_directory() {
  if (directory_) return;
  UniqueFd fd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  // It is made, then given to its group, then made accessible to it; or moved there. An lldpd that
  // ends in order takes it away.
  if (!fd || ::inotify_add_watch(fd.get(), std::string(directory_of(settings_.socket)).c_str(),
                                 IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE | IN_ONLYDIR) < 0)
    return;
  directory_ = std::move(fd);
  add_to_set(directory_.get(), kLanes + 1);
}

void Client::drain_directory(TimePoint now) {
  alignas(inotify_event) std::array<char, 4096> buffer{};
  const ssize_t n = ::read(directory_.get(), buffer.data(), buffer.size());
  bool came = false;
  for (ssize_t at = 0; at < n;) {
    const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
    const std::string_view name(event->name, ::strnlen(event->name, event->len));
    came = came || name == name_in(settings_.socket) || (event->mask & IN_Q_OVERFLOW) != 0;
    if ((event->mask & IN_IGNORED) != 0) {  // the directory is gone
      directory_ = UniqueFd();
      came = true;
      break;
    }
    at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
  }
  if (!came || state_ != State::kAbsent) return;
  pause_ = kFirstRetry;
  retry_ = now;
}

void Client::attempt(TimePoint now) {
  watch_directory();
  auto connected = connect();
  if (connected) {
    retry_.reset();
    state_ = State::kSyncing;
    return;
  }
  reason_ = connected.error();
  const bool will_be_seen = reason_.code == ENOENT && directory_;
  retry_ = will_be_seen ? std::nullopt : std::optional(now + pause_);
  // EAGAIN: lldpd runs, and is too busy (at its start, above all) to accept connections.
  pause_ = std::min<Duration>(2 * pause_, reason_.code == EAGAIN ? kBusyRetry : kLastRetry);
}

Result<void> Client::connect() {
  if (::access(settings_.socket.c_str(), F_OK) != 0)
    return fail(Error{errno, settings_.socket, std::strerror(errno)});
  const auto loaded = library();
  if (!loaded) return fail(loaded.error());
  library_ = *loaded;
  const auto open_all = [&]() -> Result<void> {
    for (Lane& lane : lanes_)
      if (auto opened = open(lane); !opened) return opened;
    auto watch = LldpdConnection::open(*library_, settings_.socket);
    if (!watch) return fail(watch.error());
    watch_ = std::move(*watch);
    // A path reaches into other network namespaces, where the same names are other interfaces.
    if (!listening_inodes(settings_.socket).empty()) return {};
    return fail(Error{ENOTSUP, settings_.socket, "no lldpd of this network namespace made it"});
  };
  if (auto opened = open_all(); !opened) {
    for (Lane& lane : lanes_) lane = Lane{};
    watch_.reset();
    return opened;
  }
  add_to_set(watch_->fd(), kLanes);
  watch_waiting_ = TimePoint::max();  // to be asked
  for (Lane& lane : lanes_) {
    if (&lane == &lanes_.front()) {
      lane.tasks.push_back({.kind = Task::Kind::kConfiguration});
      lane.tasks.push_back({.kind = Task::Kind::kChassis});
    }
    lane.tasks.push_back({.kind = Task::Kind::kList});
  }
  return {};
}

Result<void> Client::open(Lane& lane) {
  auto connection = LldpdConnection::open(*library_, settings_.socket);
  if (!connection) return fail(connection.error());
  // What belongs to the old connection goes before it.
  lane.pending.reset();
  lane.port.reset();
  lane.changes.clear();
  lane.interfaces.clear();
  lane.waiting.reset();
  lane.connection = std::move(*connection);
  add_to_set(lane.connection->fd(), static_cast<std::size_t>(&lane - lanes_.data()));
  return {};
}

void Client::add_to_set(int fd, std::size_t index) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = index;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void Client::lost(Error why, TimePoint now) {
  reason_ = std::move(why);
  unusable_.reset();
  confirm_all();  // from now on they age
  known_.clear();
  ports_.clear();
  for (Lane& lane : lanes_) {
    lane.pending.reset();
    lane.port.reset();
    lane.interfaces.clear();
    lane = Lane{};
  }
  watch_.reset();
  watch_waiting_.reset();
  beat_due_.reset();
  beating_ = paused_ = false;
  state_ = State::kAbsent;
  retry_ = now + pause_;
  pause_ = std::min<Duration>(2 * pause_, kLastRetry);
}

// Questions

void Client::receive(TimePoint now) {
  std::array<epoll_event, kLanes + 2> ready{};
  const int n = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), 0);
  for (int i = 0; i < n; ++i) {
    const std::size_t index = ready[static_cast<std::size_t>(i)].data.u64;
    if (index > kLanes)
      drain_directory(now);
    else if (state_ == State::kAbsent)
      continue;  // lost just now
    else if (index == kLanes)
      run_watch(now);
    else if (lanes_[index].tasks.empty())  // nothing was asked: that is its end
      lost({ECONNRESET, settings_.socket, "lldpd has closed the connection"}, now);
    else
      run(lanes_[index], now);
  }
  check_ready(now);
}

void Client::advance(TimePoint now) {
  if (state_ == State::kAbsent) {
    if (retry_ && *retry_ <= now) attempt(now);
    return;  // first the ports are set
  }
  if (watch_waiting_ == TimePoint::max()) run_watch(now);
  const auto silent = [&](const std::optional<TimePoint>& since) {
    return since && *since + kPatience <= now;
  };
  if (silent(watch_waiting_) ||
      std::ranges::any_of(lanes_, [&](const Lane& lane) { return silent(lane.waiting); }))
    return lost({ETIMEDOUT, settings_.socket, "lldpd does not answer"}, now);
  if (beat_due_ && *beat_due_ <= now && !beating_ && state_ == State::kReady) {
    beating_ = true;
    // lldpd tells nobody of what its operator changes.
    const bool looks = now - looked_ >= kBeat;
    if (looks) {
      looked_ = now;
      lanes_.front().tasks.push_back({.kind = Task::Kind::kConfiguration});
    }
    lanes_.front().tasks.push_back({.kind = Task::Kind::kChassis});
    for (Lane& lane : lanes_) lane.tasks.push_back({.kind = Task::Kind::kList});
    for (auto& [name, port] : ports_) {
      port.refused = false;
      if (looks && port.listed) queue_visit(name, port);
      if (port.restored != 0 && now - port.restored_at >= kCalm) note(port.restored, 0U);
    }
  }
  for (Lane& lane : lanes_)
    if (state_ != State::kAbsent && !lane.tasks.empty() && !lane.waiting) run(lane, now);
  check_ready(now);
}

std::optional<TimePoint> Client::next_deadline() const {
  if (state_ == State::kAbsent) return retry_;
  std::optional<TimePoint> next;
  const auto consider = [&](TimePoint due) {
    if (!next || due < *next) next = due;
  };
  for (const Lane& lane : lanes_) {
    if (lane.waiting)
      consider(*lane.waiting + kPatience);
    else if (!lane.tasks.empty())
      consider(TimePoint{});
  }
  if (watch_waiting_) {
    const bool asked = *watch_waiting_ != TimePoint::max();
    consider(asked ? *watch_waiting_ + kPatience : TimePoint{});
  }
  if (beat_due_ && !beating_ && state_ == State::kReady) consider(*beat_due_);
  return next;
}

void Client::check_ready(TimePoint now) {
  if (state_ == State::kAbsent || watch_waiting_ || !idle()) return;
  if (state_ == State::kSyncing) {
    state_ = State::kReady;
    looked_ = now;
    pause_ = kFirstRetry;
  } else if (beating_) {
    beating_ = false;
    confirm_all();
  } else {
    return;
  }
  beat_due_ = now + beat();
}

bool Client::idle() const {
  return std::ranges::all_of(lanes_, [](const Lane& lane) { return lane.tasks.empty(); });
}

void Client::run(Lane& lane, TimePoint now) {
  now_ = now;
  while (!lane.tasks.empty()) {
    const Outcome outcome = perform(lane, lane.tasks.front());
    if (unusable_) return lost(*unusable_, now);
    switch (outcome) {
      case Outcome::kDone:
        lane.waiting.reset();
        lane.tasks.pop_front();
        break;
      case Outcome::kAgain:
        if (!lane.waiting) lane.waiting = now;
        return;
      case Outcome::kLost:
        return lost({ECONNRESET, settings_.socket, "lldpd has closed the connection"}, now);
      case Outcome::kRefused: {
        // An interface that went in the middle of it. The others of this lane are asked for anew.
        const Task task = std::move(lane.tasks.front());
        lane.tasks.pop_front();
        if (const auto port = ports_.find(task.port); port != ports_.end()) {
          port->second.refused = true;
          port->second.queued = port->second.listed = port->second.overtaken = false;
          port->second.confirmed = false;
        } else if (task.kind != Task::Kind::kVisit) {
          return lost({EPROTO, settings_.socket, "lldpd answers something else"}, now);
        }
        if (auto opened = open(lane); !opened) return lost(opened.error(), now);
        lane.tasks.push_front({.kind = Task::Kind::kList});
        break;
      }
    }
  }
}

Client::Outcome Client::perform(Lane& lane, const Task& task) {
  switch (task.kind) {
    case Task::Kind::kConfiguration:
      return probe(lane);
    case Task::Kind::kChassis: {
      Atom chassis;
      const Outcome outcome = lane.connection->local_chassis(chassis);
      if (outcome == Outcome::kDone) identify(chassis_id_, lane.connection->chassis_id(chassis));
      return outcome;
    }
    case Task::Kind::kList:
      return list(lane);
    case Task::Kind::kVisit:
      return visit(lane, task.port);
  }
  return Outcome::kDone;
}

Client::Outcome Client::probe(Lane& lane) {
  Atom configuration;
  const Outcome outcome = lane.connection->configuration(configuration);
  if (outcome != Outcome::kDone) return outcome;
  const auto unusable = [&](std::string why) {
    unusable_ = Error{ENOTSUP, settings_.socket, std::move(why)};
  };
  if (lane.connection->number(configuration, lldpctl_k_config_receiveonly).value_or(0) != 0)
    unusable("lldpd only listens: start it without -r");
  // What came with 1.0.15, as did the keeping of TLVs under a known OUI with an unknown subtype.
  if (!lane.connection->number(configuration, lldpctl_k_config_chassis_cap_override))
    unusable("lldpd drops TLVs that it does not know: 1.0.15 is needed");
  // While it starts lldpd is paused, until it has read its own configuration.
  note(paused_,
       state_ == State::kReady &&
           lane.connection->number(configuration, lldpctl_k_config_paused).value_or(0) != 0);
  return outcome;
}

Client::Outcome Client::list(Lane& lane) {
  Atom list;
  const Outcome outcome = lane.connection->interfaces(list);
  if (outcome != Outcome::kDone) return outcome;
  lane.interfaces.clear();
  for (Atom& interface : lane.connection->elements(list)) {
    std::string name = lane.connection->text(interface, lldpctl_k_interface_name);
    if (&lane_of(name) == &lane) lane.interfaces.emplace(std::move(name), std::move(interface));
  }
  for (auto& [name, port] : ports_) {
    if (&lane_of(name) != &lane) continue;
    const bool there = lane.interfaces.contains(name);
    if (there && !port.listed && !port.refused) queue_visit(name, port);
    if (there ? port.unserved() : port.missed == 1) ++revision_;
    port.listed = there && !port.refused;
    port.missed = there ? 0 : port.missed + 1;
  }
  return outcome;
}

Client::Outcome Client::visit(Lane& lane, const std::string& name) {
  const auto entry = ports_.find(name);
  if (!lane.port) {
    const auto interface = lane.interfaces.find(name);
    // Gone before it was asked for. A question that was asked has to be heard to its end.
    if (interface == lane.interfaces.end() || (entry == ports_.end() && !lane.waiting)) {
      if (entry != ports_.end()) entry->second.queued = false;
      return Outcome::kDone;
    }
    while (!lane.port) {
      const Outcome outcome = lane.connection->port(interface->second, lane.port);
      if (outcome != Outcome::kDone) return outcome;
      lane.waiting.reset();
      if (entry == ports_.end()) break;
      if (std::exchange(entry->second.overtaken, false)) lane.port.reset();
    }
    if (entry != ports_.end()) read(lane, entry->second, name);
  }
  while (!lane.changes.empty()) {
    if (!lane.pending) lane.pending = lane.connection->pending(lane.port, lane.changes.front());
    if (!lane.pending) {
      unusable_ = Error{ENOTSUP, settings_.socket, "lldpd was built without custom TLVs"};
      return Outcome::kRefused;
    }
    const Outcome outcome = lane.connection->set(lane.port, *lane.pending);
    if (outcome != Outcome::kDone) return outcome;
    lane.waiting.reset();
    lane.pending.reset();
    lane.changes.pop_front();
  }
  lane.port.reset();
  return Outcome::kDone;
}

void Client::read(Lane& lane, Port& port, const std::string& name) {
  const LldpdConnection& connection = *lane.connection;
  if (!port.id) port.id.emplace();
  identify(*port.id, connection.port_id(lane.port));
  port.queued = false;                // what is wanted from here on takes another visit
  const bool again = port.confirmed;  // what it has heard it has told meanwhile
  const auto todo = changes(connection.custom_tlvs(lane.port), port.wanted, settings_.ours);
  if (port.confirmed && !todo.empty()) {
    note(port.restored, port.restored + 1);
    port.restored_at = now_;
  }
  port.confirmed = true;  // when these are done; a refusal takes the port off
  const std::string status = connection.text(lane.port, lldpctl_k_port_status);
  note(port.silenced, status == "RX only" || status == "disabled");
  lane.changes.assign(todo.begin(), todo.end());
  const Atom neighbors = connection.part(lane.port, lldpctl_k_port_neighbors);
  for (const Atom& atom : connection.elements(neighbors))
    if (const auto neighbor = connection.neighbor(atom);
        neighbor && !(again && is_known(name, *neighbor)))
      hear(name, *neighbor);
}

void Client::run_watch(TimePoint now) {
  const auto gone = [&] {
    lost({ECONNRESET, settings_.socket, "lldpd has closed the connection"}, now);
  };
  if (watch_waiting_) {
    switch (watch_->watch()) {
      case Outcome::kDone:
        watch_waiting_.reset();
        break;
      case Outcome::kAgain:
        watch_waiting_ = std::min(*watch_waiting_, now);
        return;
      case Outcome::kRefused:
      case Outcome::kLost:
        return gone();
    }
  }
  std::vector<Notice> notices;
  const Outcome outcome = watch_->receive(notices);
  for (const Notice& notice : notices) {
    const auto port = ports_.find(notice.interface);
    if (port == ports_.end()) continue;
    const Lane& lane = lane_of(notice.interface);
    // The answer that is under way may be older than this.
    if (lane.waiting && !lane.port && lane.tasks.front().port == notice.interface)
      port->second.overtaken = true;
    hear(notice.interface, notice.neighbor);
  }
  if (outcome == Outcome::kLost) return gone();
  if (beat_due_) beat_due_ = std::min(*beat_due_, now + beat());
}

// Ports and their neighbors

Client::Lane& Client::lane_of(std::string_view port) {
  return lanes_[std::hash<std::string_view>{}(port) % kLanes];
}

void Client::queue_visit(const std::string& name, Port& port) {
  if (std::exchange(port.queued, true)) return;
  lane_of(name).tasks.push_back({.kind = Task::Kind::kVisit, .port = name});
}

void Client::add_ours(std::span<const tlv::Key> keys) {
  for (const tlv::Key& key : keys)
    if (std::ranges::find(settings_.ours, key) == settings_.ours.end())
      settings_.ours.push_back(key);
}

void Client::set_port(const std::string& name, std::vector<CustomTlv> wanted, TimePoint now) {
  const auto [it, fresh] = ports_.try_emplace(name);
  Port& port = it->second;
  if (fresh && beat_due_) beat_due_ = std::min<TimePoint>(*beat_due_, now + kSettle);
  if (!fresh && port.wanted == wanted) return;
  port.wanted = std::move(wanted);
  port.confirmed = false;
  if (port.listed) queue_visit(name, port);
}

void Client::remove_port(const std::string& name) {
  ports_.erase(name);
  std::erase_if(known_, [&](const auto& known) { return known.first.first == name; });
}

std::optional<PortId> Client::port_id(const std::string& name) const {
  const auto it = ports_.find(name);
  return it == ports_.end() ? std::nullopt : it->second.id;
}

std::vector<std::string> Client::unserved() const {
  std::vector<std::string> out;
  for (const auto& [name, port] : ports_)
    if (port.unserved()) out.push_back(name);
  return out;
}

bool Client::mute(const std::string& name) const {
  const auto it = ports_.find(name);
  return it != ports_.end() && it->second.silenced && !it->second.wanted.empty();
}

unsigned Client::contested(const std::string& name) const {
  const auto it = ports_.find(name);
  return it == ports_.end() ? 0 : it->second.restored;
}

void Client::identify(Identifier& known, Identifier told) {
  if (known == told) return;
  known = std::move(told);
  ++revision_;
}

bool Client::is_known(const std::string& port, const Neighbor& neighbor) const {
  Neighbor gone = neighbor;
  gone.ttl = 0;
  const auto known = known_.find({port, frame_of(gone, settings_.group)});
  return known != known_.end() && known->second.frame == frame_of(neighbor, settings_.group);
}

void Client::hear(const std::string& port, const Neighbor& neighbor) {
  Neighbor gone = neighbor;
  gone.ttl = 0;
  auto key = std::pair(port, frame_of(gone, settings_.group));
  const Bytes frame = frame_of(neighbor, settings_.group);
  if (neighbor.ttl == 0)
    known_.erase(key);
  else
    known_.insert_or_assign(std::move(key), Known{frame, neighbor.ttl});
  heard_(port, frame);
}

void Client::confirm_all() {
  for (const auto& [key, known] : known_) heard_(key.first, known.frame);
}

Duration Client::beat() const {
  std::chrono::seconds least = 3 * kBeat;
  for (const auto& [key, known] : known_) least = std::min(least, std::chrono::seconds(known.ttl));
  return std::max<Duration>(Duration(least) / 3, std::chrono::seconds(1));
}

}  // namespace lldp::lldpd
