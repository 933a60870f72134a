// SPDX-License-Identifier: Apache-2.0
#include "agent/core/inference.hpp"

namespace lldp::core {

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

Inference::Inference(const Rules& rules, std::optional<Level> restored) : rules_(rules) {
  if (restored && restored->value() > 0 && *restored <= rules.max_level) {
    kept_ = restored;
    source_ = LevelSource::kRestored;
  }
}

void Inference::set_rules(const Rules& rules) {
  if (rules_.pinned && !rules.pinned) {  // as after a restart: kept until something is known better
    kept_ = rules_.pinned;
    source_ = LevelSource::kRestored;
  }
  rules_ = rules;
}

void Inference::update(const Heard& before, const Heard& after) {
  lowest_.remove(before.lowest);
  lowest_.add(after.lowest);
  not_below_us_.remove(before.not_below_us);
  not_below_us_.add(after.not_below_us);
  answered_ += static_cast<std::uint32_t>(after.answered);
  answered_ -= static_cast<std::uint32_t>(before.answered);
}

bool Inference::decide(TimePoint now) {
  const auto before = level();
  refused_.reset();
  raise_at_.reset();
  if (rules_.role == Role::kHost || rules_.pinned) {
    raise_since_.reset();
  } else {
    follow(now);
  }
  return level() != before;
}

void Inference::follow(TimePoint now) {
  const auto lowest = lowest_.lowest();
  const unsigned found = lowest ? lowest->value() + 1U : 0;
  // Rules 1 to 3. What is found equal to the level confirms it.
  if (lowest && (!kept_ || found <= kept_->value())) {
    raise_since_.reset();
    adopt(found);
    return;
  }
  // Rule 5: nobody is heard below us, so the level stands on nothing; but to raise it takes
  // somebody who is not where they are because of us.
  const auto evidence = not_below_us_.lowest();
  if (!kept_ || !evidence) {
    raise_since_.reset();
    return;
  }
  if (!raise_since_) raise_since_ = now;
  // Rule 8: a restored level need not wait. But a neighbour that was not told of us yet, because we
  // have just started, is no evidence before it could answer.
  const Duration hold = source_ != LevelSource::kRestored ? rules_.raise_hold
                        : answered_ > 0                   ? Duration::zero()
                                                          : rules_.answer_wait;
  if (now < *raise_since_ + hold) {
    raise_at_ = *raise_since_ + hold;
    return;
  }
  // Above a neighbour that was left out of the evidence rule 3 would lower us again at once: the
  // lowest of all is where that ends.
  if (adopt(found)) raise_since_.reset();
}

bool Inference::adopt(unsigned found) {
  if (found > rules_.max_level.value()) {
    refused_ = found;
    return false;
  }
  kept_ = Level::make(found);
  source_ = found == 1 ? LevelSource::kHost : LevelSource::kNeighbor;
  return true;
}

std::optional<Level> Inference::level() const {
  if (rules_.role == Role::kHost) return Level::of<0>();
  return kept();
}

LevelSource Inference::source() const {
  if (rules_.role == Role::kHost) return LevelSource::kHost;
  if (rules_.pinned) return LevelSource::kPinned;
  return source_;
}

}  // namespace lldp::core
