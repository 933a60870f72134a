// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/bounded.hpp"
#include "base/result.hpp"
#include "dataplane/backend.hpp"
#include "dataplane/bpf/bundles.hpp"
#include "dataplane/bpf/clsact.hpp"
#include "dataplane/bpf/elsewhere.hpp"
#include "dataplane/bpf/programs.hpp"
#include "dataplane/bpf/qdiscs.hpp"
#include "dataplane/bpf/strangers.hpp"
#include "dataplane/tc.hpp"

namespace lldp::dataplane::bpf {

/// The programs on the two TCX hooks of an interface, by the number of the part.
using TcxChains = std::array<TcxChain, 2>;

/// An interface that stands on a port, or that a port stands on, with what is there.
struct Beside {
  Stack::Link link{};
  TcxChains chains{};
  friend bool operator==(const Beside&, const Beside&) = default;
};
/// Many ports share one. Asked for again, also after another read, it is the same object if nothing
/// differs.
using SharedBeside = std::shared_ptr<const Beside>;

/// The interfaces, how they stand on each other, and the programs and filters of others on them.
/// All of it is read at once, for a bridge may have a thousand interfaces on it that stand on each
/// of its ports, and is kept until expire().
class Interfaces {
 public:
  /// `ports`: those with rules, now and later.
  Interfaces(TcSocket& socket, const Programs& programs, const std::set<Ifindex>& ports)
      : socket_(socket), programs_(programs), ports_(ports) {}
  /// Before the first read(). It outlives this.
  void set_filters(Clsact& clsact) { clsact_ = &clsact; }

  /// Any of it may have changed.
  void expire() { are_known_ = false; }
  [[nodiscard]] bool are_known() const { return are_known_; }
  /// Filters may have changed on this interface; 0: on any.
  void expire_filters(Ifindex interface) { elsewhere_.expire(interface); }
  /// Reads it, unless it is known. True: an interface has another name than at the last read
  /// that did not fail.
  [[nodiscard]] Result<bool> read();
  /// Asks each interface for programs of others that no event tells of.
  void read_programs() { elsewhere_.read_programs(programs_, stack_, told()); }

  [[nodiscard]] const Stack& stack() const { return stack_; }
  [[nodiscard]] const Elsewhere& elsewhere() const { return elsewhere_; }
  [[nodiscard]] Lists lists_of(const std::string& interface) { return bundles_.of(interface); }
  [[nodiscard]] const Clsact& filters() const { return *clsact_; }

  /// What stands on the port, and packets go on by it.
  [[nodiscard]] Result<std::vector<SharedBeside>> above(Ifindex port);
  /// What the port stands on. Of one that has rules itself its name alone: the rest is told there.
  [[nodiscard]] Result<std::vector<SharedBeside>> below(Ifindex port);
  /// Stack::passages() of all that no port's own hooks tell of.
  [[nodiscard]] const std::set<Ifindex>& passages();

  [[nodiscard]] bool has_tcx() const { return tcx_; }
  /// The programs on the TCX hooks; none where the kernel has no TCX.
  [[nodiscard]] Result<TcxChains> chains(Ifindex interface) const;
  /// The programs and filters of others on this part of an interface, of which the chains were
  /// read.
  [[nodiscard]] Result<std::vector<Stranger>> strangers(Ifindex interface, Part part,
                                                        const TcxChains& chains);
  [[nodiscard]] Result<std::vector<Stranger>> strangers(const Beside& other, Part part);

 private:
  /// Interfaces with programs and filters that are told of by a port's own hooks, or as above or
  /// below it.
  [[nodiscard]] const std::set<Ifindex>& told();
  /// What stands on the port, and packets go on by it. Those of a macvtap end in a program, as of a
  /// virtual machine.
  [[nodiscard]] std::vector<Stack::Link> uppers(Ifindex port) const;
  /// Reads what is on it, or takes its name alone.
  [[nodiscard]] Result<SharedBeside> beside(Stack::Link link, bool name_alone);
  /// The TCX programs of others behind the first of ours, or all where none is ours.
  [[nodiscard]] std::vector<Stranger> behind(const TcxChain& chain) const;
  /// Packets leave by the rules of a port where they leave by this interface.
  [[nodiscard]] bool leaves_by_rules(Ifindex interface) const;

  TcSocket& socket_;
  const Programs& programs_;
  const std::set<Ifindex>& ports_;
  Clsact* clsact_ = nullptr;
  const bool tcx_ = bpf::has_tcx();
  bool are_known_ = false;
  bool renamed_ = false;  ///< an interface, and no read() has told of it: it failed later on
  Stack stack_;
  Qdiscs qdiscs_;
  Elsewhere elsewhere_;
  Bundles bundles_;
  // What was asked for since the last read.
  std::optional<std::set<Ifindex>> told_of_{};  ///< the ports of which the next two are
  std::set<Ifindex> told_{};
  std::set<Ifindex> passages_{};
  using AllBeside = std::map<std::pair<Ifindex, bool>, SharedBeside>;  ///< true: the name alone
  AllBeside beside_{};
  AllBeside earlier_{};  ///< as asked for last, before this read
  std::map<std::pair<Ifindex, Part>, std::vector<Stranger>> strangers_{};
};

}  // namespace lldp::dataplane::bpf
