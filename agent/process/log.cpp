// SPDX-License-Identifier: Apache-2.0
#include "agent/process/log.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace lldp::io {

void log(Severity severity, std::string_view text) {
  static const bool journal = std::getenv("JOURNAL_STREAM") != nullptr;
  const std::string line = journal ? fmt::format("<{}>{}\n", static_cast<int>(severity), text)
                                   : fmt::format("lldp-leveld: {}\n", text);
  // One write per line, so that lines of several processes do not mix; a closed standard error is
  // nobody's concern.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

void log(Severity severity, const Error& error) { log(severity, to_string(error)); }

std::optional<std::uint32_t> LogGate::admit(Ifindex port, TimePoint now) {
  auto [it, fresh] = buckets_.try_emplace(port);
  Bucket& bucket = it->second;
  if (fresh) bucket.filled = now;
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
