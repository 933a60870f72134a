// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/protection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "agent/core/announcement.hpp"
#include "agent/core/place.hpp"
#include "agent/daemon/backend_options.hpp"
#include "agent/process/log.hpp"
#include "dataplane/factory.hpp"
#include "dataplane/port_numbers.hpp"

namespace lldp::io {
namespace {

using dataplane::Part;
using dataplane::PartReading;
using dataplane::PartState;

constexpr std::size_t kPerTurn = 16;  ///< ports read before others have their turn
constexpr Duration kFirstRetry = std::chrono::seconds(1);
constexpr Duration kLastRetry = std::chrono::seconds(30);
/// What nobody tells of is found so often; and put back within 10 s.
constexpr Duration kGlancePause = std::chrono::seconds(9);
/// Between two readings of one port, whoever changes it how often.
constexpr Duration kLookPause = std::chrono::milliseconds(100);
constexpr Duration kCreditPause = std::chrono::seconds(1);

/// "classify, remap": those that are not there, or not as we left them.
std::string lost_parts(const dataplane::PortPlan& mend) {
  std::string text;
  for (const dataplane::Change& c : mend.changes)
    if (c.action != dataplane::Action::kRemove)
      text.append(text.empty() ? "" : ", ").append(to_string(c.part));
  return text;
}

/// The port of this name, if its number is none of an interface.
template <class Known, class PortOf>
typename Known::iterator find_without_interface(Known& known, const std::string& name,
                                                PortOf port_of) {
  return std::ranges::find_if(known, [&](const auto& at) {
    return !dataplane::has_interface(at.first) && std::invoke(port_of, at.second).name == name;
  });
}

}  // namespace

Protection Protection::open(const core::Agent& agent, const config::Config& config,
                            std::shared_ptr<dataplane::sai::Spawner> libsai, NameOf name_of,
                            TimePoint now) {
  const std::string name = config.dry_run ? "print" : config.backend;
  dataplane::Options options = options_of(config);
  options.sai.spawner = std::move(libsai);
  Opener opener;
  if (config.backend != "none" || config.dry_run)
    opener = [name, options] { return dataplane::make_backend(name, options); };
  return {agent, config.policy, name, std::move(opener), std::move(name_of), now};
}

Protection::Protection(const core::Agent& agent, qos::Policy policy, std::string backend,
                       Opener opener, NameOf name_of, TimePoint now)
    : agent_(&agent),
      policy_(std::move(policy)),
      backend_name_(std::move(backend)),
      opener_(std::move(opener)),
      name_of_(std::move(name_of)) {
  if (opener_) open_backend(now);
}

void Protection::open_backend(TimePoint now) {
  auto opened = opener_();
  if (!opened) return note({.port = kWhole, .why = opened.error()}, now);
  note({.port = kWhole}, now);
  backend_ = std::move(*opened);
  opened_ = true;
  follow_state(now);
  if (is_up()) survey(now);
}

void Protection::survey(TimePoint now) {
  auto found = backend_->ports();
  if (!found) return note({.port = kWhole, .why = found.error()}, now);  // and nothing is touched
  surveyed_ = true;
  for (dataplane::PortRef& port : *found) found_.insert_or_assign(port.ifindex, std::move(port));
  found_rules_ = !found_.empty();
  if (*found_rules_)
    found_until_ = now + std::max<Duration>(std::chrono::seconds(core::tx_ttl(agent_->settings())),
                                            core::Place::kLeastWait);
  for (const Ifindex port : ports_) adopt(port, now);
}

void Protection::add(Ifindex port, TimePoint now) {
  // What was found of it before it had an interface, by its name alone, is its own.
  if (const auto at = find_without_interface(found_, ref(port).name, std::identity());
      at != found_.end()) {
    found_.insert_or_assign(port, ref(port));
    found_.erase(at);
  }
  if (const auto at = find_without_interface(leaving_, ref(port).name, &Leaving::port);
      at != leaving_.end()) {
    untold_.insert(at->first);
    leaving_.erase(at);
  }
  if (leaving_.erase(port) != 0) untold_.insert(port);
  if (ports_.insert(port).second && surveyed_) adopt(port, now);
}

void Protection::adopt(Ifindex port, TimePoint now) {
  book_[port];
  if (!glance_at_) glance_at_ = now + kGlancePause;
  const core::Settings& settings = agent_->settings();
  if (found_.contains(port) && settings.role == Role::kSwitch &&
      agent_->order(port) == Order::kUnknown && !agent_->ports_restored())
    return update(port, now);
  found_.erase(port);
  added_at_ = now;
  waiting_.push_back(port);
}

void Protection::remove(Ifindex port, TimePoint now) {
  ports_.erase(port);
  found_.erase(port);
  book_.erase(port);
  look_.erase(port);
  later_.erase(port);
  failed_.erase(port);
  untold_.insert(port);
  changed_ = true;
  if (backend_) leave(ref(port), now);
}

void Protection::leave(dataplane::PortRef port, TimePoint now) {
  const Ifindex ifindex = port.ifindex;
  leaving_.insert_or_assign(ifindex, Leaving{std::move(port)});
  if (is_up()) take_off(ifindex, now);  // else when the back end is back
}

void Protection::take_off(Ifindex port, TimePoint now) {
  const auto leaving = leaving_.find(port);
  if (leaving == leaving_.end()) return;  // by an answer that has come meanwhile
  if (awaited_.contains(port)) return;    // what is there is known when that is over
  auto plan = backend_->plan_removal(leaving->second.port);
  if (!plan) return left({.port = port, .why = plan.error()}, now);
  if (plan->empty()) return left({.port = port}, now);
  leaving->second.asked = true;
  awaited_.emplace(port, std::nullopt);
  backend_->apply({.ports = {std::move(*plan)}});
  take_events(now);
}

void Protection::take_off_strays(TimePoint now) {
  if (!surveyed_ || !is_up()) return;
  auto there = backend_->ports();
  if (!there) return;  // what it has is told anew when that can be read
  std::erase_if(*there, [this](const dataplane::PortRef& port) {
    return ports_.contains(port.ifindex) || found_.contains(port.ifindex) ||
           leaving_.contains(port.ifindex);
  });
  take_off_strays(std::move(*there), now);
}

void Protection::take_off_strays(std::vector<dataplane::PortRef> strays, TimePoint now) {
  // One that is ours again, and has another number that the back end has not heard of yet.
  std::erase_if(strays, [this](const dataplane::PortRef& port) {
    return std::ranges::any_of(ports_, [&](Ifindex our) { return name_of_(our) == port.name; });
  });
  if (strays.empty() || !is_alone_()) return;
  for (dataplane::PortRef& port : strays) {
    log(Severity::kNotice, port.name + ": rules of ours on a port that is not are taken off");
    leave(std::move(port), now);
  }
}

void Protection::left(const dataplane::Outcome& outcome, TimePoint now) {
  if (!outcome.why || outcome.why->code == ENODEV) return gone(outcome.port);
  std::optional<Failure>& failure = leaving_.at(outcome.port).failure;
  if (!failure) failure = Failure{};
  failure->again(outcome, now);
  untold_.insert(outcome.port);
  changed_ = true;
}

void Protection::gone(Ifindex port) {
  if (leaving_.erase(port) == 0) return;
  backend_->forget(port);
  untold_.insert(port);
}

qos::PortClass Protection::class_of(Ifindex port) const {
  if (agent_->settings().role != Role::kSwitch) return {};
  const auto layers = agent_->layers(port);
  return {.order = found_.contains(port) ? Order::kUp : agent_->order(port),
          .near = layers ? layers->near : Layer()};
}

qos::Ruleset Protection::wanted(Ifindex port) const {
  const core::Settings& settings = agent_->settings();
  return qos::compile(policy_, class_of(port), settings.role == Role::kSwitch && settings.layered);
}

bool Protection::is_due(Ifindex port, TimePoint now) {
  if (agent_->order(port) != Order::kUnknown) found_.erase(port);
  if (!is_up() || !ports_.contains(port)) return false;
  PortStanding& standing = book_[port];
  const qos::PortClass port_class = class_of(port);
  standing.put_off = false;
  standing.again = awaited_.contains(port);
  if (standing.programmed == port_class || standing.again) return false;
  // Up is the safe side: classes only go forward.
  if (port_class.order == Order::kUp || standing.credit.take(now)) return true;
  standing.put_off = true;
  wake(port, now + kCreditPause);
  return false;
}

void Protection::update(Ifindex port, TimePoint now) {
  if (is_due(port, now)) program(std::array{port}, now);
}

void Protection::update_all(qos::Policy policy, TimePoint now) {
  policy_ = std::move(policy);
  std::vector<Ifindex> due;
  for (Ifindex port : ports_) {
    untold_.insert(port);  // what is worth an alarm goes by the role too
    book_[port].programmed.reset();
    if (const auto change = awaited_.find(port); change != awaited_.end()) change->second.reset();
    book_[port].credit = {};
    if (is_due(port, now)) due.push_back(port);
  }
  program(due, now);
}

void Protection::link_changed(Ifindex port) {
  if (backend_ && ports_.contains(port)) look_.insert(port);
}

void Protection::take_events(TimePoint now) {
  if (backend_) handle(backend_->take_events(), now);
}

void Protection::handle(const dataplane::Events& events, TimePoint now) {
  for (const dataplane::Outcome& outcome : events.outcomes) finish(outcome, now);
  for (const Ifindex port : events.changed) {
    if (port == kWhole) look_ = ports_;
    if (ports_.contains(port)) look_.insert(port);
  }
  follow_state(now);
  if (std::ranges::find(events.changed, kWhole) != events.changed.end()) take_off_strays(now);
}

void Protection::follow_state(TimePoint now) {
  const auto why = backend_->down();
  if (why) {
    if (is_up()) note({.port = kWhole, .why = why}, now);
  } else if (!is_up()) {
    note({.port = kWhole}, now);
    for (const Ifindex port : leaving()) take_off(port, now);
    if (!surveyed_) return survey(now);
    // What it has is compared with what it should have, and only a difference is written.
    for (const Ifindex port : ports_) {
      book_[port].programmed.reset();
      waiting_.push_back(port);
    }
    added_at_ = now;
  }
}

void Protection::finish(const dataplane::Outcome& outcome, TimePoint now) {
  const auto change = awaited_.extract(outcome.port);
  if (!change) return;
  if (const auto at = leaving_.find(outcome.port); at != leaving_.end())
    return std::exchange(at->second.asked, false) ? left(outcome, now)
                                                  : take_off(outcome.port, now);
  if (!ports_.contains(outcome.port)) return;
  PortStanding& standing = book_[outcome.port];
  standing.programmed = outcome.why ? std::nullopt : change.mapped();
  changed_ = true;
  if (change.mapped()) note(outcome, now);  // else what is wanted now is still to come
  look_.insert(outcome.port);  // refused or not: what is there is what a later change is seen by
  if (std::exchange(standing.again, false)) update(outcome.port, now);
}

void Protection::program(std::span<const Ifindex> ports, TimePoint now) {
  dataplane::Plan plan;
  for (const Ifindex port : ports) {
    if (awaited_.contains(port)) continue;
    const qos::Ruleset want = wanted(port);
    book_[port].put_off = false;
    awaited_.emplace(port, want.port);
    if (auto planned = backend_->plan(ref(port), want))
      plan.ports.push_back(std::move(*planned));
    else
      finish({.port = port, .why = planned.error()}, now);
  }
  if (plan.ports.empty()) return;
  backend_->apply(plan);
  take_events(now);
}

void Protection::look(Ifindex port, TimePoint now) {
  PortStanding& standing = book_[port];
  standing.read_at = now;
  if (!is_up() || awaited_.contains(port)) return;  // its outcome brings the port here again
  auto reading = backend_->verify(ref(port), wanted(port));
  if (!reading) return note_unread({.port = port, .why = reading.error()}, now);
  const auto failure = failed_.find(port);
  // What stood in the way may be gone: no need to wait for its turn.
  if (failure != failed_.end() && (reading->mend.empty() || standing.parts != reading->parts))
    failure->second.due =
        std::min(failure->second.due, std::max(now, failure->second.tried + kFirstRetry));
  const bool ours = standing.programmed && !standing.put_off && failure == failed_.end();
  if (ours && !reading->mend.empty()) {
    if (auto lost = lost_parts(reading->mend); !lost.empty()) standing.lost = std::move(lost);
    const TimePoint next =
        std::max(standing.attempts.next(),
                 standing.lost.empty() ? TimePoint::min() : standing.losses.next());
    if (now < next) {
      wake(port, next);
    } else {
      standing.attempts.made(now);
      awaited_.emplace(port, standing.programmed);
      backend_->apply({.ports = {reading->mend}});
      take_events(now);
      if (awaited_.contains(port)) return;
      look_.erase(port);
      if (auto again = backend_->verify(ref(port), wanted(port))) reading = std::move(again);
      if (!reading->mend.empty()) wake(port, standing.attempts.next());
    }
  }
  if (reading->mend.empty()) {
    standing.attempts = {};
    if (!standing.lost.empty()) {
      standing.losses.put_back(now);
      restored_.emplace_back(
          port, fmt::format("{}: somebody had taken them away", std::exchange(standing.lost, {})));
    }
  }
  if (std::string displaced = backend_->displaced(ref(port)); displaced != standing.displaced) {
    standing.displaced = std::move(displaced);
    untold_.insert(port);
  }
  if (standing.losses.fight(now)) wake(port, standing.losses.calm_at());
  if (standing.parts == reading->parts && !complained_.contains(port) &&
      !standing.losses.fight(now))
    return;
  standing.parts = std::move(reading->parts);
  untold_.insert(port);
  changed_ = true;
}

void Protection::Failure::again(const dataplane::Outcome& what, TimePoint now) {
  outcome = what;
  tried = now;
  wait = std::clamp(wait * 2, kFirstRetry, kLastRetry);
  due = now + wait;
}

std::vector<Ifindex> Protection::leaving() const {
  std::vector<Ifindex> ports;
  for (const auto& [port, leaving] : leaving_) ports.push_back(port);
  return ports;
}

void Protection::wake(Ifindex port, TimePoint due) {
  const auto [at, fresh] = later_.try_emplace(port, due);
  if (!fresh) at->second = std::min(at->second, due);
}

void Protection::note(const dataplane::Outcome& outcome, TimePoint now) {
  if (!outcome.why || outcome.why->code == ENODEV) {  // gone: netlink tells, or has told
    if (failed_.erase(outcome.port) == 0) return;
  } else {
    failed_[outcome.port].again(outcome, now);
  }
  untold_.insert(outcome.port);
  changed_ = true;
}

void Protection::note_unread(const dataplane::Outcome& outcome, TimePoint now) {
  const auto standing = failed_.find(outcome.port);
  if (standing == failed_.end() || outcome.why->code == ENODEV) return note(outcome, now);
  if (std::exchange(standing->second.outcome, outcome).why == outcome.why) return;
  untold_.insert(outcome.port);
  changed_ = true;
}

std::optional<TimePoint> Protection::next_deadline() const {
  if (!look_.empty()) return TimePoint::min();
  if (!waiting_.empty()) return added_at_;
  std::optional<TimePoint> next = is_up() ? found_until_ : std::nullopt;
  const auto take = [&next](TimePoint due) {
    if (!next || due < *next) next = due;
  };
  for (const auto& [port, failure] : failed_)
    if ((is_up() || !backend_ || is_unread()) && !awaited_.contains(port)) take(failure.due);
  for (const auto& [port, leaving] : leaving_)
    if (is_up() && leaving.failure && !awaited_.contains(port)) take(leaving.failure->due);
  for (const auto& [port, due] : later_) take(due);
  if (glance_at_ && !ports_.empty()) take(*glance_at_);
  return next;
}

void Protection::advance(TimePoint now) {
  std::vector<Ifindex> turn;
  const std::size_t most = backend_ ? backend_->ports_per_turn() : 0;
  for (std::size_t n = 0; n < most && !waiting_.empty(); ++n) {
    if (is_due(waiting_.front(), now)) turn.push_back(waiting_.front());
    waiting_.pop_front();
  }
  if (found_until_ && *found_until_ <= now && is_up()) {
    found_until_.reset();
    std::vector<dataplane::PortRef> strays;
    for (auto& [ifindex, port] : std::exchange(found_, {}))
      if (is_due(ifindex, now))
        turn.push_back(ifindex);
      else if (!ports_.contains(ifindex))
        strays.push_back(std::move(port));
    take_off_strays(std::move(strays), now);
  }
  if (const auto whole = failed_.find(kWhole); whole != failed_.end()) {
    if (whole->second.due <= now && !backend_)
      open_backend(now);
    else if (whole->second.due <= now && is_unread())
      follow_state(now);
  } else if (backend_) {
    for (const auto& [port, failure] : failed_)
      if (failure.due <= now && turn.size() < most) turn.push_back(port);
    for (const Ifindex port : leaving()) {
      const auto at = leaving_.find(port);
      if (at != leaving_.end() && at->second.failure && at->second.failure->due <= now)
        take_off(port, now);
    }
  }
  program(turn, now);

  for (auto at = later_.begin(); at != later_.end();) {
    const auto [port, due] = *at;
    at = due <= now ? later_.erase(at) : std::next(at);
    if (due > now) continue;
    look_.insert(port);
    if (book_[port].put_off) update(port, now);  // may come to stand here again
  }
  if (glance_at_ && *glance_at_ <= now && backend_) {
    look_.merge(glance(now));
    glance_at_ = now + kGlancePause;
  }
  for (std::size_t n = 0; n < kPerTurn && !look_.empty(); ++n) {
    const Ifindex port = look_.extract(look_.begin()).value();
    if (const TimePoint free = book_[port].read_at + kLookPause; now < free)
      wake(port, free);
    else
      look(port, now);
  }
}

std::set<Ifindex> Protection::glance(TimePoint now) {
  glanced_at_ = now;
  const std::vector<Ifindex> changed =
      backend_->glance(std::vector<Ifindex>(ports_.begin(), ports_.end()));
  return {changed.begin(), changed.end()};
}

void Protection::catch_up(TimePoint now) {
  if (!backend_) return;
  take_events(now);
  std::set<Ifindex> pending = std::exchange(look_, {});
  if (is_up() && now - glanced_at_ >= kLookPause) pending.merge(glance(now));
  for (const auto& [port, due] : later_)
    if (!book_[port].put_off) pending.insert(port);
  for (const Ifindex port : pending) look(port, now);
}

Result<void> Protection::flush() {
  if (!backend_) return {};
  if (const auto why = backend_->down()) return fail(*why);
  std::set<Ifindex> awaited;
  for (const auto& [port, change] : std::exchange(awaited_, {})) awaited.insert(port);
  if (auto known = dataplane::wait_for(*backend_, std::move(awaited));
      !known && known.error().code == ETIMEDOUT)
    return known;
  return dataplane::remove_all(*backend_);
}

}  // namespace lldp::io
