// SPDX-License-Identifier: Apache-2.0
#include "agent/core/location.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "tlv/location.hpp"
#include "tlv/writer.hpp"

namespace lldp::core {
namespace {

constexpr Level kLeaf = Level::of<1>();

ChassisId id_of(ByteSpan octets) {
  ChassisId id;
  id.subtype = octets[0];
  id.octets = as_text(octets.subspan(1));
  return id;
}

}  // namespace

Tiers tiers_of(std::string_view octets) {
  Tiers out;
  if (octets.empty()) return out;
  const auto tlv = tlv::decode_as<tlv::LocationTlv>(as_octets(octets));
  if (!tlv) return out;
  for (const tlv::TierTlv& tier : tlv->tiers.view())
    out.push_back({*Level::make(tier.level), id_of(tier.chassis)});
  return out;
}

std::string octets_of(std::span<const Tier> tiers) {
  std::string out;
  if (tiers.size() > tlv::LocationTlv::kMostTiers)
    tiers = tiers.first(tlv::LocationTlv::kMostTiers);
  for (const Tier& tier : tiers) {
    Bytes id{tier.id.subtype};
    id.insert(id.end(), tier.id.octets.begin(), tier.id.octets.end());
    const Bytes octets = tlv::encode_info(tlv::TierTlv{tier.level.value(), id});
    if (octets.empty() || out.size() + octets.size() > tlv::LocationTlv::kMostOctets) break;
    out += as_text(octets);
  }
  return out;
}

bool fits(ByteSpan location, std::optional<Level> level, const ChassisId& chassis) {
  if (!level || *level < kLeaf) return false;
  const Tiers tiers = tiers_of(as_text(location));
  if (tiers.empty() || tiers.front().level < *level) return false;
  return *level != kLeaf || tiers.front() == Tier{kLeaf, chassis};
}

std::string location_text(std::span<const Tier> tiers) {
  std::string out;
  for (const Tier& tier : tiers)
    out +=
        (out.empty() ? "" : ", ") + std::to_string(tier.level.value()) + " " + to_string(tier.id);
  return out.empty() ? "none" : out;
}

Survey::Survey(Level own, const ChassisId& chassis) : own_(own) {
  if (own == kLeaf && !chassis.octets.empty()) own_id_ = chassis;
}

void Survey::add(const PortMemory& memory, bool young) {
  if (memory.kind == PortMemory::Kind::kHost) return;
  if (memory.kind != PortMemory::Kind::kSwitch) {
    above_is_final_ &= !young;
    own_is_final_ &= !young || own_ == kLeaf;
    return;
  }
  const Level its = memory.at.level;
  const bool below = its.value() + 1 == own_.value();
  if (!below && its.value() != own_.value() + 1) return;
  // A leaf's ID is known of one that does not tell it, too.
  if (its == kLeaf) take(its, memory.at.chassis);
  const bool tells_its_own =
      its == kLeaf || (!memory.tiers.empty() && as_octets(memory.tiers)[0] == its.value());
  if (young && !tells_its_own) (below ? own_is_final_ : above_is_final_) = false;
  // From below comes what is below alone, so that nothing counts up.
  for (const Tier& tier : tiers_of(memory.tiers))
    if (below ? tier.level == its : tier.level > own_) take(tier.level, tier.id);
}

void Survey::take(Level level, const ChassisId& id) {
  if (level < own_) {
    if (!own_id_ || id < *own_id_) own_id_ = id;
    return;
  }
  const auto at = std::ranges::lower_bound(above_, level, {}, &Tier::level);
  if (at == above_.end() || at->level != level)
    above_.insert(at, {level, id});
  else if (id < at->id)
    at->id = id;
}

Tiers Survey::tiers(const Tiers& known) const {
  const auto first_above = std::ranges::upper_bound(known, own_, {}, &Tier::level);
  Tiers out;
  if (own_id_)
    out.push_back({own_, *own_id_});
  else if (first_above != known.begin() && std::prev(first_above)->level == own_)
    out.push_back(*std::prev(first_above));
  if (above_.empty())
    out.insert(out.end(), first_above, known.end());
  else
    out.insert(out.end(), above_.begin(), above_.end());
  return out;
}

}  // namespace lldp::core
