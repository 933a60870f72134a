// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/mark_needs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.hpp"
#include "os/file.hpp"

namespace lldp::dataplane::bpf {
namespace {

/// No list of names of the kernel's is longer.
constexpr std::size_t kMostNames = std::size_t{1} << 16;

std::string need_of_change(std::string_view source, std::string_view by) {
  return fmt::format(
      "the class is known that packets came in, which {} may change ({}), so that they may turn in "
      "a wrong one",
      source, by);
}

MarkNeed need_of_sending(std::string_view source, std::string_view by) {
  return {.why = fmt::format(
              "packets are known that {} sends on from another interface ({}), so that they do not "
              "turn",
              source, by)};
}

/// Where the kernel keeps the rules of iptables itself, and not by nftables.
struct Legacy {
  const char* source = "";
  const char* tables = "";
  const char* targets = "";
};
constexpr Legacy kLegacy[] = {
    {"iptables (legacy)", "/proc/self/net/ip_tables_names", "/proc/self/net/ip_tables_targets"},
    {"ip6tables (legacy)", "/proc/self/net/ip6_tables_names", "/proc/self/net/ip6_tables_targets"}};

MarkNeed need_of(const Legacy& legacy) {
  const auto unread = [&](const Error& e) {
    return MarkNeed{.unread = fmt::format("{} ({})", legacy.source, std::strerror(e.code))};
  };
  const auto tables = read_file(legacy.tables, kMostNames);
  if (!tables && tables.error().code == ENOENT) return {};  // the kernel has none
  if (!tables) return unread(tables.error());
  if (tables->empty()) return {};
  const auto targets = read_file(legacy.targets, kMostNames);
  if (!targets) return unread(targets.error());
  const auto by = written_by_tables(*tables, *targets);
  return by ? MarkNeed{.why = need_of_change(legacy.source, *by)} : MarkNeed();
}

}  // namespace

MarkNeed need_above(std::string_view upper) {
  return {.why =
              fmt::format("packets that go on by {} are known, so that they do not turn", upper)};
}

MarkNeed need_of_filter(std::string_view name) { return need_of_sending(name, "mirred"); }

MarkNeed need_on_the_way(Nftables& nftables, bool turns) {
  if (const auto writes = nftables.on_the_way(NftDoes::kWrites))
    return {.why = need_of_change(writes->source, writes->by)};
  if (const auto sends = turns ? nftables.on_the_way(NftDoes::kSendsOn) : std::nullopt)
    return need_of_sending(sends->source, sends->by);
  MarkNeed need;
  for (const Legacy& legacy : kLegacy) {
    MarkNeed its = need_of(legacy);
    if (!its.why.empty()) return its;
    if (need.unread.empty()) need = std::move(its);
  }
  return need;
}

std::optional<std::string> written_by_tables(std::string_view tables, std::string_view targets) {
  // Of these two the kernel allows no rule in another table.
  constexpr std::string_view kMangle = "mangle";
  constexpr std::string_view kOfMangle[] = {"DSCP", "TOS"};
  const auto names = split_list(tables, '\n');
  if (names.empty()) return std::nullopt;
  const bool mangles = std::ranges::find(names, kMangle) != names.end();
  for (const std::string& target : split_list(targets, '\n')) {
    if (done_by_target(target) != NftDoes::kWrites) continue;
    const bool of_mangle = std::ranges::find(kOfMangle, target) != std::end(kOfMangle);
    if (of_mangle && !mangles) continue;
    return fmt::format("table {}, target {}", of_mangle ? std::string(kMangle) : escape(names[0]),
                       escape(target));
  }
  return std::nullopt;
}

}  // namespace lldp::dataplane::bpf
