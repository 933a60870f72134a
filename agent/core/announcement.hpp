// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/container/small_vector.hpp>
#include <string_view>

#include "agent/core/link.hpp"
#include "base/bytes.hpp"
#include "tlv/claim.hpp"
#include "tlv/classes.hpp"

namespace lldp::core {

/// TTL of an LLDPDU, seconds: min(65535, msgTxInterval * msgTxHold + 1). IEEE 802.1AB-2016 9.2.5.
[[nodiscard]] std::uint16_t tx_ttl(const Settings& settings);

/// What a device tells of itself on a port, beside its settings.
struct Self {
  const ChassisId& chassis_id;
  boost::container::small_vector<std::uint8_t, 96> order{};  ///< octets of an OrderTlv
  std::string_view system_name{};
  tlv::Claim claim{};
  std::string_view location{};  ///< octets of a LocationTlv; empty: there is nothing to tell
  const tlv::ClassesTlv* classes = nullptr;  ///< nullptr: there is nothing to tell
};

/// TLVs that found no room within the link's MTU.
struct MissingTlvs {
  std::size_t all = 0;
  std::size_t of_fabric = 0;  ///< those by which a neighbor knows level, order and classes
};
/// Writes the frame that tells a neighbor of us (mibConstrInfoLLDPDU) into `frame`, in place of
/// what it holds.
MissingTlvs write_info_frame(Bytes& frame, Scope scope, const Link& link, const Self& self,
                             const Settings& settings);
/// The same for the frame that makes it forget us (mibConstrShutdownLLDPDU): TTL 0.
void write_shutdown_frame(Bytes& frame, Scope scope, const Link& link, const ChassisId& chassis);

}  // namespace lldp::core
