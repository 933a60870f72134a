// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace lldp::io
