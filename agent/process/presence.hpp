// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "os/fd.hpp"

namespace lldp::io {

/// That a daemon of ours is at work in this network namespace, for whoever starts the next one
/// there, be it in another container, and for the one that was there before: two on one port take
/// each other's rules away. Not more than a hint: each may have ports of its own.
class Presence {
 public:
  /// Ends with the object. Fails where too many are there already.
  [[nodiscard]] static Result<Presence> announce();
  /// Who is present, in words, for one who is not; nothing: nobody.
  [[nodiscard]] static std::optional<std::string> other();
  /// Nobody is but this one, now.
  [[nodiscard]] bool is_alone() const;

 private:
  Presence(UniqueFd fd, int number) : fd_(std::move(fd)), number_(number) {}
  UniqueFd fd_;
  int number_;  ///< of its name
};

}  // namespace lldp::io
