// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "os/fd.hpp"

namespace lldp::io {

/// Marks that a daemon of ours runs in this network namespace, for the next daemon started there,
/// be it in another container, and for the previous one: two daemons on one port remove each
/// other's rules. It is only a hint: each may have ports of its own.
class Presence {
 public:
  /// Ends with the object. Fails where too many are there already.
  [[nodiscard]] static Result<Presence> announce();
  /// Another daemon that is present, as a description; nothing: none.
  [[nodiscard]] static std::optional<std::string> other();
  /// Whether no other daemon is present now.
  [[nodiscard]] bool is_alone() const;

 private:
  Presence(UniqueFd fd, int number) : fd_(std::move(fd)), number_(number) {}
  UniqueFd fd_;
  int number_;  ///< of its name
};

}  // namespace lldp::io
