// SPDX-License-Identifier: Apache-2.0
#include "os/unix_address.hpp"

#include <fstream>
#include <sstream>

namespace lldp {

std::optional<std::string> listening_inode(std::string_view name) {
  constexpr std::string_view kListening = " 00010000 ";  // Flags: __SO_ACCEPTCON
  const std::string end = " " + std::string(name);
  std::ifstream sockets("/proc/self/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    if (!line.ends_with(end) || line.find(kListening) == line.npos) continue;
    std::istringstream words(line);  // proc(5): Num RefCount Protocol Flags Type St Inode Path
    std::string inode;
    for (int i = 0; i < 7; ++i) words >> inode;
    return inode;
  }
  return std::nullopt;
}

}  // namespace lldp
