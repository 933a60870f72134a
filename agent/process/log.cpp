// SPDX-License-Identifier: Apache-2.0
#include "agent/process/log.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/count.hpp"

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

/// False if it is not taken without waiting: a journal that hangs, a terminal that is held, a pipe
/// that nobody reads must not hold up the fabric.
bool tell(Severity severity, std::string_view text, std::span<const Field> fields) {
  const Stream& to = standard_error();
  const int priority = static_cast<int>(severity);
  if (to.journal && to.journal->send(priority, text, fields)) return true;
  const std::string line = to.is_journal ? fmt::format("<{}>{}\n", priority, text)
                                         : fmt::format("lldp-leveld: {}\n", text);
  if (!log_takes_more()) return false;
  // One write per line, so that lines of several processes do not mix; a closed standard error is
  // nobody's concern.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  return true;
}

}  // namespace

bool log_takes_more() {
  // Not O_NONBLOCK: whoever shares standard error with us would have it, too.
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
