// SPDX-License-Identifier: Apache-2.0
// What is made of the kernel's answers about traffic control, and of its events: the kernel is
// played here.
#include "dataplane/tc.hpp"

#include <gmock/gmock.h>
#include <linux/if_link.h>
#include <linux/pkt_cls.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.hpp"

namespace lldp::dataplane {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// What the next recv() gives.
struct Said {
  int code = 0;  ///< errno, if it fails
  Bytes octets{};
  std::size_t more = 0;  ///< octets for which there was no room
};
/// The kernel, while it is played: what it says to a request of this sequence number.
std::deque<std::function<Said(std::uint32_t)>>* kernel = nullptr;
nlmsghdr asked{};  ///< the header of the last request

ssize_t say(void* to, std::size_t room) {
  if (kernel->empty()) {
    errno = EAGAIN;
    return -1;
  }
  const Said said = kernel->front()(asked.nlmsg_seq);
  kernel->pop_front();
  if (said.code != 0) {
    errno = said.code;
    return -1;
  }
  std::memcpy(to, said.octets.data(), std::min(room, said.octets.size()));
  return static_cast<ssize_t>(said.octets.size() + said.more);
}

Bytes octets_of(nl_msg* message, std::uint32_t sequence) {
  nlmsghdr* header = nlmsg_hdr(message);
  header->nlmsg_seq = sequence;
  const auto* first = reinterpret_cast<const std::uint8_t*>(header);
  return {first, first + header->nlmsg_len};
}

Bytes octets_of(const TcMessage& message, std::uint32_t sequence) {
  return octets_of(message.get(), sequence);
}

/// NLMSG_ERROR, which with code 0 is an assent.
Bytes answer(std::uint32_t sequence, int code, const std::string& words = {},
             int flags = NLM_F_ACK_TLVS | NLM_F_CAPPED) {
  const std::unique_ptr<nl_msg, NlMsgFree> message(nlmsg_alloc_simple(NLMSG_ERROR, flags));
  nlmsgerr error{};
  error.error = -code;
  nlmsg_append(message.get(), &error, sizeof error, NLMSG_ALIGNTO);
  if (!words.empty()) nla_put_string(message.get(), NLMSGERR_ATTR_MSG, words.c_str());
  return octets_of(message.get(), sequence);
}

class TcTest : public testing::Test {
 protected:
  void SetUp() override { kernel = &says_; }
  void TearDown() override { kernel = nullptr; }

  void says(Said said) {
    says_.emplace_back([said = std::move(said)](std::uint32_t) { return said; });
  }
  void answers(int code, const std::string& words = {}, int flags = NLM_F_ACK_TLVS | NLM_F_CAPPED) {
    says_.emplace_back([=](std::uint32_t sequence) {
      return Said{.octets = answer(sequence, code, words, flags)};
    });
  }
  /// About a qdisc, in answer to a question.
  void tells(const std::vector<std::pair<std::uint32_t, std::string>>& qdiscs, bool done) {
    says_.emplace_back([=](std::uint32_t sequence) {
      Bytes all;
      for (const auto& [port, kind] : qdiscs) {
        TcMessage one(RTM_NEWQDISC, 0, *Ifindex::make(port), 0);
        const Bytes octets = octets_of(one.text(TCA_KIND, kind), sequence);
        all.insert(all.end(), octets.begin(), octets.end());
        all.resize((all.size() + 3) / 4 * 4);
      }
      if (done) {
        const TcMessage end(NLMSG_DONE, 0, Ifindex(), 0);
        const Bytes octets = octets_of(end, sequence);
        all.insert(all.end(), octets.begin(), octets.end());
      }
      return Said{.octets = all};
    });
  }
  std::string refused(int type = RTM_NEWQDISC) {
    const auto done = socket_.request(TcMessage(type, 0, Ifindex::of<7>(), 0));
    EXPECT_THAT(says_, IsEmpty());
    return done ? "" : to_string(done.error());
  }

