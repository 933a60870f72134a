// SPDX-License-Identifier: Apache-2.0
#include "agent/core/port.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "agent/core/classes.hpp"
#include "base/spelling.hpp"
#include "base/text.hpp"

namespace lldp::core {
namespace {

bool hears_switch_tlv(const Port& port) {
  return std::any_of(port.table.all().begin(), port.table.all().end(),
                     [](const Neighbor& n) { return n.claims_switch && !n.superseded; });
}

/// More are not named in one line.
constexpr std::size_t kNames = 4;

/// The names of the neighbors that `wanted` picks, each MSAP once; of many the first.
template <class Predicate>
std::string names(const Port& port, Predicate wanted) {
  std::string out;
  const Neighbor* last = nullptr;
  std::size_t count = 0;
  for (const Neighbor& n : port.table.all()) {
    if (n.superseded || !wanted(n) ||
        (last != nullptr && as_text(last->msap()) == as_text(n.msap())))
      continue;
    last = &n;
    if (++count > kNames) continue;
    if (count > 1) out += ", ";
    out += name_of(n);
  }
  return count > kNames ? out + " and " + std::to_string(count - kNames) + " more" : out;
}

bool has_no_level(const Neighbor& n) { return n.forwards && !n.level && !n.superseded; }
bool is_host(const Neighbor& n) { return n.device == DeviceType::kHost; }
/// Spare classes that leave to it are restored.
bool sees_no_spare(const Neighbor& n) { return is_host(n) && !n.speaks_for_itself(); }
bool is_superseded(const Neighbor& n) { return n.superseded; }
/// By a TLV of ours, or by what it shows.
bool hears_forwarder(const Port& port) {
  return std::ranges::any_of(port.table.all(), [](const Neighbor& n) {
    return !n.superseded &&
           (n.forwards || n.claims_switch || (n.level && *n.level > Level::of<0>()));
  });
}
/// By a TLV of ours.
bool is_switch(const Neighbor& n) {
  return !n.superseded && (n.claims_switch || (n.level && *n.level > Level::of<0>()));
}

std::size_t count_msaps(const Port& port) {
  std::size_t count = 0;
  const Neighbor* last = nullptr;
  for (const Neighbor& n : port.table.all()) {
    if (n.superseded) continue;
    count += last == nullptr || as_text(last->msap()) != as_text(n.msap());  // else in two scopes
    last = &n;
  }
  return count;
}

/// What the cabling plan has to say of the port; nothing where there is none.
std::optional<cabling::Finding> find_in_plan(const Port& port, const Standing& own) {
  if (own.expected == nullptr) return std::nullopt;
  std::vector<cabling::Heard> heard;
  const Neighbor* last = nullptr;
  for (const Neighbor& n : port.table.all()) {
    if (n.superseded || (last != nullptr && as_text(last->msap()) == as_text(n.msap()))) continue;
    heard.push_back({.system_name = escape(n.system_name()),
                     .chassis_id = to_string(n.chassis_id()),
                     .port_id = to_string(n.port_id()),
                     .port_description = escape(n.port_description()),
                     .is_switch = n.claims_switch});
    last = &n;
  }
  return own.expected->judge(escape(port.link.name), heard);
}

/// Whether the layers that a neighbor tells differ from those set here (docs/develop/rules.md O6).
bool contradicts(const Port& port, const std::optional<Layers>& told, bool of_switch,
                 bool layered) {
  if (port.link.layers) return told != port.link.layers->mirrored();
  return told || (layered && of_switch);
}

bool contradicts(const Port& port, const Neighbor& n, bool layered) {
  return !n.superseded && contradicts(port, n.layers, n.claims_switch, layered);
}

bool layers_contradict(const Port& port, bool layered) {
  const auto& all = port.table.all();
  if (std::any_of(all.begin(), all.end(), [&](const Neighbor& n) {
        return contradicts(port, n, layered) ||
               (port.link.layers && n.layers_unproved && !n.superseded);
      }))
    return true;
  using Kind = PortMemory::Kind;
  const PortMemory& memory = port.memory;
  const bool somebody = memory.kind == Kind::kSwitch || memory.kind == Kind::kHost || memory.layers;
  return somebody && (memory.own_layers != port.link.layers ||
                      contradicts(port, memory.layers, memory.kind == Kind::kSwitch, layered));
}

std::string layers_text(const Port& port, bool layered) {
  const auto text = [](const std::optional<Layers>& l) { return l ? to_string(*l) : "none"; };
  for (const Neighbor& n : port.table.all()) {
    if (!contradicts(port, n, layered)) continue;
    if (!port.link.layers)
      return "no layers are set here, and " + describe(n) +
             (n.layers ? " tells " + text(n.layers) : " is a switch");
    return "layers " + text(port.link.layers) + " are set here, and " + describe(n) + " tells " +
           text(n.layers) + ", not " + text(port.link.layers->mirrored());
  }
  return {};
}

/// Whose acknowledgement is missing.
std::string agents_text(const Port& port) {
  std::string who;
  for (const KnownAgent& v : port.orders.agents())
    if (!v.host && (v.heard || !port.orders.any_heard()) && !v.chassis.octets.empty())
      who += (who.empty() ? "" : ", ") + to_string(v.chassis);
  return who.empty() ? "no agent has acknowledged our rank here" : "no acknowledgement from " + who;
}

std::uint8_t lacking(unsigned lossless, unsigned enabled) {
  return static_cast<std::uint8_t>(lossless & ~enabled);
}

/// A neighbor is heard that has to do with the fabric: a port for management needs no PFC.
bool is_of_the_fabric(const Port& port) {
  const auto& all = port.table.all();
  return std::any_of(all.begin(), all.end(), [](const Neighbor& n) {
    return !n.superseded && (n.level || n.claims_switch || n.pfc_enabled);
  });
}

/// Lossless priorities that have no PFC at our end.
std::uint8_t without_pfc_here(const Port& port, const Standing& own) {
  if (!port.link.pfc || !is_of_the_fabric(port)) return 0;
  const bool to_host = std::ranges::all_of(port.table.all(), sees_no_spare);
  return lacking(to_host ? own.lossless_at_hosts : own.lossless, port.link.pfc->enabled);
}

/// The same at a neighbor's end, by its own word.
std::uint8_t without_pfc_at(const Neighbor& n, const Standing& own) {
  return n.pfc_enabled && !n.superseded
             ? lacking(sees_no_spare(n) ? own.lossless_at_hosts : own.lossless, *n.pfc_enabled)
             : 0;
}

/// `priorities 5, 6`
std::string listed(unsigned priorities) {
  std::string list;
  for (unsigned p = 0; p < 8; ++p)
    if ((priorities >> p & 1U) != 0)
      list.append(list.empty() ? "" : ", ").append(std::to_string(p));
  return (list.size() == 1 ? "priority " : "priorities ") + list;
}

/// `priorities 5, 6 have no PFC`
std::string no_pfc(unsigned priorities) {
  return listed(priorities) + (std::popcount(priorities) == 1 ? " has" : " have") + " no PFC ";
}

/// Priorities with PFC that are in no lossless class; where no class is known, none is.
std::uint8_t beyond_classes(unsigned enabled, const Standing& own) {
  return own.chains != nullptr && !own.chains->empty() ? lacking(enabled, own.lossless) : 0;
}

std::uint8_t beyond_classes_here(const Port& port, const Standing& own) {
  return port.link.pfc && is_of_the_fabric(port) ? beyond_classes(port.link.pfc->enabled, own) : 0;
}
std::uint8_t beyond_classes_at(const Neighbor& n, const Standing& own) {
  return n.pfc_enabled && !n.superseded ? beyond_classes(*n.pfc_enabled, own) : 0;
}

/// `priority 4 has PFC at srv port p1 and is in no lossless class`
std::string beyond_text(unsigned priorities, const std::string& where) {
  const bool one = std::popcount(priorities) == 1;
  return listed(priorities) + (one ? " has PFC " : " have PFC ") + where +
         (one ? " and is in no lossless class" : " and are in no lossless class");
}

std::string pfc_text(const Port& port, const Standing& own) {
  std::string text;
  if (const auto here = without_pfc_here(port, own); here != 0) text = no_pfc(here) + "here";
  const Neighbor* last = nullptr;
  for (const Neighbor& n : port.table.all()) {
    const auto there = without_pfc_at(n, own);
    if (there == 0 || (last != nullptr && as_text(last->msap()) == as_text(n.msap()))) continue;
    text.append(text.empty() ? "" : "; ").append(no_pfc(there)).append("at ").append(describe(n));
    last = &n;
  }
  unsigned beyond = beyond_classes_here(port, own);
  if (beyond != 0) text.append(text.empty() ? "" : "; ").append(beyond_text(beyond, "here"));
  last = nullptr;
  for (const Neighbor& n : port.table.all()) {
    const unsigned there = beyond_classes_at(n, own);
    if (there == 0 || (last != nullptr && as_text(last->msap()) == as_text(n.msap()))) continue;
    text.append(text.empty() ? "" : "; ").append(beyond_text(there, "at " + describe(n)));
    beyond |= there;
    last = &n;
  }
  if (beyond != 0)
    text += "; if lossless traffic uses it: qos.lossless = " + with_chains_for(*own.chains, beyond);
  return text;
}

/// The layers that all neighbors of the port tell of their end, if they agree; nothing if no
/// neighbor is heard.
std::optional<std::optional<Layers>> layers_told(const Port& port) {
  std::optional<std::optional<Layers>> told;
  for (const Neighbor& n : port.table.all()) {
    if (n.superseded) continue;
    if (told && *told != n.layers) return std::optional<Layers>();
    told = n.layers;
  }
  return told;
}

/// True if that is new.
bool remember_layers(PortMemory& memory, const Port& port, std::optional<Layers> told) {
  const auto& all = port.table.all();
  const bool proved = std::none_of(
      all.begin(), all.end(), [](const Neighbor& n) { return n.layers_unproved && !n.superseded; });
  const auto own = proved ? port.link.layers : std::nullopt;
  const bool again = memory.layers == told && memory.own_layers == own;
  memory.layers = told;
  memory.own_layers = own;
  return !again;
}

bool out_of_room(const Port& port) {
  return std::any_of(port.agents.begin(), port.agents.end(),
                     [](const PortAgent& a) { return a.tooManyNeighbors(); });
}

}  // namespace

bool Port::counts_as_host() const {
  return host_port && link.up && !expects_switch() && !hears_switch_tlv(*this);
}

TimePoint Port::deadline() const {
  TimePoint due = earliest(alarm_due(), memory_until, repeat_at, shared_until, stock_at);
  if (!held.empty()) due = std::min(due, changes.opens_at());
  for (const PortAgent& a : agents) {
    due = earliest(due, core::deadline(a.tx_timer_state, a.tx_state, a.tx), a.tooManyNeighborsTimer,
                   a.own_frame_forgotten, a.tell_at);
  }
  for (const Neighbor& n : table.all())
    due = earliest(due, n.rxInfoTTL, n.claim_stands ? n.claim_until : kNever);
  return due;
}

bool Port::waits_for(Level level) const {
  return std::any_of(table.all().begin(), table.all().end(), [&](const Neighbor& n) {
    return n.claims_switch && (!n.level || n.level->value() > level.value() + 1);
  });
}

void summarize(Port& port) {
  port.heard = {};
  port.decisive = Port::kNobody;
  port.hears_switch = false;
  const auto& all = port.table.all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Neighbor& n = all[i];
    if (n.superseded) continue;
    const bool is_level_of_switch = n.level && *n.level > Level::of<0>();
    port.hears_switch |= is_switch(n);
    if (is_level_of_switch)
      port.heard.switches.push_back({.level = *n.level, .chassis = hash_of(n.chassis_id())});
    if (n.level && (!port.heard.lowest || *n.level < *port.heard.lowest)) {
      port.heard.lowest = n.level;
      port.decisive = static_cast<std::uint32_t>(i);
    }
  }
  if (port.counts_as_host() && port.heard.lowest != Level::of<0>()) {
    port.heard = {.lowest = Level::of<0>()};
    port.decisive = Port::kNobody;
    port.hears_switch = false;
  }
}

