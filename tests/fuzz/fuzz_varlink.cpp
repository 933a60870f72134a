// SPDX-License-Identifier: Apache-2.0
// The control socket's octets, cut anywhere: the same messages come out, and every call is parsed.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "agent/control/varlink.hpp"

namespace {

std::vector<std::string> messages(std::string_view octets, std::size_t piece) {
  lldp::io::varlink::Framer framer(256);
  std::vector<std::string> out;
  while (!octets.empty() && !framer.overlong()) {
    const std::size_t n = std::min(piece, octets.size());
    framer.feed(octets.substr(0, n));
    octets.remove_prefix(n);
    while (const auto message = framer.next()) out.emplace_back(*message);
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view octets = lldp::as_text({data, size});
  const auto whole = messages(octets, size + 1);
  if (whole != messages(octets, 1) || whole != messages(octets, 7)) std::abort();
  for (const std::string& message : whole) {
    const auto call = lldp::io::varlink::parse_call(message);
    if (call && lldp::io::varlink::quote(call->method).size() < call->method.size()) std::abort();
  }
  return 0;
}
