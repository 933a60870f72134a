// SPDX-License-Identifier: Apache-2.0
#include "agent/core/location.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "tlv/writer.hpp"

namespace lldp::core {
namespace {

constexpr Level kLeaf = Level::of<1>();
/// An ID as old as this is one that labels and schedulers have taken over (P7).
constexpr std::uint32_t kSettled = 64;
constexpr std::uint32_t kOldest = 1U << 22U;  ///< eight years; an ID that is set anew may be older

constexpr std::uint32_t kMost = 1U << 30U;
constexpr std::size_t kMostMembers = 1024;  ///< as many as the surroundings of a level

/// Of a leaf's own tier the age tells another thing.
bool grows(const Tier& tier) { return tier.level > kLeaf && tier.age > 0 && tier.age < kOldest; }

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
    out.push_back({*Level::make(tier.level), id_of(tier.chassis), std::min(tier.age, kMost)});
  return out;
}

std::string octets_of(std::span<const Tier> tiers) {
  std::string out;
  if (tiers.size() > tlv::LocationTlv::kMostTiers)
    tiers = tiers.first(tlv::LocationTlv::kMostTiers);
  for (const Tier& tier : tiers) {
    boost::container::small_vector<std::uint8_t, 32> id{tier.id.subtype};
    const ByteSpan its = as_octets(tier.id.octets);
    id.insert(id.end(), its.data(), its.data() + its.size());
    std::array<std::uint8_t, tlv::kMaxInformation> room;
    const ByteSpan octets = tlv::encode_info(
        tlv::TierTlv{tier.level.value(), ByteSpan(id.data(), id.size()), tier.age}, room);
    if (octets.empty() || out.size() + octets.size() > tlv::LocationTlv::kMostOctets) break;
    out += as_text(octets);
  }
  return out;
}

bool fits(ByteSpan location, std::optional<Level> level, const ChassisId& chassis) {
  if (!level || *level < kLeaf) return false;
  const auto tlv = tlv::decode_as<tlv::LocationTlv>(location);
  if (!tlv || tlv->tiers.items.front().level < level->value()) return false;
  const tlv::TierTlv& lowest = tlv->tiers.items.front();
  return *level != kLeaf || (lowest.level == kLeaf.value() && id_of(lowest.chassis) == chassis);
}

std::string location_text(std::span<const Tier> tiers) {
  std::string out;
  for (const Tier& tier : tiers)
    out +=
        (out.empty() ? "" : ", ") + std::to_string(tier.level.value()) + " " + to_string(tier.id);
  return out.empty() ? "none" : out;
}

bool are_same_tiers(std::span<const Tier> a, std::span<const Tier> b) {
  return std::ranges::equal(
      a, b, [](const Tier& x, const Tier& y) { return x.level == y.level && x.id == y.id; });
}

const Tier* tier_at(std::span<const Tier> tiers, Level level) {
  const auto at = std::ranges::find(tiers, level, &Tier::level);
  return at == tiers.end() ? nullptr : &*at;
}

struct Survey::Best {
  const Tier* known;
  std::optional<Word> first{};
  std::optional<Word> kept{};

