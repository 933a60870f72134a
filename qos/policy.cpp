// SPDX-License-Identifier: Apache-2.0
#include "qos/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <utility>

#include "base/text.hpp"

namespace lldp::qos {
namespace {

constexpr std::string_view kLossless = "qos.lossless";
constexpr std::string_view kLossy = "qos.lossy";

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

Result<Class> parse_class(std::string_view option, std::string_view text) {
  constexpr std::string_view kDscp = "dscp";
  text = trim(text);
  if (text.empty()) return refuse(option, "an empty class: write PRIORITY:dscpN, as in 5:dscp43");
  const auto colon = text.find(':');
  const auto left = trim(text.substr(0, colon));
  const auto right = colon == text.npos ? std::string_view{} : trim(text.substr(colon + 1));
  if (left.empty() || !right.starts_with(kDscp))
    return refuse(option, fmt::format("'{}': write PRIORITY:dscpN, as in 5:dscp43", escape(text)));
  const auto digits = right.substr(kDscp.size());
  const auto p = number(left);
  const auto d = number(digits);
  const auto priority = p ? Priority::make(*p) : std::nullopt;
  const auto dscp = d ? Dscp::make(*d) : std::nullopt;
  if (!priority)
    return refuse(option, fmt::format("'{}': a priority is a number from 0 to 7", escape(left)));
  if (!dscp)
    return refuse(option, fmt::format("'{}': a DSCP is a number from 0 to 63", escape(digits)));
  return Class{*priority, *dscp};
}

}  // namespace

Policy::Policy() : Policy(with_lossless(2)) {}

Policy Policy::with_lossless(std::size_t count) {
  assert(count >= 1 && count <= Priority::kMax);
  std::vector<Class> lossless;
  for (auto p = std::min<std::size_t>(5, Priority::kMax + 1U - count); lossless.size() < count; ++p)
    lossless.push_back({*Priority::make(p), *Dscp::make(8 * p + 3)});
  return {std::move(lossless), Class{}};
}

Result<Policy> Policy::parse(std::string_view lossless, std::string_view lossy) {
  std::vector<Class> classes;
  for (auto rest = std::optional(lossless); rest;) {
    const auto comma = rest->find(',');
    const auto c = parse_class(kLossless, rest->substr(0, comma));
    rest = comma == rest->npos ? std::nullopt : std::optional(rest->substr(comma + 1));
    if (!c) return fail(c.error());
    for (const Class& before : classes) {
      if (before.priority == c->priority)
        return refuse(kLossless, fmt::format("priority {} stands twice: give each class its own",
                                             c->priority.value()));
      if (before.dscp == c->dscp)
        return refuse(kLossless,
                      fmt::format("dscp{} stands twice: give each class its own", c->dscp.value()));
    }
    if (!classes.empty() && classes.back().priority > c->priority)
      return refuse(kLossless, fmt::format("priority {} after {}: list priorities in rising order",
                                           c->priority.value(), classes.back().priority.value()));
    classes.push_back(*c);
  }
  if (classes.size() > Priority::kMax)
    return refuse(kLossless, "all 8 priorities are lossless: leave one for qos.lossy");

  const auto c = parse_class(kLossy, lossy);
  if (!c) return fail(c.error());
  for (const Class& before : classes) {
    if (before.priority == c->priority)
      return refuse(kLossy, fmt::format("priority {} is lossless by qos.lossless: take another",
                                        c->priority.value()));
    if (before.dscp == c->dscp)
      return refuse(kLossy,
                    fmt::format("dscp{} marks lossless priority {} by qos.lossless: take another",
                                c->dscp.value(), before.priority.value()));
  }
  return Policy(std::move(classes), *c);
}

Class Policy::after_turn(Class c) const {
  const auto it = std::find(lossless_.begin(), lossless_.end(), c);
  if (it == lossless_.end()) return c;
  return it + 1 == lossless_.end() ? lossy_ : it[1];
}

std::vector<Remap> Policy::turns() const {
  std::vector<Remap> turns;
  for (const Class& c : lossless_) turns.push_back({c, after_turn(c)});
  return turns;
}

std::uint8_t Policy::pfc_enable() const {
  unsigned bits = 0;
  for (const Class& c : lossless_) bits |= 1U << c.priority.value();
  return static_cast<std::uint8_t>(bits);
}

std::string Policy::lossless_text() const {
  std::string text;
  for (const Class& c : lossless_) text += (text.empty() ? "" : ",") + to_string(c);
  return text;
}

std::string Policy::lossy_text() const { return to_string(lossy_); }

std::string to_string(Class c) {
  return fmt::format("{}:dscp{}", c.priority.value(), c.dscp.value());
}

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
