// SPDX-License-Identifier: Apache-2.0
// A driver's table of counters and its counters, read again and again while they change: the first
// octets say how, the rest are names of 32 octets.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "os/ethtool.hpp"

namespace {

using namespace lldp::ethtool;
constexpr std::size_t kSteps = 8;

struct Driver {
  std::string_view steps{};
  std::string_view names{};
  std::size_t step = 0;

  [[nodiscard]] unsigned octet() const {
    return step < steps.size() ? static_cast<unsigned char>(steps[step]) : 0U;
  }
  bool answer(ifreq& request) const {
    auto* const at = request.ifr_data;
    std::uint32_t command = 0;
    std::memcpy(&command, at, sizeof command);
    auto count = static_cast<std::uint32_t>(names.size() / ETH_GSTRING_LEN);
    if (octet() % 8 == 7) return false;
    if (command == ETHTOOL_GSSET_INFO) {
      if (octet() % 8 == 6) count = ~std::uint32_t{};
      std::memcpy(at + sizeof(ethtool_sset_info), &count, sizeof count);
    } else if (command == ETHTOOL_GSTRINGS) {
      ethtool_gstrings head{};
      head.len = octet() % 8 == 5 ? ~std::uint32_t{} : count;
      std::memcpy(at, &head, sizeof head);
      std::copy_n(names.data(), std::size_t{count} * ETH_GSTRING_LEN, at + sizeof head);
    } else {
      ethtool_stats head{};
      head.n_stats = octet() % 8 == 4 ? count + 1 : count;
      std::memcpy(at, &head, sizeof head);
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t value = octet() * (i + 1);
        std::memcpy(at + sizeof head + i * sizeof value, &value, sizeof value);
      }
    }
    return true;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t steps = std::min(size, kSteps);
  Driver driver{.steps = text.substr(0, steps), .names = text.substr(steps)};
  driver.names = driver.names.substr(0, std::size_t{kMostStrings} * ETH_GSTRING_LEN);
  PriorityCounters counters([&](ifreq& request) { return driver.answer(request); });
  for (; driver.step < steps; ++driver.step) {
    const auto* counts = counters.read("eth0", 1 + driver.octet() / 128, driver.octet() / 64 % 2);
    if (counts != nullptr && *counts == PriorityCounts{}) std::abort();  // nothing is told as such
  }
  counters.forget_unread();
  return 0;
}
