// SPDX-License-Identifier: Apache-2.0
#include "agent/report/oui.hpp"

#include "base/text.hpp"

namespace lldp::report {
namespace {

/// A line for each, rising: six digits and the owner. One text: it needs no relocation, and of a
/// megabyte the few pages that a search touches are read.
constexpr char kText[] =
#include "agent/report/ouis.inc"
    ;
constexpr std::string_view kOuis(kText, sizeof kText - 1);
constexpr std::size_t kDigits = 6;

std::string_view line_at(std::size_t at) {
  const std::size_t begin = at == 0 ? 0 : kOuis.rfind('\n', at - 1) + 1;
  return kOuis.substr(begin, kOuis.find('\n', begin) - begin);
}

}  // namespace

std::string_view oui_owner(std::uint32_t oui) {
  const std::uint8_t octets[] = {static_cast<std::uint8_t>(oui >> 16),
                                 static_cast<std::uint8_t>(oui >> 8),
                                 static_cast<std::uint8_t>(oui)};
  const std::string wanted = to_hex(octets);
  std::size_t low = 0;
  std::size_t high = kOuis.size();
  while (low < high) {
    const std::string_view line = line_at(low + (high - low) / 2);
    const int order = line.substr(0, kDigits).compare(wanted);
    if (order == 0) return line.substr(kDigits);
    const auto begin = static_cast<std::size_t>(line.data() - kOuis.data());
    if (order < 0)
      low = begin + line.size() + 1;
    else
      high = begin;
  }
  return {};
}

}  // namespace lldp::report
