// SPDX-License-Identifier: Apache-2.0
#include "agent/config/listen.hpp"

#include <arpa/inet.h>

#include <charconv>

#include "base/text.hpp"

namespace lldp::config {

Result<std::string> parse_listen(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const std::string_view digits = colon == text.npos ? text : text.substr(colon + 1);
  std::string host(colon == text.npos ? std::string_view() : text.substr(0, colon));
  if (host.empty()) host = "127.0.0.1";
  const bool bracketed = host.front() == '[' && host.back() == ']';
  in6_addr address{};
  const bool good =
      bracketed ? ::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &address) == 1
                : ::inet_pton(AF_INET, host.c_str(), &address) == 1;
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (!good || error != std::errc() || end != digits.data() + digits.size() || port == 0)
    return fail(Error{.what = "'" + escape(text) +
                              "' is no address and port: write 127.0.0.1:9888, [::1]:9888, or 9888 "
                              "for this machine alone"});
  return host + ":" + std::to_string(port);
}

}  // namespace lldp::config
