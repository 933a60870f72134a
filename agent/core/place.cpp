// SPDX-License-Identifier: Apache-2.0
#include "agent/core/place.hpp"

#include <utility>

namespace lldp::core {

Place::Step Place::aim(std::optional<Position> target, TimePoint now, Duration ttl) {
  if (!target || !at_ || *target <= *at_ ||
      // The first chassis ID of a device: nobody knows it by another one.
      (at_->level == target->level && at_->chassis.octets.empty())) {
    target_.reset();
    if (!target || at_ == target) return Step::kStays;
    if (at_ && target->level < at_->level) {
      heeds_from_ = now + kUnderWay;
      known_at_ = std::max(known_at_, heeds_from_);
    }
    at_ = std::move(target);
    return Step::kMoved;
  }
  if (target_ == target) return Step::kStays;
  target_ = std::move(target);
  provable_ = at_->level == Level::of<0>() || at_->chassis == target_->chassis;
  wait(now, ttl);
  again_at_ = now + kTellAgain;
  return Step::kRises;
}

bool Place::tell_again(TimePoint now) {
  if (!rises() || now < again_at_ || again_at_ >= due_) return false;
  again_at_ = now + kTellAgain;
  return true;
}

TimePoint Place::deadline(bool silent, bool proved) const {
  if (!rises()) return kNever;
  TimePoint next = silent ? kNever : due_;
  if (proved) return provable_ && !silent ? std::min(next, known_at_) : next;
  return again_at_ < due_ ? std::min(next, again_at_) : next;
}

}  // namespace lldp::core
