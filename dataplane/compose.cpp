// SPDX-License-Identifier: Apache-2.0
#include "dataplane/compose.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "os/poll_set.hpp"

namespace lldp::dataplane {
namespace {

void sort_by_part(std::vector<Change>& changes) {
  std::ranges::stable_sort(changes, {}, &Change::part);
}

}  // namespace

Compose::Compose(std::vector<std::unique_ptr<Backend>> members, UniqueFd events)
    : members_(std::move(members)), glances_(members_.size()), events_(std::move(events)) {
  for (const auto& member : members_) name_.append(name_.empty() ? "" : ",").append(member->name());
}

Result<std::unique_ptr<Backend>> Compose::of(std::vector<std::unique_ptr<Backend>> members) {
  for (const Part part : kParts) {
    const Backend* claimed = nullptr;
    for (const auto& member : members) {
      if (!member->does(part)) continue;
      if (claimed != nullptr)
        return fail(Error{0, "backend",
                          std::string(claimed->name()) + " and " + std::string(member->name()) +
                              " both do " + std::string(to_string(part)) + ": leave one out"});
      claimed = member.get();
    }
  }
  std::vector<Awaited> awaited;
  for (const auto& member : members)
    if (member->events() >= 0) awaited.push_back({member->events()});
  auto events = make_poll_set("backend", awaited);
  if (!events) return fail(events.error());
  return std::unique_ptr<Backend>(new Compose(std::move(members), std::move(*events)));
}

std::string Compose::description() const {
  std::string text;
  for (const auto& member : members_)
    text.append(text.empty() ? "" : "; ")
        .append(member->name())
        .append(": ")
        .append(member->description());
  return text;
}

Capabilities Compose::capabilities() const {
  Capabilities all{};
  for (const auto& member : members_) {
    const Capabilities its = member->capabilities();
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], its[i]);
  }
  return all;
}

std::optional<Error> Compose::down() const {
  for (const auto& member : members_)
    if (auto why = member->down()) return why;
  return std::nullopt;
}

std::optional<Error> Compose::overlooked() const {
  for (const auto& member : members_)
    if (auto what = member->overlooked()) return what;
  return std::nullopt;
}

bool Compose::splits_classes() const {
  return std::ranges::all_of(members_, [](const auto& member) {
    return member->splits_classes() ||
           !(member->does(Part::kClassify) || member->does(Part::kRemap));
  });
}

std::optional<PartReading> Compose::crossing_limit(const qos::Ruleset& in,
                                                   const qos::Ruleset& out) {
  for (const auto& member : members_)
    if (auto limit = member->crossing_limit(in, out)) return limit;
  return std::nullopt;
}

std::size_t Compose::ports_per_turn() const {
  std::size_t least = members_.front()->ports_per_turn();
  for (const auto& member : members_) least = std::min(least, member->ports_per_turn());
  return least;
}

Result<void> Compose::prepare(std::span<const qos::Ruleset> rules) {
  for (const auto& member : members_)
    if (auto done = member->prepare(rules); !done) return done;
  return {};
}

Result<PortPlan> Compose::plan(const PortRef& port, const qos::Ruleset& want) {
  PortPlan whole{.port = port, .want = want};
  for (const auto& member : members_) {
    const auto its = member->plan(port, want);
    if (!its) return fail(its.error());
    std::ranges::copy(its->changes, std::back_inserter(whole.changes));
  }
  sort_by_part(whole.changes);
  return whole;
}

Result<Reading> Compose::verify(const PortRef& port, const qos::Ruleset& want) {
  Reading whole{.mend = {.port = port, .want = want}};
  for (const auto& member : members_) {
    auto its = member->verify(port, want);
    if (!its) return fail(its.error());
    std::ranges::move(its->parts, std::back_inserter(whole.parts));
    std::ranges::move(its->mend.changes, std::back_inserter(whole.mend.changes));
  }
  for (const Part part : {Part::kClassify, Part::kRemap})  // which every port needs
    if (!does(part))
      whole.parts.push_back({part, PartState::kUnsupported, "no back end here does it"});
  std::ranges::stable_sort(whole.parts, {}, &PartReading::part);
  sort_by_part(whole.mend.changes);
  return whole;
}

Result<PortPlan> Compose::plan_removal(const PortRef& port) {
  PortPlan whole{.port = port};
  for (const auto& member : members_) {
    const auto its = member->plan_removal(port);
    if (!its) return fail(its.error());
    std::ranges::copy(its->changes, std::back_inserter(whole.changes));
  }
  sort_by_part(whole.changes);
  return whole;
}

