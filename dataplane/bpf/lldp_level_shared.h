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

/* Counted up when struct lldp_level_state changes: one of another layout is not taken over. */
#define LLDP_LEVEL_LAYOUT 4

/* skb->tc_index from ingress to egress, of which nothing in between takes notice:
 *   1011 f e p ppp tttttt
 * four bits that make it ours, f: it came in as the first fragment of a datagram, e: the egress is
 * to write this priority into the foremost VLAN tag, p: a priority is set and which, t: the tag of
 * the port it came in by.
 * A filter of another program may write over it, with any value: it counts only where the port
 * is not known by skb->ingress_ifindex, and only with the priority that is the packet's DSCP's. */
#define LLDP_LEVEL_MARK 0xb000
#define LLDP_LEVEL_MARK_MASK 0xf000
#define LLDP_LEVEL_MARK_FIRST 0x0800
#define LLDP_LEVEL_MARK_PCP 0x0400
#define LLDP_LEVEL_MARK_PRIORITY_SHIFT 6
#define LLDP_LEVEL_MARK_PRIORITY_MASK 0x0f
#define LLDP_LEVEL_MARK_TAG_MASK 0x003f
/* No mark of an ingress: a priority that is not set. The egress of an interface that stands on
 * others has seen to the packet; those below leave its turn alone. */
#define LLDP_LEVEL_MARK_DECIDED (LLDP_LEVEL_MARK | 1 << LLDP_LEVEL_MARK_PRIORITY_SHIFT)

/* A priority in a table where there may be none (0). Fits the mark's four bits. */
#define LLDP_LEVEL_SET 0x08
#define LLDP_LEVEL_PRIORITY_MASK 0x07

/* A DSCP in a table where there may be none (0). */
#define LLDP_LEVEL_DSCP_SET 0x40
#define LLDP_LEVEL_DSCP_MASK 0x3f

/* What becomes of a packet with a certain DSCP. */
struct lldp_level_remap {
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
 * rules and looks up nothing of them. */
struct lldp_level_rules {
  __u64 turning_tags; /* bit t: a packet with tag t turns by leaving here */
  __u8 tag;           /* of packets that come in here */
  __u8 lossless;      /* bit n: priority n is a lossless class's */
  __u8 shut;          /* 1: some classes do not cross the port: leave_of is for what enters, too */
  __u8 leaves;        /* 1: leave_of has rows */
  __u32 cpus;         /* rows that the state has to count in */
  __u32 here;         /* a number of this network namespace's own */
  __u8 passive;       /* 1: packets keep the mark and the priority of the interfaces below */
  __u8 stacked;       /* 1: it stands on others, which may have rules too */
  __u8 lossy_dscp;    /* of the lossy class */
  __u8 lossy_priority;
  __u64 unclassed;      /* bit d: DSCP d is of no class, neither lossless nor the lossy one */
  __u8 dscp_of[8];      /* by priority of a lossless class: LLDP_LEVEL_DSCP_SET | DSCP */
  __u8 priority_of[64]; /* by DSCP: LLDP_LEVEL_SET | priority, or 0: leave it */
  struct lldp_level_remap turn_of[64];  /* by DSCP, egress: of packets that turn */
  struct lldp_level_remap leave_of[64]; /* of those that do not */
};

/* What all programs share and the back end writes: the ports, an open-addressed table in which a
 * port's place is one of LLDP_LEVEL_PROBES from ifindex % LLDP_LEVEL_SLOTS on; then a row of
 * counters per CPU, where each port has the place it has among the ports. (Reached by an address
 * and not by a map lookup, it costs a turn a tenth less.) */
#define LLDP_LEVEL_SLOTS 1024
#define LLDP_LEVEL_PROBES 4

/* A port's tag in the table, where it is known. */
#define LLDP_LEVEL_TAG_KNOWN 0x40

struct lldp_level_port {
  __u32 ifindex; /* 0: the place is free */
  __u32 tag;     /* LLDP_LEVEL_TAG_KNOWN | of packets that come in here; 0: go by the mark */
};
/* Packets that turned and left by the port, by the priority they came with. */
struct lldp_level_bounces {
  __u64 packets[8];
};
/* Packets that turned and left by the port in no class, by DSCP. Of all CPUs: they are rare, or an
 * operator should know of them. */
struct lldp_level_unclassed {
  __u64 packets[64];
};
struct lldp_level_state {
  struct lldp_level_port ports[LLDP_LEVEL_SLOTS];
  /* Packets that left with the mark of a first fragment, and are none. */
  __u64 joined;
  __u64 reserved[7];
  /* The first CPU's; there are as many as lldp_level_rules.cpus says. Behind the last row stand
   * LLDP_LEVEL_SLOTS of struct lldp_level_unclassed. */
  struct lldp_level_bounces bounces[LLDP_LEVEL_SLOTS];
};

LLDP_LEVEL_ASSERT(sizeof(struct lldp_level_remap) == 8);
LLDP_LEVEL_ASSERT(sizeof(struct lldp_level_rules) == 1128);
LLDP_LEVEL_ASSERT(__builtin_offsetof(struct lldp_level_rules, priority_of) == 40);
LLDP_LEVEL_ASSERT(__builtin_offsetof(struct lldp_level_rules, turn_of) == 104);
LLDP_LEVEL_ASSERT(sizeof(struct lldp_level_port) == 8);
LLDP_LEVEL_ASSERT(sizeof(struct lldp_level_bounces) == 64);
LLDP_LEVEL_ASSERT(sizeof(struct lldp_level_unclassed) == 512);
LLDP_LEVEL_ASSERT(sizeof(struct lldp_level_state) == LLDP_LEVEL_SLOTS * 72 + 64);

#endif
