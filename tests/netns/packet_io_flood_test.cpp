// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "agent/wire/packet_io.hpp"
#include "tests/netns/packet_io_fixture.hpp"
#include "tests/netns/refusal.hpp"
#include "tests/netns/support.hpp"

/// Who floods, and how the others are heard all the same: sockets and rings of its own, and turns.
namespace lldp::io {
namespace {

using netns::eventually;
using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(PacketIoTest, LeavesTheRestOfAFloodForTheNextTurn) {
  hear(Hearing::kShared);
  constexpr std::size_t kFrames = PacketIo::kFramesPerTurn + 100;
  const Bytes octets = frame(1);
  std::vector<PacketIo::SendFailure> failures;
  far_->send(std::vector(kFrames, core::Send{far_port_, octets}), failures);
  EXPECT_THAT(failures, IsEmpty());
  std::size_t count = 0;
  const auto take = [&](Ifindex, ByteSpan) { ++count; };
  EXPECT_EQ(near_->receive_shared(take), PacketIo::Turn::kUnfinished);
  EXPECT_EQ(count, PacketIo::kFramesPerTurn);
  EXPECT_EQ(near_->receive_shared(take), PacketIo::Turn::kBusy);
  EXPECT_EQ(count, kFrames);
  EXPECT_EQ(near_->receive_shared(take), PacketIo::Turn::kIdle);
}

TEST_F(PacketIoTest, SetsAPortApartWhoseFramesFillTurnAfterTurn) {
  hear(Hearing::kShared);
  const Ifindex quiet = [&] {
    const Inside in(*here_);
    return index("p1");
  }();
  const Ifindex far_quiet = [&] {
    const Inside in(*there_);
    return index("p1");
  }();
  ASSERT_TRUE(near_->add({.ifindex = quiet}));
  std::size_t flooded = 0;
  std::size_t heard = 0;
  const auto take = [&](Ifindex port, ByteSpan) { ++(port == quiet ? heard : flooded); };
  const Bytes octets = frame(1);
  const auto flood = [&](std::size_t frames) {
    std::vector<PacketIo::SendFailure> failures;
    far_->send(std::vector(frames, core::Send{far_port_, octets}), failures);
    EXPECT_THAT(failures, IsEmpty());
  };
  for (std::size_t turn = 0; turn < PacketIo::kBusyTurns; ++turn) {
    flood(PacketIo::kFramesPerTurn + 16);
    const Inside in(*here_);  // the socket of its own is opened where the port is
    EXPECT_EQ(near_->receive_shared(take), PacketIo::Turn::kUnfinished);
  }
  EXPECT_EQ(flooded, PacketIo::kBusyTurns * PacketIo::kFramesPerTurn);
  while (near_->receive_shared(take) != PacketIo::Turn::kIdle) continue;  // what came before
  flooded = 0;
  // From now on a frame of another port waits behind none of them, and none is heard twice.
  flood(5000);
  std::vector<PacketIo::SendFailure> failures;
  far_->send(std::array{core::Send{far_quiet, octets}}, failures);
  EXPECT_EQ(near_->receive_shared(take), PacketIo::Turn::kIdle);
  EXPECT_EQ(heard, 1U);
  EXPECT_EQ(flooded, 0U);
  while (near_->receive_own(take) == PacketIo::Turn::kUnfinished) continue;
  EXPECT_EQ(flooded, 5000U);
  // Deaf, it hears there neither.
  near_->set_deaf(true);
  flood(10);
  near_->set_deaf(false);
  flood(1);
  static_cast<void>(near_->receive_shared(take));
  static_cast<void>(near_->receive_own(take));
  EXPECT_EQ(flooded, 5001U);
  // A port that is taken anew begins as all do.
  near_->remove(port_);
  hear(Hearing::kShared);
  flood(1);
  static_cast<void>(near_->receive_own(take));
  EXPECT_EQ(flooded, 5001U);
  static_cast<void>(near_->receive_shared(take));
  EXPECT_EQ(flooded, 5002U);
}

/// What the kernel may keep for each packet socket of ours, rising.
std::vector<int> receive_buffers() {
  std::vector<int> out;
  for (int fd = 0; fd < 1024; ++fd) {
    int domain = 0;
    int buffer = 0;
    socklen_t size = sizeof domain;
    if (::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_PACKET &&
        ::getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, &size) == 0)
      out.push_back(buffer);
  }
  std::ranges::sort(out);
  return out;
}

class ApartTest : public PacketIoTest {
 protected:
  void SetUp() override {
    PacketIoTest::SetUp();
    if (IsSkipped()) return;
    hear(Hearing::kShared);
    set_apart();
  }
  void set_apart() {
    const Bytes octets = frame(1);
    std::vector<PacketIo::SendFailure> failures;
    const auto take = [](Ifindex, ByteSpan) {};
    for (std::size_t turn = 0; turn < PacketIo::kBusyTurns; ++turn) {
      far_->send(std::vector(PacketIo::kBusy * 2, core::Send{far_port_, octets}), failures);
      const Inside in(*here_);  // the socket of its own is opened where the port is
      EXPECT_EQ(near_->receive_shared(take), PacketIo::Turn::kBusy);
    }
    EXPECT_THAT(failures, IsEmpty());
  }
  /// What has come there, by the marks.
  std::vector<int> own() {
    std::vector<int> marks;
    const auto take = [&](Ifindex port, ByteSpan octets) {
      EXPECT_EQ(port, port_);
      marks.push_back(octets[14]);
    };
    while (near_->receive_own(take) == PacketIo::Turn::kUnfinished) continue;
    return marks;
  }
  [[nodiscard]] bool readable() const {
    pollfd wait{.fd = near_->own_fd(), .events = POLLIN, .revents = 0};
    return ::poll(&wait, 1, 0) == 1;
  }
  static constexpr TimePoint kNow{std::chrono::hours(1)};
};

TEST_F(ApartTest, HearsLongFramesWholeAndInTheirOrder) {
  // What fits into a slot of the ring and what does not, by an octet each, and the longest of this
  // link.
  std::vector<std::size_t> sizes{60, 445, 446, 447, 1514, 60, 512, 60};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Bytes octets = frame(static_cast<std::uint8_t>(i));
    octets.resize(sizes[i], static_cast<std::uint8_t>(i));
    send(octets);
  }
  std::vector<Bytes> heard;
  while (near_->receive_own([&](Ifindex, ByteSpan octets) {
    heard.emplace_back(octets.begin(), octets.end());
  }) == PacketIo::Turn::kUnfinished)
    continue;
  ASSERT_EQ(heard.size(), sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Bytes octets = frame(static_cast<std::uint8_t>(i));
    octets.resize(sizes[i], static_cast<std::uint8_t>(i));
    EXPECT_EQ(heard[i], octets) << sizes[i];
  }
  EXPECT_FALSE(readable());
}

