// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "os/fd.hpp"

namespace lldp::io {

/// What a launcher's programs print, on its way to the log: up to a limit in a time; beyond it, the
/// log says that the rest is left out. The programs are never held up, whether the log is read or
/// not.
class Output {
 public:
  static constexpr std::size_t kMostOctets = std::size_t{64} << 10;
  static constexpr std::int64_t kTime = 60'000;  ///< ms

  /// `who`: name of the programs in the log; must outlive this. Without a pipe they print to the
  /// log themselves.
  explicit Output(const char* who);

  /// For a program to print to.
  [[nodiscard]] int end() const { return end_ ? end_.get() : 2; }
  /// Readable when there is something to pass on; -1: never.
  [[nodiscard]] int fd() const { return from_.get(); }
  /// All that there is now, but for a program that prints faster than it can be passed on. `now`:
  /// in ms.
  void pass_on(std::int64_t now);

 private:
  void pass(std::string_view text);
  void leave_out();

  const char* who_;
  UniqueFd from_{};
  UniqueFd end_{};
  std::int64_t since_ = -kTime;
  std::size_t room_ = 0;    ///< for so much more in this time
  bool left_out_ = false;   ///< something in this time
  bool said_ = false;       ///< and nothing was complete since
  bool in_a_line_ = false;  ///< what was passed on last does not end one
};

}  // namespace lldp::io
