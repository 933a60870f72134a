// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace lldp {

/// Why an operation failed, for the operator.
struct Error {
  int code = 0;         ///< errno, or 0
  std::string where{};  ///< the interface, file, option or TLV
  std::string what{};   ///< what was wrong, and what to do where that is not plain
  friend bool operator==(const Error&, const Error&) = default;
};

/// `where: what`, one line.
[[nodiscard]] std::string to_string(const Error& e);

template <class T, class E = Error>
using Result = tl::expected<T, E>;  // one day std::expected

template <class E>
[[nodiscard]] constexpr auto fail(E e) {
  return tl::unexpected<E>(std::move(e));
}

}  // namespace lldp
