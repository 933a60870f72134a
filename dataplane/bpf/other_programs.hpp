// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bounded.hpp"
#include "base/result.hpp"
#include "dataplane/backend.hpp"
#include "dataplane/bpf/bundles.hpp"
#include "dataplane/bpf/clsact.hpp"
#include "dataplane/bpf/elsewhere.hpp"
#include "dataplane/bpf/mark_needs.hpp"
#include "dataplane/bpf/nftables.hpp"
#include "dataplane/bpf/programs.hpp"
#include "dataplane/bpf/qdiscs.hpp"
#include "dataplane/bpf/route_watch.hpp"
#include "dataplane/bpf/strangers.hpp"
#include "dataplane/tc.hpp"
#include "qos/ruleset.hpp"

namespace lldp::dataplane::bpf {

/// What other programs do around the rules of ports, by which packets may pass them by.
class OtherPrograms {
 public:
  /// What of a port's surroundings changes without an event of traffic control.
  struct Glimpse {
    using Chains = std::array<TcxChain, 2>;
    using ByNftables = std::array<std::optional<NftBypass>, 2>;
    /// An interface that stands on the port, or that the port stands on, with what is there.
    struct Beside {
      Stack::Link link{};
      Chains chains{};
      ByNftables nftables{};  ///< of one below
      friend bool operator==(const Beside&, const Beside&) = default;
    };
    std::string name{};
    Chains chains{};
    ByNftables nftables{};
    std::uint32_t xdp_program = 0;
    bool switch_port = false;  ///< LinkFacts::switch_port
    Lists lists{};
    int nftables_unread = 0;  ///< errno: why nftables is not known
    std::optional<BpfRoute> route{};
    int routes_unread = 0;          ///< errno: why there may be another one
    std::optional<qos::Tag> tag{};  ///< in the table that all programs share
    std::vector<Beside> above{};
    /// Of one that has rules itself what nftables does alone: the rest is told there.
    std::vector<Beside> below{};
    std::optional<std::string> elsewhere{};  ///< Elsewhere::into()
    std::optional<std::string> ends_hook{};  ///< Elsewhere::ends_hook()
    std::optional<MarkNeed> mark_need{};     ///< of a port where a filter may write over the mark
    bool turns = false;                      ///< asked of a port from which packets may turn
    friend bool operator==(const Glimpse&, const Glimpse&) = default;
  };

  /// `ports`: those with rules, now and later.
  OtherPrograms(TcSocket& socket, const Programs& programs, const std::set<Ifindex>& ports,
                RouteWatch routes)
      : socket_(socket), programs_(programs), ports_(ports), routes_(std::move(routes)) {}
  /// Before the first look. It outlives this.
  void set_filters(Clsact& clsact) { clsact_ = &clsact; }

  [[nodiscard]] Result<Glimpse> look(Ifindex port);
  /// Why packets pass by this part of the rules, which is in its place, or why it does not hold for
  /// those that met it; nothing: neither is known. Adds to the glimpse what it had to ask for.
  [[nodiscard]] Result<std::optional<std::string>> bypass(Ifindex port, Part part,
                                                          const qos::Ruleset& rules,
                                                          Glimpse& glimpse);
  /// Why bypass(), which says nothing, cannot know; nothing: all was read.
  [[nodiscard]] std::optional<std::string> doubt(Part part, const qos::Ruleset& rules,
                                                 const Glimpse& glimpse) const;
  /// What later looks are compared with.
  void keep(Ifindex port, Glimpse glimpse) { seen_.insert_or_assign(port, std::move(glimpse)); }

  /// Those of the ports about which bypass() or doubt() may say something else than when they were
  /// last kept. `chains`: TCX hooks are asked as well.
  [[nodiscard]] std::vector<Ifindex> changed(std::span<const Ifindex> ports, Backend::Glance why,
                                             bool chains);
  /// Readable when take_routes() may be true.
  [[nodiscard]] int fd() const { return routes_.fd(); }
  /// True once after routes have changed what bypass() or doubt() says of all ports.
  [[nodiscard]] bool take_routes() { return routes_.take(); }
  /// Of these interfaces an event of traffic control has told. Adds the ports that stand on one of
  /// them, or on which one stands. True: one has nothing to do with a port, and what that means is
  /// for add_changed() or changed() to say.
  [[nodiscard]] bool add_concerned(std::vector<Ifindex>& interfaces);
  /// Adds those with other TCX hooks than were seen, and those that are sent packets
  /// from elsewhere as they were not. It looks at all interfaces.
  void add_changed(std::vector<Ifindex>& ports);
  /// The port has no rules any more.
  void lose(Ifindex port) { seen_.erase(port); }
  /// The interface is gone.
  void forget(Ifindex port) {
    nftables_.expire();
    lose(port);
  }
  /// Why nftables cannot be read.
  [[nodiscard]] const std::optional<Error>& unread() const { return nftables_.unread(); }

