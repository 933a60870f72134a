// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dataplane/backend.hpp"
#include "dataplane/factory.hpp"
#include "dataplane/map_planner.hpp"
#include "dataplane/port_numbers.hpp"
#include "dataplane/sonic/maps.hpp"
#include "dataplane/sonic/reader.hpp"
#include "dataplane/sonic/redis.hpp"
#include "os/fd.hpp"
#include "os/timer.hpp"
#include "qos/growth.hpp"

namespace lldp::dataplane {

/// A switch that runs SONiC: QoS maps per port in its CONFIG_DB, read back from its ASIC_DB.
/// docs/dataplane-maps.md says how. Everything is answered from what was last read of the
/// databases, which is read anew after each change, and every 5 s.
class Sonic : public Backend, private MapStore {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Backend>> open(const SonicOptions& options);

  [[nodiscard]] std::string_view name() const override { return "sonic"; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] Capabilities capabilities() const override {
    return {Support::kHardware, Support::kHardware, Support::kHardware, Support::kHardware};
  }
  [[nodiscard]] std::optional<Error> down() const override { return down_; }
  [[nodiscard]] std::size_t ports_per_turn() const override { return 1024; }  // one transaction
  [[nodiscard]] Result<void> prepare(std::span<const qos::Ruleset>) override { return {}; }
  [[nodiscard]] Result<PortPlan> plan(const PortRef& port, const qos::Ruleset& want) override;
  [[nodiscard]] Result<Reading> verify(const PortRef& port, const qos::Ruleset& want) override;
  [[nodiscard]] int events() const override { return poll_.get(); }
  [[nodiscard]] Events take_events() override;
  [[nodiscard]] std::vector<Ifindex> glance(std::span<const Ifindex>) override { return {}; }
  [[nodiscard]] Result<PortPlan> plan_removal(const PortRef& port) override;
  void apply(const Plan& plan) override;
  void forget(Ifindex) override {}  // SONiC keeps a port that is gone for its coming back
  [[nodiscard]] Result<std::vector<PortRef>> ports() override;
  [[nodiscard]] Result<Bounces> bounces(Ifindex) override { return Bounces{}; }
  [[nodiscard]] qos::Carried carried(const PortRef& port) const override;
  [[nodiscard]] std::string alias(const PortRef& port) const override;
  [[nodiscard]] std::string displaced(const PortRef& port) const override;
  [[nodiscard]] const PlatformClasses* platform() const override {
    return platform_ ? &*platform_ : nullptr;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Sonic(std::string redis_at, std::map<std::string, int> databases, Clock::duration patience,
        UniqueFd poll, Timer timer);
  void connect();
  void lost(const Error& why);
  void on_timer();
  /// Reads all anew, what waits to be written with an eye on others who write there too.
  void refresh();
  void read_done(sonic::View view, std::optional<sonic::Reader::Counted> counted);
  /// All that waits, in one transaction, by what has just been read.
  void write_waiting();
  /// What came of it.
  void take_answer(const redisReply& answer, const std::string& refusal,
                   std::vector<PortPlan> plans, std::vector<Outcome> outcomes);
  /// Of these rules, by what was last read.
  [[nodiscard]] const Result<sonic::Maps>& maps_of(const qos::Ruleset& rules);
  [[nodiscard]] Result<PortPlan> plan_from(const PortRef& port, std::optional<qos::Ruleset> want) {
    numbers_.note(port);
    return plan_maps(*this, port, std::move(want), collapsed_);
  }
  [[nodiscard]] std::optional<Error> why_unread() const override { return down_; }
  [[nodiscard]] std::optional<std::string> why_never(const qos::Ruleset& rules) const override;
  [[nodiscard]] Result<void> find_port(const PortRef& port) const override;
  [[nodiscard]] bool has_ours(const std::string& port) const override {
    return view_.is_ours(port);
  }
  [[nodiscard]] bool is_kept(const std::string& port) const override {
    return view_.is_noted(port);
  }
  [[nodiscard]] Result<void> can_restore(const std::string& port) const override;
  [[nodiscard]] Result<std::vector<Dscp>> collapsed_by(const qos::Ruleset& rules) override;
  [[nodiscard]] bool is_set(const std::string& port, Part part, const qos::Ruleset& rules) override;
  [[nodiscard]] std::optional<PartReading> why_not_done(const std::string& port, Part part,
                                                        const qos::Ruleset& rules,
                                                        bool set) override;
  [[nodiscard]] bool is_fresh(const std::string& port) const;
  void write(const PortPlan& plan, std::set<std::string>& written,
             std::vector<sonic::Redis::Command>& commands);
  void restore(const std::string& port, std::vector<sonic::Redis::Command>& commands) const;
  /// Has the watchdogs of these ports take the priorities anew.
  void touch_watchdogs();

  std::string redis_at_;      ///< path of its socket, or address and port
  Clock::duration patience_;  ///< for an answer of Redis
  UniqueFd poll_;             ///< epoll: the connection and timer_
  Timer timer_;               ///< the next reading, try or end of patience
  sonic::Redis redis_;
  std::optional<Error> down_{};
  Clock::duration pause_{};
  sonic::Reader reader_;
  sonic::View view_;
  std::optional<PlatformClasses> platform_{};  ///< by view_; nothing: not read yet
  sonic::Reader::Counted counted_;
  Clock::time_point counted_at_{};
  std::map<std::string, qos::Growth> losses_;                       ///< by port
  std::vector<std::pair<qos::Ruleset, Result<sonic::Maps>>> maps_;  ///< by view_: one per order
  bool brackets_ = false;  ///< this release writes a reference as [TABLE|NAME]
  /// Until the change before them has been read back: what is written goes by what was read, and
  /// the maps, which all ports share, by whom else they serve then.
  std::vector<PortPlan> waiting_;
  std::set<std::string> watched_;  ///< ports of which a change by others since the reading is seen
  unsigned collisions_ = 0;        ///< transactions one after the other that met such a change
  std::vector<Outcome> changed_;   ///< made, and not read back yet
  std::set<Ifindex> applying_;     ///< in a transaction without an answer
  std::map<std::string, Clock::time_point> written_;
  std::map<std::string, std::string> told_;  ///< what the ASIC ignores, by port, as last told
  PortNumbers numbers_;
  std::vector<Dscp> collapsed_;
  Events events_;
};

}  // namespace lldp::dataplane
