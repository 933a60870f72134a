// SPDX-License-Identifier: Apache-2.0
#include "agent/companions/request.hpp"

#include <cstring>

namespace lldp::io {

std::optional<std::string> encode(const Request& request) {
  if (request.count > Request::kMaxWords) return std::nullopt;
  std::string out(Request::kHead, '\0');
  out[0] = static_cast<char>(request.verb);
  out[1] = static_cast<char>(request.has_connection);
  out[2] = static_cast<char>(request.count);
  std::memcpy(out.data() + 4, &request.limit_ms, sizeof request.limit_ms);
  for (const std::string_view word : request.command()) {
    if (word.find('\0') != word.npos) return std::nullopt;
    out.append(word).push_back('\0');
  }
  out += request.input;
  if (out.size() > Request::kHead + Request::kMaxOctets) return std::nullopt;
  return out;
}

std::optional<Request> decode(std::string_view message) {
  if (message.size() < Request::kHead || message.size() > Request::kHead + Request::kMaxOctets)
    return std::nullopt;
  const auto octet = [&](std::size_t at) { return static_cast<unsigned char>(message[at]); };
  if (octet(0) > 1 || octet(1) > 1 || octet(2) > Request::kMaxWords || octet(3) != 0)
    return std::nullopt;
  Request out{.verb = static_cast<Request::Verb>(octet(0)),
              .has_connection = octet(1) == 1,
              .count = octet(2)};
  std::memcpy(&out.limit_ms, message.data() + 4, sizeof out.limit_ms);
  message.remove_prefix(Request::kHead);
  for (std::size_t i = 0; i < out.count; ++i) {
    const std::size_t end = message.find('\0');
    if (end == message.npos) return std::nullopt;
    out.words[i] = message.substr(0, end);
    message.remove_prefix(end + 1);
  }
  out.input = message;
  // To stop takes nothing; to start, something to be started, and one input.
  const bool start = out.verb == Request::Verb::kStart;
  if (start ? out.count == 0 || out.words[0].empty() : out.count != 0 || out.has_connection)
    return std::nullopt;
  if (!out.input.empty() && (!start || out.has_connection)) return std::nullopt;
  return out;
}

}  // namespace lldp::io
