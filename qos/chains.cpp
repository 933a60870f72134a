// SPDX-License-Identifier: Apache-2.0
#include "qos/chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.hpp"

namespace lldp::qos {
namespace {

constexpr std::string_view kLossless = "qos.lossless";
constexpr std::string_view kClassForm = "write PRIORITY:dscpN, as in 5:dscp43";
constexpr std::uint64_t kAllDscps = ~std::uint64_t{0};

auto refuse(std::string_view option, std::string what) {
  return fail(Error{.where = std::string(option), .what = std::move(what)});
}

std::string_view trim(std::string_view s) {
  constexpr std::string_view kSpace = " \t";
  const auto first = s.find_first_not_of(kSpace);
  if (first == s.npos) return {};
  return s.substr(first, s.find_last_not_of(kSpace) - first + 1);
}

/// Decimal digits and nothing else; nullopt also when it does not fit.
std::optional<std::uint32_t> number(std::string_view digits) {
  std::uint32_t n = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return n;
}

/// Calls each(part) for the parts of `text` between separators; ends with the first error.
template <class F>
Result<void> for_each_part(std::string_view text, char separator, F each) {
  for (auto rest = std::optional(text); rest;) {
    const auto at = rest->find(separator);
    if (auto done = each(rest->substr(0, at)); !done) return done;
    rest = at == rest->npos ? std::nullopt : std::optional(rest->substr(at + 1));
  }
  return {};
}

Result<Dscp> parse_dscp(std::string_view option, std::string_view digits) {
  const auto n = number(digits);
  const auto dscp = n ? Dscp::make(*n) : std::nullopt;
  if (!dscp)
    return refuse(option, fmt::format("'{}': a DSCP is a number from 0 to 63", escape(digits)));
  return *dscp;
}

/// `26`, `24-31`, `26+24-31`.
Result<LosslessClass> parse_dscps(std::string_view option, Priority priority,
                                  std::string_view text) {
  LosslessClass c{.priority = priority};
  const auto done = for_each_part(text, '+', [&](std::string_view part) -> Result<void> {
    part = trim(part);
    const auto dash = part.find('-');
    const auto first = parse_dscp(option, trim(part.substr(0, dash)));
    if (!first) return fail(first.error());
    const auto last = dash == part.npos ? first : parse_dscp(option, trim(part.substr(dash + 1)));
    if (!last) return fail(last.error());
    if (*last < *first)
      return refuse(option, fmt::format("'{}' falls: write {}-{}", escape(part), last->value(),
                                        first->value()));
    if (c.dscps.empty()) c.dscp = *first;
    for (unsigned d = first->value(); d <= last->value(); ++d) c.dscps.insert(*Dscp::make(d));
    return {};
  });
  if (!done) return fail(done.error());
  return c;
}

Result<LosslessClass> parse_lossless_class(std::string_view option, std::string_view text) {
  constexpr std::string_view kDscp = "dscp";
  text = trim(text);
  if (text.empty()) return refuse(option, fmt::format("an empty class: {}", kClassForm));
  const auto colon = text.find(':');
  const auto left = trim(text.substr(0, colon));
  const auto right = colon == text.npos ? std::string_view{} : trim(text.substr(colon + 1));
  if (left.empty() || !right.starts_with(kDscp))
    return refuse(option, fmt::format("'{}': {}", escape(text), kClassForm));
  const auto p = number(left);
  const auto priority = p ? Priority::make(*p) : std::nullopt;
  if (!priority)
    return refuse(option, fmt::format("'{}': a priority is a number from 0 to 7", escape(left)));
  return parse_dscps(option, *priority, right.substr(kDscp.size()));
}

/// What makes a class of `chain` impossible beside those before it.
std::optional<std::string> conflict(const Chains& before, const Chain& chain,
                                    const LosslessClass& c) {
  if (c.priority == Priority())
    return "priority 0 carries all traffic without a class: take another of 1 to 7";
  if (!chain.classes.empty() && c.dscps.size() > 1)
    return fmt::format("'{}': a spare class has one DSCP: write {}", to_string(c),
                       to_string(c.mark()));
  const auto with = [&](const LosslessClass& other) -> std::optional<std::string> {
    if (other.priority == c.priority)
      return fmt::format("priority {} stands twice: give each class its own", c.priority.value());
    if (const DscpSet both = other.dscps & c.dscps; !both.empty())
      return fmt::format("dscp{} stands twice: give each class its own",
                         both.members().front().value());
    return std::nullopt;
  };
  for (const LosslessClass& other : chain.classes)
    if (auto found = with(other)) return found;
  for (const Chain& b : before)
    for (const LosslessClass& other : b.classes)
      if (auto found = with(other)) return found;
  return std::nullopt;
}

Result<Chain> parse_chain(const Chains& before, std::string_view text, char between) {
  constexpr std::string_view kLossy = "lossy";
  Chain chain;
  bool ended = false;
  const auto done = for_each_part(text, between, [&](std::string_view part) -> Result<void> {
    if (ended)
      return refuse(kLossless,
                    fmt::format("'{}' after lossy: a chain ends with lossy", escape(trim(part))));
    if (between == '>' && !chain.classes.empty() && trim(part) == kLossy) {
      ended = true;
      return {};
    }
    auto c = parse_lossless_class(kLossless, part);
    if (!c) return fail(c.error());
    if (auto wrong = conflict(before, chain, *c)) return refuse(kLossless, std::move(*wrong));
    chain.classes.push_back(*c);
    return {};
  });
  if (!done) return fail(done.error());
  return chain;
}

/// `24-31`, `26`.
std::string range_text(unsigned first, unsigned last) {
  return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

}  // namespace

std::vector<Dscp> DscpSet::members() const {
  std::vector<Dscp> out;
  for (unsigned d = 0; d <= Dscp::kMax; ++d)
    if ((mask_ >> d & 1) != 0) out.push_back(*Dscp::make(d));
  return out;
}

LosslessClass lossless_class(Priority priority, DscpSet dscps) {
  const Dscp usual = *Dscp::make(8U * priority.value() + 2U);
  if (dscps.empty()) dscps.insert(usual);
  return {priority, dscps.contains(usual) ? usual : dscps.members().front(), dscps};
}

unsigned turn_rank(Priority priority) {
  return static_cast<unsigned>(std::ranges::find(kTurnOrder, priority) - std::begin(kTurnOrder));
}

std::optional<Error> against_turn_order(const Chains& chains) {
  const auto rank = [](const LosslessClass& c) { return turn_rank(c.priority); };
  for (const Chain& chain : chains) {
    const auto wrong = std::ranges::is_sorted_until(chain.classes, {}, rank);
    if (wrong == chain.classes.end()) continue;
    Chains mended = chains;
    for (Chain& m : mended) {
      // A spare has one DSCP, an application class may have several: they keep the roles.
      std::vector<Priority> priorities;
      for (const LosslessClass& c : m.classes) priorities.push_back(c.priority);
      std::ranges::sort(priorities, {}, turn_rank);
      std::vector<LosslessClass> classes;
      for (const Priority p : priorities)
        classes.push_back(*std::ranges::find(m.classes, p, &LosslessClass::priority));
      for (std::size_t i = 1; i < classes.size(); ++i)
        classes[i] = lossless_class(classes[i].mark());
      m.classes = std::move(classes);
    }
    return Error{.where = std::string(kLossless),
                 .what = fmt::format("a turn from priority {} to {} goes against the order "
                                     "3 4 2 5 1 6 7: write qos.lossless = {}",
                                     (wrong - 1)->priority.value(), wrong->priority.value(),
                                     to_string(mended))};
  }
  return std::nullopt;
}

Chains with_spares(std::vector<LosslessClass> applications, std::uint8_t taken) {
  constexpr Priority k1 = Priority::of<1>(), k2 = Priority::of<2>(), k3 = Priority::of<3>(),
                     k4 = Priority::of<4>(), k5 = Priority::of<5>();
  struct Row {
    Priority application{};
    std::vector<Priority> spares{};
  };
  static const Row kRows[] = {{k3, {k2, k5, k1}}, {k4, {k5, k1}}, {k2, {k5, k1}}, {k5, {k1}}};

  std::ranges::sort(applications, {}, [](const LosslessClass& c) { return turn_rank(c.priority); });
  unsigned used = taken;
  DscpSet dscps;
  for (const LosslessClass& c : applications) {
    used |= 1U << c.priority.value();
    dscps = dscps | c.dscps;
  }
  Chains chains;
  for (LosslessClass& c : applications) {
    Chain chain{{c}};
    if (const auto row = std::ranges::find(kRows, c.priority, &Row::application);
        row != std::end(kRows))
      for (const Priority p : row->spares) {
        const Class spare{p, *Dscp::make(8U * p.value() + 3U)};
        if ((used >> p.value() & 1) != 0 || dscps.contains(spare.dscp)) continue;
        used |= 1U << p.value();
        chain.classes.push_back(lossless_class(spare));
        break;
      }
    chains.push_back(std::move(chain));
  }
  return chains;
}

Result<Class> parse_class(std::string_view option, std::string_view text) {
  const auto c = parse_lossless_class(option, text);
  if (!c) return fail(c.error());
  if (c->dscps.size() > 1)
    return refuse(option, fmt::format("'{}': this class has one DSCP: write {}", to_string(*c),
                                      to_string(c->mark())));
  return c->mark();
}

Result<Chains> parse_chains(std::string_view text) {
  text = trim(text);
  if (text == "none") return Chains{};
  if (const auto preset = std::ranges::find(kPresets, text, &Preset::name);
      preset != std::end(kPresets))
    return parse_chains(preset->chains);
  Chains chains;
  if (text.find('>') == text.npos) {
    auto chain = parse_chain(chains, text, ',');
    if (!chain) return fail(chain.error());
    chains.push_back(std::move(*chain));
  } else {
    const auto done = for_each_part(text, ',', [&](std::string_view part) -> Result<void> {
      auto chain = parse_chain(chains, part, '>');
      if (!chain) return fail(chain.error());
      chains.push_back(std::move(*chain));
      return {};
    });
    if (!done) return fail(done.error());
  }
  DscpSet all;
  for (const Chain& chain : chains)
    for (const LosslessClass& c : chain.classes) all = all | c.dscps;
  if (all.mask() == kAllDscps)
    return refuse(kLossless, "all 64 DSCPs are lossless: leave one for qos.lossy");
  return chains;
}

std::string to_string(Class c) {
  return fmt::format("{}:dscp{}", c.priority.value(), c.dscp.value());
}

std::string to_string(DscpSet dscps) {
  std::string text;
  for (unsigned d = 0; d <= Dscp::kMax; ++d) {
    if ((dscps.mask() >> d & 1) == 0) continue;
    const unsigned first = d;
    while (d < Dscp::kMax && (dscps.mask() >> (d + 1) & 1) != 0) ++d;
    text += (text.empty() ? "" : "+") + range_text(first, d);
  }
  return text;
}

std::string to_string(const LosslessClass& c) {
  // The one to write stands first, also where that repeats it.
  std::string text = fmt::format("{}:dscp{}", c.priority.value(), c.dscp.value());
  const std::string all = to_string(c.dscps);
  const std::string first = std::to_string(c.dscp.value());
  if (all == first) return text;
  if (all.starts_with(first) &&
      !(all.size() > first.size() && '0' <= all[first.size()] && all[first.size()] <= '9'))
    return fmt::format("{}:dscp{}", c.priority.value(), all);
  // Alone in its range, it stands at the front only.
  const DscpSet others(c.dscps.mask() & ~DscpSet(c.dscp).mask());
  const unsigned d = c.dscp.value();
  const bool alone = (d == 0 || (c.dscps.mask() >> (d - 1) & 1) == 0) &&
                     (d == Dscp::kMax || (c.dscps.mask() >> (d + 1) & 1) == 0);
  return text + "+" + (alone ? to_string(others) : all);
}

std::string to_string(const Chain& chain) {
  std::string text;
  for (const LosslessClass& c : chain.classes) text += (text.empty() ? "" : ">") + to_string(c);
  return chain.classes.size() == 1 ? text + ">lossy" : text;
}

std::string to_string(const Chains& chains) {
  if (chains.empty()) return "none";
  std::string text;
  for (const Chain& chain : chains) text += (text.empty() ? "" : ",") + to_string(chain);
  return text;
}

}  // namespace lldp::qos
