// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <set>
#include <vector>

#include "dataplane/backend.hpp"
#include "dataplane/bpf/chain_watch.hpp"
#include "dataplane/bpf/clsact.hpp"
#include "dataplane/bpf/hook.hpp"
#include "dataplane/bpf/kernel.hpp"
#include "dataplane/bpf/mount_watch.hpp"
#include "dataplane/bpf/other_programs.hpp"
#include "dataplane/bpf/programs.hpp"
#include "dataplane/bpf/tcx.hpp"
#include "dataplane/factory.hpp"
#include "dataplane/queues.hpp"
#include "dataplane/tc.hpp"
#include "os/timer.hpp"

namespace lldp::dataplane {

/// Any Linux with clsact: a program at the ingress and one at the egress of every port.
/// docs/operate/dataplane-bpf.md says how they work and what they cost.
class Bpf : public Backend {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Backend>> open(const BpfOptions& options);

  [[nodiscard]] std::string_view name() const override { return "bpf"; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] Capabilities capabilities() const override {
    return {Support::kSoftware, Support::kSoftware,
            want_queues_ ? Support::kSoftware : Support::kNo, Support::kNo};
  }
  [[nodiscard]] bool removes(Part part) const override { return part != Part::kPfc; }
  [[nodiscard]] bool splits_classes() const override { return true; }
  [[nodiscard]] std::optional<Error> overlooked() const override;
  [[nodiscard]] Result<void> prepare(std::span<const qos::Ruleset> rules) override;
  [[nodiscard]] Result<PortPlan> plan(const PortRef& port, const qos::Ruleset& want) override;
  [[nodiscard]] Result<Reading> verify(const PortRef& port, const qos::Ruleset& want) override;
  [[nodiscard]] int events() const override { return poll_.get(); }
  [[nodiscard]] Events take_events() override;
  [[nodiscard]] std::chrono::seconds glance_pause() const override;
  [[nodiscard]] std::vector<Ifindex> glance(std::span<const Ifindex> ports, Glance why) override;
  void links_changed() override { others_.expire(); }
  [[nodiscard]] Result<PortPlan> plan_removal(const PortRef& port) override;
  void apply(const Plan& plan) override;
  void forget(Ifindex port) override;
  [[nodiscard]] Result<std::vector<PortRef>> ports() override;
  [[nodiscard]] Result<Bounces> bounces(Ifindex port) override;
  void count_unclassed(std::span<const Ifindex> ports, const EachUnclassed& each) override {
    programs_.count_unclassed(ports, each);
  }

  /// Rules are put on clsact first, and moved to TCX a port at a time when no other changes are
  /// made: see BpfOptions::hook.
  [[nodiscard]] bool migrates() const { return migrates_; }
  /// Moves the port's rules, unchanged and without a gap. Takes up to 30 ms; false if nothing was
  /// moved: what cannot be stays where it is.
  [[nodiscard]] bool migrate(Ifindex port);

 private:
  Bpf(std::string bpffs, TcSocket socket, TcEvents events, UniqueFd poll, Timer timer,
      Queues queues, bool want_queues, bpf::RouteWatch routes)
      : bpffs_(std::move(bpffs)),
        programs_(bpf::Pins::open(bpffs_)),
        socket_(std::move(socket)),
        events_(std::move(events)),
        poll_(std::move(poll)),
        timer_(std::move(timer)),
        queues_(std::move(queues)),
        want_queues_(want_queues),
        others_(socket_, programs_, ports_, std::move(routes)) {}
  /// The key of what is on a port's part, over all hooks; empty: ours, but not to be left as it is.
  [[nodiscard]] Result<std::optional<std::string>> present(Ifindex port, Part part);
  [[nodiscard]] Result<PortPlan> plan_from(const PortRef& port, std::optional<qos::Ruleset> want);
  [[nodiscard]] Outcome apply(const PortPlan& plan);
  void watch_mounts();
  void watch_nftables();
  [[nodiscard]] bool has_file_system_changed();
  /// When the next port may migrate: each holds the kernel's RTNL lock, which others want too. And
  /// when TCX hooks that changed may be looked at, or are to be watched from then on.
  void set_timer();
  /// Begins to watch the TCX hooks. Some milliseconds, so not while rules are awaited.
  void watch_chains();
  /// Notes that a TCX hook is about to change, if one is.
  void take_chains();
  /// All interfaces are looked at in a moment: many changes at once are looked at once.
  void look_soon();
  /// The first of those that wait which has anything to move.
  std::optional<Ifindex> migrate_one();
  /// True if what is there, of this key, is what `want` asks for.
  [[nodiscard]] bool is_right(Ifindex port, Part part, const std::string& key,
                              const qos::Ruleset& want) const;
  /// `tag`: what the port is known by, of use to the ingress alone.
  [[nodiscard]] Result<void> put(Ifindex port, Part part, const bpf::Programs::Loaded& program,
                                 std::optional<qos::Tag> tag);
  /// Puts it on this hook, and then takes ours off the others.
  [[nodiscard]] Result<void> put_only(bpf::Hook& hook, Ifindex port, Part part,
                                      const bpf::Programs::Loaded& program);
  [[nodiscard]] Result<void> remove(Ifindex port, Part part);
  void lose(Ifindex port);
  /// Another daemon has come to have rules here, on ports of its own.
  [[nodiscard]] bool has_others();

  const std::string bpffs_;  ///< where it was to be
  bpf::Programs programs_;
  TcSocket socket_;
  TcEvents events_;
  UniqueFd poll_;  ///< epoll: events_, timer_, others_, mounts_, watch_
  Timer timer_;    ///< until the next migration
  std::optional<bpf::MountWatch> mounts_{};
  std::optional<std::uint64_t> file_system_{};  ///< where the pins were when last looked
  std::vector<Outcome> outcomes_;
  bpf::Clsact* clsact_ = nullptr;     ///< one of the hooks
  const bpf::Tcx* on_tcx_ = nullptr;  ///< another, where the kernel has it
  const bool tcx_ = bpf::has_tcx();
  std::optional<bpf::ChainWatch> watch_{};  ///< of TCX hooks; none: they are asked
  bool watch_tried_ = false;
  /// A TCX hook changes, by then it has; or a filter elsewhere has.
  std::optional<std::chrono::steady_clock::time_point> look_at_{};
  int watched_glances_ = 0;                        ///< since one asked them
  std::vector<std::unique_ptr<bpf::Hook>> hooks_;  ///< the first one is for use
  bool migrates_ = false;  ///< rules may stand on the last hook too, and are moved there
  std::set<Ifindex> to_migrate_;
  Queues queues_;
  bool want_queues_ = false;
  std::set<Ifindex> kept_;  ///< whose root qdisc someone else has configured
  std::set<Ifindex> ports_;
  bpf::OtherPrograms others_;
};

}  // namespace lldp::dataplane
