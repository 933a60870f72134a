// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/report/text.hpp"
#include "base/bounded.hpp"
#include "base/result.hpp"
#include "os/dcbnl.hpp"
#include "qos/carried.hpp"
#include "qos/policy.hpp"

/// Is the path of lossless traffic lossless here? Findings from values; doctor_probe.cpp has where
/// they come from.
namespace lldp::cli {

/// What the machine itself says of one of its ports.
struct LocalPort {
  bool here = true;  ///< else an interface of that name and number is not in this namespace
  std::string driver{};
  std::optional<unsigned> mtu{};
  std::optional<dcbnl::Settings> dcb{};  ///< nothing: no dcbnl
  struct GlobalPause {
    bool rx = false;
    bool tx = false;
  };
  std::optional<GlobalPause> pause{};           ///< of all priorities at once
  std::map<std::string, bool> private_flags{};  ///< ethtool --show-priv-flags
  qos::Carried carried{};
};

struct Finding {
  enum class Severity : std::uint8_t {
    kUnknown,  ///< cannot be known from here
    kBad,      ///< lossless traffic may be lost, or stop
  };
  Severity severity{};
  std::string code{};
  std::string text{};     ///< what is wrong
  std::string why{};      ///< why it matters
  std::string command{};  ///< that mends it; empty: none does
  friend bool operator==(const Finding&, const Finding&) = default;
};
struct PortHealth {
  std::string name{};
  std::vector<Finding> findings{};
  qos::Carried carried{};
};
struct Health {
  std::vector<qos::Class> lossless{};
  std::vector<PortHealth> ports{};
  [[nodiscard]] int status()
      const;  ///< 0: nothing found; 1: something, or all, is not known; 2: bad
};

/// By the daemon's answers of `Detail` and `Rules`, and what the machine says of each port. Ports
/// that are down are left out, unless they were asked for by name.
[[nodiscard]] Result<Health> examine(
    std::string_view detail, std::string_view rules,
    const std::function<LocalPort(const std::string& name, unsigned ifindex)>& local,
    std::span<const std::string> asked = {});

[[nodiscard]] std::string health_text(const Health& health, const report::Style& style);
[[nodiscard]] std::string health_json(const Health& health);
/// The ports of which something else is found now, those that are not looked at any more, and a
/// line for each priority of which there are more pauses or losses; empty: nothing has changed.
[[nodiscard]] std::string health_changes(const Health& before, const Health& now,
                                         const report::Style& style);

}  // namespace lldp::cli
