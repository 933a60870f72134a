// SPDX-License-Identifier: Apache-2.0
// What is kept of ports, and rows of CONFIG_DB and ASIC_DB, one `KEY FIELD VALUE` a line. Notes
// that were understood are written and understood alike. Rows are read to their end whatever they
// say; rules that are set and removed again leave them as they were.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "dataplane/sonic/platform.hpp"
#include "dataplane/sonic/reader.hpp"
#include "dataplane/sonic/writer.hpp"
#include "qos/policy.hpp"
#include "qos/ruleset.hpp"

namespace {

using namespace lldp;
using namespace lldp::dataplane::sonic;
using dataplane::Part;

/// What Redis makes of these commands.
void run(const std::vector<Redis::Command>& commands, Rows& rows) {
  for (const Redis::Command& c : commands) {
    if (c[0] == "HSET")
      for (std::size_t i = 2; i + 1 < c.size(); i += 2) rows[c[1]][c[i]] = c[i + 1];
    if (c[0] == "HDEL") {
      for (std::size_t i = 2; i < c.size(); ++i) rows[c[1]].erase(c[i]);
      if (rows[c[1]].empty()) rows.erase(c[1]);
    }
    if (c[0] == "DEL") rows.erase(c[1]);
  }
}

std::vector<std::string> ports_of(const View& view) {
  std::vector<std::string> ports;
  for (const auto& [key, row] : view.config)
    if (key.starts_with("PORT|")) ports.push_back(key.substr(5));
  return ports;
}

void look_at(const View& view, const PortBuffers& buffers, const std::string& port) {
  for (const Part part : {Part::kClassify, Part::kRemap, Part::kQueues, Part::kPfc}) {
    (void)buffer_fault(view, buffers, port, part, 0xff);
    (void)buffer_limit(view, port, part, 0xff);
    (void)view.ignored(port, part);
  }
  (void)view.is_being_loaded(port);
  (void)next_pfc(view, buffers, port, true, true);
  (void)touch_watchdog(view, port);
  (void)next_again(view, buffers, port, true);
  (void)next_last(view, buffers, port, true);
  RowWriter writer(view, buffers);
  writer.take_off(port);
  (void)writer.notes_after();
}

/// Rules of every order, then none.
void set_and_remove(const View& before) {
  static const std::vector<qos::Ruleset> orders = [] {
    const auto policy = *qos::Policy::parse("3:dscp3>2:dscp19,4:dscp4>5:dscp43", "0:dscp0");
    std::vector<qos::Ruleset> all;
    for (const Order order : {Order::kUp, Order::kDown, Order::kShut})
      all.push_back(qos::compile(policy, {.order = order}));
    return all;
  }();
  const std::vector<std::string> ports = ports_of(before);
  const bool bare = before.notes.empty() && before.our_ports().empty();
  for (const qos::Ruleset& rules : orders) {
    const auto maps = maps_of(rules, before.before(), before.traffic_classes);
    if (!maps) continue;
    View view = before;
    const PortBuffers buffers(view.config);
    RowWriter writer(view, buffers);
    for (const std::string& port : ports) writer.set(port, *maps);
    View with = view;
    with.notes = writer.notes_after();
    run(writer.commands(), with.config);
    for (const std::string& port : ports) {
      if (!with.is_noted(port)) std::abort();
      look_at(with, buffers, port);
    }
    RowWriter remover(with, buffers);
    for (const std::string& port : ports) remover.take_off(port);
    remover.remove_maps();
    run(remover.commands(), with.config);
    if (bare && with.config != before.config) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  View view;
  if (const auto memory = parse_memory(text)) {
    if (parse_memory(format(*memory)) != memory) std::abort();
    view.notes = *memory;
  }
  for (const std::string& line : split_list(text, '\n')) {
    const auto words = split_list(line, ' ');
    if (words.size() != 3 || words[2].empty()) continue;
    constexpr std::string_view kPortObject = "ASIC|", kMapObject = "MAP|";
    if (words[0].starts_with(kPortObject))
      view.asic[words[0].substr(kPortObject.size())][words[1]] = words[2];
    else if (words[0].starts_with(kMapObject))
      view.qos_maps[words[0].substr(kMapObject.size())] = maps_of_object({{words[1], words[2]}});
    else
      view.config[words[0]][words[1]] = words[2];
  }
  const PortBuffers buffers(view.config);
  for (const std::string& port : view.our_ports()) look_at(view, buffers, port);
  (void)release_fault(view);
  (void)dataplane::sonic::platform_of(view);
  set_and_remove(view);
  return 0;
}
