// SPDX-License-Identifier: Apache-2.0
// The address of a Unix socket (unix(7)).
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lldp {

/// The longest name in octets; the kernel wants a NUL behind a path.
constexpr std::size_t kMaxUnixName = sizeof(sockaddr_un::sun_path) - 1;

struct UnixAddress {
  sockaddr_un name{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

/// Of the file at a path; with a first NUL a name without a file: the network namespace's own,
/// which goes with the socket. Nothing for a name that is empty or longer than kMaxUnixName.
inline std::optional<UnixAddress> unix_address(std::string_view path) {
  if (path.empty() || path.size() > kMaxUnixName) return std::nullopt;
  UnixAddress address;
  address.name.sun_family = AF_UNIX;
  path.copy(address.name.sun_path, path.size());
  // Every octet of a name without a file counts, so no more than the name is given.
  const std::size_t end = path.front() == '\0' ? 0 : 1;
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + end);
  return address;
}

/// The inodes of the sockets that listen at a path, or, after an `@`, at an abstract name, as the
/// kernel lists those of this network namespace; both ends of a connection have the name. The list
/// escapes nothing: a socket of any user can appear to have this name, as with a file called
/// `@name` or a name with a line break. The real listener is always among the result.
[[nodiscard]] std::vector<std::string> listening_inodes(std::string_view name);

}  // namespace lldp
