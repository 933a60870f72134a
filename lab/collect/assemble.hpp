// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "lab/collect/device.hpp"
#include "lab/topology/fabric.hpp"

namespace lldp::lab::collect {

/// What is not as it should be, or not known. A problem leaves in doubt what is proved of the
/// fabric; a note does not.
struct CollectedProblem {
  enum class Kind : std::uint8_t {
    // Problems
    kUnreadable,   ///< a file that tells nothing
    kLeftOut,      ///< an entry that is half-written: what it stands for may be missing
    kNoAnswer,     ///< a host that was asked and did not answer
    kSilent,       ///< a switch that others hear, and that was not told of
    kTwice,        ///< a device told of twice: the first counts
    kSameName,     ///< two devices with one name
    kSameChassis,  ///< one chassis ID heard with two names: one device to LLDP
    kPortTwice,    ///< two cables, or two switches, on one port
    kOneSided,     ///< a link that one end alone tells of, though the other end tells of itself
    kUnheard,      ///< a port of a switch leads to a device and hears none
    kOrder,        ///< two ends that do not see one order
    kLayers,       ///< two ends that do not join the same layers
    kRole,         ///< a device that is a host to itself or the operator, and a switch to others
    kUnknownRole,  ///< a neighbor that does not say what it is, taken for a host
    kLevel,    ///< a neighbor that has another level than it is heard with; or one that cannot be
    kNoLevel,  ///< a switch without a level
    kNoRules,  ///< a port to a switch where packets do not change class as they should
    kClasses,  ///< a switch with other lossless classes than the first
    kNoAgent,  ///< a switch without our agent, or a fabric of such
    kSelf,     ///< a port that hears itself; two ports of a device that hear each other are a cable
    // Notes
    kUnmatched,   ///< a hint that no device has
    kMisplaced,   ///< a switch whose level is not its distance to the hosts
    kSharedPort,  ///< a host's port with more than one agent
  };
  Kind kind{};
  std::string device{};  ///< or the file, or the host
  std::string port{};
  std::string text{};
  [[nodiscard]] bool is_problem() const { return kind < Kind::kUnmatched; }
  friend bool operator==(const CollectedProblem&, const CollectedProblem&) = default;
};
[[nodiscard]] std::string_view to_string(
    CollectedProblem::Kind kind);  ///< unreadable, no-answer, ...

/// What the operator knows better than the devices tell. Globs of names.
struct Hints {
  std::string name{};  ///< of the fabric
  std::vector<std::string> hosts{};
  std::vector<std::string> switches{};
  std::vector<std::string> ignored_ports{};
};

struct Collection {
  Fabric fabric{};
  std::vector<CollectedProblem> findings{};
  std::size_t devices_told = 0;  ///< that told of themselves
  std::size_t two_sided = 0;     ///< links that both ends tell of
  [[nodiscard]] bool has_problems() const;
};

/// One fabric of what many devices tell. Devices are one by chassis ID, else by name; a link is
/// what one port hears, and the port of the neighbor that it means: by Port ID, Port Description,
/// or by what that port hears. Levels and orders are those that the switches have; the order of a
/// port is unknown where its packets are not treated by it. An error is one of the readers: what
/// they let through makes no fabric.
[[nodiscard]] Result<Collection> assemble(const std::vector<Device>& devices, const Hints& hints);

}  // namespace lldp::lab::collect
