// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>

#include "base/bytes.hpp"
#include "tlv/dot1.hpp"
#include "tlv/dot3.hpp"
#include "tlv/topology.hpp"
#include "tlv/writer.hpp"

/// LLDPDUs as switches send them, and broken ones, for tests and benchmarks alike.
namespace lldp::support {

/// What a data center's leaf sends: 14 TLVs, about 220 octets. `revision` changes the System
/// Description and not its length.
inline Bytes typical_lldpdu(std::uint16_t neighbor = 7, unsigned revision = 1) {
  using namespace tlv;
  const auto high = static_cast<std::uint8_t>(neighbor >> 8);
  const auto low = static_cast<std::uint8_t>(neighbor);
  const MacAddress mac{0x02, 0x11, 0x22, 0x00, high, low};
  const std::array<std::uint8_t, 5> address{1, 10, 0, high, low};
  const std::string number = std::to_string(neighbor + 1);
  const std::string port = "Ethernet1/" + number;
  const std::string description =
      "uplink to spine-" + std::to_string(neighbor % 4) + " port " + number;
  std::string digits = std::to_string(neighbor);
  const std::string name = "leaf-" + std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') +
                           digits + ".dc1.example.net";
  digits = std::to_string(revision);
  const std::string system = "Debian GNU/Linux 12 (bookworm) Linux 6.18.44 #" +
                             std::string(10 - digits.size(), '0') + digits + " x86_64";
  Bytes out;
  LldpduWriter(out, 1500)
      .add(ChassisIdTlv{ChassisId::kMacAddress, ByteSpan(mac)})
      .add(PortIdTlv{PortId::kInterfaceName, as_octets(port)})
      .add(Ttl{120})
      .add(PortDescription{description})
      .add(SystemName{name})
      .add(SystemDescription{system})
      .add(Capabilities{.system = 0x14, .enabled = 0x14})
      .add(ManagementAddress{
          .address = ByteSpan(address), .interface_subtype = 2, .interface_number = neighbor + 1U})
      .add(PortVlan{100})
      .add(VlanName{.vid = 100, .name = "storage"})
      .add(MacPhy{
          .autoneg_enabled = true, .autoneg_supported = true, .advertised = 0x6c00, .mau_type = 16})
      .add(LinkAggregation{.capable = true})
      .add(MaxFrameSize{9236})
      .end();
  return out;
}

/// What a neighbor says that is a host now, and a switch of level 3 then.
inline Bytes toggling_lldpdu(std::uint16_t neighbor, bool host) {
  using namespace tlv;
  const MacAddress mac{0x02,
                       0x33,
                       0x44,
                       0x00,
                       static_cast<std::uint8_t>(neighbor >> 8),
                       static_cast<std::uint8_t>(neighbor)};
  const Claim claim{.device = host ? DeviceType::kHost : DeviceType::kSwitch,
                    .level = host ? Level::of<0>() : Level::of<3>()};
  Bytes out;
  LldpduWriter(out, 1500)
      .add(ChassisIdTlv{ChassisId::kMacAddress, ByteSpan(mac)})
      .add(PortIdTlv{PortId::kInterfaceName, as_octets("p0")})
      .add(Ttl{120})
      .add(to_tr(claim))
      .end();
  return out;
}

enum class Broken : std::uint8_t {
  kNoTtl,
  kRunsPastEnd,
  kEmptyChassis,
  kShortOrganizational,
  kNoise
};
inline constexpr std::array kEveryBroken{Broken::kNoTtl, Broken::kRunsPastEnd,
                                         Broken::kEmptyChassis, Broken::kShortOrganizational,
                                         Broken::kNoise};
inline const char* name_of(Broken how) {
  constexpr const char* kNames[] = {"NoTtl", "RunsPastEnd", "EmptyChassis", "ShortOrganizational",
                                    "Noise"};
  return kNames[static_cast<std::size_t>(how)];
}

/// The typical LLDPDU with one thing wrong; Noise is random octets from a fixed seed.
inline Bytes broken_lldpdu(Broken how, std::uint16_t neighbor = 7) {
  Bytes out = typical_lldpdu(neighbor);
  const auto length_at = [&](std::size_t i) {
    return static_cast<std::size_t>(out[i] & 1) << 8 | out[i + 1];
  };
  const auto find = [&](std::uint8_t type) {
    std::size_t i = 0;
    while (out[i] >> 1 != type) i += 2 + length_at(i);
    return i;
  };
  const auto at = [&](std::size_t i) { return out.begin() + static_cast<std::ptrdiff_t>(i); };
  switch (how) {
    case Broken::kNoTtl:
      out.erase(at(find(3)), at(find(3) + 4));
      break;
    case Broken::kRunsPastEnd:
      out.resize(out.size() - 20 - neighbor % 5);
      break;
    case Broken::kEmptyChassis:
      out[1] = 0;
      break;
    case Broken::kShortOrganizational:
      out[find(127) + 1] = 2;
      break;
    case Broken::kNoise: {
      std::mt19937 random(12345);
      for (std::uint8_t& octet : out) octet = static_cast<std::uint8_t>(random());
      break;
    }
  }
  return out;
}

}  // namespace lldp::support
