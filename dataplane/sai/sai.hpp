// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataplane/backend.hpp"
#include "dataplane/factory.hpp"
#include "dataplane/map_planner.hpp"
#include "dataplane/port_numbers.hpp"
#include "dataplane/qos_maps.hpp"
#include "dataplane/sai/messages.hpp"
#include "dataplane/sai/spawner.hpp"
#include "os/fd.hpp"
#include "os/timer.hpp"

namespace lldp::dataplane {

/// A switch chip by its vendor's libsai, which a process of its own has: QoS maps of each port,
/// else one ACL entry for each class. docs/operate/dataplane-maps.md says how. Everything is
/// answered from what was last read, which is read anew after each change, and every 5 s.
class Sai : public Backend, private MapStore {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Backend>> open(const SaiOptions& options);
  ~Sai() override;

  [[nodiscard]] std::string_view name() const override { return "sai"; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] Capabilities capabilities() const override {
    return {Support::kHardware, Support::kHardware, Support::kHardware, Support::kHardware};
  }
  [[nodiscard]] std::optional<Error> down() const override { return down_; }
  [[nodiscard]] std::optional<PartReading> crossing_limit(const qos::Ruleset& in,
                                                          const qos::Ruleset& out) override;
  [[nodiscard]] std::size_t ports_per_turn() const override { return 1024; }
  [[nodiscard]] Result<void> prepare(std::span<const qos::Ruleset>) override { return {}; }
  [[nodiscard]] Result<PortPlan> plan(const PortRef& port, const qos::Ruleset& want) override;
  [[nodiscard]] Result<Reading> verify(const PortRef& port, const qos::Ruleset& want) override;
  [[nodiscard]] int events() const override { return poll_.get(); }
  [[nodiscard]] Events take_events() override;
  [[nodiscard]] std::chrono::seconds glance_pause() const override { return kRareGlancePause; }
  [[nodiscard]] std::vector<Ifindex> glance(std::span<const Ifindex>, Glance) override {
    return {};
  }
  [[nodiscard]] Result<PortPlan> plan_removal(const PortRef& port) override;
  void apply(const Plan& plan) override;
  void forget(Ifindex) override {}  // the chip keeps a port whose interface is gone
  [[nodiscard]] Result<std::vector<PortRef>> ports() override;
  [[nodiscard]] Result<Bounces> bounces(Ifindex) override { return Bounces{}; }
  [[nodiscard]] std::string displaced(const PortRef& port) const override;

 private:
  using Clock = std::chrono::steady_clock;
  /// What is asked of libsai, made when its turn has come: nothing: it is not needed any more.
  struct Job {
    std::function<std::optional<sai::Request>()> request{};
    std::function<void(const sai::Answer&)> answered{};
  };
  /// What becomes of the ports of a plan.
  struct Task {
    std::map<Ifindex, Outcome> outcomes{};
    std::set<sai::Map> making{};
    std::optional<Error> no_map{};  ///< why one of them was not made
    // Of the ACL.
    std::map<sai::Oid, Ifindex> joins{};
    std::map<sai::Oid, Ifindex> leaves{};
    std::optional<std::vector<sai::Turn>> turns{};

    void refuse(Ifindex port, const Error& why) {
      if (auto& outcome = outcomes[port]; !outcome.why) outcome.why = why;
    }
  };
  /// Of the process.
  enum class Life : std::uint8_t {
    kEnded,    ///< not started, or its end was told
    kComing,   ///< not heard of yet, nor libsai
    kAnswers,  ///< as far as is known
    kHangs,    ///< nothing was heard of `current_` for too long
  };
  static Error error(std::string what) { return {0, "backend sai", std::move(what)}; }