bool remember(Port& port) {
  const auto& all = port.table.all();
  const auto layers = layers_told(port);
  if (std::none_of(all.begin(), all.end(),
                   [](const Neighbor& n) { return n.level && !n.superseded; })) {
    return layers && remember_layers(port.memory, port, *layers);
  }
  PortMemory memory{.kind = PortMemory::Kind::kHost};
  remember_layers(memory, port, layers.value_or(std::nullopt));
  for (const Neighbor& n : all) {
    if (n.superseded || n.device == DeviceType::kHost || !n.last_level) continue;
    if (port.host_port && !n.claims_switch) continue;  // there it takes our TLV to be a switch
    Position at{.level = *n.last_level, .chassis = n.chassis_id()};
    if (memory.kind == PortMemory::Kind::kSwitch && at <= memory.at) continue;
    memory.kind = PortMemory::Kind::kSwitch;
    // Whose claim stands has said nothing of its own.
    const bool stands = n.claim_stands && port.memory.kind == memory.kind && port.memory.at == at;
    memory.tiers = stands ? port.memory.tiers : n.location();
    memory.at = std::move(at);
  }
  port.memory_until = kNever;
  return std::exchange(port.memory, memory) != memory;
}

bool forget_former_port(Port& port) {
  if (port.memory.kind != PortMemory::Kind::kSwitch) return false;
  const Neighbor* is = nullptr;
  for (const Neighbor& n : port.table.all()) {
    if (n.superseded || n.claim_stands || is_host(n) || !n.last_level ||
        n.chassis_id() != port.memory.at.chassis)
      continue;
    if (is == nullptr || *n.last_level > *is->last_level) is = &n;
  }
  if (is == nullptr) return false;
  // No more than that: no frame has proved layers.
  PortMemory memory = port.memory;
  memory.at.level = *is->last_level;
  memory.tiers = is->location();
  return std::exchange(port.memory, memory) != memory;
}

