// SPDX-License-Identifier: Apache-2.0
// What a driver is asked by ethtool, and what is made of its answers.
#include "agent/cli/doctor_probe.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace lldp::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

/// A driver that answers as the kernel has it: octet for octet, and nothing to another question.
struct Driver {
  std::string name = "ice";
  std::vector<std::pair<std::string, bool>> flags{};
  std::vector<std::pair<std::string, std::uint64_t>> counters{};
  bool rx_pause = false;
  bool tx_pause = false;
  std::set<std::uint32_t> refuses{};            ///< commands
  std::optional<std::uint32_t> strings_more{};  ///< it says that there are so many

  int answer(const ifreq& request) const {
    if (std::string(request.ifr_name) != "lo") return ENODEV;
    std::uint32_t command = 0;
    std::memcpy(&command, request.ifr_data, sizeof command);
    if (refuses.contains(command)) return EOPNOTSUPP;
    switch (command) {
      case ETHTOOL_GDRVINFO: {
        auto& info = as<ethtool_drvinfo>(request);
        std::strncpy(info.driver, name.c_str(), sizeof info.driver);
        return 0;
      }
      case ETHTOOL_GPAUSEPARAM: {
        auto& pause = as<ethtool_pauseparam>(request);
        pause.rx_pause = rx_pause ? 1 : 0;
        pause.tx_pause = tx_pause ? 1 : 0;
        return 0;
      }
      case ETHTOOL_GSSET_INFO: {
        auto& info = as<ethtool_sset_info>(request);
        const auto* names = set_of(info.sset_mask);
        info.sset_mask = names == nullptr || names->empty() ? 0 : info.sset_mask;
        const auto count = names == nullptr
                               ? 0U
                               : strings_more.value_or(static_cast<std::uint32_t>(names->size()));
        std::memcpy(request.ifr_data + sizeof info, &count, sizeof count);
        return 0;
      }
      case ETHTOOL_GSTRINGS: {
        auto& head = as<ethtool_gstrings>(request);
        const auto* names = set_of(std::uint64_t{1} << head.string_set);
        if (names == nullptr || head.len != names->size()) return EINVAL;
        for (std::size_t i = 0; i < names->size(); ++i)
          std::strncpy(request.ifr_data + sizeof head + i * ETH_GSTRING_LEN, (*names)[i].c_str(),
                       ETH_GSTRING_LEN);
        return 0;
      }
      case ETHTOOL_GPFLAGS: {
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < std::min<std::size_t>(flags.size(), 32); ++i)
          bits |= flags[i].second ? 1U << i : 0;
        as<ethtool_value>(request).data = bits;
        return 0;
      }
      case ETHTOOL_GSTATS: {
        auto& head = as<ethtool_stats>(request);
        if (head.n_stats != counters.size()) return EINVAL;
        for (std::size_t i = 0; i < counters.size(); ++i)
          std::memcpy(request.ifr_data + sizeof head + i * 8, &counters[i].second, 8);
        return 0;
      }
      default:
        return EOPNOTSUPP;
    }
  }

 private:
  template <class T>
  static T& as(const ifreq& request) {
    return *reinterpret_cast<T*>(request.ifr_data);
  }
  const std::vector<std::string>* set_of(std::uint64_t mask) const {
    static std::vector<std::string> names;
    names.clear();
    if (mask == std::uint64_t{1} << ETH_SS_PRIV_FLAGS)
      for (const auto& [flag, on] : flags) names.push_back(flag);
    else if (mask == std::uint64_t{1} << ETH_SS_STATS)
      for (const auto& [counter, value] : counters) names.push_back(counter);
    else
      return nullptr;
    return &names;
  }
};

const Driver* driver = nullptr;

class DoctorProbe : public testing::Test {
 protected:
  DoctorProbe() { driver = &driver_; }
  ~DoctorProbe() override { driver = nullptr; }
  static LocalPort look() {
    auto probe = Probe::open();
    EXPECT_TRUE(probe) << to_string(probe.error());
    return probe ? probe->look_at("lo", ::if_nametoindex("lo")) : LocalPort{};
  }
  Driver driver_;
};

