// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "base/result.hpp"

namespace lldp {

/// Does what may take long, one thing at a time, while its owner goes on: a busy disk takes
/// seconds, and one that is broken, or frozen for a snapshot, takes for ever, be it to open a file.
class AsyncWriter {
 public:
  using Job = std::function<Result<void>()>;

  AsyncWriter() = default;
  AsyncWriter(const AsyncWriter&) = delete;
  AsyncWriter& operator=(const AsyncWriter&) = delete;
  virtual ~AsyncWriter() = default;

  /// Readable when take() has something to give; negative if that is only ever at once.
  [[nodiscard]] virtual int fd() const = 0;
  virtual void start(Job job) = 0;
  /// What became of it, once. Nothing while it is under way, or if nothing was started.
  [[nodiscard]] virtual std::optional<Result<void>> take() = 0;
  /// The same; waits so long for it.
  [[nodiscard]] virtual std::optional<Result<void>> wait(std::chrono::milliseconds most) = 0;
};

/// Runs the work in a thread, which is created now: under a system call filter it could not be
/// created later. The thread has the rights of its creator. Its owner does not wait for running
/// work at the end. If no thread can be created, start() itself does the work and takes that long.
[[nodiscard]] std::unique_ptr<AsyncWriter> make_async_writer();

}  // namespace lldp
