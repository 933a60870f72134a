// SPDX-License-Identifier: Apache-2.0
#include "os/netlink.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <span>

#include "os/fd.hpp"

namespace lldp::netlink {
namespace {

/// What becomes of a dump that the kernel ends with this number, after one answer. `room`: octets
/// that are read of it.
std::pair<int, std::optional<Refusal>> dump_that_ends_with(int code, std::size_t room = 256) {
  struct Part {
    nlmsghdr answer;
    nlmsghdr end;
    int code;
  };
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
  const UniqueFd ours(ends[0]);
  const UniqueFd kernels(ends[1]);
  const Part part{
      {.nlmsg_len = sizeof(nlmsghdr), .nlmsg_type = NLMSG_MIN_TYPE, .nlmsg_seq = 7},
      {.nlmsg_len = sizeof(nlmsghdr) + sizeof(int), .nlmsg_type = NLMSG_DONE, .nlmsg_seq = 7},
      code};
  EXPECT_EQ(::send(kernels.get(), &part, sizeof part, 0), static_cast<ssize_t>(sizeof part));
  nlmsghdr request{.nlmsg_len = sizeof(nlmsghdr)};
  std::array<char, 256> buffer{};
  int answers = 0;
  auto refusal =
      ask(ours.get(), &request, 7, std::span(buffer).first(room), [&](nlmsghdr*) { ++answers; });
  return {answers, std::move(refusal)};
}

TEST(Netlink, ADumpThatTheKernelEndsEarlyIsRefused) {
  const auto [answers, refusal] = dump_that_ends_with(-EMSGSIZE);
  EXPECT_EQ(answers, 1);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->code, EMSGSIZE);
  EXPECT_FALSE(dump_that_ends_with(0).second);
}

// What is cut off would be taken for nothing there.
TEST(Netlink, AnAnswerThatTheBufferCutsOffIsRefused) {
  const auto [answers, refusal] = dump_that_ends_with(0, sizeof(nlmsghdr) + sizeof(int));
  EXPECT_EQ(answers, 0);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->code, EMSGSIZE);
}

}  // namespace
}  // namespace lldp::netlink
