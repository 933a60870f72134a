/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the program in the kernel and the back end agree on. Read by both; C and C++. */
#ifndef LLDP_LEVEL_SHARED_H
#define LLDP_LEVEL_SHARED_H

#include <linux/types.h>

#ifdef __cplusplus
#define LLDP_LEVEL_ASSERT(what) static_assert(what)
#else
#define LLDP_LEVEL_ASSERT(what) _Static_assert(what, #what)
#endif

/* Counted up when struct lldp_level_bounces changes: counters of another layout are not taken over.
 */
#define LLDP_LEVEL_LAYOUT 1

/* skb->tc_index from ingress to egress, of which nothing in between takes notice:
 *   101100 p ppp tttttt
 * six bits that make it ours, p: a priority is set and which, t: the tag of the port it came in by.
 */
#define LLDP_LEVEL_MARK 0xb000
#define LLDP_LEVEL_MARK_MASK 0xfc00
#define LLDP_LEVEL_MARK_PRIORITY_SHIFT 6
#define LLDP_LEVEL_MARK_TAG_MASK 0x003f

/* A priority in a table where there may be none (0). Fits the mark's four bits. */
#define LLDP_LEVEL_SET 0x08
#define LLDP_LEVEL_PRIORITY_MASK 0x07

/* What a turn does to a packet with a certain DSCP. */
struct lldp_level_turn {
  __u8 from;     /* LLDP_LEVEL_SET | priority it came with; 0: nothing happens */
  __u8 priority; /* its priority from now on */
  __u8 flip;     /* bits of the TOS octet that change: never those of the ECN */
  __u8 reserved;
  /* What the change adds to the one's complement sum of an IPv4 header, as it stands there
   * (RFC 1624: ~m + m', m the 16 bits that hold the octet; the rest of them cancels out). */
  __u16 sum;
  __u16 reserved2;
};

/* The rules of a port: constants of the program, so that one program serves all ports with equal
 * rules and looks up nothing. */
struct lldp_level_rules {
  __u64 turning_tags; /* bit t: a packet with tag t turns by leaving here */
  __u8 tag;           /* of packets that come in here */
  __u8 reserved[7];
  __u8 priority_of[64]; /* by DSCP, ingress: LLDP_LEVEL_SET | priority, or 0: leave it */
  struct lldp_level_turn turn_of[64]; /* by DSCP, egress */
};

/* The map `bounces` is an array, per CPU, used as an open-addressed table: a port's entry is one of
 * LLDP_LEVEL_PROBES from ifindex % LLDP_LEVEL_SLOTS on. (The kernel's own per-CPU hash takes 16 ns
 * a packet, this 2.) */
#define LLDP_LEVEL_SLOTS 1024
#define LLDP_LEVEL_PROBES 4
struct lldp_level_bounces {
  __u32 port; /* ifindex of the port by which the packets left; 0: free */
  __u32 reserved;
  __u64 packets[8]; /* by the priority the packet came with */
};

LLDP_LEVEL_ASSERT(sizeof(struct lldp_level_turn) == 8);
LLDP_LEVEL_ASSERT(sizeof(struct lldp_level_rules) == 592);
LLDP_LEVEL_ASSERT(__builtin_offsetof(struct lldp_level_rules, priority_of) == 16);
LLDP_LEVEL_ASSERT(__builtin_offsetof(struct lldp_level_rules, turn_of) == 80);
LLDP_LEVEL_ASSERT(sizeof(struct lldp_level_bounces) == 72);

#endif
