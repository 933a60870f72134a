// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <time.h>

#include <cstring>
#include <memory>
#include <ostream>
#include <string>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "dataplane/bpf/programs.hpp"
//
#include "probe.skel.h"

namespace lldp::dataplane {

/// A packet with the metadata that the programs go by.
struct Skb {
  Bytes frame{};
  std::uint32_t tc_index = 0;
  std::uint32_t priority = 0;
  std::uint16_t vlan_tpid = 0;  ///< of a tag kept in the metadata; 0: none
  std::uint16_t vlan_tci = 0;
  std::uint32_t in = 0;  ///< ifindex by which it came in
  std::uint32_t gso_segs = 0;
  std::uint32_t gso_size = 0;
  friend bool operator==(const Skb&, const Skb&) = default;
  friend void PrintTo(const Skb& s, std::ostream* os) {
    *os << to_hex(s.frame) << std::hex << " tc_index " << s.tc_index << " priority " << s.priority
        << " tag " << s.vlan_tpid << ":" << s.vlan_tci << std::dec << " in by " << s.in;
  }
};

/// Runs programs in the kernel on packets of ours (BPF_PROG_TEST_RUN).
class Probe {
 public:
  /// nullptr without the right to load programs.
  static std::unique_ptr<Probe> open() {
    libbpf_set_print(nullptr);
    probe* skeleton = probe__open_and_load();
    return skeleton == nullptr ? nullptr : std::unique_ptr<Probe>(new Probe(skeleton));
  }
  ~Probe() { probe__destroy(skeleton_); }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  /// The program's verdict and, in `skb`, what it made of the packet. `seen`: what programs of ours
  /// leave in the packet for the next of them.
  int run(const UniqueFd& program, Skb& skb, std::uint32_t ifindex = 1,
          std::uint32_t* seen = nullptr) {
    use(program.get());
    const Skb before = skb;
    std::uint32_t left = seen == nullptr ? 0 : *seen;
    const int verdict = once(skeleton_->progs.probe, skb, 1, ifindex, left);
    skb = before;
    left = seen == nullptr ? 0 : *seen;
    (void)once(skeleton_->progs.probe, skb, 2, ifindex, left);
    if (seen != nullptr) *seen = left;
    return verdict;
  }
  /// Nanoseconds per run of a program, with the same packet and tc_index every time.
  double cost(const UniqueFd& program, Skb skb, int times, std::uint32_t ifindex = 1) {
    return cost(program.get(), std::move(skb), times, ifindex);
  }
  /// The same for a program that does nothing.
  double cost_of_nothing(Skb skb, int times) {
    return cost(bpf_program__fd(skeleton_->progs.empty), std::move(skb), times, 1);
  }

 private:
  explicit Probe(probe* skeleton) : skeleton_(skeleton) {}

  void use(int program) {
    const std::uint32_t zero = 0;
    bpf_map_update_elem(bpf_map__fd(skeleton_->maps.subject), &zero, &program, BPF_ANY);
  }
  /// By our CPU time: the kernel's own figure is in whole nanoseconds.
  double cost(int program, Skb skb, int times, std::uint32_t ifindex) {
    use(program);
    const long start = cpu_time();
    std::uint32_t left = 0;
    (void)once(skeleton_->progs.again, skb, times, ifindex, left);
    return static_cast<double>(cpu_time() - start) / times;
  }
  static long cpu_time() {
    timespec t{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1'000'000'000 + t.tv_nsec;
  }
  /// The verdict.
  static int once(const bpf_program* program, Skb& skb, int times, std::uint32_t ifindex,
                  std::uint32_t& seen) {
    __sk_buff context{};
    context.cb[0] = skb.tc_index;
    context.cb[1] = static_cast<std::uint32_t>(__builtin_bswap16(skb.vlan_tpid));
    context.cb[2] = skb.vlan_tci;
    context.cb[4] = seen;
    context.priority = skb.priority;
    context.ifindex = ifindex;
    context.ingress_ifindex = skb.in;
    context.gso_segs = skb.gso_segs;
    context.gso_size = skb.gso_size;
    Bytes out(skb.frame.size() + 256);
    LIBBPF_OPTS(bpf_test_run_opts, run);
    run.data_in = skb.frame.data();
    run.data_size_in = static_cast<std::uint32_t>(skb.frame.size());
    run.data_out = out.data();
    run.data_size_out = static_cast<std::uint32_t>(out.size());
    run.ctx_in = run.ctx_out = &context;
    run.ctx_size_in = run.ctx_size_out = sizeof context;
    run.repeat = times;
    if (const int e = bpf_prog_test_run_opts(bpf_program__fd(program), &run); e != 0)
      return -1000 + e;
    out.resize(run.data_size_out);
    seen = context.cb[4];
    skb = {std::move(out),
           context.cb[0],
           context.priority,
           __builtin_bswap16(static_cast<std::uint16_t>(context.cb[1])),
           static_cast<std::uint16_t>(context.cb[2]),
           skb.in,
           skb.gso_segs,
           skb.gso_size};
    return static_cast<int>(run.retval);
  }

  probe* skeleton_;
};

}  // namespace lldp::dataplane
