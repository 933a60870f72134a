// SPDX-License-Identifier: Apache-2.0
#include "agent/core/alarm.hpp"

#include <algorithm>
#include <utility>

namespace lldp::core {

std::string_view to_string(AlarmCode code) {
  switch (code) {
    case AlarmCode::kCrosslink:
      return "crosslink";
    case AlarmCode::kLevelSkip:
      return "level-skip";
    case AlarmCode::kHostAboveLeaf:
      return "host-above-leaf";
    case AlarmCode::kMaxLevel:
      return "max-level";
    case AlarmCode::kManyNeighbors:
      return "many-neighbors";
    case AlarmCode::kTlvConflict:
      return "tlv-conflict";
    case AlarmCode::kSelfLoop:
      return "self-loop";
    case AlarmCode::kCabling:
      return "cabling";
    case AlarmCode::kPfcMismatch:
      return "pfc-mismatch";
    case AlarmCode::kUnprotected:
      return "unprotected";
    case AlarmCode::kDataplane:
      return "dataplane";
    case AlarmCode::kLldpd:
      return "lldpd";
    case AlarmCode::kSilent:
      return "silent";
    case AlarmCode::kUnsupported:
      return "unsupported";
    case AlarmCode::kLowerLevel:
      return "lower-level";
    case AlarmCode::kNoPort:
      return "no-port";
    case AlarmCode::kNoLevel:
      return "no-level";
    case AlarmCode::kState:
      return "state";
    case AlarmCode::kPaused:
      return "paused";
    case AlarmCode::kPfcTaken:
      return "pfc-taken";
    case AlarmCode::kClassMismatch:
      return "class-mismatch";
    case AlarmCode::kUnclassed:
      return "unclassed";
    case AlarmCode::kPortMissing:
      return "port-missing";
    case AlarmCode::kUnheard:
      return "unheard";
    case AlarmCode::kUneven:
      return "uneven";
    case AlarmCode::kSet:
      break;
  }
  return "set";
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
