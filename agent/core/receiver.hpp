// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "agent/core/agent_impl.hpp"

namespace lldp::core {

/// Whether `octets` begin with `address`. In two words: of so few octets, asked for every frame,
/// the library's comparison is mostly its call.
[[nodiscard]] inline bool begins_with(const std::uint8_t* octets, const MacAddress& address) {
  const auto differ = [&]<class Word>(Word, std::size_t at) {
    Word a = 0, b = 0;
    std::memcpy(&a, octets + at, sizeof a);
    std::memcpy(&b, address.data() + at, sizeof b);
    return a != b;
  };
  return !differ(std::uint32_t{}, 0) && !differ(std::uint16_t{}, 4);
}

/// The procedures of the receive machine, IEEE 802.1AB-2016 9.2.7.7: one frame, or the aging of
/// what was learned from earlier ones.
struct Agent::Impl::Receiver {
  Impl& impl;
  Port& port;
  PortAgent& agent;
  TimePoint now{};
  Actions& out;
  ByteSpan lldpdu{};                      ///< the frame, if there is one
  MacAddress source{};                    ///< and the sender's address
  Neighbor* known{};                      ///< its sender
  std::optional<tlv::LldpduView> view{};  ///< of a frame that says something new
  bool table_changed = false;             ///< in something that the port goes by
  bool spoken = false;      ///< by a frame: a neighbor was added, or tells something new
  bool renounced = false;   ///< in it, a neighbor that gave support tells a higher level or none
  bool counted = false;     ///< the frame was held back when it came
  bool held_first = false;  ///< it is held back, and nothing of its sender was

  void rxInitializeLLDP();
  void rxProcessFrame(RxVars& v);
  /// Removes the sender of a shutdown LLDPDU, or else what has aged out; all of a port that is not
  /// operational.
  void mibDeleteObjects();
  void mibUpdateObjects();

 private:
  /// A frame that was held back was counted when it came.
  void count(std::uint64_t Statistics::*what, std::uint64_t times = 1) {
    if (!counted) port.statistics.add(what, times);
  }
  void count_tlvs(const auto& of) {
    count(&Statistics::statsTLVsDiscardedTotal, of.tlvs_discarded);
    count(&Statistics::statsTLVsUnrecognizedTotal, of.tlvs_unrecognized);
    count(&Statistics::statsFramesInErrorsTotal, of.in_error ? 1 : 0);
  }
  void remove(const Neighbor& neighbor, std::string_view why);
  /// Whether the frame may change something now; asked once.
  [[nodiscard]] bool may_change();
  [[nodiscard]] bool is_of_sender(const HeldFrame& frame) const;
  /// The frame would change something, and may not yet: keeps it, as the last word of its sender.
  void hold();
  /// What is held back of the frame's sender is out of date.
  void forget_held();
  template <class Predicate>
  void remove_if(Predicate gone, std::string_view why);
  [[nodiscard]] bool is_own() const;
  [[nodiscard]] bool has_room() const;
  /// It has been heard since layers were set anew here; asked once.
  [[nodiscard]] bool proves_layers();
  /// What `known`, a new neighbor, told before the start is valid for one TTL.
  void recall_claim();
  /// Devices that send one MSAP take turns; one that has another address than before does not.
  void note_source();
  /// Of several MSAPs of one device on the port, which differ where it has changed its chassis ID
  /// or port ID and its farewell was lost, the one that spoke last counts.
  void supersede();
  /// It would change something.
  [[nodiscard]] bool supersedes() const;
  /// A neighbor of this frame's address, as `known` is.
  [[nodiscard]] bool is_another_self(const Neighbor& n) const;
  /// What gave support until now was a neighbor that told `before`.
  void note_support(std::optional<Level> before);
};

}  // namespace lldp::core
