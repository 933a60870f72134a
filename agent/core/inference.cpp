// SPDX-License-Identifier: Apache-2.0
#include "agent/core/inference.hpp"

#include <algorithm>
#include <utility>

namespace lldp::core {
namespace {

/// How often growing support is saved (docs/develop/rules.md, "Order").
constexpr Duration kMilestone = std::chrono::minutes(10);

}  // namespace

std::uint64_t hash_of(const ChassisId& id) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;  // FNV-1a
  const auto take = [&hash](std::uint8_t octet) { hash = (hash ^ octet) * 0x100'0000'01b3; };
  take(id.subtype);
  for (const char c : id.octets) take(static_cast<std::uint8_t>(c));
  return hash;
}

PortType type_of_port(std::optional<Level> own, std::optional<Level> heard) {
  if (!heard) return PortType::kUnmarked;
  if (heard->value() == 0) return PortType::kDownlink;
  if (!own) return PortType::kUnmarked;
  switch (heard->value() - own->value()) {
    case -1:
      return PortType::kDownlink;
    case 0:
      return PortType::kCrosslink;
    case 1:
      return PortType::kUplink;
  }
  return PortType::kUnmarked;
}

// Surroundings

void Surroundings::add(std::uint64_t chassis) {
  if (heard_[chassis]++ == 0) known_ += learned_.count(chassis);
}

void Surroundings::remove(std::uint64_t chassis) {
  const auto at = heard_.find(chassis);
  if (--at->second != 0) return;
  heard_.erase(at);
  known_ -= learned_.count(chassis);
}

void Surroundings::learn() {
  if (known_ == heard_.size()) return;
  if (learned_.size() == kMost && known_ == kMost) return;
  auto at = learned_.begin();  // both rise
  for (const auto& [chassis, times] : heard_) {
    while (at != learned_.end() && *at < chassis) ++at;
    if (at != learned_.end() && *at == chassis) continue;
    if (learned_.size() >= kMost) {
      auto left = learned_.extract_sequence();
      left.erase(std::remove_if(left.begin(), left.end(),
                                [this](std::uint64_t c) { return !heard_.contains(c); }),
                 left.end());
      learned_.adopt_sequence(boost::container::ordered_unique_range, std::move(left));
      at = learned_.lower_bound(chassis);
    }
    if (learned_.size() >= kMost) return;
    at = learned_.insert(at, chassis);
    ++known_;
  }
}

void Surroundings::restore(const std::vector<std::uint64_t>& learned) {
  learned_.insert(learned.begin(),
                  learned.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, learned.size())));
}

void Surroundings::clear() {
  learned_.clear();
  known_ = 0;
}

std::vector<std::uint64_t> Surroundings::learned() const {
  return {learned_.begin(), learned_.end()};
}

// Inference

Inference::Inference(const Rules& rules, const Kept& restored) : rules_(rules) {
  if (restored.level && restored.level->value() > 0 && *restored.level <= rules.max_level) {
    level_ = restored.level;
    source_ = LevelSource::kRestored;
    supported_ = saved_ = restored.supported;
    surroundings_.restore(restored.surroundings);
  }
  if (rules.pinned && level_ != rules.pinned) change(rules.pinned);
}

void Inference::set_rules(const Rules& rules, TimePoint now) {
  account(now);
  if (rules_.pinned && !rules.pinned) source_ = LevelSource::kRestored;
  rules_ = rules;
  if (rules.pinned && level_ != rules.pinned) change(rules.pinned);
  // As at a start: what a pin or an older limit allowed does not outlive it.
  if (!rules.pinned && level_ && *level_ > rules.max_level) change(std::nullopt);
}

void Inference::update(const Heard& before, const Heard& after) {
  for (const HeardSwitch& s : after.switches) {
    switches_.add(s.level);
    surroundings_.add(s.chassis);
  }
  for (const HeardSwitch& s : before.switches) {
    switches_.remove(s.level);
    surroundings_.remove(s.chassis);
  }
  lowest_.remove(before.lowest);
  lowest_.add(after.lowest);
}

unsigned Inference::found() const {
  const auto lowest = lowest_.lowest();
  return lowest ? lowest->value() + 1U : 0;
}

bool Inference::on_two_ports_below(Level level) const {
  std::uint32_t ports = 0;
  for (unsigned l = 0; l < level.value() && ports < 2; ++l) ports += lowest_.at(*Level::make(l));
  return ports >= 2;
}

bool Inference::decide(TimePoint now, bool renounced) {
  const auto before = level();
  refused_.reset();
  lower_.reset();
  due_.reset();
  account(now);
  if (rules_.role == Role::kHost || rules_.pinned)
    rest();
  else
    follow(now, renounced);
  if (level_ && supported_ >= next_milestone()) {
    saved_ = supported_;
    milestone_ = true;
  }
  if (supported_since_ && next_milestone() != Duration::max())
    wait_until(now + (next_milestone() - supported_));
  return level() != before;
}

