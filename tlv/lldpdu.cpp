// SPDX-License-Identifier: Apache-2.0
#include "tlv/lldpdu.hpp"

#include "base/result.hpp"
#include "tlv/table.hpp"
#include "tlv/topology.hpp"

namespace lldp::tlv {
namespace {

constexpr std::uint8_t kEnd = 0;
constexpr std::size_t kHeader = 2;

std::uint32_t oui_number(ByteSpan o) {
  return static_cast<std::uint32_t>(o[0]) << 16 | static_cast<std::uint32_t>(o[1]) << 8 | o[2];
}

bool is_mandatory(std::uint8_t type) { return type >= 1 && type <= 3; }

/// Files a valid TLV other than the first three in the view.
void take(const Tlv& tlv, LldpduView& view) {
  switch (tlv.key.type) {
    case PortDescription::kKey.type:
      view.port_description = as_text(tlv.information);
      return;
    case SystemName::kKey.type:
      view.system_name = as_text(tlv.information);
      return;
    case SystemDescription::kKey.type:
      view.system_description = as_text(tlv.information);
      return;
    case Capabilities::kKey.type:
      view.capabilities = decode_as<Capabilities>(tlv.information);
      return;
    case kOrganizational:
      if (tlv.row == &kContributionRow) {
        if (const auto v = decode_as<Contribution>(tlv.information))
          view.contribution = claim_of(*v);
      } else if (tlv.key == Tr::kKey) {
        if (const auto v = decode_as<Tr>(tlv.information)) view.tr = claim_of(*v);
      }
      return;
    default:
      return;
  }
}

std::optional<Discard> decode_into(LldpduView& view, ByteSpan lldpdu, const Dialect& dialect) {
  TlvWalk walk(lldpdu, dialect);
  Tlv tlv;
  const auto next_is = [&](Key key) {
    return walk.next(tlv) && tlv.key == key && tlv.status == Tlv::Status::kValid;
  };
  // A subtype and at least one octet are there: the walk has held them against their layouts.
  if (!next_is(ChassisIdTlv::kKey)) return Discard::kChassisId;
  view.chassis_subtype = tlv.information[0];
  view.chassis_octets = tlv.information.subspan(1);
  if (!next_is(PortIdTlv::kKey)) return Discard::kPortId;
  view.port_subtype = tlv.information[0];
  view.port_octets = tlv.information.subspan(1);
  if (!next_is(Ttl::kKey)) return Discard::kTtl;
  view.ttl = static_cast<std::uint16_t>(tlv.information[0] << 8 | tlv.information[1]);

  // A shutdown is not validated further, 9.2.7.7.1.
  while (view.ttl != 0 && walk.next(tlv)) {
    switch (tlv.status) {
      case Tlv::Status::kValid:
        take(tlv, view);
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
  view.octets = lldpdu.first(walk.position());
  return walk.discard();
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

tl::expected<LldpduView, Discard> decode(ByteSpan lldpdu, const Dialect& dialect) {
  tl::expected<LldpduView, Discard>
      result;  // filled where it is returned: a view is no small thing
  if (const auto why = decode_into(*result, lldpdu, dialect)) result = fail(*why);
  return result;
}

bool TlvWalk::stop(std::optional<Discard> why) {
  stopped_ = true;
  discard_ = why;
  return false;
}

const Row* TlvWalk::row_of(const Key& key) const {
  if (key.type == kOrganizational && key.subtype == Contribution::kKey.subtype) {
    for (const Oui& oui : dialect_.contribution_ouis) {
      if (key.oui == oui_number(oui)) return &kContributionRow;
    }
  }
  return find_row(key);
}

bool TlvWalk::next(Tlv& tlv) {
  const ByteSpan rest = octets_.subspan(position_);
  if (stopped_ || rest.empty()) return stop(discard_);
  tlv = {.key = {.type = static_cast<std::uint8_t>(rest[0] >> 1)}};

  const std::size_t length = rest.size() < kHeader
                                 ? kMaxInformation
                                 : static_cast<std::size_t>(rest[0] & 1U) << 8 | rest[1];
  const bool whole = rest.size() >= kHeader && length <= rest.size() - kHeader;
  if (whole) {
    if (tlv.key.type == kEnd) {
      if (length == 0) position_ += kHeader;
      return stop(length == 0 ? std::nullopt : std::optional(Discard::kEndLength));
    }
    tlv.information = rest.subspan(kHeader, length);
    position_ += kHeader + length;
  } else {  // runs past the end
    tlv.information = rest.subspan(std::min(kHeader, rest.size()));
    position_ = octets_.size();
  }

  constexpr std::size_t kOrganization = 4;  // OUI and subtype
  const bool organizational = tlv.key.type == kOrganizational;
  const bool named = !organizational || tlv.information.size() >= kOrganization;
  if (organizational && named) {
    tlv.key.oui = oui_number(tlv.information);
    tlv.key.subtype = tlv.information[3];
    tlv.information = tlv.information.subspan(kOrganization);
  }
  tlv.row = named ? row_of(tlv.key) : nullptr;
  if (!whole || !named) {
    tlv.status = Tlv::Status::kDiscarded;
  } else if (tlv.row == nullptr) {
    tlv.status = Tlv::Status::kUnrecognized;
  } else {
    const std::uint64_t mark = std::uint64_t{1} << (tlv.row - std::begin(kRows));
    const bool again = (seen_ & mark) != 0 && tlv.row->at_most == 1;
    if (again && is_mandatory(tlv.key.type)) return stop(Discard::kDuplicate);
    if (again || !tlv.row->valid(tlv.information)) {
      tlv.status = Tlv::Status::kDiscarded;
    } else {
      seen_ |= mark;
    }
  }
  return true;
}

}  // namespace lldp::tlv
