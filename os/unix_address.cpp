// SPDX-License-Identifier: Apache-2.0
#include "os/unix_address.hpp"

#include <array>
#include <fstream>
#include <sstream>

namespace lldp {

std::vector<std::string> listening_inodes(std::string_view name) {
  std::vector<std::string> out;
  std::ifstream sockets("/proc/self/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    std::istringstream words(line);  // proc(5): Num RefCount Protocol Flags Type St Inode Path
    std::array<std::string, 7> fields;
    for (std::string& field : fields) words >> field;
    std::string rest;
    std::getline(words, rest);
    constexpr std::string_view kListening = "00010000";  // __SO_ACCEPTCON
    if (fields[3] == kListening && rest == " " + std::string(name)) out.push_back(fields[6]);
  }
  return out;
}

}  // namespace lldp
