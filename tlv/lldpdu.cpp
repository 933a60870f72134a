// SPDX-License-Identifier: Apache-2.0
#include "tlv/lldpdu.hpp"

#include "base/result.hpp"
#include "tlv/table.hpp"
#include "tlv/topology.hpp"

namespace lldp::tlv {
namespace {

constexpr std::uint8_t kEnd = 0;
constexpr std::size_t kHeader = 2;
constexpr std::size_t kOrganization = 4;  // OUI and subtype

std::uint32_t oui_number(const std::uint8_t* o) {
  return static_cast<std::uint32_t>(o[0]) << 16 | static_cast<std::uint32_t>(o[1]) << 8 | o[2];
}

bool is_mandatory(std::uint8_t type) { return type >= 1 && type <= 3; }

/// Files one of the first three TLVs. A subtype and at least one octet are there: the walk has held
/// them against their layouts.
[[gnu::always_inline]] inline void take_mandatory(const Tlv& tlv, LldpduView& view) {
  const ByteSpan octets = tlv.information;
  if (tlv.row_number == kRow<ChassisIdTlv>) {
    view.chassis_subtype = octets[0];
    view.chassis_octets = octets.subspan(1);
  } else if (tlv.row_number == kRow<PortIdTlv>) {
    view.port_subtype = octets[0];
    view.port_octets = octets.subspan(1);
  } else {
    view.ttl = static_cast<std::uint16_t>(octets[0] << 8 | octets[1]);
  }
}

/// What an earlier TLV said of PFC stands. Apart, for few frames have it.
template <class Dcbx>
[[gnu::noinline]] void take_dcbx(ByteSpan octets, LldpduView& view) {
  if (view.pfc_enabled) return;
  if (const auto v = decode_as<Dcbx>(octets)) view.pfc_enabled = v->pfc_enabled();
}

/// decode_as() for what most frames have: with all that it calls inlined the positions in the
/// octets are constants. The compiler stops short of that in a large file.
template <class T>
[[gnu::flatten]] std::optional<T> decode_fast(ByteSpan octets) {
  return decode_as<T>(octets);
}

/// Files a valid TLV of those that may follow.
[[gnu::always_inline]] inline void take_optional(const Tlv& tlv, LldpduView& view) {
  const ByteSpan octets = tlv.information;
  switch (tlv.row_number) {
    case kRow<PortDescription>:
      view.port_description = without_padding(as_text(octets));
      break;
    case kRow<SystemName>:
      view.system_name = without_padding(as_text(octets));
      break;
    case kRow<SystemDescription>:
      view.system_description = without_padding(as_text(octets));
      break;
    case kRow<Capabilities>:
      view.capabilities = decode_fast<Capabilities>(octets);
      break;
    case kRow<PfcConfig>:  // goes before what is said in DCBX of old
      if (const auto v = decode_as<PfcConfig>(octets)) view.pfc_enabled = v->enabled;
      break;
    case kRow<DcbxCin>:
      take_dcbx<DcbxCin>(octets, view);
      break;
    case kRow<DcbxCee>:
      take_dcbx<DcbxCee>(octets, view);
      break;
    case kRow<Tr>:
      if (const auto v = decode_fast<Tr>(octets)) view.tr = claim_of(*v);
      break;
    case kRow<Contribution>:
      if (const auto v = decode_fast<Contribution>(octets)) view.contribution = claim_of(*v);
      break;
    case kRow<LocationTlv>:
      view.location = octets;
      break;
    case kRow<LayersTlv>:
      if (const auto v = decode_as<LayersTlv>(octets)) view.layers = layers_of(*v);
      break;
    case kRow<OrderTlv>:
      view.order = octets;
      break;
    default:
      break;
  }
}

}  // namespace

std::string_view to_string(Discard d) {
  switch (d) {
    case Discard::kChassisId:
      return "the first TLV is not a Chassis ID of 2 to 256 octets";
    case Discard::kPortId:
      return "the second TLV is not a Port ID of 2 to 256 octets";
    case Discard::kTtl:
      return "the third TLV is not a Time To Live of 2 octets or more";
    case Discard::kDuplicate:
      return "a second Chassis ID, Port ID or Time To Live TLV";
    case Discard::kEndLength:
      break;
  }
  return "an End TLV with a length other than 0";
}

namespace {

[[gnu::always_inline]] inline const Check& check_for(const Key& key, const Dialect& dialect) {
  const Check* const ours = key.subtype == Contribution::kKey.subtype  ? &kContributionCheck
                            : key.subtype == LocationTlv::kKey.subtype ? &kLocationCheck
                            : key.subtype == LayersTlv::kKey.subtype   ? &kLayersCheck
                            : key.subtype == ClassesTlv::kKey.subtype  ? &kClassesCheck
                            : key.subtype == OrderTlv::kKey.subtype    ? &kOrderCheck
                                                                       : nullptr;
  if (ours != nullptr) {
    for (const Oui& oui : dialect.contribution_ouis)
      if (key.oui == oui_number(oui.data())) return *ours;
  }
  if (key.oui == kDot1) return kDot1Slots[key.subtype];
  if (key.oui == kDot3) return kDot3Slots[key.subtype];
  if (key.oui == kTia) return kTiaSlots[key.subtype];
  if (key.oui == kIntel) return kIntelSlots[key.subtype];
  return kUnrecognizedCheck;
}

}  // namespace

[[gnu::always_inline]] inline bool TlvWalk::stop() {
  octets_ = octets_.first(position_);
  return false;
}

[[gnu::always_inline]] inline bool TlvWalk::refuse(Discard why) {
  refused_ = true;
  discard_ = why;
  return stop();
}

// Inlined into decode(), which so keeps the walk in registers.
[[gnu::always_inline]] inline bool TlvWalk::step(Tlv& tlv) {
  const std::size_t left = octets_.size() - position_;
  if (left == 0) return false;
  const std::uint8_t* const at = octets_.data() + position_;
  tlv.key = {.type = static_cast<std::uint8_t>(at[0] >> 1)};
  tlv.row_number = kNoRow;
  const std::size_t length =
      left < kHeader ? left : static_cast<std::size_t>(at[0] << 8 | at[1]) & kMaxInformation;
  if (kHeader + length > left) [[unlikely]] {  // runs past the end, so it is the last
    tlv.information = octets_.subspan(position_ + std::min(kHeader, left));
    tlv.row_number = kBasicSlots[tlv.key.type].row;
    tlv.status = Tlv::Status::kDiscarded;
    position_ = octets_.size();
    return true;
  }
  if (tlv.key.type == kEnd) [[unlikely]] {
    if (length != 0) return refuse(Discard::kEndLength);
    position_ += kHeader;
    return stop();
  }
  position_ += kHeader + length;

  const Check* check = &kUnrecognizedCheck;
  if (tlv.key.type != kOrganizational) {
    tlv.information = {at + kHeader, length};
    check = &kBasicSlots[tlv.key.type];
  } else if (length < kOrganization) [[unlikely]] {
    tlv.information = {at + kHeader, length};
    tlv.status = Tlv::Status::kDiscarded;
    return true;
  } else {
    const std::uint32_t organization = oui_number(at + kHeader) << 8 | at[kHeader + 3];
    tlv.key.oui = organization >> 8;
    tlv.key.subtype = static_cast<std::uint8_t>(organization);
    tlv.information = {at + kHeader + kOrganization, length - kOrganization};
    check = &check_for(tlv.key, dialect_);
  }
  tlv.row_number = check->row;
  if (check->row == kNoRow) [[unlikely]] {
    tlv.status = Tlv::Status::kUnrecognized;
    return true;
  }
  if ((seen_ & check->mark) != 0) [[unlikely]] {  // again
    if (is_mandatory(tlv.key.type)) return refuse(Discard::kDuplicate);
    tlv.status = Tlv::Status::kDiscarded;
    return true;
  }
  if (tlv.information.size() - check->least > check->span ||
      (!check->by_length && !kRows[check->row].well_formed(tlv.information))) [[unlikely]] {
    tlv.status = Tlv::Status::kDiscarded;
    return true;
  }
  seen_ |= check->mark;
  tlv.status = Tlv::Status::kValid;
  return true;
}

const Row* Tlv::row() const { return row_number == kNoRow ? nullptr : &kRows[row_number]; }

bool TlvWalk::next(Tlv& tlv) { return step(tlv); }

tl::expected<LldpduView, Discard> decode(ByteSpan lldpdu, const Dialect& dialect) {
  // Filled where it is returned: a view is no small thing to copy.
  tl::expected<LldpduView, Discard> result;
  LldpduView& view = *result;
  constexpr Discard kMissing[] = {Discard::kChassisId, Discard::kPortId, Discard::kTtl};
  std::size_t mandatory = 0;  // of the first three TLVs, those that were read
  TlvWalk walk(lldpdu, dialect);
  for (Tlv tlv; walk.step(tlv);) {
    if (mandatory < std::size(kMissing)) {
      if (tlv.key.type != mandatory + 1 || tlv.status != Tlv::Status::kValid) break;
      take_mandatory(tlv, view);
      // A shutdown is not validated further, 9.2.7.7.1.
      if (++mandatory == std::size(kMissing) && view.ttl == 0) break;
      continue;
    }
    switch (tlv.status) {
      case Tlv::Status::kValid:
        take_optional(tlv, view);
        break;
      case Tlv::Status::kUnrecognized:
        ++view.tlvs_unrecognized;
        break;
      case Tlv::Status::kDiscarded:
        ++view.tlvs_discarded;
        view.in_error = true;
        break;
    }
  }
  if (mandatory < std::size(kMissing)) {
    result = fail(kMissing[mandatory]);
  } else if (const auto why = walk.discard()) {
    result = fail(*why);
  } else {
    view.octets = lldpdu.first(walk.position());
  }
  return result;
}

Evidence evidence_of(ByteSpan lldpdu) {
  Evidence out;
  TlvWalk walk(lldpdu, {});
  for (Tlv tlv; walk.next(tlv);) {
    if (tlv.status != Tlv::Status::kValid) continue;
    switch (tlv.row_number) {
      case kRow<MedCapabilities>:
        if (const auto v = decode_as<MedCapabilities>(tlv.information)) {
          out.endpoint = v->is_endpoint();
          out.bridge |= v->device_class == MedCapabilities::kNetworkConnectivity;
        }
        break;
      case kRow<PortVlan>:
        if (const auto v = decode_as<PortVlan>(tlv.information)) out.bridge |= v->vid != 0;
        break;
      case kRow<PortProtocolVlan>:
        if (const auto v = decode_as<PortProtocolVlan>(tlv.information)) out.bridge |= v->supported;
        break;
      case kRow<ProtocolIdentity>:
      case kRow<VidUsageDigest>:
      case kRow<ManagementVid>:
        out.bridge = true;
        break;
      default:
        break;
    }
  }
  return out;
}

}  // namespace lldp::tlv
