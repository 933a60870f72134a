// SPDX-License-Identifier: Apache-2.0
#include "tlv/classes.hpp"

#include "base/bounded.hpp"
#include "tlv/dcbx.hpp"
#include "tlv/dot1.hpp"
#include "tlv/table.hpp"

namespace lldp::tlv {
namespace {

constexpr std::uint16_t kRocePort = 4791;  ///< UDP, RoCEv2

struct Selector {
  static constexpr std::uint8_t kUdp = 3;  ///< IEEE 802.1Q Table D-9
  static constexpr std::uint8_t kTcpOrUdp = 4;
  static constexpr std::uint8_t kDscp = 5;
  static constexpr std::uint8_t kCeePort = 1;  ///< DCBX 1.01
};

void take(const ApplicationPriority& table, ClassClaims& out) {
  for (const auto& entry : table.table.view()) {
    if (entry.selector == Selector::kDscp && entry.protocol <= Dscp::kMax)
      out.dscps.at(entry.priority) |= std::uint64_t{1} << entry.protocol;
    const bool udp = entry.selector == Selector::kUdp || entry.selector == Selector::kTcpOrUdp;
    if (udp && entry.protocol == kRocePort)
      out.rocev2 = static_cast<std::uint8_t>(out.rocev2 | 1U << entry.priority);
  }
}

/// Of DCBX 1.01: what no IEEE TLV has said.
void take(const DcbxCee& cee, bool pfc, bool applications, ClassClaims& out) {
  for (const DcbxFeature& feature : cee.features.view()) {
    if (feature.type == DcbxFeature::kPfc && pfc) {
      const auto v = decode_as<DcbxPfc>(feature.value);
      if (!v) continue;
      out.pfc = v->header.enabled && !v->header.error ? v->priorities : std::uint8_t{0};
      out.willing = v->header.willing;
    } else if (feature.type == DcbxFeature::kApplications && applications) {
      const auto v = decode_as<DcbxApplications>(feature.value);
      if (!v || !v->header.enabled || v->header.error) continue;
      for (const DcbxApplication& entry : v->table.view())
        if (entry.selector == Selector::kCeePort && entry.protocol == kRocePort)
          out.rocev2 = static_cast<std::uint8_t>(out.rocev2 | entry.priorities);
    }
  }
}

}  // namespace

bool ClassesTlv::consistent() const {
  unsigned priorities = 0;
  std::uint64_t dscps = 0;
  const ClassTlv* last = nullptr;
  for (const ClassTlv& c : classes.view()) {
    const bool begins = c.step == 0 && c.chain == (last == nullptr ? 0 : last->chain + 1);
    const bool follows = last != nullptr && c.chain == last->chain && c.step == last->step + 1;
    if (!begins && !follows) return false;
    if (c.priority == 0 || c.priority > Priority::kMax || (priorities >> c.priority & 1U) != 0)
      return false;
    if (c.dscp > Dscp::kMax || (c.dscps >> c.dscp & 1U) == 0 || (dscps & c.dscps) != 0)
      return false;
    priorities |= 1U << c.priority;
    dscps |= c.dscps;
    last = &c;
  }
  return true;
}

ClassClaims class_claims_of(ByteSpan lldpdu, const Dialect& dialect) {
  ClassClaims out;
  std::optional<DcbxCee> cee;
  bool ieee_applications = false;
  TlvWalk walk(lldpdu, dialect);
  for (Tlv tlv; walk.next(tlv);) {
    if (tlv.status != Tlv::Status::kValid) continue;
    switch (tlv.row_number) {
      case kRow<ClassesTlv>:
        out.classes = decode_as<ClassesTlv>(tlv.information);
        break;
      case kRow<PfcConfig>:
        if (const auto v = decode_as<PfcConfig>(tlv.information)) {
          out.pfc = v->enabled;
          out.willing = v->willing;
        }
        break;
      case kRow<ApplicationPriority>:
        if (const auto v = decode_as<ApplicationPriority>(tlv.information)) {
          take(*v, out);
          ieee_applications = true;
        }
        break;
      case kRow<DcbxCee>:
        cee = decode_as<DcbxCee>(tlv.information);
        break;
      default:
        break;
    }
  }
  if (cee) take(*cee, !out.pfc, !ieee_applications, out);
  return out;
}

}  // namespace lldp::tlv
