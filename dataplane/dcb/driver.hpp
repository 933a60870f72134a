// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bounded.hpp"
#include "base/result.hpp"
#include "os/dcbnl.hpp"

namespace lldp::dataplane::dcb {

/// What ports' drivers are asked and told. Errors have the errno: ENODEV: there is no such port,
/// EOPNOTSUPP: its driver has no dcbnl, or not this of it.
class Driver {
 public:
  Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  virtual ~Driver() = default;
  /// By what a port goes now, as it may have been renamed; nothing: it is no more.
  [[nodiscard]] virtual std::optional<std::string> name_of(Ifindex port) const = 0;
  /// Settings without PFC: the driver does not tell of it.
  [[nodiscard]] virtual Result<dcbnl::Settings> get(const std::string& port) = 0;
  [[nodiscard]] virtual Result<void> set_pfc(const std::string& port, std::uint8_t enabled) = 0;
  [[nodiscard]] virtual Result<void> add(const std::string& port,
                                         std::span<const dcbnl::App> apps) = 0;
  [[nodiscard]] virtual Result<void> remove(const std::string& port,
                                            std::span<const dcbnl::App> apps) = 0;
};

/// The kernel's, of the network namespace of the calling thread.
[[nodiscard]] Result<std::unique_ptr<Driver>> open_driver();

}  // namespace lldp::dataplane::dcb
