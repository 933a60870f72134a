// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/places.hpp"

namespace lldp::support {

/// Holds `text` against the file of that name below tests/. LLDP_REWRITE_GOLDEN=1 writes the file
/// instead; the difference is read in review.
inline void expect_golden(const std::string& text, const std::string& name) {
  const std::string path = source_dir() + "/tests/" + name;
  if (std::getenv("LLDP_REWRITE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream in(path, std::ios::binary);
  const std::string wanted{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(text, wanted) << "LLDP_REWRITE_GOLDEN=1 rewrites " << name;
}

}  // namespace lldp::support
