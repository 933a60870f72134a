// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "tests/netns/support.hpp"

namespace lldp::netns {

/// Two namespaces, for a daemon in each.
class DaemonTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
    a_.emplace();
    b_.emplace();
  }
  static testing::AssertionResult knows(const Agent& agent, std::string_view port, std::size_t n) {
    if (eventually([&] { return agent.neighbors(port) == n; })) return testing::AssertionSuccess();
    return testing::AssertionFailure() << agent.show().dump(1);
  }

  /// In what its next start would go by: the newest there is. The disk may just be at what was
  /// written before that.
  static bool stores(const Agent& agent, std::string_view text) {
    for (const char* suffix : {".new", ".sync", ""}) {
      std::ifstream in(agent.state_file() + suffix);
      if (!in) continue;
      const std::string all{std::istreambuf_iterator<char>(in), {}};
      return all.find(text) != all.npos;
    }
    return false;
  }

  std::optional<Namespace> a_;
  std::optional<Namespace> b_;
};

}  // namespace lldp::netns
