// SPDX-License-Identifier: Apache-2.0
#include "agent/process/journal.hpp"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstring>

#include "os/unix_address.hpp"

namespace lldp::io {
namespace {

void append(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  out += name;
  if (value.find('\n') == value.npos) {
    out += '=';
  } else {  // its length in front, as 64 bits, least first
    out += '\n';
    for (unsigned shift = 0; shift < 64; shift += 8)
      out += static_cast<char>(std::uint64_t{value.size()} >> shift & 0xffU);
  }
  out += value;
  out += '\n';
}

}  // namespace

std::string journal_entry(int priority, std::string_view message, std::span<const Field> fields) {
  std::string out;
  append(out, "MESSAGE", message);
  append(out, "PRIORITY", std::to_string(priority));
  append(out, "SYSLOG_IDENTIFIER", "lldp-leveld");
  for (const Field& field : fields) append(out, field.name, field.value);
  return out;
}

bool is_journal_stream(int fd, const char* journal_stream) {
  struct stat is {};
  return journal_stream != nullptr && ::fstat(fd, &is) == 0 &&
         fmt::format("{}:{}", is.st_dev, is.st_ino) == journal_stream;
}

std::optional<Journal> Journal::open(std::string_view socket) {
  const auto address = unix_address(socket);
  if (!address) return std::nullopt;
  UniqueFd out(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!out || ::connect(out.get(), address->get(), address->size) != 0) return std::nullopt;
  return Journal(std::move(out));
}

bool Journal::send(int priority, std::string_view message, std::span<const Field> fields) const {
  const std::string entry = journal_entry(priority, message, fields);
  return ::send(fd_.get(), entry.data(), entry.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(entry.size());
}

}  // namespace lldp::io
