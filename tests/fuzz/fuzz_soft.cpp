// SPDX-License-Identifier: Apache-2.0
// What the daemon and a software switch say to each other: what is taken is said again the same.
#include <cstdlib>
#include <string_view>

#include "dataplane/soft/messages.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lldp::dataplane::soft;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto request = parse_request(text))
    if (parse_request(format(*request)) != request) std::abort();
  if (const auto answer = parse_answer(text))
    if (parse_answer(format(*answer)) != answer) std::abort();
  return 0;
}