bool forget_proof(Port& port) {
  for (Neighbor& n : port.table.all()) n.layers_unproved = true;
  return std::exchange(port.memory.own_layers, std::nullopt).has_value();
}

bool forget_carrier(Port& port) {
  using Kind = PortMemory::Kind;
  port.memory_until = kNever;
  PortMemory memory;
  if (port.memory.misses_switch())
    memory.kind = port.memory.is_switch() ? Kind::kAbove : Kind::kLeft;
  return std::exchange(port.memory, memory) != memory;
}

bool fade_memory(Port& port) {
  port.memory_until = kNever;
  // Without a neighbor: its agent may be dead, and its rules there.
  if (port.expects_switch() && port.table.size() == 0 && !port.host_port) return false;
  PortMemory memory;
  if (port.memory.misses_switch() && port.table.size() == 0) memory.kind = PortMemory::Kind::kLeft;
  return std::exchange(port.memory, memory) != memory;
}

bool forget_memory(Port& port) {
  port.memory_until = kNever;
  return std::exchange(port.memory, PortMemory{}) != PortMemory{};
}

namespace {

/// True if the memory is another.
bool end_silence(Port& port) {
  using Kind = PortMemory::Kind;
  port.switch_left = false;
  // A neighbor that comes later than one TTL after the carrier is another one.
  const bool over = port.memory.kind == Kind::kAbove && port.memory_until == kNever;
  if (port.memory.kind != Kind::kLeft && !over) return false;
  port.memory.kind = Kind::kNobody;
  return true;
}

}  // namespace

