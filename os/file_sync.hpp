// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

namespace lldp {

/// fsync(2) that nobody waits for: a busy disk takes seconds, one that is broken may take for ever.
class FileSync {
 public:
  FileSync() = default;
  FileSync(const FileSync&) = delete;
  FileSync& operator=(const FileSync&) = delete;
  virtual ~FileSync() = default;

  /// Readable when take() has something to give; negative if that is only ever at once.
  [[nodiscard]] virtual int fd() const = 0;
  /// Of a file or directory, which may be closed meanwhile. One at a time.
  virtual void start(int file) = 0;
  /// What became of it, once: 0 or errno. Nothing while it is under way.
  [[nodiscard]] virtual std::optional<int> take() = 0;
  /// The same; waits for it.
  [[nodiscard]] virtual int wait() = 0;
};

/// By io_submit(2) with IOCB_CMD_FSYNC (Linux 4.18). Where the kernel has none to give
/// (fs.aio-max-nr, a filter of calls, a file system that cannot) start() itself waits.
[[nodiscard]] std::unique_ptr<FileSync> make_file_sync();

}  // namespace lldp
