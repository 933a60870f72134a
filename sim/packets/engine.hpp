// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lab/des/team.hpp"
#include "sim/packets/partition.hpp"
#include "sim/packets/split.hpp"

namespace lldp::lab::packets {

/// Runs a network, on one thread or several. Each thread has the nodes of one part. An event in one
/// part changes nothing in another before the least time that a frame takes between them: so all
/// parts run independently for a window of that length, and then exchange what they have sent. In a
/// part nodes run one after the other through such a window, by the same rule, unless what happens
/// anywhere is to happen in the order of time. What a node sees, and in which order, is the same
/// for any number of threads, and either way.
///
/// Flow control (`FlowControl`) and the deadlock detector (`Detector`) are chosen at compile time;
/// each is a file of its own. docs/research/sim-extend.md says how to add one.
template <class FlowControl, class Detector>
class Engine {
 public:
  /// `in_order`: for observers that see what happens anywhere, from within the run.
  explicit Engine(Network network, std::size_t threads = 1, bool in_order = true)
      : n_(std::move(network)) {
    const std::size_t parts = split(n_, threads);
    lookahead_ = lookahead(n_);
    const Picoseconds window = in_order ? 0 : least_delay(n_);
    next_.resize(2 * parts);
    failures_.resize(parts);
    for (std::uint32_t p = 0; p < parts; ++p) {
      parts_.push_back(std::make_unique<Partition<FlowControl, Detector>>(
          n_, p, parts, window >= kLeastWindow ? window : 0));
      n_.parts.push_back(&parts_.back()->part());
    }
    const auto starts = [](const Flow& f) { return f.waits_for == 0 && f.start != kNever; };
    std::vector<std::size_t> slots(parts, n_.arcs());
    for (const Flow& f : n_.flows)
      if (starts(f)) ++slots[n_.part_at(n_.ports[n_.routes[f.route]].node)];
    for (std::size_t p = 0; p < parts; ++p) n_.parts[p]->pool.reserve(slots[p]);
    for (std::uint32_t f = 0; f < n_.flows.size(); ++f)
      if (starts(n_.flows[f])) begin(f);
    if (parts > 1) team_.emplace(parts, [this](std::size_t member) { work(member); });
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] Network& network() { return n_; }
  [[nodiscard]] const Network& network() const { return n_; }

  /// Everything that happens by `end`, or until halt(). What one of the threads throws, memory that
  /// ran out among it, is thrown here when all have come to rest.
  void run_until(Picoseconds end) {
    end_ = end;
    if (team_)
      team_->run();
    else
      parts_[0]->run_until(end);
    n_.gather();
    for (std::exception_ptr& failure : failures_)
      if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
  }
  /// From within a run, of one thread: what happens at this very moment is the last.
  void halt() { parts_[0]->halt(); }
  /// Of one thread: when something happens next; kNever: nothing does by itself.
  [[nodiscard]] Picoseconds next_event() const { return parts_[0]->close(); }
  /// Of one thread: a frame arrives now, from outside the simulation, on `frame.arc`. Returns its
  /// slot, which a data frame has for its number, until it has left for the next node or was
  /// dropped.
  std::uint32_t inject(const Slot& frame) { return parts_[0]->inject(frame); }

  /// Lets a flow that was added begin.
  void begin(std::uint32_t flow) { at_tail(n_.routes[n_.flows[flow].route]).begin(flow); }
  /// Of one thread: call the notice after this delay.
  void moment(Picoseconds delay, std::uint32_t number) {
    parts_[0]->after(delay, Kind::kMoment, 0, number);
  }

  /// The carrier of a link goes: what is on it and what waits for it has to find another way.
  void cut(std::size_t link) {
    const Arc arcs[] = {static_cast<Arc>(2 * link), static_cast<Arc>(2 * link + 1)};
    for (const Arc arc : arcs) at_tail(arc).lower(arc);
    for (const Arc arc : arcs) at_tail(arc).clear(arc);
    n_.gather();
  }
  void mend(std::size_t link) {
    const Arc arcs[] = {static_cast<Arc>(2 * link), static_cast<Arc>(2 * link + 1)};
    for (const Arc arc : arcs) at_tail(arc).raise(arc);
    for (const Arc arc : arcs) at_tail(reversed(arc)).mended(arc);
  }
  /// A host stops the far end of its link, or lets it go on.
  void host_pauses(Arc in, std::uint8_t priority, bool stop) {
    at_tail(reversed(in)).host_pauses(in, priority, stop);
    n_.gather();
  }

 private:
  /// Where links are shorter, nodes would take turns all the time.
  static constexpr Picoseconds kLeastWindow = 100 * kNanosecond;

  Partition<FlowControl, Detector>& at_tail(Arc arc) {
    return *parts_[n_.part_at(n_.ports[arc].node)];
  }

  /// What a part tells the others between two windows.
  struct Next {
    Picoseconds at = 0;   ///< when it has something to do
    bool failed = false;  ///< it threw, and does no more
  };

  /// What one thread does in a run: window after window, each from the first thing that happens
  /// anywhere. All leave after the same window, also where one of them failed: each is waited for.
  void work(std::size_t member) noexcept {
    auto& own = *parts_[member];
    for (unsigned window = 0;; ++window) {
      Next* const next = &next_[window % 2 * parts_.size()];
      next[member] = {own.close(), failures_[member] != nullptr};
      team_->meet();
      Next first{kNever};
      for (std::size_t p = 0; p < parts_.size(); ++p) {
        first.at = std::min(first.at, next[p].at);
        first.failed |= next[p].failed;
      }
      if (first.failed) return;
      const bool last = first.at > end_ || first.at == kNever;
      try {
        for (const auto& part : parts_) own.take(*part);
        own.open();
        // In the last window only the clock moves.
        const Picoseconds most = lookahead_ - 1;
        own.run_until(last || most >= end_ - first.at ? end_ : first.at + most);
      } catch (...) {
        failures_[member] = std::current_exception();
      }
      if (last) return;
    }
  }

  Network n_;
  std::vector<std::unique_ptr<Partition<FlowControl, Detector>>> parts_{};
  Picoseconds lookahead_ = kNever;
  Picoseconds end_ = 0;                         ///< of the run under way
  std::vector<Next> next_{};                    ///< by window and part
  std::vector<std::exception_ptr> failures_{};  ///< by part
  std::optional<Team> team_{};                  ///< last: it works with the others
};

}  // namespace lldp::lab::packets
