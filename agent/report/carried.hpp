// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "qos/carried.hpp"

/// What a port has carried, in JSON: of `rules` and of `doctor`.
namespace lldp::report {

class JsonWriter;
/// Members `frames`, `pauses`, `paused_microseconds`, `last_pause_microseconds` and `lost`: an
/// object for each priority; null if none of its is told.
void write_carried(JsonWriter& out, const qos::Carried& carried);

/// One of these members. One that is absent, as of an older daemon, or null tells nothing; of
/// another shape it throws as the JSON library does.
template <class T = std::uint64_t, class Json>
qos::ByPriority<T> read_counts(const Json& port, const char* member,
                               const char* received = "received", const char* sent = "sent") {
  qos::ByPriority<T> out;
  const auto counted = port.find(member);
  if (counted == port.end() || !counted->is_array()) return out;
  for (const Json& c : *counted) {
    const auto priority = Priority::make(c.at("priority").template get<unsigned>());
    if (!priority) continue;
    for (const auto& [counts, name] : {std::pair(&out.received, received), {&out.sent, sent}})
      if (!c.at(name).is_null())
        (*counts)[priority->value()] = T(c.at(name).template get<std::uint64_t>());
  }
  return out;
}

template <class Json>
qos::Carried read_carried(const Json& port) {
  return {
      .frames = read_counts(port, "frames"),
      .pauses = read_counts(port, "pauses"),
      .paused_microseconds = read_counts(port, "paused_microseconds"),
      .last_pause_microseconds = read_counts(port, "last_pause_microseconds"),
      .lost = {.frames = read_counts(port, "lost"),
               .ago = read_counts<std::chrono::seconds>(port, "lost", "received_ago", "sent_ago")}};
}

}  // namespace lldp::report
