// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Runs a program on a packet whose metadata BPF_PROG_TEST_RUN can neither set nor show. First run:
 * cb[0] becomes tc_index, cb[1] and cb[2] a VLAN tag in the metadata, then the program runs. Second
 * run of the same packet: they are told in the same way. */
// <bpf/...> takes the types of <linux/...> for granted.
// clang-format off
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>
// clang-format on

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
  __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u32);
} subject SEC(".maps");

SEC("tc")
int probe(struct __sk_buff* skb) {
  if (skb->cb[3] == 0) {
    skb->cb[3] = 1;
    if (skb->cb[1] && bpf_skb_vlan_push(skb, skb->cb[1], skb->cb[2])) return TC_ACT_SHOT;
    skb->tc_index = skb->cb[0];
    bpf_tail_call(skb, &subject, 0);
    return TC_ACT_SHOT;
  }
  skb->cb[0] = skb->tc_index;
  skb->cb[1] = skb->vlan_present ? skb->vlan_proto : 0;
  skb->cb[2] = skb->vlan_present ? skb->vlan_tci : 0;
  return TC_ACT_OK;
}

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} seen SEC(".maps");

/* Another's program on our hook. */
SEC("tc")
int stranger(void* skb __attribute__((unused))) {
  __u32 zero = 0;
  __u64* count = bpf_map_lookup_elem(&seen, &zero);
  if (count) __sync_fetch_and_add(count, 1);
  return TC_ACT_UNSPEC;
}

/* Another's program that lets nobody come after it, and clears tc_index by that. */
SEC("tc")
int last_word(void* skb __attribute__((unused))) { return TC_ACT_OK; }

/* The same packet through the program again and again, with cb[0] as tc_index and nothing that an
 * earlier run has left in cb[4]. For bench. */
SEC("tc")
int again(struct __sk_buff* skb) {
  skb->tc_index = skb->cb[0];
  skb->cb[4] = 0;
  bpf_tail_call(skb, &subject, 0);
  return TC_ACT_SHOT;
}

SEC("tc")
int empty(void* skb __attribute__((unused))) { return TC_ACT_UNSPEC; }
