// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "os/fd.hpp"

namespace lldp::io {

/// One more field of a line of the log, for queries of the journal; systemd.journal-fields(7). A
/// field with an empty value is left out.
struct Field {
  std::string_view name{};  ///< capitals, digits and underscores, a letter first
  std::string_view value{};
};

/// The journal of systemd, by its native protocol (https://systemd.io/JOURNAL_NATIVE_PROTOCOL): a
/// datagram for each line. By hand: libsystemd would be one library more to map, for one sendto().
class Journal {
 public:
  static constexpr std::string_view kSocket = "/run/systemd/journal/socket";

  /// Nothing: no journal listens there.
  [[nodiscard]] static std::optional<Journal> open(std::string_view socket = kSocket);
  /// False: it does not take it, or not now; it never waits.
  [[nodiscard]] bool send(int priority, std::string_view message,
                          std::span<const Field> fields) const;

 private:
  explicit Journal(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

/// Whether `fd` is the stream to the journal that the environment's JOURNAL_STREAM names;
/// systemd.exec(5).
[[nodiscard]] bool is_journal_stream(int fd, const char* journal_stream);

/// The datagram.
[[nodiscard]] std::string journal_entry(int priority, std::string_view message,
                                        std::span<const Field> fields);

}  // namespace lldp::io
