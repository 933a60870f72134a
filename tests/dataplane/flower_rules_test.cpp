// SPDX-License-Identifier: Apache-2.0
// What is put into the kernel and what is read there are two hands' work: here each is held against
// the other, without a kernel that knows flower.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <linux/gen_stats.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/rtnetlink.h>
#include <linux/tc_act/tc_skbedit.h>
#include <netinet/in.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <cstring>
#include <vector>

#include "dataplane/flower/rules.hpp"
#include "tests/dataplane/contract.hpp"

namespace lldp::dataplane::flower {
namespace {

constexpr Block kBlocks[] = {Block::kIngress, Block::kUp, Block::kOther};
constexpr Mode kModes[] = {Mode::kSoftware, Mode::kHardware};

/// A message in room that netlink's alignment asks for.
class Message {
 public:
  explicit Message(const TcMessage& message) {
    const nlmsghdr* header = nlmsg_hdr(message.get());
    room_.resize((header->nlmsg_len + 3) / 4);
    std::memcpy(room_.data(), header, header->nlmsg_len);
  }
  nlmsghdr* header() { return reinterpret_cast<nlmsghdr*>(room_.data()); }
  std::size_t size() { return header()->nlmsg_len; }
  std::uint8_t& octet(std::size_t at) { return reinterpret_cast<std::uint8_t*>(room_.data())[at]; }
  /// As the kernel tells it, if it has taken it.
  std::optional<Found> read() {
    const auto object = parse_tc(header());
    auto found = object ? parse(*object) : std::nullopt;
    if (found) found->in_hardware = found->mode == Mode::kHardware;
    return found;
  }

