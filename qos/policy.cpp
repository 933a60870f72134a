// SPDX-License-Identifier: Apache-2.0
#include "qos/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

namespace lldp::qos {
namespace {

auto refuse_lossy(std::string what) {
  return fail(Error{.where = "qos.lossy", .what = std::move(what)});
}

/// Where in the chains a packet of class `c` is.
struct Place {
  const Chain* chain = nullptr;
  std::size_t step = 0;
};
std::optional<Place> place_of(const Chains& chains, Class c) {
  for (const Chain& chain : chains)
    for (std::size_t i = 0; i < chain.classes.size(); ++i)
      if (chain.classes[i].priority == c.priority && chain.classes[i].dscps.contains(c.dscp))
        return Place{&chain, i};
  return std::nullopt;
}

}  // namespace

Policy::Policy() : Policy(with_lossless(2)) {}

Policy Policy::with_lossless(std::size_t count) {
  assert(count >= 1 && count <= Priority::kMax);
  std::vector<Priority> priorities;
  for (auto p = std::min<std::size_t>(5, Priority::kMax + 1U - count); priorities.size() < count;
       ++p)
    priorities.push_back(*Priority::make(p));
  std::ranges::sort(priorities, {}, turn_rank);
  Chain chain;
  for (const Priority p : priorities)
    chain.classes.push_back(lossless_class(Class{p, *Dscp::make(8U * p.value() + 3U)}));
  return {{std::move(chain)}, Class{}};
}

Result<Policy> Policy::parse(std::string_view lossless, std::string_view lossy) {
  auto chains = parse_chains(lossless);
  if (!chains) return fail(chains.error());
  const auto c = parse_class("qos.lossy", lossy);
  if (!c) return fail(c.error());
  return make(std::move(*chains), *c);
}

Result<Policy> Policy::make(Chains chains, Class lossy) {
  for (const Chain& chain : chains)
    for (const LosslessClass& c : chain.classes) {
      if (c.priority == lossy.priority)
        return refuse_lossy(fmt::format("priority {} is that of a lossless class: take another",
                                        lossy.priority.value()));
      if (c.dscps.contains(lossy.dscp))
        return refuse_lossy(fmt::format("dscp{} is one of lossless priority {}: take another",
                                        lossy.dscp.value(), c.priority.value()));
    }
  return Policy(std::move(chains), lossy);
}

std::vector<LosslessClass> Policy::classes() const {
  std::vector<LosslessClass> all;
  for (const Chain& chain : chains_)
    all.insert(all.end(), chain.classes.begin(), chain.classes.end());
  return all;
}

std::vector<Class> Policy::lossless() const {
  std::vector<Class> marks;
  if (!chains_.empty())
    for (const LosslessClass& c : chains_.front().classes) marks.push_back(c.mark());
  return marks;
}

Class Policy::after_turn(Class c) const {
  const auto at = place_of(chains_, c);
  if (!at) return c;
  const auto& classes = at->chain->classes;
  return at->step + 1 == classes.size() ? lossy_ : classes[at->step + 1].mark();
}

Class Policy::restored(Class c) const {
  const auto at = place_of(chains_, c);
  return at && at->step > 0 ? at->chain->application().mark() : c;
}

std::vector<Remap> Policy::turns() const {
  std::vector<Remap> turns;
  for (const LosslessClass& c : classes()) {
    const Class next = after_turn(c.mark());
    turns.push_back({c.mark(), next});
    for (const Dscp dscp : c.dscps.members())
      if (dscp != c.dscp) turns.push_back({{c.priority, dscp}, next});
  }
  return turns;
}

std::uint8_t Policy::pfc_enable() const {
  unsigned bits = 0;
  for (const LosslessClass& c : classes()) bits |= 1U << c.priority.value();
  return static_cast<std::uint8_t>(bits);
}

std::uint8_t Policy::application_priorities() const {
  unsigned bits = 0;
  for (const Chain& chain : chains_) bits |= 1U << chain.application().priority.value();
  return static_cast<std::uint8_t>(bits);
}

std::string Policy::lossless_text() const { return to_string(chains_); }

std::string Policy::lossy_text() const { return to_string(lossy_); }

std::string_view well_known_name(Dscp dscp) {
  switch (dscp.value()) {
    case 0:
      return "CS0";
    case 1:
      return "LE";
    case 8:
      return "CS1";
    case 10:
      return "AF11";
    case 12:
      return "AF12";
    case 14:
      return "AF13";
    case 16:
      return "CS2";
    case 18:
      return "AF21";
    case 20:
      return "AF22";
    case 22:
      return "AF23";
    case 24:
      return "CS3";
    case 26:
      return "AF31";
    case 28:
      return "AF32";
    case 30:
      return "AF33";
    case 32:
      return "CS4";
    case 34:
      return "AF41";
    case 36:
      return "AF42";
    case 38:
      return "AF43";
    case 40:
      return "CS5";
    case 44:
      return "VOICE-ADMIT";
    case 45:
      return "NQB";
    case 46:
      return "EF";
    case 48:
      return "CS6";
    case 56:
      return "CS7";
    default:
      return {};
  }
}

}  // namespace lldp::qos
