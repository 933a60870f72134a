// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "lab/des/parallel.hpp"
#include "lab/report/html.hpp"
#include "sim/papers/finding.hpp"
#include "sim/papers/portfc_runs.hpp"

namespace lldp::lab::portfc_paper {

/// Where a part of the study puts what it finds, and how far it says it is.
class PortfcStudy {
 public:
  /// The part does so much of all from `begin` on, each from 0 to 1.
  PortfcStudy(const ReproduceOptions& options, const Sink& sink, double begin, double share)
      : o_(options), sink_(sink), begin_(begin), share_(share) {}

 protected:
  using Test = Statement::Test;
  void find(int figure, const std::string& section, Finding f) {
    if (o_.figure && figure != *o_.figure) return;
    f.place = figure == 0 ? section : fmt::format("{}, Figure {}", section, figure);
    sink_.found(f);
  }
  /// What the paper prints nothing of.
  void say(int figure, const std::string& section, const std::string& scenario,
           const std::string& metric, double ours) {
    find(figure, section, {.scenario = scenario, .metric = metric, .ours = ours});
  }
  void states(int figure, const std::string& section, const std::string& scenario,
              const std::string& metric, double ours, std::string quote, Test test, double bound) {
    find(figure, section,
         {.scenario = scenario,
          .metric = metric,
          .ours = ours,
          .statement = Statement{std::move(quote), test, bound}});
  }
  /// A ratio of two set-ups that is printed as `printed`.
  void ratio(int figure, const std::string& section, const std::string& scenario,
             const std::string& metric, double ours, double published, std::string printed,
             double tolerance = kTolerance) {
    find(figure, section,
         {.scenario = scenario,
          .metric = metric,
          .ours = ours,
          .published = Published{published, tolerance, true, std::move(printed)}});
  }
  /// `percent` less: a ratio that is as much below 1.
  void less(int figure, const std::string& section, const std::string& scenario,
            const std::string& metric, double ours, double percent, double tolerance = kTolerance) {
    ratio(figure, section, scenario, metric, ours, 1 - percent / 100,
          fmt::format("{:g} % less", percent), tolerance);
  }
  void times(int figure, const std::string& section, const std::string& scenario,
             const std::string& metric, double ours, double published) {
    ratio(figure, section, scenario, metric, ours, published, fmt::format("{:g} times", published));
  }
  void draw(int figure, std::string picture) {
    if (o_.figure && figure != *o_.figure) return;
    sink_.draw({fmt::format("Figure {}", figure), std::move(picture)});
  }

  /// The seeds of runs that are looked at together; another --seed has none of them.
  [[nodiscard]] std::uint64_t seed_of(std::size_t run, std::size_t runs) const {
    return (o_.seed - 1) * runs + 1 + run;
  }
  /// What each of `count` jobs sees; they run beside each other.
  template <class Job>
  std::vector<SeenOfPortfc> run_all(std::size_t count, const Job& job) {
    std::vector<SeenOfPortfc> seen(count);
    parallel_for(
        count, o_.threads, [&](std::size_t i, std::size_t) { seen[i] = job(i); },
        [&](std::size_t done, std::size_t total) {
          sink_.tell(begin_ + share_ * static_cast<double>(done) / static_cast<double>(total));
        });
    return seen;
  }

  const ReproduceOptions& o_;
  const Sink& sink_;

 private:
  double begin_ = 0;
  double share_ = 1;
};

// The parts, each in a file of its own
void loads_small(const PortfcStudy& study);       ///< V-B: NDC(4, 1)
void loads_large(const PortfcStudy& study);       ///< V-C: NDC(8, 1)
void parameter_server(const PortfcStudy& study);  ///< V-D
void experts(const PortfcStudy& study);           ///< V-E

}  // namespace lldp::lab::portfc_paper
