// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "os/fd.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::lab {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t entries(const std::string& path) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), {}));
}

TEST(SaveText, ReplacesAFileAndKeepsItsMode) {
  const TempDir dir;
  std::ofstream(dir / "f") << "before, and longer";
  ASSERT_EQ(chmod((dir / "f").c_str(), 0640), 0);
  std::ofstream(dir / "f.new") << "another's";
  ASSERT_TRUE(save_text(dir / "f", "after"));
  EXPECT_EQ(text_of(dir / "f"), "after");
  EXPECT_EQ(fs::status(dir / "f").permissions(), fs::perms(0640));
  EXPECT_EQ(text_of(dir / "f.new"), "another's");
  EXPECT_EQ(entries(dir.path()), 2U);
}

TEST(SaveText, FollowsSymbolicLinks) {
  const TempDir dir;
  fs::create_directory(dir / "below");
  std::ofstream(dir / "below/f") << "before";
  fs::create_symlink("below/f", dir / "to-file");
  fs::create_symlink("to-file", dir / "to-link");
  fs::create_symlink("below/new", dir / "to-nothing");
  fs::create_symlink("round", dir / "round");
  ASSERT_TRUE(save_text(dir / "to-link", "after"));
  ASSERT_TRUE(save_text(dir / "to-nothing", "new"));
  EXPECT_TRUE(fs::is_symlink(dir / "to-file"));
  EXPECT_TRUE(fs::is_symlink(dir / "to-link"));
  EXPECT_TRUE(fs::is_symlink(dir / "to-nothing"));
  EXPECT_EQ(text_of(dir / "below/f"), "after");
  EXPECT_EQ(text_of(dir / "below/new"), "new");
  const auto round = save_text(dir / "round", "x");
  ASSERT_FALSE(round);
  EXPECT_EQ(to_string(round.error()), dir / "round" + ": Too many levels of symbolic links");
}

TEST(SaveText, WritesToWhatIsNoFileAsItIs) {
  const TempDir dir;
  ASSERT_EQ(mkfifo((dir / "pipe").c_str(), 0600), 0);
  const UniqueFd reader(open((dir / "pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(save_text(dir / "pipe", "text"));
  std::array<char, 16> buffer{};
  EXPECT_EQ(read(reader.get(), buffer.data(), buffer.size()), 4);
  EXPECT_TRUE(fs::is_fifo(dir / "pipe"));
  if (mknod((dir / "full").c_str(), S_IFCHR | 0600, makedev(1, 7)) != 0)
    GTEST_SKIP() << "device nodes need root";
  const auto full = save_text(dir / "full", "text");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ENOSPC);
  EXPECT_TRUE(fs::is_character_file(dir / "full"));
  EXPECT_EQ(entries(dir.path()), 2U);
}

TEST(SaveText, LeavesNothingBehindWhereItFails) {
  const TempDir dir;
  fs::create_directory(dir / "d");
  EXPECT_EQ(to_string(save_text(dir / "d", "x").error()), dir / "d" + ": Is a directory");
  EXPECT_EQ(to_string(save_text(dir / "none/f", "x").error()),
            dir / "none/f" + ": No such file or directory");
  EXPECT_EQ(entries(dir.path()), 1U);
}

TEST(LoadFabric, SaysWhatIsTooLarge) {
  const TempDir dir;
  const std::string file = dir / "f.dot";
  std::ofstream(file) << "graph {";
  fs::resize_file(file, 90'000'001);
  EXPECT_EQ(to_string(load_fabric(file).error()),
            file + ": is larger than 90 MB: give a part of the fabric, as a few pods");
}

TEST(CanSave, SaysBeforehandWhatSaveTextWouldAndLeavesNothing) {
  const TempDir dir;
  fs::create_directory(dir / "d");
  for (const char* path : {"-", "", "/dev/null"}) EXPECT_TRUE(can_save(path)) << path;
  EXPECT_TRUE(can_save(dir / "f"));
  EXPECT_EQ(to_string(can_save(dir / "d").error()), dir / "d" + ": Is a directory");
  EXPECT_EQ(to_string(can_save(dir / "none/f").error()),
            dir / "none/f" + ": No such file or directory");
  EXPECT_EQ(entries(dir.path()), 1U);
}

}  // namespace
}  // namespace lldp::lab
