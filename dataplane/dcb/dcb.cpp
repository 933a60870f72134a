// SPDX-License-Identifier: Apache-2.0
#include "dataplane/dcb/dcb.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/spelling.hpp"
#include "os/file.hpp"
#include "os/host.hpp"

namespace lldp::dataplane {
namespace {

using dcbnl::App;

std::vector<unsigned> priorities_of(unsigned bits) {
  std::vector<unsigned> out;
  for (unsigned p = 0; p <= Priority::kMax; ++p)
    if ((bits >> p & 1U) != 0) out.push_back(p);
  return out;
}

template <class A, class B>
std::vector<App> without(const A& all, const B& some) {
  std::vector<App> out;
  std::ranges::set_difference(all, some, std::back_inserter(out));
  return out;
}

/// What to do where a driver does not do what it is told.
std::string remedy(const std::string& port, const dcbnl::Settings& now) {
  return dcbnl::firmware_decides(now)
             ? fmt::format(
                   ": its firmware runs DCBX and decides: dcb dcbx set dev {0} host ieee, or "
                   "switch its LLDP agent off (ethtool --show-priv-flags {0})",
                   shell_word(port))
             : std::string();
}

}  // namespace

Dcb::Dcb(std::unique_ptr<dcb::Driver> driver, DcbOptions options, std::string boot)
    : driver_(std::move(driver)), options_(std::move(options)), boot_(std::move(boot)) {
  const auto file = read_file(options_.memory);
  if (!file) {
    if (file.error().code != ENOENT) damaged_ = file.error();
    return;
  }
  if (auto memory = dcb::parse(*file, boot_))
    memory_ = std::move(*memory);
  else
    damaged_ = Error{0, options_.memory, memory.error().what};
}

Result<std::unique_ptr<Backend>> Dcb::open(const DcbOptions& options) {
  auto driver = dcb::open_driver();
  if (!driver) return fail(driver.error());
  auto self = std::make_unique<Dcb>(std::move(*driver), options, boot_id().value_or(""));
  if (options.removing)
    if (auto what = self->overlooked()) return fail(*what);
  return self;
}

std::string Dcb::description() const {
  std::string text =
      "PFC and the DSCP map of the ports' drivers; what they had before is in " + options_.memory;
  if (damaged_) text += ", which " + damaged_->what;
  return text;
}

std::optional<Error> Dcb::overlooked() const {
  if (!damaged_) return std::nullopt;
  return Error{0, options_.memory,
               damaged_->what +
                   ": what the ports had before is not known: set their PFC and DSCP "
                   "map with dcb(8), and remove the file"};
}

const dcb::Originals* Dcb::originals(const PortRef& port) const {
  const auto at = memory_.find(port.ifindex);
  return at != memory_.end() ? &at->second : nullptr;
}

Backend::Made Dcb::made(const PortRef& port) const {
  Made out;
  const dcb::Originals* kept = originals(port);
  if (kept == nullptr) return out;
  const auto take = [](const std::set<App>& apps, std::vector<qos::Class>& to) {
    for (const App& app : apps) {
      const auto priority = Priority::make(app.priority);
      const auto dscp = Dscp::make(app.protocol);
      if (app.selector == dcbnl::kDscp && priority && dscp) to.push_back({*priority, *dscp});
    }
  };
  out.pfc = kept->turned_on;
  take(kept->added, out.added);
  take(kept->removed, out.removed);
  return out;
}

Dcb::Goal Dcb::goal_of(const PortRef& port, const dcbnl::Settings& now,
                       const qos::Ruleset& want) const {
  static const dcb::Originals kNothing;
  const dcb::Originals* kept = originals(port);
  if (kept == nullptr) kept = &kNothing;
  // As it would be without us.
  const unsigned before = now.pfc->enabled & ~unsigned{kept->turned_on};
  const std::set<App> have(now.apps.begin(), now.apps.end());
  std::set<App> base;
  std::ranges::set_difference(have, kept->added, std::inserter(base, base.end()));
  base.insert(kept->removed.begin(), kept->removed.end());

  std::set<App> ours;
  for (const qos::Class c : want.ingress)
    if ((want.pfc_enable >> c.priority.value() & 1U) != 0)
      ours.insert({dcbnl::kDscp, c.priority.value(), c.dscp.value()});
  std::set<App> target = ours;
  // A lossless priority is that of its classes' DSCPs alone: others there would be lossless, and
  // never turn. A port of unknown order may belong to a host, where nothing turns.
  unsigned taken = 0;
  if (want.port.order != Order::kUnknown)
    for (const qos::Class i : want.ingress) taken |= 1U << i.priority.value();
  taken &= ~(1U << want.lossy.priority.value());
  for (const App& app : base) {  // a DSCP has one priority
    const bool replaced = std::ranges::any_of(ours, [&](const App& our) {
      return app.selector == our.selector && app.protocol == our.protocol;
    });
    if (replaced) continue;
    const bool strays = app.selector == dcbnl::kDscp && (taken >> app.priority & 1U) != 0;
    const bool ours_too = std::ranges::find(want.ingress, app.protocol, [](const qos::Class& i) {
                            return i.dscp.value();
                          }) != want.ingress.end();
    target.insert(strays && !ours_too ? App{dcbnl::kDscp, want.lossy.priority.value(), app.protocol}
                                      : app);
  }
  const auto as_set = [](const std::vector<App>& v) { return std::set<App>(v.begin(), v.end()); };
  return {.pfc = static_cast<std::uint8_t>(before | want.pfc_enable),
          .add = without(target, have),
          .remove = without(have, target),
          .originals = {.name = port.name,
                        .turned_on = static_cast<std::uint8_t>(want.pfc_enable & ~before),
                        .added = as_set(without(target, base)),
                        .removed = as_set(without(base, target))}};
}

Result<Dcb::Look> Dcb::look(const PortRef& port, const qos::Ruleset& want) {
  Look out{.reading = {Part::kPfc, PartState::kDone, {}}};
  auto now = driver_->get(port.name);
  if (!now && now.error().code != EOPNOTSUPP) return fail(now.error());
  if (!now || !now->pfc) {
    out.reading.state = PartState::kUnsupported;
    out.reading.text = "the driver does not tell (no dcbnl): whether PFC is on is not known";
    return out;
  }
  out.now = std::move(*now);
  std::ranges::sort(out.now.apps);
  out.goal = goal_of(port, out.now, want);
  if (out.now.pfc->enabled == out.goal.pfc && out.goal.add.empty() && out.goal.remove.empty())
    return out;
  out.reading.state = PartState::kMissing;
  const unsigned cap = out.now.pfc->cap;
  if (cap != 0 && std::popcount(out.goal.pfc) > static_cast<int>(cap)) {
    out.reading.text = fmt::format(
        "PFC is to be on for {}, and the driver does {} at once: take others off, or "
        "fewer lossless classes",
        fmt::join(priorities_of(out.goal.pfc), ", "), cap);
    return out;
  }
  const auto stubborn = stubborn_.find(port.ifindex);
  if (stubborn != stubborn_.end() && stubborn->second.now == out.now &&
      stubborn->second.pfc == out.goal.pfc)
    out.reading = stubborn->second.reading;
  return out;
}

Result<PortPlan> Dcb::plan(const PortRef& port, const qos::Ruleset& want) {
  const auto found = look(port, want);
  if (!found) return fail(found.error());
  PortPlan plan{.port = port, .want = want};
  if (found->is_due())
    plan.changes.push_back(
        {originals(port) != nullptr ? Action::kReplace : Action::kAdd, Part::kPfc});
  return plan;
}

Result<PortPlan> Dcb::plan_removal(const PortRef& port) {
  PortPlan plan{.port = port};
  if (originals(port) != nullptr) plan.changes.push_back({Action::kRemove, Part::kPfc});
  return plan;
}

Result<Reading> Dcb::verify(const PortRef& port, const qos::Ruleset& want) {
  auto found = look(port, want);
  if (!found) return fail(found.error());
  Reading reading{.mend = {.port = port, .want = want}};
  if (found->is_due()) {
    reading.mend.changes.push_back(
        {originals(port) != nullptr ? Action::kReplace : Action::kAdd, Part::kPfc});
    const unsigned off = want.pfc_enable & ~unsigned{found->now.pfc->enabled};
    found->reading.text =
        off != 0 ? fmt::format("no PFC for priority {}", fmt::join(priorities_of(off), ", "))
                 : std::string("the driver's table of DSCPs and PFC are not as wanted");
  }
  seen_.insert_or_assign(port.ifindex, std::pair(port.name, std::move(found->now)));
  reading.parts.push_back(std::move(found->reading));
  return reading;
}

std::vector<Ifindex> Dcb::glance(std::span<const Ifindex> ports, Glance) {
  std::vector<Ifindex> changed;
  for (const Ifindex port : ports) {
    const auto seen = seen_.find(port);
    if (seen == seen_.end()) continue;
    auto now = driver_->get(seen->second.first);
    dcbnl::Settings settings = now && now->pfc ? std::move(*now) : dcbnl::Settings{};
    std::ranges::sort(settings.apps);
    if (settings != seen->second.second) changed.push_back(port);
  }
  return changed;
}

Outcome Dcb::put(const PortRef& port, const Look& look, Action action) {
  Outcome outcome{.port = port.ifindex};
  const auto refuse = [&](const Error& why) {
    outcome.refused = Change{action, Part::kPfc};
    outcome.why = why;
    return outcome;
  };
  // What is not kept cannot be put back: first that.
  const dcb::Memory before = memory_;
  memory_[port.ifindex] = look.goal.originals;
  if (const auto saved = save(); !saved) {
    memory_ = before;
    return refuse(saved.error());
  }
  const Goal& goal = look.goal;
  Result<void> done;
  bool mask_set = false;
  if (look.now.pfc->enabled != goal.pfc) {
    done = driver_->set_pfc(port.name, goal.pfc);
    mask_set = done.has_value();
  }
  if (done && !goal.remove.empty()) done = driver_->remove(port.name, goal.remove);
  if (done && !goal.add.empty()) done = driver_->add(port.name, goal.add);
  PartReading reading{Part::kPfc, PartState::kMissing, {}};
  if (!done) {
    const Error why = done.error();
    if (undo(port, look)) {
      memory_ = before;
      (void)save();  // at worst it holds one more, and putting back what is there changes nothing
    }
    if (why.code == ENODEV || why.code == EPERM) return refuse(why);
    if (why.code == EOPNOTSUPP) reading.state = PartState::kUnsupported;
    reading.text = fmt::format(
        "the driver refuses {}: {}{}",
        mask_set || look.now.pfc->enabled == goal.pfc
            ? "the map of DSCPs"
            : fmt::format("PFC for priority {}", fmt::join(priorities_of(goal.pfc), ", ")),
        why.what, remedy(port.name, look.now));
  }
  auto now = driver_->get(port.name);
  if (!now || !now->pfc) return outcome;  // the next look says what is wrong
  std::ranges::sort(now->apps);
  if (done) {
    const bool has_pfc = now->pfc->enabled == goal.pfc;
    const bool has_map =
        std::ranges::includes(now->apps, std::vector<App>(goal.add.begin(), goal.add.end()));
    if (has_pfc && has_map) {
      stubborn_.erase(port.ifindex);
      return outcome;
    }
    reading.state = PartState::kUnsupported;
    reading.text = fmt::format("the driver accepts {} and does not do it{}",
                               has_pfc ? "the map of DSCPs" : "PFC", remedy(port.name, *now));
  }
  stubborn_.insert_or_assign(
      port.ifindex,
      Stubborn{.now = std::move(*now), .pfc = goal.pfc, .reading = std::move(reading)});
  return outcome;
}

bool Dcb::undo(const PortRef& port, const Look& look) {
  // A request for several entries may have been done in part: what is there decides.
  const auto now = driver_->get(port.name);
  if (!now || !now->pfc) return false;
  const std::set<App> have(now->apps.begin(), now->apps.end());
  std::vector<App> added;
  std::ranges::set_intersection(look.goal.add, have, std::back_inserter(added));
  const std::vector<App> lost = without(look.goal.remove, have);
  bool undone = added.empty() || driver_->remove(port.name, added);
  if (!lost.empty() && !driver_->add(port.name, lost)) undone = false;
  if (now->pfc->enabled != look.now.pfc->enabled &&
      !driver_->set_pfc(port.name, look.now.pfc->enabled))
    undone = false;
  return undone;
}

Result<void> Dcb::restore(const PortRef& port) {
  const dcb::Originals kept = *originals(port);
  const auto forget = [&]() -> Result<void> {
    memory_.erase(port.ifindex);
    return save();
  };
  // Gone, or called otherwise now; by its name another one may have come.
  const auto name = driver_->name_of(port.ifindex);
  if (!name) return forget();
  const auto now = driver_->get(*name);
  if (!now) return now.error().code == ENODEV ? forget() : fail(now.error());
  const std::set<App> have(now->apps.begin(), now->apps.end());
  std::vector<App> gone;
  std::ranges::set_intersection(have, kept.added, std::back_inserter(gone));
  const std::vector<App> back = without(kept.removed, have);
  Result<void> done;
  if (now->pfc && (now->pfc->enabled & kept.turned_on) != 0)
    done = driver_->set_pfc(
        *name, static_cast<std::uint8_t>(now->pfc->enabled & ~unsigned{kept.turned_on}));
  if (done && !gone.empty()) done = driver_->remove(*name, gone);
  if (done && !back.empty()) done = driver_->add(*name, back);
  if (!done && done.error().code != ENODEV) return done;
  return forget();
}

Outcome Dcb::apply(const PortPlan& plan) {
  Outcome outcome{.port = plan.port.ifindex};
  if (!plan.want) {
    if (originals(plan.port) == nullptr) return outcome;
    stubborn_.erase(plan.port.ifindex);
    if (const auto done = restore(plan.port); !done) {
      outcome.refused = Change{Action::kRemove, Part::kPfc};
      outcome.why = done.error();
    }
    return outcome;
  }
  const auto found = look(plan.port, *plan.want);
  if (!found) {
    outcome.why = found.error();
    return outcome;
  }
  if (!found->is_due()) return outcome;
  return put(plan.port, *found, originals(plan.port) != nullptr ? Action::kReplace : Action::kAdd);
}

void Dcb::apply(const Plan& plan) {
  for (const PortPlan& port : plan.ports) outcomes_.push_back(apply(port));
}

Events Dcb::take_events() { return {.outcomes = std::exchange(outcomes_, {})}; }

void Dcb::forget(Ifindex port) {
  stubborn_.erase(port);
  seen_.erase(port);
  if (memory_.erase(port) != 0)
    (void)save();  // at worst it holds one more, of an interface that is not any more
}

Result<std::vector<PortRef>> Dcb::ports() {
  std::vector<PortRef> out;
  for (const auto& [ifindex, originals] : memory_)
    out.push_back({ifindex, driver_->name_of(ifindex).value_or(originals.name)});
  return out;
}

Result<void> Dcb::save() const {
  return replace_file(options_.memory, memory_.empty() ? "" : dcb::format(memory_, boot_))
      .map_error([](Error e) {
        e.what.insert(0, "what the ports had before ");
        return e;
      });
}

}  // namespace lldp::dataplane
