// SPDX-License-Identifier: Apache-2.0
#include "os/file_sync.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "os/fd.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp {
namespace {

bool readable(const FileSync& sync, int milliseconds) {
  pollfd asked{.fd = sync.fd(), .events = POLLIN, .revents = 0};
  return ::poll(&asked, 1, milliseconds) == 1;
}

UniqueFd written(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  EXPECT_EQ(::write(file.get(), "x", 1), 1);
  return file;
}

TEST(FileSync, TellsByItsDescriptorThatTheDiskHasIt) {
  const TempDir dir;
  const auto sync = make_file_sync();
  ASSERT_GE(sync->fd(), 0);
  EXPECT_EQ(sync->take(), std::nullopt);
  EXPECT_FALSE(readable(*sync, 0));
  for (int i = 0; i < 3; ++i) {
    sync->start(written(dir / "file").get());  // closed at once: it is not needed any more
    ASSERT_TRUE(readable(*sync, 10'000));
    EXPECT_EQ(sync->take(), 0);
    EXPECT_FALSE(readable(*sync, 0)) << "taken";
    EXPECT_EQ(sync->take(), std::nullopt) << "once";
  }
}

TEST(FileSync, TakesADirectory) {
  const TempDir dir;
  const auto sync = make_file_sync();
  const UniqueFd directory(::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  sync->start(directory.get());
  EXPECT_EQ(sync->wait(), 0);
  EXPECT_EQ(sync->take(), std::nullopt);
}

TEST(FileSync, WhatTheKernelDoesNotDoForUsIsDoneAtOnce) {
  const auto sync = make_file_sync();
  sync->start(-1);
  EXPECT_EQ(sync->take(), EBADF);
  EXPECT_EQ(sync->take(), std::nullopt);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd from(ends[0]);
  const UniqueFd to(ends[1]);
  sync->start(to.get());
  EXPECT_EQ(sync->wait(), EINVAL) << "no disk is behind a pipe";
  EXPECT_EQ(sync->take(), std::nullopt);
}

TEST(FileSync, MayGoWhileTheDiskIsBusy) {
  const TempDir dir;
  const UniqueFd file = written(dir / "file");
  const auto sync = make_file_sync();
  sync->start(file.get());
}

}  // namespace
}  // namespace lldp