  Sai(SaiOptions options, UniqueFd poll, Timer timer);
  void start();
  /// Nothing can be asked at present.
  void fall(std::string why);
  void on_timer();
  /// For the next word of the process.
  [[nodiscard]] Clock::duration patience() const {
    return life_ == Life::kAnswers ? options_.times.answer : options_.times.last;
  }
  void on_message(std::string_view text);
  void on_ended(const std::string& how);
  /// One message; false: there is none.
  bool receive();
  void send_next();
  /// `task` is done when that has been read.
  void refresh(const std::shared_ptr<Task>& task = {});
  void finish(const std::shared_ptr<Task>& task);
  void take(sai::View view);
  /// Maps and the ACL of ours that nothing refers to any more.
  void clean_up();
  void drop_map(sai::Oid oid, const sai::Map& map);
  [[nodiscard]] bool is_used(sai::Oid map) const;
  [[nodiscard]] Result<void> save() const;

  /// How rules are put into this chip; nothing: not at all.
  enum class Means : std::uint8_t { kMaps, kAcl };
  [[nodiscard]] std::optional<Means> means() const;
  [[nodiscard]] const sai::Port* find(const std::string& port) const;
  [[nodiscard]] bool is_our_map(sai::Oid map) const;
  [[nodiscard]] bool is_ours(const std::string& port) const;
  [[nodiscard]] QosMaps before() const;
  /// Of these rules, by what was last read.
  [[nodiscard]] const Result<PortMaps>& maps_of(const qos::Ruleset& rules);
  [[nodiscard]] static std::vector<sai::Turn> turns_of(const qos::Ruleset& rules);
  [[nodiscard]] bool is_acl_foreign() const;
  [[nodiscard]] bool is_in_acl(const sai::Port& port) const;  ///< in ours, or may be
  /// The ACL does for the port what the rules say.
  [[nodiscard]] bool acl_holds(const sai::Port& port, const qos::Ruleset& rules) const;
  [[nodiscard]] Result<PortPlan> plan_from(const PortRef& port, std::optional<qos::Ruleset> want) {
    numbers_.note(port);
    return plan_maps(*this, port, std::move(want), costs_);
  }
  [[nodiscard]] std::optional<Error> why_unread() const override { return down_; }
  [[nodiscard]] std::optional<std::string> why_never(const qos::Ruleset& rules) const override;
  [[nodiscard]] Result<void> find_port(const PortRef& port) const override;
  [[nodiscard]] bool has_ours(const std::string& port) const override { return is_ours(port); }
  [[nodiscard]] bool has_part(const std::string& port, Part part) const override;
  [[nodiscard]] bool can_set(Part part) const override {
    return part != Part::kPfc || view_.can_pfc;
  }
  [[nodiscard]] Result<MapCosts> costs_of(const qos::Ruleset& rules) override;
  [[nodiscard]] bool is_set(const std::string& port, Part part, const qos::Ruleset& rules) override;
  [[nodiscard]] std::optional<PartReading> why_not_done(const std::string& port, Part part,
                                                        const qos::Ruleset& rules,
                                                        bool set) override;
  [[nodiscard]] sai::Oid our_map(const sai::Map& wanted) const;
  void make_map(const sai::Map& map, const std::shared_ptr<Task>& task);
  void set_port(const PortRef& port, const PortMaps& wanted, unsigned pfc,
                const std::shared_ptr<Task>& task);
  void restore_port(const PortRef& port, const std::shared_ptr<Task>& task);
  void set_acl(const std::shared_ptr<Task>& task);

  SaiOptions options_;
  UniqueFd poll_;  ///< epoll: the connection, the spawner and timer_
  Timer timer_;    ///< patience, the next reading, or the next start
  UniqueFd socket_;
  Life life_ = Life::kEnded;
  std::optional<Error> down_{};
  std::optional<Error> damaged_{};  ///< what the file says cannot be had
  std::string said_{};              ///< by the process, of why it ends
  Clock::duration pause_{};         ///< before the process is started again
  Clock::time_point started_{};
  std::deque<Job> jobs_;
  std::optional<Job> current_;
  sai::View view_;
  sai::Memory memory_;
  PortNumbers numbers_;
  std::set<std::shared_ptr<Task>> tasks_;                        ///< whose outcomes are not told
  std::vector<std::pair<qos::Ruleset, Result<PortMaps>>> maps_;  ///< by view_: one per order
  MapCosts costs_;
  Events events_;
};

}  // namespace lldp::dataplane
