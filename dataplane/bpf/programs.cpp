// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/programs.hpp"

#include <fmt/format.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cctype>
#include <span>
#include <vector>

#include "dataplane/bpf/kernel.hpp"
#include "dataplane/bpf/lldp_level_shared.h"

namespace lldp::dataplane::bpf {
namespace {

/// With the namespace's number and a port's, what tells a packet that was seen to there.
constexpr std::uint32_t kDone = 0x4c4c6576;

// No dots: the BPF file system keeps names with them for itself.
constexpr std::string_view kIn = "-in";
constexpr std::string_view kOut = "-out";

constexpr std::string_view kState = "state-";

std::string state_name() { return fmt::format("{}{}", kState, LLDP_LEVEL_LAYOUT); }

/// FNV-1a, to tell apart a handful of rules and versions.
std::uint32_t hash_of(ByteSpan octets) {
  std::uint32_t h = 0x811c9dc5;
  for (std::uint8_t o : octets) h = (h ^ o) * 0x01000193U;
  return h;
}

void write_rows(lldp_level_remap (&table)[64], const std::vector<qos::Remap>& rows) {
  for (const qos::Remap& r : rows) {
    const unsigned from = r.from.dscp.value() * 4U;
    const unsigned to = r.to.dscp.value() * 4U;
    const unsigned sum = (from ^ 0xffff) + to;
    auto& row = table[r.from.dscp.value()];
    row.from = static_cast<__u8>(LLDP_LEVEL_SET | r.from.priority.value());
    row.priority = r.to.priority.value();
    row.flip = static_cast<__u8>(from ^ to);
    row.sum = htons(static_cast<__u16>((sum & 0xffff) + (sum >> 16)));
  }
}

lldp_level_rules constants_of(const qos::Ruleset& rules) {
  lldp_level_rules c{};
  c.turning_tags = rules.turning_tags;
  c.tag = rules.tag.value();
  c.passive = rules.port.passive() ? 1 : 0;
  c.lossless = rules.pfc_enable;
  c.lossy_dscp = rules.lossy.dscp.value();
  c.lossy_priority = rules.lossy.priority.value();
  for (const qos::Class& i : rules.ingress)
    c.priority_of[i.dscp.value()] = static_cast<__u8>(LLDP_LEVEL_SET | i.priority.value());
  assert(rules.entering.empty() || rules.entering == rules.leaving);  // one table for both
  c.shut = rules.entering.empty() ? 0 : 1;
  c.leaves = rules.leaving.empty() ? 0 : 1;
  write_rows(c.turn_of, rules.remaps);
  write_rows(c.leave_of, rules.leaving);
  c.stacked = rules.port.stacked ? 1 : 0;
  const auto is_of = [&c](qos::Class lossless) {
    __u8& dscp = c.dscp_of[lossless.priority.value()];
    if (dscp == 0) dscp = static_cast<__u8>(LLDP_LEVEL_DSCP_SET | lossless.dscp.value());
  };
  for (const qos::Remap& r : rules.leaving) is_of(r.from);  // those that do not cross among them
  for (const qos::Class& i : rules.ingress)
    if (i.priority != rules.lossy.priority) is_of(i);
  c.unclassed = ~std::uint64_t{0};
  for (const qos::Class& i : rules.ingress) c.unclassed &= ~qos::DscpSet(i.dscp).mask();
  for (const qos::Remap& r : rules.remaps) c.unclassed &= ~qos::DscpSet(r.to.dscp).mask();
  return c;
}

/// A row of counters is one CPU's; the first stands in the struct, the others behind it.
lldp_level_bounces& bounces_at(lldp_level_state& state, std::uint32_t row, std::uint32_t slot) {
  return *(&state.bounces[0] + std::size_t{row} * LLDP_LEVEL_SLOTS + slot);
}

/// The kernel's programs read meanwhile.
void write(__u32& to, std::uint32_t value) {
  std::atomic_ref(to).store(value, std::memory_order_release);
}

template <class T>
ByteSpan octets_of(const T& value) {
  return {reinterpret_cast<const std::uint8_t*>(&value), sizeof value};
}

/// The part of a key that changes with the code.
const std::string& code_version() {
  static const std::string kVersion =
      fmt::format("{}{:08x}", LLDP_LEVEL_LAYOUT, hash_of(object_octets()));
  return kVersion;
}

}  // namespace

Programs::Programs(std::optional<Pins> pins) : pins_(std::move(pins)) {
  if (!pins_) return;
  if (auto map = get_pinned(pins_->path(state_name()))) (void)take_state(std::move(*map));
  for (const std::string& name : pins_->names()) {
    // Of another layout: ports that use it do so until they are given ours.
    if (name.starts_with(kState) && name != state_name()) pins_->remove(name);
    if (!name.ends_with(kIn) || !std::isxdigit(static_cast<unsigned char>(name[0]))) continue;
    const std::string key = name.substr(0, name.size() - kIn.size());
    // Of another version: ports that run it do so until they are given ours.
    if (!key.starts_with(code_version()) || take_pinned(key) == nullptr) unpin(key);
  }
}

const Programs::Loaded* Programs::take_pinned(const std::string& key) {
  if (!pins_ || !has_state()) return nullptr;
  auto in = get_pinned(pins_->path(key + std::string(kIn)));
  if (!in) return nullptr;
  auto out = get_pinned(pins_->path(key + std::string(kOut)));
  if (!out || !uses_map(*out, map_)) return nullptr;  // the other has no use for the state
  const auto in_id = id_of_program(*in);
  const auto out_id = id_of_program(*out);
  if (!in_id || !out_id) return nullptr;
  return &keep(key, {std::move(*in), std::move(*out)}, *in_id, *out_id);
}

void Programs::unpin(const std::string& key) const {
  pins_->remove(key + std::string(kIn));
  pins_->remove(key + std::string(kOut));
}

std::string Programs::key_of(const qos::Ruleset& rules) {
  return fmt::format("{}-{:08x}", code_version(), hash_of(octets_of(constants_of(rules))));
}

const Programs::Loaded& Programs::keep(std::string key, ProgramPair pair, std::uint32_t in_id,
                                       std::uint32_t out_id) {
  Loaded loaded{key, std::move(pair), in_id, out_id};
  return loaded_.insert_or_assign(std::move(key), std::move(loaded)).first->second;
}

const Programs::Loaded* Programs::find(const std::string& key) const {
  const auto at = loaded_.find(key);
  return at == loaded_.end() ? nullptr : &at->second;
}

std::string Programs::key_of_id(std::uint32_t id) const {
  for (const auto& [key, loaded] : loaded_)
    if (loaded.in_id == id || loaded.out_id == id) return key;
  return {};
}

Result<const Programs::Loaded*> Programs::get(const qos::Ruleset& rules) {
  const std::string key = key_of(rules);
  if (const Loaded* there = find(key)) return there;
  if (auto done = need_state(); !done) return fail(done.error());
  // Another daemon of this namespace may have made them since we started.
  if (const Loaded* theirs = take_pinned(key)) return theirs;
  const auto rows = rows_of_state();
  if (!rows) return fail(rows.error());
  lldp_level_rules constants = constants_of(rules);
  constants.cpus = *rows;
  constants.here = kDone ^ static_cast<__u32>(Namespace::current().number());
  auto pair = load(object_octets(), constants, map_);
  if (!pair) return fail(pair.error());
  const auto in_id = id_of_program(pair->in);
  const auto out_id = id_of_program(pair->out);
  if (!in_id) return fail(in_id.error());
  if (!out_id) return fail(out_id.error());
  if (pins_) {
    unpin(key);  // one of the two without the other, or with another state
    if (auto done = pins_->put(pair->in, key + std::string(kIn)); !done) return fail(done.error());
    if (auto done = pins_->put(pair->out, key + std::string(kOut)); !done)
      return fail(done.error());
  }
  return &keep(key, std::move(*pair), *in_id, *out_id);
}

Result<void> Programs::need_state() {
  if (has_state()) return {};
  if (auto theirs = pins_ ? get_pinned(pins_->path(state_name())) : fail(Error{});
      theirs && take_state(std::move(*theirs)))
    return {};
  auto map = create_state();
  if (!map) return fail(map.error());
  if (pins_) {
    pins_->remove(state_name());  // one of another shape
    if (auto done = pins_->put(*map, state_name()); !done) return done;
  }
  auto memory = Mapping::of(*map, size_of_state(*rows_of_state()));  // create_state() has asked
  if (!memory) return fail(memory.error());
  map_ = std::move(*map);
  state_ = std::move(*memory);
  return {};
}

bool Programs::take_state(UniqueFd map) {
  if (!is_state(map)) return false;
  auto memory = Mapping::of(map, size_of_state(*rows_of_state()));  // is_state() has asked
  if (!memory) return false;
  map_ = std::move(map);
  state_ = std::move(*memory);
  std::atomic_ref(state().joined).store(0);  // whatever joined them may have gone
  return true;
}

bool Programs::adopt_state(std::uint32_t program_id) {
  const auto program = program_by_id(program_id);
  if (!program) return false;
  auto map = map_of_program(*program, "lldp_state");
  return map && take_state(std::move(*map));
}

lldp_level_state& Programs::state() const { return *static_cast<lldp_level_state*>(state_.get()); }

std::optional<std::uint32_t> Programs::slot_of(Ifindex owner, Ifindex port) const {
  for (std::uint32_t i = 0; has_state() && i < LLDP_LEVEL_PROBES; ++i) {
    const std::uint32_t slot = (port.value() + i) % LLDP_LEVEL_SLOTS;
    if (state().ports[slot].ifindex == owner.value()) return slot;
  }
  return std::nullopt;
}

class Programs::UnclassedCounters {
 public:
  UnclassedCounters(const UniqueFd& map, std::uint32_t first, std::uint32_t last) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    from_ = at(first) / page * page;
    const std::size_t end = (at(last + 1) + page - 1) / page * page;
    if (auto memory = Mapping::of(map, end - from_, from_)) memory_ = std::move(*memory);
  }
  /// Of a place among those; null if the kernel refused.
  [[nodiscard]] lldp_level_unclassed* of(std::uint32_t slot) const {
    if (memory_.get() == nullptr) return nullptr;
    return reinterpret_cast<lldp_level_unclassed*>(static_cast<char*>(memory_.get()) + at(slot) -
                                                   from_);
  }

