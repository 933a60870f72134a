// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/bundles.hpp"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

namespace lldp::dataplane::bpf {
namespace {

constexpr std::string_view kFeature = "rx-gro-list";
constexpr std::uint32_t kNone = ~0U;
constexpr std::uint32_t kMostFeatures = 1024;
constexpr std::uint32_t kBitsPerBlock = 32;

}  // namespace

Bundles::Bundles() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {}

bool Bundles::ask(const std::string& interface, void* request) const {
  ifreq question{};
  if (interface.size() >= sizeof question.ifr_name) return false;
  interface.copy(question.ifr_name, interface.size());
  question.ifr_data = static_cast<char*>(request);
  return ::ioctl(socket_.get(), SIOCETHTOOL, &question) == 0;
}

std::optional<std::uint32_t> Bundles::find_bit(const std::string& interface) const {
  // Of both questions the answer comes behind the question.
  ethtool_sset_info size{};
  size.cmd = ETHTOOL_GSSET_INFO;
  size.sset_mask = std::uint64_t{1} << ETH_SS_FEATURES;
  std::vector<char> room(sizeof size + sizeof(std::uint32_t));
  std::memcpy(room.data(), &size, sizeof size);
  if (!ask(interface, room.data())) return std::nullopt;
  std::uint32_t count = 0;
  std::memcpy(&count, room.data() + sizeof size, sizeof count);
  count = std::min(count, kMostFeatures);
  ethtool_gstrings names{};
  names.cmd = ETHTOOL_GSTRINGS;
  names.string_set = ETH_SS_FEATURES;
  names.len = count;
  room.assign(sizeof names + std::size_t{count} * ETH_GSTRING_LEN, 0);
  std::memcpy(room.data(), &names, sizeof names);
  if (!ask(interface, room.data())) return std::nullopt;
  for (std::uint32_t i = 0; i < count; ++i) {
    const char* const name = room.data() + sizeof names + std::size_t{i} * ETH_GSTRING_LEN;
    if (std::string_view(name, ::strnlen(name, ETH_GSTRING_LEN)) == kFeature) return i;
  }
  return kNone;
}

bool Bundles::has_lists(const std::string& interface) {
  if (!bit_) bit_ = find_bit(interface);
  if (!bit_ || *bit_ == kNone) return false;
  ethtool_gfeatures features{};
  features.cmd = ETHTOOL_GFEATURES;
  features.size = kMostFeatures / kBitsPerBlock;
  ethtool_get_features_block block{};
  std::vector<char> room(sizeof features + features.size * sizeof block);
  std::memcpy(room.data(), &features, sizeof features);
  if (!ask(interface, room.data())) return false;
  std::memcpy(&block, room.data() + sizeof features + *bit_ / kBitsPerBlock * sizeof block,
              sizeof block);
  return (block.active >> *bit_ % kBitsPerBlock & 1) != 0;
}

}  // namespace lldp::dataplane::bpf
