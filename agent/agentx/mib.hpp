// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

/// LLDP-MIB (IEEE 802.1AB-2005 12, 1.0.8802.1.1.2) as a value.
namespace lldp::agentx {

/// What stands behind lldpMIB in an object identifier.
using Oid = std::vector<std::uint32_t>;

enum class Type : std::uint8_t { kInteger, kCounter, kGauge, kOctets, kOid };

struct Object {
  Oid oid{};
  Type type = Type::kInteger;
  std::string value{};  ///< of numbers four octets, the highest first; of an identifier its arcs so
};

/// All objects that there are, in the order of their identifiers. Kept as one text: 512 ports have
/// 15,000 of them.
class Mib {
 public:
  void add(const Object& object);  ///< in any order; sort() before anything is looked for
  void sort();
  [[nodiscard]] std::optional<Object> get(const Oid& oid) const;
  /// The first one behind `oid`.
  [[nodiscard]] std::optional<Object> next(const Oid& oid) const;
  [[nodiscard]] std::size_t size() const { return rows_.size(); }

 private:
  struct Row {
    std::uint32_t at = 0;  ///< in text_: the identifier's arcs of four octets each, and the value
    std::uint16_t oid_octets = 0;
    std::uint16_t value_octets = 0;
    Type type = Type::kInteger;
  };
  [[nodiscard]] std::string_view oid_of(const Row& row) const {
    return std::string_view(text_).substr(row.at, row.oid_octets);
  }
  [[nodiscard]] Object object_of(const Row& row) const;

  std::string text_{};
  std::vector<Row> rows_{};
};

/// lldpRemIndex: a number that a neighbor keeps while it is there, and that no other neighbor gets
/// after it.
class Indices {
 public:
  [[nodiscard]] std::uint32_t of(const std::string& neighbor);
  /// Forgets the neighbors that were not asked for since the last call.
  void sweep();

 private:
  struct Entry {
    std::uint32_t index = 0;
    bool seen = false;
  };
  std::map<std::string, Entry> entries_{};
  std::uint32_t last_ = 0;
};

/// `detail`, `stats`: the daemon's answers to Detail and Stats.
[[nodiscard]] Result<Mib> mib_of(std::string_view detail, std::string_view stats, Indices& indices);

}  // namespace lldp::agentx
