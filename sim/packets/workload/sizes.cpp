// SPDX-License-Identifier: Apache-2.0
#include "sim/packets/workload/sizes.hpp"

#include <algorithm>

namespace lldp::lab::packets {
namespace {

constexpr SizePoint kWebSearch[] = {{0, 0},
                                    {10'000, 1500},
                                    {20'000, 2000},
                                    {30'000, 3000},
                                    {50'000, 4000},
                                    {80'000, 5300},
                                    {200'000, 6000},
                                    {1'000'000, 7000},
                                    {2'000'000, 8000},
                                    {5'000'000, 9000},
                                    {10'000'000, 9700},
                                    {30'000'000, 10'000}};
constexpr SizePoint kHadoop[] = {
    {0, 0},          {100, 100},      {200, 200},        {300, 500},        {350, 1500},
    {400, 2000},     {500, 3000},     {600, 4000},       {700, 5000},       {1000, 6000},
    {2000, 6700},    {7000, 7000},    {30'000, 7200},    {50'000, 8200},    {80'000, 8700},
    {120'000, 9000}, {300'000, 9500}, {1'000'000, 9750}, {2'000'000, 9900}, {10'000'000, 10'000}};
constexpr SizePoint kStorage[] = {{0, 0},          {4000, 2293},    {8000, 6921},
                                  {16'000, 8061},  {32'000, 9047},  {64'000, 9353},
                                  {128'000, 9677}, {256'000, 9753}, {2'000'000, 10'000}};

}  // namespace

std::span<const SizePoint> sizes_named(std::string_view name) {
  if (name == "websearch") return kWebSearch;
  if (name == "hadoop") return kHadoop;
  if (name == "storage") return kStorage;
  return {};
}

std::uint64_t mean_of(std::span<const SizePoint> sizes) {
  std::uint64_t twice = 0;
  for (std::size_t i = 1; i < sizes.size(); ++i)
    twice += (sizes[i].octets + sizes[i - 1].octets) * (sizes[i].of_10000 - sizes[i - 1].of_10000);
  return twice / 20'000;
}

std::uint64_t draw(std::span<const SizePoint> sizes, Random& random) {
  constexpr std::uint64_t kFine = 10'000;
  const std::uint64_t p = random.below(10'000 * kFine);
  std::size_t i = 1;
  while (i + 1 < sizes.size() && sizes[i].of_10000 * kFine <= p) ++i;
  const std::uint64_t from = sizes[i - 1].of_10000 * kFine;
  const std::uint64_t width = sizes[i].of_10000 * kFine - from;
  const std::uint64_t more = (sizes[i].octets - sizes[i - 1].octets) * (p - from) / width;
  return std::max<std::uint64_t>(1, sizes[i - 1].octets + more);
}

std::uint64_t draw_exponential(std::uint64_t mean, Random& random) {
  for (std::uint64_t whole = 0;; ++whole) {
    const auto first = static_cast<std::uint32_t>(random.next() >> 32);
    std::uint32_t before = first;
    bool odd = true;
    for (;;) {
      const auto next = static_cast<std::uint32_t>(random.next() >> 32);
      if (next >= before) break;
      before = next;
      odd = !odd;
    }
    if (odd)
      return static_cast<std::uint64_t>(
          static_cast<unsigned __int128>(mean) * ((whole << 32) + first) >> 32);
  }
}

}  // namespace lldp::lab::packets
