// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/bpf.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <net/if.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <set>
#include <utility>

#include "dataplane/bpf/clsact.hpp"
#include "dataplane/bpf/kernel.hpp"
#include "dataplane/parts.hpp"
#include "os/poll_set.hpp"

namespace lldp::dataplane {
namespace {

constexpr Part kPartsOfBpf[] = {Part::kClassify, Part::kRemap, Part::kQueues};

/// TCX hooks are watched, and asked every 10 minutes all the same.
constexpr std::chrono::minutes kChainsPause{10};
/// Without a watch it costs microseconds to ask a port's: those of more ports are asked once a
/// minute.
constexpr std::size_t kChainsPerGlance = 16;

constexpr std::chrono::nanoseconds kMigrationPause = std::chrono::milliseconds(250);
/// From the start of a change of a TCX hook until it is made. Many at once are looked at once.
constexpr std::chrono::milliseconds kLookPause{250};
constexpr std::chrono::nanoseconds kWatchPause = std::chrono::seconds(1);
std::string queues_key(std::uint8_t lossless) { return fmt::format("queues-{:02x}", lossless); }

/// What present() finds where a part is as it should be.
std::string key_of(Part part, const qos::Ruleset& want) {
  return part == Part::kQueues ? queues_key(want.pfc_enable) : bpf::Programs::key_of(want);
}

std::string name_of(Ifindex port) {
  std::array<char, IF_NAMESIZE> name{};
  return ::if_indextoname(port.value(), name.data()) != nullptr
             ? std::string(name.data())
             : fmt::format("port {}", port.value());
}

/// An error with the port's name, as its user knows it.
Error on(Ifindex port, Error e) {
  e.where = name_of(port);
  return e;
}

/// What the table of ports says of it: of a passive port nothing, so that the mark decides.
std::optional<qos::Tag> noted_tag(const qos::Ruleset& rules) {
  return rules.port.passive() ? std::nullopt : std::optional(rules.tag);
}

}  // namespace

Result<std::unique_ptr<Backend>> Bpf::open(const BpfOptions& options) {
  auto socket = TcSocket::open();
  if (!socket) return fail(socket.error());
  auto queues = Queues::open();
  if (!queues) return fail(queues.error());
  auto reader = TcSocket::open();
  if (!reader) return fail(reader.error());
  auto events = TcEvents::open();
  if (!events) return fail(events.error());
  events->ignore(*socket);
  events->ignore(queues->socket());
  events->ignore(*reader);
  auto routes = bpf::RouteWatch::open();
  if (!routes) return fail(routes.error());
  Timer timer;
  auto poll = make_poll_set("backend bpf", {{events->fd()}, {timer.fd()}, {routes->fd()}});
  if (!poll) return fail(poll.error());
  std::unique_ptr<Bpf> self(new Bpf(options.bpffs, std::move(*reader), std::move(*events),
                                    std::move(*poll), std::move(timer), std::move(*queues),
                                    options.queues, std::move(*routes)));
  self->watch_mounts();
  self->watch_nftables();
  auto clsact = std::make_unique<bpf::Clsact>(std::move(*socket), self->programs_);
  self->clsact_ = clsact.get();
  self->others_.set_filters(*clsact);
  self->hooks_.push_back(std::move(clsact));
  const bool tcx = self->programs_.pins().has_value() && self->tcx_;
  // Without a BPF file system too: what an earlier daemon, which had one, left is to be removed.
  if (self->tcx_) {
    auto on_tcx = std::make_unique<bpf::Tcx>(self->programs_);
    self->on_tcx_ = on_tcx.get();
    self->hooks_.push_back(std::move(on_tcx));
  }
  if (options.hook == BpfOptions::Hook::kTcx) {
    if (!tcx)
      return fail(Error{0, "backend bpf",
                        fmt::format("TCX needs Linux 6.6 and a BPF file system at {} that we may "
                                    "write: mount it, or use clsact",
                                    options.bpffs)});
    std::swap(self->hooks_.front(), self->hooks_.back());
  }
  self->migrates_ = options.hook == BpfOptions::Hook::kAuto && tcx;
  for (const auto& hook : self->hooks_) {
    const auto ports = hook->ports();
    if (!ports) return fail(Error{ports.error().code, "backend bpf", ports.error().what});
    self->ports_.insert(ports->begin(), ports->end());
  }
  const auto queued = self->queues_.ports();
  if (!queued) return fail(Error{queued.error().code, "backend bpf", queued.error().what});
  self->ports_.insert(queued->begin(), queued->end());
  self->programs_.keep_only(self->ports_);
  self->clsact_->keep_only(self->ports_);
  return self;
}

std::string Bpf::description() const {
  const bool tcx = dynamic_cast<const bpf::Tcx*>(hooks_.front().get()) != nullptr;
  const auto& pins = programs_.pins();
  std::string text =
      fmt::format("{}, {}",
                  tcx         ? "tcx"
                  : migrates_ ? "clsact, later tcx"
                              : "clsact",
                  pins ? "kept in " + pins->directory() : bpf::Pins::why_none(bpffs_));
  if (want_queues_) text += ", htb queues";
  if (want_queues_ && !kept_.empty())
    text += fmt::format(" except where a qdisc was configured ({} ports)", kept_.size());
  if (const auto& why = others_.unread()) text += ", nftables cannot be read (" + why->what + ")";
  if (const std::uint64_t joined = programs_.joined(); joined != 0)
    text += fmt::format(
        ", fragments leave lossy, for the kernel joins or cuts them anew ({} since the start)",
        joined);
  return text;
}

std::optional<Error> Bpf::overlooked() const {
  if (on_tcx_ == nullptr || on_tcx_->unknown().empty()) return std::nullopt;
  std::vector<std::string> names;
  for (const Ifindex port : on_tcx_->unknown()) names.push_back(name_of(port));
  return Error{EPERM, fmt::format("{}", fmt::join(names, ", ")),
               "may have TCX programs, which CAP_SYS_ADMIN alone may look at: one may be a rule "
               "that an earlier daemon left: run this with CAP_SYS_ADMIN"};
}

void Bpf::watch_mounts() {
  const auto& pins = programs_.pins();
  if (!pins) return;
  auto watch = bpf::MountWatch::open();
  file_system_ = pins->file_system();
  epoll_event interest{.events = EPOLLIN, .data = {}};
  if (watch && ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, watch->fd(), &interest) == 0)
    mounts_.emplace(std::move(*watch));  // else the file system is asked at each turn
}

