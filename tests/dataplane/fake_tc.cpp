// SPDX-License-Identifier: Apache-2.0
#include "tests/dataplane/fake_tc.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/tc_act/tc_csum.h>
#include <linux/tc_act/tc_gact.h>
#include <linux/tc_act/tc_pedit.h>
#include <linux/tc_act/tc_skbedit.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace lldp::dataplane {
namespace fake {
namespace {

using Attributes = std::array<nlattr*, 128>;
constexpr int kMost = static_cast<int>(std::tuple_size_v<Attributes>) - 1;

std::unique_ptr<Kernel>& kernel() {
  static auto it = std::make_unique<Kernel>();
  return it;
}

Error error(int code, const std::string& type, const std::string& words = {}) {
  if (code == ENODEV) return {code, {}, "the port has vanished"};
  std::string text = type + ": " + (words.empty() ? std::strerror(code) : words);
  if (code == EOPNOTSUPP && words.empty())
    text += ": this kernel lacks a qdisc or classifier it takes; choose another backend";
  return {code, {}, text};
}

Attributes nested(const nlattr* attribute) {
  Attributes parts{};
  nla_parse_nested(parts.data(), kMost, const_cast<nlattr*>(attribute), nullptr);
  return parts;
}

template <class T>
T value(const nlattr* attribute) {
  T out{};
  EXPECT_TRUE(attribute != nullptr && nla_len(attribute) >= static_cast<int>(sizeof out));
  if (attribute != nullptr)
    std::memcpy(&out, nla_data(attribute),
                std::min(sizeof out, static_cast<std::size_t>(nla_len(attribute))));
  return out;
}

/// A filter as its message says, every attribute of which is known here.
struct Read {
  std::optional<std::uint16_t> type{};
  std::optional<std::uint8_t> tos{};
  std::uint8_t tos_mask = 0;
  std::optional<std::string> in{};
  std::uint32_t flags = 0;
  std::vector<std::pair<std::string, nlattr*>> actions{};  ///< kind, options
};

Read read(nlmsghdr* message) {
  Read out;
  Attributes top{};
  nlmsg_parse(message, sizeof(tcmsg), top.data(), kMost, nullptr);
  EXPECT_STREQ(nla_get_string(top[TCA_KIND]), "flower");
  const Attributes options = nested(top[TCA_OPTIONS]);
  for (int a = 1; a <= kMost; ++a) {
    const nlattr* at = options[static_cast<std::size_t>(a)];
    if (at == nullptr) continue;
    switch (a) {
      case TCA_FLOWER_KEY_ETH_TYPE:
        out.type = ntohs(value<std::uint16_t>(at));
        break;
      case TCA_FLOWER_KEY_IP_TOS:
        out.tos = value<std::uint8_t>(at);
        break;
      case TCA_FLOWER_KEY_IP_TOS_MASK:
        out.tos_mask = value<std::uint8_t>(at);
        break;
      case TCA_FLOWER_INDEV:
        out.in = nla_get_string(at);
        break;
      case TCA_FLOWER_FLAGS:
        out.flags = value<std::uint32_t>(at);
        break;
      case TCA_FLOWER_ACT:
        break;
      default:
        ADD_FAILURE() << "attribute " << a << " of flower";
    }
  }
  const Attributes actions = nested(options[TCA_FLOWER_ACT]);
  for (const nlattr* action : actions) {
    if (action == nullptr) continue;
    const Attributes parts = nested(action);
    out.actions.emplace_back(nla_get_string(parts[TCA_ACT_KIND]), parts[TCA_ACT_OPTIONS]);
  }
  return out;
}

struct Pedit {
  tc_pedit_sel sel{};
  tc_pedit_key key{};
};
Pedit pedit_of(const nlattr* options) {
  const Attributes parts = nested(options);
  Pedit out;
  const auto* octets = static_cast<const std::uint8_t*>(nla_data(parts[TCA_PEDIT_PARMS_EX]));
  EXPECT_EQ(static_cast<std::size_t>(nla_len(parts[TCA_PEDIT_PARMS_EX])),
            sizeof(tc_pedit_sel) + sizeof(tc_pedit_key));
  std::memcpy(&out.sel, octets, sizeof out.sel);
  std::memcpy(&out.key, octets + sizeof out.sel, sizeof out.key);
  EXPECT_EQ(out.sel.nkeys, 1);
  EXPECT_EQ(out.sel.flags, 0);
  EXPECT_TRUE(out.key.off == 0 && out.key.at == 0 && out.key.offmask == 0 && out.key.shift == 0);
  return out;
}
std::uint16_t pedit_header(const nlattr* options) {
  const Attributes keys = nested(nested(options)[TCA_PEDIT_KEYS_EX]);
  const Attributes key = nested(keys[TCA_PEDIT_KEY_EX]);
  EXPECT_EQ(value<std::uint16_t>(key[TCA_PEDIT_KEY_EX_CMD]), TCA_PEDIT_KEY_EX_CMD_SET);
  return value<std::uint16_t>(key[TCA_PEDIT_KEY_EX_HTYPE]);
}

std::string text_of(const std::string& kind, const nlattr* options) {
  const Attributes parts = nested(options);
  if (kind == "gact") {
    const int action = value<tc_gact>(parts[TCA_GACT_PARMS]).action;
    if ((action & ~TC_ACT_EXT_VAL_MASK) != TC_ACT_GOTO_CHAIN) return "gact?";
    return fmt::format("goto {}", action & TC_ACT_EXT_VAL_MASK);
  }
  if (kind == "pedit") {
    const Pedit pedit = pedit_of(options);
    return fmt::format("pedit ip{} {:08x}/{:08x}",
                       pedit_header(options) == TCA_PEDIT_KEY_EX_HDR_TYPE_IP4 ? 4 : 6,
                       ntohl(pedit.key.val), ntohl(pedit.key.mask));
  }
  if (kind == "csum") return "csum";
  if (kind == "skbedit")
    return fmt::format("priority {}", value<std::uint32_t>(parts[TCA_SKBEDIT_PRIORITY]));
  return kind + "?";
}

bool in_hardware(const nlmsghdr* message) {
  return (read(const_cast<nlmsghdr*>(message)).flags & TCA_CLS_FLAGS_SKIP_SW) != 0;
}

/// As the kernel tells a filter that a driver has taken, or not.
void mark(nlmsghdr* message, bool hardware) {
  Attributes top{};
  nlmsg_parse(message, sizeof(tcmsg), top.data(), kMost, nullptr);
  nlattr* flags = nested(top[TCA_OPTIONS])[TCA_FLOWER_FLAGS];
  auto now = value<std::uint32_t>(flags);
  now = hardware ? now | TCA_CLS_FLAGS_IN_HW : now & ~std::uint32_t{TCA_CLS_FLAGS_IN_HW};
  std::memcpy(nla_data(flags), &now, sizeof now);
}

nlmsghdr* message_in(const std::vector<std::uint32_t>& octets) {
  return reinterpret_cast<nlmsghdr*>(const_cast<std::uint32_t*>(octets.data()));
}

}  // namespace

Kernel& Kernel::now() { return *kernel(); }
void Kernel::reset() { kernel() = std::make_unique<Kernel>(); }

int Kernel::events_fd() {
  if (!event_) event_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return ::dup(event_.get());
}

void Kernel::tell(std::optional<Ifindex> another) {
  if (another) changed_.insert(*another);
  const std::uint64_t one = 1;
  if (event_) (void)!::write(event_.get(), &one, sizeof one);
}

std::vector<Ifindex> Kernel::take() {
  std::uint64_t seen = 0;
  (void)!::read(event_.get(), &seen, sizeof seen);
  std::vector<Ifindex> out(changed_.begin(), changed_.end());
  changed_.clear();
  return out;
}

bool Kernel::is_bound(std::uint32_t block) const {
  return std::ranges::any_of(ports, [&](const auto& p) {
    return p.second.ingress_block == block || p.second.egress_block == block;
  });
}

void Kernel::drop_empty_blocks() {
  std::erase_if(filters_, [&](const auto& f) { return !is_bound(f.first.block); });
}

void Kernel::another(std::uint32_t port, const std::string& what) {
  if (what == "vanish") ports.erase(port);
  if (what == "del clsact") ports[port] = {.chip = ports[port].chip};
  if (what == "add clsact") ports[port].clsact = true;
  if (what == "add ingress") ports[port].ingress_qdisc = true;
  drop_empty_blocks();
  tell(*Ifindex::make(port));
}

void Kernel::evict(std::uint32_t block) {
  for (auto& [key, octets] : filters_)
    if (key.block == block) mark(message_in(octets), false);
}

std::size_t Kernel::remove(const std::string& what) {
  const std::vector<std::string> lines = filters();
  std::size_t i = 0;
  const auto gone = std::erase_if(
      filters_, [&](const auto&) { return lines[i++].find(what) != std::string::npos; });
  if (gone != 0) tell(Ifindex());
  return gone;
}

std::vector<std::string> Kernel::filters() const {
  std::vector<std::string> out;
  for (const auto& [key, octets] : filters_) {
    const Read f = read(message_in(octets));
    std::string line = fmt::format("{:x} chain {} pref {} proto {:04x} handle {}", key.block,
                                   key.chain, key.preference, key.protocol, key.handle);
    if (f.type) line += fmt::format(" type {:04x}", *f.type);
    if (f.in) line += " in " + *f.in;
    if (f.tos) line += fmt::format(" tos {:02x}/{:02x}", *f.tos, f.tos_mask);
    line += f.flags == TCA_CLS_FLAGS_SKIP_HW                           ? " software"
            : f.flags == (TCA_CLS_FLAGS_SKIP_SW | TCA_CLS_FLAGS_IN_HW) ? " hardware"
                                                                       : " ?";
    for (const auto& [kind, options] : f.actions) line += ", " + text_of(kind, options);
    out.push_back(line);
  }
  return out;
}

void Kernel::classify(Packet& packet, std::uint32_t block) const {
  const std::uint16_t type = packet.ipv6 ? ETH_P_IPV6 : ETH_P_IP;
  const auto tos = [&]() -> std::uint8_t {
    return static_cast<std::uint8_t>(
        packet.ipv6 ? (packet.header[0] & 0xf) << 4 | packet.header[1] >> 4 : packet.header[1]);
  };
  std::uint32_t chain = 0;
  for (bool jumped = true; jumped;) {
    jumped = false;
    for (const auto& [key, octets] : filters_) {  // in order of preference
      if (key.block != block || key.chain != chain) continue;
      if (key.protocol != ETH_P_ALL && key.protocol != type) continue;
      const Read f = read(message_in(octets));
      if (f.type && *f.type != type) continue;
      if (f.in && *f.in != std::to_string(packet.in.value())) continue;
      if (f.tos && (tos() & f.tos_mask) != (*f.tos & f.tos_mask)) continue;
      for (const auto& [kind, options] : f.actions) {
        const Attributes parts = nested(options);
        int action = TC_ACT_PIPE;
        if (kind == "gact") {
          action = value<tc_gact>(parts[TCA_GACT_PARMS]).action;
          chain = static_cast<std::uint32_t>(action & TC_ACT_EXT_VAL_MASK);
          jumped = (action & ~TC_ACT_EXT_VAL_MASK) == TC_ACT_GOTO_CHAIN;
        } else if (kind == "pedit") {
          const Pedit pedit = pedit_of(options);
          EXPECT_EQ(pedit_header(options),
                    packet.ipv6 ? TCA_PEDIT_KEY_EX_HDR_TYPE_IP6 : TCA_PEDIT_KEY_EX_HDR_TYPE_IP4);
          std::uint32_t word = 0;
          std::memcpy(&word, packet.header.data(), sizeof word);
          word = (word & pedit.key.mask) ^ pedit.key.val;
          std::memcpy(packet.header.data(), &word, sizeof word);
          packet.checksum_right = packet.ipv6 || (f.flags & TCA_CLS_FLAGS_SKIP_SW) != 0;
          action = pedit.sel.action;
        } else if (kind == "csum") {
          const auto sum = value<tc_csum>(parts[TCA_CSUM_PARMS]);
          EXPECT_EQ(sum.update_flags, std::uint32_t{TCA_CSUM_UPDATE_FLAG_IPV4HDR});
          packet.checksum_right = true;
          action = sum.action;
        } else if (kind == "skbedit") {
          packet.priority = value<std::uint32_t>(parts[TCA_SKBEDIT_PRIORITY]);
          action = value<tc_skbedit>(parts[TCA_SKBEDIT_PARMS]).action;
        }
        if (action != TC_ACT_PIPE) break;
      }
      break;  // the first that matches
    }
  }
}

Packet Kernel::through(Packet packet, std::uint32_t out) const {
  if (const auto in = ports.find(packet.in.value()); in != ports.end() && in->second.ingress_block)
    classify(packet, in->second.ingress_block);
  if (const auto at = ports.find(out); at != ports.end() && at->second.egress_block)
    classify(packet, at->second.egress_block);
  return packet;
}

Result<void> Kernel::request(nlmsghdr* message) {
  if (refusal && refusal->after-- == 0) {
    const Refusal why = *refusal;
    refusal.reset();
    log.push_back(fmt::format("refused {}", why.code));
    return fail(error(why.code, "refused", why.words));
  }
  const bool about_qdisc =
      message->nlmsg_type == RTM_NEWQDISC || message->nlmsg_type == RTM_DELQDISC;
  auto done = about_qdisc ? qdisc(message) : filter(message);
  if (done) tell(std::nullopt);
  return done;
}

Result<void> Kernel::qdisc(nlmsghdr* message) {
  const auto* tcm = static_cast<const tcmsg*>(nlmsg_data(message));
  const auto number = static_cast<std::uint32_t>(tcm->tcm_ifindex);
  Attributes top{};
  nlmsg_parse(message, sizeof(tcmsg), top.data(), kMost, nullptr);
  EXPECT_STREQ(nla_get_string(top[TCA_KIND]), "clsact");
  EXPECT_EQ(tcm->tcm_parent, TC_H_CLSACT);
  if (!ports.contains(number)) return fail(error(ENODEV, "qdisc"));
  Port& port = ports[number];
  if (message->nlmsg_type == RTM_DELQDISC) {
    if (!port.clsact && !port.ingress_qdisc) return fail(error(ENOENT, "RTM_DELQDISC"));
    if (port.ingress_qdisc) return fail(error(EINVAL, "RTM_DELQDISC"));
    log.push_back(fmt::format("del clsact {}", number));
    port = {.chip = port.chip};
    drop_empty_blocks();
    return {};
  }
  EXPECT_EQ(tcm->tcm_handle, TC_H_MAKE(TC_H_CLSACT, 0));
  EXPECT_EQ(message->nlmsg_flags & (NLM_F_CREATE | NLM_F_EXCL), NLM_F_CREATE | NLM_F_EXCL);
  if (port.clsact || port.ingress_qdisc) return fail(error(EEXIST, "RTM_NEWQDISC"));
  const auto in = value<std::uint32_t>(top[TCA_INGRESS_BLOCK]);
  const auto out = value<std::uint32_t>(top[TCA_EGRESS_BLOCK]);
  if (!port.chip)
    for (const auto& [key, octets] : filters_)
      if ((key.block == in || key.block == out) && in_hardware(message_in(octets)))
        return fail(error(EOPNOTSUPP, "RTM_NEWQDISC"));
  port.clsact = true;
  port.ingress_block = in;
  port.egress_block = out;
  log.push_back(fmt::format("add clsact {} {:x} {:x}", number, in, out));
  return {};
}

Result<void> Kernel::filter(nlmsghdr* message) {
  const auto* tcm = static_cast<const tcmsg*>(nlmsg_data(message));
  EXPECT_EQ(static_cast<std::uint32_t>(tcm->tcm_ifindex), TCM_IFINDEX_MAGIC_BLOCK);
  Attributes top{};
  nlmsg_parse(message, sizeof(tcmsg), top.data(), kMost, nullptr);
  const Key key{.block = tcm->tcm_parent,
                .chain = top[TCA_CHAIN] != nullptr ? value<std::uint32_t>(top[TCA_CHAIN]) : 0,
                .preference = tcm->tcm_info >> 16,
                .protocol = ntohs(static_cast<std::uint16_t>(tcm->tcm_info)),
                .handle = tcm->tcm_handle};
  const bool put = message->nlmsg_type == RTM_NEWTFILTER;
  const std::string line = fmt::format("{} {:x} {} {} {:04x} {}", put ? "put" : "del", key.block,
                                       key.chain, key.preference, key.protocol, key.handle);
  if (!is_bound(key.block)) return fail(error(EINVAL, "filter"));
  if (!put) {
    if (filters_.erase(key) == 0) return fail(error(ENOENT, "RTM_DELTFILTER"));
    log.push_back(line);
    return {};
  }
  EXPECT_NE(message->nlmsg_flags & NLM_F_CREATE, 0);
  EXPECT_FALSE(filters_.contains(key)) << "one more on top: " << line;
  const bool hardware = in_hardware(message);
  if (hardware) {
    for (const auto& [number, port] : ports)
      if ((port.ingress_block == key.block || port.egress_block == key.block) && !port.chip)
        return fail(error(EOPNOTSUPP, "RTM_NEWTFILTER"));
    if (!takes_filters) return fail(error(ENOSPC, "RTM_NEWTFILTER", "The table of rules is full"));
  }
  std::vector<std::uint32_t> octets((message->nlmsg_len + 3) / 4);
  std::memcpy(octets.data(), message, message->nlmsg_len);
  if (hardware) mark(message_in(octets), true);
  filters_[key] = std::move(octets);
  log.push_back(line + (hardware ? " hardware" : ""));
  return {};
}

Result<void> Kernel::dump(nlmsghdr* message, const std::function<void(const TcObject&)>& each) {
  ++dumps;
  EXPECT_NE(message->nlmsg_flags & NLM_F_DUMP, 0);
  if (refusal && refusal->after < 0) return fail(error(refusal->code, "dump"));
  if (message->nlmsg_type == RTM_GETQDISC) {
    for (const auto& [number, port] : ports) {
      each({.port = *Ifindex::make(number), .kind = "noqueue"});
      if (port.ingress_qdisc) each({.port = *Ifindex::make(number), .kind = "ingress"});
      if (port.clsact)
        each({.port = *Ifindex::make(number),
              .kind = "clsact",
              .ingress_block = port.ingress_block,
              .egress_block = port.egress_block});
    }
    return {};
  }
  EXPECT_EQ(message->nlmsg_type, RTM_GETTFILTER);
  const auto block = static_cast<const tcmsg*>(nlmsg_data(message))->tcm_parent;
  if (!is_bound(block) && no_such_block != 0) return fail(error(no_such_block, "RTM_GETTFILTER"));
  for (const auto& [key, octets] : filters_)
    if (key.block == block)
      if (const auto object = parse_tc(message_in(octets))) each(*object);
  return {};
}

Result<void> Kernel::links(Ifindex port,
                           const std::function<void(Ifindex, const LinkFacts&)>& each) {
  ++link_reads;
  const auto at = ports.find(port.value());
  if (at == ports.end()) return fail(error(ENODEV, "RTM_GETLINK"));
  each(port, {.switch_port = at->second.chip});
  return {};
}

}  // namespace fake

Result<TcSocket> TcSocket::open() { return TcSocket(UniqueFd(::eventfd(0, EFD_CLOEXEC))); }
std::uint32_t TcSocket::port_id() const { return 1; }
Result<void> TcSocket::request(const TcMessage& message) {
  return fake::Kernel::now().request(nlmsg_hdr(message.get()));
}
Result<void> TcSocket::dump(const TcMessage& message,
                            const std::function<void(const TcObject&)>& each) {
  return fake::Kernel::now().dump(nlmsg_hdr(message.get()), each);
}
Result<void> TcSocket::links(Ifindex port,
                             const std::function<void(Ifindex, const LinkFacts&)>& each) {
  return fake::Kernel::now().links(port, each);
}
Result<TcEvents> TcEvents::open() { return TcEvents(UniqueFd(fake::Kernel::now().events_fd())); }
std::vector<Ifindex> TcEvents::take() { return fake::Kernel::now().take(); }

}  // namespace lldp::dataplane