void Compose::apply(const Plan& plan) {
  std::vector<Plan> theirs(members_.size());
  for (const PortPlan& port : plan.ports) {
    Pending pending{.waiting = std::vector<bool>(members_.size()),
                    .outcome = {.port = port.port.ifindex}};
    for (std::size_t i = 0; i < members_.size(); ++i) {
      PortPlan its{.port = port.port, .want = port.want};
      std::ranges::copy_if(port.changes, std::back_inserter(its.changes), [&](const Change& c) {
        return c.action == Action::kRemove ? members_[i]->removes(c.part)
                                           : members_[i]->does(c.part);
      });
      if (its.empty()) continue;
      pending.waiting[i] = true;
      theirs[i].ports.push_back(std::move(its));
    }
    if (std::ranges::find(pending.waiting, true) == pending.waiting.end())
      outcomes_.push_back({.port = port.port.ifindex, .in_force = false});
    else
      pending_.insert_or_assign(port.port.ifindex, std::move(pending));
  }
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (!theirs[i].ports.empty()) members_[i]->apply(theirs[i]);
}

void Compose::finish(std::size_t member, const Outcome& outcome, std::vector<Outcome>& out) {
  const auto at = pending_.find(outcome.port);
  if (at == pending_.end()) return;
  Pending& pending = at->second;
  pending.waiting[member] = false;
  pending.outcome.in_force &= outcome.in_force;
  if (outcome.why && !pending.outcome.why) pending.outcome = outcome;
  if (std::ranges::find(pending.waiting, true) != pending.waiting.end()) return;
  out.push_back(std::move(pending.outcome));
  pending_.erase(at);
}

Events Compose::take_events() {
  Events all{.outcomes = std::exchange(outcomes_, {})};
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Events its = members_[i]->take_events();
    std::ranges::move(its.changed, std::back_inserter(all.changed));
    for (const Outcome& outcome : its.outcomes) finish(i, outcome, all.outcomes);
  }
  return all;
}

std::chrono::seconds Compose::glance_pause() const {
  auto least = members_.front()->glance_pause();
  for (const auto& member : members_) least = std::min(least, member->glance_pause());
  return least;
}

std::vector<Ifindex> Compose::glance(std::span<const Ifindex> ports, Glance why) {
  const std::chrono::seconds pause = glance_pause();
  std::set<Ifindex> all;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (why == Glance::kOfTime && ++glances_[i] * pause < members_[i]->glance_pause()) continue;
    glances_[i] = 0;
    for (const Ifindex port : members_[i]->glance(ports, why)) all.insert(port);
  }
  return {all.begin(), all.end()};
}

void Compose::links_changed() {
  for (const auto& member : members_) member->links_changed();
}

void Compose::forget(Ifindex port) {
  for (const auto& member : members_) member->forget(port);
}

Result<std::vector<PortRef>> Compose::ports() {
  std::map<Ifindex, PortRef> all;
  for (const auto& member : members_) {
    const auto its = member->ports();
    if (!its) return fail(its.error());
    for (const PortRef& port : *its) all.emplace(port.ifindex, port);
  }
  std::vector<PortRef> out;
  for (auto& [ifindex, port] : all) out.push_back(std::move(port));
  return out;
}

Result<Bounces> Compose::bounces(Ifindex port) {
  Bounces sum{};
  for (const auto& member : members_) {
    const auto its = member->bounces(port);
    if (!its) return fail(its.error());
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += (*its)[i];
  }
  return sum;
}

void Compose::count_unclassed(std::span<const Ifindex> ports, const EachUnclassed& each) {
  bool counted = false;
  for (const auto& member : members_) {
    if (counted) return;  // one counts
    member->count_unclassed(ports, [&](Ifindex port, const Unclassed& counts) {
      counted = true;
      each(port, counts);
    });
  }
}

const PlatformClasses* Compose::platform() const {
  for (const auto& member : members_)
    if (const PlatformClasses* its = member->platform()) return its;
  return nullptr;
}

qos::Carried Compose::carried(const PortRef& port) const {
  qos::Carried told;
  for (const auto& member : members_) told = told.or_else(member->carried(port));
  return told;
}

std::string Compose::alias(const PortRef& port) const {
  for (const auto& member : members_)
    if (auto alias = member->alias(port); !alias.empty()) return alias;
  return {};
}

Backend::Made Compose::made(const PortRef& port) const {
  Made all;
  for (const auto& member : members_) {
    const Made of = member->made(port);
    all.pfc = static_cast<std::uint8_t>(all.pfc | of.pfc);
    all.added.insert(all.added.end(), of.added.begin(), of.added.end());
    all.removed.insert(all.removed.end(), of.removed.begin(), of.removed.end());
  }
  return all;
}

std::string Compose::displaced(const PortRef& port) const {
  for (const auto& member : members_)
    if (auto what = member->displaced(port); !what.empty()) return what;
  return {};
}

Result<void> Compose::accept_pfc(const PortRef& port, bool accept) {
  for (const auto& member : members_)
    if (member->does(Part::kPfc)) return member->accept_pfc(port, accept);
  return Backend::accept_pfc(port, accept);
}

}  // namespace lldp::dataplane