void Bpf::watch_nftables() {
  epoll_event interest{.events = EPOLLIN, .data = {}};
  if (const int fd = others_.watch_nftables(); fd >= 0)
    ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &interest);
}

bool Bpf::has_file_system_changed() {
  const auto& pins = programs_.pins();
  if (!pins || (mounts_ && !mounts_->take())) return false;
  return file_system_ != std::exchange(file_system_, pins->file_system());
}

Result<void> Bpf::prepare(std::span<const qos::Ruleset> rules) {
  for (const qos::Ruleset& r : rules)
    if (auto loaded = programs_.get(r); !loaded)
      return fail(Error{loaded.error().code, "backend bpf", loaded.error().what});
  return {};
}

Result<std::optional<std::string>> Bpf::present(Ifindex port, Part part) {
  if (part == Part::kQueues) {
    const auto root = queues_.find(port);
    if (!root) return fail(on(port, root.error()));
    if (root->foreign)
      kept_.insert(port);
    else
      kept_.erase(port);
    return root->lossless ? std::optional(queues_key(*root->lossless)) : std::nullopt;
  }
  std::optional<std::string> key;
  for (const auto& hook : hooks_) {
    const auto there = hook->find(port, part);
    if (!there) return fail(on(port, there.error()));
    if (!*there) continue;
    // On a hook that is not for use, or on two of them.
    const bool misplaced = key || (hook != hooks_.front() && !migrates_);
    key = misplaced ? std::string() : **there;
  }
  return key;
}

bool Bpf::is_right(Ifindex port, Part part, const std::string& key,
                   const qos::Ruleset& want) const {
  if (key != key_of(part, want)) return false;
  return part != Part::kClassify || programs_.tag(port) == noted_tag(want) ||
         !programs_.may_know_tag(port);
}

Result<PortPlan> Bpf::plan_from(const PortRef& ref, std::optional<qos::Ruleset> want) {
  const Ifindex port = ref.ifindex;
  std::array<std::optional<bool>, std::size(kPartsOfBpf)> right{};
  for (Part part : kPartsOfBpf) {
    const auto there = present(port, part);
    if (!there) return fail(there.error());
    if (*there)
      right[static_cast<std::size_t>(part)] = want && is_right(port, part, **there, *want);
  }
  const bool queues = want_queues_ && !kept_.contains(port);
  return make_plan(
      ref, std::move(want), [&](Part part) { return right[static_cast<std::size_t>(part)]; },
      queues);
}

Result<PortPlan> Bpf::plan(const PortRef& port, const qos::Ruleset& want) {
  return plan_from(port, want);
}

