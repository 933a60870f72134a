// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/elsewhere.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "dataplane/bpf/kernel.hpp"

namespace lldp::dataplane::bpf {
namespace {

bool sends_on(const Power& power) {
  return power.by_mirred || power.into_any || !power.into.empty();
}

std::string_view name_of(Part part) { return part == Part::kClassify ? "ingress" : "egress"; }

}  // namespace

void Elsewhere::expire(Ifindex interface) {
  if (interface == Ifindex())
    known_.clear();
  else
    known_.erase(interface);
}

Result<void> Elsewhere::read(Clsact& clsact, const Qdiscs& qdiscs, const Stack& stack,
                             const std::set<Ifindex>& told) {
  const std::set<Ifindex> all = qdiscs.with_filters();
  std::erase_if(known_, [&](Ifindex interface) {
    return told.contains(interface) || !all.contains(interface);
  });
  std::erase_if(filters_, [&](const auto& found) { return !known_.contains(found.first); });
  for (const Ifindex interface : all) {
    if (told.contains(interface) || known_.contains(interface)) continue;
    std::vector<Stranger> found;
    const bool of_container = stack.is_end_of_container(interface);
    const auto add = [&](Part part, Result<std::vector<Stranger>> there) -> Result<void> {
      if (!there) return fail(there.error());
      for (Stranger& s : *there) {
        // What a container sends has come by no port.
        if (of_container) s.power.by_mirred = false;
        if (!sends_on(s.power) && !s.power.decides) continue;
        s.name += fmt::format(" at the {} of {}", name_of(part), stack.name_of(interface));
        found.push_back(std::move(s));
      }
      return {};
    };
    for (const Part part : {Part::kClassify, Part::kRemap})
      if (qdiscs.has_hook(interface, part))
        if (auto done = add(part, clsact.behind(interface, part, Clsact::Chains::kAll)); !done)
          return done;
    if (auto done = add(Part::kRemap, clsact.in_qdiscs(interface, qdiscs, Clsact::Chains::kAll));
        !done)
      return done;
    known_.insert(interface);
    if (!found.empty()) filters_.emplace(interface, std::move(found));
  }
  return {};
}

void Elsewhere::read_programs(const Programs& programs, const Stack& stack,
                              const std::set<Ifindex>& told) {
  programs_.clear();
  for (const auto& [interface, facts] : stack.all()) {
    if (told.contains(interface)) continue;
    // Of an interface that has gone meanwhile, or the other end of a netkit, there is nothing.
    const auto add = [&, at = interface](const Result<TcxChain>& chain, const auto& name) {
      if (!chain) return;
      for (const std::uint32_t id : chain->program_ids)
        if (programs.key_of_id(id).empty()) programs_[at].push_back({name(id), power_of_program()});
    };
    for (const Part part : {Part::kClassify, Part::kRemap})
      add(tcx_chain(interface, part), [&, &name = facts.name](std::uint32_t id) {
        return fmt::format("a TCX program ({}) at the {} of {}", id, name_of(part), name);
      });
    if (facts.kind != "netkit") continue;
    for (const NetkitEnd end : {NetkitEnd::kPrimary, NetkitEnd::kPeer})
      add(netkit_chain(interface, end), [&name = facts.name](std::uint32_t id) {
        return fmt::format("a netkit program ({}) of {}", id, name);
      });
  }
}

std::optional<std::string> Elsewhere::into(Ifindex port, std::span<const Stack::Link> below) const {
  for (const Found* const found : {&filters_, &programs_}) {
    for (const auto& [interface, strangers] : *found) {
      for (const auto& [name, power] : strangers) {
        if (std::ranges::find(power.into, port) != power.into.end())
          return name + " sends packets into the ingress of this port (mirred)";
        for (const Stack::Link& lower : below)
          if (std::ranges::find(power.into, lower.ifindex) != power.into.end())
            return fmt::format(
                "{} sends packets into the ingress of {}, on which this port stands (mirred)", name,
                lower.name);
        if (power.into_any)
          return fmt::format("{} may send packets into the ingress of this port ({})", name,
                             power.by);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> Elsewhere::relies_on_mark() const {
  for (const auto& [interface, strangers] : filters_)
    for (const Stranger& s : strangers)
      if (s.power.by_mirred) return s.name;
  return std::nullopt;
}

std::optional<std::string> Elsewhere::ends_hook(const std::set<Ifindex>& passages) const {
  for (const auto& [interface, strangers] : filters_)
    if (passages.contains(interface))
      for (const Stranger& s : strangers)
        if (s.power.decides) return s.name;
  return std::nullopt;
}

bool Elsewhere::empty() const {
  return programs_.empty() &&
         std::ranges::all_of(filters_, [](const auto& known) { return known.second.empty(); });
}

std::optional<std::string> harm_on_passages(const Elsewhere& elsewhere, const Stack& stack,
                                            const std::set<Ifindex>& passages) {
  if (const auto filter = elsewhere.ends_hook(passages))
    return fmt::format(
        "{} ends the hook, and the kernel writes over the mark by which packets that go on that "
        "way are known, so that they do not turn: {}",
        *filter, kRemedyOfEnd);
  for (const Ifindex link : passages) {
    const auto facts = stack.all().find(link);
    if (facts != stack.all().end() && facts->second.xdp_program != 0)
      return fmt::format(
          "an XDP program ({}) on {} may redirect packets that go on that way past the rules, or "
          "unmark them, so that they do not turn: delete it",
          facts->second.xdp_program, facts->second.name);
  }
  return std::nullopt;
}

std::optional<std::string> harm_from_elsewhere(Part part, const qos::Ruleset& rules,
                                               const std::optional<std::string>& into,
                                               const std::optional<std::string>& on_passages) {
  if (part != Part::kClassify || rules.ingress.empty()) return std::nullopt;
  if (!into && on_passages && rules.tag != qos::Tag())
    return *on_passages + ", or, if no lossless packets take the port, leave it out of `ports`";
  if (!into) return std::nullopt;
  return *into +
         ", where they count as come by it, so that turns are missed or made wrongly: delete it, "
         "or, if no lossless packets take the port, leave it out of `ports`";
}

}  // namespace lldp::dataplane::bpf
