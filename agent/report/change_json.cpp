// SPDX-License-Identifier: Apache-2.0
#include "agent/report/change.hpp"
#include "agent/report/json_writer.hpp"
#include "base/text.hpp"

namespace lldp::report {
namespace {

using Kind = core::Event::Kind;

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::kNeighborAdded:
      return "neighbor-added";
    case Kind::kNeighborChanged:
      return "neighbor-changed";
    case Kind::kNeighborRemoved:
      return "neighbor-removed";
    case Kind::kLevel:
      return "level";
    case Kind::kPlace:
      return "place";
    case Kind::kLocation:
      return "location";
    case Kind::kPort:
      return "port";
    case Kind::kAlarmRaised:
      return "alarm-raised";
    case Kind::kAlarmCleared:
      return "alarm-cleared";
    case Kind::kClassesExtended:
      return "classes-extended";
    case Kind::kRulesRestored:
      return "rules-restored";
    case Kind::kState:
      break;
  }
  return "";
}

std::string change_json(const core::Event& event, const Circumstances& now) {
  std::string text;
  JsonWriter out(text);
  out.open('{')
      .member("version", kVersion)
      .member("time", now.clock.date(now.clock.boot))
      .member("system_name", escape(now.system_name))
      .member("event", to_string(event.kind))
      .member("port", now.port)
      .member("text", text_of(event))
      .member("level", now.level ? std::optional<unsigned>(now.level->value()) : std::nullopt);
  if (event.kind == Kind::kLocation) out.member("location", now.location);
  if (!now.port.empty())
    out.member("type", to_string(now.type)).member("order", to_string(now.order));
  if (event.kind == Kind::kAlarmRaised || event.kind == Kind::kAlarmCleared)
    out.member("alarm", to_string(event.alarm));
  if (event.kind == Kind::kAlarmRaised) out.member("severity", to_string(severity_of(event.alarm)));
  out.close('}');
  return text;
}

ChangeQueue::ChangeQueue(std::size_t capacity) : capacity_(capacity) {}

void ChangeQueue::push(std::string change) {
  if (changes_.size() == capacity_) {
    changes_.pop_front();
    ++left_out_;
  }
  changes_.push_back(std::move(change));
}

std::string ChangeQueue::pop() {
  std::string change = std::move(changes_.front());
  changes_.pop_front();
  change.pop_back();
  change += ",\"left_out\":" + std::to_string(std::exchange(left_out_, 0)) + "}";
  return change;
}

}  // namespace lldp::report
