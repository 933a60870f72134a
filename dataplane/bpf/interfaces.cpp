// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/interfaces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "dataplane/bpf/kernel.hpp"

namespace lldp::dataplane::bpf {

Result<bool> Interfaces::read() {
  if (are_known_) return false;
  told_of_.reset();
  for (auto& [key, one] : std::exchange(beside_, {})) earlier_.insert_or_assign(key, one);
  strangers_.clear();
  auto renamed = stack_.read(socket_);
  if (!renamed) return renamed;
  renamed_ |= *renamed;
  std::erase_if(earlier_,
                [&](const auto& known) { return !stack_.all().contains(known.first.first); });
  if (auto done = qdiscs_.read(socket_); !done) return fail(done.error());
  if (auto done = elsewhere_.read(*clsact_, qdiscs_, stack_, told()); !done)
    return fail(done.error());
  are_known_ = true;
  return std::exchange(renamed_, false);
}

std::vector<Stack::Link> Interfaces::uppers(Ifindex port) const {
  std::vector<Stack::Link> links = stack_.above(port);
  std::erase_if(links, [&](const Stack::Link& link) {
    return (link.kind == "macvtap" || link.kind == "ipvtap") && !ports_.contains(link.ifindex);
  });
  return links;
}

const std::set<Ifindex>& Interfaces::told() {
  if (told_of_ == ports_) return told_;
  told_of_ = told_ = ports_;
  if (!stack_.empty())
    for (const Ifindex port : ports_)
      for (const auto& links : {uppers(port), stack_.below(port)})
        for (const Stack::Link& link : links) told_.insert(link.ifindex);
  passages_ = stack_.passages(told_);
  return told_;
}

const std::set<Ifindex>& Interfaces::passages() {
  (void)told();
  return passages_;
}

Result<SharedBeside> Interfaces::beside(Stack::Link link, bool name_alone) {
  const auto key = std::pair(link.ifindex, name_alone);
  if (const auto known = beside_.find(key); known != beside_.end()) return known->second;
  Beside one;
  if (name_alone) {
    one.link = {.ifindex = link.ifindex, .name = std::move(link.name)};
  } else {
    link.lists = bundles_.of(link.name);
    auto its = chains(link.ifindex);
    if (!its && its.error().code != ENODEV) return fail(its.error());
    if (its) one.chains = std::move(*its);
    one.link = std::move(link);
  }
  const auto before = earlier_.find(key);
  SharedBeside its = before != earlier_.end() && *before->second == one
                         ? before->second
                         : std::make_shared<const Beside>(std::move(one));
  beside_.emplace(key, its);
  return its;
}

Result<std::vector<SharedBeside>> Interfaces::above(Ifindex port) {
  std::vector<SharedBeside> all;
  for (Stack::Link& link : uppers(port)) {
    auto one = beside(std::move(link), false);
    if (!one) return fail(one.error());
    all.push_back(std::move(*one));
  }
  return all;
}

Result<std::vector<SharedBeside>> Interfaces::below(Ifindex port) {
  std::vector<SharedBeside> all;
  for (Stack::Link& link : stack_.below(port)) {
    const bool has_rules = ports_.contains(link.ifindex);
    auto one = beside(std::move(link), has_rules);
    if (!one) return fail(one.error());
    all.push_back(std::move(*one));
  }
  return all;
}

Result<TcxChains> Interfaces::chains(Ifindex interface) const {
  TcxChains all;
  if (!tcx_) return all;
  for (const Part part : {Part::kClassify, Part::kRemap}) {
    auto one = tcx_chain(interface, part);
    if (!one) return fail(one.error());
    all.at(static_cast<std::size_t>(part)) = std::move(*one);
  }
  return all;
}

std::vector<Stranger> Interfaces::behind(const TcxChain& chain) const {
  std::vector<Stranger> behind;
  for (const std::uint32_t id : chain.program_ids)
    if (programs_.key_of_id(id).empty())
      behind.push_back({fmt::format("a TCX program ({})", id), power_of_program()});
  return behind;
}

bool Interfaces::leaves_by_rules(Ifindex interface) const {
  return ports_.contains(interface) ||
         std::ranges::any_of(stack_.below(interface),
                             [&](const auto& lower) { return ports_.contains(lower.ifindex); });
}

Result<std::vector<Stranger>> Interfaces::strangers(Ifindex interface, Part part,
                                                    const TcxChains& chains) {
  std::vector<Stranger> all = behind(chains.at(static_cast<std::size_t>(part)));
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

Result<std::vector<Stranger>> Interfaces::strangers(const Beside& other, Part part) {
  const auto key = std::pair(other.link.ifindex, part);
  if (const auto known = strangers_.find(key); known != strangers_.end()) return known->second;
  auto found = strangers(other.link.ifindex, part, other.chains);
  if (found) strangers_.emplace(key, *found);
  return found;
}

}  // namespace lldp::dataplane::bpf
