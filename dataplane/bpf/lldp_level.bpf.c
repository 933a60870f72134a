// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The rules of one port, in the kernel: `lldp_level_in` on its ingress, `lldp_level_out` on its
 * egress.
 *
 * A packet's class is its DSCP; the PCP of its VLAN tags follows. What is not IP, or is cut off
 * within its IP header, passes untouched. Both programs leave the verdict to what comes next on the
 * hook.
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

struct lldp_level_state state = {};

enum { MAX_TAGS = 2, TAG_LEN = 4, PCP_SHIFT = 13 };

struct packet {
  __u32 ip;   /* offset of the IP header */
  __u32 tags; /* VLAN tags before it that are part of the data */
  bool v6;
  __u8 tos;  /* DSCP and ECN */
  __u8 hops; /* TTL or hop limit */
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
    p->hops = ip->ttl;
    return IS_IP;
  }
  if (type == bpf_htons(ETH_P_IPV6)) {
    struct ipv6hdr* ip = data + at;

    if ((void*)(ip + 1) > end) return CUT_OFF;
    if (ip->version != 6) return NOT_IP;
    p->v6 = true;
    p->tos = bpf_ntohs(*(__be16*)ip) >> 4;
    p->hops = ip->hop_limit;
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
  p->hops = v6 ? ip[7] : ip[8];
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

enum fragment { WHOLE, FIRST, LATER };

/* RFC 8200 4.1 has three headers before the one of a fragment. */
enum { MAX_EXTENSIONS = 4 };

static __always_inline enum fragment fragment_of(struct __sk_buff* skb, const struct packet* p) {
  enum { HOP_BY_HOP = 0, ROUTING = 43, FRAGMENT = 44, OPTIONS = 60 };
  void* at = (void*)(long)skb->data + p->ip;
  __u32 next_at = p->ip + sizeof(struct ipv6hdr);
  struct iphdr* ip = at;
  __u8 next;

  if ((void*)(ip + 1) > (void*)(long)skb->data_end) return WHOLE;
  if (!p->v6) {
    if (!(ip->frag_off & bpf_htons(0x3fff))) return WHOLE;
    return ip->frag_off & bpf_htons(0x1fff) ? LATER : FIRST;
  }
  next = ((struct ipv6hdr*)at)->nexthdr;
#pragma unroll
  for (int i = 0; i < MAX_EXTENSIONS; i++) {
    __u8 head[4];

    if (next != HOP_BY_HOP && next != ROUTING && next != FRAGMENT && next != OPTIONS) return WHOLE;
    if (bpf_skb_load_bytes(skb, next_at, head, sizeof(head))) return WHOLE;
    /* One alone may be all that the kernel has joined. */
    if (next == FRAGMENT) return head[2] || head[3] & 0xf8 ? LATER : FIRST;
    next = head[0];
    next_at += (head[1] + 1) * 8;
  }
  return WHOLE;
}

/* Where a packet is marked as seen to by the egress of a port, for the time in which that has two
 * programs of ours: the first one decides. Behind what IP and bridges keep in the same octets. A
 * packet that comes round again, by ports that are not ours, has fewer hops left. */
enum { DONE_AT = 4 };

/* The DSCP, in place. */
static __always_inline long write_dscp(struct __sk_buff* skb, const struct packet* p,
                                       const struct lldp_level_remap* to) {
  void* at = (void*)(long)skb->data + p->ip;
  struct iphdr* ip = at;
  __u32 sum;

  if ((void*)(ip + 1) > (void*)(long)skb->data_end) return -1;
  if (p->v6) {
    *(__be16*)at ^= bpf_htons((__u16)to->flip << 4);
    return 0;
  }
  ip->tos = p->tos ^ to->flip;
  sum = (__u16)~ip->check + to->sum;
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

/* DSCP, PCP and priority together; without the PCP of the tag that the network interface is to put
 * in front. */
static __always_inline bool remap_data(struct __sk_buff* skb, const struct packet* p,
                                       const struct lldp_level_remap* to) {
  if (write_dscp(skb, p, to)) return false;
  if (p->tags && write_pcp(skb, p->tags, to->priority)) return false;
  skb->priority = to->priority;
  return true;
}

static __always_inline bool remap(struct __sk_buff* skb, const struct packet* p,
                                  const struct lldp_level_remap* to) {
  if (!remap_data(skb, p, to)) return false;
  return !skb->vlan_present || !replace_pcp(skb, to->priority);
}

/* What comes in by a port that is shut, or that some classes do not cross: the packet is looked at
 * once more, so that others pay nothing.
 * Not changed, it would fill a buffer that nothing may wait for.
 * Before Linux 6.12 an ingress program must not push a tag in front of one that is in the data: the
 * kernel then loses four octets. The PCP of such a tag is left to the egress, by the mark. */
static __always_inline bool enter_shut(struct __sk_buff* skb, __u32* mark) {
  const struct lldp_level_remap* to;
  struct packet p;

  if (!find_ip(skb, &p)) return true;
  to = (const void*)&rules.leave_of[p.tos >> 2];
  if (!to->from) return true;
  if (!p.tags || !skb->vlan_present) return remap(skb, &p, to);
  *mark |= LLDP_LEVEL_MARK | LLDP_LEVEL_MARK_PCP |
           (__u32)(LLDP_LEVEL_SET | to->priority) << LLDP_LEVEL_MARK_PRIORITY_SHIFT;
  return remap_data(skb, &p, to);
}

SEC("tc")
int lldp_level_in(struct __sk_buff* skb) {
  __u32 mark = rules.tag ? LLDP_LEVEL_MARK | rules.tag : 0;
  struct packet p;
  bool is_ip;

  if (rules.passive) return TC_ACT_UNSPEC;
  if (rules.shut && !enter_shut(skb, &mark)) return TC_ACT_SHOT;
  skb->cb[DONE_AT] = 0; /* of another namespace, or what a driver has left */
  is_ip = parse_plain(skb, false, &p) || parse_plain(skb, true, &p) || find_ip(skb, &p);
  if (is_ip) {
    __u8 priority = rules.priority_of[p.tos >> 2];

    if (priority) {
      skb->priority = priority & LLDP_LEVEL_PRIORITY_MASK;
      mark |= LLDP_LEVEL_MARK | priority << LLDP_LEVEL_MARK_PRIORITY_SHIFT;
    }
  }
  if (mark && is_ip && fragment_of(skb, &p) == FIRST) mark |= LLDP_LEVEL_MARK_FIRST;
  /* A mark of ours may have come along from another namespace; others' values are not ours to
   * clear. */
  if (mark || (skb->tc_index & LLDP_LEVEL_MARK_MASK) == LLDP_LEVEL_MARK) skb->tc_index = mark;
  return TC_ACT_UNSPEC;
}

#define NO_SLOT LLDP_LEVEL_SLOTS

static __always_inline __u32 slot_of(__u32 ifindex) {
#pragma unroll
  for (__u32 i = 0; i < LLDP_LEVEL_PROBES; i++) {
    __u32 slot = (ifindex + i) % LLDP_LEVEL_SLOTS;

    if (state.ports[slot].ifindex == ifindex) return slot;
  }
  return NO_SLOT;
}

/* On the wire a packet of several segments is so many packets. Of one that a guest has made the
 * kernel counts them only later. */
static __always_inline __u32 segments_of(struct __sk_buff* skb, const struct packet* p) {
  enum { TCP_HEADER = 20 };
  __u32 header = p->ip + (p->v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr)) + TCP_HEADER;

  if (!skb->gso_size) return 1;
  if (skb->gso_segs) return skb->gso_segs;
  return skb->len > header ? (skb->len - header + skb->gso_size - 1) / skb->gso_size : 1;
}

static __always_inline void count(struct __sk_buff* skb, const struct packet* p, __u8 priority) {
  struct lldp_level_bounces* rows = state.bounces;
  __u32 cpu = bpf_get_smp_processor_id();
  __u32 slot = slot_of(skb->ifindex);

  if (slot >= LLDP_LEVEL_SLOTS || cpu >= rules.cpus) return;
  /* So the compiler knows nothing of how many rows there are; and adds where it would set bits,
   * which the verifier of Linux 6.1 loses sight of. */
  asm volatile("" : "+r"(rows));
  rows += cpu * LLDP_LEVEL_SLOTS;
  asm volatile("" : "+r"(rows));
  rows[slot].packets[priority] += segments_of(skb, p);
}

/* The tag of the port by which the packet came in. Where that is a port with rules, nothing that
 * others have done to the packet since can make it another. A packet that came in by a bond, a VLAN
 * interface, a bridge's own or a VRF has that one's number, and the mark is all there is. */
static __always_inline __u8 tag_of(struct __sk_buff* skb, __u32 mark, __u8 priority) {
  __u32 slot = slot_of(skb->ingress_ifindex);

  if (slot < LLDP_LEVEL_SLOTS && state.ports[slot].tag)
    return state.ports[slot].tag & LLDP_LEVEL_MARK_TAG_MASK;
  if ((mark >> LLDP_LEVEL_MARK_PRIORITY_SHIFT & LLDP_LEVEL_MARK_PRIORITY_MASK) != priority)
    return 0;
  return mark & LLDP_LEVEL_MARK_TAG_MASK;
}

/* The priority that IPv4 forwarding derives from a TOS octet (ip_forward_update_priority):
 * 0 0 2 2 6 6 4 4 by the lower three bits of the DSCP. */
static __always_inline __u32 forwarding_priority(__u8 tos) {
  return 0x44662200U >> (tos & 0x1c) & 7;
}

/* The priority that the ingress gave, or that forwarding made of the class, ends with the class:
 * netfilter, a tunnel or MPLS may have made the packet one of no class, and no such packet waits in
 * a queue for lossless ones. */
static __always_inline void end_class(struct __sk_buff* skb, __u32 mark) {
  __u32 was = mark >> LLDP_LEVEL_MARK_PRIORITY_SHIFT & LLDP_LEVEL_MARK_PRIORITY_MASK;

  if (was & LLDP_LEVEL_SET && skb->priority < 8 && rules.lossless >> skb->priority & 1)
    skb->priority = 0;
}

/* What turned in no class: it did not change. */
static __always_inline void count_unclassed(struct __sk_buff* skb, const struct packet* p) {
  struct lldp_level_bounces* rows = state.bounces;
  struct lldp_level_unclassed* all;
  __u32 slot = slot_of(skb->ifindex);

  if (slot >= LLDP_LEVEL_SLOTS) return;
  asm volatile("" : "+r"(rows)); /* as above */
  rows += rules.cpus * LLDP_LEVEL_SLOTS;
  asm volatile("" : "+r"(rows));
  all = (void*)rows;
  __sync_fetch_and_add(&all[slot].packets[p->tos >> 2 & 0x3f], segments_of(skb, p));
}

/* The change to another DSCP, as the tables have it for those that are known beforehand. */
static __always_inline struct lldp_level_remap to_class(__u8 tos, __u8 dscp, __u8 priority) {
  __u32 from = tos & 0xfc;
  __u32 to = (__u32)dscp << 2;
  __u32 sum = (from ^ 0xffff) + to;

  return (struct lldp_level_remap){.from = LLDP_LEVEL_SET | priority,
                                   .priority = priority,
                                   .flip = from ^ to,
                                   .sum = bpf_htons((sum & 0xffff) + (sum >> 16))};
}

/* Another program, such as netfilter, may change the lossless class of a packet after the ingress.
 * Such a packet gets its ingress class back: it occupies the buffer of that class, and only a turn
 * may lead to another one. */
static __always_inline bool set_back(struct __sk_buff* skb, struct packet* p, __u32 mark) {
  __u8 was = mark >> LLDP_LEVEL_MARK_PRIORITY_SHIFT & LLDP_LEVEL_MARK_PRIORITY_MASK;
  __u8 dscp = p->tos >> 2;
  __u8 is = rules.priority_of[dscp];
  struct lldp_level_remap back;
  __u32 slot;
  __u8 to;

  if (!(was & LLDP_LEVEL_SET)) return true;
  if (rules.turning_tags && rules.turn_of[dscp].from)
    is = rules.turn_of[dscp].from;
  else if (rules.leaves && rules.leave_of[dscp].from)
    is = rules.leave_of[dscp].from;
  to = rules.dscp_of[was & LLDP_LEVEL_PRIORITY_MASK];
  if (was == is || !to || !rules.dscp_of[is & LLDP_LEVEL_PRIORITY_MASK]) return true;
  slot = slot_of(skb->ingress_ifindex);
  /* Of another program's making: the port writes another tag. */
  if (slot < LLDP_LEVEL_SLOTS && state.ports[slot].tag &&
      (state.ports[slot].tag ^ mark) & LLDP_LEVEL_MARK_TAG_MASK)
    return true;
  back = to_class(p->tos, to & LLDP_LEVEL_DSCP_MASK, was & LLDP_LEVEL_PRIORITY_MASK);
  if (!remap(skb, p, &back)) return false;
  p->tos ^= back.flip;
  return true;
}

/* Where the kernel has joined the fragments of a datagram (connection tracking does), all leave
 * with the mark of the first one: those behind it may have come in by another port, and in another
 * class. They leave lossy, which nothing can wait for. So does the first one from then on: where
 * the kernel cuts them anew, it may hold octets of the next. Without a mark, and with a port that
 * gives one, the same may have happened. */
static __always_inline bool is_joined(struct __sk_buff* skb, const struct packet* p, __u32 mark) {
  enum fragment fragment = fragment_of(skb, p);

  if (mark == LLDP_LEVEL_MARK_DECIDED) return false;
  if (fragment == FIRST) return state.joined;
  if (mark & LLDP_LEVEL_MARK_FIRST) { /* a later one, or all of them in one packet */
    /* Or the first one alone, in a tunnel: the kernel then takes off what it came in by. */
    if (skb->ingress_ifindex) __sync_fetch_and_add(&state.joined, 1);
    return true;
  }
  if (fragment == LATER && !mark) {
    __u32 slot = slot_of(skb->ingress_ifindex);

    return slot < LLDP_LEVEL_SLOTS && state.ports[slot].tag;
  }
  return false;
}

static __always_inline int leave(struct __sk_buff* skb, struct packet* p, __u32 mark) {
  __u8 dscp = p->tos >> 2;
  __u8 priority = rules.priority_of[dscp];
  __u32 done = rules.here ^ skb->ifindex ^ (__u32)p->hops << 24;
  __u8 came = 0; /* the priority of its class where it came in: the class may not cross this port */

  if (skb->cb[DONE_AT] == done) return TC_ACT_UNSPEC;
  skb->cb[DONE_AT] = done;
  if (!priority) {
    /* Forwarding must not have put it into a queue for lossless packets. */
    __u32 given = forwarding_priority(p->tos);

    if (!p->v6 && rules.lossless >> given & 1 && skb->priority == given) skb->priority = 0;
    end_class(skb, mark);
    /* By the mark alone: to look the port up would cost every other packet 2 ns. */
    if (rules.turning_tags && rules.unclassed &&
        rules.turning_tags >> (mark & LLDP_LEVEL_MARK_TAG_MASK) & 1 && rules.unclassed >> dscp & 1)
      count_unclassed(skb, p);
    return TC_ACT_UNSPEC;
  }
  if (rules.lossless >> (priority & LLDP_LEVEL_PRIORITY_MASK) & 1 && is_joined(skb, p, mark)) {
    const struct lldp_level_remap lossy = to_class(p->tos, rules.lossy_dscp, rules.lossy_priority);

    return remap(skb, p, &lossy) ? TC_ACT_UNSPEC : TC_ACT_SHOT;
  }
  if ((mark >> LLDP_LEVEL_MARK_PRIORITY_SHIFT & LLDP_LEVEL_MARK_PRIORITY_MASK) != priority) {
    if (!set_back(skb, p, mark)) return TC_ACT_SHOT;
    dscp = p->tos >> 2;
    priority = rules.priority_of[dscp];
  }
  if (rules.turning_tags) came = rules.turn_of[dscp].from;
  if (rules.turning_tags && mark != LLDP_LEVEL_MARK_DECIDED &&
      rules.turning_tags >> tag_of(skb, mark, came ? came : priority) & 1) {
    const struct lldp_level_remap* to = (const void*)&rules.turn_of[dscp];

    if (to->from) {
      /* Not changed, it would fill the buffers that it must not fill. */
      if (!remap(skb, p, to)) return TC_ACT_SHOT;
      count(skb, p, to->from & LLDP_LEVEL_PRIORITY_MASK);
      return TC_ACT_UNSPEC;
    }
  } else if (rules.leaves) {
    const struct lldp_level_remap* to = (const void*)&rules.leave_of[dscp];

    if (to->from) return remap(skb, p, to) ? TC_ACT_UNSPEC : TC_ACT_SHOT;
  }
  /* Forwarding has meanwhile derived another one, or none was set. */
  skb->priority = priority & LLDP_LEVEL_PRIORITY_MASK;
  return TC_ACT_UNSPEC;
}

SEC("tc")
int lldp_level_out(struct __sk_buff* skb) {
  __u32 mark = skb->tc_index;
  struct packet p;

  if (rules.passive) return TC_ACT_UNSPEC;
  if ((mark & LLDP_LEVEL_MARK_MASK) == LLDP_LEVEL_MARK) {
    skb->tc_index = 0; /* One device, one turn: the mark goes no further. */
    if (mark & LLDP_LEVEL_MARK_PCP && skb->vlan_present &&
        replace_pcp(skb, mark >> LLDP_LEVEL_MARK_PRIORITY_SHIFT & LLDP_LEVEL_PRIORITY_MASK))
      return TC_ACT_SHOT;
  } else if (skb->ingress_ifindex || rules.shut)
    mark = 0;
  else
    return TC_ACT_UNSPEC; /* a packet of this machine's own; it does not cross a shut port either */
  if (rules.stacked) skb->tc_index = LLDP_LEVEL_MARK_DECIDED;
  if (parse_plain(skb, false, &p)) return leave(skb, &p, mark);
  if (parse_plain(skb, true, &p)) return leave(skb, &p, mark);
  if (find_ip(skb, &p)) return leave(skb, &p, mark);
  end_class(skb, mark);
  return TC_ACT_UNSPEC;
}
