// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.hpp"
#include "dataplane/backend.hpp"

/// What the daemon and a software switch say to each other over the switch's unix socket, as JSON,
/// a message a packet. Neither trusts what the other says.
namespace lldp::dataplane::soft {

inline constexpr std::size_t kMaxMessage = 192 << 10;

/// What the switch has at a port, and has counted there.
struct Port {
  std::optional<qos::Ruleset> rules{};
  Bounces bounces{};          ///< left by it, by the priority they came with
  std::uint8_t stopped = 0;   ///< bit per priority: the far end has stopped it
  std::uint8_t stopping = 0;  ///< bit per priority: the far end is to stop
  std::uint8_t waiting = 0;   ///< bit per priority: frames wait to leave
  std::uint64_t waiting_octets = 0;
  std::uint64_t sent = 0;         ///< data frames
  std::uint64_t pauses_sent = 0;  ///< PFC frames that stop something
  std::uint64_t pauses_heard = 0;
  bool gone = false;  ///< the interface: no packet comes this way
  friend bool operator==(const Port&, const Port&) = default;
};
/// All there is.
struct View {
  std::string name{};         ///< of the switch
  std::uint8_t lossless = 0;  ///< bit per priority: PFC is on
  std::map<std::string, Port> ports{};
  std::uint64_t drops = 0;        ///< lossless frames for which there was no room
  std::uint64_t drops_lossy = 0;  ///< others
  std::uint64_t missed = 0;       ///< frames that the kernel had no room for, here or at a far end
  std::uint64_t too_long = 0;     ///< frames over 1518 octets, which none of its links carries
  std::uint64_t behind_us = 0;    ///< for so long its time has stood still: its process had to wait
  friend bool operator==(const View&, const View&) = default;
};

struct Read {
  friend bool operator==(const Read&, const Read&) = default;
};
/// From now on the port has these rules, or none.
struct Set {
  std::uint32_t id = 0;  ///< comes back with the answer
  std::string port{};
  std::optional<qos::Ruleset> rules{};
  friend bool operator==(const Set&, const Set&) = default;
};
using Request = std::variant<Read, Set>;

struct Done {
  std::uint32_t id = 0;
  int code = 0;       ///< errno, or 0
  std::string why{};  ///< it was refused; empty: it is so
  friend bool operator==(const Done&, const Done&) = default;
};
using Answer = std::variant<View, Done>;

[[nodiscard]] std::string format(const Request& request);
[[nodiscard]] std::string format(const Answer& answer);
[[nodiscard]] Result<Request> parse_request(std::string_view text);
[[nodiscard]] Result<Answer> parse_answer(std::string_view text);

}  // namespace lldp::dataplane::soft
