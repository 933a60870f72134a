// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* For a socket that hears of routes and nexthops (rtnetlink): lets through those with a BPF program
 * (`encap bpf`), and answers to questions. A switch may have a million routes without one, which
 * come and go: the daemon does not wake.
 *
 * Not in classic BPF, which has no loop: unrolled for routes over 64 paths it is larger than the
 * kernel takes (net.core.optmem_max). */
// <bpf/...> takes the types of <linux/...> for granted.
// clang-format off
#include <linux/bpf.h>
#include <linux/lwtunnel.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>
// clang-format on

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { DROP = 0, PASS = -1 };

/* A message with more is let through: the kernel gives a route up to a dozen attributes, and its
 * verifier takes time for each. */
enum { MOST_ATTRIBUTES = 16, MOST_PATHS = 64 };

struct encapsulation_type {
  struct nlattr head;
  __u16 type;
  __u16 padding;
};

/* The paths of a route: of each a struct rtnexthop, and attributes of its own. With one of these
 * alone, its gateway, or none it has no encapsulation, for that is two, of which the type comes
 * last. */
static __always_inline int check_paths(struct __sk_buff* skb, __u32 at, __u32 end) {
  for (int i = 0; i < MOST_PATHS; i++) {
    struct {
      struct rtnexthop path;
      struct nlattr first;
    } its;
    struct encapsulation_type last;
    if (at >= end || bpf_skb_load_bytes(skb, at, &its, sizeof its)) return DROP;
    const __u32 size = RTNH_ALIGN(its.path.rtnh_len);
    if (size < sizeof its.path) return DROP;
    at += size;
    if (sizeof its.path + NLA_ALIGN(its.first.nla_len) >= size) continue;
    if (bpf_skb_load_bytes(skb, at - sizeof last, &last, sizeof last)) return DROP;
    if (last.head.nla_type != RTA_ENCAP_TYPE || last.type == LWTUNNEL_ENCAP_BPF) return PASS;
  }
  return at >= end ? DROP : PASS;
}

static __always_inline int check(struct __sk_buff* skb, __u32 at, bool is_route) {
  for (int i = 0; i < MOST_ATTRIBUTES; i++) {
    struct encapsulation_type its = {};
    if (bpf_skb_load_bytes(skb, at, &its.head, sizeof its.head)) return DROP; /* the end */
    const __u16 type = its.head.nla_type & NLA_TYPE_MASK;
    if (its.head.nla_len < sizeof its.head) return DROP;
    if (type == (is_route ? RTA_ENCAP_TYPE : NHA_ENCAP_TYPE)) {
      if (bpf_skb_load_bytes(skb, at, &its, NLA_HDRLEN + sizeof its.type)) return DROP;
      return its.type == LWTUNNEL_ENCAP_BPF ? PASS : DROP;
    }
    if (type == RTA_MULTIPATH && is_route)
      return check_paths(skb, at + NLA_HDRLEN, at + its.head.nla_len);
    at += NLA_ALIGN(its.head.nla_len);
  }
  return PASS;
}

SEC("socket")
int lldp_level_routes(struct __sk_buff* skb) {
  struct nlmsghdr message;
  if (bpf_skb_load_bytes(skb, 0, &message, sizeof message)) return DROP;
  /* A part of a list that was asked for, or its end, or a refusal. */
  if (message.nlmsg_flags & NLM_F_MULTI || message.nlmsg_type < NLMSG_MIN_TYPE) return PASS;
  switch (message.nlmsg_type) {
    case RTM_NEWROUTE:
    case RTM_DELROUTE:
      return check(skb, NLMSG_LENGTH(sizeof(struct rtmsg)), true);
    case RTM_NEWNEXTHOP:
    case RTM_DELNEXTHOP:
      return check(skb, NLMSG_LENGTH(sizeof(struct nhmsg)), false);
    default: /* as of buckets of nexthops */
      return DROP;
  }
}