TEST_F(ApartTest, GoesRoundTheRingAndLosesWhatItCannotKeep) {
  const std::size_t slots = (std::size_t{4} << 20) / PacketRing::kSlot;
  const Bytes octets = frame(3);
  std::vector<PacketIo::SendFailure> failures;
  for (int round = 0; round < 3; ++round) {
    far_->send(std::vector(slots + 100, core::Send{far_port_, octets}), failures);
    EXPECT_EQ(own(), std::vector<int>(slots, 3)) << round;
    EXPECT_FALSE(readable());
  }
  send(frame(4));
  EXPECT_TRUE(readable());
  EXPECT_THAT(own(), ElementsAre(4));
}

TEST_F(ApartTest, IsNotWokenForEverByAnInterfaceThatGoesDown) {
  here_->ip("link set p0 down");
  EXPECT_TRUE(eventually([&] {
    own();
    return !readable();
  }));
  here_->ip("link set p0 up");
  EXPECT_TRUE(eventually([&] {
    std::vector<PacketIo::SendFailure> failures;
    far_->send(std::array{core::Send{far_port_, frame(7)}}, failures);
    return !own().empty();
  }));
  EXPECT_FALSE(readable());
}

TEST_F(ApartTest, LongFramesAreNotTakenForOneAnotherWhenTheInterfaceGoesDown) {
  const auto long_frame = [](std::uint8_t mark) {
    Bytes octets = frame(mark);
    octets.resize(900, mark);
    return octets;
  };
  for (std::uint8_t mark = 1; mark <= 3; ++mark) send(long_frame(mark));
  here_->ip("link set p0 down");
  here_->ip("link set p0 up");
  EXPECT_THAT(own(), ElementsAre(1, 2, 3));
  EXPECT_TRUE(eventually([&] {
    std::vector<PacketIo::SendFailure> failures;
    far_->send(std::array{core::Send{far_port_, long_frame(7)}}, failures);
    return own() == std::vector{7};
  }));
  EXPECT_FALSE(readable());
}

