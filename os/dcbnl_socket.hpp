// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "os/dcbnl.hpp"
#include "os/fd.hpp"

namespace lldp::dcbnl {

/// Asks and tells drivers, in the network namespace of the thread that opens it. Errors have the
/// errno: ENODEV: there is no such interface, EOPNOTSUPP: its driver has no dcbnl, or not this of
/// it.
class Socket {
 public:
  [[nodiscard]] static Result<Socket> open();
  /// `socket`: one whose peer answers as the kernel does, before a question has been sent.
  explicit Socket(UniqueFd socket) : socket_(std::move(socket)) {}
  [[nodiscard]] Result<Settings> get(const std::string& name);
  [[nodiscard]] Result<void> set_pfc(const std::string& name, std::uint8_t enabled);
  [[nodiscard]] Result<void> add(const std::string& name, std::span<const App> apps);
  [[nodiscard]] Result<void> remove(const std::string& name, std::span<const App> apps);

 private:
  [[nodiscard]] Result<void> change(const std::string& name, const Bytes& request);
  /// The errno by which it ends; `read` tells what an answer means, or nothing of what is none.
  int ask(const Bytes& request, const std::function<std::optional<int>(ByteSpan)>& read);

  UniqueFd socket_;
  std::uint32_t sequence_ = 0;
  std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(32768);
};

}  // namespace lldp::dcbnl
