// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "dataplane/factory.hpp"
#include "tests/dataplane/chip.hpp"
#include "tests/dataplane/sonic_box.hpp"

namespace lldp::dataplane {

inline PortRef sonic_port(int i) {
  return {*Ifindex::make(7U + static_cast<unsigned>(i)), Box::name_of(i)};
}

/// A back end on a SONiC's databases, where the test is its orchagent.
class SonicTest : public ChipTest {
 protected:
  void SetUp() override {
    if (!box_.runs()) GTEST_SKIP() << "there is no redis-server here";
    backend_ = open();
    ASSERT_TRUE(backend_);
  }
  PortRef port(int i) const override { return sonic_port(i); }
  std::unique_ptr<Backend> open() {
    auto backend = make_backend("sonic", {.sonic = box_.options()});
    EXPECT_TRUE(backend) << to_string(backend.error());
    return backend ? std::move(*backend) : nullptr;
  }

  Box box_;
};

}  // namespace lldp::dataplane
