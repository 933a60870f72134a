// SPDX-License-Identifier: Apache-2.0
#include "os/ethtool.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace lldp::ethtool {
namespace {

ifreq request_for(const std::string& port, void* command) {
  ifreq request{};
  std::copy_n(port.data(), std::min(port.size(), sizeof request.ifr_name - 1), request.ifr_name);
  request.ifr_data = static_cast<char*>(command);
  return request;
}

std::uint32_t count_of(const Ask& ask, const std::string& port, ethtool_stringset set) {
  // The number comes behind the question.
  ethtool_sset_info question{};
  question.cmd = ETHTOOL_GSSET_INFO;
  question.sset_mask = std::uint64_t{1} << set;
  std::array<char, sizeof question + sizeof(std::uint32_t)> answer{};
  std::memcpy(answer.data(), &question, sizeof question);
  ifreq request = request_for(port, answer.data());
  if (!ask(request)) return 0;
  std::memcpy(&question, answer.data(), sizeof question);
  std::uint32_t count = 0;
  std::memcpy(&count, answer.data() + sizeof question, sizeof count);
  return question.sset_mask == 0 || count > kMostStrings ? 0 : count;
}

}  // namespace

std::optional<PriorityCounter> priority_counter(std::string_view name) {
  using What = PriorityCounter::What;
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  const auto has_any = [&](std::initializer_list<std::string_view> parts) {
    return std::ranges::any_of(parts, has);
  };
  What what = What::kFrames;
  if (name.ends_with("_pause_duration") || (has("pfc_pri") && name.ends_with("_duration_us")))
    what = What::kPausedMicroseconds;
  else if (has_any({"pause", "xoff", "pfc_ena_frames"}))
    what = What::kPauses;
  if (what == What::kPauses && has_any({"duration", "transition", "2xoff", "storm"}))
    return std::nullopt;
  if (what == What::kFrames &&
      (!has_any({"packets", "frames"}) || has_any({"discard", "drop", "err", "xon"})))
    return std::nullopt;
  const bool received = has("rx");
  if (received == has("tx")) return std::nullopt;
  for (const std::string_view word : {"priority_", "prio_", "prio", "pri"}) {
    const std::size_t at = name.find(word);
    if (at == name.npos || at + word.size() >= name.size()) continue;
    const char digit = name[at + word.size()];
    const bool more = at + word.size() + 1 < name.size() && name[at + word.size() + 1] >= '0' &&
                      name[at + word.size() + 1] <= '9';
    if (digit >= '0' && digit <= '7' && !more)
      return PriorityCounter{what, received, static_cast<unsigned>(digit - '0')};
  }
  return std::nullopt;
}

Result<Ask> open() {
  // Whatever its family, a socket leads to the interfaces of its network namespace.
  const auto socket = std::make_shared<UniqueFd>(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!*socket) return fail(Error{errno, "ethtool", std::strerror(errno)});
  return Ask(
      [socket](ifreq& request) { return ::ioctl(socket->get(), SIOCETHTOOL, &request) == 0; });
}

std::vector<std::string> names_of(const Ask& ask, const std::string& port, ethtool_stringset set) {
  const std::uint32_t count = count_of(ask, port, set);
  if (count == 0) return {};
  // The driver writes as many as it has by then.
  std::vector<char> room(sizeof(ethtool_gstrings) + std::size_t{kMostStrings} * ETH_GSTRING_LEN);
  ethtool_gstrings head{};
  head.cmd = ETHTOOL_GSTRINGS;
  head.string_set = static_cast<std::uint32_t>(set);
  head.len = count;
  std::memcpy(room.data(), &head, sizeof head);
  ifreq request = request_for(port, room.data());
  if (!ask(request)) return {};
  std::memcpy(&head, room.data(), sizeof head);
  std::vector<std::string> out;
  for (std::uint32_t i = 0; i < std::min(head.len, kMostStrings); ++i) {
    const char* name = room.data() + sizeof head + std::size_t{i} * ETH_GSTRING_LEN;
    out.emplace_back(name, ::strnlen(name, ETH_GSTRING_LEN));
  }
  return out;
}

PriorityCounters::PriorityCounters(Ask ask) : ask_(std::move(ask)), room_(1 + kMostStrings) {
  static_assert(sizeof(ethtool_stats) == sizeof(std::uint64_t));
}

void PriorityCounters::learn(Table& table, const std::string& port) {
  const auto names = names_of(ask_, port, ETH_SS_STATS);
  table.names = static_cast<std::uint32_t>(names.size());
  table.places.clear();
  table.counts = {};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto counter = priority_counter(names[i]);
    if (!counter) continue;
    using What = PriorityCounter::What;
    PriorityCounts::Directions& of = counter->what == What::kFrames ? table.counts.frames
                                     : counter->what == What::kPauses
                                         ? table.counts.pauses
                                         : table.counts.paused_microseconds;
    auto* const count = &(counter->received ? of.received : of.sent)[counter->priority];
    const auto same = std::ranges::find(table.places, count, &Place::count);
    const bool alone = same == table.places.end();
    if (!alone) same->is_alone = false;
    table.places.push_back({.index = i, .adds = !alone, .is_alone = alone, .count = count});
  }
}

bool PriorityCounters::ask_counters(Table& table, const std::string& port) {
  ethtool_stats head{};
  head.cmd = ETHTOOL_GSTATS;
  head.n_stats = table.names;
  std::memcpy(room_.data(), &head, sizeof head);
  ifreq request = request_for(port, room_.data());
  if (!ask_(request)) return false;
  std::memcpy(&head, room_.data(), sizeof head);
  return head.n_stats == table.names;
}

bool PriorityCounters::take(Table& table) {
  bool grows = true;
  for (const Place& place : table.places) {
    const std::uint64_t count = room_[1 + place.index];
    if (place.is_alone) grows &= place.count->value_or(0) <= count;
    *place.count = place.adds ? **place.count + count : count;
  }
  return grows;
}

const PriorityCounts* PriorityCounters::read(const std::string& port, unsigned ifindex,
                                             std::uint64_t state) {
  const auto [at, fresh] = tables_.try_emplace(port);
  Table& table = at->second;
  table.is_read = true;
  bool known = !fresh && table.ifindex == ifindex && table.state == state;
  table.ifindex = ifindex;
  table.state = state;
  if (known && table.names != 0 && table.places.empty()) return nullptr;  // nothing of a priority
  if (known) known = table.names != 0 && ask_counters(table, port) && take(table);
  if (known) return &table.counts;
  learn(table, port);
  if (table.places.empty()) return nullptr;
  if (!ask_counters(table, port)) {
    table.names = 0;  // not there at the moment, or being loaded
    return nullptr;
  }
  (void)take(table);
  return &table.counts;
}

void PriorityCounters::forget_unread() {
  for (auto at = tables_.begin(); at != tables_.end();)
    at = std::exchange(at->second.is_read, false) ? std::next(at) : tables_.erase(at);
}

}  // namespace lldp::ethtool
