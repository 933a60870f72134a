// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace lldp::lab {

/// A bar on standard error while something long is under way; nothing where that is no terminal.
/// Gone when the object is.
class ProgressBar {
 public:
  explicit ProgressBar(std::string label);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  /// Cheap: draws at most ten times a second.
  void show(double done, std::string_view note);
  /// Makes room for a line of output; the next show() draws again.
  void clear();

 private:
  std::string label_;
  bool terminal_ = false;
  std::chrono::steady_clock::time_point drawn_{};
};

}  // namespace lldp::lab