bool hear_news(Port& port, const Neighbor& speaker) {
  const bool ended = end_silence(port);
  const bool remembered = remember(port);
  note_host(port, speaker);
  return remembered || ended;
}

void note_host(Port& port, const Neighbor& speaker) {
  if (!is_host(speaker) || speaker.superseded) return;
  const auto& all = port.table.all();
  if (std::none_of(all.begin(), all.end(), is_switch)) port.hears_switch = false;
}

void name_host_port(Port& port, bool named, TimePoint now) {
  // It is silent for more than one TTL already: fade_memory() left that to a port of a switch.
  if (named && port.memory.kind == PortMemory::Kind::kAbove && port.silent &&
      port.memory_until == kNever && may_receive(port.link.adminStatus))
    port.memory_until = now;
  port.host_port = named;
}

bool remember_silence(Port& port) {
  using Kind = PortMemory::Kind;
  if (!port.silent || port.memory.kind != Kind::kNobody) return false;
  port.memory.kind = Kind::kLeft;
  return true;
}

void watch_for_silence(Port& port, bool heard_switch, TimePoint now) {
  if (!port.link.up) {
    port.silent = port.switch_left = port.awaited = false;
    return;
  }
  if (heard_switch && !port.hears_switch) {
    port.silent_at = now;
    port.switch_left = true;
  }
  if (port.hears_switch) port.switch_left = false;
  const bool missed = !port.hears_switch && (port.memory.misses_switch() || port.switch_left);
  port.silent = missed && (port.silent || port.silent_at <= now);
  port.awaited = port.memory.misses_switch() && !port.hears_switch && !port.silent;
}

