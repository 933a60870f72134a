// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "lab/topology/fabric.hpp"

namespace lldp::lab {

/// What every link of a generated fabric has.
struct LinkQuality {
  std::uint64_t rate_bps = Link{}.rate_bps;
  std::uint64_t delay_ns = Link{}.delay_ns;
};

/// No generator makes more than the lab can hold.
inline constexpr std::size_t kMaxNodes = 200'000;
inline constexpr std::size_t kMaxLinks = 1'000'000;

/// Lays nodes and cables for a generator, and numbers the ports of each node in the order of
/// cabling.
class Builder {
 public:
  explicit Builder(const LinkQuality& quality) : quality_(quality) {}

  /// Appends `count` nodes `prefix1`, `prefix2`, ...; returns the index of the first.
  std::size_t add(std::string_view prefix, Role role, std::size_t count, bool relays = false);
  /// Appends one node; returns its index.
  std::size_t add_one(std::string name, Role role, bool relays = false);
  void cable(std::size_t lower, std::size_t upper);
  void cable(std::size_t lower, std::size_t upper, std::uint64_t rate_bps);
  /// A cable between a virtual switch of one layer and one of the next.
  void cable(std::size_t lower, qos::Layer lower_layer, std::size_t upper, qos::Layer upper_layer);
  /// `each` new hosts on every one of `count` nodes from `first`, in that order.
  void hosts(std::size_t first, std::size_t count, std::size_t each);
  [[nodiscard]] Result<Fabric> finish(std::string name);

 private:
  LinkEnd end(std::size_t node);

  LinkQuality quality_;
  Fabric fabric_{};
  std::vector<std::size_t> ports_used_{};
};

}  // namespace lldp::lab
