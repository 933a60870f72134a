// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/other_programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "dataplane/bpf/kernel.hpp"

namespace lldp::dataplane::bpf {
namespace {

/// XDP by a BPF link and features are not told of, and an interface costs microseconds to read: of
/// more than so many ports every 5 minutes, and before an answer.
constexpr std::size_t kLinksPerGlance = 16;
constexpr std::size_t kGlancesWithoutLinks = 32;
/// TCX programs elsewhere, of which no event tells without a watch.
constexpr std::size_t kGlancesWithoutFar = 8;
/// With more ports one question for all interfaces costs less than one for each port.
constexpr std::size_t kLinksOneByOne = 8;
/// How interfaces stand on each other is read so often at most: it takes a look at all of them.
/// What is on them is asked for once in that time, so it is longer where there are many.
constexpr std::chrono::steady_clock::duration kStackPause = std::chrono::milliseconds(50);
constexpr std::chrono::steady_clock::duration kLongestStackPause = std::chrono::milliseconds(500);
constexpr int kStackPauses = 20;  ///< times what a read takes

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
                  .lists = bundles_.of(link.name),
                  .nftables_unread = nftables_unread(),
                  .route = routes_.found(),
                  .routes_unread = routes_.unread(),
                  .tag = programs_.tag(port)};
  for (const Part part : {Part::kClassify, Part::kRemap}) {
    auto programs = chain(port, part);
    if (!programs) return fail(programs.error());
    glimpse.chains[static_cast<std::size_t>(part)] = std::move(*programs);
  }
  if (auto done = read_stack(); !done) return fail(done.error());
  auto uppers = above(port);
  if (!uppers) return fail(uppers.error());
  glimpse.above = std::move(*uppers);
  auto lowers = below(port);
  if (!lowers) return fail(lowers.error());
  glimpse.below = std::move(*lowers);
  glimpse.elsewhere = elsewhere_.into(port, stack_.below(port));
  glimpse.ends_hook = elsewhere_.ends_hook(passages());
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

Result<TcxChain> OtherPrograms::chain(Ifindex port, Part part) const {
  if (!tcx_) return TcxChain{};
  return tcx_chain(port, part);
}

std::vector<Stranger> OtherPrograms::behind(const TcxChain& chain) const {
  std::vector<Stranger> behind;
  for (const std::uint32_t id : chain.program_ids)
    if (programs_.key_of_id(id).empty())
      behind.push_back({fmt::format("a TCX program ({})", id), power_of_program()});
  return behind;
}

Result<void> OtherPrograms::read_stack() {
  const auto begin = std::chrono::steady_clock::now();
  if (stack_read_ != std::chrono::steady_clock::time_point() && begin - stack_read_ < stack_pause_)
    return {};
  stack_read_ = {};  // what fails is not known a moment later either
  const auto renamed = stack_.read(socket_);
  if (!renamed) return fail(renamed.error());
  if (*renamed) nftables_.expire();
  told_of_.reset();
  beside_.clear();
  strangers_.clear();
  if (auto done = qdiscs_.read(socket_); !done) return done;
  if (auto done = elsewhere_.read(*clsact_, qdiscs_, stack_, told()); !done) return done;
  far_ = false;
  stack_read_ = std::chrono::steady_clock::now();
  stack_pause_ = std::clamp(kStackPauses * (stack_read_ - begin), kStackPause, kLongestStackPause);
  return {};
}

std::vector<Stack::Link> OtherPrograms::uppers(Ifindex port) const {
  std::vector<Stack::Link> links = stack_.above(port);
  std::erase_if(links, [&](const Stack::Link& link) {
    return (link.kind == "macvtap" || link.kind == "ipvtap") && !ports_.contains(link.ifindex);
  });
  return links;
}

const std::set<Ifindex>& OtherPrograms::told() {
  if (told_of_ == ports_) return told_;
  told_of_ = told_ = ports_;
  if (!stack_.empty())
    for (const Ifindex port : ports_)
      for (const auto& links : {uppers(port), stack_.below(port)})
        for (const Stack::Link& link : links) told_.insert(link.ifindex);
  passages_ = stack_.passages(told_);
  return told_;
}

const std::set<Ifindex>& OtherPrograms::passages() {
  (void)told();
  return passages_;
}

void OtherPrograms::add_sent_into(std::vector<Ifindex>& ports) {
  const auto ends_hook = elsewhere_.ends_hook(passages());
  for (const auto& [port, seen] : seen_)
    if (elsewhere_.into(port, stack_.below(port)) != seen.elsewhere ||
        ends_hook != seen.ends_hook || (seen.mark_need && *seen.mark_need != mark_need(seen.turns)))
      ports.push_back(port);
}

MarkNeed OtherPrograms::mark_need(bool turns) {
  if (const auto far = turns ? elsewhere_.relies_on_mark() : std::nullopt)
    return need_of_filter(*far);
  if (turns)
    for (const Ifindex link : passages()) return need_above(stack_.name_of(link));
  return need_on_the_way(nftables_, turns);
}

auto OtherPrograms::by_nftables(const std::string& interface, bool below) const
    -> Glimpse::ByNftables {
  return {nftables_.past(interface, Part::kClassify, below),
          nftables_.past(interface, Part::kRemap, below)};
}

auto OtherPrograms::beside(std::vector<Stack::Link> links, bool below)
    -> Result<std::vector<Glimpse::Beside>> {
  std::vector<Glimpse::Beside> all;
  for (Stack::Link& link : links) {
    const auto key = std::pair(link.ifindex, below);
    if (const auto known = beside_.find(key); known != beside_.end()) {
      all.push_back(known->second);
      continue;
    }
    link.lists = bundles_.of(link.name);
    Glimpse::Beside one;
    for (const Part part : {Part::kClassify, Part::kRemap}) {
      auto programs = chain(link.ifindex, part);
      if (!programs && programs.error().code != ENODEV) return fail(programs.error());
      if (programs) one.chains.at(static_cast<std::size_t>(part)) = std::move(*programs);
    }
    if (below) one.nftables = by_nftables(link.name, below);
    one.link = std::move(link);
    all.push_back(beside_.emplace(key, std::move(one)).first->second);
  }
  return all;
}

auto OtherPrograms::above(Ifindex port) -> Result<std::vector<Glimpse::Beside>> {
  return beside(uppers(port), false);
}

auto OtherPrograms::below(Ifindex port) -> Result<std::vector<Glimpse::Beside>> {
  auto all = beside(stack_.below(port), true);
  if (!all) return all;
  for (Glimpse::Beside& one : *all)
    if (ports_.contains(one.link.ifindex))
      one = {.link = {.ifindex = one.link.ifindex, .name = one.link.name},
             .nftables = one.nftables};
  return all;
}

Result<std::vector<Stranger>> OtherPrograms::strangers_beside(const Glimpse::Beside& other,
                                                              Part part) {
  const auto key = std::pair(other.link.ifindex, part);
  if (const auto known = strangers_.find(key); known != strangers_.end()) return known->second;
  auto found = strangers(other.link.ifindex, part, other.chains.at(static_cast<std::size_t>(part)));
  if (found) strangers_.emplace(key, *found);
  return found;
}

bool OtherPrograms::leaves_by_rules(Ifindex interface) const {
  return ports_.contains(interface) ||
         std::ranges::any_of(stack_.below(interface),
                             [&](const auto& lower) { return ports_.contains(lower.ifindex); });
}

Result<std::vector<Stranger>> OtherPrograms::strangers(Ifindex interface, Part part,
                                                       const TcxChain& chain) {
  std::vector<Stranger> all = behind(chain);
  if (qdiscs_.has_hook(interface, part)) {
    const auto filters = clsact_->behind(interface, part);
    if (!filters) return fail(filters.error());
    all.insert(all.end(), filters->begin(), filters->end());
  }
  if (part != Part::kRemap) return all;
  const auto in_qdiscs = clsact_->in_qdiscs(interface, qdiscs_);
  if (!in_qdiscs) return fail(in_qdiscs.error());
  all.insert(all.end(), in_qdiscs->begin(), in_qdiscs->end());
  for (Stranger& s : all) {
    if (std::ranges::none_of(s.power.copies_to, [&](Ifindex to) { return leaves_by_rules(to); }))
      continue;
    s.power.redirects = true;
    s.power.by = "mirred";
  }
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
      for (const Glimpse::Beside& one : *links)
        if (one.link.lists.on)
          if (auto why = harm_of_lists(rules, one.link.name)) return why;
  }
  auto others = strangers(port, part, glimpse.chains.at(at));
  if (!others) return fail(others.error());
  const auto need = [&] {
    // What comes in by a port without a tag never turns.
    const bool turns = rules.tag != qos::Tag();
    if (turns && !glimpse.above.empty()) return need_above(glimpse.above.front().link.name).why;
    glimpse.turns = turns;
    glimpse.mark_need = mark_need(turns);
    return glimpse.mark_need->why;
  };
  if (auto why = harm_behind(part, rules, *others, need)) return why;
  for (const Glimpse::Beside& upper : glimpse.above) {
    others = strangers_beside(upper, part);
    if (!others) return fail(others.error());
    if (auto why = harm_above(part, rules, upper.link, *others)) return why;
  }
  for (const Glimpse::Beside& lower : glimpse.below) {
    if (ports_.contains(lower.link.ifindex))
      others = std::vector<Stranger>();
    else
      others = strangers_beside(lower, part);
    if (!others) return fail(others.error());
    if (auto why = harm_below(part, rules, lower.link, *others, lower.nftables.at(at))) return why;
  }
  return harm_from_elsewhere(part, rules, glimpse.elsewhere, glimpse.ends_hook);
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
    for (const Glimpse::Beside& one : *links)
      if (auto why = doubt_of_lists(rules, one.link.name, one.link.lists.unread)) return why;
  return std::nullopt;
}

