// SPDX-License-Identifier: Apache-2.0
#include "agent/links/rail.hpp"

#include <dirent.h>

#include <memory>
#include <string_view>

#include "os/file.hpp"

namespace lldp::io {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

constexpr std::size_t kLongest = 64;

}  // namespace

std::string board_id_of(const std::string& name, const std::string& interfaces) {
  const std::string devices = interfaces + "/" + name + "/device/infiniband";
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(devices.c_str()));
  std::string device;  // a function of a card has one; of several the first by name
  while (const dirent* entry = directory ? ::readdir(directory.get()) : nullptr) {
    const std::string_view at = entry->d_name;
    if (at.starts_with('.')) continue;
    if (device.empty() || at < device) device = at;
  }
  if (device.empty()) return {};
  auto id = read_file(devices + "/" + device + "/board_id");
  if (!id) return {};
  id->resize(std::min(id->find_first_of(" \n"), std::min(id->size(), kLongest)));
  return std::move(*id);
}

}  // namespace lldp::io