 private:
  [[nodiscard]] int nftables_unread() const { return unread() ? unread()->code : 0; }
  /// The programs on a TCX hook; none where the kernel has no TCX.
  [[nodiscard]] Result<TcxChain> chain(Ifindex port, Part part) const;
  [[nodiscard]] bool has_chain_changed(Ifindex port, const Glimpse& seen) const;
  /// Why packets pass by a part of ours.
  [[nodiscard]] Result<std::optional<std::string>> way_round(Ifindex port, Part part,
                                                             const qos::Ruleset& rules,
                                                             const Glimpse& glimpse);
  /// Why it does not hold for packets that met it: of what others do behind it, above the port and
  /// below it.
  [[nodiscard]] Result<std::optional<std::string>> harm(Ifindex port, Part part,
                                                        const qos::Ruleset& rules,
                                                        Glimpse& glimpse);
  /// The programs and filters of others on this part of an interface.
  [[nodiscard]] Result<std::vector<Stranger>> strangers(Ifindex interface, Part part,
                                                        const TcxChain& chain);
  [[nodiscard]] Result<std::vector<Stranger>> strangers_beside(const Glimpse::Beside& other,
                                                               Part part);
  /// The TCX programs of others behind the first of ours, or all where none is ours.
  [[nodiscard]] std::vector<Stranger> behind(const TcxChain& chain) const;
  /// Packets leave by the rules of a port where they leave by this interface.
  [[nodiscard]] bool leaves_by_rules(Ifindex interface) const;
  [[nodiscard]] Glimpse::ByNftables by_nftables(const std::string& interface, bool below) const;
  /// Reads how interfaces stand on each other, their qdiscs, and what is elsewhere, if that was not
  /// done a moment ago.
  [[nodiscard]] Result<void> read_stack();
  [[nodiscard]] Result<std::vector<Glimpse::Beside>> above(Ifindex port);
  [[nodiscard]] Result<std::vector<Glimpse::Beside>> below(Ifindex port);
  /// Interfaces with programs and filters that are told of by a port's own hooks, or as above or
  /// below it.
  [[nodiscard]] const std::set<Ifindex>& told();
  /// What stands on the port, and packets go on by it. Those of a macvtap end in a program, as of a
  /// virtual machine.
  [[nodiscard]] std::vector<Stack::Link> uppers(Ifindex port) const;
  /// Stack::passages() of all others.
  [[nodiscard]] const std::set<Ifindex>& passages();
  /// Adds the ports that are sent packets from elsewhere, otherwise than they were seen to be, or
  /// where the mark is needed for other reasons.
  void add_sent_into(std::vector<Ifindex>& ports);
  /// Why a port on which nothing stands needs its mark. `turns`: from there packets may turn.
  [[nodiscard]] MarkNeed mark_need(bool turns);
  /// Reads what is on them.
  [[nodiscard]] Result<std::vector<Glimpse::Beside>> beside(std::vector<Stack::Link> links,
                                                            bool below);

  TcSocket& socket_;
  const Programs& programs_;
  const std::set<Ifindex>& ports_;
  Clsact* clsact_ = nullptr;
  const bool tcx_ = has_tcx();
  std::map<Ifindex, Glimpse> seen_;
  Stack stack_;
  Qdiscs qdiscs_;
  Elsewhere elsewhere_;
  Bundles bundles_;
  Nftables nftables_;  ///< as of the last changed()
  RouteWatch routes_;
  // Of the last read of the stack: a bridge may have a thousand interfaces on it, which stand on
  // each of its ports.
  std::optional<std::set<Ifindex>> told_of_{};  ///< the ports of which these two are
  std::set<Ifindex> told_{};
  std::set<Ifindex> passages_{};
  std::map<std::pair<Ifindex, bool>, Glimpse::Beside> beside_{};
  std::map<std::pair<Ifindex, Part>, std::vector<Stranger>> strangers_{};
  std::chrono::steady_clock::time_point stack_read_{};
  std::chrono::steady_clock::duration stack_pause_{};
  std::size_t glances_ = 0;      ///< of time, since one read the interfaces
  bool far_ = false;             ///< something happened elsewhere, and was not looked at
  std::size_t far_glances_ = 0;  ///< of time, since one asked for TCX programs elsewhere
};

}  // namespace lldp::dataplane::bpf
