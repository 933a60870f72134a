// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/qdiscs.hpp"

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>

#include <algorithm>
#include <string_view>

namespace lldp::dataplane::bpf {
namespace {

/// Those that leave packets as they are, but for the mark of congestion. Of these the first ones
/// have classes to which filters can be bound; what others call their classes are queues or flows.
constexpr std::string_view kWithClasses[] = {"cbq", "hfsc", "htb"};
constexpr std::string_view kWithout[] = {
    "atm",     "bfifo",   "blackhole",  "cbs",     "choke",  "clsact",   "codel",
    "drr",     "dualpi2", "etf",        "ets",     "fq",     "fq_codel", "fq_pie",
    "gred",    "hhf",     "ingress",    "mq",      "mqprio", "multiq",   "netem",
    "noqueue", "pfifo",   "pfifo_fast", "pie",     "plug",   "prio",     "qfq",
    "red",     "sfb",     "sfq",        "skbprio", "taprio", "tbf"};

Power power_of_qdisc(const TcObject& qdisc) {
  if (std::ranges::find(kWithClasses, qdisc.kind) != std::end(kWithClasses) ||
      std::ranges::find(kWithout, qdisc.kind) != std::end(kWithout))
    return {};
  if (qdisc.kind != "cake") return {.changes = true, .by = std::string(qdisc.kind)};
  const nlattr* const wash = qdisc.options == nullptr
                                 ? nullptr
                                 : nla_find(static_cast<nlattr*>(nla_data(qdisc.options)),
                                            nla_len(qdisc.options), TCA_CAKE_WASH);
  if (wash != nullptr && nla_get_u32(wash) == 0) return {};
  return {.changes = true, .by = "cake, wash"};
}

}  // namespace

bool Qdiscs::Qdisc::has_classes() const {
  return std::ranges::find(kWithClasses, kind) != std::end(kWithClasses) || power.changes;
}

Result<void> Qdiscs::read(TcSocket& socket) {
  all_.clear();
  return socket.dump(TcMessage(RTM_GETQDISC, NLM_F_DUMP, Ifindex(), 0), [&](const TcObject& q) {
    if (q.parent != TC_H_CLSACT)
      all_[q.port].push_back({q.handle, std::string(q.kind), power_of_qdisc(q)});
  });
}

const std::vector<Qdiscs::Qdisc>& Qdiscs::of(Ifindex interface) const {
  static const std::vector<Qdisc> kNone;
  const auto at = all_.find(interface);
  return at == all_.end() ? kNone : at->second;
}

}  // namespace lldp::dataplane::bpf
