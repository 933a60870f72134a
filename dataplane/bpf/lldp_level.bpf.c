// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The rules of one port, in the kernel: `lldp_level_in` on its ingress, `lldp_level_out` on its
 * egress.
 *
 * A packet's class is its DSCP; the PCP of its VLAN tags follows. What is not IP, or is cut off
 * within its IP header, passes untouched. Both programs leave the verdict to whoever comes next on
 * the hook.
 *
 * The IP header is written in place: by a helper it costs 11 ns more a packet. The price is that
 * the kernel gives each cloned packet that leaves here (local TCP, captures) a head of its own. */
// <bpf/...> takes the types of <linux/...> for granted.
// clang-format off
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
// clang-format on

#include "lldp_level_shared.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct lldp_level_rules rules = {};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, LLDP_LEVEL_SLOTS);
  __type(key, __u32);
  __type(value, struct lldp_level_bounces);
} bounces SEC(".maps");

enum { MAX_TAGS = 2, TAG_LEN = 4, PCP_SHIFT = 13 };

struct packet {
  __u32 ip;   /* offset of the IP header */
  __u32 tags; /* VLAN tags before it that are part of the data */
  bool v6;
  __u8 tos; /* DSCP and ECN */
};

enum found { NOT_IP, CUT_OFF, IS_IP };

static __always_inline enum found parse(struct __sk_buff* skb, struct packet* p) {
  void* data = (void*)(long)skb->data;
  void* end = (void*)(long)skb->data_end;
  struct ethhdr* eth = data;
  __u32 at = sizeof(*eth);
  __u16 type;

  if (data + at > end) return CUT_OFF;
  type = eth->h_proto;
  p->tags = 0;
#pragma unroll
  for (int i = 0; i < MAX_TAGS; i++) {
    if (type != bpf_htons(ETH_P_8021Q) && type != bpf_htons(ETH_P_8021AD)) break;
    if (data + at + TAG_LEN > end) return CUT_OFF;
    type = *(__u16*)(data + at + 2);
    at += TAG_LEN;
    p->tags++;
  }
  p->ip = at;
  if (type == bpf_htons(ETH_P_IP)) {
    struct iphdr* ip = data + at;

    if ((void*)(ip + 1) > end) return CUT_OFF;
    if (*(__u8*)ip != 0x45 && (ip->version != 4 || ip->ihl < 5 || at + ip->ihl * 4 > skb->len))
      return NOT_IP;
    p->v6 = false;
    p->tos = ip->tos;
    return IS_IP;
  }
  if (type == bpf_htons(ETH_P_IPV6)) {
    struct ipv6hdr* ip = data + at;

    if ((void*)(ip + 1) > end) return CUT_OFF;
    if (ip->version != 6) return NOT_IP;
    p->v6 = true;
    p->tos = bpf_ntohs(*(__be16*)ip) >> 4;
    return IS_IP;
  }
  return NOT_IP;
}

/* The same for the most frequent packets, of one version and without tags or options, so that all
 * offsets are constants. */
static __always_inline bool parse_plain(struct __sk_buff* skb, bool v6, struct packet* p) {
  void* data = (void*)(long)skb->data;
  __be16* type = data + offsetof(struct ethhdr, h_proto); /* struct ethhdr is read by octets */
  __u8* ip = data + sizeof(struct ethhdr);
  __u32 header = v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);

  if (ip + header > (__u8*)(long)skb->data_end) return false;
  if (*type != bpf_htons(v6 ? ETH_P_IPV6 : ETH_P_IP)) return false;
  if (v6 ? ip[0] >> 4 != 6 : ip[0] != 0x45) return false;
  p->ip = sizeof(struct ethhdr);
  p->tags = 0;
  p->v6 = v6;
  p->tos = v6 ? bpf_ntohs(*(__be16*)ip) >> 4 : ip[1];
  return true;
}

/* The IP header of an untagged or tagged packet, also where a driver left it outside the linear
 * data. */
static __always_inline bool find_ip(struct __sk_buff* skb, struct packet* p) {
  enum { LONGEST = sizeof(struct ethhdr) + MAX_TAGS * TAG_LEN + sizeof(struct ipv6hdr) };
  enum found found = parse(skb, p);

  if (found == CUT_OFF) {
    __u32 len = skb->len < LONGEST ? skb->len : LONGEST;

    if (bpf_skb_pull_data(skb, len)) return false;
    found = parse(skb, p);
  }
  return found == IS_IP;
}

SEC("tc")
int lldp_level_in(struct __sk_buff* skb) {
  __u32 mark = rules.tag ? LLDP_LEVEL_MARK | rules.tag : 0;
  struct packet p;

  if (parse_plain(skb, false, &p) || parse_plain(skb, true, &p) || find_ip(skb, &p)) {
    __u8 priority = rules.priority_of[p.tos >> 2];

    if (priority) {
      skb->priority = priority & LLDP_LEVEL_PRIORITY_MASK;
      mark |= LLDP_LEVEL_MARK | priority << LLDP_LEVEL_MARK_PRIORITY_SHIFT;
    }
  }
  /* A mark of ours may have come along from another namespace; others' values are not ours to
   * clear. */
  if (mark || (skb->tc_index & LLDP_LEVEL_MARK_MASK) == LLDP_LEVEL_MARK) skb->tc_index = mark;
  return TC_ACT_UNSPEC;
}

