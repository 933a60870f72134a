// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/sonic/maps.hpp"

/// The buffers that CONFIG_DB gives to ports. Pure.
namespace lldp::dataplane::sonic {

/// Without this row SONiC's buffer manager makes no buffer, and does not make it later either.
inline constexpr std::string_view kLosslessPool = "BUFFER_POOL|ingress_lossless_pool";
inline constexpr std::string_view kGroupRows = "BUFFER_PG|";
inline constexpr std::string_view kQueueRows = "BUFFER_QUEUE|";

/// "3-4" or "3": a bit for each number; 0: the text is no range.
[[nodiscard]] std::uint8_t mask_of_range(std::string_view range);
/// "2,5": a bit for each priority that the text names.
[[nodiscard]] std::uint8_t mask_of_list(std::string_view priorities);

/// The numbers of `mask` as ranges: {"3-4", "6"}.
[[nodiscard]] std::vector<std::string> ranges_of(std::uint8_t mask);

/// A row of BUFFER_QUEUE.
struct QueueRow {
  std::string ports{};    ///< as its key names them: `Ethernet0` or `Ethernet0,Ethernet4`
  std::string range{};    ///< `5-6`
  std::string profile{};  ///< its name
  bool lossless = false;
  friend bool operator==(const QueueRow&, const QueueRow&) = default;
};

class PortBuffers {
 public:
  PortBuffers() = default;
  explicit PortBuffers(const Rows& config);

  /// The lossless pool exists, so that buffers can be made.
  [[nodiscard]] bool has_pool() const { return pool_; }
  /// The buffer model is the dynamic one, where PFC makes no priority group lossless.
  [[nodiscard]] bool is_dynamic() const { return dynamic_; }
  /// Priority groups of the port with a lossless profile: a bit for each.
  [[nodiscard]] std::uint8_t lossless_groups(const std::string& port) const;
  /// Queues of the port with a lossless profile and no other. Of two rows that share a queue the
  /// one that orchagent takes last counts: after a restart, the later one by its key.
  [[nodiscard]] std::uint8_t lossless_queues(const std::string& port) const;
  /// The rows of BUFFER_QUEUE that name the port, by their keys.
  [[nodiscard]] const std::vector<QueueRow>& queue_rows(const std::string& port) const;
  /// The ranges for which BUFFER_PG has a row of this port alone: `3-4`.
  [[nodiscard]] std::vector<std::string> group_ranges(const std::string& port) const;
  /// The buffer manager chose the profile of this range, by speed and cable.
  [[nodiscard]] bool is_automatic(const std::string& port, const std::string& range) const;
  friend bool operator==(const PortBuffers&, const PortBuffers&) = default;

 private:
  struct Port {
    std::uint8_t groups = 0;
    std::map<std::string, std::string> ranges{};  ///< of BUFFER_PG: its profile
    std::vector<QueueRow> queues{};
    friend bool operator==(const Port&, const Port&) = default;
  };
  [[nodiscard]] const Port* find(const std::string& port) const;

  bool pool_ = false;
  bool dynamic_ = false;
  std::map<std::string, Port> ports_{};
};

}  // namespace lldp::dataplane::sonic