bool OtherPrograms::has_chain_changed(Ifindex port, const Glimpse& seen) const {
  return std::ranges::any_of(std::array{Part::kClassify, Part::kRemap}, [&](Part part) {
    return tcx_ && !is_tcx_chain(port, part, seen.chains[static_cast<std::size_t>(part)]);
  });
}

void OtherPrograms::add_changed(std::vector<Ifindex>& ports) {
  if (seen_.empty()) return;
  for (const auto& [port, seen] : seen_)
    if (has_chain_changed(port, seen)) ports.push_back(port);
  stack_read_ = {};
  if (!read_stack()) return;
  if (tcx_) elsewhere_.read_programs(programs_, stack_, told());
  add_sent_into(ports);
}

bool OtherPrograms::add_concerned(std::vector<Ifindex>& interfaces) {
  if (interfaces.empty()) return false;
  stack_read_ = {};
  const std::vector<Ifindex> told = interfaces;
  for (const Ifindex link : told)
    for (const auto& links : {stack_.below(link), stack_.above(link)})
      for (const Stack::Link& port : links)
        if (ports_.contains(port.ifindex)) interfaces.push_back(port.ifindex);
  for (const Ifindex link : told) {
    elsewhere_.expire(link);
    // Where it may be any, all ports are looked at anyway.
    far_ |= link != Ifindex() && !ports_.contains(link);
  }
  return far_;
}

