// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/ethtool.h>

#include <optional>
#include <string>
#include <utility>

#include "agent/core/link.hpp"
#include "base/result.hpp"
#include "os/fd.hpp"

namespace lldp::io {

/// What ETHTOOL_GLINKSETTINGS tells, in the numbers of IEEE 802.3's TLV, as lldpd puts it: the type
/// of the medium is not told, and is taken from speed, duplex and connector. `modes`: supported,
/// then advertised, 32 in a word.
[[nodiscard]] core::MacPhy mac_phy_of(const ethtool_link_settings& settings,
                                      const std::uint32_t* modes);

/// Asks drivers how their links negotiate.
class LinkSettings {
 public:
  [[nodiscard]] static Result<LinkSettings> open();
  /// nullopt: the driver does not say.
  [[nodiscard]] std::optional<core::MacPhy> ask(const std::string& name) const;

 private:
  explicit LinkSettings(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace lldp::io