 private:
  static std::size_t at(std::uint32_t slot) {
    return size_of_state(*rows_of_state()) + slot * sizeof(lldp_level_unclassed);
  }
  Mapping memory_{};
  std::size_t from_ = 0;
};

Result<void> Programs::need_place(Ifindex port) {
  if (auto done = need_state(); !done) return done;
  if (slot_of(port, port)) return {};
  const auto slot = slot_of(Ifindex(), port);
  if (!slot) return {};
  for (std::uint32_t row = 0; row < *rows_of_state(); ++row) bounces_at(state(), row, *slot) = {};
  UnclassedCounters counters(map_, *slot, *slot);
  if (auto* const its = counters.of(*slot)) *its = {};
  lldp_level_port& place = state().ports[*slot];
  write(place.tag, 0);
  write(place.ifindex, port.value());
  return {};
}

void Programs::set_tag(Ifindex port, std::optional<qos::Tag> tag) {
  if (const auto slot = slot_of(port, port))
    write(state().ports[*slot].tag, tag ? LLDP_LEVEL_TAG_KNOWN | tag->value() : 0U);
}

std::optional<qos::Tag> Programs::tag(Ifindex port) const {
  const auto slot = slot_of(port, port);
  if (!slot || (state().ports[*slot].tag & LLDP_LEVEL_TAG_KNOWN) == 0) return std::nullopt;
  return qos::Tag::make(state().ports[*slot].tag & LLDP_LEVEL_MARK_TAG_MASK);
}

