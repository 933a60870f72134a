// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "dataplane/soft/messages.hpp"
#include "qos/policy.hpp"
#include "sim/lossless/frames.hpp"
#include "sim/packets/slot.hpp"

namespace lldp::lab::lossless {

using packets::Picoseconds;

/// Where packets to an address go.
struct Route {
  Ipv4 to{};
  std::string port{};
  MacAddress next{};  ///< of the port at the far end
  friend bool operator==(const Route&, const Route&) = default;
};
struct StationPort {
  std::string name{};
  MacAddress address{};
  friend bool operator==(const StationPort&, const StationPort&) = default;
};

/// What a switch, or a host, of a live fabric is.
struct StationSettings {
  std::string name{};
  bool forwards = true;  ///< else it is a host
  std::vector<StationPort> ports{};
  std::vector<Route> routes{};
  qos::Policy policy{};
  std::uint64_t rate_bps = 20'000'000;  ///< of every port
  std::uint32_t xoff_octets = 100'000;
  std::uint32_t xon_octets = 97'000;
  std::uint16_t quanta = 2000;  ///< that a PAUSE lasts, of 512 bit times: 51 ms at 20 Mb/s
  /// How long a process may have to wait for its turn: as much as comes meanwhile finds room.
  std::uint32_t allowance_ms = 1000;
  friend bool operator==(const StationSettings&, const StationSettings&) = default;
};
inline constexpr std::uint64_t kLeastRate = 1'000'000;
inline constexpr std::uint64_t kMostRate = 1'000'000'000;
inline constexpr std::size_t kMostPorts = 200;  ///< what it says of them has to fit in one message

/// The time of a station whose process has to wait for its turn now and then. What it should have
/// sent meanwhile is not made up for at once, which would be a burst that no port can send: its
/// time stood still, but for that of one frame. A station for which there is nothing to do has a
/// turn now and then all the same, for what comes while its process has to wait, waits as well.
class Pace {
 public:
  explicit Pace(std::uint64_t rate_bps);
  /// What time it is for a station to which something happens by itself at `next`. May not go back.
  [[nodiscard]] Picoseconds at(Picoseconds now, Picoseconds next);
  /// When its next turn is.
  [[nodiscard]] Picoseconds due(Picoseconds next) const;
  /// For how long it has stood still, in all.
  [[nodiscard]] Picoseconds behind() const { return behind_; }

 private:
  Picoseconds frame_;  ///< the longest one's
  Picoseconds turn_ = 0;
  Picoseconds behind_ = 0;
};

/// A node of a live fabric: the packet simulator's engine with this one node in it, whose time is
/// the clock's, and whose frames are real. What it takes from outside is a frame that has come in
/// by a port; what it gives is a frame that begins to leave by one. Does no I/O.
class Station {
 public:
  using Out = std::function<void(std::size_t port, ByteSpan frame)>;

  [[nodiscard]] static Result<Station> of(const StationSettings& settings, Out out);
  Station(Station&&) noexcept;
  Station& operator=(Station&&) = delete;
  Station(const Station&) = delete;
  Station& operator=(const Station&) = delete;
  ~Station();

  /// Everything that happens by `now`, which never goes back.
  void run(Picoseconds now);
  /// When something happens by itself next; kNever: nothing does.
  [[nodiscard]] Picoseconds next() const;
  /// A frame has come in, at the `now` of the last run().
  void receive(std::size_t port, ByteSpan frame);
  /// From now on. Refused: rules for lossless priorities that are not the switch's.
  [[nodiscard]] Result<void> set_rules(const std::string& port,
                                       const std::optional<qos::Ruleset>& rules);
  [[nodiscard]] const dataplane::soft::View& view();

  // Of a host

  /// Sends frames of that many octets on the wire as fast as its only port takes them, in the first
  /// lossless class, from now until halt().
  void load(std::uint16_t flow, std::uint16_t octets, const MacAddress& next);
  void halt();
  struct Received {
    std::uint64_t frames = 0;
    std::uint64_t disordered = 0;  ///< not the one after the last
    std::map<unsigned, std::uint64_t> dscps{};
  };
  [[nodiscard]] const std::map<std::uint16_t, Received>& received() const;
  [[nodiscard]] std::uint64_t sent(std::uint16_t flow) const;  ///< frames of load()

 private:
  class Impl;
  explicit Station(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lldp::lab::lossless
