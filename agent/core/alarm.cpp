// SPDX-License-Identifier: Apache-2.0
#include "agent/core/alarm.hpp"

#include <algorithm>
#include <tuple>

namespace lldp::core {
namespace {

template <class Alarms>
auto place(Alarms& alarms, AlarmCode code, std::string_view port) {
  return std::partition_point(alarms.begin(), alarms.end(), [&](const Alarm& a) {
    return std::tuple(a.code, std::string_view(a.port)) < std::tuple(code, port);
  });
}

bool is(const Alarm& a, AlarmCode code, std::string_view port) {
  return a.code == code && a.port == port;
}

}  // namespace

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
      break;
  }
  return "no-port";
}

std::string duration_text(Duration d) {
  const auto s = std::chrono::duration_cast<std::chrono::seconds>(d).count();
  if (s < 120) return std::to_string(s) + " s";
  if (s < 7200) return std::to_string(s / 60) + " min";
  if (s < 172'800) return std::to_string(s / 3600) + " h";
  return std::to_string(s / 86'400) + " days";
}

bool AlarmBook::raise(AlarmCode code, std::string_view port, std::string text, TimePoint now) {
  const auto at = place(alarms_, code, port);
  if (at != alarms_.end() && is(*at, code, port)) {
    at->text = std::move(text);
    return false;
  }
  alarms_.insert(at, {code, std::string(port), now, std::move(text)});
  return true;
}

bool AlarmBook::clear(AlarmCode code, std::string_view port) {
  const auto at = place(alarms_, code, port);
  if (at == alarms_.end() || !is(*at, code, port)) return false;
  alarms_.erase(at);
  return true;
}

const Alarm* AlarmBook::find(AlarmCode code, std::string_view port) const {
  const auto at = place(alarms_, code, port);
  return at != alarms_.end() && is(*at, code, port) ? &*at : nullptr;
}

}  // namespace lldp::core
