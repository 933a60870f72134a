// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/fabric.hpp"
#include "tlv/basic.hpp"
#include "tlv/layout.hpp"

/// What lldpd's interface gives and takes, as values: frames on our side, fields on the other.
namespace lldp::lldpd {

/// An organizationally specific TLV; lldpd calls it a custom one.
struct CustomTlv {
  tlv::Key key{};
  Bytes information{};  ///< what follows OUI and subtype
  friend bool operator==(const CustomTlv&, const CustomTlv&) = default;
};

/// A neighbor as lldpd has it: identifiers octet by octet as they came.
struct Neighbor {
  ChassisId chassis_id{};
  PortId port_id{};
  std::uint16_t ttl = 0;           ///< seconds; 0: it is gone
  std::string port_description{};  ///< by default lldpd has the interface's name here
  std::string system_name{};
  tlv::Capabilities capabilities{};  ///< none at all: it sent no such TLV
  std::vector<CustomTlv> custom{};
};

/// The frame that says the same, from the destination address on: what the agent is fed with. lldpd
/// tells no source address, so there is none.
[[nodiscard]] Bytes frame_of(const Neighbor& neighbor, const MacAddress& group);

/// What a frame of ours carries that lldpd is to send in our place. nullopt: a shutdown LLDPDU.
[[nodiscard]] std::optional<std::vector<CustomTlv>> custom_tlvs_of(ByteSpan frame);

/// One call of lldpd's interface.
struct Change {
  enum class Operation : std::uint8_t {
    kReplace,  ///< in the place of all with that key
    kRemove,   ///< all with that key
  };
  Operation operation{};
  CustomTlv tlv{};
  friend bool operator==(const Change&, const Change&) = default;
};

/// The least that takes a port from the TLVs that lldpd sends on it to those it should send. Of the
/// others it takes away only those under `ours`: lldpd's own configuration may hold more.
[[nodiscard]] std::vector<Change> changes(std::span<const CustomTlv> present,
                                          std::span<const CustomTlv> wanted,
                                          std::span<const tlv::Key> ours);

}  // namespace lldp::lldpd
