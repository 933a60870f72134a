// SPDX-License-Identifier: Apache-2.0
#include "lab/report/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace lldp::lab {
namespace {

constexpr std::size_t kWidth = 30;
constexpr std::chrono::milliseconds kPause{100};

}  // namespace

ProgressBar::ProgressBar(std::string label)
    : label_(std::move(label)), terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::clear() {
  if (drawn_ != std::chrono::steady_clock::time_point{}) fmt::print(stderr, "\r\x1b[K");
  drawn_ = {};
}

void ProgressBar::show(double done, std::string_view note) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now - drawn_ < kPause) return;
  drawn_ = now;
  const auto full = static_cast<std::size_t>(std::clamp(done, 0.0, 1.0) * kWidth);
  fmt::print(stderr, "\r{} [{:=<{}}{:{}}] {}\x1b[K", label_, "", full, "", kWidth - full, note);
}

}  // namespace lldp::lab
