// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

/// The Varlink protocol without the socket: octets in, calls out; values in, messages out.
/// A message is one JSON object and a NUL. https://varlink.org/Method-Call
namespace lldp::io::varlink {

/// Cuts a stream into messages. What it is fed beyond the last whole message is bounded.
class Framer {
 public:
  explicit Framer(std::size_t max_octets) : max_octets_(max_octets) {}
  void feed(std::string_view octets);
  /// The next whole message, without its NUL, valid until feed(); nullopt: more octets are needed,
  /// or overlong() holds.
  [[nodiscard]] std::optional<std::string_view> next();
  /// A message is longer than allowed; nothing more can be made of the stream.
  [[nodiscard]] bool overlong() const { return overlong_; }

 private:
  std::size_t max_octets_;
  std::string buffer_;
  std::size_t begin_ = 0;  ///< what stands before it was handed out
  std::size_t seen_ = 0;   ///< no NUL stands between begin_ and it
  bool overlong_ = false;
};

/// One parameter: a string, or a list of strings; no method of ours takes anything else.
struct Parameter {
  std::string name{};
  std::vector<std::string> values{};
  bool is_list = false;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

struct Call {
  std::string method{};
  std::vector<Parameter> parameters{};
  /// The name of the first parameter that is neither a string nor a list of strings; any name, an
  /// empty one too.
  std::optional<std::string> misfit{};
  bool more = false;    ///< the caller wants any number of replies
  bool oneway = false;  ///< the caller wants none
  bool upgrade = false;
  friend bool operator==(const Call&, const Call&) = default;
};

/// Error: not a JSON object, or not one that calls a method.
[[nodiscard]] Result<Call> parse_call(std::string_view message);

/// Messages, their NUL included. `parameters` is a JSON object as text.
[[nodiscard]] std::string reply(std::string_view parameters, bool continues = false);
[[nodiscard]] std::string error(std::string_view name, std::string_view parameters = "{}");

/// RFC 4648 section 4, with padding.
[[nodiscard]] std::string base64(ByteSpan octets);

/// A JSON string with its quotes.
[[nodiscard]] std::string quote(std::string_view text);

}  // namespace lldp::io::varlink
