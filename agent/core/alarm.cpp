// SPDX-License-Identifier: Apache-2.0
#include "agent/core/alarm.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace lldp::core {

namespace {

struct Kind {
  std::string_view name{};
  AlarmSeverity severity{};
};
/// By code. Critical: the path of lossless traffic is not lossless, or nothing is protected. What
/// the rules of a port lack, `check` counts by the state of the protection.
constexpr std::array<Kind, kAlarmCodes> kKinds{{
    {"crosslink", AlarmSeverity::kWarning},
    {"level-skip", AlarmSeverity::kWarning},
    {"host-above-leaf", AlarmSeverity::kWarning},
    {"max-level", AlarmSeverity::kWarning},
    {"many-neighbors", AlarmSeverity::kWarning},
    {"tlv-conflict", AlarmSeverity::kWarning},
    {"self-loop", AlarmSeverity::kWarning},
    {"cabling", AlarmSeverity::kWarning},
    {"pfc-mismatch", AlarmSeverity::kCritical},  // lossless traffic is lost, or turns unchanged
    {"unprotected", AlarmSeverity::kWarning},
    {"dataplane", AlarmSeverity::kWarning},
    {"lldpd", AlarmSeverity::kWarning},
    {"silent", AlarmSeverity::kWarning},
    {"unsupported", AlarmSeverity::kWarning},
    {"lower-level", AlarmSeverity::kWarning},
    {"no-port", AlarmSeverity::kCritical},  // a switch without a port protects nothing
    {"no-level", AlarmSeverity::kWarning},
    {"state", AlarmSeverity::kWarning},
    {"paused", AlarmSeverity::kWarning},
    {"pfc-taken", AlarmSeverity::kWarning},
    {"class-mismatch", AlarmSeverity::kCritical},  // packets that turn may be lost
    {"unclassed", AlarmSeverity::kWarning},
    {"port-missing", AlarmSeverity::kWarning},
    {"unheard", AlarmSeverity::kWarning},
    {"uneven", AlarmSeverity::kWarning},
    {"config-db", AlarmSeverity::kWarning},
    {"set", AlarmSeverity::kWarning},
    {"rail", AlarmSeverity::kWarning},
    {"mtu", AlarmSeverity::kWarning},
    {"left-out", AlarmSeverity::kWarning},
    {"forwards", AlarmSeverity::kWarning},
}};
const Kind& kind_of(AlarmCode code) { return kKinds.at(static_cast<std::size_t>(code)); }

}  // namespace

std::string_view to_string(AlarmCode code) { return kind_of(code).name; }

AlarmSeverity severity_of(AlarmCode code) { return kind_of(code).severity; }

std::string_view to_string(AlarmSeverity severity) {
  return severity == AlarmSeverity::kCritical ? "critical" : "warning";
}

std::string duration_text(Duration d) {
  const auto s = std::chrono::duration_cast<std::chrono::seconds>(d).count();
  if (s < 120) return std::to_string(s) + " s";
  if (s < 7200) return std::to_string(s / 60) + " min";
  if (s < 172'800) return std::to_string(s / 3600) + " h";
  return std::to_string(s / 86'400) + " days";
}

bool AlarmStore::stands(AlarmCode code, std::string_view port) const {
  for (auto at = all_.lower_bound(KeyView{port, AlarmReason{}, AlarmCode{}});
       at != all_.end() && at->first.port == port; ++at)
    if (at->first.code == code) return true;
  return false;
}

bool AlarmStore::raise(const AlarmReason& reason, AlarmCode code, std::string_view port,
                       std::string text, TimePoint now) {
  if (const auto at = all_.find(KeyView{port, reason, code}); at != all_.end()) {
    at->second.text = std::move(text);
    return false;
  }
  const bool stood = stands(code, port);
  all_.emplace(Key{std::string(port), reason, code}, Standing{now, std::move(text)});
  return !stood;
}

bool AlarmStore::clear(const AlarmReason& reason, AlarmCode code, std::string_view port) {
  const auto at = all_.find(KeyView{port, reason, code});
  if (at == all_.end()) return false;
  all_.erase(at);
  return !stands(code, port);
}

std::vector<AlarmStore::Change> AlarmStore::set(const AlarmReason& reason, std::string_view port,
                                                AlarmSet codes, TimePoint now) {
  std::vector<Change> changes;
  AlarmSet before;
  for (auto at = all_.lower_bound(KeyView{port, reason, AlarmCode{}});
       at != all_.end() && at->first.port == port && at->first.reason == reason; ++at)
    before.put(at->first.code);
  if (before == codes) return changes;
  for (std::size_t i = 0; i < kAlarmCodes; ++i) {
    const auto code = static_cast<AlarmCode>(i);
    if (codes.has(code) == before.has(code)) continue;
    const bool raised = codes.has(code);
    if (raised ? raise(reason, code, port, {}, now) : clear(reason, code, port))
      changes.push_back({code, raised});
  }
  return changes;
}

std::vector<std::string> AlarmStore::ports(const AlarmReason& reason) const {
  std::vector<std::string> out;
  for (const auto& [key, standing] : all_)
    if (key.reason == reason && (out.empty() || out.back() != key.port)) out.push_back(key.port);
  return out;
}

std::vector<Alarm> AlarmStore::standing(const TextOf& text_of) const {
  std::vector<Alarm> out;
  for (const auto& entry : all_) {
    const Key& key = entry.first;
    const Standing& standing = entry.second;
    Alarm alarm{.code = key.code, .port = key.port, .since = standing.since};
    alarm.text = standing.text.empty() ? text_of(alarm, key.reason) : standing.text;
    // The reasons for one alarm stand near each other: those of its port do.
    const auto same = std::find_if(out.rbegin(), out.rend(), [&](const Alarm& a) {
      return a.port != key.port || a.code == key.code;
    });
    if (same == out.rend() || same->port != key.port) {
      out.push_back(std::move(alarm));
      continue;
    }
    same->since = std::min(same->since, alarm.since);
    same->text.append("; ").append(alarm.text);
  }
  std::sort(out.begin(), out.end(), [](const Alarm& a, const Alarm& b) {
    return std::tie(a.code, a.port) < std::tie(b.code, b.port);
  });
  return out;
}

}  // namespace lldp::core
