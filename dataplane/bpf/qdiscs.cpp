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

/// Of these the kernel's own choices, to which no filter can be bound.
constexpr std::string_view kWithoutFilters[] = {"bfifo",   "fq",    "mq",
                                                "noqueue", "pfifo", "pfifo_fast"};

const nlattr* option(const TcObject& qdisc, int attribute) {
  if (qdisc.options == nullptr) return nullptr;
  return nla_find(static_cast<nlattr*>(nla_data(qdisc.options)), nla_len(qdisc.options), attribute);
}

Power power_of_qdisc(const TcObject& qdisc) {
  if (std::ranges::find(kWithClasses, qdisc.kind) != std::end(kWithClasses) ||
      std::ranges::find(kWithout, qdisc.kind) != std::end(kWithout))
    return {};
  if (qdisc.kind != "cake") return {.changes = true, .by = std::string(qdisc.kind)};
  if (value_of<std::uint32_t>(option(qdisc, TCA_CAKE_WASH)) == 0U) return {};
  return {.changes = true, .by = "cake, wash"};
}

std::vector<std::uint32_t> blocks_of(const TcObject& qdisc) {
  std::vector<std::uint32_t> blocks;
  if (qdisc.kind != "red") return blocks;
  for (const int attribute : {TCA_RED_EARLY_DROP_BLOCK, TCA_RED_MARK_BLOCK})
    if (const auto block = value_of<std::uint32_t>(option(qdisc, attribute)))
      blocks.push_back(*block);
  return blocks;
}

}  // namespace

bool Qdiscs::Qdisc::has_classes() const {
  return std::ranges::find(kWithClasses, kind) != std::end(kWithClasses) || power.changes;
}

Result<void> Qdiscs::read(TcSocket& socket) {
  all_.clear();
  hooked_.clear();
  return socket.dump(TcMessage(RTM_GETQDISC, NLM_F_DUMP, Ifindex(), 0),
                     [&](const TcObject& q) { take(q); });
}

void Qdiscs::take(const TcObject& qdisc) {
  if (qdisc.parent == TC_H_CLSACT)  // and of an ingress qdisc
    hooked_[qdisc.port] = qdisc.kind == "clsact";
  else
    all_[qdisc.port].push_back(
        {qdisc.handle, std::string(qdisc.kind), power_of_qdisc(qdisc), blocks_of(qdisc)});
}

bool Qdiscs::has_hook(Ifindex interface, Part part) const {
  const auto at = hooked_.find(interface);
  return at != hooked_.end() && (part == Part::kClassify || at->second);
}

std::set<Ifindex> Qdiscs::with_filters() const {
  std::set<Ifindex> interfaces;
  for (const auto& [interface, at_egress] : hooked_) interfaces.insert(interface);
  for (const auto& [interface, qdiscs] : all_)
    if (std::ranges::any_of(qdiscs, [](const Qdisc& q) {
          return std::ranges::find(kWithoutFilters, q.kind) == std::end(kWithoutFilters);
        }))
      interfaces.insert(interface);
  return interfaces;
}

const std::vector<Qdiscs::Qdisc>& Qdiscs::of(Ifindex interface) const {
  static const std::vector<Qdisc> kNone;
  const auto at = all_.find(interface);
  return at == all_.end() ? kNone : at->second;
}

}  // namespace lldp::dataplane::bpf
