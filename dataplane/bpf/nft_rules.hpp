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

/// A chain of family netdev, or inet, that the hook of an interface calls. `part`: classify at the
/// ingress, remap at the egress.
struct NftChain {
  std::string table{};  ///< with its family: `netdev t`
  std::string name{};
  Part part{};
  std::vector<NftDevice> devices{};
  bool offloaded = false;  ///< its rules are the hardware's too
  friend bool operator==(const NftChain&, const NftChain&) = default;
};
/// Nothing: a chain that no hook calls, or another message.
[[nodiscard]] std::optional<NftChain> parse_nft_chain(nlmsghdr* message);

/// A rule of any chain of these families.
struct NftRule {
  std::string table{};  ///< with its family
  std::string chain{};
  /// By which expression it sends packets on, `fwd` or one of an unknown kind; empty: it does not.
  std::string sends_on{};
  std::string alters{};                 ///< the same: copies packets, or writes to them
  std::vector<std::string> leads_to{};  ///< chains of the table
  bool leads_anywhere = false;          ///< by a map of verdicts, which is not looked at
  /// It does one of these, or leads to a rule that may.
  [[nodiscard]] bool matters() const {
    return !sends_on.empty() || !alters.empty() || !leads_to.empty() || leads_anywhere;
  }
  friend bool operator==(const NftRule&, const NftRule&) = default;
};
[[nodiscard]] std::optional<NftRule> parse_nft_rule(nlmsghdr* message);

/// The family and name of the table, if it is asleep (`flags dormant`): its hooks are not called.
[[nodiscard]] std::optional<std::string> parse_dormant_table(nlmsghdr* message);

/// What a chain, or a flowtable, does to packets that come by its interfaces.
struct NftBypass {
  Part part{};
  bool sends_on = false;  ///< by another interface; false: it copies them, or writes to them
  bool in_hardware = false;
  std::vector<NftDevice> devices{};
  std::string source{};  ///< `nftables (table netdev t, chain c)`
  std::string by{};      ///< the expression: `fwd`
  friend bool operator==(const NftBypass&, const NftBypass&) = default;
};
/// Of a flowtable that is offloaded; another one keeps to the interfaces' hooks.
[[nodiscard]] std::optional<NftBypass> parse_nft_flowtable(nlmsghdr* message);
/// Of these chains, by what they come to: at most one of each kind for a chain. Tables that are
/// asleep are left out by the caller.
[[nodiscard]] std::vector<NftBypass> bypasses_of(std::span<const NftChain> chains,
                                                 std::span<const NftRule> rules);

}  // namespace lldp::dataplane::bpf
