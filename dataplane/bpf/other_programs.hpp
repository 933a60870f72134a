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
#include "dataplane/bpf/interfaces.hpp"
#include "dataplane/bpf/mark_needs.hpp"
#include "dataplane/bpf/nftables.hpp"
#include "dataplane/bpf/programs.hpp"
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
    using ByNftables = std::array<std::optional<NftBypass>, 2>;
    std::string name{};
    TcxChains chains{};
    ByNftables nftables{};
    std::uint32_t xdp_program = 0;
    bool switch_port = false;  ///< LinkFacts::switch_port
    Lists lists{};
    int nftables_unread = 0;  ///< errno: why nftables is not known
    std::optional<BpfRoute> route{};
    int routes_unread = 0;          ///< errno: why there may be another one
    std::optional<qos::Tag> tag{};  ///< in the table that all programs share
    std::vector<SharedBeside> above{};
    std::vector<SharedBeside> below{};
    std::vector<ByNftables> nftables_below{};  ///< of each below
    std::optional<std::string> elsewhere{};    ///< Elsewhere::into()
    std::optional<std::string> on_passages{};  ///< harm_on_passages()
    std::optional<MarkNeed> mark_need{};       ///< of a port where a filter may write over the mark
    bool turns = false;                        ///< asked of a port from which packets may turn
    friend bool operator==(const Glimpse&, const Glimpse&) = default;
  };

  /// `ports`: those with rules, now and later.
  OtherPrograms(TcSocket& socket, const Programs& programs, const std::set<Ifindex>& ports,
                RouteWatch routes)
      : socket_(socket),
        programs_(programs),
        ports_(ports),
        interfaces_(socket, programs, ports),
        routes_(std::move(routes)) {}
  /// Before the first look. It outlives this.
  void set_filters(Clsact& clsact) {
    clsact_ = &clsact;
    interfaces_.set_filters(clsact);
  }
  /// Interfaces, or what is on them, may have changed: the next look reads them.
  void expire() { interfaces_.expire(); }

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
  /// last kept. `chains`: TCX hooks are asked as well. `pause`: between two of time.
  [[nodiscard]] std::vector<Ifindex> changed(std::span<const Ifindex> ports, Backend::Glance why,
                                             bool chains, std::chrono::seconds pause);
  /// Readable when add_filtered() may have something to add; -1: never.
  [[nodiscard]] int watch_nftables() {
    nftables_.watch();
    return nftables_.fd();
  }
  /// Adds those past which nftables lets packets otherwise than was seen, after a transaction.
  void add_filtered(std::vector<Ifindex>& ports);
  /// An event tells of changes of nftables, and all that was told was looked at: changed() need not
  /// be asked soon.
  [[nodiscard]] bool are_told() const { return nftables_.is_current() && !far_; }
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
  void lose(Ifindex port) {
    interfaces_.expire();
    seen_.erase(port);
  }
  /// The interface is gone.
  void forget(Ifindex port) {
    nftables_.expire();
    lose(port);
  }
  /// Why nftables cannot be read.
  [[nodiscard]] const std::optional<Error>& unread() const { return nftables_.unread(); }

 private:
  [[nodiscard]] int nftables_unread() const { return unread() ? unread()->code : 0; }
  /// Reads the interfaces, if they are not known.
  [[nodiscard]] Result<void> read_interfaces();
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
  [[nodiscard]] Glimpse::ByNftables by_nftables(const std::string& interface, bool below) const;
  [[nodiscard]] std::vector<Glimpse::ByNftables> by_nftables(
      std::span<const SharedBeside> below) const;
  /// nftables lets packets past the rules of the port otherwise than was seen.
  [[nodiscard]] bool is_filtered_otherwise(const Glimpse& seen) const;
  [[nodiscard]] std::optional<std::string> sent_into(Ifindex port) const;
  [[nodiscard]] std::optional<std::string> on_passages();
  /// Adds the ports that are sent packets from elsewhere, otherwise than they were seen to be, or
  /// where the mark is needed for other reasons.
  void add_sent_into(std::vector<Ifindex>& ports);
  /// Why a port on which nothing stands needs its mark. `turns`: from there packets may turn.
  [[nodiscard]] MarkNeed mark_need(bool turns);

  TcSocket& socket_;
  const Programs& programs_;
  const std::set<Ifindex>& ports_;
  Clsact* clsact_ = nullptr;
  std::map<Ifindex, Glimpse> seen_;
  Interfaces interfaces_;
  Nftables nftables_;  ///< as of the last changed()
  RouteWatch routes_;
  int glances_ = 0;      ///< of time, since one read the interfaces
  bool far_ = false;     ///< something happened elsewhere, and was not looked at
  int far_glances_ = 0;  ///< of time, since one asked for TCX programs elsewhere
};

}  // namespace lldp::dataplane::bpf
