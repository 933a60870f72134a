// SPDX-License-Identifier: Apache-2.0
#include "os/file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

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

TEST(ReadFile, ReadsADeviceAndAPipe) {
  EXPECT_EQ(read_file("/dev/null"), "");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "text", 4), 4);
  ::close(ends[1]);
  EXPECT_EQ(read_file("/dev/fd/" + std::to_string(ends[0])), "text");
  ::close(ends[0]);
}

// A FIFO in a file's place held the daemon up until somebody wrote to it.
TEST(ReadLastingFile, WaitsForNoPipeAndReadsNone) {
  const TempDir dir;
  const std::string fifo = dir / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "text", 4), 4);
  for (const std::string& path : {fifo, "/dev/fd/" + std::to_string(ends[0]), std::string("-")}) {
    const auto text = read_lasting_file(path);
    ASSERT_FALSE(text) << path;
    EXPECT_EQ(to_string(text.error()),
              path + ": is a pipe, which gives what it has once: name a file");
  }
  for (const int end : ends) ::close(end);
  EXPECT_EQ(read_lasting_file(write(dir / "file", "text")), "text");
  EXPECT_EQ(read_lasting_file("/dev/null"), "");
  EXPECT_EQ(read_lasting_file(dir / "none").error().code, ENOENT);
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

TEST(ReplaceFile, PutsAFileOfItsOwnersInThePlaceOfTheOther) {
  const TempDir dir;
  const std::string path = write(dir / "file", "before");
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  const std::string fresh = path + ".new";
  write(fresh, std::string(1000, 'x'));  // of a daemon that died
  for (const std::string& text : {std::string("after"), std::string(1 << 20, 'y')}) {
    ASSERT_TRUE(replace_file(path, text));
    EXPECT_EQ(read_file(path), text);
  }
  struct stat is {};
  ASSERT_EQ(::stat(path.c_str(), &is), 0);
  EXPECT_EQ(is.st_mode & 07777, 0600U);
  EXPECT_NE(::access(fresh.c_str(), F_OK), 0);
}

TEST(ReplaceFile, WithoutTextTakesItAway) {
  const TempDir dir;
  const std::string path = write(dir / "file", "before");
  EXPECT_TRUE(replace_file(path, ""));
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
  EXPECT_TRUE(replace_file(path, ""));
}

TEST(ReplaceFile, SaysWhyItCannotAndLeavesWhatIsThere) {
  const TempDir dir;
  const auto why = [](const Result<void>& done) { return done ? "" : to_string(done.error()); };
  EXPECT_EQ(why(replace_file(dir / "none/file", "x")),
            (dir / "none/file") + ": cannot be written: No such file or directory");
  EXPECT_EQ(replace_file(dir / "none/file", "x").error().code, ENOENT);
  ASSERT_EQ(::mkdir((dir / "directory").c_str(), 0755), 0);
  EXPECT_EQ(why(replace_file(dir / "directory", "x")),
            (dir / "directory") + ": cannot be written: Is a directory");
  EXPECT_EQ(why(replace_file(dir / "directory", "")),
            (dir / "directory") + ": cannot be written: Is a directory");
  const std::string path = write(dir / "file", "before");
  ASSERT_EQ(::symlink("/dev/full", (path + ".new").c_str()), 0);
  EXPECT_EQ(why(replace_file(path, "after")),
            path + ": cannot be written: No space left on device");
  EXPECT_EQ(read_file(path), "before");
}

}  // namespace
}  // namespace lldp
