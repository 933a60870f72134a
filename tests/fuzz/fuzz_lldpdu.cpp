// SPDX-License-Identifier: Apache-2.0
// Decodes, walks and describes any octets, and holds the results against each other: what is valid
// is described, what is decoded and written again is read as the same.
#include <cstdint>
#include <cstdlib>

#include "tlv/lldpdu.hpp"
#include "tlv/table.hpp"
#include "tlv/writer.hpp"

namespace lldp::tlv {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// A valid TLV's value, written and read again, is the same.
template <class T>
void again(ByteSpan information) {
  const auto value = decode_as<T>(information);
  require(value.has_value());
  const Bytes wire = encode_info(*value);
  require(decode_as<T>(wire) == value);
}

template <class... T>
void again_by_key(const Tlv& tlv) {
  ((tlv.row_number == kRow<T> ? again<T>(tlv.information) : void()), ...);
}

void run(ByteSpan octets) {
  constexpr Oui kOuis[] = {{0x02, 0x4c, 0x56}};
  const Dialect dialect{kOuis};
  const auto view = decode(octets, dialect);
  if (!view) {
    require(!to_string(view.error()).empty());
    return;
  }
  require(view->octets.size() <= octets.size());
  require(!view->chassis_octets.empty() && !view->port_octets.empty());

  std::size_t discarded = 0;
  std::size_t unrecognized = 0;
  TlvWalk walk(view->octets, dialect);
  for (Tlv tlv; walk.next(tlv);) {
    switch (tlv.status) {
      case Tlv::Status::kValid:
        require(tlv.row() != nullptr && !tlv.row()->describe(tlv.information).empty());
        again_by_key<ChassisIdTlv, PortIdTlv, Ttl, PortDescription, SystemName, SystemDescription,
                     Capabilities, ManagementAddress, PortVlan, PortProtocolVlan, VlanName,
                     ProtocolIdentity, VidUsageDigest, ManagementVid, LinkAggregation,
                     CongestionNotification, EtsConfig, EtsRecommendation, PfcConfig,
                     ApplicationPriority, Tr, MacPhy, PowerViaMdi, Dot3LinkAggregation,
                     MaxFrameSize, Contribution, LocationTlv, LayersTlv, ClassesTlv, OrderTlv>(tlv);
        break;
      case Tlv::Status::kUnrecognized:
        ++unrecognized;
        break;
      case Tlv::Status::kDiscarded:
        ++discarded;
        break;
    }
  }
  require(!walk.discard());
  const ClassClaims claims = class_claims_of(view->octets, dialect);
  require(!claims.classes || claims.classes->consistent());
  require(view->pfc_enabled || !claims.pfc);  // that one also takes DCBX 1.0
  require(discarded == view->tlvs_discarded && unrecognized == view->tlvs_unrecognized);
  require(view->in_error == (discarded > 0));

  // What was read may be cut off behind: nothing changes.
  const auto same = decode(view->octets, dialect);
  require(same && same->octets.size() == view->octets.size() && same->tr == view->tr &&
          same->tlvs_discarded == view->tlvs_discarded);
}

}  // namespace
}  // namespace lldp::tlv

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lldp::tlv::run({data, size});
  return 0;
}
