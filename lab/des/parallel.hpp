// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace lldp::lab {

/// As many as there are processors.
[[nodiscard]] inline std::size_t default_threads() {
  return std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

/// How much of `total` is done. Called by one thread at a time, always the same.
using Tell = std::function<void(std::size_t done, std::size_t total)>;

/// Calls work(i, worker) once for every i below `count`, each i by one of `threads` workers. The
/// assignment differs from run to run: results must not depend on it.
template <class Work>
void parallel_for(std::size_t count, std::size_t threads, const Work& work, const Tell& tell = {}) {
  threads = std::max<std::size_t>(1, std::min(threads, count));
  std::atomic<std::size_t> next{0};
  const auto serve = [&](std::size_t worker) {
    for (std::size_t i = next++; i < count; i = next++) {
      if (worker == 0 && tell) tell(i, count);
      work(i, worker);
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t worker = 1; worker < threads; ++worker) others.emplace_back(serve, worker);
  serve(0);
}

}  // namespace lldp::lab
