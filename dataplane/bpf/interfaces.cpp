// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/interfaces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "dataplane/bpf/kernel.hpp"

namespace lldp::dataplane::bpf {

Result<bool> Interfaces::read() {
  if (is_known_) return false;
  told_of_.reset();
  beside_.clear();
  strangers_.clear();
  const auto renamed = stack_.read(socket_);
  if (!renamed) return renamed;
  if (auto done = qdiscs_.read(socket_); !done) return fail(done.error());
  if (auto done = elsewhere_.read(*clsact_, qdiscs_, stack_, told()); !done)
    return fail(done.error());
  is_known_ = true;
  return *renamed;
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

Result<std::vector<Beside>> Interfaces::beside(std::vector<Stack::Link> links) {
  std::vector<Beside> all;
  for (Stack::Link& link : links) {
    if (const auto known = beside_.find(link.ifindex); known != beside_.end()) {
      all.push_back(known->second);
      continue;
    }
    link.lists = bundles_.of(link.name);
    auto its = chains(link.ifindex);
    if (!its && its.error().code != ENODEV) return fail(its.error());
    const Ifindex ifindex = link.ifindex;
    Beside one{.link = std::move(link), .chains = its ? std::move(*its) : TcxChains()};
    all.push_back(beside_.emplace(ifindex, std::move(one)).first->second);
  }
  return all;
}

Result<std::vector<Beside>> Interfaces::above(Ifindex port) { return beside(uppers(port)); }

Result<std::vector<Beside>> Interfaces::below(Ifindex port) {
  auto all = beside(stack_.below(port));
  if (!all) return all;
  for (Beside& one : *all)
    if (ports_.contains(one.link.ifindex))
      one = {.link = {.ifindex = one.link.ifindex, .name = one.link.name}};
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
