// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "dataplane/bpf/btf.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static_cast<void>(lldp::dataplane::bpf::function_in_btf({data, size}, "bpf_mprog_attach"));
  return 0;
}
