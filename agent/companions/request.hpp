// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lldp::io {

/// What a launcher is asked, in one message of a SOCK_SEQPACKET socket: a head, the words of a
/// command and the input, each word with a NUL behind it. Both ends are of this machine and of one
/// build. A launcher that is a service of its own believes nothing of it all the same.
struct Request {
  enum class Verb : std::uint8_t { kStart, kStop };
  static constexpr std::size_t kMaxWords = 7;
  static constexpr std::size_t kMaxOctets = 32 << 10;  ///< of words and input
  static constexpr std::size_t kHead = 8;

  Verb verb{};
  bool has_connection = false;  ///< beside the message; then there is no input
  std::uint32_t limit_ms = 0;
  std::array<std::string_view, kMaxWords> words{};  ///< of the message; a NUL is behind each
  std::size_t count = 0;                            ///< of them
  std::string_view input{};

  [[nodiscard]] std::span<const std::string_view> command() const { return {words.data(), count}; }
};

/// nullopt: there are too many words, or it is too long.
[[nodiscard]] std::optional<std::string> encode(const Request& request);
/// nullopt: it is none. The result borrows of `message`.
[[nodiscard]] std::optional<Request> decode(std::string_view message);

}  // namespace lldp::io
