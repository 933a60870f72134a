// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"

/// Messages of dcbnl, the kernel's way to a driver's Data Center Bridging.
namespace lldp::dcbnl {

/// How PFC stands on an interface, as its driver tells.
struct Pfc {
  std::uint8_t enabled = 0;  ///< bit n = priority n
  std::uint8_t cap = 0;      ///< priorities that can do PFC at once
  bool mbc = false;          ///< it can bypass MACsec
  friend bool operator==(const Pfc&, const Pfc&) = default;
};

/// One entry of the APP table, IEEE 802.1Q-2018 D.2.11.
struct App {
  std::uint8_t selector = 0;
  std::uint8_t priority = 0;
  std::uint16_t protocol = 0;
  friend auto operator<=>(const App&, const App&) = default;
};
inline constexpr std::uint8_t kDscp = 5;  ///< selector: the protocol is a DSCP

/// Where packets that come in wait: a port has eight buffers.
struct Buffers {
  std::array<std::uint8_t, 8> of{};       ///< a priority's, by its number
  std::array<std::uint32_t, 8> octets{};  ///< what each holds
  friend bool operator==(const Buffers&, const Buffers&) = default;
};

/// Where packets that go out wait: a port has up to eight traffic classes, and a pause stops one.
struct Ets {
  std::uint8_t cap = 0;              ///< traffic classes that the port can have; 0: not told
  std::array<std::uint8_t, 8> of{};  ///< a priority's traffic class, by its number
  friend bool operator==(const Ets&, const Ets&) = default;
};

struct Settings {
  std::string name{};  ///< of the interface
  std::optional<Pfc> pfc{};
  std::vector<App> apps{};
  std::optional<Ets> ets{};
  std::optional<Buffers> buffers{};
  std::optional<std::vector<std::uint8_t>> trusted{};  ///< selectors that give a priority, in order
  std::optional<std::uint8_t> dcbx{};                  ///< DCB_CAP_DCBX_*: which side runs DCBX
  friend bool operator==(const Settings&, const Settings&) = default;
};
/// Firmware or hardware runs DCBX, and decides.
[[nodiscard]] bool firmware_decides(const Settings& settings);

/// RTM_GETDCB with DCB_CMD_IEEE_GET for one interface, `sequence` in its header.
[[nodiscard]] Bytes get_request(std::string_view name, std::uint32_t sequence);
/// RTM_SETDCB with DCB_CMD_IEEE_SET: PFC where there is any, and entries that come to the APP
/// table. ETS and all else are left as they are.
[[nodiscard]] Bytes set_request(std::string_view name, std::uint32_t sequence,
                                std::optional<std::uint8_t> pfc, std::span<const App> apps);
/// The same with DCB_CMD_IEEE_DEL: entries that go.
[[nodiscard]] Bytes delete_request(std::string_view name, std::uint32_t sequence,
                                   std::span<const App> apps);

/// One rtnetlink message, its header in front: the answer to get_request(), or what RTNLGRP_DCB
/// tells when the settings of an interface were changed. nullopt: another message, or malformed.
[[nodiscard]] std::optional<Settings> parse(ByteSpan message);
/// The answer to a change: 0, or the errno. The driver's is in an attribute, and the
/// acknowledgement that follows says nothing of it. nullopt: another message.
[[nodiscard]] std::optional<int> parse_outcome(ByteSpan message);

}  // namespace lldp::dcbnl