  void take(const Word& w) {
    if (!first || is_older(w, *first)) first = w;
    if (known != nullptr && w.id == known->id && (!kept || is_older(w, *kept))) kept = w;
  }
  /// The first, unless the known one is held against it.
  [[nodiscard]] Word choose(Level level, std::span<const Tier> ripe, Tiers& held) const {
    if (known == nullptr || first->id == known->id) return *first;
    if (!kept || kept->age < kSettled || first->age < kSettled) return *first;
    if (const Tier* r = tier_at(ripe, level); r != nullptr && first->id == r->id) return *first;
    held.push_back({level, first->id.chassis(), first->age});
    return *kept;
  }
  static bool is_older(const Word& a, const Word& b) {
    return a.age != b.age ? a.age > b.age : a.id < b.id;
  }
};

Survey::Survey(Level own, const ChassisId& chassis) : own_(own), chassis_(chassis) {
  if (own_ > kLeaf && !chassis.octets.empty()) no_leaves_.push_back(&chassis);
}

void Survey::add(Words& words, Id id, std::uint32_t age) {
  if (!words.empty() && words.back().age == age && words.back().id == id)
    ++words.back().ports;
  else
    words.push_back({id, age});
}

void Survey::add(const PortMemory& memory, bool young) {
  if (memory.kind == PortMemory::Kind::kHost) return;
  if (memory.kind != PortMemory::Kind::kSwitch) {
    above_is_final_ &= !young;
    own_is_final_ &= !young || own_ == kLeaf;
    return;
  }
  const Level its = memory.at.level;
  if (its > kLeaf) no_leaves_.push_back(&memory.at.chassis);
  const bool below = its.value() + 1 == own_.value();
  (below ? members_ : elsewhere_).push_back(&memory.at.chassis);
  if (!below && its.value() != own_.value() + 1) return;
  if (octets_ != memory.tiers) read_ = tlv::decode_as<tlv::LocationTlv>(as_octets(memory.tiers));
  octets_ = memory.tiers;
  const auto tiers = read_ ? read_->tiers.view() : std::span<const tlv::TierTlv>();
  const bool tells_its_own = !tiers.empty() && tiers.front().level == its.value();
  if (young && !tells_its_own && its != kLeaf) (below ? own_is_final_ : above_is_final_) = false;
  // A leaf's ID is known of one that does not tell it, too.
  if (its == kLeaf && !tells_its_own) add(below ? below_ : above_[its], memory.at.chassis);
  for (const tlv::TierTlv& tier : tiers) {
    const Level level = *Level::make(tier.level);
    const std::uint32_t age = std::min(tier.age, kMost);
    if (!below && level > own_)
      add(above_[level], Id(tier.chassis), age);
    else if (below && level == its)
      add(below_, Id(tier.chassis), age);
    else if (below && level >= own_)
      add(hints_[level], Id(tier.chassis), age);
  }
}

const Survey::Words& Survey::hints(Level level) const {
  static const Words kNone;
  const auto at = hints_.find(level);
  return at == hints_.end() ? kNone : at->second;
}

bool Survey::hears_leaf() const {
  // The tier of a leaf has any age; of others, age 0 says that it is only remembered.
  return std::ranges::any_of(
      below_, [this](const Word& w) { return own_.value() == kLeaf.value() + 1 || w.age > 0; });
}

std::optional<Survey::Id> Survey::remembered() const {
  std::map<Id, std::size_t> counts;
  for (const Word& w : hints(own_))
    if (w.age == 0) counts[w.id] += w.ports;
  for (const auto& [id, count] : counts)
    if (count >= 2 && 2 * count > members_.size()) return id;  // no other one can have so many
  return std::nullopt;
}

std::optional<Survey::Word> Survey::own(const Tier* known, bool& told, bool keeps,
                                        std::span<const Tier> ripe,
                                        const std::optional<ChassisId>& renewed,
                                        Tiers& held) const {
  told = true;
  if (own_ == kLeaf) {
    if (chassis_.octets.empty()) return std::nullopt;
    std::uint32_t age = known != nullptr && known->id == chassis_ ? known->age : 0;
    for (const auto& [level, words] : above_)
      for (const Word& w : words)
        if (w.id == chassis_) age = std::max(age, w.age);
    return Word{chassis_, age};
  }
  Best best{known};
  const bool has_leaf = hears_leaf();  // else what those below tell may be our own echo
  bool vouched = known != nullptr && has_leaf && renewed == known->id;
  for (const Word& w : hints(own_)) {
    if (w.age > 0) best.take(w);
    vouched |= has_leaf && known != nullptr && w.id == known->id;
  }
  if (vouched) best.take({known->id, std::max(known->age, 1U)});
  if (!best.first && has_leaf)
    if (const auto id = remembered()) best.take({*id, 1});
  if (best.first) return best.choose(own_, ripe, held);
  if (!below_.empty()) {
    const auto least = std::ranges::min_element(below_, [](const Word& a, const Word& b) {
      return a.age != b.age ? a.age < b.age : a.id < b.id;
    });
    const bool same = known != nullptr && least->id == known->id;
    return Word{least->id, same ? std::max(known->age, 1U) : 1};
  }
  told = false;
  if (keeps && known != nullptr) return Word{known->id, known->age};
  return std::nullopt;
}

Survey::Word Survey::above(Level level, const Words& words, const Tier* known,
                           std::span<const Tier> ripe, Tiers& held) const {
  if (level == kLeaf) {  // a host's: the least of its leaves, of whatever age
    const Word& least = *std::ranges::min_element(words, {}, &Word::id);
    return {least.id, std::max(least.age, 1U)};
  }
  Best best{known};
  for (const Words* all : {&words, &hints(level)})
    for (const Word& w : *all)
      if (w.age > 0) best.take(w);
  if (best.first) return best.choose(level, ripe, held);
  const bool same = known != nullptr &&
                    std::ranges::any_of(words, [&](const Word& w) { return w.id == known->id; });
  return {same ? Id(known->id) : std::ranges::min_element(words, {}, &Word::id)->id, 0};
}

Survey::Found Survey::find(const Tiers& known, bool keeps, std::span<const Tier> ripe,
                           const std::optional<ChassisId>& renewed) const {
  Found out;
  out.tiers.reserve(1 + above_.size());
  out.told.reserve(1 + above_.size());
  const auto add = [&](Level level, const Word& w, bool told) {
    const Tier* before = tier_at(known, level);
    const bool same = before != nullptr && w.id == before->id;
    out.tiers.push_back({level, w.id.chassis(), same ? std::max(w.age, before->age) : w.age});
    out.told.push_back({level, out.tiers.back().id, told ? out.tiers.back().age : 0});
  };
  if (own_ != Level()) {
    if (const auto word = own(tier_at(known, own_), out.own_told, keeps, ripe, renewed, out.held))
      add(own_, *word, out.own_told && (own_ == kLeaf || hears_leaf()));
  }
  out.above_told = !above_.empty();
  for (const auto& [level, words] : above_) {
    const Word word = above(level, words, tier_at(known, level), ripe, out.held);
    add(level, word, word.age > 0);
  }
  if (above_.empty() && keeps)
    for (const Tier& tier : known)
      if (tier.level > own_) add(tier.level, {tier.id, tier.age}, false);
  return out;
}

bool Survey::has_misled(const Switches& members) const {
  return std::ranges::any_of(elsewhere_,
                             [&](const ChassisId* id) { return members.contains(*id); });
}

bool Survey::has_back(const FormerId& former) const {
  return std::ranges::any_of(members_,
                             [&](const ChassisId* id) { return former.members.contains(*id); }) ||
         std::ranges::any_of(hints(former.tier.level),
                             [&](const Word& w) { return w.id == former.tier.id; });
}

std::optional<ChassisId> Survey::new_name(const std::optional<ChassisId>& now) const {
  std::optional<ChassisId> out;
  for (const Word& w : below_)
    if (!(now && w.id == *now) && (!out || w.id < *out))
      if (ChassisId id = w.id.chassis(); !is_no_leaf(id)) out = std::move(id);
  return out;
}

void Location::follow(Survey::Found found, Level own, const Survey::Heard& members, TimePoint now) {
  follow_own(tier_at(tiers, own), tier_at(found.tiers, own), members);
  std::vector<TimePoint> since;
  for (std::size_t i = 0; i < found.tiers.size(); ++i) {
    Tier& tier = found.tiers[i];
    const auto known = std::ranges::find(tiers, tier.level, &Tier::level);
    const auto at = static_cast<std::size_t>(known - tiers.begin());
    if (known != tiers.end() && known->id != tier.id) {
      std::erase_if(was_, [&](const Tier& t) { return t.level == tier.level; });
      was_.push_back(*known);
    }
    const bool same = known != tiers.end() && *known == tier && at < since_.size();
    since.push_back(same ? since_[at] : now);
    if (!grows(tier) || found.told[i].age == 0) continue;
    while (grows(tier) && now - since.back() >= std::chrono::minutes(tier.age)) {
      since.back() += std::chrono::minutes(tier.age);
      tier.age *= 2;
    }
    found.told[i].age = tier.age;
  }
  std::vector<Held> held;
  for (const Tier& tier : found.held) {
    const auto before = std::ranges::find_if(
        held_, [&](const Held& h) { return h.tier.level == tier.level && h.tier.id == tier.id; });
    held.push_back({tier, before == held_.end() ? now : before->since});
  }
  std::erase_if(was_, [&](const Tier& t) { return tier_at(found.tiers, t.level) == nullptr; });
  if (renewed && (found.tiers.empty() || found.tiers.front().id != *renewed)) renewed.reset();
  tiers = std::move(found.tiers);
  told = std::move(found.told);
  since_ = std::move(since);
  held_ = std::move(held);
  await();
}

void Location::follow_own(const Tier* before, const Tier* now, const Survey::Heard& members) {
  if (now == nullptr) {
    former_.reset();
    members_.clear();
    witnesses.clear();
    return;
  }
  if (before == nullptr || before->id != now->id) {
    // Of several that follow each other while the tier is in parts, the first is what it was.
    if (before != nullptr && (!former_ || former_->tier.age <= before->age))
      former_ = {*before, std::move(members_)};
    members_.clear();
    witnesses.clear();
    for (const ChassisId* id : members) witnesses.insert(*id);
  }
  if (former_ && (is_settled(*now) || former_->tier.age <= now->age)) former_.reset();
  auto next = members_.begin();  // ports mostly have switches in the order of their IDs
  for (const ChassisId* id : members) {
    if (next == members_.end() || *next != *id) {
      if (members_.size() >= kMostMembers) break;
      next = members_.insert(*id).first;
    }
    ++next;
  }
}

void Location::restore(const Survey& survey, TimePoint now) {
  if (!former_ || !survey.has_back(*former_)) return;
  const auto at = std::ranges::find(tiers, former_->tier.level, &Tier::level);
  if (at == tiers.end()) return;
  replace(*at, former_->tier.id, former_->tier.age, now);
  members_ = std::move(former_->members);
  former_.reset();
}

bool Location::is_settled(const Tier& tier) { return tier.age >= kSettled; }

void Location::renew(Level level, const ChassisId& id, TimePoint now) {
  const auto at = std::ranges::find(tiers, level, &Tier::level);
  if (at == tiers.end()) return;
  // Older than the one that it replaces, for the older ID is taken, also than that will be
  // elsewhere by the time that this one is heard there.
  replace(*at, id, at->age < kOldest ? std::max(at->age, 1U) * 4 : std::min(at->age + 1, kMost),
          now);
  members_.clear();
  former_.reset();
}

void Location::replace(Tier& tier, const ChassisId& id, std::uint32_t age, TimePoint now) {
  std::erase_if(was_, [&](const Tier& t) { return t.level == tier.level; });
  was_.push_back(tier);
  tier = {tier.level, id, age};
  since_.assign(tiers.size(), now);
  renewed = id;
  witnesses.clear();
  await();
}

Tiers Location::ripe(TimePoint now) const {
  Tiers out;
  for (const Held& h : held_)
    if (now - h.since >= kJoinAfter) out.push_back(h.tier);
  return out;
}

void Location::await() {
  due_ = kNever;
  for (std::size_t i = 0; i < since_.size() && i < tiers.size(); ++i)
    if (grows(tiers[i]) && told[i].age > 0)
      due_ = std::min(due_, since_[i] + std::chrono::minutes(tiers[i].age));
  for (const Held& h : held_) due_ = std::min(due_, h.since + kJoinAfter);
}

std::vector<TierNote> Location::notes() const {
  std::vector<TierNote> out;
  for (const Tier& tier : tiers) {
    TierNote note{.level = tier.level};
    if (const Tier* was = tier_at(was_, tier.level)) note.was = was->id;
    for (const Held& h : held_)
      if (h.tier.level == tier.level) note.joins = h.tier.id, note.at = h.since + kJoinAfter;
    if (note.was || note.joins) out.push_back(std::move(note));
  }
  return out;
}

}  // namespace lldp::core
