// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Programs of a route (`encap bpf`). A packet with a mark goes into the ingress of the interface of
 * that number, without the mark, to 02:00:00:00:00:05. */
// <bpf/...> takes the types of <linux/...> for granted.
// clang-format off
#include <linux/bpf.h>
#include <linux/if_ether.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
// clang-format on

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("lwt_xmit")
int into_ingress(struct __sk_buff* skb) {
  const struct ethhdr ethernet = {
      .h_dest = {2, 0, 0, 0, 0, 5}, .h_source = {2, 0, 0, 0, 0, 6}, .h_proto = bpf_htons(ETH_P_IP)};
  const __u32 into = skb->mark;
  if (into == 0) return BPF_OK;
  skb->mark = 0;
  if (bpf_skb_change_head(skb, sizeof ethernet, 0)) return BPF_DROP;
  if (bpf_skb_store_bytes(skb, 0, &ethernet, sizeof ethernet, 0)) return BPF_DROP;
  return (int)bpf_redirect(into, BPF_F_INGRESS);
}

SEC("lwt_out")
int goes_on(void* skb __attribute__((unused))) { return BPF_OK; }
