// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/bundles.hpp"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "os/ethtool.hpp"

namespace lldp::dataplane::bpf {
namespace {

constexpr std::string_view kFeature = "rx-gro-list";
constexpr std::uint32_t kNone = ~0U;
constexpr std::uint32_t kBitsPerBlock = 32;

}  // namespace

Bundles::Bundles() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  if (!socket_) why_ = errno;
}

bool Bundles::ask(ifreq& request) {
  if (!socket_) return false;
  const bool told = ::ioctl(socket_.get(), SIOCETHTOOL, &request) == 0;
  // Without features there are no lists, and without the interface neither.
  why_ = told || errno == EOPNOTSUPP || errno == ENODEV ? 0 : errno;
  return told;
}

std::optional<std::uint32_t> Bundles::find_bit(const std::string& interface) {
  const auto names = ethtool::names_of([this](ifreq& request) { return ask(request); }, interface,
                                       ETH_SS_FEATURES);
  if (names.empty()) return std::nullopt;
  const auto at = std::ranges::find(names, kFeature);
  return at == names.end() ? kNone : static_cast<std::uint32_t>(at - names.begin());
}

Lists Bundles::of(const std::string& interface) {
  ifreq question{};
  if (interface.size() >= sizeof question.ifr_name) return {};
  if (!bit_) bit_ = find_bit(interface);
  if (!bit_) return {.unread = why_};
  if (*bit_ == kNone) return {};
  interface.copy(question.ifr_name, interface.size());
  ethtool_gfeatures features{};
  features.cmd = ETHTOOL_GFEATURES;
  features.size = *bit_ / kBitsPerBlock + 1;  // the kernel writes no block beyond these
  ethtool_get_features_block block{};
  std::vector<char> room(sizeof features + features.size * sizeof block);
  std::memcpy(room.data(), &features, sizeof features);
  question.ifr_data = room.data();
  if (!ask(question)) return {.unread = why_};
  std::memcpy(&block, room.data() + room.size() - sizeof block, sizeof block);
  return {.on = (block.active >> *bit_ % kBitsPerBlock & 1) != 0};
}

}  // namespace lldp::dataplane::bpf
