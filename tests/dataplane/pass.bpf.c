// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* An XDP program of somebody else: it lets all pass, which nobody can tell from outside. */
// <bpf/...> takes the types of <linux/...> for granted.
// clang-format off
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
// clang-format on

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("xdp")
int pass(void* context __attribute__((unused))) { return XDP_PASS; }
