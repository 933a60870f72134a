// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sim/packets/settings.hpp"

namespace lldp::lab::packets {

/// What a switch tells of one of its links in a frame that begins to leave by it.
struct Telemetry {
  Picoseconds at = 0;
  std::uint64_t sent_octets = 0;  ///< by that link, since the start of the run, this frame included
  std::uint64_t rate_bps = 0;     ///< the link's
  std::uint32_t queued_octets = 0;  ///< behind it in its queue
  std::uint32_t arc = 0;
};

/// What a frame has gathered on its way, and its acknowledgement brings back. Links beyond the last
/// one tell nothing.
struct Trail {
  std::uint32_t links = 0;
  std::array<Telemetry, 8> told{};
  void add(const Telemetry& t) {
    if (links < told.size()) told[links++] = t;
  }
  [[nodiscard]] std::span<const Telemetry> all() const { return std::span(told).first(links); }
};

/// What an acknowledgement tells the sender.
struct Acknowledged {
  Picoseconds now = 0;
  bool marked = false;
  std::uint32_t wanted = 0;            ///< number of the frame that the receiver wants next
  std::uint32_t next = 0;              ///< number of the frame that the sender would send next
  std::span<const Telemetry> trail{};  ///< empty where the control asks for none
};

/// A rate, and until when it holds unless acknowledged() is called.
struct TimedRate {
  std::uint64_t bps = 0;
  Picoseconds until = kNever;
};

/// The congestion control of one flow, at its sender. Its constants are the run's, which moves.
class CongestionControl {
 public:
  CongestionControl() = default;
  virtual ~CongestionControl() = default;
  CongestionControl(const CongestionControl&) = delete;
  CongestionControl& operator=(const CongestionControl&) = delete;

  /// At which the flow may send from now on; `line_bps` is its link's.
  [[nodiscard]] virtual TimedRate pace(const Settings& settings, std::uint64_t line_bps,
                                       Picoseconds now) = 0;
  /// How many frames may be under way; `most` where the control does not say.
  [[nodiscard]] virtual std::uint32_t window(std::uint32_t most) const { return most; }
  /// Of acknowledgements those that are marked, or all of them.
  [[nodiscard]] virtual bool hears_all() const { return true; }
  virtual void acknowledged(const Settings& settings, const Acknowledged& news) = 0;
};

}  // namespace lldp::lab::packets