Order order_of(const Port& port, const Position& rank, const Speaker& self, bool layered) {
  using Kind = PortMemory::Kind;
  const bool own = std::any_of(port.agents.begin(), port.agents.end(),
                               [](const PortAgent& a) { return a.hears_itself(); });
  const bool contradiction = layers_contradict(port, layered);
  if (const auto& layers = port.link.layers)
    return own || contradiction || layers->far >= layers->near ? Order::kUp : Order::kDown;
  if (own || contradiction) return Order::kUp;
  const bool speaks = may_send(port.link.adminStatus) && may_receive(port.link.adminStatus);
  const auto by_agents = port.orders.order(rank, self);
  if (by_agents) return speaks ? *by_agents : Order::kUp;
  if (port.link.up && port.memory.kind == Kind::kSwitch)  // tells its level, and nothing waits
    return port.memory.at >= rank ? Order::kUp : Order::kDown;
  const bool stock_host = port.memory.kind == Kind::kHost && port.stock && !hears_forwarder(port);
  if (port.link.up && (stock_host || port.counts_as_host()))
    return rank == Position{} ? Order::kUp : Order::kDown;
  return port.orders.ever_heard() ? Order::kUp : Order::kUnknown;
}

bool ends_at_host(const Port& port) {
  const bool host = port.memory.kind == PortMemory::Kind::kHost || port.counts_as_host();
  // A host with an agent may be a switch in the next moment, with rules of its own in force before
  // we hear of that.
  return host && !port.link.layers && !port.orders.any() && !hears_forwarder(port) &&
         std::ranges::none_of(port.table.all(), [](const Neighbor& n) {
           return !n.superseded && n.speaks_for_itself();
         });
}

void watch_for_unordered(Port& port, const Standing& own, TimePoint now) {
  const auto& all = port.table.all();
  // A neighbor that has told a level, or sends our TLV, has an order.
  const bool ordered = port.memory.is_switch() || port.link.layers || port.counts_as_host() ||
                       port.orders.any_heard();
  if (own.role == Role::kHost || ordered || !std::any_of(all.begin(), all.end(), has_no_level)) {
    port.unprotected_at = kNever;
  } else if (port.unprotected_at == kNever) {
    port.unprotected_at = now + kUnprotectedGrace;
  }
}

void watch_for_missing(Port& port, const Standing& own, TimePoint now) {
  const auto& all = port.table.all();
  if (!std::all_of(all.begin(), all.end(), is_superseded) || !find_in_plan(port, own)) {
    port.missing_at = kNever;
  } else if (port.missing_at == kNever) {
    port.missing_at = now + own.missing_grace;
  }
}

void watch_for_conflict(Port& port, const Standing& own, TimePoint now) {
  const auto& all = port.table.all();
  const bool conflict = std::any_of(all.begin(), all.end(), [&](const Neighbor& n) {
    return !n.superseded &&
           (n.location_conflicts || (own.role == Role::kSwitch && n.tlvs_conflict));
  });
  port.conflict_at = conflict ? std::min(port.conflict_at, now + kConflictGrace) : kNever;
}

void watch_for_unheard(Port& port, const Standing& own, TimePoint now) {
  const bool own_frames = std::any_of(port.agents.begin(), port.agents.end(),
                                      [](const PortAgent& a) { return a.hears_itself(); });
  port.heard_any |= port.table.size() != 0 || own_frames;
  if (!port.link.up && std::exchange(port.heard_any, false)) port.heard_before = true;
  const bool silent = own.role == Role::kSwitch && port.link.up && !port.heard_any &&
                      port.memory == PortMemory{} && !port.host_port && !port.link.layers &&
                      !port.link.may_be_unheard;
  if (!silent)
    port.unheard_at = kNever;
  else if (port.unheard_at == kNever)
    // A stock agent may go on in its rhythm when the carrier comes back.
    port.unheard_at = now + (port.heard_before ? own.missing_grace : kUnheardGrace);
  port.unheard = port.unheard_at <= now;
}

