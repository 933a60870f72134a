// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "sim/packets/slot.hpp"

namespace lldp::lab::packets {

class Simulation;

/// What happens one after the other: flows that begin when others have arrived, and what is
/// computed between.
struct Program {
  enum class Kind : std::uint8_t {
    kSend,     ///< `flow` begins; ends when its last octet has arrived
    kReceive,  ///< ends when a message of `channel` has arrived that no other has received
    kCompute,  ///< takes `time`; those of one `lane` one after the other
    kGate      ///< nothing
  };
  struct Operation {
    Kind kind = Kind::kGate;
    std::uint32_t flow = kNone;     ///< index in Plan::flows, whose start is kNever
    std::uint32_t channel = kNone;  ///< of kSend, too; kNone: it is never received
    std::uint32_t lane = 0;
    std::uint32_t needs = 0;  ///< begins when so many others have told it
    Picoseconds time = 0;
    std::vector<std::uint32_t> after{};       ///< told when this ends
    std::vector<std::uint32_t> with_start{};  ///< told when this begins
  };
  std::vector<Operation> operations{};
  std::uint32_t channels = 0;
  std::uint32_t lanes = 0;
};

/// The first operation that never ends though the network delivers all that it is given: those wait
/// for each other in a circle, or for one that does. nullopt: all end. In linear time.
[[nodiscard]] std::optional<std::uint32_t> never_ends(const Program& program);

/// Lets a program happen in a simulation.
class ProgramRun {
 public:
  ProgramRun(const Program& program, Simulation& simulation);
  /// What needs nothing begins.
  void begin();
  /// As Network::notice says.
  void notice(Kind what, std::uint32_t which);

 private:
  using Index = std::uint32_t;
  struct Channel {
    std::uint32_t arrived = 0;      ///< messages that are not received yet
    std::deque<Index> receivers{};  ///< waiting receivers, in the order of beginning
  };
  void tell(const std::vector<Index>& others);
  void ended(Index operation);
  void go();
  void begin(Index operation);

  const Program& program_;
  Simulation& simulation_;
  std::vector<std::uint32_t> told_{};  ///< by operation: how often
  std::vector<Index> by_flow_{};       ///< its operation
  std::vector<Picoseconds> lane_free_{};
  std::vector<Channel> channels_{};
  std::deque<Index> ready_{};
};

}  // namespace lldp::lab::packets
