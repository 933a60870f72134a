// SPDX-License-Identifier: Apache-2.0
#include "agent/core/neighbor_table.hpp"

#include <algorithm>

#include "agent/core/location.hpp"
#include "base/text.hpp"

namespace lldp::core {
namespace {

constexpr std::size_t kHeader = 2;  ///< octets before a TLV's information

/// Octets of the TLV at the front, its header included.
std::size_t tlv_length(ByteSpan octets) {
  return kHeader + (static_cast<std::size_t>(octets[0] & 1U) << 8 | octets[1]);
}

template <class Id>
Id identifier(ByteSpan tlv) {
  Id id;
  id.subtype = tlv[kHeader];
  id.octets = as_text(tlv.subspan(kHeader + 1, tlv_length(tlv) - kHeader - 1));
  return id;
}

/// The contribution TLV cannot say crosslink.
bool disagree(const tlv::Claim& tr, const tlv::Claim& contribution) {
  const PortType sayable = tr.port == PortType::kCrosslink ? PortType::kUnmarked : tr.port;
  return tr.device != contribution.device || tr.level != contribution.level ||
         sayable != contribution.port;
}

/// What is there and not enabled says nothing: every Linux has a bridge.
bool is_stock_switch(const std::optional<tlv::Capabilities>& c) {
  using Bits = tlv::Capabilities;
  constexpr unsigned kForwards =
      Bits::kBridge | Bits::kRouter | Bits::kCVlan | Bits::kSVlan |
      Bits::kTwoPortMacRelay;  // an AP's or a cable modem's end is a host's
  return c && (c->enabled & kForwards) != 0;
}
/// A wrong host makes its neighbor a leaf, so it takes a word for it and none against it.
bool is_stock_host(const std::optional<tlv::Capabilities>& c, const tlv::Evidence& evidence) {
  const bool station = c && c->enabled == tlv::Capabilities::kStationOnly;
  return (station || evidence.endpoint) && !evidence.bridge;
}

}  // namespace

ByteSpan msap_of(ByteSpan lldpdu) {
  std::size_t length = 0;
  for (int tlvs = 0; tlvs < 2; ++tlvs) {
    const ByteSpan rest = lldpdu.subspan(length);
    if (rest.size() < kHeader || rest.size() < tlv_length(rest)) return {};
    length += tlv_length(rest);
  }
  return lldpdu.first(length);
}

Neighbor::Neighbor(Scope its_scope, ByteSpan lldpdu, const tlv::LldpduView& view,
                   const Settings& settings)
    : scope(its_scope) {
  replace(lldpdu, view, settings);
}

void Neighbor::replace(ByteSpan lldpdu, const tlv::LldpduView& view, const Settings& settings) {
  const auto& claim = view.tr ? view.tr : view.contribution;
  // A sender without a device type may show it by other TLVs.
  const bool mute = !claim || claim->device == DeviceType::kUnknown;
  const bool enabled = mute && is_stock_switch(view.capabilities);
  const tlv::Evidence evidence = mute && !enabled ? tlv::evidence_of(view.octets) : tlv::Evidence();
  const bool host = claim ? claim->device == DeviceType::kHost
                          : !enabled && settings.host_from_capabilities &&
                                is_stock_host(view.capabilities, evidence);
  claim_stands = false;
  device = host ? DeviceType::kHost : claim ? claim->device : DeviceType::kUnknown;
  level = host ? Level::of<0>() : claim ? claim->level : std::nullopt;
  if (level) last_level = level;
  port = claim ? claim->port : PortType::kUnmarked;
  tr = view.tr.has_value();
  contribution = view.contribution.has_value();
  tlvs_conflict = tr && contribution && disagree(*view.tr, *view.contribution);
  claims_switch = device == DeviceType::kSwitch;
  forwards = mute ? enabled || evidence.bridge : claims_switch;
  pfc_enabled = view.pfc_enabled;
  layers = view.layers;
  in_error = view.in_error;
  tlvs_discarded = view.tlvs_discarded;
  tlvs_unrecognized = view.tlvs_unrecognized;
  rxTTL = view.ttl;
  msap_length_ = static_cast<std::uint16_t>(msap_of(lldpdu).size());
  name_ = place(lldpdu, view.system_name);
  description_ = place(lldpdu, view.port_description);
  location_ = place(lldpdu, as_text(view.location));
  if (lldpdu_.capacity() > 2 * lldpdu.size()) Bytes().swap(lldpdu_);
  lldpdu_.assign(lldpdu.begin(), lldpdu.end());
  location_conflicts =
      location_.length != 0 &&
      !fits(as_octets(told_location()), claims_switch ? level : std::nullopt, chassis_id());
  if (tr || contribution) claimed = *this;
}

void Neighbor::uphold(std::optional<Level> last, TimePoint now) {
  const bool host_by_capabilities = device == DeviceType::kHost && !tr && !contribution;
  if (!host_by_capabilities || !claimed.claims_switch || now >= claim_until) return;
  claim_stands = true;
  device = claimed.device;
  level = claimed.level;
  port = claimed.port;
  claims_switch = claimed.claims_switch;
  forwards = claimed.forwards;
  layers = claimed.layers;
  last_level = level ? level : last;
  // What it tells of its location now was not held against the level that it does not tell.
  location_ = {};
  location_conflicts = false;
}

ChassisId Neighbor::chassis_id() const { return identifier<ChassisId>(lldpdu_); }
PortId Neighbor::port_id() const {
  return identifier<PortId>(ByteSpan(lldpdu_).subspan(tlv_length(lldpdu_)));
}

Neighbor::Place Neighbor::place(ByteSpan lldpdu, std::optional<std::string_view> text) {
  if (!text || text->empty()) return {};
  return {static_cast<std::uint16_t>(as_octets(*text).data() - lldpdu.data()),
          static_cast<std::uint16_t>(text->size())};
}

std::string name_of(const Neighbor& neighbor) {
  return neighbor.system_name().empty() ? to_string(neighbor.chassis_id())
                                        : escape(neighbor.system_name());
}

std::string port_name_of(const Neighbor& neighbor) {
  const PortId id = neighbor.port_id();
  const bool described = id.subtype == PortId::kMacAddress && !neighbor.port_description().empty();
  return described ? escape(neighbor.port_description()) : to_string(id);
}

std::string describe(const Neighbor& neighbor) {
  return name_of(neighbor) + " port " + port_name_of(neighbor);
}

NeighborTable::Neighbors::iterator NeighborTable::place(Scope scope, ByteSpan msap) {
  return std::partition_point(neighbors_.begin(), neighbors_.end(), [&](const Neighbor& n) {
    const int c = as_text(n.msap()).compare(as_text(msap));
    return c < 0 || (c == 0 && n.scope < scope);
  });
}

Neighbor* NeighborTable::find(Scope scope, ByteSpan msap) {
  const auto at = place(scope, msap);
  const bool there =
      at != neighbors_.end() && at->scope == scope && as_text(at->msap()) == as_text(msap);
  return there ? &*at : nullptr;
}

Neighbor& NeighborTable::insert(Neighbor neighbor) {
  const auto at = place(neighbor.scope, neighbor.msap());
  return *neighbors_.insert(at, std::move(neighbor));
}

void NeighborTable::erase(const Neighbor* neighbor) {
  neighbors_.erase(neighbors_.begin() + (neighbor - neighbors_.data()));
}

}  // namespace lldp::core
