// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/bounded.hpp"
#include "base/result.hpp"
#include "os/dcbnl.hpp"

namespace lldp::dataplane::dcb {

/// What we changed of a port's settings, and so what to put back.
struct Originals {
  std::string name{};              ///< of the port when they were changed last
  std::uint8_t turned_on = 0;      ///< priorities that had no PFC
  std::set<dcbnl::App> added{};    ///< entries that were not there
  std::set<dcbnl::App> removed{};  ///< entries that were
  friend bool operator==(const Originals&, const Originals&) = default;
};
/// By the port's number: it may be renamed, and another interface of its name has settings of its
/// own.
using Memory = std::map<Ifindex, Originals>;

/// As text, and back. A driver's settings do not outlive the machine's run: those of another one,
/// by `boot`, are none.
[[nodiscard]] std::string format(const Memory& memory, std::string_view boot);
[[nodiscard]] Result<Memory> parse(std::string_view text, std::string_view boot);

}  // namespace lldp::dataplane::dcb
