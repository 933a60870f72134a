// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/core/own_classes.hpp"
#include "base/bytes.hpp"
#include "base/fabric.hpp"
#include "cabling/expect.hpp"
#include "cabling/rails.hpp"

namespace lldp::core {

using Oui = std::array<std::uint8_t, 3>;

/// Group addresses an LLDP agent can stand on, IEEE 802.1AB-2016 Table 7-1.
enum class Scope : std::uint8_t { kNearestBridge, kNearestNonTpmrBridge, kNearestCustomerBridge };

[[nodiscard]] constexpr MacAddress group_address(Scope scope) {
  constexpr std::uint8_t kLast[] = {0x0e, 0x03, 0x00};
  return {0x01, 0x80, 0xc2, 0x00, 0x00, kLast[static_cast<std::size_t>(scope)]};
}

/// As `lldp.scopes` has it.
[[nodiscard]] constexpr std::string_view to_string(Scope scope) {
  constexpr std::string_view kNames[] = {"nearest-bridge", "nearest-nontpmr-bridge",
                                         "nearest-customer-bridge"};
  return kNames[static_cast<std::size_t>(scope)];
}

/// What LLDP may do on a port. IEEE 802.1AB-2016 9.2.5.1.
enum class AdminStatus : std::uint8_t { disabled, enabledTxOnly, enabledRxOnly, enabledRxTx };
[[nodiscard]] constexpr std::string_view to_string(AdminStatus s) {
  constexpr std::string_view kNames[] = {"off", "tx", "rx", "rxtx"};
  return kNames[static_cast<std::size_t>(s)];
}

/// Where the device can be managed. IEEE 802.1AB-2016 8.5.9.
struct ManagementAddress {
  std::string address{};  ///< IANA address family number in one octet, then the address
  Ifindex interface {};   ///< whose address it is
  friend bool operator==(const ManagementAddress&, const ManagementAddress&) = default;
};

/// A TLV of the operator's own.
struct CustomTlv {
  Oui oui{};
  std::uint8_t subtype = 0;
  Bytes information{};  ///< what follows the subtype
  friend bool operator==(const CustomTlv&, const CustomTlv&) = default;
};

/// Everything of the configuration that the core goes by. Names follow the standard where it has
/// one.
struct Settings {
  /// Host or switch. `role = auto` is resolved by the owner, which knows about forwarding and
  /// bridges.
  Role role = Role::kSwitch;
  std::optional<Level> pinned_level{};  ///< `level = N`
  std::optional<ChassisId>
      chassis_id{};  ///< else the MAC address of the lowest-index port at first start
  std::string system_name{};
  std::string system_description{};
  std::vector<ManagementAddress> management_addresses{};
  bool router = false;                    ///< System Capabilities: it forwards IP
  std::vector<std::string> host_ports{};  ///< globs; a link on which silence means a host
  /// The neighbor expected on each port; any other raises the alarm `cabling`.
  std::optional<cabling::Expectations> expected{};
  /// Where the NICs of one group lead; a host's NIC that does not raises the alarm `rail`.
  cabling::RailDesign rails = cabling::RailDesign::kNone;

  std::chrono::seconds msgTxInterval{30};
  std::uint16_t msgTxHold = 4;
  std::chrono::seconds msgFastTx{1};
  std::uint8_t txFastInit = 4;
  std::uint8_t txCreditMax = 9;
  std::chrono::seconds reinitDelay{2};
  std::vector<Scope> scopes{Scope::kNearestBridge};  ///< one LLDP agent per port and scope

  bool send_tr = true;
  bool send_contribution = true;
  bool send_pfc = false;  ///< the PFC Configuration TLV, on ports whose driver tells
  std::vector<CustomTlv> custom_tlvs{};
  Oui contribution_oui{0x02, 0x4c, 0x56};
  std::vector<Oui> accepted_ouis{{0x02, 0x4c, 0x56}};  ///< of the contribution TLV

  /// Some port has layers, so the device is of a layered expander: docs/develop/rules.md O6.
  bool layered = false;

  std::uint8_t lossless = 0;  ///< priorities that want PFC at both ends; bit n = priority n
  /// What is known here of the lossless classes; with it they are found, told and compared, and go
  /// before `lossless`. nullopt: the agent has nothing to do with classes.
  std::optional<OwnClasses> classes{};
  /// Packets of a spare class leave to hosts in their application class: no host sees a spare.
  bool restores = true;

  bool host_from_capabilities = true;
  std::chrono::seconds raise_hold{60};  ///< this and the next four: docs/develop/rules.md L1 to L4
  std::chrono::seconds lower_hold{60};
  std::chrono::seconds establish{86400};
  std::chrono::seconds withdraw_hold{5};
  std::chrono::seconds unsupported_after{600};
  Level max_level = Level::of<8>();

  /// The one clock of the order: it separates a stock host from an agent that is about to speak.
  std::chrono::milliseconds newcomer_wait{4000};  ///< docs/develop/rules.md A10

  std::size_t max_neighbors_per_port = 32;
  std::size_t max_neighbors = 16384;

  friend bool operator==(const Settings&, const Settings&) = default;
};

/// The identity of a device, as far as its settings leave that open.
struct Identity {
  std::optional<ChassisId> chassis_id{};
  std::string system_name{};
  std::uint64_t entropy = 0;     ///< 64 random bits: agent ID and sessions come of them
  std::uint32_t wall_clock = 0;  ///< seconds: a start has a higher boot than one of before
};

}  // namespace lldp::core
