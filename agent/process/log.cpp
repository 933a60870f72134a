// SPDX-License-Identifier: Apache-2.0
#include "agent/process/log.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/count.hpp"
#include "os/async_writer.hpp"
#include "os/fd.hpp"

namespace lldp::io {

namespace {

struct Stream {
  bool is_journal = false;
  std::optional<Journal> journal{};  ///< nothing: lines alone
};

/// Where standard error leads: it is what it was at the first line. The journal restarts, but its
/// socket is systemd's, and stays.
const Stream& standard_error() {
  static const Stream stream = [] {
    if (!is_journal_stream(STDERR_FILENO, std::getenv("JOURNAL_STREAM"))) return Stream{};
    return Stream{true, Journal::open()};
  }();
  return stream;
}

/// Standard error, if it is a terminal or the like, opened again: O_NONBLOCK on the inherited
/// description would affect all processes that share it.
UniqueFd terminal() {
  struct stat is {};
  if (::fstat(STDERR_FILENO, &is) != 0 || !S_ISCHR(is.st_mode)) return {};
  return UniqueFd(::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

bool is_file(int fd) {
  struct stat is {};
  return ::fstat(fd, &is) == 0 && S_ISREG(is.st_mode);
}

/// Whether the whole line was taken, or never can be: a standard error that is closed or a terminal
/// that was hung up (EIO) is ignored; a disk with EIO is not. One write per line, so that lines of
/// several processes do not mix.
bool put(int fd, std::string line) {
  static bool is_torn = false;  // the line before, by a disk that was full
  if (is_torn) line.insert(0, 1, '\n');
  const ssize_t written = ::write(fd, line.data(), line.size());
  if (written < 0) return errno == EBADF || errno == EPIPE || (errno == EIO && !is_file(fd));
  is_torn = written < static_cast<ssize_t>(line.size()) && (written > 0 || is_torn);
  return written == static_cast<ssize_t>(line.size());
}

/// Writes to a regular file, whose disk may be busy, or frozen for a snapshot, by a thread.
class FileWriter {
 public:
  static constexpr std::size_t kMostOctets = 64 << 10;  ///< what waits: a pipe holds as much
  static constexpr std::chrono::seconds kPatience{2};   ///< of an orderly end
  static constexpr std::chrono::milliseconds kWritePatience{100};  ///< a line, until it is unstuck

  /// Nothing where no thread is to be had.
  static std::unique_ptr<FileWriter> make() {
    auto thread = make_async_writer();
    return thread->fd() < 0 ? nullptr
                            : std::unique_ptr<FileWriter>(new FileWriter(std::move(thread)));
  }
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  ~FileWriter() {
    std::unique_lock lock(shared_->mutex);
    shared_->is_leaving = true;
    shared_->come.notify_one();
    shared_->gone.wait_for(lock, kPatience, [&] { return shared_->octets == 0; });
  }
  /// `stands_for` lines, if the disk does not take it.
  bool take(std::string line, std::uint64_t stands_for) {
    std::unique_lock lock(shared_->mutex);
    if (!wait(lock, kMostOctets - std::min(kMostOctets, line.size()))) return false;
    shared_->octets += line.size();
    shared_->lines.emplace_back(std::move(line), stands_for);
    shared_->come.notify_one();
    return true;
  }
  /// On a disk that does what it is to, all that was taken is there when this returns.
  void settle() {
    std::unique_lock lock(shared_->mutex);
    static_cast<void>(wait(lock, 0));
  }
  /// Lines that the disk has not taken, since it was asked.
  std::uint64_t lost() {
    const std::lock_guard lock(shared_->mutex);
    return std::exchange(shared_->lost, 0);
  }

 private:
  explicit FileWriter(std::unique_ptr<AsyncWriter> thread) : thread_(std::move(thread)) {
    thread_->start([shared = shared_] {
      shared->run();
      return Result<void>{};
    });
  }
  /// Until no more than `octets` wait: as long as the disk, be it a slow one, goes on to take them.
  bool wait(std::unique_lock<std::mutex>& lock, std::size_t octets) {
    while (shared_->octets > octets && !shared_->is_stuck) {
      const std::size_t before = shared_->octets;
      shared_->is_stuck =
          !shared_->gone.wait_for(lock, kWritePatience, [&] { return shared_->octets < before; });
    }
    return shared_->octets <= octets;
  }
  /// What both have: the thread may outlive us.
  struct Shared {
    void run() {
      std::unique_lock lock(mutex);
      while (true) {
        come.wait(lock, [&] { return !lines.empty() || is_leaving; });
        if (lines.empty()) return;
        const auto [line, stands_for] = std::move(lines.front());
        lines.pop_front();
        lock.unlock();
        const bool taken = put(STDERR_FILENO, line);
        lock.lock();
        if (!taken) lost += stands_for;
        octets -= line.size();
        if (octets == 0) is_stuck = false;
        gone.notify_one();
      }
    }
    std::mutex mutex{};
    std::condition_variable come{};
    std::condition_variable gone{};
    std::deque<std::pair<std::string, std::uint64_t>> lines{};
    std::size_t octets = 0;  ///< of these, and of the one that is written
    std::uint64_t lost = 0;
    bool is_stuck = false;  ///< it was waited for in vain
    bool is_leaving = false;
  };
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::unique_ptr<AsyncWriter> thread_;
};

std::unique_ptr<FileWriter>& file_writer() {
  static std::unique_ptr<FileWriter> writer;
  return writer;
}

/// False if it is not taken without waiting: a journal that hangs, a terminal that is held or a
/// pipe that is not read must not hold up the fabric.
bool tell(Severity severity, std::string_view text, std::span<const Field> fields,
          std::uint64_t stands_for = 1) {
  const Stream& to = standard_error();
  const int priority = static_cast<int>(severity);
  if (to.journal && to.journal->send(priority, text, fields)) return true;
  const std::string line = to.is_journal ? fmt::format("<{}>{}\n", priority, text)
                                         : fmt::format("lldp-leveld: {}\n", text);
  if (auto& writer = file_writer()) return writer->take(line, stands_for);
  if (!log_takes_more()) return false;
  // A terminal says that it takes more when it takes an octet more.
  const UniqueFd own = terminal();
  return put(own ? own.get() : STDERR_FILENO, line);
}

}  // namespace

bool log_takes_more() {
  pollfd room{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  return ::poll(&room, 1, 0) == 1;
}

void log_aside() { file_writer() = is_file(STDERR_FILENO) ? FileWriter::make() : nullptr; }

void log_settle() {
  if (auto& writer = file_writer()) writer->settle();
}

void log(Severity severity, std::string_view text, std::span<const Field> fields) {
  static std::uint64_t left_out = 0;
  if (auto& writer = file_writer()) left_out += writer->lost();
  if (left_out != 0 &&
      tell(Severity::kWarning,
           fmt::format("{} left out: standard error took no data", count_text(left_out, "line")),
           {}, left_out))
    left_out = 0;
  if (left_out != 0 || !tell(severity, text, fields)) ++left_out;
}

void log(Severity severity, const Error& error) {
  const std::string number = error.code > 0 ? std::to_string(error.code) : std::string();
  const Field fields[] = {{"ERRNO", number}};
  log(severity, to_string(error), fields);
}

std::optional<std::uint32_t> LogGate::admit(Ifindex port, Topic topic, TimePoint now) {
  auto [it, fresh] = buckets_.try_emplace(port);
  if (fresh)
    for (Bucket& b : it->second) b.filled = now;
  Bucket& bucket = it->second[static_cast<std::size_t>(topic)];
  const auto earned = (now - bucket.filled) / kInterval;
  if (earned > 0) {
    bucket.filled += earned * kInterval;
    bucket.tokens = static_cast<std::uint32_t>(
        std::min<std::int64_t>(kBurst, std::int64_t{bucket.tokens} + earned));
  }
  if (bucket.tokens == 0) {
    ++bucket.left_out;
    return std::nullopt;
  }
  --bucket.tokens;
  return std::exchange(bucket.left_out, 0);
}

}  // namespace lldp::io
