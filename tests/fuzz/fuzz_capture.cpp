// SPDX-License-Identifier: Apache-2.0
// A capture file, pcap or pcapng: its frames are described in both ways, or the file is refused in
// one printable line. What is described was written by anybody: it holds no control character.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "agent/cli/decode.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::string described(const std::string& file, bool json) {
  std::ostringstream out;
  const auto done = lldp::cli::decode_capture(file, json, {}, out);
  if (!done) require(to_string(done.error()).find_first_of("\n\x1b") == std::string::npos);
  return out.str();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int fd = ::memfd_create("capture", MFD_CLOEXEC);
  require(fd >= 0 && ::ftruncate(fd, 0) == 0 &&
          ::pwrite(fd, data, size, 0) == static_cast<ssize_t>(size));
  const std::string file = "/proc/self/fd/" + std::to_string(fd);
  for (const bool json : {false, true})
    for (const char c : described(file, json))
      require(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  return 0;
}