TEST_F(ApartTest, ThePortMayBeRemovedByWhoTakesItsFrames) {
  for (std::uint8_t mark = 1; mark <= 3; ++mark) send(frame(mark));
  std::size_t count = 0;
  static_cast<void>(near_->receive_own([&](Ifindex, ByteSpan octets) {
    if (++count == 1) near_->remove(port_);
    EXPECT_EQ(octets.size(), 60U);
  }));
  EXPECT_GE(count, 1U);
  EXPECT_FALSE(readable());
  hear(Hearing::kShared);
  send(frame(9));
  EXPECT_THAT(heard(), ElementsAre(std::pair(port_, frame(9))));
}

TEST_F(ApartTest, IsHeardWithTheOthersWhenItHasBeenCalmForAMinute) {
  near_->rejoin(kNow);
  near_->rejoin(kNow + PacketIo::kCalm - std::chrono::seconds(1));
  send(frame(1));
  EXPECT_THAT(own(), ElementsAre(1)) << "too early";
  std::vector<PacketIo::SendFailure> failures;
  far_->send(std::vector(PacketIo::kBusy + 1, core::Send{far_port_, frame(2)}), failures);
  EXPECT_EQ(own().size(), PacketIo::kBusy + 1);
  TimePoint now = kNow + PacketIo::kCalm;
  near_->rejoin(now);
  send(frame(3));
  EXPECT_THAT(own(), ElementsAre(3)) << "it was busy just now";
  far_->send(std::vector(PacketIo::kBusy, core::Send{far_port_, frame(2)}), failures);
  EXPECT_EQ(own().size(), PacketIo::kBusy);  // few
  now += PacketIo::kCalm;
  near_->rejoin(now);
  send(frame(4));
  EXPECT_THAT(own(), IsEmpty());
  EXPECT_FALSE(readable());
  std::vector<int> marks;
  EXPECT_EQ(near_->receive_shared([&](Ifindex, ByteSpan octets) { marks.push_back(octets[14]); }),
            PacketIo::Turn::kIdle);
  EXPECT_THAT(marks, ElementsAre(4));
  set_apart();
  send(frame(5));
  EXPECT_THAT(own(), ElementsAre(5));
}

TEST_F(PacketIoTest, LosesNothingAndHearsNothingTwiceWhenAPortIsSetApart) {
  hear(Hearing::kShared);
  const std::size_t sockets = receive_buffers().size();
  std::vector<PacketIo::SendFailure> failures;
  std::size_t sent = 0;
  std::size_t count = 0;
  const auto take = [&](Ifindex, ByteSpan) { ++count; };
  for (std::size_t turn = 0; turn < PacketIo::kBusyTurns; ++turn) {
    // What waits is enough for it to be set apart again, if it counted.
    const std::size_t frames = 2 * PacketIo::kFramesPerTurn + 100;
    far_->send(std::vector(frames, core::Send{far_port_, frame(1)}), failures);
    sent += frames;
    const Inside in(*here_);
    EXPECT_EQ(near_->receive_shared(take), PacketIo::Turn::kUnfinished);
  }
  send(frame(1));  // it is apart now, and what came before waits on the shared socket
  const auto buffers = receive_buffers();
  EXPECT_EQ(buffers.size(), sockets + 1);
  PacketIo::Turn turn{};
  do {
    const Inside in(*here_);
    turn = near_->receive_shared(take);
  } while (turn != PacketIo::Turn::kIdle);
  EXPECT_EQ(count, sent);
  EXPECT_EQ(receive_buffers(), buffers);
  static_cast<void>(near_->receive_own(take));
  EXPECT_EQ(count, sent + 1);
}

