// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/clsact.hpp"

#include <fmt/format.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <netinet/in.h>
#include <netlink/attr.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <set>

#include "dataplane/bpf/kernel.hpp"

namespace lldp::dataplane::bpf {
namespace {

constexpr std::string_view kNameOfOurs = "lldp-level ";
constexpr std::string_view kMadeQdisc = " +clsact";
constexpr std::string_view kMark = "clsact-";
/// Before the preferences that people and scripts give (10, 100, and from 49152 on the kernel's own
/// choice), so that no verdict of another filter goes before ours.
constexpr std::uint32_t kFirstPreference = 5;
constexpr std::uint32_t kHandle = 1;

std::uint32_t parent_of(Part part) {
  return TC_H_MAKE(TC_H_CLSACT, part == Part::kClassify ? TC_H_MIN_INGRESS : TC_H_MIN_EGRESS);
}

TcMessage filters_at(Ifindex port, std::uint32_t parent) {
  return {RTM_GETTFILTER, NLM_F_DUMP, port, parent};
}

std::uint32_t info_of(std::uint32_t preference) { return preference << 16 | htons(ETH_P_ALL); }

std::string mark_of(Ifindex port) { return std::string(kMark) + std::to_string(port.value()); }

bool made_qdisc(std::string_view name) { return name.ends_with(kMadeQdisc); }

/// The object asked for is not there: the filter, the qdisc (another kind, not ours, may be in its
/// place), or the interface.
bool is_none(const Error& e) { return e.code == ENOENT || e.code == EINVAL || e.code == ENODEV; }

/// Whether a filter for this protocol meets IP packets, tagged ones too.
bool meets_ip(std::uint32_t info) {
  switch (ntohs(static_cast<std::uint16_t>(info & 0xffff))) {
    case ETH_P_ALL:
    case ETH_P_IP:
    case ETH_P_IPV6:
    case ETH_P_8021Q:
    case ETH_P_8021AD:
      return true;
    default:
      return false;
  }
}

std::string key_in(std::string_view name) {
  name.remove_prefix(kNameOfOurs.size());
  return std::string(name.substr(0, name.find(' ')));
}

}  // namespace

bool Clsact::Filter::ours() const { return name.starts_with(kNameOfOurs); }

Clsact::Clsact(TcSocket socket, Programs& programs)
    : socket_(std::move(socket)), programs_(programs) {
  // Without a BPF file system the state is found by way of a program at work.
  if (programs_.has_state()) return;
  const auto found = ports();
  for (Ifindex port : found.value_or(std::vector<Ifindex>{})) {
    const auto filter = ours(port, Part::kRemap);
    if (!filter || !*filter) continue;
    adopted_ = programs_.adopt_state((*filter)->program_id);
    return;
  }
}

Result<std::vector<Clsact::Filter>> Clsact::filters(Ifindex port, Part part) {
  return filters(filters_at(port, parent_of(part)));
}

Result<std::vector<Clsact::Filter>> Clsact::filters(const TcMessage& question, Chains chains) {
  std::vector<Filter> filters;
  const auto done = socket_.dump(question, [&](const TcObject& f) {
    if (f.chain != 0 && chains == Chains::kFirst) return;
    Filter filter{.handle = f.handle, .info = f.info, .kind = std::string(f.kind)};
    std::array<nlattr*, TCA_BPF_MAX + 1> bpf{};
    if (f.kind == "bpf" && f.options != nullptr &&
        nla_parse_nested(bpf.data(), TCA_BPF_MAX, f.options, nullptr) == 0) {
      if (bpf[TCA_BPF_NAME]) filter.name = nla_get_string(bpf[TCA_BPF_NAME]);
      if (bpf[TCA_BPF_ID]) filter.program_id = nla_get_u32(bpf[TCA_BPF_ID]);
    }
    if (!filter.ours()) filter.power = power_of(f);
    filters.push_back(std::move(filter));
  });
  if (!done && !is_none(done.error())) return fail(done.error());
  return filters;
}

std::optional<Clsact::Filter> Clsact::ours_in(const std::vector<Filter>& all) {
  const auto at =
      std::ranges::find_if(all, [](const Filter& f) { return f.ours() && f.handle != 0; });
  return at == all.end() ? std::nullopt : std::optional(*at);
}

Result<std::optional<Clsact::Filter>> Clsact::ours(Ifindex port, Part part) {
  const auto all = filters(port, part);
  if (!all) return fail(all.error());
  return ours_in(*all);
}

Result<std::optional<std::string>> Clsact::find(Ifindex port, Part part) {
  const auto filter = ours(port, part);
  if (!filter) return fail(filter.error());
  if (!*filter) return std::nullopt;
  // A program that counts where we cannot read is to be replaced.
  const bool known = adopted_ || !programs_.key_of_id((*filter)->program_id).empty();
  if (part == Part::kRemap && !known) return std::string();
  return key_in((*filter)->name);
}

Result<bool> Clsact::need_qdisc(Ifindex port) {
  const auto ask = [&](int flags) {
    TcMessage message(RTM_NEWQDISC, flags, port, TC_H_CLSACT, TC_H_MAKE(TC_H_CLSACT, 0));
    return socket_.request(message.text(TCA_KIND, "clsact"));
  };
  const auto made = ask(NLM_F_CREATE | NLM_F_EXCL);
  if (made) return true;
  if (made.error().code != EEXIST) return fail(made.error());
  // To change it into what it is, is refused only if it is of another kind: an ingress qdisc, which
  // would take a filter for egress as one more for ingress.
  const auto changed = ask(0);
  if (changed) return false;
  if (changed.error().code != EINVAL) return fail(changed.error());
  return fail(
      Error{EEXIST,
            {},
            "an ingress qdisc takes the place of clsact, which does the same and more: "
            "delete it, or, if no lossless packets take the port, leave it out of `ports`"});
}

Result<void> Clsact::put(Ifindex port, Part part, const Programs::Loaded& program) {
  const auto attributes = [&](TcMessage& message, bool made) -> TcMessage& {
    return message.text(TCA_KIND, "bpf").options([&](TcMessage& o) {
      o.number(TCA_BPF_FD, static_cast<std::uint32_t>(program.program(part).get()));
      o.text(TCA_BPF_NAME,
             std::string(kNameOfOurs) + program.key + std::string(made ? kMadeQdisc : ""));
      o.number(TCA_BPF_FLAGS, TCA_BPF_FLAG_ACT_DIRECT);
    });
  };
  // All is read before the qdisc is made: what is refused then leaves none behind.
  const auto all = filters(port, part);
  if (!all) return fail(all.error());
  if (const auto mine = ours_in(*all)) {
    TcMessage replace(RTM_NEWTFILTER, 0, port, parent_of(part), mine->handle, mine->info);
    return socket_.request(attributes(replace, made_qdisc(mine->name)));
  }
  const auto other = ours(port, part == Part::kClassify ? Part::kRemap : Part::kClassify);
  if (!other) return fail(other.error());
  std::set<std::uint32_t> taken;
  for (const Filter& f : *all) taken.insert(f.info >> 16);
  std::uint32_t preference = kFirstPreference;
  while (taken.contains(preference)) ++preference;
  const auto made_now = need_qdisc(port);
  if (!made_now) return fail(made_now.error());
  const bool made = *made_now || is_left(port) || (*other && made_qdisc((*other)->name));
  TcMessage add(RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL, port, parent_of(part), kHandle,
                info_of(preference));
  auto done = socket_.request(attributes(add, made));
  if (!done && *made_now) (void)remove_qdisc(port);  // the first error is reported
  return done;
}

bool Clsact::is_left(Ifindex port) const {
  const auto& pins = programs_.pins();
  return pins && pins->is_marked(mark_of(port));
}

Result<void> Clsact::remove_filter(Ifindex port, Part part, const Filter& filter) {
  TcMessage away(RTM_DELTFILTER, 0, port, parent_of(part), filter.handle, filter.info);
  auto done = socket_.request(away.text(TCA_KIND, "bpf"));
  if (!done && !is_none(done.error())) return done;
  return {};
}

Result<void> Clsact::leave(Ifindex port, Part part) {
  const auto mine = ours(port, part);
  if (!mine) return fail(mine.error());
  if (!*mine) return {};
  if (auto done = remove_filter(port, part, **mine); !done) return done;
  if (made_qdisc((*mine)->name) && programs_.pins()) programs_.pins()->mark(mark_of(port));
  return {};
}

Result<bool> Clsact::has_others(Ifindex port, Part part, const std::optional<Filter>& mine) {
  for (Part p : {Part::kClassify, Part::kRemap}) {
    const auto all = filters(port, p);
    if (!all) return fail(all.error());
    for (const Filter& f : *all) {
      const bool of_mine =
          mine && f.info == mine->info && (f.handle == 0 || f.handle == mine->handle);
      if (p != part || !of_mine) return true;
    }
  }
  return false;
}

Result<void> Clsact::remove(Ifindex port, Part part) {
  const auto mine = ours(port, part);
  if (!mine) return fail(mine.error());
  if (is_left(port) || (*mine && made_qdisc((*mine)->name))) {
    const auto needed =
        has_others(port, part, *mine);  // ours, or those of a program that came to need it
    if (!needed) return fail(needed.error());
    if (!*needed) return remove_qdisc(port);
  }
  return *mine ? remove_filter(port, part, **mine) : Result<void>();
}

Result<void> Clsact::remove_qdisc(Ifindex port) {
  TcMessage gone(RTM_DELQDISC, 0, port, TC_H_CLSACT);
  auto done = socket_.request(gone.text(TCA_KIND, "clsact"));
  if (!done && !is_none(done.error())) return done;
  forget(port);
  return {};
}

void Clsact::keep_only(const std::set<Ifindex>& ports) {
  if (!programs_.pins()) return;
  std::set<std::string> kept;
  for (const Ifindex port : ports) kept.insert(mark_of(port));
  for (const std::string& mark : programs_.pins()->marks())
    if (!kept.contains(mark)) programs_.pins()->unmark(mark);
}

void Clsact::forget(Ifindex port) {
  if (programs_.pins()) programs_.pins()->unmark(mark_of(port));
}

Result<std::optional<std::string>> Clsact::before(Ifindex port, Part part) {
  const auto all = filters(port, part);  // in the order in which packets meet them
  if (!all) return fail(all.error());
  for (const Filter& f : *all) {
    if (f.handle == 0) continue;  // the heading of those to come
    if (f.ours()) break;
    if (meets_ip(f.info))
      return fmt::format(
          "a filter ({}, preference {}) stands before the rules: what it takes, they "
          "do not see: delete it, or give it a preference above {}",
          f.kind, f.info >> 16, kFirstPreference);
  }
  return std::nullopt;
}

Result<std::vector<Stranger>> Clsact::behind(Ifindex port, Part part, Chains chains) {
  const auto all = filters(filters_at(port, parent_of(part)), chains);
  if (!all) return fail(all.error());
  std::vector<Stranger> behind;
  for (const Filter& f : *all) {
    if (f.handle == 0) continue;  // the heading of those to come
    if (f.ours())
      behind.clear();
    else if (meets_ip(f.info))
      behind.push_back(
          {fmt::format("a filter ({}, preference {})", f.kind, f.info >> 16), f.power});
  }
  return behind;
}

Result<std::vector<Stranger>> Clsact::in_qdiscs(Ifindex port, const Qdiscs& qdiscs, Chains chains) {
  const auto named = [](std::string_view what, std::uint32_t handle) {
    return fmt::format("{} {:x}:{:x}", what, TC_H_MAJ(handle) >> 16, TC_H_MIN(handle));
  };
  std::vector<Stranger> strangers;
  const auto add = [&](const TcMessage& question, const std::string& name) -> Result<void> {
    const auto all = filters(question, chains);
    if (!all) return fail(all.error());
    for (const Filter& f : *all) {
      if (f.handle == 0 || !meets_ip(f.info)) continue;
      strangers.push_back(
          {fmt::format("a filter of {} ({}, preference {})", name, f.kind, f.info >> 16), f.power});
      strangers.back().power.decides = false;
    }
    return {};
  };
  std::map<std::uint32_t, std::string> parents{{0, "the root qdisc"}};
  std::set<std::uint32_t> with_classes;
  for (const Qdiscs::Qdisc& q : qdiscs.of(port)) {
    if (q.power.changes) strangers.push_back({named("the qdisc", q.handle), q.power});
    for (const std::uint32_t block : q.blocks)
      if (auto done = add(TcMessage::of_block(RTM_GETTFILTER, NLM_F_DUMP, block),
                          fmt::format("block {} of {}", block, named("the qdisc", q.handle)));
          !done)
        return fail(done.error());
    if (q.handle == 0) continue;
    parents.emplace(q.handle, named("the qdisc", q.handle));
    if (q.has_classes()) with_classes.insert(q.handle);
  }
  if (!with_classes.empty()) {
    const auto done =
        socket_.dump(TcMessage(RTM_GETTCLASS, NLM_F_DUMP, port, 0), [&](const TcObject& c) {
          if (with_classes.contains(TC_H_MAJ(c.handle)))
            parents.emplace(c.handle, named("class", c.handle));
        });
    if (!done && !is_none(done.error())) return fail(done.error());
  }
  for (const auto& [parent, name] : parents)
    if (auto done = add(filters_at(port, parent), name); !done) return fail(done.error());
  return strangers;
}

Result<bool> Clsact::taken(Ifindex port) {
  bool taken = false;
  const auto done =
      socket_.dump(TcMessage(RTM_GETQDISC, NLM_F_ECHO, port, TC_H_INGRESS),
                   [&](const TcObject& q) { taken = q.kind == "ingress" && q.port == port; });
  if (!done && done.error().code != ENOENT) return fail(done.error());
  return taken;
}

Result<std::vector<Ifindex>> Clsact::ports() {
  std::set<Ifindex> with_clsact;
  const auto done =
      socket_.dump(TcMessage(RTM_GETQDISC, NLM_F_DUMP, Ifindex(), 0), [&](const TcObject& q) {
        if (q.kind == "clsact") with_clsact.insert(q.port);
      });
  if (!done) return fail(done.error());
  std::vector<Ifindex> ports;
  for (Ifindex port : with_clsact) {
    for (Part part : {Part::kClassify, Part::kRemap}) {
      const auto mine = ours(port, part);
      if (!mine) return fail(mine.error());
      if (*mine) ports.push_back(port);
    }
  }
  return ports;
}

}  // namespace lldp::dataplane::bpf