Result<Reading> Bpf::verify(const PortRef& ref, const qos::Ruleset& want) {
  const Ifindex port = ref.ifindex;
  // What is compared later is read before what it is to vouch for: what changes in between is seen.
  auto glimpse = others_.look(port);
  if (!glimpse) return fail(on(port, glimpse.error()));
  auto plan = plan_from(ref, want);
  if (!plan) return fail(plan.error());
  Reading reading = reading_of(std::move(*plan), want_queues_);
  for (PartReading& part : reading.parts) {
    if (part.part == Part::kQueues) {
      if (!kept_.contains(port)) continue;
      part.state = PartState::kForeign;
      part.text = "a root qdisc is configured already and is kept";
      continue;
    }
    if (part.state == PartState::kDone) {
      if (part.part == Part::kClassify && !programs_.may_know_tag(port)) {
        part.state = PartState::kMissing;
        part.text =
            "its interface number and those of other ports leave no place to note its order: where "
            "another filter decides after the rules it is lost, and bounces are not counted: make "
            "the interface anew, with another number";
        continue;
      }
      const auto way = others_.bypass(port, part.part, want, *glimpse);
      if (!way) return fail(on(port, way.error()));
      if (*way) {
        part.state = PartState::kBypassed;
        part.text = **way;
      } else if (auto doubt = others_.doubt(part.part, want, *glimpse)) {
        part.state = PartState::kUnverified;
        part.text = std::move(*doubt);
      }
    } else {
      if (migrates_) continue;  // TCX has room
      const auto taken = clsact_->taken(port);
      if (!taken) return fail(on(port, taken.error()));
      if (!*taken) continue;
      part.state = PartState::kForeign;
      part.text = "an ingress qdisc takes the place of clsact";
    }
  }
  others_.keep(port, std::move(*glimpse));
  return reading;
}

void Bpf::watch_chains() {
  watch_tried_ = true;
  auto watch = bpf::ChainWatch::open();
  if (!watch) return;  // they are asked at each glance
  epoll_event interest{.events = EPOLLIN, .data = {}};
  if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, watch->fd(), &interest) != 0) return;
  watch_ = std::move(*watch);
  // What changed since the ports were read, and before this, no event tells.
  look_soon();
}

void Bpf::take_chains() {
  if (watch_ && watch_->take()) look_soon();
}

void Bpf::look_soon() {
  if (look_at_) return;
  look_at_ = std::chrono::steady_clock::now() + kLookPause;
  set_timer();
}

std::chrono::seconds Bpf::glance_pause() const {
  const bool chains = watch_ || !tcx_ || ports_.size() > kChainsPerGlance;
  return chains && others_.are_told() ? kRareGlancePause : kGlancePause;
}

std::vector<Ifindex> Bpf::glance(std::span<const Ifindex> ports, Glance why) {
  take_chains();
  const bool chains = !watch_ || look_at_ || ++watched_glances_ >= kChainsPause / glance_pause();
  if (chains) watched_glances_ = 0;
  return others_.changed(ports, why, chains, glance_pause());
}

Result<PortPlan> Bpf::plan_removal(const PortRef& port) { return plan_from(port, std::nullopt); }

Result<void> Bpf::put(Ifindex port, Part part, const bpf::Programs::Loaded& program,
                      std::optional<qos::Tag> tag) {
  if (auto done = programs_.need_place(port); !done) return done;
  bpf::Hook* hook = hooks_.front().get();
  if (migrates_) {  // what has moved stays there, and a stranger on TCX would come before clsact
    const auto moved = hooks_.back()->find(port, part);
    if (!moved) return fail(moved.error());
    if (*moved || hooks_.back()->is_shared(port, part)) hook = hooks_.back().get();
  }
  auto done = put_only(*hook, port, part, program);
  // An ingress qdisc stands in clsact's place, or one that shares its filters with other ports.
  if (!done && migrates_ && hook != hooks_.back().get() &&
      put_only(*hooks_.back(), port, part, program))
    done = {};
  if (!done) return done;
  if (part == Part::kClassify) programs_.set_tag(port, tag);
  return {};
}

Result<void> Bpf::put_only(bpf::Hook& hook, Ifindex port, Part part,
                           const bpf::Programs::Loaded& program) {
  // Two programs on a packet are one too many only for the time between these: the first one sees
  // to it, and the second does nothing.
  if (auto done = hook.put(port, part, program); !done) return done;
  for (const auto& other : hooks_)
    if (other.get() != &hook)
      if (auto done = other->leave(port, part); !done) return done;
  return {};
}

bool Bpf::migrate(Ifindex port) {
  bool moved = false;
  if (!migrates_) return moved;
  others_.expire();
  for (Part part : {Part::kClassify, Part::kRemap}) {
    const auto key = hooks_.front()->find(port, part);
    const auto* program = key && *key ? programs_.find(**key) : nullptr;
    if (program == nullptr) continue;  // nothing there, or none of this version's
    moved |= put_only(*hooks_.back(), port, part, *program).has_value();
  }
  return moved;
}