AlarmSet alarms_of(const Port& port, const Standing& own, TimePoint now) {
  AlarmSet set;
  const auto put = [&set](AlarmCode code, bool stands) { set.put(code, stands); };
  // A neighbor with our agent ID has a copy of our state.
  const bool copied = port.orders.loops() && port.table.size() != 0;
  put(AlarmCode::kSelfLoop,
      copied || std::any_of(port.agents.begin(), port.agents.end(),
                            [](const PortAgent& a) { return a.hears_itself(); }));
  if (const auto finding = find_in_plan(port, own))
    put(AlarmCode::kCabling, finding->verdict == cabling::Verdict::kMissing
                                 ? port.missing_at <= now
                                 : finding->verdict != cabling::Verdict::kAsExpected);
  put(AlarmCode::kPfcMismatch, (without_pfc_here(port, own) | beyond_classes_here(port, own)) != 0);
  for (const Neighbor& n : port.table.all())
    put(AlarmCode::kPfcMismatch, (without_pfc_at(n, own) | beyond_classes_at(n, own)) != 0);
  put(AlarmCode::kTlvConflict, port.conflict_at <= now);
  put(AlarmCode::kMtu, port.cut_short && port.link.up && may_send(port.link.adminStatus));
  if (own.role == Role::kHost) return set;  // levels that it hears are nothing to it

  const auto& all = port.table.all();
  const bool host = port.heard.lowest == Level::of<0>();
  if (port.heard.lowest && own.level) {
    const int distance = port.heard.lowest->value() - own.level->value();
    // Levels say nothing of a link between layers.
    put(AlarmCode::kCrosslink, distance == 0 && !port.link.layers && !port.link.may_be_crosslink);
    put(AlarmCode::kLevelSkip, !host && (distance < -1 || distance > 1) && !port.link.layers);
    put(AlarmCode::kHostAboveLeaf, host && own.pinned && *own.level > Level::of<1>());
  }
  put(AlarmCode::kManyNeighbors, (all.size() > 1 && count_msaps(port) > 1) || out_of_room(port) ||
                                     port.shared_until != kNever || port.orders.several_heard());
  for (const Neighbor& n : all)
    put(AlarmCode::kCabling,
        (port.host_port && n.claims_switch && !n.superseded) || contradicts(port, n, own.layered));
  put(AlarmCode::kUnprotected, port.unprotected_at <= now);
  put(AlarmCode::kSilent, port.silent || port.held_at() <= now);
  // By its level the operator says that a fabric is here.
  put(AlarmCode::kUnheard, port.unheard && (own.has_switch_port || own.pinned));
  return set;
}

