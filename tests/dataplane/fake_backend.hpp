// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
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
  std::set<Ifindex> vanished{};
  bool settles = false;
  std::set<Ifindex> settled{};
  std::map<std::pair<Ifindex, Part>, PartReading> obstacles{};  ///< what verify() says instead
  bool tells = false;             ///< has events, and so nothing for a glance
  std::vector<Ifindex> events{};  ///< that wait
  int looks = 0;                  ///< verify() so far
  int writes = 0;                 ///< changes made so far, undone ones too
  int fail_at_write = -1;         ///< this write is refused
  std::string refuse_all{};       ///< why, if every write is
};

/// A back end for tests of its users.
class FakeBackend : public Backend {
 public:
  explicit FakeBackend(FakeKernel& kernel) : kernel_(kernel) {}

  [[nodiscard]] std::string_view name() const override { return "fake"; }
  [[nodiscard]] std::string description() const override { return "remembers"; }
  [[nodiscard]] Result<void> prepare(std::span<const qos::Ruleset>) override { return {}; }

  [[nodiscard]] Result<Plan> plan(Ifindex port, const qos::Ruleset& want) override {
    return plan_from(port, want);
  }
  [[nodiscard]] Result<Reading> verify(Ifindex port, const qos::Ruleset& want) override {
    ++kernel_.looks;
    auto plan = plan_from(port, want);
    if (!plan) return fail(plan.error());
    Reading reading = reading_of(std::move(*plan));
    for (PartReading& read : reading.parts)
      if (const auto at = kernel_.obstacles.find({port, read.part}); at != kernel_.obstacles.end())
        read = at->second;
    return reading;
  }
  [[nodiscard]] std::vector<Ifindex> take_events() override {
    return std::exchange(kernel_.events, {});
  }
  [[nodiscard]] std::vector<Ifindex> glance(std::span<const Ifindex> ports) override {
    return kernel_.tells ? std::vector<Ifindex>() : Backend::glance(ports);
  }
  [[nodiscard]] Result<Plan> plan_removal(Ifindex port) override {
    return plan_from(port, std::nullopt);
  }

  [[nodiscard]] Result<void> apply(const Plan& plan) override {
    auto left = plan_from(plan.port, plan.want);
    if (!left) return fail(left.error());
    const auto before = kernel_.installed;
    for (const Change& c : left->changes) {
      const bool refused = kernel_.writes == kernel_.fail_at_write;
      ++kernel_.writes;
      if (refused || !kernel_.refuse_all.empty()) {
        kernel_.installed = before;
        return fail(Error{EPERM, std::to_string(plan.port.value()),
                          std::string(to_string(c.action)) + " " + std::string(to_string(c.part)) +
                              ": " + (refused ? "refused" : kernel_.refuse_all)});
      }
      if (c.action == Action::kRemove)
        kernel_.installed.erase({plan.port, c.part});
      else
        kernel_.installed.insert_or_assign({plan.port, c.part}, *left->want);
    }
    return {};
  }

  [[nodiscard]] bool settles() const override { return kernel_.settles; }
  [[nodiscard]] Result<bool> settle(Ifindex port) override {
    return kernel_.settled.insert(port).second;
  }

  void forget(Ifindex port) override {
    kernel_.installed.erase({port, Part::kClassify});
    kernel_.installed.erase({port, Part::kRemap});
  }

  [[nodiscard]] Result<std::vector<Ifindex>> ports() override {
    std::vector<Ifindex> ports;
    for (const auto& [key, rules] : kernel_.installed)
      if (ports.empty() || ports.back() != key.first) ports.push_back(key.first);
    return ports;
  }
  [[nodiscard]] Result<Bounces> bounces(Ifindex port) override { return kernel_.bounces[port]; }

 private:
  [[nodiscard]] Result<Plan> plan_from(Ifindex port, std::optional<qos::Ruleset> want) const {
    if (kernel_.vanished.contains(port))
      return fail(Error{ENODEV, std::to_string(port.value()), "the port has vanished"});
    const auto wanted = want;
    return make_plan(port, std::move(want), [&](Part part) -> std::optional<bool> {
      const auto at = kernel_.installed.find({port, part});
      if (at == kernel_.installed.end()) return std::nullopt;
      return wanted && at->second == *wanted;
    });
  }

  FakeKernel& kernel_;
};

}  // namespace lldp::dataplane
