// SPDX-License-Identifier: Apache-2.0
#include "tlv/port_facts.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "tlv/dot3.hpp"
#include "tlv/lldpdu.hpp"

namespace lldp::tlv {

PortFacts port_facts(ByteSpan lldpdu) {
  PortFacts facts;
  TlvWalk walk(lldpdu, {});
  for (Tlv t; walk.next(t);) {
    if (t.status != Tlv::Status::kValid) continue;
    if (t.key == MaxFrameSize::kKey) {
      if (const auto size = decode_as<MaxFrameSize>(t.information))
        facts.frame_octets = size->octets;
    } else if (t.key == MacPhy::kKey) {
      const auto phy = decode_as<MacPhy>(t.information);
      if (!phy) continue;
      const auto* type = std::ranges::find(kMauTypes, phy->mau_type, &Name::number);
      if (type != std::end(kMauTypes)) facts.speed_mbps = speed_of_mau(type->name);
    }
  }
  return facts;
}

std::uint32_t speed_of_mau(std::string_view name) {
  constexpr std::uint32_t kGiga = 1000;
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || number > kGiga) return 0;
  std::string_view unit = name.substr(static_cast<std::size_t>(end - name.data()));
  const bool half = unit.starts_with("p5") || unit.starts_with(".5");
  if (half) unit.remove_prefix(2);
  if (unit.starts_with("G") || unit.starts_with("g"))
    return number * kGiga + (half ? kGiga / 2 : 0);
  return unit.starts_with("Base") || unit.starts_with("base") ? number : 0;
}

unsigned mtu_of(unsigned frame_octets) {
  constexpr unsigned kRound = 100;
  if (frame_octets < kFrameHeader + kTagAndCheck) return 0;
  for (unsigned more = 0; more <= kTagAndCheck; more += 4)
    if (const unsigned mtu = frame_octets - kFrameHeader - more; mtu % kRound == 0) return mtu;
  return frame_octets - kFrameHeader;
}

}  // namespace lldp::tlv
