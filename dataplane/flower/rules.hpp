// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dataplane/tc.hpp"
#include "qos/ruleset.hpp"

/// The rules as tc flower filters on blocks that the ports of a device share:
///
///   ingress                        DSCP of a class -> its priority
///   ingress of shut ports          DSCP of a lossless class -> the lossy one's, and its priority
///   egress of up ports    chain 0  in by an up port -> chain 1: one filter for each such port
///                                  DSCP of a class -> its priority
///                         chain 1  DSCP of a class -> the next one's, and its priority
///   egress of ports that restore   DSCP of a spare -> its application class's, and its priority
///   egress of shut ports           DSCP of a lossless class -> the lossy one's, and its priority
///   egress of other ports          DSCP of a class -> its priority
///
/// So a packet's way through two up ports is found without a filter for each pair.
namespace lldp::dataplane::flower {

/// Numbers of blocks are chosen by their creator: these are "LL" and one more.
enum class Block : std::uint32_t {
  kIngress = 0x4c4c01,
  kUp = 0x4c4c02,         ///< egress of up ports
  kOther = 0x4c4c03,      ///< egress of ports of any other order
  kRestoring = 0x4c4c04,  ///< egress of ports to hosts, where spares are restored
  kShutIngress = 0x4c4c05,
  kShut = 0x4c4c06,  ///< egress of shut ports
};

/// One filter. Where it stands, what it matches, what it does.
struct Filter {
  std::uint32_t chain = 0;
  std::uint32_t preference = 0;
  std::uint16_t protocol = 0;  ///< EtherType
  std::uint32_t handle = 0;
  std::string in{};            ///< it came in by this interface
  std::optional<Dscp> dscp{};  ///< it has this DSCP
  std::optional<std::uint32_t> jump{};
  std::optional<Dscp> rewrite{};
  std::optional<Priority> priority{};
  friend auto operator<=>(const Filter&, const Filter&) = default;
};

/// By what means the kernel does it.
enum class Mode : std::uint8_t { kSoftware, kHardware };

/// A filter as the kernel tells it.
struct Found {
  Filter filter{};
  Mode mode{};
  bool in_hardware = false;
  bool checksum = false;  ///< it mends the header's
  std::uint64_t packets = 0;
  /// What is wanted, where it is wanted: as such filters are put.
  [[nodiscard]] bool does(const Filter& want) const;
};

/// Those of a block that do not depend on which ports there are. Each block's come of the rules of
/// a port that it is for.
[[nodiscard]] std::set<Filter> shared_filters(Block block, const qos::Ruleset& rules);
/// What makes packets from this port turn.
[[nodiscard]] Filter from_port(Ifindex port, const std::string& name);
[[nodiscard]] bool is_from_port(const Filter& filter);

[[nodiscard]] TcMessage put_message(Block block, const Filter& filter, Mode mode);
[[nodiscard]] TcMessage delete_message(Block block, const Filter& filter);
[[nodiscard]] TcMessage dump_message(Block block);
/// nullopt: the heading of filters to come, or another's.
[[nodiscard]] std::optional<Found> parse(const TcObject& object);

}  // namespace lldp::dataplane::flower
