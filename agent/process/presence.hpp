// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "os/fd.hpp"

namespace lldp::io {

/// That a daemon of ours is at work in this network namespace, for whoever starts the next one
/// there, be it in another container: two on one port take each other's rules away. Not more than a
/// hint: each may have ports of its own.
class Presence {
 public:
  /// Fails if another one is present; the error says who. Ends with the object.
  [[nodiscard]] static Result<Presence> announce();
  /// Who is present, in words; nothing: nobody.
  [[nodiscard]] static std::optional<std::string> other();

 private:
  explicit Presence(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace lldp::io