std::string alarm_text(AlarmCode code, const Port& port, const Standing& own) {
  const auto number = [](std::optional<Level> l) { return std::to_string(l ? l->value() : 0); };
  const Neighbor* decisive = port.decisive_neighbor();
  const std::string who = decisive != nullptr ? name_of(*decisive) : "a silent host";
  switch (code) {
    case AlarmCode::kCrosslink:
      return who + " stands on our own level " + number(own.level);
    case AlarmCode::kLevelSkip:
      return who + " has level " + number(port.heard.lowest) + ", we have " + number(own.level);
    case AlarmCode::kHostAboveLeaf: {
      const std::string hosts = names(port, is_host);
      return "host " + (hosts.empty() ? who : hosts) + " where the level is pinned to " +
             number(own.level);
    }
    case AlarmCode::kManyNeighbors:
      if (port.shared_until != kNever && count_msaps(port) < 2)
        return "several devices send as " + names(port, [](const Neighbor&) { return true; }) +
               ", with one chassis ID and port ID and different addresses: the level and the order "
               "of the port are those of the last; give each device a chassis ID of its own";
      if (count_msaps(port) < 2 && !out_of_room(port))
        return "several agents were heard on this carrier, so the port is up; if one device is "
               "there: `lldp-level forget " +
               argument(port.link.name) + "`, then the same at its end";
      if (count_msaps(port) == 0) return "more neighbors were heard than the port has room for";
      return std::to_string(count_msaps(port)) +
             (count_msaps(port) == 1 ? " neighbor: " : " neighbors: ") +
             names(port, [](const Neighbor&) { return true; }) +
             (out_of_room(port) ? "; more found no room" : "");
    case AlarmCode::kTlvConflict: {
      const std::string levels = names(port, [](const Neighbor& n) { return n.tlvs_conflict; });
      const std::string tiers = names(port, [](const Neighbor& n) { return n.location_conflicts; });
      std::string text;
      if (own.role == Role::kSwitch && !levels.empty())
        text = levels + ": tr and contribution TLV disagree; tr is taken";
      if (!tiers.empty())
        text += (text.empty() ? "" : "; ") + tiers +
                ": location TLV contradicts level or chassis ID; it is not taken";
      return text;
    }
    case AlarmCode::kSelfLoop:
      if (port.orders.loops() && port.table.size() != 0)
        return "our own agent ID is heard: is the port looped, or does another device have a copy "
               "of our state directory? There stop lldp-leveld and remove its state file; then "
               "`lldp-level forget " +
               argument(port.link.name) + "`";
      return "our own frames come back: is the port looped, or our chassis ID used twice?";
    case AlarmCode::kCabling: {
      std::string text;
      if (own.role != Role::kHost && port.host_port && hears_switch_tlv(port))
        text = "switch " + names(port, [](const Neighbor& n) { return n.claims_switch; }) +
               " where host-ports expects a host";
      if (const std::string layers = layers_text(port, own.layered);
          own.role != Role::kHost && !layers.empty())
        text += (text.empty() ? "" : "; ") + layers;
      const auto finding = find_in_plan(port, own);
      if (finding && finding->verdict != cabling::Verdict::kAsExpected)
        text += (text.empty() ? "" : "; ") + finding->text();
      return text;
    }
    case AlarmCode::kPfcMismatch:
      return pfc_text(port, own);
    case AlarmCode::kUnprotected: {
      const std::string ours =
          names(port, [](const Neighbor& n) { return has_no_level(n) && n.speaks_for_itself(); });
      if (!ours.empty())
        return "switch " + ours +
               " runs an agent and tells no level, so packets between it and this port turn "
               "unchanged: there, name the ports of its hosts in host-ports, or pin `level`";
      return "switch " + names(port, has_no_level) +
             " tells no level: run lldp-leveld there, or leave the port out: `ports = ...,-" +
             spell(port.link.name) + "`";
    }
    case AlarmCode::kUnheard: {
      const std::string name = spell(port.link.name);
      const bool deaf = !may_receive(port.link.adminStatus);
      return std::string(deaf ? "carrier, and the port may not receive LLDP"
                              : "carrier, and no LLDP frame was ever heard") +
             ": if a switch is there, packets from it turn unchanged; " +
             (deaf ? "set port." + name + ".admin = rxtx" : "run an LLDP agent there") +
             ", name the port in host-ports if a host is there, or accept it: port." + name +
             ".unheard = ok";
    }
    case AlarmCode::kSilent: {
      if (port.held_at() != kNever && !port.silent) {
        const bool shut = port.order == Order::kShut;
        return agents_text(port) +
               (shut ? "; the port carries no lossless class"
                     : "; the rank of this device waits for that") +
               "; if it was removed: `lldp-level forget " + argument(port.link.name) + "`";
      }
      const std::string known = port.memory.kind == PortMemory::Kind::kSwitch
                                    ? "switch " + to_string(port.memory.at.chassis)
                                    : "the switch";
      const char* const order = port.memory.kind == PortMemory::Kind::kAbove
                                    ? "; the port is up, which is safe"
                                    : "; the port keeps its order";
      if (!may_receive(port.link.adminStatus))
        return "no LLDP from " + known + ": the port may not receive" +
               (port.expects_switch() ? order : "");
      return "no LLDP from " + known + (port.expects_switch() ? order : "") +
             "; if the switch was removed: `lldp-level forget " + argument(port.link.name) + "`";
    }
    case AlarmCode::kMtu:
      return "an MTU of " + std::to_string(port.link.mtu) +
             " leaves no room for the TLVs by which the neighbor knows level, order and lossless "
             "classes, so it takes this device for one without an agent: raise the MTU at both "
             "ends";
    case AlarmCode::kMaxLevel:
    case AlarmCode::kUnsupported:
    case AlarmCode::kLowerLevel:
    case AlarmCode::kDataplane:
    case AlarmCode::kLldpd:
    case AlarmCode::kNoPort:
    case AlarmCode::kNoLevel:
    case AlarmCode::kState:
    case AlarmCode::kPaused:
    case AlarmCode::kPfcTaken:
    case AlarmCode::kClassMismatch:
    case AlarmCode::kUnclassed:
    case AlarmCode::kPortMissing:
    case AlarmCode::kUneven:
    case AlarmCode::kConfigDb:
    case AlarmCode::kSet:
    case AlarmCode::kRail:
    case AlarmCode::kLeftOut:
    case AlarmCode::kForwards:
      break;  // of the device, and the owner's
  }
  return {};
}

}  // namespace lldp::core
