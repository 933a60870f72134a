// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded.hpp"
#include "base/result.hpp"
#include "dataplane/backend.hpp"
#include "dataplane/bpf/bpf_route.hpp"
#include "dataplane/bpf/bundles.hpp"
#include "dataplane/bpf/nft_rules.hpp"
#include "dataplane/tc.hpp"
#include "qos/ruleset.hpp"

/// What programs and filters of others may do to packets where the rules do not see it.
namespace lldp::dataplane::bpf {

/// What a filter may do to an IP packet that it matches.
struct Power {
  bool decides = false;    ///< may end the hook with TC_ACT_OK: the kernel writes over our mark
  bool changes = false;    ///< the packet's class: DSCP, PCP or priority
  bool redirects = false;  ///< to another interface, or into its ingress
  bool joins = false;      ///< fragments, whatever interface they came by
  std::string by{};        ///< the action that has the power, or the filter's kind
  /// The interfaces that a copy is sent by. A copy made at an ingress is still known by the port
  /// that the packet came in by; one made at an egress counts as come in by that interface.
  std::vector<Ifindex> copies_to{};
  /// The interfaces that packets, or copies, are sent into the ingress of: they count as come in
  /// there.
  std::vector<Ifindex> into{};
  bool into_any = false;  ///< or into that of any interface
  /// By mirred, on whatever way: packets then count as come in by the interface of the filter.
  bool by_mirred = false;
  friend bool operator==(const Power&, const Power&) = default;
};
/// By the kinds of its actions. A filter or action of an unknown kind may do anything, as a BPF
/// program may.
[[nodiscard]] Power power_of(const TcObject& filter);
[[nodiscard]] Power power_of_program();

/// A program or filter of another program's on a hook.
struct Stranger {
  std::string name{};  ///< `a filter (u32, preference 100)`
  Power power{};
};

/// Of a filter that decides and does nothing else. By TC_ACT_PIPE behind its last action the kernel
/// passes a packet as by TC_ACT_OK, and leaves the mark.
inline constexpr std::string_view kRemedyOfEnd =
    "let the filter pass packets by `action pipe` (a policer: `conform-exceed drop/pipe`), delete "
    "it";

/// Interfaces that stand on others: VLANs, bonds, bridges, macvlans, VRFs, MACsec.
class Stack {
 public:
  struct Link {
    Ifindex ifindex{};
    std::string name{};
    std::string kind{};             ///< LinkFacts::kind
    std::uint32_t xdp_program = 0;  ///< LinkFacts::xdp_program
    bool up = false;                ///< LinkFacts::up
    Lists lists{};                  ///< where it was asked
    friend auto operator<=>(const Link&, const Link&) = default;
  };
  /// Reads all interfaces. True: one has another name than at the last read.
  [[nodiscard]] Result<bool> read(TcSocket& socket);
  /// What packets of the port may come by beside it, nearest first.
  [[nodiscard]] std::vector<Link> above(Ifindex port) const;
  /// The interfaces that this one stands on, directly or not.
  [[nodiscard]] std::vector<Link> below(Ifindex upper) const;
  /// Nothing stands on anything.
  [[nodiscard]] bool empty() const { return above_.empty(); }
  [[nodiscard]] const std::map<Ifindex, LinkFacts>& all() const { return links_; }
  /// One end of a pair, of which the other is in another namespace.
  [[nodiscard]] bool is_end_of_container(Ifindex interface) const;
  /// Those by which packets go on within the machine as come by none of `ports`: tunnels, ipvlans,
  /// what is of no known kind, and pairs of veths, or macvlans on one interface, of none of these.
  /// All are up.
  [[nodiscard]] std::set<Ifindex> passages(const std::set<Ifindex>& ports) const;
  /// Empty: there is no such interface.
  [[nodiscard]] std::string name_of(Ifindex interface) const;

 private:
  [[nodiscard]] std::vector<Link> along(Ifindex from,
                                        const std::multimap<Ifindex, Ifindex>& steps) const;

  std::map<Ifindex, LinkFacts> links_{};
  std::multimap<Ifindex, Ifindex> above_{};  ///< from an interface to those right above it
  std::multimap<Ifindex, Ifindex> below_{};  ///< and right below it
};

/// Why the rules of a port, which are in their place, do not hold for what packets meet behind them
/// on the same hook; nothing: they do. `mark_need` (MarkNeed::why) is asked where one of them may
/// have the kernel write over the mark.
[[nodiscard]] std::optional<std::string> harm_behind(Part part, const qos::Ruleset& rules,
                                                     std::span<const Stranger> behind,
                                                     const std::function<std::string()>& mark_need);
/// The same of lists of packets, which the kernel makes before any hook of `interface`, the port or
/// one that stands on it.
[[nodiscard]] std::optional<std::string> harm_of_lists(const qos::Ruleset& rules,
                                                       std::string_view interface);
/// The same of what nftables does before they meet the rules.
[[nodiscard]] std::optional<std::string> harm_of_nftables(const qos::Ruleset& rules,
                                                          const NftBypass& past);
/// The same of a route that may send them on.
[[nodiscard]] std::optional<std::string> harm_of_route(const qos::Ruleset& rules,
                                                       const BpfRoute& route);
/// Why none of these three harms is known, where one may be there: the kernel does not tell. `why`
/// is an errno, 0 where it tells.
[[nodiscard]] std::optional<std::string> doubt_of_lists(const qos::Ruleset& rules,
                                                        std::string_view interface, int why);
[[nodiscard]] std::optional<std::string> doubt_of_nftables(const qos::Ruleset& rules, int why);
/// The same where the mark may be needed because of what cannot be read (MarkNeed::unread).
[[nodiscard]] std::optional<std::string> doubt_of_mark(std::string_view unread);
[[nodiscard]] std::optional<std::string> doubt_of_routes(const qos::Ruleset& rules, int why);
/// The same of what packets meet on an interface that stands on the port.
[[nodiscard]] std::optional<std::string> harm_above(Part part, const qos::Ruleset& rules,
                                                    const Stack::Link& upper,
                                                    std::span<const Stranger> strangers);
/// The same of what packets meet on an interface that the port stands on: before the rules where
/// they come in, and behind them where they leave.
[[nodiscard]] std::optional<std::string> harm_below(Part part, const qos::Ruleset& rules,
                                                    const Stack::Link& lower,
                                                    std::span<const Stranger> strangers,
                                                    const std::optional<NftBypass>& by_nftables);

}  // namespace lldp::dataplane::bpf