TEST_F(PacketIoTest, ShutsOutWhoFloodsItAndIsNotHeardThere) {
  hear(Hearing::kShared);
  const auto index_of = [](const Namespace& where) {
    const Inside in(where);
    return index("p1");
  };
  const Ifindex other = index_of(*here_);
  const Ifindex far_other = index_of(*there_);
  std::size_t count = 0;
  const auto turn = [&](std::size_t frames) {
    std::vector<PacketIo::SendFailure> failures;
    far_->send(std::vector(frames, core::Send{far_other, frame(1)}), failures);
    count = 0;
    const Inside in(*here_);
    return near_->receive_shared([&](Ifindex port, ByteSpan) { count += port == port_ ? 1U : 0U; });
  };
  const auto flood = [&] {
    for (std::size_t i = 0; i < 2 * PacketIo::kBusyTurns; ++i)
      static_cast<void>(turn(PacketIo::kFramesPerTurn + 16));
    while (turn(0) != PacketIo::Turn::kIdle) continue;  // what came before
  };
  const auto is_shut_out = [&] { return turn(PacketIo::kFramesPerTurn) == PacketIo::Turn::kIdle; };
  EXPECT_FALSE(is_shut_out());
  while (turn(0) != PacketIo::Turn::kIdle) continue;
  flood();  // of no port
  EXPECT_TRUE(is_shut_out());
  send(frame(2));  // waits behind nobody
  EXPECT_EQ(turn(PacketIo::kFramesPerTurn), PacketIo::Turn::kIdle);
  EXPECT_EQ(count, 1U);

  // Once it is a port it is heard.
  const auto heard_of_other = [&](Hearing hearing) {
    const Inside in(*here_);
    EXPECT_TRUE(near_->add({.ifindex = other, .hearing = hearing}));
    std::vector<PacketIo::SendFailure> failures;
    far_->send(std::array{core::Send{far_other, frame(3)}}, failures);
    std::size_t heard = 0;
    const auto take = [&](Ifindex port, ByteSpan) { heard += port == other ? 1U : 0U; };
    static_cast<void>(near_->receive_shared(take));
    static_cast<void>(near_->receive_own(take));
    return heard;
  };
  EXPECT_EQ(heard_of_other(Hearing::kShared), 1U);
  EXPECT_EQ(heard_of_other(Hearing::kBound), 1U);
  flood();  // of a port with a socket of its own
  EXPECT_TRUE(is_shut_out());
  EXPECT_EQ(heard_of_other(Hearing::kShared), 1U);
}

TEST_F(PacketIoTest, ManyPortsWithFewFramesEachAreNoFlood) {
  hear(Hearing::kShared);
  const auto index_of = [](const Namespace& where) {
    const Inside in(where);
    return index("p1");
  };
  ASSERT_TRUE(near_->add({.ifindex = index_of(*here_)}));
  std::vector<PacketIo::SendFailure> failures;
  std::size_t count = 0;
  const auto turn = [&](std::size_t each) {
    count = 0;
    for (const Ifindex from : {far_port_, index_of(*there_)})
      far_->send(std::vector(each, core::Send{from, frame(1)}), failures);
    const Inside in(*here_);
    EXPECT_EQ(near_->receive_shared([&](Ifindex, ByteSpan) { ++count; }), PacketIo::Turn::kBusy);
  };
  for (std::size_t i = 0; i < 3 * PacketIo::kBusyTurns; ++i) turn(PacketIo::kBusy);
  EXPECT_EQ(count, 2 * PacketIo::kBusy) << "a port was set apart";
}

TEST_F(PacketIoTest, IsSetApartWithoutARingWhereTheKernelHasNoneAndNotAtAllWithoutAFilter) {
  const auto flood = [&](const netns::Refusal& refusal) {
    near_->remove(port_);
    hear(Hearing::kShared);
    std::thread([&] {  // the refusal ends with it
      ASSERT_TRUE(netns::refuse(refusal));
      std::vector<PacketIo::SendFailure> failures;
      for (std::size_t turn = 0; turn < PacketIo::kBusyTurns; ++turn) {
        far_->send(std::vector(PacketIo::kBusy * 2, core::Send{far_port_, frame(1)}), failures);
        const Inside in(*here_);
        EXPECT_EQ(near_->receive_shared([](Ifindex, ByteSpan) {}), PacketIo::Turn::kBusy);
      }
    })
        .join();
    send(frame(2));
    std::pair<std::size_t, std::size_t> counts{};
    static_cast<void>(near_->receive_shared([&](Ifindex, ByteSpan) { ++counts.first; }));
    static_cast<void>(near_->receive_own([&](Ifindex, ByteSpan) { ++counts.second; }));
    return counts;
  };
  EXPECT_EQ(
      flood({.call = SYS_setsockopt, .second = SOL_PACKET, .third = std::uint32_t{PACKET_RX_RING}}),
      std::pair(std::size_t{0}, std::size_t{1}));
  // The kernel gave the ring, and then not its memory.
  EXPECT_EQ(flood({.call = SYS_mmap, .second = std::uint32_t{4} << 20}),
            std::pair(std::size_t{0}, std::size_t{1}));
  EXPECT_EQ(
      flood(
          {.call = SYS_setsockopt, .second = SOL_SOCKET, .third = std::uint32_t{SO_ATTACH_FILTER}}),
      std::pair(std::size_t{1}, std::size_t{0}));
}

