// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cabling/drawing.hpp"

namespace lldp::cabling {

/// A neighbor that is heard on a port. This and every other text here is as `show` prints it,
/// escaped.
struct Heard {
  std::string system_name{};
  std::string chassis_id{};
  std::string port_id{};
  std::string port_description{};
  bool is_switch = false;  ///< says that it is one
};

enum class Verdict : std::uint8_t {
  kAsExpected,  ///< the expected neighbor is heard, and no other switch
  kWrong,       ///< others are heard, or another switch beside it
  kMissing,     ///< no neighbor is heard
  kUnplanned,   ///< a neighbor is heard where no link is drawn
  kSwapped,     ///< the neighbor of another port is heard, and there this one's
};
/// as-expected, wrong, missing, unplanned, swapped
[[nodiscard]] std::string_view to_string(Verdict v);

/// What of one port is to be said.
struct Finding {
  std::string port{};
  Verdict verdict{};
  std::string expected{};            ///< spine1:swp3; empty: none
  std::vector<std::string> heard{};  ///< leaf2:swp2
  std::string exchange{};            ///< of swapped: the other port
  /// `expected spine1:swp3, heard leaf2:swp2`
  [[nodiscard]] std::string text() const;
};

/// What one device is to hear on its ports, by a drawing of the whole fabric.
///
/// A neighbor is the expected one if it has the name in the drawing and the port.
/// - Names compare without regard to case, in full; or the short name with the full one, unless two
///   devices of the drawing have that short name. A neighbor without a System Name goes by its
///   chassis ID: a node's attribute `chassis`, or its name.
/// - The port is the Port ID, or the Port Description where the drawing does not know the Port ID
///   as another port of the same neighbor: many send a MAC address as Port ID, or a number. An
///   alias that the drawing has for this port of the neighbor alone serves as well.
/// - It may have company, such as the agent in the firmware of a NIC, but no other switch: that one
///   is on a cable of which the drawing knows nothing. A second agent of the neighbor is none.
class Expectations {
 public:
  /// Those of the device with this system name, else with this chassis ID (may be empty). Refuses a
  /// drawing without it, or one in which its name has two meanings, a port two cables or no name.
  [[nodiscard]] static Result<Expectations> of(const Drawing& drawing, std::string_view system_name,
                                               std::string_view chassis_id);

  [[nodiscard]] const std::string& self() const { return self_; }  ///< as the drawing calls it
  /// A finding for every port on which a neighbor is expected, by name, as if no neighbor were
  /// heard.
  [[nodiscard]] std::vector<Finding> silence() const;
  /// nullopt: no neighbor is expected, and none heard.
  [[nodiscard]] std::optional<Finding> judge(std::string_view port,
                                             std::span<const Heard> heard) const;
  /// The findings of all ports of the device, those without a link in the drawing too. Two cables
  /// that are each other's are swapped: to exchange these two is all there is to do.
  [[nodiscard]] std::vector<Finding> judge_all(
      const std::map<std::string, std::vector<Heard>, std::less<>>& heard) const;
  friend bool operator==(const Expectations&, const Expectations&) = default;

 private:
  struct Peer {
    std::string name{};
    std::string chassis{};
    bool short_name_is_its_own = true;
    std::vector<std::string> ports{};    ///< all that the drawing knows of
    std::vector<std::string> aliases{};  ///< of all of them
    friend bool operator==(const Peer&, const Peer&) = default;
  };
  struct Expected {
    std::string port{};
    std::size_t peer = 0;
    std::string peer_port{};
    std::vector<std::string> peer_aliases{};
    friend bool operator==(const Expected&, const Expected&) = default;
  };
  [[nodiscard]] static bool is_peer(const Peer& peer, const Heard& heard);
  [[nodiscard]] bool matches(const Expected& expected, const Heard& heard) const;
  [[nodiscard]] Verdict verdict_of(const Expected& expected, std::span<const Heard> heard) const;

  std::string self_{};
  std::vector<Peer> peers_{};
  std::vector<Expected> expected_{};  ///< by port
};

}  // namespace lldp::cabling
