// SPDX-License-Identifier: Apache-2.0
#include "agent/process/journal.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <string>

#include "tests/support/temp_dir.hpp"
#include "tests/support/unix_socket.hpp"

namespace lldp::io {
namespace {

using namespace std::string_literals;

/// The journal's end.
class JournalSocket : public testing::Test {
 protected:
  void SetUp() override {
    socket = socket_at(path, SOCK_DGRAM);
    stream = UniqueFd(::open((dir / "stream").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    struct stat is {};
    ASSERT_EQ(::fstat(stream.get(), &is), 0);
    name = std::to_string(is.st_dev) + ":" + std::to_string(is.st_ino);
  }
  [[nodiscard]] std::string take() const {
    char buffer[65536];
    const ssize_t n = ::recv(socket.get(), buffer, sizeof buffer, 0);
    return n < 0 ? "(nothing)" : std::string(buffer, static_cast<std::size_t>(n));
  }
  TempDir dir;
  std::string path = dir / "socket";
  UniqueFd socket{};
  UniqueFd stream{};
  std::string name{};  ///< of the stream, as JOURNAL_STREAM has it
};

TEST_F(JournalSocket, TakesALineWithItsFields) {
  const auto journal = Journal::open(path);
  ASSERT_TRUE(journal);
  const Field fields[] = {{"LLDP_LEVEL_PORT", "swp1"}, {"LLDP_LEVEL_ALARM", ""}};
  EXPECT_TRUE(journal->send(5, "swp1: level = 3", fields));
  EXPECT_EQ(take(),
            "MESSAGE=swp1: level = 3\nPRIORITY=5\nSYSLOG_IDENTIFIER=lldp-leveld\n"
            "LLDP_LEVEL_PORT=swp1\n");
}

TEST_F(JournalSocket, AValueWithALineBreakMakesNoField) {
  const Field fields[] = {{"A", "x\nPRIORITY=0"}};
  EXPECT_EQ(journal_entry(6, "m", fields),
            "MESSAGE=m\nPRIORITY=6\nSYSLOG_IDENTIFIER=lldp-leveld\nA\n\x0c\0\0\0\0\0\0\0"
            "x\nPRIORITY=0\n"s);
  const std::string longer = std::string(0x0102 - 1, 'x') + "\n";
  EXPECT_THAT(journal_entry(6, "m", std::array{Field{"A", longer}}),
              testing::HasSubstr("\nA\n\x02\x01\0\0\0\0\0\0x"s));
}

TEST_F(JournalSocket, IsThereOrNot) {
  EXPECT_FALSE(Journal::open(dir / "no-socket"));
  EXPECT_FALSE(Journal::open(std::string(300, 'x')));
}

TEST_F(JournalSocket, StreamIsTheOneThatIsNamedAndNoOther) {
  EXPECT_TRUE(is_journal_stream(stream.get(), name.c_str()));
  EXPECT_FALSE(is_journal_stream(stream.get(), nullptr));
  EXPECT_FALSE(is_journal_stream(stream.get(), ""));
  EXPECT_FALSE(is_journal_stream(stream.get(), "8:1"));
  EXPECT_FALSE(is_journal_stream(stream.get(), (name + "1").c_str()));
  EXPECT_FALSE(is_journal_stream(-1, name.c_str()));
}

TEST_F(JournalSocket, NeverWaitsForAJournalThatDoesNotRead) {
  const auto journal = Journal::open(path);
  ASSERT_TRUE(journal);
  int taken = 0;
  while (taken < 100'000 && journal->send(6, "line", {})) ++taken;
  EXPECT_LT(taken, 100'000);
  EXPECT_FALSE(journal->send(6, "line", {}));
  (void)take();
  EXPECT_TRUE(journal->send(6, "line", {}));
  EXPECT_FALSE(journal->send(6, std::string(64U << 20U, 'x'), {})) << "longer than a datagram";
}

TEST_F(JournalSocket, ThatIsGoneIsAFailure) {
  const auto journal = Journal::open(path);
  ASSERT_TRUE(journal);
  socket = UniqueFd();
  EXPECT_FALSE(journal->send(6, "line", {}));
}

}  // namespace
}  // namespace lldp::io