/* The DSCP, in place. */
static __always_inline long write_dscp(struct __sk_buff* skb, const struct packet* p,
                                       const struct lldp_level_turn* turn) {
  void* at = (void*)(long)skb->data + p->ip;
  struct iphdr* ip = at;
  __u32 sum;

  if ((void*)(ip + 1) > (void*)(long)skb->data_end) return -1;
  if (p->v6) {
    *(__be16*)at ^= bpf_htons((__u16)turn->flip << 4);
    return 0;
  }
  ip->tos = p->tos ^ turn->flip;
  sum = (__u16)~ip->check + turn->sum;
  ip->check = ~(sum + (sum >> 16));
  return 0;
}

/* In every tag of the data: a switch that takes the outer one off must not find the old priority in
 * the inner one. DEI and VID stay. */
static __always_inline long write_pcp(struct __sk_buff* skb, __u32 tags, __u8 priority) {
#pragma unroll
  for (__u32 i = 0; i < MAX_TAGS; i++) {
    __u32 at = sizeof(struct ethhdr) + i * TAG_LEN;
    __u8 octet;

    if (i >= tags) break;
    if (bpf_skb_load_bytes(skb, at, &octet, 1)) return -1;
    octet = (octet & 0x1f) | priority << 5;
    if (bpf_skb_store_bytes(skb, at, &octet, 1, 0)) return -1;
  }
  return 0;
}

/* The same for a tag that the network interface is to put in front: it cannot be written, only
 * replaced. */
static __always_inline long replace_pcp(struct __sk_buff* skb, __u8 priority) {
  __u16 old = skb->vlan_tci;
  __be16 proto = skb->vlan_proto;
  __u16 tci = (old & 0x1fff) | (__u16)priority << PCP_SHIFT;

  if (tci == old) return 0;
  if (bpf_skb_vlan_pop(skb)) return -1;
  return bpf_skb_vlan_push(skb, proto, tci);
}

static __always_inline void count(__u32 port, __u8 priority) {
#pragma unroll
  for (__u32 i = 0; i < LLDP_LEVEL_PROBES; i++) {
    __u32 slot = (port + i) % LLDP_LEVEL_SLOTS;
    struct lldp_level_bounces* b = bpf_map_lookup_elem(&bounces, &slot);

    if (b && b->port == port) {
      b->packets[priority]++;
      return;
    }
  }
}

enum turned { TURNED, SAME_CLASS, STUCK };

static __always_inline enum turned change(struct __sk_buff* skb, const struct packet* p) {
  const struct lldp_level_turn* turn = (const void*)&rules.turn_of[p->tos >> 2];

  if (!turn->from) return SAME_CLASS;
  if (write_dscp(skb, p, turn)) return STUCK;
  if (p->tags && write_pcp(skb, p->tags, turn->priority)) return STUCK;
  if (skb->vlan_present && replace_pcp(skb, turn->priority)) return STUCK;
  skb->priority = turn->priority;
  count(skb->ifindex, turn->from & LLDP_LEVEL_PRIORITY_MASK);
  return TURNED;
}

static __always_inline enum turned turn(struct __sk_buff* skb) {
  struct packet p;

  if (parse_plain(skb, false, &p)) return change(skb, &p);
  if (parse_plain(skb, true, &p)) return change(skb, &p);
  return find_ip(skb, &p) ? change(skb, &p) : SAME_CLASS;
}

SEC("tc")
int lldp_level_out(struct __sk_buff* skb) {
  __u32 mark = skb->tc_index;
  __u32 priority = mark >> LLDP_LEVEL_MARK_PRIORITY_SHIFT;

  if ((mark & LLDP_LEVEL_MARK_MASK) != LLDP_LEVEL_MARK) return TC_ACT_UNSPEC;
  /* One port, one turn: the mark goes no further. */
  skb->tc_index = 0;
  if (rules.turning_tags >> (mark & LLDP_LEVEL_MARK_TAG_MASK) & 1) {
    switch (turn(skb)) {
      case TURNED:
        return TC_ACT_UNSPEC;
      case STUCK: /* It would fill the buffers that it must not fill. */
        return TC_ACT_SHOT;
      case SAME_CLASS:
        break;
    }
  }
  /* IPv4 forwarding has meanwhile derived another one from the TOS (ip_forward_update_priority). */
  if (priority & LLDP_LEVEL_SET) skb->priority = priority & LLDP_LEVEL_PRIORITY_MASK;
  return TC_ACT_UNSPEC;
}
