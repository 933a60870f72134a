// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/netns/support.hpp"
#include "tests/support/places.hpp"

namespace lldp::netns {

/// What `lldp-level-lab bounce` ended with and told.
struct Played {
  int status = -1;
  nlohmann::json report{};
  std::string text{};
};
inline Played bounce(std::vector<std::string> arguments) {
  const TemporaryDirectory files;
  arguments.insert(arguments.begin(), {support::program("lldp-level-lab"), "bounce"});
  arguments.insert(arguments.end(), {"--json", "--dir", files.file("lab")});
  Process process(arguments, files.file("output"));
  Played run{.status = process.wait(std::chrono::seconds(60))};
  run.text = process.output();
  run.report = nlohmann::json::parse(run.text, nullptr, false);
  return run;
}

class Bounce : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = missing_privilege(); !why.empty()) GTEST_SKIP() << why;
  }
};

}  // namespace lldp::netns
