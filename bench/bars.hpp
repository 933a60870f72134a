// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace lldp::bench {

/// Milliseconds that a run of a benchmark may take at most, by the benchmark's name: what must be
/// quick for the product to be right, on a quiet machine, in a release build.
using Bars = std::map<std::string, double>;

/// Prints as Google Benchmark does, and which bars were not held.
class Reporter : public benchmark::ConsoleReporter {
 public:
  explicit Reporter(Bars bars) : bars_(std::move(bars)) {}
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      const auto bar = bars_.find(run.run_name.function_name);
      if (bar == bars_.end() || run.error_occurred) continue;
      const double took =
          run.GetAdjustedRealTime() / benchmark::GetTimeUnitMultiplier(run.time_unit) * 1000;
      if (took <= bar->second) continue;
      std::printf("%s: %.1f ms, the bar is %.1f ms\n", run.benchmark_name().c_str(), took,
                  bar->second);
      held_ = false;
    }
  }
  [[nodiscard]] bool held() const { return held_; }

 private:
  Bars bars_;
  bool held_ = true;
};

/// main() of a benchmark program with bars: exit status 1 if one was not held.
inline int run(int argc, char** argv, Bars bars) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  Reporter reporter(std::move(bars));
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
  return reporter.held() ? 0 : 1;
}

}  // namespace lldp::bench
