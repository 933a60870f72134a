// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "dataplane/backend.hpp"
#include "dataplane/parts.hpp"

namespace lldp::dataplane {

/// A kernel that remembers, outside of any back end, as the real one does.
struct FakeKernel {
  std::map<std::pair<Ifindex, Part>, qos::Ruleset> installed{};
  std::map<Ifindex, Bounces> bounces{};
  std::map<Ifindex, Unclassed> unclassed{};
  std::set<Ifindex> vanished{};
  std::map<Ifindex, std::string> names{};  ///< of ports that are called by more than their number
  bool slow = false;  ///< nothing is done and answered until this is false again
  int answers = 0;    ///< but so many
  std::optional<Error> down{};
  std::optional<Error> unread{};                                ///< what ports() fails with
  std::map<std::pair<Ifindex, Part>, PartReading> obstacles{};  ///< what verify() says instead
  int unreadable = 0;                          ///< what plan() and verify() fail with
  bool tells = false;                          ///< has events, and so nothing for a glance
  std::vector<Ifindex> events{};               ///< that wait
  int looks = 0;                               ///< verify() so far
  int writes = 0;                              ///< changes made so far, undone ones too
  int applies = 0;                             ///< calls
  int fail_at_write = -1;                      ///< this write is refused
  std::map<Ifindex, std::string> displaced{};  ///< of others'
  std::string refuse_all{};                    ///< why, if every write is
  bool keeps = false;                          ///< it says that it has taken rules off, and has not
  bool behind = false;  ///< what is done is not in force until this is false again
  bool splits = true;   ///< classes of a port
  std::optional<PartReading> crossing_limit{};
  std::vector<Backend::Glance> glances{};  ///< so far
  std::chrono::seconds glance_pause = Backend::kGlancePause;
  int takes_away = 0;  ///< so many changes somebody undoes at once, of which the event is lost
};

/// A back end for tests of its users.
class FakeBackend : public Backend {
 public:
  explicit FakeBackend(FakeKernel& kernel) : kernel_(kernel) {}

  [[nodiscard]] std::string_view name() const override { return "fake"; }
  [[nodiscard]] std::string description() const override { return "remembers"; }
  [[nodiscard]] Result<void> prepare(std::span<const qos::Ruleset>) override { return {}; }

  [[nodiscard]] Result<PortPlan> plan(const PortRef& port, const qos::Ruleset& want) override {
    return plan_from(port, want);
  }
  [[nodiscard]] Result<Reading> verify(const PortRef& port, const qos::Ruleset& want) override {
    ++kernel_.looks;
    auto plan = plan_from(port, want);
    if (!plan) return fail(plan.error());
    Reading reading = reading_of(std::move(*plan));
    for (PartReading& read : reading.parts)
      if (const auto at = kernel_.obstacles.find({port.ifindex, read.part});
          at != kernel_.obstacles.end())
        read = at->second;
      else if (kernel_.behind && read.state == PartState::kDone)
        read = {read.part, PartState::kMissing, "is written, and not in force yet"};
    return reading;
  }
  [[nodiscard]] Capabilities capabilities() const override {
    return {Support::kSoftware, Support::kSoftware, Support::kNo, Support::kNo};
  }
  [[nodiscard]] std::optional<Error> down() const override { return kernel_.down; }
  [[nodiscard]] bool splits_classes() const override { return kernel_.splits; }
  [[nodiscard]] std::optional<PartReading> crossing_limit(const qos::Ruleset& in,
                                                          const qos::Ruleset& out) override {
    const bool crosses = in.port.order == Order::kDown && out.port.order == Order::kUp;
    return crosses ? kernel_.crossing_limit : std::nullopt;
  }
  [[nodiscard]] Events take_events() override {
    Events events{.changed = std::exchange(kernel_.events, {})};
    for (; !asked_.empty() && (!kernel_.slow || kernel_.answers > 0); asked_.pop_front()) {
      if (kernel_.slow) --kernel_.answers;
      events.outcomes.push_back(apply(asked_.front()));
    }
    return events;
  }
  [[nodiscard]] std::chrono::seconds glance_pause() const override { return kernel_.glance_pause; }
  [[nodiscard]] std::vector<Ifindex> glance(std::span<const Ifindex> ports, Glance why) override {
    kernel_.glances.push_back(why);
    return kernel_.tells ? std::vector<Ifindex>() : Backend::glance(ports, why);
  }
  [[nodiscard]] Result<PortPlan> plan_removal(const PortRef& port) override {
    return plan_from(port, std::nullopt);
  }

