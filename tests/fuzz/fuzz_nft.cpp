// SPDX-License-Identifier: Apache-2.0
// Messages of a dump of nftables, as the kernel gives them: of each its type's lower octet, its
// length (two octets) and what follows the netlink header. And names of legacy tables and targets.
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "dataplane/bpf/mark_needs.hpp"
#include "dataplane/bpf/nft_rules.hpp"

/// Two lists of names in one, of any octets.
void read_names(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t middle = std::min(all.find('\0'), size);
  (void)lldp::dataplane::bpf::written_by_tables(all.substr(0, middle), all.substr(middle));
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lldp::dataplane::bpf;
  read_names(data, size);
  std::vector<NftChain> chains;
  std::vector<NftRule> rules;
  std::vector<NftBypass> flowtables;
  constexpr std::size_t kHead = 3;
  while (size >= kHead) {
    const std::size_t wanted = static_cast<std::size_t>(data[1]) << 8 | data[2];
    const std::size_t body = std::min(wanted, size - kHead);
    // Of its own size, so that every octet behind it is none of its.
    const std::size_t length = NLMSG_HDRLEN + body;
    const std::unique_ptr<std::uint32_t[]> room(new std::uint32_t[(length + 3) / 4]);
    auto* header = reinterpret_cast<nlmsghdr*>(room.get());
    *header = {};
    header->nlmsg_len = static_cast<std::uint32_t>(length);
    header->nlmsg_type = static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | data[0]);
    if (body != 0) std::memcpy(NLMSG_DATA(header), data + kHead, body);
    if (auto one = parse_nft_chain(header)) chains.push_back(std::move(*one));
    if (auto one = parse_nft_rule(header)) rules.push_back(std::move(*one));
    if (auto one = parse_nft_flowtable(header)) flowtables.push_back(std::move(*one));
    (void)parse_dormant_table(header);
    data += kHead + body;
    size -= kHead + body;
  }
  if (bypasses_of(chains, rules).size() > kNftDoes * chains.size()) __builtin_trap();
  return 0;
}