void Inference::account(TimePoint now) {
  if (supported_since_) supported_ += now - std::exchange(*supported_since_, now);
}

void Inference::rest() {
  supported_since_.reset();
  unsupported_since_.reset();
  raise_since_.reset();
  lower_since_.reset();
  withdrawn_.reset();
  alarmed_ = false;
}

void Inference::follow(TimePoint now, bool renounced) {
  const unsigned found = this->found();
  if (!level_) adopt_first(found, now);
  if (!level_) return;
  if (found == level_->value()) return have_support(now);
  if (found != 0 && found < level_->value()) {
    supported_since_.reset();
    unsupported_since_.reset();
    raise_since_.reset();
    alarmed_ = false;
    if (established()) return resist_lower(found, now);
    if (adopt(found)) have_support(now);
    return;
  }
  lower_since_.reset();
  be_unsupported(found, now, renounced);
}

void Inference::adopt_first(unsigned found, TimePoint now) {
  if (withdrawn_ && now >= withdrawn_until_) withdrawn_.reset();
  if (found == 0) return;
  if (withdrawn_ && found > withdrawn_->value()) return wait_until(withdrawn_until_);  // L1
  adopt(found);
}

void Inference::have_support(TimePoint now) {
  source_ = level_ == Level::of<1>() ? LevelSource::kHost : LevelSource::kNeighbor;
  unsupported_since_.reset();
  raise_since_.reset();
  lower_since_.reset();
  alarmed_ = false;
  if (!supported_since_) supported_since_ = now;
  surroundings_.learn();
}

void Inference::resist_lower(unsigned found, TimePoint now) {
  lower_ = Level::make(found);
  const Level supporter = *supporting();
  const bool steady = switches_.at(supporter) != 0;
  if (steady) surroundings_.learn();
  if (!on_two_ports_below(supporter) && (steady || !surroundings_.moved())) {
    lower_since_.reset();
    return;
  }
  if (!lower_since_) lower_since_ = now;
  if (now < *lower_since_ + rules_.lower_hold) return wait_until(*lower_since_ + rules_.lower_hold);
  lower_.reset();
  if (adopt(found)) have_support(now);
}

void Inference::be_unsupported(unsigned found, TimePoint now, bool renounced) {
  const bool until_now = supported_since_.has_value();
  supported_since_.reset();
  if (!unsupported_since_) unsupported_since_ = now;
  const TimePoint alarm_at = *unsupported_since_ + rules_.unsupported_after;
  alarmed_ = now >= alarm_at;
  if (!alarmed_) wait_until(alarm_at);
  const bool stays = established() && !surroundings_.moved();
  if (!stays && !established() && until_now && renounced) return withdraw(now);
  if (stays || found == 0) return raise_since_.reset();
  if (!raise_since_) raise_since_ = now;
  if (now < *raise_since_ + rules_.raise_hold) return wait_until(*raise_since_ + rules_.raise_hold);
  withdraw(now);
}

bool Inference::adopt(unsigned found) {
  if (found > rules_.max_level.value()) {
    refused_ = found;
    return false;
  }
  change(Level::make(found));
  withdrawn_.reset();
  return true;
}

void Inference::withdraw(TimePoint now) {
  const auto was = level_;
  change(std::nullopt);
  withdrawn_ = was;
  withdrawn_until_ = now + rules_.withdraw_hold;
  due_.reset();
  if (found() != 0) wait_until(withdrawn_until_);
}

void Inference::change(std::optional<Level> level) {
  rest();
  level_ = level;
  source_ = LevelSource::kNone;
  supported_ = saved_ = Duration::zero();
  surroundings_.clear();
}

bool Inference::forget(TimePoint now) {
  if (!level_ || rules_.role == Role::kHost || rules_.pinned) return false;
  const auto before = level();
  withdraw(now);
  decide(now);
  return level() != before;
}

Duration Inference::next_milestone() const {
  if (saved_ >= 2 * rules_.establish) return Duration::max();
  const Duration next = saved_ + kMilestone;
  return saved_ < rules_.establish ? std::min(next, rules_.establish) : next;
}

bool Inference::take_milestone() { return std::exchange(milestone_, false); }

std::optional<TimePoint> Inference::deadline() const { return due_; }

std::optional<TimePoint> Inference::unsupported() const {
  return alarmed_ ? unsupported_since_ : std::nullopt;
}

std::optional<Level> Inference::supporting() const {
  return level_ ? Level::make(level_->value() - 1U) : std::nullopt;
}

std::optional<Level> Inference::level() const {
  return rules_.role == Role::kHost ? std::optional(Level::of<0>()) : level_;
}

LevelSource Inference::source() const {
  if (rules_.role == Role::kHost) return LevelSource::kHost;
  return rules_.pinned ? LevelSource::kPinned : source_;
}

}  // namespace lldp::core