TEST_F(DoctorProbe, TellsWhatTheDriverSays) {
  driver_.flags = {{"link-down-on-close", false}, {"fw-lldp-agent", true}};
  driver_.counters = {{"rx_bytes", 9},
                      {"tx_priority_6_xoff.nic", 7},
                      {"rx_priority_5_xoff.nic", 3},
                      {"rx_priority_5_xoff.q1", 4},
                      {"rx_prio5_pause_duration", 9000},
                      {"tx_prio6_packets", 21}};
  driver_.rx_pause = true;
  const LocalPort port = look();
  EXPECT_TRUE(port.here);
  EXPECT_EQ(port.driver, "ice");
  EXPECT_EQ(port.mtu, 65536U);
  ASSERT_TRUE(port.pause);
  EXPECT_TRUE(port.pause->rx);
  EXPECT_FALSE(port.pause->tx);
  EXPECT_THAT(port.private_flags,
              ElementsAre(Pair("fw-lldp-agent", true), Pair("link-down-on-close", false)));
  EXPECT_EQ(port.carried.pauses.received[5], 7U);
  EXPECT_EQ(port.carried.pauses.sent[6], 7U);
  EXPECT_EQ(port.carried.pauses.sent[5], std::nullopt);
  EXPECT_EQ(port.carried.pauses.received[6], std::nullopt);
  EXPECT_EQ(port.carried.frames.sent[6], 21U);
  EXPECT_EQ(port.carried.paused_microseconds.received[5], 9000U);
  EXPECT_EQ(port.carried.frames.received[6], std::nullopt) << "that is not counted";
  driver_.rx_pause = false;
  driver_.tx_pause = true;
  EXPECT_FALSE(look().pause->rx);
  EXPECT_TRUE(look().pause->tx);
}

TEST_F(DoctorProbe, LeavesOutWhatIsNotSaid) {
  driver_.flags = {{"fw-lldp-agent", true}};
  driver_.counters = {{"rx_priority_5_xoff", 3}};
  for (const unsigned command : {unsigned{ETHTOOL_GSSET_INFO}, unsigned{ETHTOOL_GSTRINGS}}) {
    driver_.refuses = {command};
    EXPECT_THAT(look().private_flags, IsEmpty());
    EXPECT_FALSE(look().carried.pauses.told());
  }
  driver_.refuses = {ETHTOOL_GDRVINFO, ETHTOOL_GPAUSEPARAM, ETHTOOL_GPFLAGS, ETHTOOL_GSTATS};
  const LocalPort port = look();
  EXPECT_TRUE(port.here);
  EXPECT_EQ(port.driver, "");
  EXPECT_FALSE(port.pause);
  EXPECT_THAT(port.private_flags, IsEmpty());
  EXPECT_FALSE(port.carried.pauses.told()) << "zeros would be an answer";
  driver_ = {};
  driver_.counters = {{"rx_bytes", 9}};
  EXPECT_FALSE(look().carried.pauses.told()) << "none of them counts pauses";
  EXPECT_FALSE(look().carried.frames.told()) << "nor a priority's frames";
}

TEST_F(DoctorProbe, NamesMayFillTheirRoomAndFlagsTheirWord) {
  const std::string longest(ETH_GSTRING_LEN, 'x');
  driver_.name.assign(32, 'd');
  for (int i = 0; i < 33; ++i) driver_.flags.emplace_back("flag" + std::to_string(i), i == 31);
  driver_.flags[0].first = longest;
  const LocalPort port = look();
  EXPECT_EQ(port.driver, std::string(32, 'd'));
  EXPECT_EQ(port.private_flags.size(), 32U);
  EXPECT_TRUE(port.private_flags.contains(longest));
  EXPECT_TRUE(port.private_flags.at("flag31"));
}

TEST_F(DoctorProbe, NumbersBeyondAllReasonAreNone) {
  driver_.flags = {{"fw-lldp-agent", true}};
  driver_.counters = {{"rx_priority_5_xoff", 3}};
  driver_.strings_more = 0xffff'ffff;
  EXPECT_THAT(look().private_flags, IsEmpty());
  EXPECT_FALSE(look().carried.pauses.told());
}

TEST_F(DoctorProbe, OfAnotherNamespacesPortNothingIsAsked) {
  auto probe = Probe::open();
  ASSERT_TRUE(probe);
  EXPECT_FALSE(probe->look_at("lo", ::if_nametoindex("lo") + 1).here);
  EXPECT_FALSE(probe->look_at("nosuch", 7).here);
}

}  // namespace

/// Errno, or nothing where there is no driver to answer.
std::optional<int> answer_of_driver(const ifreq& request) {
  return driver == nullptr ? std::nullopt : std::optional(driver->answer(request));
}

}  // namespace lldp::cli

/// In the place of libc's.
extern "C" int ioctl(int fd, unsigned long number, ...) noexcept {
  using Real = int (*)(int, unsigned long, ...);
  static const auto real = reinterpret_cast<Real>(::dlsym(RTLD_NEXT, "ioctl"));
  va_list rest;
  va_start(rest, number);
  void* what = va_arg(rest, void*);
  va_end(rest);
  if (number == SIOCETHTOOL)
    if (const auto code = lldp::cli::answer_of_driver(*static_cast<const ifreq*>(what))) {
      errno = *code;
      return *code == 0 ? 0 : -1;
    }
  return real(fd, number, what);
}
