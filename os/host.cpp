// SPDX-License-Identifier: Apache-2.0
#include "os/host.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "os/file.hpp"

namespace lldp {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data())
                                                          : std::string();
}

Result<std::string> boot_id() {
  // The service sees nothing of /proc but its processes, and is told.
  if (const char* told = std::getenv("LLDP_LEVEL_BOOT_ID"); told != nullptr && *told != '\0')
    return told;
  auto id = read_file("/proc/sys/kernel/random/boot_id");
  if (id && id->ends_with('\n')) id->pop_back();
  return id;
}

std::string system_description(std::string_view os_release) {
  constexpr std::string_view kKey = "PRETTY_NAME=";
  std::string text;
  while (!os_release.empty()) {
    std::string_view line = os_release.substr(0, os_release.find('\n'));
    os_release.remove_prefix(std::min(line.size() + 1, os_release.size()));
    if (!line.starts_with(kKey)) continue;
    line.remove_prefix(kKey.size());
    for (const char c : line)
      if (c != '"' && c != '\'' && c != '\\') text += c;  // the shell's quoting
  }
  utsname kernel{};
  if (::uname(&kernel) == 0)
    for (const char* word : {kernel.sysname, kernel.release, kernel.version, kernel.machine})
      (text.empty() ? text : text += ' ') += word;
  text.resize(std::min<std::size_t>(text.size(), 255));
  return text;
}

std::string system_description() {
  for (const char* path : {"/etc/os-release", "/usr/lib/os-release"})
    if (const auto text = read_file(path)) return system_description(*text);
  return system_description({});
}

}  // namespace lldp
