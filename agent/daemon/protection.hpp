// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "agent/config/config.hpp"
#include "agent/core/agent.hpp"
#include "agent/report/report.hpp"
#include "base/time.hpp"
#include "dataplane/backend.hpp"

namespace lldp::io {

/// Holds the data plane to what the agent knows of its ports, one port at a time. Whatever the data
/// plane refuses, the agent goes on, an alarm says what is wrong, and a port's rules are tried
/// again after 1 s, 2 s and so on, at last every 30 s.
///
/// Fail-static: a port that has rules of ours when we start, and of which the agent remembers
/// nobody, keeps them until somebody is heard, or would have been (docs/rules.md O4); nothing is
/// taken away at stop unless asked.
class Protection {
 public:
  using NameOf = std::function<std::string_view(Ifindex)>;

  /// `agent` must outlive this; `open` makes the back end, or nothing where none is wanted.
  Protection(const core::Agent& agent, qos::Policy policy, std::string backend,
             Result<std::unique_ptr<dataplane::Backend>> opened, NameOf name_of);
  /// As configured; the back end is opened for the network namespace of the calling thread.
  [[nodiscard]] static Protection open(const core::Agent& agent, const config::Config& config,
                                       NameOf name_of);

  /// Rules of ours were in force when we started.
  [[nodiscard]] bool found_rules() const { return !found_.empty(); }
  /// A port is ours from now on. Its rules come with advance(), so that a start with many ports
  /// announces them first.
  void add(Ifindex port, TimePoint now);
  /// The port is no longer ours, or no longer there.
  void remove(Ifindex port);
  /// The port's order changed: its rules follow at once.
  void update(Ifindex port);
  /// The role or the operator's classes changed.
  void update_all(qos::Policy policy);
  /// When advance() has something to do.
  [[nodiscard]] std::optional<TimePoint> next_deadline() const;
  void advance(TimePoint now);
  /// Raises and clears the alarms for what has happened since it was last called, and sets the time
  /// at which what was refused is tried again.
  void tell(core::Agent& agent, TimePoint now, core::Actions& out);
  /// Removes exactly what was made.
  void flush();

  [[nodiscard]] report::Protection summary(const core::Snapshot& snapshot) const;
  [[nodiscard]] report::Rules rules() const;

 private:
  /// Refused, for this reason, and when to try it again.
  struct Failure {
    Error why{};
    Duration wait{};
    std::optional<TimePoint> due{};  ///< from tell() on; never for the back end as a whole
  };

  [[nodiscard]] qos::Ruleset wanted(Ifindex port) const;
  [[nodiscard]] report::PortRules rules_of(Ifindex port) const;
  void note(Ifindex port, const Result<void>& outcome);
  void settle_one(TimePoint now);

  const core::Agent* agent_;
  qos::Policy policy_;
  std::string backend_name_;
  std::unique_ptr<dataplane::Backend> backend_;
  NameOf name_of_;

  std::set<Ifindex> ports_;
  std::set<Ifindex> found_;               ///< with rules of an earlier daemon, not heard yet
  std::optional<TimePoint> found_until_;  ///< by then every neighbour would have been heard
  std::deque<Ifindex> waiting_;           ///< added, without rules yet
  TimePoint added_at_{};
  std::set<Ifindex> unsettled_;         ///< given rules, which may yet move to where they cost less
  std::optional<TimePoint> settle_at_;  ///< the next one's turn
  std::map<Ifindex, Failure> failed_;   ///< port 0: the back end as a whole
  std::set<Ifindex> untold_;            ///< failed or mended since tell()
  bool unprotected_ = false;            ///< the alarm stands
};

}  // namespace lldp::io
