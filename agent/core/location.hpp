// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <boost/container/flat_map.hpp>
#include <boost/container/flat_set.hpp>
#include <boost/container/small_vector.hpp>
#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/core/deadline_queue.hpp"
#include "agent/core/snapshot.hpp"
#include "agent/core/state.hpp"
#include "base/bytes.hpp"
#include "base/fabric.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "tlv/claim.hpp"
#include "tlv/location.hpp"

/// Where the device stands in the fabric: docs/develop/rules.md P1 to P7.
namespace lldp::core {

/// The tiers that the octets of a LocationTlv name; none if they are no such octets.
[[nodiscard]] Tiers tiers_of(std::string_view octets);
/// The other way round: as many as one TLV holds, the lowest first.
[[nodiscard]] std::string octets_of(std::span<const Tier> tiers);
/// What a TLV of one that is `level` and has `chassis` as its chassis ID says is not against that
/// (P6).
[[nodiscard]] bool fits(ByteSpan location, std::optional<Level> level, const ChassisId& chassis);
/// `1 02:00:00:00:00:01, 2 02:00:00:00:00:01`, or none.
[[nodiscard]] std::string location_text(std::span<const Tier> tiers);
/// The same tiers with the same IDs, of whatever age.
[[nodiscard]] bool are_same_tiers(std::span<const Tier> a, std::span<const Tier> b);
[[nodiscard]] const Tier* tier_at(std::span<const Tier> tiers, Level level);

/// Switches by their chassis ID.
using Switches = boost::container::flat_set<ChassisId>;

/// The ID that a tier had until another was taken while no port told it (P7).
struct FormerId {
  Tier tier{};
  Switches members{};  ///< of the next lower level, that were heard under it
};

/// What the ports remember amounts to (P1 to P4, P7). It borrows from the memories that it is made
/// of, and holds as long as they stay as they are.
class Survey {
 public:
  /// Switches as the ports have them: one that is heard on two ports is there twice.
  using Heard = boost::container::small_vector<const ChassisId*, 32>;
  struct Found {
    Tiers tiers{};
    /// The same as neighbors are told it: age 0 where no port tells the tier.
    Tiers told{};
    bool own_told = false;
    bool above_told = false;
    /// IDs that older halves of tiers have, which are not taken yet (P7).
    Tiers held{};
  };

  Survey(Level own, const ChassisId& chassis);
  /// `young`: the neighbor there may be about to be heard first, or to tell more.
  void add(const PortMemory& memory, bool young);
  /// `known`: the location until now; `keeps`: what no port tells of stays (P4); `ripe`: IDs that
  /// have been held for long enough; `renewed`: the ID that an operator has the own tier take.
  [[nodiscard]] Found find(const Tiers& known, bool keeps, std::span<const Tier> ripe,
                           const std::optional<ChassisId>& renewed) const;
  /// Every neighbor that could tell the own tier, or any, has done so.
  [[nodiscard]] bool own_is_final() const { return own_is_final_; }
  [[nodiscard]] bool all_is_final() const { return own_is_final_ && above_is_final_; }
  /// The ID that the own tier takes where it is named anew: the least of those of leaves below, but
  /// not `now`. Nothing if there is none.
  [[nodiscard]] std::optional<ChassisId> new_name(const std::optional<ChassisId>& now = {}) const;
  /// The device of that chassis ID stands on another level than a leaf, as one that was moved does.
  [[nodiscard]] bool is_no_leaf(const ChassisId& id) const {
    return std::ranges::any_of(no_leaves_, [&](const ChassisId* its) { return *its == id; });
  }
  /// The switches of the next lower level.
  [[nodiscard]] const Heard& members() const { return members_; }
  /// One of those of before turns out to stand on another level.
  [[nodiscard]] bool has_misled(const Switches& members) const;
  /// A switch below was below under that ID too, or remembers it.
  [[nodiscard]] bool has_back(const FormerId& former) const;

