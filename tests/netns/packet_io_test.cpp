// SPDX-License-Identifier: Apache-2.0
#include "agent/wire/packet_io.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "tests/netns/packet_io_fixture.hpp"
#include "tests/netns/refusal.hpp"
#include "tests/netns/support.hpp"

namespace lldp::io {
namespace {

using netns::eventually;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const char* name_of(Hearing hearing) {
  switch (hearing) {
    case Hearing::kShared:
      return "Shared";
    case Hearing::kBound:
      return "Bound";
    case Hearing::kTap:
      return "Tap";
  }
  return "";
}

class EveryHearing : public PacketIoTest, public testing::WithParamInterface<Hearing> {};
TEST_P(EveryHearing, HearsAFrameOnceAndOnItsPort) {
  hear(GetParam());
  send(frame(1));
  send(frame(2));
  EXPECT_THAT(heard(), ElementsAre(std::pair(port_, frame(1)), std::pair(port_, frame(2))));
}
TEST_P(EveryHearing, TakesAPriorityTagForNoneAndIgnoresAVlan) {
  hear(GetParam());
  send(frame(1, {0x81, 0x00, 0xe0, 0x00}));  // priority 7, VID 0
  send(frame(2, {0x81, 0x00, 0xe0, 0x05}));  // VID 5
  const Heard all = heard();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].second[14], 1);
  EXPECT_EQ(near_->tagged(port_), 1U);
  send(frame(3, {0x81, 0x00, 0x00, 0x06}));
  EXPECT_THAT(heard(), IsEmpty());
  EXPECT_EQ(near_->tagged(port_), 2U);
}
TEST_P(EveryHearing, IgnoresOtherEtherTypesAndWhatItSendsItself) {
  hear(GetParam());
  send(frame(1, {}, {0x08, 0x00}));
  std::vector<PacketIo::SendFailure> failures;
  near_->send(std::array{core::Send{port_, frame(2)}}, failures);
  std::array<pollfd, 2> both{{{near_->shared_fd(), POLLIN, 0}, {near_->own_fd(), POLLIN, 0}}};
  EXPECT_EQ(::poll(both.data(), both.size(), 0), 0);  // nor is it woken for that
  EXPECT_THAT(heard(), IsEmpty());
}
TEST_P(EveryHearing, LeavesTheFramesOfAVlanToItsInterface) {
  const netns::TemporaryDirectory files;
  netns::Process add({"ip", "-n", here_->name(), "link", "add", "link", "p0", "name", "p0.5", "up",
                      "type", "vlan", "id", "5"},
                     files.file("log"));
  if (add.wait() != 0) GTEST_SKIP() << "no VLAN interfaces in this kernel: " << add.output();
  hear(GetParam());
  send(frame(1, {0x81, 0x00, 0xe0, 0x05}));
  send(frame(2));
  Heard on_port = heard();
  std::erase_if(on_port, [&](const auto& each) { return each.first != port_; });
  EXPECT_THAT(on_port, ElementsAre(std::pair(port_, frame(2))));
}
INSTANTIATE_TEST_SUITE_P(Sockets, EveryHearing,
                         testing::Values(Hearing::kShared, Hearing::kBound, Hearing::kTap),
                         [](const auto& c) { return name_of(c.param); });

TEST_F(PacketIoTest, ChangesHowAPortIsHeard) {
  for (const Hearing hearing :
       {Hearing::kShared, Hearing::kTap, Hearing::kBound, Hearing::kShared}) {
    hear(hearing);
    send(frame(1));
    EXPECT_THAT(heard(), ElementsAre(std::pair(port_, frame(1))));
  }
}

// Unfiltered it would take in all that the port receives.
TEST_F(PacketIoTest, HearsNoPortWhoseFilterTheKernelRefuses) {
  const Inside in(*here_);
  Result<void> added;
  std::thread([&] {  // the refusal ends with it
    ASSERT_TRUE(netns::refuse(
        {.call = SYS_setsockopt, .second = SOL_SOCKET, .third = std::uint32_t{SO_ATTACH_FILTER}}));
    added = near_->add({.ifindex = port_, .hearing = Hearing::kTap});
  })
      .join();
  ASSERT_FALSE(added);
  EXPECT_THAT(to_string(added.error()), HasSubstr("Input/output error"));
}

