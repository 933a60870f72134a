// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/protection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "agent/core/announcement.hpp"
#include "agent/daemon/backend_options.hpp"
#include "agent/process/log.hpp"
#include "base/text.hpp"
#include "dataplane/factory.hpp"
#include "dataplane/port_numbers.hpp"

namespace lldp::io {
namespace {

using dataplane::Part;
using dataplane::PartReading;
using dataplane::PartState;

constexpr std::size_t kPerTurn = 16;  ///< ports read before others have their turn
/// However short the TTL is, rules that are found stay for as long.
constexpr std::chrono::seconds kLeastPatience{60};
/// Counters that are told for minutes need not be read at every glance, but at those that come once
/// a minute.
constexpr Duration kCountPause = std::chrono::seconds(50);
/// A glance comes by that part of its pause earlier where the daemon is awake anyway.
constexpr int kEarlier = 6;
/// Between two readings of one port, however often it changes.
constexpr Duration kLookPause = std::chrono::milliseconds(100);
/// After what stands on a port has changed: a bridge gets its interfaces by the hundred, and after
/// each all of them are read anew.
constexpr Duration kUpperPause = std::chrono::milliseconds(500);
constexpr Duration kCreditPause = std::chrono::seconds(1);
/// Of what is due as soon as there is a turn.
constexpr TimePoint kAtOnce = TimePoint::min();

/// "classify, remap": those that are not there, or not as we left them.
std::string lost_parts(const dataplane::PortPlan& mend) {
  std::string text;
  for (const dataplane::Change& c : mend.changes)
    if (c.action != dataplane::Action::kRemove)
      text.append(text.empty() ? "" : ", ").append(to_string(c.part));
  return text;
}

/// The part does not keep the rules from being in force: it is there as far as can be known, none
/// can do it, or the order of classes does not go by it.
bool acts(const PartReading& part) {
  return part.state == PartState::kDone || part.state == PartState::kLimited ||
         part.state == PartState::kUnsupported || part.state == PartState::kUnverified ||
         part.part == Part::kQueues || part.part == Part::kPfc;
}

}  // namespace

Protection Protection::open(const core::Agent& agent, const config::Config& config,
                            BackendChoice choice, std::shared_ptr<dataplane::sai::Spawner> libsai,
                            NameOf name_of, TimePoint now) {
  const std::string name = config.dry_run ? "print" : choice.name;
  dataplane::Options options = options_of(config);
  options.sai.spawner = std::move(libsai);
  Opener opener;
  if (choice.name != "none" || config.dry_run)
    opener = [name, options] { return dataplane::make_backend(name, options); };
  Protection protection(agent, config.policy, name, std::move(opener), std::move(name_of), now);
  protection.backend_reason_ = config.dry_run ? "" : std::move(choice.why);
  return protection;
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
  if (!opened) return note_whole(opened.error(), now);
  note_whole(std::nullopt, now);
  backend_ = std::move(*opened);
  opened_ = true;
  follow_state(now);
  if (is_up() && !surveyed_) survey(now);
}

void Protection::survey(TimePoint now) {
  auto found = backend_->ports();
  if (!found) return note_whole(found.error(), now);  // and nothing is touched
  surveyed_ = true;
  for (dataplane::PortRef& port : *found) {
    PortRules& rules = entry(std::move(port));
    if (is_ours(rules.state))
      rules.assumed_up = true;
    else
      move(rules, RulesEvent::kFound);
  }
  found_rules_ = !found->empty();
  if (*found_rules_)
    found_until_ = now + std::max<Duration>(std::chrono::seconds(core::tx_ttl(agent_->settings())),
                                            kLeastPatience);
  for (auto& [port, rules] : ports_)
    if (is_ours(rules.state)) adopt(rules, now);
}

// One port.

PortRules* Protection::find(Ifindex port) {
  const auto at = ports_.find(port);
  return at == ports_.end() ? nullptr : &at->second;
}

const PortRules* Protection::find(Ifindex port) const {
  const auto at = ports_.find(port);
  return at == ports_.end() ? nullptr : &at->second;
}

PortRules* Protection::find_ours(Ifindex port) {
  PortRules* rules = find(port);
  return rules != nullptr && is_ours(rules->state) ? rules : nullptr;
}

PortRules& Protection::entry(dataplane::PortRef port) {
  PortRules& rules = ports_[port.ifindex];
  rules.port = std::move(port);
  return rules;
}

void Protection::move(PortRules& rules, RulesEvent event) {
  const bool was_ours = is_ours(rules.state);
  rules.state = next(rules.state, event);
  if (is_ours(rules.state) && !was_ours) ++ours_;
  if (!is_ours(rules.state) && was_ours) --ours_;
  schedule(rules);
}

void Protection::wake(PortRules& rules, TimePoint due) {
  rules.look_at = std::min(rules.look_at, due);
  schedule(rules);
}

void Protection::begin(PortRules& rules, PortRules::Change change) {
  rules.change = change;
  rules.turn = kNever;
  rules.in_force = false;
  move(rules, RulesEvent::kAsked);
}

void Protection::confirm(PortRules& rules) {
  const Ifindex port = rules.port.ifindex;
  const std::uint32_t wanted = agent_->request(port).generation;
  if (!opener_) {
    rules.generation = wanted;
  } else {
    if (!rules.in_force || rules.change || rules.assumed_up) return;
    // The same rules may be for a later request: the order went and came back.
    if (rules.programmed == class_of(rules)) rules.generation = wanted;
  }
  if (std::exchange(rules.confirmed, rules.generation) != rules.generation)
    in_force_.push_back({port, rules.generation});
}

void Protection::drop(PortRules& rules) {
  rules.failure.reset();
  move(rules, RulesEvent::kGone);
  untold_.insert(rules.port.ifindex);
}

// Ports come and go.

void Protection::add(Ifindex port, TimePoint now, bool stacked) {
  PortRules& rules = entry(ref(port));
  if (is_ours(rules.state)) return;
  rules.stacked = stacked;
  // What was found of it before it had an interface, by its name alone, is its own.
  for (auto& [number, other] : ports_) {
    if (dataplane::has_interface(number) || other.port.name != rules.port.name) continue;
    if (other.state == RulesState::kFound) move(rules, RulesEvent::kFound);
    drop(other);
  }
  rules.assumed_up = rules.state == RulesState::kFound;
  rules.failure.reset();
  untold_.insert(port);
  move(rules, RulesEvent::kAdded);
  if (rules.change) {  // of before: it is not known yet what is there
    begin(rules, {.target = rules.change->target, .again = true});
    if (!glances_since_) glances_since_ = now;
    rules.assumed_up = false;
  } else if (surveyed_) {
    adopt(rules, now);
  } else if (!opener_) {
    confirm(rules);
  }
}

void Protection::adopt(PortRules& rules, TimePoint now) {
  if (!glances_since_) glances_since_ = now;
  const Ifindex port = rules.port.ifindex;
  if (rules.assumed_up && agent_->settings().role == Role::kSwitch &&
      agent_->order(port) == Order::kUnknown && !agent_->ports_restored())
    return update(port, now);
  rules.assumed_up = false;
  rules.turn = now;
  schedule(rules);
}

void Protection::remove(Ifindex port, TimePoint now) {
  PortRules& rules = entry(ref(port));
  // A change that is under way, and the alarms that stand, outlive what was known.
  PortRules left{.port = std::move(rules.port),
                 .state = rules.state,
                 .change = rules.change,
                 .told_dataplane = std::move(rules.told_dataplane),
                 .told_displaced = std::move(rules.told_displaced),
                 .complains = rules.complains};
  rules = std::move(left);
  untold_.insert(port);
  unclassed_.forget(port);
  dcb_.erase(port);
  changed_ = true;
  if (backend_)
    leave(rules, now);
  else
    drop(rules);
}

void Protection::leave(PortRules& rules, TimePoint now) {
  move(rules, RulesEvent::kFound);  // where nothing was known: it may have rules
  move(rules, RulesEvent::kRemoved);
  if (is_up()) take_off(rules, now);  // else when the back end is back
}

void Protection::take_off(PortRules& rules, TimePoint now) {
  if (rules.state != RulesState::kLeaving) return;  // by an answer that has come meanwhile
  if (rules.change) return;                         // what is there is known when that is over
  const Ifindex port = rules.port.ifindex;
  auto plan = backend_->plan_removal(rules.port);
  if (!plan) return left(rules, {.port = port, .why = plan.error()}, now);
  if (plan->empty()) return left(rules, {.port = port}, now);
  begin(rules, {.removal = true});
  backend_->apply({.ports = {std::move(*plan)}});
  take_events(now);
}

void Protection::take_off_strays(TimePoint now) {
  if (!surveyed_ || !is_up()) return;
  auto there = backend_->ports();
  if (!there) return;  // what it has is told anew when that can be read
  std::erase_if(*there, [this](const dataplane::PortRef& port) {
    const PortRules* known = find(port.ifindex);
    return known != nullptr && known->state != RulesState::kNone;
  });
  take_off_strays(std::move(*there), now);
}

void Protection::take_off_strays(std::vector<dataplane::PortRef> strays, TimePoint now) {
  // One that is ours again, and has another number that the back end has not heard of yet.
  std::erase_if(strays, [this](const dataplane::PortRef& port) {
    return std::ranges::any_of(ports_, [&](const auto& our) {
      return is_ours(our.second.state) && name_of_(our.first) == port.name;
    });
  });
  if (strays.empty() || !is_alone_()) return;
  for (dataplane::PortRef& port : strays) {
    log(Severity::kNotice,
        "removing leftover rules from " + escape(port.name) + ", which is not in `ports`");
    leave(entry(std::move(port)), now);
  }
}

void Protection::left(PortRules& rules, const dataplane::Outcome& outcome, TimePoint now) {
  if (!outcome.why || outcome.why->code == ENODEV) return gone(outcome.port);
  if (!rules.failure) rules.failure = Failure{};
  rules.failure->again(outcome, now);
  schedule(rules);
  untold_.insert(outcome.port);
  changed_ = true;
}

void Protection::gone(Ifindex port) {
  PortRules* rules = find(port);
  if (rules == nullptr || rules->state != RulesState::kLeaving) return;
  backend_->forget(port);
  drop(*rules);
}

// What is wanted.

qos::PortClass Protection::class_of(const PortRules& rules) const {
  if (agent_->settings().role != Role::kSwitch) return {};
  const Ifindex port = rules.port.ifindex;
  const auto layers = agent_->layers(port);
  const core::Request request = agent_->request(port);
  const std::uint8_t lossy = agent_->classes().lossy_on(port);
  const bool shut = lossy != 0 && !splits_classes();
  const Order order = rules.assumed_up ? Order::kUp : request.order;
  return {.order = shut ? Order::kShut : order,
          .near = layers ? layers->near : Layer(),
          .restore = request.restore && !rules.assumed_up,
          .stacked = rules.stacked,
          .lossy = shut ? std::uint8_t{0} : lossy};
}

qos::Ruleset Protection::wanted(const PortRules& rules) const {
  const core::Settings& settings = agent_->settings();
  return qos::compile(policy_, class_of(rules), settings.role == Role::kSwitch && settings.layered);
}

bool Protection::is_due(PortRules& rules, TimePoint now) {
  if (agent_->order(rules.port.ifindex) != Order::kUnknown) rules.assumed_up = false;
  if (!is_up() || !is_ours(rules.state)) return false;
  if (rules.change) {
    rules.change->again = true;
    return false;
  }
  const qos::PortClass port_class = class_of(rules);
  rules.turn = kNever;
  if (rules.programmed == port_class) {
    if (!rules.failure) move(rules, RulesEvent::kDone);
    schedule(rules);
    confirm(rules);
    return false;
  }
  move(rules, RulesEvent::kWanted);
  // Up and shut are the safe side: classes only go forward, or do not cross. So is the end of
  // restoring, where nothing else changes.
  const bool ends_restoring = rules.programmed && rules.programmed->restores() &&
                              port_class.order == Order::kDown && !port_class.restore;
  if (is_safe(port_class.order) || ends_restoring || rules.credit.take(now)) return true;
  rules.turn = now + kCreditPause;
  schedule(rules);
  return false;
}

void Protection::update(Ifindex port, TimePoint now) {
  PortRules* rules = find_ours(port);
  if (rules == nullptr) return;
  if (!opener_) return confirm(*rules);
  if (is_due(*rules, now)) program(std::array{port}, now);
}

dataplane::Backend::Made Protection::made(Ifindex port) const {
  return backend_ ? backend_->made({port, std::string(name_of_(port))})
                  : dataplane::Backend::Made();
}

Result<void> Protection::accept_pfc(Ifindex port, bool accept, TimePoint now) {
  const dataplane::PortRef named = ref(port);
  if (!is_up())
    return fail(Error{0, named.name, "the data plane does not answer: try again when it does"});
  if (auto done = backend_->accept_pfc(named, accept); !done) return done;
  if (PortRules* rules = find_ours(port)) {
    rules->look_at = kNever;
    look(*rules, now);  // and the alarm goes, or is back
  }
  return {};
}

void Protection::update_all(qos::Policy policy, TimePoint now) {
  policy_ = std::move(policy);
  unclassed_untold_ = true;
  std::vector<Ifindex> due;
  for (auto& [port, rules] : ports_) {
    if (!is_ours(rules.state)) continue;
    untold_.insert(port);  // what is worth an alarm goes by the role too
    rules.programmed.reset();
    rules.in_force = false;
    if (rules.change) rules.change->target.reset();
    rules.credit = {};
    if (is_due(rules, now)) due.push_back(port);
  }
  program(due, now);
}

void Protection::set_dcb(Ifindex port, dcbnl::Settings settings) {
  dcbnl::Settings& known = dcb_[port];
  if (known != settings) changed_ = true;
  known = std::move(settings);
}

void Protection::link_changed(Ifindex port) {
  if (PortRules* rules = find_ours(port); backend_ && rules != nullptr) wake(*rules, kAtOnce);
}

void Protection::upper_changed(Ifindex port, TimePoint now) {
  if (PortRules* rules = find_ours(port); backend_ && rules != nullptr)
    wake(*rules, now + kUpperPause);
}

// What the back end tells.

void Protection::take_events(TimePoint now) {
  if (backend_) handle(backend_->take_events(), now);
}

void Protection::handle(const dataplane::Events& events, TimePoint now) {
  for (const dataplane::Outcome& outcome : events.outcomes) finish(outcome, now);
  bool any = false;
  for (const Ifindex port : events.changed) {
    any |= port == Ifindex();
    if (PortRules* rules = find_ours(port)) wake(*rules, kAtOnce);
  }
  if (any)
    for (auto& [port, rules] : ports_)
      if (is_ours(rules.state)) wake(rules, kAtOnce);
  follow_state(now);
  if (any) take_off_strays(now);
}

void Protection::follow_state(TimePoint now) {
  if (const auto why = backend_->down()) {
    if (is_up()) note_whole(why, now);
    return;
  }
  if (is_up()) return;
  note_whole(std::nullopt, now);
  std::vector<Ifindex> leaving;
  for (const auto& [port, rules] : ports_)
    if (rules.state == RulesState::kLeaving) leaving.push_back(port);
  for (const Ifindex port : leaving)
    if (PortRules* rules = find(port)) take_off(*rules, now);
  if (!surveyed_) return survey(now);
  // What it has is compared with what it should have, and only a difference is written.
  for (auto& [port, rules] : ports_) {
    if (!is_ours(rules.state)) continue;
    rules.programmed.reset();
    rules.in_force = false;
    rules.look_at = kNever;  // its outcome brings it there
    rules.turn = now;
    if (rules.change) rules.change->again = true;
    move(rules, RulesEvent::kWanted);
  }
}

void Protection::finish(const dataplane::Outcome& outcome, TimePoint now) {
  PortRules* rules = find(outcome.port);
  if (rules == nullptr || !rules->change) return;
  const PortRules::Change change = *std::exchange(rules->change, std::nullopt);
  if (rules->state == RulesState::kLeaving)
    return change.removal ? left(*rules, outcome, now) : take_off(*rules, now);
  if (!is_ours(rules->state)) return drop(*rules);  // gone meanwhile
  rules->programmed = outcome.why ? std::nullopt : change.target;
  rules->generation = change.generation;
  rules->in_force = rules->programmed && outcome.in_force;
  changed_ = true;
  move(*rules, outcome.why ? RulesEvent::kRefused : RulesEvent::kDone);
  if (change.target) note(*rules, outcome, now);  // else what is wanted now is still to come
  wake(*rules, kAtOnce);  // refused or not: what is there is what a later change is seen by
  if (!outcome.why && !outcome.in_force) rules->read_at = {};  // which does not wait for 100 ms
  confirm(*rules);
  if (change.again) update(outcome.port, now);
}

void Protection::program(std::span<const Ifindex> ports, TimePoint now) {
  dataplane::Plan plan;
  for (const Ifindex port : ports) {
    PortRules* rules = find_ours(port);
    if (rules == nullptr || rules->change) continue;
    const qos::Ruleset want = wanted(*rules);
    begin(*rules, {.target = want.port, .generation = agent_->request(port).generation});
    if (auto planned = backend_->plan(ref(port), want))
      plan.ports.push_back(std::move(*planned));
    else
      finish({.port = port, .why = planned.error()}, now);
  }
  if (plan.ports.empty()) return;
  backend_->apply(plan);
  take_events(now);
}

void Protection::look(PortRules& rules, TimePoint now) {
  const Ifindex port = rules.port.ifindex;
  rules.read_at = now;
  count_unclassed(std::span(&port, 1), now);
  if (!is_up() || rules.change) return;  // its outcome brings the port here again
  auto reading = backend_->verify(ref(port), wanted(rules));
  if (!reading) return note_unread(rules, reading.error(), now);
  // What stood in the way may be gone: no need to wait for its turn.
  if (rules.failure && (reading->mend.empty() || rules.parts != reading->parts)) {
    rules.failure->due =
        std::min(rules.failure->due, std::max(now, rules.failure->tried + Failure::kFirstRetry));
    schedule(rules);
  }
  if (rules.state == RulesState::kInstalled && !reading->mend.empty()) {
    if (auto lost = lost_parts(reading->mend); !lost.empty()) rules.lost = std::move(lost);
    const TimePoint next = std::max(rules.attempts.next(),
                                    rules.lost.empty() ? TimePoint::min() : rules.losses.next());
    if (now < next) {
      wake(rules, next);
    } else {
      rules.attempts.made(now);
      begin(rules, {.target = rules.programmed, .generation = rules.generation});
      backend_->apply({.ports = {reading->mend}});
      take_events(now);
      if (rules.change) return;
      rules.look_at = kNever;
      schedule(rules);
      if (auto again = backend_->verify(ref(port), wanted(rules))) reading = std::move(again);
      if (!reading->mend.empty()) wake(rules, rules.attempts.next());
    }
  }
  if (reading->mend.empty()) {
    rules.attempts = {};
    if (!rules.lost.empty()) {
      rules.losses.put_back(now);
      restored_.emplace_back(
          port, fmt::format("{}: another program had removed them", std::exchange(rules.lost, {})));
    }
  }
  if (std::string displaced = backend_->displaced(ref(port)); displaced != rules.displaced) {
    rules.displaced = std::move(displaced);
    untold_.insert(port);
  }
  if (rules.state == RulesState::kInstalled && rules.programmed == class_of(rules) &&
      std::ranges::all_of(reading->parts, acts)) {
    rules.in_force = true;
    confirm(rules);
  }
  if (rules.losses.fight(now)) wake(rules, rules.losses.calm_at());
  if (rules.parts == reading->parts && !rules.complains && !rules.losses.fight(now)) return;
  rules.parts = std::move(reading->parts);
  untold_.insert(port);
  changed_ = true;
}

void Protection::note(PortRules& rules, const dataplane::Outcome& outcome, TimePoint now) {
  if (!outcome.why || outcome.why->code == ENODEV) {  // gone: netlink tells, or has told
    if (!rules.failure) return;
    rules.failure.reset();
  } else {
    if (!rules.failure) rules.failure = Failure{};
    rules.failure->again(outcome, now);
  }
  schedule(rules);
  untold_.insert(rules.port.ifindex);
  changed_ = true;
}

void Protection::note_whole(std::optional<Error> why, TimePoint now) {
  if (!why) {
    if (!whole_) return;
    whole_.reset();
  } else {
    if (!whole_) whole_ = Failure{};
    whole_->again({.why = std::move(why)}, now);
  }
  whole_untold_ = true;
  changed_ = true;
}

void Protection::note_unread(PortRules& rules, const Error& why, TimePoint now) {
  const dataplane::Outcome outcome{.port = rules.port.ifindex, .why = why};
  if (why.code == ENODEV) return note(rules, outcome, now);
  if (!rules.failure) {
    move(rules, RulesEvent::kRefused);
    return note(rules, outcome, now);
  }
  if (std::exchange(rules.failure->outcome, outcome).why == why) return;
  untold_.insert(rules.port.ifindex);
  changed_ = true;
}

// Time.

std::optional<TimePoint> Protection::next_deadline() const {
  TimePoint next = kNever;
  const auto take = [&next](std::optional<TimePoint> due) {
    if (due) next = std::min(next, *due);
  };
  if (is_up()) {
    take(found_until_);
    take(turns_.first());
  } else if (whole_ && (!backend_ || is_unread())) {
    take(whole_->due);
  }
  if (ours_ != 0) take(glance_at());
  return next == kNever ? std::nullopt : std::optional(next);
}

std::optional<TimePoint> Protection::glance_at() const {
  if (!glances_since_ || !backend_) return std::nullopt;
  return *glances_since_ + backend_->glance_pause();
}

bool Protection::may_glance(TimePoint now) const {
  const auto due = glance_at();
  return due && *due - Duration(backend_->glance_pause()) / kEarlier <= now;
}

bool Protection::has_turn(TimePoint now) const {
  const auto due = next_deadline();
  return (due && *due <= now) || (ours_ != 0 && may_glance(now));
}

void Protection::end_found(std::vector<Ifindex>& turn, TimePoint now) {
  found_until_.reset();
  std::vector<dataplane::PortRef> strays;
  for (auto& [port, rules] : ports_) {
    if (std::exchange(rules.assumed_up, false)) {
      if (is_due(rules, now)) turn.push_back(port);
    } else if (rules.state == RulesState::kFound) {
      strays.push_back(rules.port);
      drop(rules);
    }
  }
  take_off_strays(std::move(strays), now);
}

void Protection::advance(TimePoint now) {
  if (whole_) {
    if (whole_->due <= now && !backend_)
      open_backend(now);
    else if (whole_->due <= now && is_unread())
      follow_state(now);
  } else if (backend_) {
    std::vector<Ifindex> turn;
    if (found_until_ && *found_until_ <= now) end_found(turn, now);
    const std::size_t most = backend_->ports_per_turn();
    for (const Ifindex port : turns_.due(now)) {
      PortRules* rules = find(port);
      if (rules == nullptr || rules->change) continue;
      if (rules->state == RulesState::kLeaving) {
        if (rules->failure && rules->failure->due <= now) take_off(*rules, now);
      } else if (turn.size() < most && ((rules->failure && rules->failure->due <= now) ||
                                        (rules->state == RulesState::kQueued &&
                                         rules->turn <= now && is_due(*rules, now)))) {
        turn.push_back(port);
      }
    }
    program(turn, now);
  }
  if (may_glance(now)) {
    glance(dataplane::Backend::Glance::kOfTime, now);
    glances_since_ = now;
  }
  if (!is_up()) return;
  std::size_t looks = 0;
  for (const Ifindex port : turns_.due(now)) {
    PortRules* rules = find_ours(port);
    if (rules == nullptr || rules->look_at > now) continue;
    if (looks++ == kPerTurn) break;
    rules->look_at = kNever;
    schedule(*rules);
    if (const TimePoint free = rules->read_at + kLookPause; now < free)
      wake(*rules, free);
    else
      look(*rules, now);
  }
}

void Protection::glance(dataplane::Backend::Glance why, TimePoint now) {
  if (why == dataplane::Backend::Glance::kOfQuestion) asked_at_ = now;
  std::vector<Ifindex> ours;
  for (const auto& [port, rules] : ports_)
    if (is_ours(rules.state)) ours.push_back(port);
  if (why == dataplane::Backend::Glance::kOfQuestion || !counted_at_ ||
      now - *counted_at_ >= kCountPause) {
    counted_at_ = now;
    count_unclassed(ours, now);
  }
  for (const Ifindex port : backend_->glance(ours, why))
    if (PortRules* rules = find_ours(port)) wake(*rules, kAtOnce);
}

void Protection::catch_up(TimePoint now) {
  if (!backend_) return;
  take_events(now);
  if (!is_up()) return;
  if (now - asked_at_ >= kLookPause) glance(dataplane::Backend::Glance::kOfQuestion, now);
  for (auto& [port, rules] : ports_) {
    if (!is_ours(rules.state) || std::exchange(rules.look_at, kNever) == kNever) continue;
    schedule(rules);
    look(rules, now);
  }
}

Result<void> Protection::flush() {
  if (!backend_) return {};
  if (const auto why = backend_->down()) return fail(*why);
  std::set<Ifindex> awaited;
  for (auto& [port, rules] : ports_)
    if (std::exchange(rules.change, std::nullopt)) awaited.insert(port);
  if (auto known = dataplane::wait_for(*backend_, std::move(awaited));
      !known && known.error().code == ETIMEDOUT)
    return known;
  return dataplane::remove_all(*backend_);
}

}  // namespace lldp::io
