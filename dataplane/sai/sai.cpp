// SPDX-License-Identifier: Apache-2.0
#include "dataplane/sai/sai.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/text.hpp"
#include "os/file.hpp"

namespace lldp::dataplane {
namespace {

using sai::Oid;

}  // namespace

Sai::Sai(SaiOptions options, UniqueFd poll, Timer timer)
    : options_(std::move(options)), poll_(std::move(poll)), timer_(std::move(timer)) {
  const auto file = read_file(options_.memory);
  if (!file) {
    if (file.error().code != ENOENT) damaged_ = file.error();
    return;
  }
  if (auto memory = sai::parse_memory(*file))
    memory_ = std::move(*memory);
  else
    damaged_ = Error{0, options_.memory, memory.error().what};
}

Sai::~Sai() = default;  // the process ends with its connection

std::string Sai::description() const {
  std::string text = means() == Means::kAcl ? "an ACL over the up ports" : "QoS maps of the ports";
  text += view_.release.empty() ? ", by libsai" : ", by libsai (SAI " + view_.release + ")";
  text += "; what they had before is in " + options_.memory;
  if (damaged_) text += ", which " + damaged_->what;
  unsigned taken = 0;
  for (const auto& [name, original] : memory_.ports) taken |= original.before.pfc & ~original.pfc;
  return text + map_notes(costs_, taken);
}

std::string Sai::displaced(const PortRef& port) const {
  const auto at = memory_.ports.find(port.name);
  if (at == memory_.ports.end()) return {};
  const unsigned taken = at->second.before.pfc & ~at->second.pfc;
  return taken == 0 ? std::string() : pfc_taken_text(taken);
}

// What is read.

void Sai::refresh(const std::shared_ptr<Task>& task) {
  jobs_.push_back({.request = [this]() -> std::optional<sai::Request> {
                     sai::Read read{.acl = memory_.acl};
                     std::set<Oid> maps;
                     for (const auto& [oid, map] : memory_.maps) maps.insert(oid);
                     for (const auto& [name, original] : memory_.ports)
                       maps.insert(original.before.maps.begin(), original.before.maps.end());
                     maps.erase(0);
                     read.maps.assign(maps.begin(), maps.end());
                     return read;
                   },
                   .answered =
                       [this, task](const sai::Answer& answer) {
                         if (const auto* view = std::get_if<sai::View>(&answer)) {
                           take(*view);
                           if (task) finish(task);
                           return;
                         }
                         const auto* refused = std::get_if<sai::Refused>(&answer);
                         fall(refused != nullptr ? escape(refused->why)
                                                 : "libsai's process answers something else");
                       }});
  send_next();
}

void Sai::take(sai::View view) {
  const bool was_down = std::exchange(down_, std::nullopt).has_value();
  if (was_down || view != view_) events_.changed.emplace_back();
  view_ = std::move(view);
  // A library that cannot tell now may be able to later.
  if (view_.can_acl &&
      memory_.acl.table !=
          view_.acl.table) {  // gone; or made by a daemon that died before recording it
    memory_.acl = view_.acl;
    (void)save();
  }
  if (jobs_.empty()) clean_up();
  maps_.clear();  // they go by what ports had before ours
}

void Sai::finish(const std::shared_ptr<Task>& task) {
  // After the removal of objects that are not referred to any more.
  jobs_.push_back({.request = [this, task]() -> std::optional<sai::Request> {
    if (tasks_.erase(task) != 0)
      for (const auto& [port, outcome] : task->outcomes) events_.outcomes.push_back(outcome);
    return std::nullopt;
  }});
}

void Sai::clean_up() {
  bool changed = false;
  // Its objects belonged to an earlier start of the chip, or another program has replaced all of
  // them.
  changed |= std::erase_if(memory_.ports, [&](const auto& entry) {
               return view_.ports.contains(entry.first) && !is_ours(entry.first);
             }) != 0;
  changed |= std::erase_if(memory_.maps, [&](const auto& entry) {
               return !view_.maps.contains(entry.first) || !is_our_map(entry.first);
             }) != 0;
  if (changed) (void)save();
  // A port that could not be read may have any of them.
  if (std::ranges::all_of(memory_.ports, [&](const auto& entry) { return find(entry.first); }))
    for (const auto& [oid, map] : memory_.maps)
      if (!is_used(oid)) drop_map(oid, map);
  if (view_.acl.table == 0) return;
  // A kill came before it was bound, or before it was removed; or another program has bound another
  // table.
  const bool is_bound = view_.bound == view_.acl.table;
  const auto ours = [this](const auto& port) { return is_ours(port.first); };
  if (is_bound && (!view_.acl.ports.empty() || std::ranges::any_of(view_.ports, ours))) return;
  const auto none = std::make_shared<Task>();
  for (const Oid port : view_.acl.ports) none->leaves.emplace(port, Ifindex());
  set_acl(none);
}

bool Sai::is_used(Oid map) const {
  return std::ranges::any_of(view_.ports, [map](const auto& port) {
    return std::ranges::find(port.second.maps, map) != port.second.maps.end();
  });
}

void Sai::drop_map(Oid oid, const sai::Map& map) {
  jobs_.push_back({.request = [this, oid]() -> std::optional<sai::Request> {
                     if (is_used(oid)) return std::nullopt;  // meanwhile
                     memory_.maps.erase(oid);                // not referred to from now on
                     return sai::Drop{oid};
                   },
                   .answered =
                       [this, oid, map](const sai::Answer& answer) {
                         if (std::holds_alternative<sai::Done>(answer))
                           view_.maps.erase(oid);
                         else
                           memory_.maps[oid] = map;  // another time
                         (void)save();
                       }});
}

Result<void> Sai::save() const {
  return replace_file(options_.memory, memory_.empty() ? "" : sai::format(memory_))
      .map_error([](Error e) {
        e.what.insert(0, "what the ports had before ");
        return e;
      });
}

std::optional<Sai::Means> Sai::means() const {
  for (const MapKind kind : {MapKind::kDscpToTc, MapKind::kTcToQueue, MapKind::kTcToGroup})
    if (!view_.can_map[index(kind)]) return std::nullopt;
  if (view_.can_map[index(MapKind::kTcToDscp)]) return Means::kMaps;
  return view_.can_acl ? std::optional(Means::kAcl) : std::nullopt;
}

const sai::Port* Sai::find(const std::string& port) const {
  const auto at = view_.ports.find(port);
  return at == view_.ports.end() ? nullptr : &at->second;
}

bool Sai::is_our_map(Oid map) const {
  const auto ours = memory_.maps.find(map);
  const auto there = view_.maps.find(map);
  // By its numbers too: after a restart of the chip's software others get these ids.
  return ours != memory_.maps.end() && there != view_.maps.end() && ours->second == there->second;
}

bool Sai::is_ours(const std::string& name) const {
  const auto kept = memory_.ports.find(name);
  const sai::Port* port = find(name);
  return kept != memory_.ports.end() && port != nullptr && kept->second.before.oid == port->oid &&
         std::ranges::any_of(port->maps, [&](Oid map) { return is_our_map(map); });
}

QosMaps Sai::before() const {
  // Those of the first port that has any, as they were before ours: the same at each start.
  for (const auto& [name, port] : view_.ports) {
    const auto kept = memory_.ports.find(name);
    const sai::Port& then = kept != memory_.ports.end() ? kept->second.before : port;
    if (!view_.maps.contains(then.maps[index(MapKind::kDscpToTc)])) continue;
    QosMaps maps;
    for (const MapKind kind : kMapKinds)
      if (const auto at = view_.maps.find(then.maps[index(kind)]); at != view_.maps.end())
        maps[index(kind)] = at->second.numbers;
    return maps;
  }
  return {};
}

const Result<PortMaps>& Sai::maps_of(const qos::Ruleset& rules) {
  const auto known = std::ranges::find(maps_, rules, [](const auto& entry) { return entry.first; });
  if (known != maps_.end()) return known->second;
  qos::Ruleset these = rules;
  if (means() != Means::kMaps) {
    these.remaps.clear();  // what turns is the ACL's
    // Without a map of traffic classes to DSCPs no port restores: the queue alone would be wrong.
    if (these.port.restores()) these.leaving.clear();
  }
  const unsigned most = view_.traffic_classes != 0 ? view_.traffic_classes : kUsualTrafficClasses;
  return maps_.emplace_back(rules, dataplane::maps_of(these, before(), most)).second;
}

std::vector<sai::Turn> Sai::turns_of(const qos::Ruleset& rules) {
  std::vector<sai::Turn> turns;
  for (const qos::Remap& remap : rules.remaps) {
    const unsigned priority = remap.to.priority.value();
    const bool lossless = (rules.pfc_enable >> priority & 1U) != 0;
    turns.push_back({remap.from.dscp.value(), lossless ? priority : 0, remap.to.dscp.value()});
  }
  return turns;
}

// What is planned, and what stands.

std::optional<std::string> Sai::why_never(const qos::Ruleset& rules) const {
  if (rules.layered)
    return "layers (port.NAME.layers) need more traffic classes than a switch chip has";
  if (!means())
    return "this libsai sets neither TC_AND_COLOR_TO_DSCP_MAP of ports nor an ACL over in and out "
           "ports (IN_PORTS, OUT_PORTS, SET_TC, SET_DSCP)";
  return std::nullopt;
}

Result<void> Sai::find_port(const PortRef& port) const {
  if (find(port.name) != nullptr) return {};
  return fail(Error{::if_nametoindex(port.name.c_str()) == 0 ? ENODEV : 0, port.name,
                    "libsai has no host interface of that name: leave it out of `ports`"});
}

bool Sai::has_part(const std::string& port, Part part) const {
  const sai::Port* there = find(port);
  return is_ours(port) || (part == Part::kRemap && there != nullptr && is_in_acl(*there));
}

Result<MapCosts> Sai::costs_of(const qos::Ruleset& rules) {
  const auto& maps = maps_of(rules);
  if (!maps) return fail(maps.error());
  return maps->costs;
}

bool Sai::is_set(const std::string& port, Part part, const qos::Ruleset& rules) {
  const auto& wanted = maps_of(rules);
  const sai::Port* there = find(port);
  if (!wanted || there == nullptr) return false;
  for (const MapKind kind : kMapKinds) {
    if (part_of(kind) != part || !view_.can_map[index(kind)]) continue;
    const QosMap& numbers = wanted->maps[index(kind)];
    const auto map = view_.maps.find(there->maps[index(kind)]);
    if (numbers.empty() ? there->maps[index(kind)] != 0
                        : map == view_.maps.end() || map->second != sai::Map{kind, numbers})
      return false;
  }
  if (part == Part::kRemap && means() == Means::kAcl && !is_acl_foreign())
    return acl_holds(*there, rules);
  return part != Part::kPfc || there->pfc == rules.pfc_enable;
}

std::optional<PartReading> Sai::crossing_limit(const qos::Ruleset& in, const qos::Ruleset& out) {
  if (down_ || means() != Means::kMaps) return std::nullopt;  // an ACL tells ports apart
  const auto& maps = maps_of(out);
  return maps ? dataplane::crossing_limit(in, out, maps->merged) : std::nullopt;
}

std::optional<PartReading> Sai::why_not_done(const std::string& port, Part part,
                                             const qos::Ruleset& rules, bool set) {
  if (part == Part::kPfc && !view_.can_pfc)
    return PartReading{part, PartState::kUnsupported,
                       "this libsai does not set PFC of ports: whether it is on is not known"};
  if (part != Part::kRemap) return std::nullopt;
  if (const bool shut = !rules.entering.empty(); means() == Means::kAcl && !rules.leaving.empty())
    return PartReading{part, shut ? PartState::kBypassed : PartState::kLimited,
                       std::string(shut ? "lossless packets leave the shut port with their DSCP"
                                        : "last hop lossy: spare classes are not restored") +
                           ": this libsai does not set TC_AND_COLOR_TO_DSCP_MAP of ports"};
  if (means() == Means::kMaps) {
    const auto& maps = maps_of(rules);
    if (!set || !maps) return std::nullopt;
    if (maps->last_hop_lossy) return last_hop_lossy(part);
    const sai::Port* there = find(port);
    if (maps->maps[index(MapKind::kTcToDscp)].empty() || options_.rewrite_verified ||
        there == nullptr || there->rewrites)
      return std::nullopt;
    return rewrite_unverified(part, "TC_AND_COLOR_TO_DSCP_MAP");
  }
  if (means() != Means::kAcl || rules.remaps.empty() || !is_acl_foreign()) return std::nullopt;
  return PartReading{part, PartState::kForeign,
                     fmt::format("the switch has an ACL of another program at its ingress (oid "
                                 "{:#x}), and one alone can be there",
                                 view_.bound)};
}

bool Sai::is_acl_foreign() const { return view_.bound != 0 && view_.bound != view_.acl.table; }

bool Sai::is_in_acl(const sai::Port& port) const {
  // One whose entries have not all the same ports was left so by a refusal.
  if (view_.acl.table != 0 && view_.acl.ports.empty()) return true;
  return std::ranges::find(view_.acl.ports, port.oid) != view_.acl.ports.end();
}

bool Sai::acl_holds(const sai::Port& port, const qos::Ruleset& rules) const {
  const bool in = is_in_acl(port);
  if (rules.remaps.empty()) return !in;
  return in && !view_.acl.ports.empty() && view_.bound == view_.acl.table &&
         view_.acl.turns == turns_of(rules);
}

Result<PortPlan> Sai::plan(const PortRef& port, const qos::Ruleset& want) {
  return plan_from(port, want);
}

Result<PortPlan> Sai::plan_removal(const PortRef& port) { return plan_from(port, std::nullopt); }

Result<Reading> Sai::verify(const PortRef& port, const qos::Ruleset& want) {
  numbers_.note(port);
  return read_maps(*this, port, want, costs_);
}

// What is changed.

Oid Sai::our_map(const sai::Map& wanted) const {
  for (const auto& [oid, map] : memory_.maps)
    if (map == wanted && is_our_map(oid)) return oid;
  return 0;
}

void Sai::make_map(const sai::Map& map, const std::shared_ptr<Task>& task) {
  jobs_.push_back({.request = [this, map]() -> std::optional<sai::Request> {
                     if (our_map(map) != 0) return std::nullopt;
                     return map;
                   },
                   .answered =
                       [this, map, task](const sai::Answer& answer) {
                         if (const auto* done = std::get_if<sai::Done>(&answer)) {
                           view_.maps[done->made] = memory_.maps[done->made] = map;
                           (void)save();
                         } else if (const auto* refused = std::get_if<sai::Refused>(&answer)) {
                           task->no_map = error(escape(refused->why));
                         }
                       }});
}

void Sai::set_port(const PortRef& port, const PortMaps& wanted, unsigned pfc,
                   const std::shared_ptr<Task>& task) {
  const bool fresh = !is_ours(port.name);
  jobs_.push_back({.request = [=, this]() -> std::optional<sai::Request> {
                     const sai::Port* there = find(port.name);
                     if (there == nullptr) return std::nullopt;
                     sai::Set set{.port = there->oid};
                     for (const MapKind kind : kMapKinds) {
                       if (!view_.can_map[index(kind)]) continue;
                       const QosMap& numbers = wanted.maps[index(kind)];
                       const Oid map = numbers.empty() ? 0 : our_map({kind, numbers});
                       if (!numbers.empty() && map == 0) {
                         task->refuse(port.ifindex,
                                      task->no_map.value_or(error("a QoS map was not made")));
                         return std::nullopt;
                       }
                       if (map != there->maps[index(kind)]) set.maps.emplace_back(kind, map);
                     }
                     if (view_.can_pfc && there->pfc != pfc) set.pfc = pfc;
                     if (fresh) memory_.ports[port.name].before = *there;
                     memory_.ports[port.name].pfc = pfc;
                     // What cannot be put back is not changed.
                     if (auto kept = save(); !kept) {
                       if (fresh) memory_.ports.erase(port.name);
                       task->refuse(port.ifindex, kept.error());
                       return std::nullopt;
                     }
                     if (set.maps.empty() && !set.pfc) return std::nullopt;
                     return set;
                   },
                   .answered =
                       [=](const sai::Answer& answer) {
                         // What it had before is remembered until it is read that nothing of
                         // ours is there: undoing may have been refused too.
                         if (const auto* refused = std::get_if<sai::Refused>(&answer))
                           task->refuse(port.ifindex, error(escape(refused->why)));
                       }});
}

void Sai::restore_port(const PortRef& port, const std::shared_ptr<Task>& task) {
  jobs_.push_back({.request = [=, this]() -> std::optional<sai::Request> {
                     const sai::Port* there = find(port.name);
                     const auto kept = memory_.ports.find(port.name);
                     if (there == nullptr || kept == memory_.ports.end()) return std::nullopt;
                     const auto& [before, ours] = kept->second;
                     sai::Set set{.port = there->oid, .pfc_first = true};
                     for (const MapKind kind : kMapKinds) {
                       // A value that another program has set since stays. Down ports have no
                       // rewriting.
                       const Oid now = there->maps[index(kind)];
                       if (!is_our_map(now) && !(now == 0 && kind == MapKind::kTcToDscp)) continue;
                       const Oid then = before.maps[index(kind)];
                       const Oid back = view_.maps.contains(then) ? then : 0;  // it may be gone
                       if (back != now) set.maps.emplace_back(kind, back);
                     }
                     if (view_.can_pfc && there->pfc == ours && before.pfc != ours)
                       set.pfc = before.pfc;
                     return set;
                   },
                   .answered =
                       [=, this](const sai::Answer& answer) {
                         if (const auto* refused = std::get_if<sai::Refused>(&answer))
                           return task->refuse(port.ifindex, error(escape(refused->why)));
                         memory_.ports.erase(port.name);
                         (void)save();
                       }});
}

void Sai::set_acl(const std::shared_ptr<Task>& task) {
  jobs_.push_back({.request = [this, task]() -> std::optional<sai::Request> {
                     std::set<Oid> ports(view_.acl.ports.begin(), view_.acl.ports.end());
                     for (const auto& [port, ifindex] : task->leaves) ports.erase(port);
                     for (const auto& [port, ifindex] : task->joins)
                       if (!task->outcomes[ifindex].why) ports.insert(port);
                     return sai::SetAcl{.acl = memory_.acl,
                                        .turns = task->turns.value_or(view_.acl.turns),
                                        .ports = {ports.begin(), ports.end()}};
                   },
                   .answered =
                       [this, task](const sai::Answer& answer) {
                         if (const auto* refused = std::get_if<sai::Refused>(&answer)) {
                           for (const auto* ports : {&task->joins, &task->leaves})
                             for (const auto& [port, ifindex] : *ports)
                               task->refuse(ifindex, error(escape(refused->why)));
                         } else if (const auto* acl = std::get_if<sai::Acl>(&answer)) {
                           const bool foreign = is_acl_foreign();  // beside ours, which may go
                           memory_.acl = view_.acl = *acl;
                           if (acl->table != 0 || !foreign) view_.bound = acl->table;
                           (void)save();
                         }
                       }});
}

void Sai::apply(const Plan& plan) {
  const auto task = std::make_shared<Task>();
  std::vector<std::pair<PortRef, std::optional<qos::Ruleset>>> ports;
  for (const PortPlan& port : plan.ports) {
    const auto left = plan_from(port.port, port.want);
    if (!left || left->empty()) {
      events_.outcomes.push_back({.port = port.port.ifindex});
      if (!left) events_.outcomes.back().why = left.error();
      continue;
    }
    task->outcomes[port.port.ifindex] = {.port = port.port.ifindex};
    ports.emplace_back(port.port, left->want);
  }
  if (ports.empty()) return;
  std::vector<std::function<void()>> sets;
  for (const auto& [port, want] : ports) {
    const sai::Port* there = find(port.name);
    const bool joins = want && means() == Means::kAcl && !want->remaps.empty() && !is_acl_foreign();
    if (joins) {
      task->joins.emplace(there->oid, port.ifindex);
      task->turns = turns_of(*want);
    } else if (there != nullptr) {
      if (is_in_acl(*there)) task->leaves.emplace(there->oid, port.ifindex);
    }
    if (!want) {
      restore_port(port, task);
      continue;
    }
    const auto& wanted = maps_of(*want);
    if (!wanted) continue;  // it was planned, so there are some
    for (const MapKind kind : kMapKinds) {
      const sai::Map map{kind, wanted->maps[index(kind)]};
      if (!map.numbers.empty() && view_.can_map[index(kind)] && task->making.insert(map).second)
        make_map(map, task);
    }
    sets.emplace_back([this, port = port, maps = *wanted, pfc = want->pfc_enable, task] {
      set_port(port, maps, pfc, task);
    });
  }
  for (const auto& set : sets) set();
  if (!task->joins.empty() || !task->leaves.empty()) set_acl(task);
  tasks_.insert(task);
  refresh(task);  // known when all has been read back
}

Result<std::vector<PortRef>> Sai::ports() {
  if (down_) return fail(*down_);
  std::vector<std::string> names;
  for (const auto& [name, port] : view_.ports)
    if (is_ours(name) || is_in_acl(port)) names.push_back(name);
  return numbers_.ports(names);
}

}  // namespace lldp::dataplane
