// SPDX-License-Identifier: Apache-2.0
#include "agent/process/log.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "base/count.hpp"
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

/// Standard error, if it is a terminal or the like, in a description of our own: O_NONBLOCK on
/// the one that there is would be everybody's who shares it.
UniqueFd terminal() {
  struct stat is {};
  if (::fstat(STDERR_FILENO, &is) != 0 || !S_ISCHR(is.st_mode)) return {};
  return UniqueFd(::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

/// False if it is not taken without waiting: a journal that hangs, a terminal that is held, a pipe
/// that nobody reads must not hold up the fabric.
bool tell(Severity severity, std::string_view text, std::span<const Field> fields) {
  const Stream& to = standard_error();
  const int priority = static_cast<int>(severity);
  if (to.journal && to.journal->send(priority, text, fields)) return true;
  const std::string line = to.is_journal ? fmt::format("<{}>{}\n", priority, text)
                                         : fmt::format("lldp-leveld: {}\n", text);
  if (!log_takes_more()) return false;
  // A terminal says that it takes more when it takes an octet more.
  const UniqueFd own = terminal();
  const int fd = own ? own.get() : STDERR_FILENO;
  // One write per line, so that lines of several processes do not mix; a closed standard error is
  // nobody's concern.
  const ssize_t written = ::write(fd, line.data(), line.size());
  return written == static_cast<ssize_t>(line.size()) || (written < 0 && errno != EAGAIN);
}

}  // namespace

bool log_takes_more() {
  pollfd room{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  return ::poll(&room, 1, 0) == 1;
}

void log(Severity severity, std::string_view text, std::span<const Field> fields) {
  static std::uint64_t left_out = 0;
  if (left_out != 0 &&
      tell(Severity::kWarning,
           fmt::format("{} left out: nobody took them", count_text(left_out, "line")), {}))
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