  std::deque<std::function<Said(std::uint32_t)>> says_{};
  TcSocket socket_ = TcSocket::open().value();
};

TEST_F(TcTest, AnswerIsThatToTheRequest) {
  says({.code = EINTR});
  says({.octets = answer(0, EPERM)});  // of another request
  answers(0);
  EXPECT_EQ(refused(), "");
  EXPECT_NE(asked.nlmsg_flags & NLM_F_ACK, 0) << "else none would come";
  const auto before = asked.nlmsg_seq;
  answers(0);
  EXPECT_EQ(refused(), "");
  EXPECT_NE(asked.nlmsg_seq, before);
  says({.code = ENOBUFS});
  EXPECT_EQ(refused(), "RTM_NEWQDISC: No buffer space available");
}

TEST_F(TcTest, RefusalIsInTheKernelsWordsWhereItHasAny) {
  answers(EINVAL, "Exclusivity flag on, cannot modify");
  EXPECT_EQ(refused(), "RTM_NEWQDISC: Exclusivity flag on, cannot modify");
  for (const int flags : {0, NLM_F_ACK_TLVS, NLM_F_CAPPED}) {
    answers(EINVAL, "our request, which is no text", flags);
    EXPECT_EQ(refused(), "RTM_NEWQDISC: Invalid argument");
  }
}

TEST_F(TcTest, RefusalNamesTheRequestAndWhatToDo) {
  for (const auto& [type, name] : {std::pair<int, std::string>(RTM_NEWQDISC, "RTM_NEWQDISC"),
                                   {RTM_DELQDISC, "RTM_DELQDISC"},
                                   {RTM_GETQDISC, "RTM_GETQDISC"},
                                   {RTM_NEWTCLASS, "RTM_NEWTCLASS"},
                                   {RTM_GETTCLASS, "RTM_GETTCLASS"},
                                   {RTM_NEWTFILTER, "RTM_NEWTFILTER"},
                                   {RTM_DELTFILTER, "RTM_DELTFILTER"},
                                   {RTM_GETTFILTER, "RTM_GETTFILTER"},
                                   {RTM_GETLINK, "RTM_GETLINK"},
                                   {RTM_DELLINK, "rtnetlink"}}) {
    answers(EINVAL);
    EXPECT_EQ(refused(type), name + ": Invalid argument");
    answers(EPERM);
    EXPECT_EQ(refused(type), name +
                                 ": Operation not permitted: run with CAP_NET_ADMIN, or choose "
                                 "another backend");
    answers(ENODEV, "words");
    EXPECT_EQ(refused(type), "the port has vanished");
  }
  const std::string lacks =
      ": this kernel lacks a qdisc or classifier it takes; choose another backend";
  answers(EOPNOTSUPP);
  EXPECT_EQ(refused(), "RTM_NEWQDISC: Operation not supported" + lacks);
  answers(EOPNOTSUPP, "the driver cannot");
  EXPECT_EQ(refused(), "RTM_NEWQDISC: the driver cannot");
  answers(ENOENT, "Specified qdisc kind is unknown");
  EXPECT_EQ(refused(), "RTM_NEWQDISC: Specified qdisc kind is unknown" + lacks);
  answers(ENOENT);
  EXPECT_EQ(refused(RTM_DELQDISC), "RTM_DELQDISC: No such file or directory");
}

TEST_F(TcTest, DumpIsAllThatComesUntilItsEnd) {
  std::vector<std::string> told;
  const auto dump = [&] {
    told.clear();
    return socket_.dump(TcMessage(RTM_GETQDISC, NLM_F_DUMP, Ifindex(), 0), [&](const TcObject& q) {
      told.push_back(std::to_string(q.port.value()) + " " + std::string(q.kind));
    });
  };
  tells({{1, "noqueue"}, {7, "clsact"}}, false);
  tells({{8, "htb"}}, true);
  EXPECT_TRUE(dump());
  EXPECT_THAT(told, ElementsAre("1 noqueue", "7 clsact", "8 htb"));
  tells({{7, "clsact"}}, false);
  answers(EINVAL);
  EXPECT_FALSE(dump());
}

TEST_F(TcTest, LinksFactsAreWhatTheKernelSays) {
  struct Link {
    int type = RTM_NEWLINK;
    std::uint32_t port = 7;
    std::optional<std::uint8_t> attached{};
    std::optional<std::uint32_t> program{};
    bool of_switch = false;
    std::string told{};
  };
  for (const Link& link :
       {Link{.told = "7 0 0"}, Link{.attached = XDP_ATTACHED_NONE, .program = 3, .told = "7 0 0"},
        Link{.attached = XDP_ATTACHED_DRV, .program = 3, .told = "7 3 0"},
        Link{.attached = XDP_ATTACHED_MULTI, .told = "7 4294967295 0"},
        Link{.program = 3, .told = "7 0 0"}, Link{.of_switch = true, .told = "7 0 1"},
        Link{.type = RTM_DELLINK}, Link{.port = 0x8000'0000}}) {
    says_.emplace_back([link](std::uint32_t sequence) {
      const std::unique_ptr<nl_msg, NlMsgFree> message(nlmsg_alloc_simple(link.type, 0));
      ifinfomsg info{};
      info.ifi_index = static_cast<int>(link.port);
      nlmsg_append(message.get(), &info, sizeof info, NLMSG_ALIGNTO);
      if (link.of_switch) nla_put_u32(message.get(), IFLA_PHYS_SWITCH_ID, 1);
      nlattr* xdp = nla_nest_start(message.get(), IFLA_XDP);
      if (link.attached) nla_put_u8(message.get(), IFLA_XDP_ATTACHED, *link.attached);
      if (link.program) nla_put_u32(message.get(), IFLA_XDP_PROG_ID, *link.program);
      nla_nest_end(message.get(), xdp);
      nlmsghdr* header = nlmsg_hdr(message.get());
      header->nlmsg_seq = sequence;
      const auto* first = reinterpret_cast<const std::uint8_t*>(header);
      return Said{.octets = {first, first + header->nlmsg_len}};
    });
    answers(0);
    std::string told;
    EXPECT_TRUE(socket_.links(Ifindex::of<7>(), [&](Ifindex port, const LinkFacts& facts) {
      told += std::to_string(port.value()) + " " + std::to_string(facts.xdp_program) + " " +
              std::to_string(facts.switch_port);
    }));
    EXPECT_EQ(told, link.told);
    EXPECT_EQ(asked.nlmsg_flags & NLM_F_DUMP, 0) << "of one alone";
  }
  answers(0);
  EXPECT_TRUE(socket_.links(Ifindex(), nullptr));
  EXPECT_EQ(asked.nlmsg_flags & NLM_F_DUMP, NLM_F_DUMP);
}

class TcEventsTest : public TcTest {
 protected:
  void happens(std::uint32_t port, std::uint32_t asked_by = 0) {
    TcMessage message(RTM_NEWQDISC, 0, Ifindex(), 0);
    nlmsg_hdr(message.get())->nlmsg_pid = asked_by;
    static_cast<tcmsg*>(nlmsg_data(nlmsg_hdr(message.get())))->tcm_ifindex = static_cast<int>(port);
    says({.octets = octets_of(message, 1)});
  }
  TcEvents events_ = TcEvents::open().value();
};

TEST_F(TcEventsTest, NameTheInterfaces) {
  EXPECT_THAT(events_.take(), IsEmpty());
  happens(8);
  says({.code = EINTR});
  happens(7);
  happens(8);
  EXPECT_THAT(events_.take(), ElementsAre(Ifindex::of<7>(), Ifindex::of<8>()));
  happens(TCM_IFINDEX_MAGIC_BLOCK);
  EXPECT_THAT(events_.take(), ElementsAre(Ifindex())) << "of any port that shares the block";
  for (const int type : {RTM_NEWACTION, RTM_DELACTION}) {
    // A struct tcamsg of four octets, and attributes where an interface would stand.
    const std::unique_ptr<nl_msg, NlMsgFree> message(nlmsg_alloc_simple(type, 0));
    tcamsg header{};
    nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO);
    nla_put(message.get(), TCA_ACT_TAB, 16, "an action by its");
    says({.octets = octets_of(message.get(), 1)});
    EXPECT_THAT(events_.take(), ElementsAre(Ifindex())) << "of any port with a filter that has it";
  }
  Bytes short_one = octets_of(TcMessage(RTM_NEWQDISC, 0, Ifindex::of<9>(), 0), 1);
  short_one[0] = NLMSG_HDRLEN + 4;
  short_one.resize(NLMSG_HDRLEN + 4);
  says({.octets = short_one});
  happens(7);
  EXPECT_THAT(events_.take(), ElementsAre(Ifindex::of<7>())) << "one is too short";
}

// By the socket that asked: a process ID is also another's, in another PID namespace, and tc(8)
// numbers its requests by the time, so that of any process they look like its own for a day.
TEST_F(TcEventsTest, OfOurOwnRequestsAreNone) {
  const TcSocket other = TcSocket::open().value();
  ASSERT_NE(socket_.port_id(), 0U);
  ASSERT_NE(other.port_id(), socket_.port_id());
  happens(7, socket_.port_id());
  EXPECT_THAT(events_.take(), ElementsAre(Ifindex::of<7>())) << "it is not known yet";
  events_.ignore(socket_);
  happens(7, socket_.port_id());
  EXPECT_THAT(events_.take(), IsEmpty());
  happens(7, other.port_id());
  EXPECT_THAT(events_.take(), ElementsAre(Ifindex::of<7>()));
}

TEST_F(TcEventsTest, ThatWereLostMayBeOfAnyPort) {
  says({.code = ENOBUFS});
  happens(7);
  EXPECT_THAT(events_.take(), ElementsAre(Ifindex(), Ifindex::of<7>()));
  says({.octets = Bytes(16384), .more = 1});
  EXPECT_THAT(events_.take(), ElementsAre(Ifindex()));
}

TEST_F(TcEventsTest, AreReadABoundedNumberAtATime) {
  for (std::uint32_t port = 1; port <= 70; ++port) happens(port);
  EXPECT_EQ(events_.take().size(), 64U);
  EXPECT_EQ(events_.take().size(), 6U);
}

TEST(TcObjects, OfWhichAnAttributeIsCutOffOrDoesNotEndAreNone) {
  const auto read = [](const std::function<void(TcMessage&)>& fill) {
    TcMessage message(RTM_NEWTFILTER, 0, Ifindex::of<7>(), 0);
    fill(message);
    return parse_tc(nlmsg_hdr(message.get())).has_value();
  };
  EXPECT_TRUE(read([](TcMessage& m) { m.text(TCA_KIND, "flower").number(TCA_CHAIN, 1); }));
  EXPECT_FALSE(read([](TcMessage& m) { m.octets(TCA_KIND, "flower", 6); }));
  for (const int number : {TCA_CHAIN, TCA_INGRESS_BLOCK, TCA_EGRESS_BLOCK})
    EXPECT_FALSE(read([&](TcMessage& m) { m.octets(number, "abc", 3); })) << number;
}

}  // namespace
}  // namespace lldp::dataplane

// In the place of libc's.
extern "C" ssize_t recv(int fd, void* to, size_t room, int flags) {
  using namespace lldp::dataplane;
  if (kernel != nullptr) return say(to, room);
  return ::syscall(SYS_recvfrom, fd, to, room, flags, nullptr, nullptr);
}
extern "C" ssize_t send(int fd, const void* octets, size_t size, int flags) {
  using namespace lldp::dataplane;
  if (kernel == nullptr)
    return ::syscall(SYS_sendto, fd, octets, size, flags, nullptr, socklen_t{0});
  std::memcpy(&asked, octets, sizeof asked);
  return static_cast<ssize_t>(size);
}