  void apply(const Plan& plan) override {
    ++kernel_.applies;
    std::ranges::copy(plan.ports, std::back_inserter(asked_));
  }

  void forget(Ifindex port) override {
    kernel_.installed.erase({port, Part::kClassify});
    kernel_.installed.erase({port, Part::kRemap});
  }

  [[nodiscard]] Result<std::vector<PortRef>> ports() override {
    if (kernel_.unread) return fail(*kernel_.unread);
    std::vector<PortRef> ports;
    for (const auto& [key, rules] : kernel_.installed)
      if (ports.empty() || ports.back().ifindex != key.first)
        ports.push_back({key.first, kernel_.names.contains(key.first)
                                        ? kernel_.names.at(key.first)
                                        : std::to_string(key.first.value())});
    return ports;
  }
  [[nodiscard]] Result<Bounces> bounces(Ifindex port) override { return kernel_.bounces[port]; }
  void count_unclassed(std::span<const Ifindex> ports, const EachUnclassed& each) override {
    for (const Ifindex port : ports) each(port, kernel_.unclassed[port]);
  }
  [[nodiscard]] std::string displaced(const PortRef& port) const override {
    const auto at = kernel_.displaced.find(port.ifindex);
    return at == kernel_.displaced.end() ? std::string() : at->second;
  }

 private:
  Outcome apply(const PortPlan& plan) {
    const Ifindex port = plan.port.ifindex;
    auto left = plan_from(plan.port, plan.want);
    if (!left) return {.port = port, .why = left.error()};
    const auto before = kernel_.installed;
    for (const Change& c : left->changes) {
      const bool refused = kernel_.writes == kernel_.fail_at_write;
      ++kernel_.writes;
      if (refused || !kernel_.refuse_all.empty()) {
        kernel_.installed = before;
        return {.port = port,
                .refused = c,
                .why = Error{EPERM, std::to_string(port.value()),
                             refused ? "refused" : kernel_.refuse_all}};
      }
      if (c.action == Action::kRemove && kernel_.keeps) continue;
      if (c.action == Action::kRemove)
        kernel_.installed.erase({port, c.part});
      else
        kernel_.installed.insert_or_assign({port, c.part}, *left->want);
    }
    if (kernel_.takes_away > 0) {
      --kernel_.takes_away;
      for (const Change& c : left->changes) kernel_.installed.erase({port, c.part});
    }
    return {.port = port, .in_force = !kernel_.behind};
  }
  [[nodiscard]] Result<PortPlan> plan_from(const PortRef& port,
                                           std::optional<qos::Ruleset> want) const {
    if (kernel_.unreadable != 0)
      return fail(Error{kernel_.unreadable, "fake", std::strerror(kernel_.unreadable)});
    if (kernel_.vanished.contains(port.ifindex))
      return fail(Error{ENODEV, std::to_string(port.ifindex.value()), "the port has vanished"});
    const auto wanted = want;
    return make_plan(port, std::move(want), [&](Part part) -> std::optional<bool> {
      const auto at = kernel_.installed.find({port.ifindex, part});
      if (at == kernel_.installed.end()) return std::nullopt;
      return wanted && at->second == *wanted;
    });
  }

  FakeKernel& kernel_;
  std::deque<PortPlan> asked_;
};

}  // namespace lldp::dataplane