TEST_F(PacketIoTest, APortThatIsSetApartAgainHasAsMuchRoomAsBefore) {
  const auto take = [](Ifindex, ByteSpan) {};
  const auto set_apart = [&] {
    hear(Hearing::kShared);
    const Bytes octets = frame(1);
    std::vector<PacketIo::SendFailure> failures;
    for (std::size_t turn = 0; turn < PacketIo::kBusyTurns; ++turn) {
      far_->send(std::vector(PacketIo::kFramesPerTurn, core::Send{far_port_, octets}), failures);
      const Inside in(*here_);
      EXPECT_EQ(near_->receive_shared(take), PacketIo::Turn::kUnfinished);
    }
    EXPECT_THAT(failures, IsEmpty());
    while (near_->receive_shared(take) != PacketIo::Turn::kIdle) continue;
    return receive_buffers();
  };
  const auto together = receive_buffers();
  const auto apart = set_apart();
  EXPECT_EQ(apart.size(), together.size() + 1);
  near_->remove(port_);
  EXPECT_EQ(receive_buffers(), together);
  EXPECT_EQ(set_apart(), apart);
}

TEST_F(PacketIoTest, SetsApartWhoFloodsNowAndNotWhoDidBefore) {
  hear(Hearing::kShared);
  const Ifindex far_other = [&] {
    const Inside in(*there_);
    return index("p1");
  }();
  {
    const Inside in(*here_);
    ASSERT_TRUE(near_->add({.ifindex = index("p1")}));
  }
  std::size_t count = 0;
  const auto take = [&](Ifindex, ByteSpan) { ++count; };
  const auto turns = [&](Ifindex from, std::size_t times) {
    const Bytes octets = frame(1);
    std::vector<PacketIo::SendFailure> failures;
    for (std::size_t turn = 0; turn < times; ++turn) {
      far_->send(std::vector(PacketIo::kFramesPerTurn, core::Send{from, octets}), failures);
      const Inside in(*here_);
      EXPECT_EQ(near_->receive_shared(take), PacketIo::Turn::kUnfinished);
    }
    EXPECT_THAT(failures, IsEmpty());
  };
  for (int i = 0; i < 2; ++i) {
    turns(far_other, PacketIo::kBusyTurns - 1);
    EXPECT_EQ(near_->receive_shared(take), PacketIo::Turn::kIdle);  // they have come to an end
  }
  turns(far_port_, PacketIo::kBusyTurns);
  while (near_->receive_shared(take) != PacketIo::Turn::kIdle) continue;
  count = 0;
  send(frame(1));
  EXPECT_EQ(near_->receive_shared(take), PacketIo::Turn::kIdle);
  EXPECT_EQ(count, 0U) << "the port is not apart";
  static_cast<void>(near_->receive_own(take));
  EXPECT_EQ(count, 1U);
}

TEST_F(PacketIoTest, SharesATurnAmongThePortsWithSocketsOfTheirOwn) {
  hear(Hearing::kBound);
  const Ifindex other = [&] {
    const Inside in(*here_);
    const Ifindex ifindex = index("p1");
    EXPECT_TRUE(near_->add({.ifindex = ifindex, .hearing = Hearing::kBound}));
    return ifindex;
  }();
  const Ifindex far_other = [&] {
    const Inside in(*there_);
    return index("p1");
  }();
  const Bytes octets = frame(1);
  std::vector<PacketIo::SendFailure> failures;
  for (const Ifindex from : {far_port_, far_other})
    far_->send(std::vector(PacketIo::kFramesPerTurn, core::Send{from, octets}), failures);
  std::size_t ours = 0;
  std::size_t others = 0;
  const auto take = [&](Ifindex port, ByteSpan) { ++(port == other ? others : ours); };
  for (std::size_t turn = 1; turn <= 2; ++turn) {
    EXPECT_EQ(near_->receive_own(take), PacketIo::Turn::kUnfinished);
    EXPECT_EQ(ours, turn * PacketIo::kFramesPerTurn / 2);
    EXPECT_EQ(others, turn * PacketIo::kFramesPerTurn / 2);
  }
  EXPECT_EQ(near_->receive_own(take), PacketIo::Turn::kIdle);
}

}  // namespace
}  // namespace lldp::io
