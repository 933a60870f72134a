// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netlink/msg.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/backend.hpp"

/// Rules of nftables as nfnetlink tells them, as far as they concern what the rules of ports go by.
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

/// A chain that a hook calls.
struct NftChain {
  std::string table{};  ///< with its family: `netdev t`
  std::string name{};
  /// Of an interface: classify at the ingress, remap at the egress. Nothing: of the stack, as in
  /// prerouting.
  std::optional<Part> part{};
  std::vector<NftDevice> devices{};
  bool offloaded = false;  ///< its rules are the hardware's too
  friend bool operator==(const NftChain&, const NftChain&) = default;
};
/// Nothing: a chain that no hook calls, or another message.
[[nodiscard]] std::optional<NftChain> parse_nft_chain(nlmsghdr* message);

/// What an expression does to a packet that matters to the rules of ports.
enum class NftDoes : std::uint8_t {
  kSendsOn,      ///< by another interface; one of an unknown kind may
  kWrites,       ///< DSCP or a VLAN tag, or what user space or an unknown expression may
  kPrioritizes,  ///< sets its priority
  kCopies,       ///< sends a copy out
};
inline constexpr std::size_t kNftDoes = 4;

/// The same of a target of iptables (`DSCP`); nothing: none of these.
[[nodiscard]] std::optional<NftDoes> done_by_target(std::string_view target);

/// A rule of any chain.
struct NftRule {
  std::string table{};  ///< with its family
  std::string chain{};
  std::array<std::string, kNftDoes> by{};  ///< which expression does it; empty: none
  std::vector<std::string> leads_to{};     ///< chains of the table
  bool leads_anywhere = false;             ///< by a map of verdicts, which is not looked at
  /// It does one of these, or leads to a rule that may.
  [[nodiscard]] bool matters() const;
  friend bool operator==(const NftRule&, const NftRule&) = default;
};
[[nodiscard]] std::optional<NftRule> parse_nft_rule(nlmsghdr* message);

/// The family and name of the table, if it is asleep (`flags dormant`): its hooks are not called.
[[nodiscard]] std::optional<std::string> parse_dormant_table(nlmsghdr* message);

/// What a chain, or a flowtable, does to packets that come by its interfaces, or by its hook.
struct NftBypass {
  std::optional<Part> part{};  ///< NftChain::part
  NftDoes does{};
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