TEST_F(PacketIoTest, HearsAPortOfABridge) {
  here_->ip("link add br0 type bridge");
  here_->ip("link set p0 master br0");
  here_->ip("link set br0 up");
  hear(Hearing::kShared);
  send(frame(1));
  EXPECT_THAT(heard(), ElementsAre(std::pair(port_, frame(1))));
}

TEST_F(PacketIoTest, IsDeafOnAPortThatComesMeanwhileToo) {
  near_->set_deaf(true);
  hear(Hearing::kBound);
  const Inside in(*here_);
  PacketIo witness = PacketIo::open(kGroups).value();
  ASSERT_TRUE(witness.add({.ifindex = port_}));
  send(frame(1));
  std::size_t seen = 0;
  EXPECT_TRUE(eventually([&] {
    static_cast<void>(witness.receive_shared([&](Ifindex, ByteSpan) { ++seen; }));
    return seen == 1;
  }));
  near_->set_deaf(false);
  send(frame(2));
  EXPECT_THAT(heard(), ElementsAre(std::pair(port_, frame(2))));
}

TEST_F(PacketIoTest, IsInTheGroupsOfItsPortsAndNoOthers) {
  const auto groups = [&] { return here_->ip("maddr show dev p0"); };
  const char* const kBridge = "01:80:c2:00:00:0e";
  const char* const kCustomer = "01:80:c2:00:00:00";
  EXPECT_THAT(groups(), Not(HasSubstr(kBridge)));
  hear(Hearing::kShared);
  EXPECT_THAT(groups(), HasSubstr(kBridge));
  near_->set_groups(std::array<MacAddress, 1>{{{0x01, 0x80, 0xc2, 0, 0, 0}}});
  EXPECT_THAT(groups(), AllOf(HasSubstr(kCustomer), Not(HasSubstr(kBridge))));
  near_->remove(*Ifindex::make(9999));  // never one of them
  EXPECT_THAT(groups(), HasSubstr(kCustomer));
  near_->remove(port_);
  near_->remove(port_);
  EXPECT_THAT(groups(), Not(HasSubstr(kCustomer)));
}

TEST_F(PacketIoTest, SendsAheadOfData) {
  int priority = 0;
  socklen_t size = sizeof priority;
  ASSERT_EQ(::getsockopt(near_->shared_fd(), SOL_SOCKET, SO_PRIORITY, &priority, &size), 0);
  EXPECT_EQ(priority, 7);  // TC_PRIO_CONTROL
}

TEST_F(PacketIoTest, SendsTheOthersWhenOneInterfaceIsGone) {
  const Ifindex gone = *Ifindex::make(9999);
  std::vector<PacketIo::SendFailure> failures;
  const Bytes one = frame(1);
  far_->send(std::array{core::Send{gone, one}, core::Send{far_port_, one}, core::Send{gone, one}},
             failures);
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_EQ(failures[0].port, gone);
  EXPECT_EQ(failures[0].error, ENXIO);
  hear(Hearing::kShared);
  EXPECT_THAT(heard(), ElementsAre(std::pair(port_, one)));
}

TEST_F(PacketIoTest, ReportsAnInterfaceThatIsDown) {
  there_->ip("link set p0 down");
  std::vector<PacketIo::SendFailure> failures;
  far_->send(std::array{core::Send{far_port_, frame(1)}}, failures);
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].error, ENETDOWN);
}

TEST_F(PacketIoTest, BlamesTheInterfaceThatFailedAndNotTheFirst) {
  there_->ip("link set p1 down");
  const Ifindex down = [&] {
    const Inside in(*there_);
    return index("p1");
  }();
  const Bytes one = frame(1);
  std::vector<PacketIo::SendFailure> failures;
  far_->send(std::array{core::Send{far_port_, one}, core::Send{down, one}}, failures);
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].port, down);
  EXPECT_EQ(failures[0].error, ENETDOWN);
}

}  // namespace
}  // namespace lldp::io
