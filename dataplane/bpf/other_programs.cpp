// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/other_programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dataplane/bpf/kernel.hpp"

namespace lldp::dataplane::bpf {
namespace {

/// XDP by a BPF link and features are not told of, and an interface costs microseconds to read: of
/// more than so many ports every 5 minutes, and before an answer.
constexpr std::size_t kLinksPerGlance = 16;
constexpr std::chrono::minutes kLinksPause{5};
/// TCX programs elsewhere, of which no event tells without a watch.
constexpr std::chrono::seconds kFarPause{72};
/// With more ports one question for all interfaces costs less than one for each port.
constexpr std::size_t kLinksOneByOne = 8;

}  // namespace

Result<OtherPrograms::Glimpse> OtherPrograms::look(Ifindex port) {
  LinkFacts link;
  if (auto done = socket_.links(port, [&](Ifindex, const LinkFacts& facts) { link = facts; });
      !done)
    return fail(done.error());
  if (const auto seen = seen_.find(port); seen != seen_.end() && seen->second.name != link.name)
    nftables_.expire();
  Glimpse glimpse{.name = link.name,
                  .nftables = by_nftables(link.name, false),
                  .xdp_program = link.xdp_program,
                  .switch_port = link.switch_port,
                  .lists = interfaces_.lists_of(link.name),
                  .nftables_unread = nftables_unread(),
                  .route = routes_.found(),
                  .routes_unread = routes_.unread(),
                  .tag = programs_.tag(port)};
  auto chains = interfaces_.chains(port);
  if (!chains) return fail(chains.error());
  glimpse.chains = std::move(*chains);
  if (auto done = read_interfaces(); !done) return fail(done.error());
  auto uppers = interfaces_.above(port);
  if (!uppers) return fail(uppers.error());
  glimpse.above = std::move(*uppers);
  auto lowers = interfaces_.below(port);
  if (!lowers) return fail(lowers.error());
  glimpse.below = std::move(*lowers);
  glimpse.nftables_below = by_nftables(glimpse.below);
  glimpse.elsewhere = sent_into(port);
  glimpse.on_passages = on_passages();
  return glimpse;
}

Result<std::optional<std::string>> OtherPrograms::bypass(Ifindex port, Part part,
                                                         const qos::Ruleset& rules,
                                                         Glimpse& glimpse) {
  auto way = way_round(port, part, rules, glimpse);
  if (way && !*way) way = harm(port, part, rules, glimpse);
  return way;
}

Result<std::optional<std::string>> OtherPrograms::way_round(Ifindex port, Part part,
                                                            const qos::Ruleset& rules,
                                                            const Glimpse& glimpse) {
  if (glimpse.switch_port)
    return "a port of a switch chip, which forwards past the kernel: take a back end that programs "
           "the chip";
  if (part == Part::kClassify && glimpse.xdp_program != 0)
    return fmt::format(
        "an XDP program ({}) is attached: what it takes or redirects does not come "
        "by the rules: detach it, or, if no lossless packets take the port, leave it out of "
        "`ports`",
        glimpse.xdp_program);
  // TCX comes before clsact.
  const TcxChain& chain = glimpse.chains[static_cast<std::size_t>(part)];
  if (!chain.program_ids.empty()) {
    const std::uint32_t id = chain.program_ids.front();
    if (programs_.key_of_id(id) == Programs::key_of(rules)) return std::nullopt;
    return fmt::format(
        "a TCX program ({}) stands before the rules: what it decides, they do not "
        "see: attach it after them, or, if it is one that an earlier daemon left, run lldp-leveld "
        "--remove-rules",
        id);
  }
  return clsact_->before(port, part);
}

Result<void> OtherPrograms::read_interfaces() {
  const auto renamed = interfaces_.read();
  if (!renamed) return fail(renamed.error());
  if (*renamed) nftables_.expire();
  far_ = false;
  return {};
}

std::optional<std::string> OtherPrograms::sent_into(Ifindex port) const {
  return interfaces_.elsewhere().into(port, interfaces_.stack().below(port));
}

std::optional<std::string> OtherPrograms::on_passages() {
  return harm_on_passages(interfaces_.elsewhere(), interfaces_.stack(), interfaces_.passages());
}

void OtherPrograms::add_sent_into(std::vector<Ifindex>& ports) {
  const auto harm = on_passages();
  for (const auto& [port, seen] : seen_)
    if (sent_into(port) != seen.elsewhere || harm != seen.on_passages ||
        (seen.mark_need && *seen.mark_need != mark_need(seen.turns)))
      ports.push_back(port);
}

MarkNeed OtherPrograms::mark_need(bool turns) {
  if (const auto far = turns ? interfaces_.elsewhere().relies_on_mark() : std::nullopt)
    return need_of_filter(*far);
  if (turns)
    for (const Ifindex link : interfaces_.passages())
      return need_above(interfaces_.stack().name_of(link));
  return need_on_the_way(nftables_, turns);
}

auto OtherPrograms::by_nftables(const std::string& interface, bool below) const
    -> Glimpse::ByNftables {
  return {nftables_.past(interface, Part::kClassify, below),
          nftables_.past(interface, Part::kRemap, below)};
}

auto OtherPrograms::by_nftables(std::span<const SharedBeside> below) const
    -> std::vector<Glimpse::ByNftables> {
  std::vector<Glimpse::ByNftables> all;
  for (const SharedBeside& one : below) all.push_back(by_nftables(one->link.name, true));
  return all;
}

Result<std::optional<std::string>> OtherPrograms::harm(Ifindex port, Part part,
                                                       const qos::Ruleset& rules,
                                                       Glimpse& glimpse) {
  const auto at = static_cast<std::size_t>(part);
  if (const auto& past = glimpse.nftables.at(at))
    if (auto why = harm_of_nftables(rules, *past)) return why;
  if (part == Part::kClassify) {
    if (glimpse.route)
      if (auto why = harm_of_route(rules, *glimpse.route)) return why;
    if (glimpse.lists.on)
      if (auto why = harm_of_lists(rules, glimpse.name)) return why;
    for (const auto* const links : {&glimpse.above, &glimpse.below})
      for (const SharedBeside& one : *links)
        if (one->link.lists.on)
          if (auto why = harm_of_lists(rules, one->link.name)) return why;
  }
  auto others = interfaces_.strangers(port, part, glimpse.chains);
  if (!others) return fail(others.error());
  const auto need = [&] {
    // What comes in by a port without a tag never turns.
    const bool turns = rules.tag != qos::Tag();
    const auto leads = std::ranges::find_if(
        glimpse.above, [](const SharedBeside& upper) { return upper->link.up; });
    if (turns && leads != glimpse.above.end()) return need_above((*leads)->link.name).why;
    glimpse.turns = turns;
    glimpse.mark_need = mark_need(turns);
    return glimpse.mark_need->why;
  };
  if (auto why = harm_behind(part, rules, *others, need)) return why;
  for (const SharedBeside& upper : glimpse.above) {
    others = interfaces_.strangers(*upper, part);
    if (!others) return fail(others.error());
    if (auto why = harm_above(part, rules, upper->link, *others)) return why;
  }
  for (std::size_t i = 0; i < glimpse.below.size(); ++i) {
    const Beside& lower = *glimpse.below[i];
    if (ports_.contains(lower.link.ifindex))
      others = std::vector<Stranger>();
    else
      others = interfaces_.strangers(lower, part);
    if (!others) return fail(others.error());
    if (auto why = harm_below(part, rules, lower.link, *others, glimpse.nftables_below[i].at(at)))
      return why;
  }
  return harm_from_elsewhere(part, rules, glimpse.elsewhere, glimpse.on_passages);
}

std::optional<std::string> OtherPrograms::doubt(Part part, const qos::Ruleset& rules,
                                                const Glimpse& glimpse) const {
  if (auto why = doubt_of_nftables(rules, glimpse.nftables_unread)) return why;
  if (part != Part::kClassify) return std::nullopt;
  if (glimpse.mark_need)
    if (auto why = doubt_of_mark(glimpse.mark_need->unread)) return why;
  if (auto why = doubt_of_routes(rules, glimpse.routes_unread)) return why;
  if (auto why = doubt_of_lists(rules, glimpse.name, glimpse.lists.unread)) return why;
  for (const auto* const links : {&glimpse.above, &glimpse.below})
    for (const SharedBeside& one : *links)
      if (auto why = doubt_of_lists(rules, one->link.name, one->link.lists.unread)) return why;
  return std::nullopt;
}

bool OtherPrograms::has_chain_changed(Ifindex port, const Glimpse& seen) const {
  return std::ranges::any_of(std::array{Part::kClassify, Part::kRemap}, [&](Part part) {
    return interfaces_.has_tcx() &&
           !is_tcx_chain(port, part, seen.chains[static_cast<std::size_t>(part)]);
  });
}

void OtherPrograms::add_changed(std::vector<Ifindex>& ports) {
  if (seen_.empty()) return;
  for (const auto& [port, seen] : seen_)
    if (has_chain_changed(port, seen)) ports.push_back(port);
  interfaces_.expire();
  if (!read_interfaces()) return;
  if (interfaces_.has_tcx()) interfaces_.read_programs();
  add_sent_into(ports);
}

bool OtherPrograms::add_concerned(std::vector<Ifindex>& interfaces) {
  if (interfaces.empty()) return false;
  interfaces_.expire();
  const Stack& stack = interfaces_.stack();
  const std::vector<Ifindex> told = interfaces;
  for (const Ifindex link : told)
    for (const auto& links : {stack.below(link), stack.above(link)})
      for (const Stack::Link& port : links)
        if (ports_.contains(port.ifindex)) interfaces.push_back(port.ifindex);
  for (const Ifindex link : told) {
    interfaces_.expire_filters(link);
    // Where it may be any, all ports are looked at anyway.
    far_ |= link != Ifindex() && !ports_.contains(link);
  }
  return far_;
}

bool OtherPrograms::is_filtered_otherwise(const Glimpse& seen) const {
  return by_nftables(seen.name, false) != seen.nftables ||
         nftables_unread() != seen.nftables_unread ||
         by_nftables(seen.below) != seen.nftables_below;
}

void OtherPrograms::add_filtered(std::vector<Ifindex>& ports) {
  if (!nftables_.take() || seen_.empty()) return;
  nftables_.read();
  for (const auto& [port, seen] : seen_)
    if (is_filtered_otherwise(seen) || (seen.mark_need && *seen.mark_need != mark_need(seen.turns)))
      ports.push_back(port);
}

std::vector<Ifindex> OtherPrograms::changed(std::span<const Ifindex> ports, Backend::Glance why,
                                            bool chains, std::chrono::seconds pause) {
  const bool for_answer = why == Backend::Glance::kOfQuestion;
  std::set<Ifindex> changed;
  const auto compare = [&](Ifindex port, const LinkFacts& facts) {
    const auto seen = seen_.find(port);
    if (seen != seen_.end() && (seen->second.xdp_program != facts.xdp_program ||
                                seen->second.lists != interfaces_.lists_of(facts.name)))
      changed.insert(port);
  };
  const bool stacked = std::ranges::any_of(ports, [this](Ifindex port) {
    const auto seen = seen_.find(port);
    return seen != seen_.end() &&
           (seen->second.mark_need || !seen->second.above.empty() || !seen->second.below.empty());
  });
  const bool programs =
      interfaces_.has_tcx() && chains &&
      (for_answer || far_glances_++ % std::max<std::int64_t>(kFarPause / pause, 1) == 0);
  const bool links =
      for_answer || ports.size() <= kLinksPerGlance || ++glances_ >= kLinksPause / pause;
  if (links) glances_ = 0;
  // Where nothing stands on a port, an event of links tells of what comes. An interface elsewhere
  // goes without one, and XDP by a BPF link comes so where packets go on.
  if (for_answer || stacked || programs || far_ || !interfaces_.are_known() ||
      !interfaces_.elsewhere().empty() || (links && !interfaces_.passages().empty())) {
    interfaces_.expire();
    if (!read_interfaces()) return {ports.begin(), ports.end()};
    if (links)
      for (const auto& [port, facts] : interfaces_.stack().all()) compare(port, facts);
  } else if (links && ports.size() > kLinksOneByOne) {
    if (!socket_.links(Ifindex(), compare)) return {ports.begin(), ports.end()};
  } else if (links) {
    for (const Ifindex port : ports)
      if (!socket_.links(port, compare)) changed.insert(port);
  }
  if (programs) interfaces_.read_programs();
  const auto harm = on_passages();
  nftables_.read();                              // after the names
  std::array<std::optional<MarkNeed>, 2> needs;  // the same for many ports
  const auto need = [&](bool turns) {
    auto& its = needs.at(turns ? 1 : 0);
    if (!its) its = mark_need(turns);
    return *its;
  };
  for (const Ifindex port : ports) {
    const auto seen = seen_.find(port);
    if (seen == seen_.end()) changed.insert(port);
    if (changed.contains(port)) continue;
    if (programs_.tag(port) != seen->second.tag) changed.insert(port);
    if (is_filtered_otherwise(seen->second) || routes_.found() != seen->second.route ||
        routes_.unread() != seen->second.routes_unread)
      changed.insert(port);
    if (stacked) {
      const auto uppers = interfaces_.above(port);
      const auto lowers = interfaces_.below(port);
      if (!uppers || *uppers != seen->second.above || !lowers || *lowers != seen->second.below)
        changed.insert(port);
    }
    if (seen->second.mark_need && *seen->second.mark_need != need(seen->second.turns))
      changed.insert(port);
    if (chains && has_chain_changed(port, seen->second)) changed.insert(port);
    if (sent_into(port) != seen->second.elsewhere || harm != seen->second.on_passages)
      changed.insert(port);
  }
  return {changed.begin(), changed.end()};
}

}  // namespace lldp::dataplane::bpf
