// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <net/if.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "dataplane/backend.hpp"
#include "tests/dataplane/private_net.hpp"

namespace lldp::dataplane {

/// The switch chip of tests/vm/module, fresh for every test, in this network namespace: ports swp0,
/// swp1, ... and the other ends of their cables, wire0, wire1, ...
class TestSwitch {
 public:
  /// Empty, or why it cannot be had.
  static std::string load(const std::string& parameters = "") {
    const char* module = std::getenv("LLDP_TEST_SWITCH");
    if (module == nullptr) return "needs the switch of tests/vm: ./run test-vm";
    // Ports of the kernel's own, if a test left any with rules, are none of this chip's.
    sh("ip link del p0 2>/dev/null; ip link del p1 2>/dev/null; rmmod lldp_test_switch "
       "2>/dev/null");
    if (!sh("insmod " + std::string(module) + " " + parameters)) return "needs what insmod says";
    return {};
  }
  static PortRef port(int n) {
    const std::string name = "swp" + std::to_string(n);
    return {Ifindex::make(::if_nametoindex(name.c_str())).value_or(Ifindex()), name};
  }
  static void set(const std::string& parameter, const std::string& value) {
    std::ofstream("/sys/module/lldp_test_switch/parameters/" + parameter) << value;
  }
  static unsigned get(const std::string& parameter) {
    unsigned value = 0;
    std::ifstream("/sys/module/lldp_test_switch/parameters/" + parameter) >> value;
    return value;
  }
};

}  // namespace lldp::dataplane
