// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace lldp::lab {

/// Threads that run the same work again and again, and wait for each other on the way. A waiting
/// thread spins as long as a short wait takes, and then yields the processor.
class Team {
 public:
  /// `work(member)` is done by all members, 0 to `members` - 1, at each run().
  Team(std::size_t members, std::function<void(std::size_t)> work)
      : work_(std::move(work)), members_(members) {
    try {
      for (std::size_t m = 1; m < members; ++m) others_.emplace_back([this, m] { serve(m); });
    } catch (...) {  // no more threads: those that there are wait to be called
      end();
      throw;
    }
  }
  ~Team() { end(); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// The calling thread is member 0. Returns when all are done. The work may not throw: the other
  /// threads would wait for ever.
  void run() noexcept {
    call();
    work_(0);
    meet();
  }
  /// From within the work: goes on when all have come here. What they wrote before, all see after.
  void meet() {
    const std::uint32_t meeting = meetings_.load(std::memory_order_relaxed);
    if (here_.fetch_add(1, std::memory_order_acq_rel) + 1 == members_) {
      here_.store(0, std::memory_order_relaxed);
      meetings_.store(meeting + 1, std::memory_order_release);
      return;
    }
    for (unsigned turn = 0; meetings_.load(std::memory_order_acquire) == meeting; ++turn)
      rest(turn);
  }

 private:
  static constexpr unsigned kSpins = 2000;    ///< some 30 us
  static constexpr unsigned kLooks = 10'000;  ///< before a member sleeps until it is called

  static void rest(unsigned turn) {
    if (turn >= kSpins) return std::this_thread::yield();
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
  void end() {
    work_ = nullptr;
    call();
  }
  void call() {
    calls_.fetch_add(1, std::memory_order_release);
    calls_.notify_all();
  }
  void serve(std::size_t member) {
    for (std::uint32_t seen = 0;; ++seen) {
      for (unsigned turn = 0; calls_.load(std::memory_order_acquire) == seen; ++turn)
        turn < kLooks ? rest(turn) : calls_.wait(seen, std::memory_order_acquire);
      if (!work_) return;
      work_(member);
      meet();
    }
  }

  std::function<void(std::size_t)> work_;  ///< none: it is over
  const std::size_t members_;
  alignas(64) std::atomic<std::uint32_t> calls_{0};
  alignas(64) std::atomic<std::uint32_t> meetings_{0};
  alignas(64) std::atomic<std::size_t> here_{0};
  std::vector<std::jthread> others_{};  ///< last: they end before what they use
};

}  // namespace lldp::lab
