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
#include "dataplane/sonic/buffers.hpp"
#include "dataplane/sonic/maps.hpp"
#include "dataplane/sonic/memory.hpp"
#include "dataplane/sonic/reader.hpp"
#include "dataplane/sonic/redis.hpp"
#include "os/fd.hpp"
#include "os/timer.hpp"
#include "qos/growth.hpp"

namespace lldp::dataplane {

/// A switch that runs SONiC: QoS maps per port in its CONFIG_DB, read back from its ASIC_DB.
/// docs/operate/dataplane-maps.md says how. Every answer is from the last reading of the databases;
/// they are read after each change, and every 5 s. The original values of ports are kept in a file.
class Sonic : public Backend, private MapStore {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Backend>> open(const SonicOptions& options);

  [[nodiscard]] std::string_view name() const override { return "sonic"; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] Capabilities capabilities() const override {
    return {Support::kHardware, Support::kHardware, Support::kHardware, Support::kHardware};
  }
  [[nodiscard]] std::optional<Error> down() const override { return down_; }
  [[nodiscard]] std::optional<PartReading> crossing_limit(const qos::Ruleset& in,
                                                          const qos::Ruleset& out) override;
  [[nodiscard]] std::size_t ports_per_turn() const override { return 1024; }  // one transaction
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
  void forget(Ifindex) override {}  // SONiC keeps the rows of a port that is gone
  [[nodiscard]] Result<std::vector<PortRef>> ports() override;
  [[nodiscard]] Result<Bounces> bounces(Ifindex) override { return Bounces{}; }
  [[nodiscard]] qos::Carried carried(const PortRef& port) const override;
  [[nodiscard]] std::string alias(const PortRef& port) const override;
  [[nodiscard]] std::string displaced(const PortRef& port) const override;
  [[nodiscard]] const PlatformClasses* platform() const override {
    return platform_ ? &*platform_ : nullptr;
  }
  [[nodiscard]] Result<void> accept_pfc(const PortRef& port, bool accept) override;

 private:
  using Clock = std::chrono::steady_clock;
  /// When the buffers of a port are asked for again, and the pause after that.
  struct Retry {
    Clock::time_point due{};
    Clock::duration pause{};
  };
  Sonic(SonicOptions options, std::string redis_at, std::map<std::string, int> databases,
        sonic::Memory notes, UniqueFd poll, Timer timer);
  void connect();
  void lost(const Error& why);
  void on_timer();
  /// Reads all databases; WATCHes the rows of the waiting plans, so that no change of another
  /// client is overwritten.
  void refresh();
  void read_done(sonic::View view, std::optional<sonic::Reader::Counted> counted);
  /// Writes the notes to the file and takes them over.
  [[nodiscard]] Result<void> keep(sonic::Memory notes);
  /// As keep(), for notes whose loss only makes the next process repeat a step: that they cannot be
  /// written is no error.
  void remember(sonic::Memory notes);
  /// Moves the notes that earlier versions kept in CONFIG_DB into the file. True: the deletion of
  /// those rows has been sent.
  bool move_old_notes();
  /// Notes when others have changed rows, and buffers.
  void note_changes(const sonic::View& before, const sonic::PortBuffers& buffers_before);
  /// False while another client loads the port's row: rows come in portions, and a write between
  /// two portions is overwritten and made again.
  [[nodiscard]] bool is_whole(const std::string& port) const;
  /// Moves plans between waiting_ and held_, by is_whole().
  void hold_back();
  /// Sends the commands that are due once the ASIC has taken the rows. True: the notes have
  /// changed, so that the databases are to be read again at once.
  bool follow_asic();
  /// Writes all waiting plans in one transaction, by the last reading.
  void write_waiting();
  struct Written {
    std::vector<PortPlan> plans{};
    std::vector<Outcome> outcomes{};
    sonic::Memory before{};  ///< the notes to return to if nothing of it was done
    sonic::Memory after{};
  };
  /// Takes the answer to the transaction.
  void take_answer(const redisReply& answer, const std::string& refusal, Written written);
  void tell_outcomes();
  /// The maps of these rules, by the last reading.
  [[nodiscard]] const Result<sonic::Maps>& maps_of(const qos::Ruleset& rules);
  [[nodiscard]] Result<PortPlan> plan_from(const PortRef& port, std::optional<qos::Ruleset> want) {
    numbers_.note(port);
    return plan_maps(*this, port, std::move(want), costs_);
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
  [[nodiscard]] Result<MapCosts> costs_of(const qos::Ruleset& rules) override;
  [[nodiscard]] bool is_set(const std::string& port, Part part, const qos::Ruleset& rules) override;
  [[nodiscard]] std::optional<PartReading> why_not_done(const std::string& port, Part part,
                                                        const qos::Ruleset& rules,
                                                        bool set) override;
  [[nodiscard]] bool is_fresh(const std::string& port) const;
  /// The field has the intermediate value that is written before the wanted one.
  [[nodiscard]] bool is_step(const std::string& port, const sonic::Field& f,
                             const std::string& wanted, const std::string& now) const;
  /// The first thing that differs from CONFIG_DB or from the needs of a lossless class.
  [[nodiscard]] std::optional<std::string> why_not(const std::string& port, Part part) const;

  SonicOptions options_;
  std::string redis_at_;  ///< path of its socket, or address and port
  UniqueFd poll_;         ///< epoll: the connection and timer_
  Timer timer_;           ///< the next reading, try or end of patience
  sonic::Redis redis_;
  std::optional<Error> down_{};
  Clock::duration pause_{};
  sonic::Reader reader_;
  sonic::View view_;  ///< its notes are what the file has
  sonic::PortBuffers buffers_;
  std::optional<PlatformClasses> platform_{};  ///< by view_; nothing: not read yet
  std::optional<Error> unkept_{};              ///< why the file is not as it should be
  sonic::Reader::Counted counted_;
  Clock::time_point counted_at_{};
  std::map<std::string, qos::Growth> losses_;                       ///< by port
  std::vector<std::pair<qos::Ruleset, Result<sonic::Maps>>> maps_;  ///< by view_: one per order
  /// Plans that wait until the change before them has been read back: a write depends on the last
  /// reading, and the maps are shared by all ports.
  std::vector<PortPlan> waiting_;
  std::vector<PortPlan> held_;     ///< plans of rows that another client loads
  std::set<std::string> watched_;  ///< ports whose rows are WATCHed since the reading
  unsigned collisions_ = 0;        ///< consecutive transactions refused for such a change
  std::vector<Outcome> changed_;   ///< made, and not read back yet
  std::set<Ifindex> applying_;     ///< in a transaction without an answer
  Clock::time_point started_ = Clock::now();
  std::map<std::string, Clock::time_point> written_;
  std::map<std::string, Clock::time_point>
      loaded_;  ///< since when another client loads the row, by port
  Clock::time_point config_changed_{};
  Clock::time_point buffers_changed_{};
  std::map<std::string, Retry> retries_;     ///< of ports whose buffers did not come
  std::map<std::string, std::string> told_;  ///< what the ASIC ignores, by port, as last told
  PortNumbers numbers_;
  MapCosts costs_;
  Events events_;
};

}  // namespace lldp::dataplane
