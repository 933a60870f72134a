// SPDX-License-Identifier: Apache-2.0
// What the process with libsai says, what it is asked, and the file of what is ours. What was
// understood is written and understood alike.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "dataplane/sai/messages.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lldp::dataplane::sai;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto answer = parse_answer(text); answer && parse_answer(format(*answer)) != answer)
    std::abort();
  if (const auto request = parse_request(text);
      request && parse_request(format(*request)) != request)
    std::abort();
  if (const auto memory = parse_memory(text); memory && parse_memory(format(*memory)) != memory)
    std::abort();
  return 0;
}
