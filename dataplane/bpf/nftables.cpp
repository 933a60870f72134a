// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/nftables.hpp"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <utility>

#include "dataplane/tc.hpp"
#include "os/netlink.hpp"

namespace lldp::dataplane::bpf {
namespace {

constexpr std::size_t kAnswer = 1024;  ///< the generation, and the name of a program
constexpr std::size_t kDump = 32768;

}  // namespace

int Nftables::ask(int type, int flags, std::uint8_t family, std::span<char> buffer,
                  const Each& each, std::string_view table) {
  const std::unique_ptr<nl_msg, NlMsgFree> message(
      nlmsg_alloc_simple(NFNL_SUBSYS_NFTABLES << 8 | type, NLM_F_REQUEST | flags));
  if (!message) throw std::bad_alloc();
  const nfgenmsg head{.nfgen_family = family, .version = NFNETLINK_V0, .res_id = 0};
  nlmsg_append(message.get(), const_cast<nfgenmsg*>(&head), sizeof head, NLMSG_ALIGNTO);
  if (!table.empty() &&
      nla_put_string(message.get(), NFTA_RULE_TABLE, std::string(table).c_str()) < 0)
    throw std::bad_alloc();
  const auto refusal =
      netlink::ask(socket_.get(), nlmsg_hdr(message.get()), ++sequence_, buffer, each);
  return refusal ? refusal->code : 0;
}

bool Nftables::is_missing() const {
  // A question to a kernel without nftables starts a program that looks for the module.
  return refused_ && ::access("/sys/module", F_OK) == 0 &&
         ::access("/sys/module/nf_tables", F_OK) != 0 && errno == ENOENT;
}

int Nftables::read_family(std::uint8_t family, bool of_stack, std::span<char> buffer,
                          std::vector<NftChain>& all, std::vector<NftRule>& rules) {
  std::vector<NftChain> chains;
  std::set<std::string> tables;  // without the family
  if (const int code = ask(NFT_MSG_GETCHAIN, NLM_F_DUMP, family, buffer, [&](nlmsghdr* m) {
        auto one = parse_nft_chain(m);
        if (one && (of_stack || one->part)) chains.push_back(std::move(*one));
      }))
    return code;
  if (chains.empty()) return 0;
  if (const int code = ask(NFT_MSG_GETTABLE, NLM_F_DUMP, family, buffer, [&](nlmsghdr* m) {
        if (const auto name = parse_dormant_table(m))
          std::erase_if(chains, [&](const NftChain& c) { return c.table == *name; });
      }))
    return code;
  for (const NftChain& chain : chains) tables.insert(chain.table.substr(chain.table.find(' ') + 1));
  all.insert(all.end(), chains.begin(), chains.end());
  for (const std::string& table : tables)
    if (const int code = ask(
            NFT_MSG_GETRULE, NLM_F_DUMP, family, buffer,
            [&](nlmsghdr* m) {
              auto one = parse_nft_rule(m);
              if (one && one->matters()) rules.push_back(std::move(*one));
            },
            table))
      return code;
  return 0;
}

int Nftables::read_all(std::vector<NftBypass>& found) {
  std::vector<char> buffer(kDump);
  std::vector<NftChain> chains;
  std::vector<NftRule> rules;
  if (const int code = ask(NFT_MSG_GETFLOWTABLE, NLM_F_DUMP, NFPROTO_UNSPEC, buffer,
                           [&](nlmsghdr* m) {
                             if (auto one = parse_nft_flowtable(m))
                               found.push_back(std::move(*one));
                           });
      code != 0 && code != EOPNOTSUPP && code != EINVAL)  // before Linux 4.16
    return code;
  for (const std::uint8_t family : {NFPROTO_NETDEV, NFPROTO_INET})
    if (const int code = read_family(family, false, buffer, chains, rules)) return code;
  const auto by_chains = bypasses_of(chains, rules);
  found.insert(found.end(), by_chains.begin(), by_chains.end());
  return 0;
}

void Nftables::refuse(int code) {
  generation_.reset();
  unread_ = Error{code, "nftables", std::strerror(code)};
}

void Nftables::watch() {
  if (auto watch = NftWatch::open()) watch_.emplace(std::move(*watch));
}

bool Nftables::take() {
  const bool told = watch_ && watch_->take();
  told_ |= told;
  return told;
}

void Nftables::read() {
  told_ = false;  // before it is read: what is told meanwhile is read again
  if (is_missing()) return;
  const auto end = [this](std::vector<NftBypass> found) {
    unread_.reset();
    found_ = std::move(found);
  };
  if (!socket_) {
    auto socket = netlink::open(NETLINK_NETFILTER, "nftables");
    // A kernel without netfilter.
    if (!socket && socket.error().code == EPROTONOSUPPORT) return end({});
    if (!socket) return refuse(socket.error().code);
    socket_ = std::move(*socket);
    // The kernel makes the parts of a dump as large as what was last received.
    std::vector<char> large(kDump);
    ask(NFT_MSG_GETGEN, 0, NFPROTO_UNSPEC, large, nullptr);
  }
  alignas(nlmsghdr) std::array<char, kAnswer> buffer{};
  std::optional<std::uint32_t> generation;
  const int code = ask(NFT_MSG_GETGEN, 0, NFPROTO_UNSPEC, buffer, [&](nlmsghdr* m) {
    if (nlattr* const id = nlmsg_find_attr(m, sizeof(nfgenmsg), NFTA_GEN_ID))
      generation = value_of<std::uint32_t>(id);
  });
  refused_ = code == EINVAL || code == EOPNOTSUPP;
  if (refused_) {
    generation_.reset();
    return end({});
  }
  if (code != 0) return refuse(code);
  if (generation && generation == generation_) return;
  std::vector<NftBypass> found;
  if (const int why = read_all(found)) return refuse(why);
  // What changes while it is read has another generation, which the next read() finds.
  generation_ = generation;
  end(std::move(found));
}

std::optional<NftBypass> Nftables::past(std::string_view interface, Part part, bool below) const {
  const auto at = std::ranges::find_if(found_, [&](const NftBypass& b) {
    // At the ingress of a port the rules come before, and at its egress they come behind: what is
    // written there is put right, and a copy is treated as any packet.
    return b.part == part &&
           (below || b.in_hardware || (b.does == NftDoes::kSendsOn && part == Part::kRemap)) &&
           std::ranges::any_of(b.devices,
                               [&](const NftDevice& device) { return device.matches(interface); });
  });
  return at == found_.end() ? std::nullopt : std::optional(*at);
}

std::optional<NftBypass> Nftables::on_the_way(NftDoes does) {
  if (!generation_) read();
  if (!generation_) return std::nullopt;  // none, or unread()
  if (on_the_way_of_ != generation_) {
    std::vector<char> buffer(kDump);
    std::vector<NftChain> chains;
    std::vector<NftRule> rules;
    if (const int why = read_family(NFPROTO_UNSPEC, true, buffer, chains, rules)) {
      refuse(why);
      return std::nullopt;
    }
    on_the_way_.clear();
    for (NftBypass& b : bypasses_of(chains, rules)) {
      // What an ingress sends on keeps the interface that it came by.
      if (b.does == NftDoes::kSendsOn && b.part != Part::kRemap) continue;
      if (std::ranges::find(on_the_way_, b.does, &NftBypass::does) == on_the_way_.end())
        on_the_way_.push_back(std::move(b));
    }
    on_the_way_of_ = generation_;
  }
  const auto at = std::ranges::find(on_the_way_, does, &NftBypass::does);
  return at == on_the_way_.end() ? std::nullopt : std::optional(*at);
}

}  // namespace lldp::dataplane::bpf
