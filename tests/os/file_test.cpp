// SPDX-License-Identifier: Apache-2.0
#include "os/file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>

#include "base/text.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp {
namespace {

std::string write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(ReadFile, GivesEveryOctet) {
  const TempDir dir;
  std::string text(100'000, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 31);
  EXPECT_EQ(read_file(write(dir / "all", text)), text);
  EXPECT_EQ(read_file(write(dir / "empty", "")), "");
}

TEST(ReadFile, RefusesWhatIsLongerThanItMayBe) {
  const TempDir dir;
  const std::string path = write(dir / "long", std::string(50'000, 'x'));
  EXPECT_TRUE(read_file(path, 50'000));
  const auto refused = read_file(path, 49'999);
  ASSERT_FALSE(refused);
  EXPECT_EQ(to_string(refused.error()), path + ": cannot be read: File too large");
}

TEST(ReadFile, SaysWhatKeptItFromReading) {
  const TempDir dir;
  EXPECT_EQ(read_file(dir / "none").error().code, ENOENT);
  EXPECT_EQ(read_file(dir.path()).error().code, EISDIR);
}

}  // namespace
}  // namespace lldp
