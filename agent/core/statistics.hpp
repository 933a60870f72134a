// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lldp::core {

/// Counters of one port, all scopes together, with the standard's names. IEEE
/// 802.1AB-2016 9.2.6, 10.5.2.
struct Statistics {
  std::uint64_t statsFramesOutTotal = 0;
  std::uint64_t statsFramesInTotal = 0;
  std::uint64_t statsFramesInErrorsTotal = 0;
  std::uint64_t statsFramesDiscardedTotal = 0;
  std::uint64_t statsTLVsDiscardedTotal = 0;
  std::uint64_t statsTLVsUnrecognizedTotal = 0;
  std::uint64_t statsAgeoutsTotal = 0;
  std::uint64_t statsTooManyNeighborsTotal = 0;  ///< ours: frames refused because a table was full
  std::uint64_t framesTaggedTotal = 0;           ///< ours: frames of a VLAN; counted by the owner
  std::uint64_t lldpduLengthErrors = 0;          ///< own LLDPDU that did not fit; must stay 0
  friend bool operator==(const Statistics&, const Statistics&) = default;
};

}  // namespace lldp::core
