// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netlink/msg.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/backend.hpp"

/// Rules of nftables as nfnetlink tells them, as far as they send packets past the rules of a port.
namespace lldp::dataplane::bpf {

/// An interface that a chain is hooked to, by its name (or, since Linux 6.16, how names begin).
struct NftDevice {
  std::string name{};
  bool prefix = false;
  [[nodiscard]] bool matches(std::string_view interface) const {
    return prefix ? interface.starts_with(name) : interface == name;
  }
  friend bool operator==(const NftDevice&, const NftDevice&) = default;
};

/// A chain of family netdev that a hook calls. `part`: classify at the ingress, remap at the
/// egress.
struct NftChain {
  std::string table{};
  std::string name{};
  Part part{};
  std::vector<NftDevice> devices{};
  bool offloaded = false;  ///< its rules are the hardware's too
  friend bool operator==(const NftChain&, const NftChain&) = default;
};
/// Nothing: a chain that no hook calls, or another message.
[[nodiscard]] std::optional<NftChain> parse_nft_chain(nlmsghdr* message);

/// A rule of any chain of that family.
struct NftRule {
  std::string table{};
  std::string chain{};
  std::string
      sends_on{};  ///< by which expression, `fwd` or one of an unknown kind; empty: it does not
  std::string in_hardware{};            ///< the same of a chain that is offloaded
  std::vector<std::string> leads_to{};  ///< chains of the table
  bool leads_anywhere = false;          ///< by a map of verdicts, which is not looked at
  /// It sends packets on, or leads to a rule that may.
  [[nodiscard]] bool matters() const {
    return !sends_on.empty() || !in_hardware.empty() || !leads_to.empty() || leads_anywhere;
  }
  friend bool operator==(const NftRule&, const NftRule&) = default;
};
[[nodiscard]] std::optional<NftRule> parse_nft_rule(nlmsghdr* message);

/// The name of the table, if it is asleep (`flags dormant`): its hooks are not called.
[[nodiscard]] std::optional<std::string> parse_dormant_table(nlmsghdr* message);

/// What lets packets pass by the rules.
struct NftBypass {
  Part part{};
  std::vector<NftDevice> devices{};
  std::string who{};  ///< `nftables (table netdev t, chain c)`
  std::string by{};   ///< the expression: `fwd`
  bool in_hardware = false;
  friend bool operator==(const NftBypass&, const NftBypass&) = default;
};
/// Of a flowtable that is offloaded; another one keeps to the interfaces' hooks.
[[nodiscard]] std::optional<NftBypass> parse_nft_flowtable(nlmsghdr* message);
/// Of these chains, by what they come to. Tables that are asleep are left out by the caller.
[[nodiscard]] std::vector<NftBypass> bypasses_of(std::span<const NftChain> chains,
                                                 std::span<const NftRule> rules);

}  // namespace lldp::dataplane::bpf
