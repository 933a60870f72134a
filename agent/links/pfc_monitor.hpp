// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "agent/core/link.hpp"
#include "base/result.hpp"
#include "os/dcbnl.hpp"
#include "os/fd.hpp"

namespace lldp::io {

/// PFC of the interfaces of our network namespace, by dcbnl: read, and reported when another
/// program changes it. Events and requests have a socket each, as in LinkMonitor.
class PfcMonitor {
 public:
  [[nodiscard]] static Result<PfcMonitor> open();
  /// By sockets whose peers answer and report as the kernel does.
  PfcMonitor(UniqueFd events, UniqueFd requests)
      : events_(std::move(events)), requests_(std::move(requests)) {}

  /// How PFC stands on an interface; nullopt: its driver (EOPNOTSUPP), or the kernel, does not say.
  [[nodiscard]] std::optional<core::Pfc> ask(std::string_view name);
  /// The same with the map of DSCPs.
  struct State {
    std::optional<core::Pfc> pfc{};
    std::array<std::uint64_t, 8> dscps{};  ///< of each priority the DSCPs that lead to it, as bits
    dcbnl::Settings settings{};            ///< all that the driver tells
  };
  [[nodiscard]] State read(std::string_view name);

  [[nodiscard]] int fd() const { return events_.get(); }
  /// Takes the events that wait: `changed` is told the name of each interface concerned, or an
  /// empty one when the kernel could not deliver all and any may be.
  void receive(const std::function<void(std::string_view name)>& changed);

 private:
  UniqueFd events_;
  UniqueFd requests_;
  std::uint32_t sequence_ = 0;
};

}  // namespace lldp::io
