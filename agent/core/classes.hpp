// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/core/deadline_queue.hpp"
#include "agent/core/own_classes.hpp"
#include "base/bounded.hpp"
#include "base/rare.hpp"
#include "base/time.hpp"
#include "qos/chains.hpp"
#include "tlv/classes.hpp"

namespace lldp::core {

/// What a neighbor tells by its class TLV: its chains, and of each the hops (tlv::ClassTlv).
struct ToldClasses {
  qos::Chains chains{};
  std::vector<std::uint8_t> hops{};
  friend bool operator==(const ToldClasses&, const ToldClasses&) = default;
};
[[nodiscard]] ToldClasses told_classes(const tlv::ClassesTlv& tlv);
[[nodiscard]] tlv::ClassesTlv to_classes_tlv(const ToldClasses& told);
/// The application classes that a neighbor's PFC and Application Priority TLVs amount to. Without
/// told DSCPs the class of priority p has 8p to 8p + 7. Left out: a mask of more than three;
/// priorities 0, 6 and 7; if the neighbor is willing, priorities of `offered` (bit n for priority
/// n), which it may have taken over from us.
[[nodiscard]] std::vector<qos::LosslessClass> applications_of(const tlv::ClassClaims& claims,
                                                              std::uint8_t offered);

/// One neighbor, as far as lossless classes go.
struct ClassPeer {
  std::string name{};                              ///< `leaf3 port swp7`
  bool is_switch = false;                          ///< by a TLV of ours
  std::optional<ToldClasses> told{};               ///< of a switch that sends the class TLV
  std::vector<qos::LosslessClass> applications{};  ///< by applications_of()
  friend bool operator==(const ClassPeer&, const ClassPeer&) = default;
};

/// Finds the lossless classes of a device from its evidence: the first of these that knows any.
///  1. the configuration;
///  2. chains of the platform;
///  3. application classes of this device, and of the class TLVs of its neighbors;
///  4. PFC and Application Priority TLVs of neighbors, while no chain is in force.
///
/// A chain in force stays, also when its evidence goes, until forget(). A new application class
/// adds a chain where that touches no priority and no DSCP in force; else the ends differ, and
/// mismatch() says so. Every device gives the same spares to the same application classes, by the
/// fixed order of turns (qos/chains.hpp), so devices that know different classes make no cycle.
///
/// Pure: evidence and the time come in as values.
class Classes {
 public:
  /// How long PFC and Application Priority TLVs of a neighbor have to say the same to be evidence.
  static constexpr std::chrono::seconds kStands{2};
  /// How long two ends may differ: a new class takes a moment through the fabric.
  static constexpr std::chrono::seconds kGrace{2};
  static constexpr std::uint8_t kMostHops = 8;  ///< evidence from further away is none

  /// `restored`: the chains that were in force when the device stopped.
  explicit Classes(qos::Chains restored = {});

  void set_own(OwnClasses own) { own_ = std::move(own); }
  /// The neighbors of a port, in place of those before. `name`: the port's, escaped.
  void hear(Ifindex port, std::string_view name, std::vector<ClassPeer> peers, TimePoint now);
  void remove_port(Ifindex port) {
    ports_.erase(port);
    lossy_on_.erase(port);
  }

  /// What decide() changed.
  struct News {
    bool chains = false;               ///< chains() are others
    bool told = false;                 ///< told() is another
    std::vector<std::string> added{};  ///< each chain that was added or extended, in words
  };
  /// Goes by the evidence as it is.
  News decide(TimePoint now);
  /// Drops the learned chains for which no evidence stands. decide() has to follow.
  void forget(TimePoint now);
  /// When decide() may come out differently without news; kNever: it does not.
  [[nodiscard]] TimePoint deadline() const { return deadline_; }

  /// In force: by these the packets change class. In the order of turns of their application
  /// classes where they were learned.
  [[nodiscard]] const qos::Chains& chains() const { return chains_; }
  /// True while no chain is in force and the configuration does not say `none`.
  [[nodiscard]] bool unknown() const { return chains_.empty() && !own_.configured; }
  /// What the neighbors are to be told; nullopt: nothing yet.
  [[nodiscard]] const std::optional<tlv::ClassesTlv>& told() const { return *told_; }
  /// Why each chain is in force: `from swp1's neighbor`.
  [[nodiscard]] std::vector<std::string> evidence(TimePoint now) const;
  /// To be remembered: what was learned.
  [[nodiscard]] qos::Chains kept() const { return own_.configured ? qos::Chains() : chains_; }
  /// Why the port's end of the link and the neighbor's do not go together, and the line that mends
  /// it; of port 0: the same of the device's own evidence.
  [[nodiscard]] std::optional<std::string> mismatch(Ifindex port, TimePoint now) const;
  /// Priorities with a DSCP that leads to another priority at the neighbor (bit n for priority n),
  /// of each port with any: they do not cross it. By the last decide().
  [[nodiscard]] const std::map<Ifindex, std::uint8_t>& lossy_on() const { return lossy_on_; }
  [[nodiscard]] std::uint8_t lossy_on(Ifindex port) const;

 private:
  struct Peer {
    ClassPeer is{};
    TimePoint since{};  ///< when `applications` became what they are
  };
  struct PortPeers {
    std::string name{};
    std::vector<Peer> peers{};
    TimePoint differs_since = kNever;  ///< kNever: it does not
    std::string difference{};
  };
  /// An application class, and how near its evidence is.
  struct Evidence {
    qos::LosslessClass cls{};
    std::uint8_t hops = 0;
  };

  [[nodiscard]] std::vector<Evidence> own_and_told() const;
  [[nodiscard]] std::vector<Evidence> of_stock_neighbors(TimePoint now);
  void take_configured();
  void learn(TimePoint now, News& news);
  void take_platform(News& news);
  void take(std::vector<Evidence> evidence, News& news);
  /// What there is for the class, with the hops that it is told with.
  struct Support {
    std::uint8_t hops = tlv::ClassTlv::kNoEvidence;
    std::string from{};
  };
  [[nodiscard]] Support support(const qos::Chain& chain, TimePoint now) const;
  void find_contested();
  void compare(TimePoint now);
  void note_deadline(TimePoint at, TimePoint now);

  OwnClasses own_{};
  qos::Chains chains_{};
  std::map<Ifindex, PortPeers> ports_{};
  std::map<Ifindex, std::uint8_t> lossy_on_{};
  Rare<std::optional<tlv::ClassesTlv>> told_{};
  std::string trouble_{};  ///< of the device
  TimePoint trouble_since_ = kNever;
  TimePoint deadline_ = kNever;
};

/// The chains, and one more for each of these priorities (bit n for priority n): what to write
/// where PFC is on for them and nothing tells their DSCPs.
[[nodiscard]] std::string with_chains_for(const qos::Chains& chains, unsigned priorities);
/// `3 (DSCP 24-31) > 2 (DSCP 19)`, without a spare `3 (DSCP 26) > lossy`.
[[nodiscard]] std::string describe(const qos::Chain& chain);
/// Bit n for each priority n of the chains.
[[nodiscard]] std::uint8_t priorities_of(const qos::Chains& chains);
/// The same of their application classes alone.
[[nodiscard]] std::uint8_t applications_of(const qos::Chains& chains);

}  // namespace lldp::core
