// SPDX-License-Identifier: Apache-2.0
#include "agent/links/rail.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_dir.hpp"

namespace lldp::io {
namespace {

struct BoardId : testing::Test {
  void device(const std::string& name, const std::string& board_id) const {
    const std::string path = dir / "eth0/device/infiniband/" + name;
    std::filesystem::create_directories(path);
    std::ofstream(path + "/board_id") << board_id;
  }
  [[nodiscard]] std::string read() const { return board_id_of("eth0", dir.path()); }
  TempDir dir;
};

TEST_F(BoardId, OfANicIsThatOfItsRdmaDevice) {
  device("mlx5_0", "MT_0000000838\n");
  EXPECT_EQ(read(), "MT_0000000838");
}
TEST_F(BoardId, OfSeveralDevicesIsThatOfTheFirst) {
  device("mlx5_1", "B\n");
  device("mlx5_0", "A\n");
  EXPECT_EQ(read(), "A");
}
TEST_F(BoardId, OfOtherInterfacesIsEmpty) {
  EXPECT_EQ(read(), "");
  std::filesystem::create_directories(dir / "eth0/device/infiniband");
  EXPECT_EQ(read(), "");
  std::filesystem::create_directories(dir / "eth0/device/infiniband/mlx5_0");
  EXPECT_EQ(read(), "");
  device("mlx5_0", "");
  EXPECT_EQ(read(), "");
}
TEST_F(BoardId, ThatIsTooLongIsCut) {
  device("mlx5_0", std::string(1000, 'x'));
  EXPECT_EQ(read().size(), 64U);
}

}  // namespace
}  // namespace lldp::io
