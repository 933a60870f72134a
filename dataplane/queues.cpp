// SPDX-License-Identifier: Apache-2.0
#include "dataplane/queues.hpp"

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <netinet/in.h>
#include <netlink/attr.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "dataplane/bpf/kernel.hpp"

namespace lldp::dataplane {
namespace {

constexpr std::uint32_t kTree = 0x4c4c0000;
constexpr std::uint32_t kOthers = 0x1f;
constexpr std::uint64_t kNoLimit = 125'000'000'000;  ///< octets/s: 1 Tb/s, more than any link has

constexpr const char* kFilter = "lldp-level queues";

constexpr std::uint32_t minor_of(unsigned priority) { return 0x10 | priority; }

bpf_insn insn(unsigned code, unsigned to, unsigned from, int offset, std::uint32_t immediate) {
  bpf_insn i{};
  i.code = static_cast<__u8>(code);
  i.dst_reg = static_cast<__u8>(to & 15);
  i.src_reg = static_cast<__u8>(from & 15);
  i.off = static_cast<__s16>(offset);
  i.imm = static_cast<__s32>(immediate);
  return i;
}

/// skb->priority to a class. HTB itself takes it for a class's number, which 0 to 7 never are; a
/// class that is not there means the others'.
Result<UniqueFd> load_classifier() {
  const bpf_insn code[] = {
      insn(BPF_LDX | BPF_MEM | BPF_W, 0, 1, offsetof(__sk_buff, priority), 0),
      insn(BPF_JMP | BPF_JGT | BPF_K, 0, 0, 2, 7),
      insn(BPF_ALU | BPF_OR | BPF_K, 0, 0, 0, kTree | minor_of(0)),
      insn(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
      insn(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
      insn(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
  };
  return bpf::load_program("lldp_queue", code, "Dual BSD/GPL");
}

template <std::size_t N>
std::array<nlattr*, N> parts_of(nlattr* options) {
  std::array<nlattr*, N> parts{};
  if (options != nullptr && nla_parse_nested(parts.data(), N - 1, options, nullptr) != 0)
    parts.fill(nullptr);
  return parts;
}

/// As build() makes it.
bool sends_rest_to_others(const TcObject& qdisc) {
  const auto parts = parts_of<TCA_HTB_MAX + 1>(qdisc.options);
  const auto glob = value_of<tc_htb_glob>(parts[TCA_HTB_INIT]);
  return glob && glob->defcls == kOthers;
}

/// Not as build() makes it. The kernel tells of a rate that 32 bits hold no 64-bit one.
bool is_slowed_down(const TcObject& cls) {
  const auto parts = parts_of<TCA_HTB_MAX + 1>(cls.options);
  const auto opt = value_of<tc_htb_opt>(parts[TCA_HTB_PARMS]);
  const auto unlimited = [&](std::size_t attribute) {
    return value_of<std::uint64_t>(parts[attribute]) == kNoLimit;
  };
  return !opt || opt->prio != 0 || cls.parent != TC_H_ROOT || !unlimited(TCA_HTB_RATE64) ||
         !unlimited(TCA_HTB_CEIL64);
}

bool is_classifier(const TcObject& filter) {
  const auto parts = parts_of<TCA_BPF_MAX + 1>(filter.options);
  return filter.kind == "bpf" && parts[TCA_BPF_NAME] != nullptr &&
         std::string_view(nla_get_string(parts[TCA_BPF_NAME])) == kFilter;
}

}  // namespace

Result<Queues> Queues::open() {
  auto socket = TcSocket::open();
  if (!socket) return fail(socket.error());
  return Queues(std::move(*socket));
}

Result<Queues::Root> Queues::find(Ifindex port) {
  Root root;
  bool ours = false;
  bool whole = true;  // as build() made it: others may have changed what they did not replace
  // Not a dump, which reports every port. Without NLM_F_ECHO the result is sent to other sockets
  // only, and for noqueue to none.
  auto done =
      socket_.dump(TcMessage(RTM_GETQDISC, NLM_F_ECHO, port, TC_H_ROOT), [&](const TcObject& q) {
        ours = q.handle == kTree && q.kind == "htb";
        whole = sends_rest_to_others(q);
        root.foreign = !ours && q.handle != 0;  // the kernel gives its own choice no handle
      });
  if (!done && done.error().code != ENOENT) return fail(done.error());
  if (!ours) return root;
  std::uint8_t lossless = 0;
  bool others = false;
  done = socket_.dump(TcMessage(RTM_GETTCLASS, NLM_F_DUMP, port, 0), [&](const TcObject& c) {
    if (TC_H_MAJ(c.handle) != kTree) return;
    const std::uint32_t minor = TC_H_MIN(c.handle);
    whole = whole && !is_slowed_down(c);
    others |= minor == kOthers;
    if (minor >= minor_of(0) && minor <= minor_of(7))
      lossless = static_cast<std::uint8_t>(lossless | 1U << (minor & 7));
  });
  if (!done) return fail(done.error());
  bool filter = false;
  done = socket_.dump(TcMessage(RTM_GETTFILTER, NLM_F_DUMP, port, kTree), [&](const TcObject& f) {
    if (f.handle == 0) return;  // the heading of those to come
    filter |= is_classifier(f);
    whole = whole && is_classifier(f);
  });
  if (!done) return fail(done.error());
  root.lossless = whole && others && filter ? lossless : std::uint8_t{0};
  return root;
}

Result<void> Queues::build(Ifindex port, std::uint8_t lossless) {
  TcMessage qdisc(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, port, TC_H_ROOT, kTree);
  tc_htb_glob glob{};
  glob.version = 3;  // the only one that kernels of this century take
  glob.rate2quantum = 10;
  glob.defcls = kOthers;
  auto done = socket_.request(qdisc.text(TCA_KIND, "htb").options([&](TcMessage& o) {
    o.octets(TCA_HTB_INIT, &glob, sizeof glob);
  }));
  if (!done) return done;

  tc_htb_opt opt{};
  opt.rate.linklayer = opt.ceil.linklayer = TC_LINKLAYER_ETHERNET;
  opt.rate.rate = opt.ceil.rate = ~0U;  // the true one is the 64-bit one below
  opt.buffer = opt.cbuffer = 1U << 24;  // a second, in ticks of 64 ns
  opt.quantum = 1U << 16;
  for (unsigned minor = minor_of(0); minor <= kOthers; ++minor) {
    const bool wanted = minor == kOthers || (minor <= minor_of(7) && (lossless >> (minor & 7) & 1));
    if (!wanted) continue;
    TcMessage cls(RTM_NEWTCLASS, NLM_F_CREATE | NLM_F_EXCL, port, kTree, kTree | minor);
    done = socket_.request(cls.text(TCA_KIND, "htb").options([&](TcMessage& o) {
      o.octets(TCA_HTB_PARMS, &opt, sizeof opt);
      o.octets(TCA_HTB_RATE64, &kNoLimit, sizeof kNoLimit);
      o.octets(TCA_HTB_CEIL64, &kNoLimit, sizeof kNoLimit);
    }));
    if (!done) return done;
  }

  TcMessage filter(RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL, port, kTree, 1,
                   1U << 16 | htons(ETH_P_ALL));
  return socket_.request(filter.text(TCA_KIND, "bpf").options([&](TcMessage& o) {
    o.number(TCA_BPF_FD, static_cast<std::uint32_t>(classifier_.get()));
    o.text(TCA_BPF_NAME, kFilter);
  }));
}

Result<void> Queues::put(Ifindex port, std::uint8_t lossless) {
  if (!classifier_) {
    auto loaded = load_classifier();
    if (!loaded) return fail(loaded.error());
    classifier_ = std::move(*loaded);
  }
  if (auto done = remove(port); !done) return done;
  auto done = build(port, lossless);
  if (!done) (void)remove(port);  // the error is reported
  return done;
}

Result<void> Queues::remove(Ifindex port) {
  const auto root = find(port);
  if (!root) return fail(root.error());
  if (!root->lossless) return {};
  return socket_.request(TcMessage(RTM_DELQDISC, 0, port, TC_H_ROOT, kTree));
}

Result<std::vector<Ifindex>> Queues::ports() {
  std::set<Ifindex> ports;
  const auto done =
      socket_.dump(TcMessage(RTM_GETQDISC, NLM_F_DUMP, Ifindex(), 0), [&](const TcObject& q) {
        if (q.parent == TC_H_ROOT && q.handle == kTree && q.kind == "htb") ports.insert(q.port);
      });
  if (!done) return fail(done.error());
  return std::vector<Ifindex>(ports.begin(), ports.end());
}

}  // namespace lldp::dataplane
