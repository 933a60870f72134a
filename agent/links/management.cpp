// SPDX-License-Identifier: Apache-2.0
#include "agent/links/management.hpp"

#include <algorithm>

#include "base/spelling.hpp"
#include "base/text.hpp"

namespace lldp::io {
namespace {

constexpr std::size_t kMost = 8;

/// 127/8 and 169.254/16; ::1, fe80::/10, and ::ffff:0:0/96, which no packet carries. `address`: the
/// family in front.
bool is_local(std::string_view address) {
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(address[i + 1]); };
  if (address.size() == 5) return at(0) == 127 || (at(0) == 169 && at(1) == 254);
  const bool loopback = address.find_first_not_of('\0', 1) == 16 && at(15) == 1;
  const bool mapped = address.find_first_not_of('\0', 1) == 11 && at(10) == 0xff && at(11) == 0xff;
  return loopback || mapped || (at(0) == 0xfe && (at(1) & 0xc0) == 0x80);
}

}  // namespace

std::vector<core::ManagementAddress> management_addresses(
    const std::set<InterfaceAddress>& addresses, const std::map<Ifindex, Interface>& interfaces,
    std::span<const std::string> wanted) {
  std::vector<core::ManagementAddress> chosen;
  const auto has_family_of = [&](const std::string& address) {
    return std::ranges::any_of(chosen,
                               [&](const auto& c) { return c.address.front() == address.front(); });
  };
  // `*` is for the interfaces, and tells no address that others cannot use.
  std::vector<std::string> of_addresses(wanted.begin(), wanted.end());
  std::erase(of_addresses, "*");
  // Nobody reaches an address whose interface has no carrier while another one has.
  for (const bool live : {true, false}) {
    for (const auto& [ifindex, address] : addresses) {
      const auto link = interfaces.find(ifindex);
      if ((link != interfaces.end() && link->second.up) != live) continue;
      bool takes = false;
      if (wanted.empty()) {
        takes = !is_local(address) && !has_family_of(address);
      } else if (any_glob_match(of_addresses, network_address_to_string(as_octets(address)))) {
        takes = true;
      } else if (link != interfaces.end()) {
        takes = !is_local(address) && any_name_match(wanted, link->second.name);
      }
      if (takes && chosen.size() < kMost) chosen.push_back({address, ifindex});
    }
  }
  return chosen;
}

}  // namespace lldp::io
