// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/fabric.hpp"
#include "base/time.hpp"

namespace lldp::io {

/// `role = auto` (docs/develop/rules.md L8): a device that looks like a switch becomes one at once.
/// A switch becomes a host only after kPatience of not looking like a switch. Otherwise a daemon
/// that starts before the forwarding would tell its neighbors that they are leaves.
class AutoRole {
 public:
  static constexpr std::chrono::seconds kPatience{60};

  explicit AutoRole(bool was_switch) : role_(was_switch ? Role::kSwitch : Role::kHost) {}

  Role follow(bool looks_like_switch, TimePoint now) {
    if (looks_like_switch) {
      role_ = Role::kSwitch;
      host_at_.reset();
    } else if (role_ == Role::kSwitch) {
      if (!host_at_) host_at_ = now + kPatience;
      if (now >= *host_at_) {
        role_ = Role::kHost;
        host_at_.reset();
      }
    }
    return role_;
  }
  /// When follow() has something to do by time alone.
  [[nodiscard]] std::optional<TimePoint> deadline() const { return host_at_; }

 private:
  Role role_;
  std::optional<TimePoint> host_at_{};
};

/// Whether a host by `role = auto` is a router after all: alarm `forwards`, docs/develop/rules.md
/// L8. It forwards IP, two of its ports have neighbors, and it has no guests (containers, virtual
/// machines, a VPN) for which a server forwards. Guests may start long after the forwarding, and
/// come and go with their jobs.
class RouterDoubt {
 public:
  struct Signs {
    bool forwards = false;  ///< a host by `role = auto`, and it forwards IP
    bool guests = false;    ///< asked of one that forwards alone
    bool joins = false;     ///< two ports have neighbors
  };
  /// So many times the TTL that the device tells the signs stand before they count: 6 minutes.
  static constexpr int kTtls = 3;
  /// So long guests that are gone count as if they were there.
  static constexpr std::chrono::hours kMemory{24};

  /// True if it is to be told.
  bool follow(const Signs& signs, std::chrono::seconds ttl, TimePoint now) {
    if (guests_ && !signs.guests) silent_until_ = now + kMemory;
    guests_ = signs.guests;
    if (!signs.forwards || signs.guests || !signs.joins) {
      since_.reset();
      due_.reset();
      return false;
    }
    if (!since_) since_ = now;
    due_ = std::max(*since_ + kTtls * ttl, silent_until_);
    if (now < *due_) return false;
    due_.reset();
    return true;
  }
  /// When follow() has something to do by time alone.
  [[nodiscard]] std::optional<TimePoint> deadline() const { return due_; }

 private:
  bool guests_ = false;
  TimePoint silent_until_{};
  std::optional<TimePoint> since_{};
  std::optional<TimePoint> due_{};
};

}  // namespace lldp::io