bool Programs::may_know_tag(Ifindex port) const {
  return !has_state() || slot_of(port, port) || slot_of(Ifindex(), port);
}

void Programs::keep_only(const std::set<Ifindex>& ports) {
  if (!has_state()) return;
  for (lldp_level_port& place : state().ports) {
    const auto port = Ifindex::make(place.ifindex);
    if (place.ifindex == 0 || (port && ports.contains(*port))) continue;
    write(place.tag, 0);
    std::array<char, IF_NAMESIZE> name{};
    if (::if_indextoname(place.ifindex, name.data()) == nullptr) write(place.ifindex, 0);
  }
}

Bounces Programs::bounces(Ifindex port) const {
  Bounces sum{};
  const auto slot = slot_of(port, port);
  for (std::uint32_t row = 0; slot && row < *rows_of_state(); ++row)
    for (std::size_t p = 0; p < sum.size(); ++p)
      sum[p] += bounces_at(state(), row, *slot).packets[p];
  return sum;
}

void Programs::count_unclassed(std::span<const Ifindex> ports,
                               const Backend::EachUnclassed& each) const {
  constexpr std::uint32_t kNoPlace = LLDP_LEVEL_SLOTS;
  std::vector<std::uint32_t> slots;
  slots.reserve(ports.size());
  std::uint32_t first = kNoPlace;
  std::uint32_t last = 0;
  for (const Ifindex port : ports) {
    slots.push_back(slot_of(port, port).value_or(kNoPlace));
    if (slots.back() == kNoPlace) continue;
    first = std::min(first, slots.back());
    last = std::max(last, slots.back());
  }
  std::optional<UnclassedCounters> counters;
  if (first != kNoPlace) counters.emplace(map_, first, last);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const auto* const its = slots[i] == kNoPlace ? nullptr : counters->of(slots[i]);
    Unclassed counts{};
    if (its != nullptr) std::copy(std::begin(its->packets), std::end(its->packets), counts.begin());
    each(ports[i], counts);
  }
}

std::uint64_t Programs::joined() const {
  return has_state() ? std::atomic_ref(state().joined).load(std::memory_order_relaxed) : 0;
}

void Programs::forget(Ifindex port) {
  const auto slot = slot_of(port, port);
  if (!slot) return;
  write(state().ports[*slot].ifindex, 0);
  write(state().ports[*slot].tag, 0);
}

void Programs::clear() {
  loaded_.clear();
  state_ = Mapping();
  map_ = UniqueFd();
  if (pins_) pins_->clear();
}

}  // namespace lldp::dataplane::bpf