Result<void> Bpf::remove(Ifindex port, Part part) {
  if (part == Part::kQueues) return queues_.remove(port);
  if (part == Part::kClassify) programs_.set_tag(port, std::nullopt);
  for (const auto& hook : hooks_)
    if (auto done = hook->remove(port, part); !done) return done;
  return {};
}

std::optional<Ifindex> Bpf::migrate_one() {
  while (!to_migrate_.empty()) {
    // One that cannot move has its rules all the same, and is tried again at its next change.
    const Ifindex port = to_migrate_.extract(to_migrate_.begin()).value();
    if (migrate(port)) return port;
  }
  return std::nullopt;
}

void Bpf::set_timer() {
  if (!to_migrate_.empty() || look_at_)
    timer_.set(kMigrationPause);
  else if (tcx_ && !watch_tried_ && !ports_.empty())
    timer_.set(kWatchPause);
  else
    timer_.stop();
}

Events Bpf::take_events() {
  Events events{.changed = events_.take(), .outcomes = std::exchange(outcomes_, {})};
  if (others_.add_concerned(events.changed)) look_soon();
  if (has_file_system_changed()) events.changed.emplace_back();
  if (others_.take_routes()) events.changed.emplace_back();
  others_.add_filtered(events.changed);
  take_chains();
  if (timer_.take()) {
    if (look_at_ && *look_at_ <= std::chrono::steady_clock::now()) {
      look_at_.reset();
      others_.add_changed(events.changed);
    }
    if (const auto moved = migrate_one())
      events.changed.push_back(*moved);
    else if (tcx_ && !watch_tried_)
      watch_chains();
    set_timer();
  }
  return events;
}

void Bpf::apply(const Plan& plan) {
  for (const PortPlan& port : plan.ports) {
    outcomes_.push_back(apply(port));
    if (migrates_ && port.want && !outcomes_.back().why) to_migrate_.insert(port.port.ifindex);
  }
  if (!to_migrate_.empty() || !watch_tried_) set_timer();
}

Outcome Bpf::apply(const PortPlan& plan) {
  const Ifindex port = plan.port.ifindex;
  const auto refused = [&](std::optional<Change> change, Error why) {
    return Outcome{.port = port, .refused = change, .why = std::move(why)};
  };
  const bpf::Programs::Loaded* program = nullptr;
  if (plan.want && !plan.empty()) {
    const auto loaded = programs_.get(*plan.want);
    if (!loaded) return refused(plan.changes.front(), on(port, loaded.error()));
    program = *loaded;
  }
  others_.expire();
  const auto tag_before = programs_.tag(port);
  std::vector<std::pair<Part, std::optional<std::string>>> undo;
  for (const Change& c : plan.changes) {
    const auto before = present(port, c.part);
    if (!before) return refused(c, before.error());
    const bool removal = c.action == Action::kRemove;
    if (removal ? !*before : *before && is_right(port, c.part, **before, *plan.want))
      continue;  // done already
    const auto done = removal ? remove(port, c.part)
                      : c.part == Part::kQueues
                          ? queues_.put(port, plan.want->pfc_enable)
                          : put(port, c.part, *program, noted_tag(*plan.want));
    if (!done) {
      for (; !undo.empty(); undo.pop_back()) {
        const auto& [part, key] = undo.back();
        const auto* old = key ? programs_.find(*key) : nullptr;
        // What fails here fails for the same reason as what is reported.
        if (!key) (void)remove(port, part);
        if (old != nullptr) (void)put(port, part, *old, tag_before);
      }
      return refused(c, on(port, done.error()));
    }
    undo.emplace_back(c.part, *before);
  }
  if (plan.want)
    ports_.insert(port);
  else
    lose(port);
  return {.port = port};
}

void Bpf::forget(Ifindex port) {
  for (const auto& hook : hooks_) hook->forget(port);
  programs_.forget(port);
  others_.forget(port);
  lose(port);
}

void Bpf::lose(Ifindex port) {
  ports_.erase(port);
  to_migrate_.erase(port);
  kept_.erase(port);
  others_.lose(port);
  if (ports_.empty() && !has_others()) programs_.clear();
}

bool Bpf::has_others() {
  const auto has = [](const auto& ports) { return !ports || !ports->empty(); };
  return std::ranges::any_of(hooks_, [&](const auto& hook) { return has(hook->ports()); }) ||
         has(queues_.ports());
}

Result<std::vector<PortRef>> Bpf::ports() {
  std::vector<PortRef> ports;
  for (const Ifindex port : ports_) ports.push_back({port, name_of(port)});
  return ports;
}

Result<Bounces> Bpf::bounces(Ifindex port) { return programs_.bounces(port); }

}  // namespace lldp::dataplane