std::vector<Ifindex> OtherPrograms::changed(std::span<const Ifindex> ports, Backend::Glance why,
                                            bool chains) {
  const bool for_answer = why == Backend::Glance::kOfQuestion;
  std::set<Ifindex> changed;
  const auto compare = [&](Ifindex port, const LinkFacts& facts) {
    const auto seen = seen_.find(port);
    if (seen != seen_.end() && (seen->second.xdp_program != facts.xdp_program ||
                                seen->second.lists != bundles_.of(facts.name)))
      changed.insert(port);
  };
  const bool stacked = std::ranges::any_of(ports, [this](Ifindex port) {
    const auto seen = seen_.find(port);
    return seen != seen_.end() &&
           (seen->second.mark_need || !seen->second.above.empty() || !seen->second.below.empty());
  });
  const bool programs = tcx_ && chains && (for_answer || far_glances_++ % kGlancesWithoutFar == 0);
  const bool links =
      for_answer || ports.size() <= kLinksPerGlance || ++glances_ >= kGlancesWithoutLinks;
  if (links) glances_ = 0;
  // Where nothing stands on a port, an event of links tells of what comes. An interface elsewhere
  // goes without one.
  if (stacked || programs || far_ || !elsewhere_.empty()) {
    stack_read_ = {};
    if (!read_stack()) return {ports.begin(), ports.end()};
    if (links)
      for (const auto& [port, facts] : stack_.all()) compare(port, facts);
  } else if (links && ports.size() > kLinksOneByOne) {
    if (!socket_.links(Ifindex(), compare)) return {ports.begin(), ports.end()};
  } else if (links) {
    for (const Ifindex port : ports)
      if (!socket_.links(port, compare)) changed.insert(port);
  }
  if (programs) elsewhere_.read_programs(programs_, stack_, told());
  const auto ends_hook = elsewhere_.ends_hook(passages());
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
    if (by_nftables(seen->second.name, false) != seen->second.nftables ||
        nftables_unread() != seen->second.nftables_unread ||
        routes_.found() != seen->second.route || routes_.unread() != seen->second.routes_unread)
      changed.insert(port);
    if (stacked) {
      const auto uppers = above(port);
      const auto lowers = below(port);
      if (!uppers || *uppers != seen->second.above || !lowers || *lowers != seen->second.below)
        changed.insert(port);
    }
    if (seen->second.mark_need && *seen->second.mark_need != need(seen->second.turns))
      changed.insert(port);
    if (chains && has_chain_changed(port, seen->second)) changed.insert(port);
    if (elsewhere_.into(port, stack_.below(port)) != seen->second.elsewhere ||
        ends_hook != seen->second.ends_hook)
      changed.insert(port);
  }
  return {changed.begin(), changed.end()};
}

}  // namespace lldp::dataplane::bpf