 private:
  std::vector<std::uint32_t> room_;
};

/// All that is put for ports of both kinds.
std::vector<std::pair<Block, Filter>> all_filters() {
  std::vector<std::pair<Block, Filter>> all;
  for (const Block block : kBlocks)
    for (const Filter& filter :
         shared_filters(block, rules_of(block == Block::kUp ? Order::kUp : Order::kDown)))
      all.emplace_back(block, filter);
  all.emplace_back(Block::kUp, from_port(Ifindex::of<7>(), "swp7"));
  return all;
}

TEST(FlowerRules, AreReadAsTheyWerePut) {
  for (const Mode mode : kModes)
    for (const auto& [block, filter] : all_filters()) {
      Message message(put_message(block, filter, mode));
      const auto found = message.read();
      ASSERT_TRUE(found) << filter.handle;
      EXPECT_EQ(found->filter, filter) << filter.handle;
      EXPECT_EQ(found->mode, mode);
      EXPECT_TRUE(found->does(filter)) << filter.handle;
    }
}

TEST(FlowerRules, OfWhichAnyOctetWasChangedAreOthers) {
  for (const Mode mode : kModes)
    for (const auto& [block, filter] : all_filters()) {
      Message message(put_message(block, filter, mode));
      // Where the filter stands and what it matches.
      std::vector<std::pair<std::size_t, unsigned>> meant;  // and the first bit that does
      const auto* first = reinterpret_cast<const std::uint8_t*>(message.header());
      const auto mean = [&](const void* field, std::size_t size, unsigned bit = 0) {
        const auto at = static_cast<const std::uint8_t*>(field) - first;
        for (std::size_t i = 0; i < size; ++i)
          meant.emplace_back(static_cast<std::size_t>(at) + i, bit);
      };
      std::array<nlattr*, TCA_MAX + 1> top{};
      ASSERT_EQ(nlmsg_parse(message.header(), sizeof(tcmsg), top.data(), TCA_MAX, nullptr), 0);
      if (top[TCA_CHAIN]) mean(nla_data(top[TCA_CHAIN]), 4);
      std::array<nlattr*, TCA_FLOWER_MAX + 1> options{};
      ASSERT_EQ(nla_parse_nested(options.data(), TCA_FLOWER_MAX, top[TCA_OPTIONS], nullptr), 0);
      if (options[TCA_FLOWER_INDEV]) mean(nla_data(options[TCA_FLOWER_INDEV]), 4);
      if (options[TCA_FLOWER_KEY_IP_TOS]) {
        mean(nla_data(options[TCA_FLOWER_KEY_IP_TOS]), 1, 2);  // behind the bits of ECN
        mean(nla_data(options[TCA_FLOWER_KEY_IP_TOS_MASK]), 1);
      }
      const auto* tcm = static_cast<const tcmsg*>(nlmsg_data(message.header()));
      mean(&tcm->tcm_handle, 4);
      mean(&tcm->tcm_info, 4);
      ASSERT_GE(meant.size(), 8U);
      for (const auto& [at, low] : meant)
        for (unsigned bit = low; bit < 8; ++bit) {
          message.octet(at) ^= static_cast<std::uint8_t>(1U << bit);
          const auto found = message.read();
          EXPECT_FALSE(found && found->does(filter)) << filter.handle << ": octet " << at;
          message.octet(at) ^= static_cast<std::uint8_t>(1U << bit);
        }
    }
}

TEST(FlowerRules, OfPortsThatRestoreOrAreShutRewriteWhatTheRulesSay) {
  const qos::Policy policy = qos::Policy::parse("3:dscp24-26>2:dscp19", "0:dscp0").value();
  const auto told = [&](Block block, qos::PortClass port) {
    std::string text;
    for (const Filter& f : shared_filters(block, qos::compile(policy, port)))
      if (f.protocol == ETH_P_IP) {
        EXPECT_EQ(f.chain, 0U);
        text += fmt::format("{}{}->{} ", f.dscp->value(),
                            f.rewrite ? ">" + std::to_string(f.rewrite->value()) : "",
                            f.priority->value());
      }
    return text;
  };
  const qos::PortClass host{.order = Order::kDown, .restore = true};
  const qos::PortClass shut{.order = Order::kShut};
  EXPECT_EQ(told(Block::kRestoring, host), "19>24->3 24->3 25->3 26->3 ");
  EXPECT_EQ(told(Block::kIngress, host), "19->2 24->3 25->3 26->3 ");
  EXPECT_EQ(told(Block::kShut, shut), "19>0->0 24>0->0 25>0->0 26>0->0 ");
  EXPECT_EQ(told(Block::kShutIngress, shut), told(Block::kShut, shut));
  EXPECT_EQ(told(Block::kOther, {.order = Order::kDown}), told(Block::kIngress, host));
}

TEST(FlowerRules, AreTakenAwayWhereTheyWerePut) {
  for (const auto& [block, filter] : all_filters()) {
    Message put(put_message(block, filter, Mode::kSoftware));
    Message gone(delete_message(block, filter));
    const auto was = parse_tc(put.header());
    const auto is = parse_tc(gone.header());
    ASSERT_TRUE(was && is);
    EXPECT_EQ(std::tuple(is->parent, is->info, is->handle, is->chain, is->kind),
              std::tuple(was->parent, was->info, was->handle, was->chain, was->kind));
    EXPECT_EQ(is->parent, static_cast<std::uint32_t>(block));
  }
}

TEST(FlowerRules, InHardwareAreThereOnlyWhenTheDriverSaysSo) {
  const Filter filter = *shared_filters(Block::kIngress, rules_of(Order::kDown)).begin();
  Message message(put_message(Block::kIngress, filter, Mode::kHardware));
  const auto found = parse(*parse_tc(message.header()));
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->does(filter));
}

/// As the kernel tells a filter that `count` packets met.
TcMessage met_by(std::uint32_t count) {
  gnet_stats_basic basic{};
  basic.packets = count;
  TcMessage message = TcMessage::of_block(RTM_NEWTFILTER, 0, 1, 44, 20U << 16 | htons(ETH_P_IP));
  message.text(TCA_KIND, "flower").options([&](TcMessage& options) {
    options.nest(TCA_FLOWER_ACT, [&](TcMessage& actions) {
      actions.nest(1, [&](TcMessage& action) {
        action.text(TCA_ACT_KIND, "skbedit");
        action.nest(TCA_ACT_OPTIONS, [](TcMessage& o) { o.number(TCA_SKBEDIT_PRIORITY, 5); });
        action.nest(TCA_ACT_STATS,
                    [&](TcMessage& stats) { stats.octets(TCA_STATS_BASIC, &basic, sizeof basic); });
      });
    });
  });
  return message;
}

TEST(FlowerRules, TellHowManyPacketsMetThem) {
  Message message(met_by(300));
  EXPECT_EQ(message.read()->packets, 300U);
  const Filter filter = *shared_filters(Block::kIngress, rules_of(Order::kDown)).begin();
  Message without(put_message(Block::kIngress, filter, Mode::kSoftware));
  EXPECT_EQ(without.read()->packets, 0U);
}

TEST(FlowerRules, TurnAtTheEgressOfUpPortsAlone) {
  const auto turns = [](Block block, Order order) {
    std::size_t n = 0;
    for (const Filter& f : shared_filters(block, rules_of(order))) n += f.rewrite.has_value();
    return n;
  };
  EXPECT_EQ(turns(Block::kUp, Order::kUp), 4U);  // two classes, two families
  EXPECT_EQ(turns(Block::kIngress, Order::kUp), 0U);
  EXPECT_EQ(turns(Block::kOther, Order::kDown), 0U);
}

}  // namespace
}  // namespace lldp::dataplane::flower