 private:
  /// A chassis ID where it stands, in a TLV or elsewhere. Compares as the chassis ID does.
  struct Id {
    std::uint8_t subtype = 0;
    std::string_view octets{};
    // NOLINTNEXTLINE(google-explicit-constructor): it is one
    Id(const ChassisId& id) : subtype(id.subtype), octets(id.octets) {}
    explicit Id(ByteSpan tlv) : subtype(tlv[0]), octets(as_text(tlv.subspan(1))) {}
    [[nodiscard]] ChassisId chassis() const { return {{subtype, std::string(octets)}}; }
    friend auto operator<=>(const Id&, const Id&) = default;
  };
  struct Word {
    Id id;
    std::uint32_t age = 0;
    std::size_t ports = 1;  ///< one after another that tell it
  };
  using Words = boost::container::small_vector<Word, 8>;
  /// The oldest of some words, and of those with the known ID.
  struct Best;

  static void add(Words& words, Id id, std::uint32_t age = 0);
  /// A switch below has a leaf below or is one, and tells so.
  [[nodiscard]] bool hears_leaf() const;
  [[nodiscard]] std::optional<Word> own(const Tier* known, bool& told, bool keeps,
                                        std::span<const Tier> ripe,
                                        const std::optional<ChassisId>& renewed, Tiers& held) const;
  [[nodiscard]] Word above(Level level, const Words& words, const Tier* known,
                           std::span<const Tier> ripe, Tiers& held) const;
  [[nodiscard]] const Words& hints(Level level) const;
  /// The ID of a tier that most of the switches below remember, and none tells.
  [[nodiscard]] std::optional<Id> remembered() const;

  Level own_;
  const ChassisId& chassis_;
  Words below_{};      ///< of the tiers of level own - 1: one of them names ours at first
  Heard members_{};    ///< of each port with a switch of level own - 1
  Heard elsewhere_{};  ///< and with a switch of another level
  Heard no_leaves_{};
  boost::container::flat_map<Level, Words> hints_{};  ///< told from below: IDs of tiers above there
  boost::container::flat_map<Level, Words> above_{};  ///< told from above
  std::string_view octets_{};  ///< that were read last, for many ports tell the same
  std::optional<tlv::LocationTlv> read_{};
  bool own_is_final_ = true;
  bool above_is_final_ = true;
};

/// The location as it is kept over time.
class Location {
 public:
  /// For how long two settled IDs of a tier are heard before the older one is taken: a cable in a
  /// wrong port is found by then, and what has become one ID does not become two again.
  static constexpr std::chrono::minutes kJoinAfter{10};

  Tiers tiers{};
  Tiers told{};                        ///< age 0 where no port tells the tier
  std::optional<ChassisId> renewed{};  ///< the own tier's ID, where it was named anew
  /// Switches of the next lower level that were heard when the own tier's ID was taken.
  Switches witnesses{};

  /// `members`: the switches of the next lower level that are heard.
  void follow(Survey::Found found, Level own, const Survey::Heard& members, TimePoint now);
  [[nodiscard]] static bool is_settled(const Tier& tier);
  void renew(Level level, const ChassisId& id, TimePoint now);
  /// Takes the former ID of the own tier again, if one of its switches is back.
  void restore(const Survey& survey, TimePoint now);
  /// IDs that have been held for long enough.
  [[nodiscard]] Tiers ripe(TimePoint now) const;
  [[nodiscard]] TimePoint due() const { return due_; }  ///< when follow() has more; kNever: never
  [[nodiscard]] std::vector<TierNote> notes() const;

 private:
  struct Held {
    Tier tier{};
    TimePoint since{};
  };
  std::vector<TimePoint> since_{};  ///< of each of `tiers`, when it had the age that it has
  std::vector<Held> held_{};
  Tiers was_{};
  Switches members_{};  ///< that were heard since the own tier has its ID
  std::optional<FormerId> former_{};
  TimePoint due_ = kNever;

  void follow_own(const Tier* before, const Tier* now, const Survey::Heard& members);
  /// Sets due_.
  void await();
  void replace(Tier& tier, const ChassisId& id, std::uint32_t age, TimePoint now);
};

}  // namespace lldp::core
