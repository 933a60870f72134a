// SPDX-License-Identifier: Apache-2.0
#include "dataplane/sonic/reader.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.hpp"
#include "base/text.hpp"
#include "dataplane/sonic/buffers.hpp"
#include "dataplane/sonic/databases.hpp"

namespace lldp::dataplane::sonic {
namespace {

using nlohmann::json;

/// Counts carried and lost frames of ports, by their objects. Four words each: port, kind,
/// priority, number. The index of a queue or priority group is its priority. Queues for multicast
/// alone, and for another switch of a chassis (VOQ), are not counted: their index is no priority.
///
/// Of times those in microseconds are taken: of a chip that has none, what SONiC's PFC watchdog
/// estimates from its polls (EST) where `pfc_stat_history` is on; what the chip counts stands
/// after that and wins. `RX_PAUSE_DURATION` is left: by SAI it counts quanta of a length that
/// the port has, and watchdogs compare it with microseconds.
constexpr const char* kCount =
    "local r, ours, names, whats = {}, {}, {}, {} "
    "for _, of in ipairs({{'pauses received', 'SAI_PORT_STAT_PFC_%d_RX_PKTS'}, "
    "{'pauses sent', 'SAI_PORT_STAT_PFC_%d_TX_PKTS'}, "
    "{'paused received', 'EST_PORT_STAT_PFC_%d_RX_PAUSE_DURATION_US'}, "
    "{'paused received', 'SAI_PORT_STAT_PFC_%d_RX_PAUSE_DURATION_US'}, "
    "{'paused sent', 'SAI_PORT_STAT_PFC_%d_TX_PAUSE_DURATION_US'}, "
    "{'since received', 'EST_PORT_STAT_PFC_%d_RECENT_PAUSE_TIMESTAMP'}}) do for p = 0, 7 do "
    "names[#names + 1] = string.format(of[2], p) whats[#whats + 1] = {of[1], p} end end "
    "local function map(name) local t, all = {}, redis.call('HGETALL', name) "
    "for i = 1, #all, 2 do t[all[i]] = all[i + 1] end return t end "
    "local function add(port, what, priority, n) "
    "if n then for _, v in ipairs({port, what, tostring(priority), n}) do r[#r + 1] = v end end "
    "end "
    "local function each(objects, what, counters) objects = 'COUNTERS_' .. objects "
    "local index, kind = map(objects .. '_INDEX_MAP'), map(objects .. '_TYPE_MAP') "
    "for id, port in pairs(map(objects .. '_PORT_MAP')) do "
    "local p = tonumber(index[id]) "
    "if ours[port] and p and p < 8 and kind[id] ~= 'SAI_QUEUE_TYPE_MULTICAST' "
    "and kind[id] ~= 'SAI_QUEUE_TYPE_UNICAST_VOQ' "
    "then local n = redis.call('HMGET', 'COUNTERS:' .. id, unpack(counters)) "
    "for i, w in ipairs(what) do add(port, w, p, n[i]) end end end end "
    "for _, port in ipairs(ARGV) do ours[port] = true "
    "local n = redis.call('HMGET', 'COUNTERS:' .. port, unpack(names)) "
    "for i, what in ipairs(whats) do add(port, what[1], what[2], n[i]) end end "
    "each('QUEUE', {'frames sent', 'lost sent'}, "
    "{'SAI_QUEUE_STAT_PACKETS', 'SAI_QUEUE_STAT_DROPPED_PACKETS'}) "
    "each('PG', {'frames received', 'lost received'}, "
    "{'SAI_INGRESS_PRIORITY_GROUP_STAT_PACKETS', "
    "'SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS'}) "
    "return r";

/// Reads buffers by their objects. A priority group (PG): the octets of its lossless profile, or
/// `none`. A queue: `1` if it has a profile, plus `2` where the chip's watchdog watches it.
constexpr const char* kBuffers =
    "local r, state = {}, 'ASIC_STATE:SAI_OBJECT_TYPE_' "
    "for i = 1, #ARGV, 2 do local pg = ARGV[i] == 'PG' "
    "local p = redis.call('HGET', "
    "state .. (pg and 'INGRESS_PRIORITY_GROUP:' or 'QUEUE:') .. ARGV[i + 1], "
    "pg and 'SAI_INGRESS_PRIORITY_GROUP_ATTR_BUFFER_PROFILE' or "
    "'SAI_QUEUE_ATTR_BUFFER_PROFILE_ID') "
    "local is = p and p ~= 'oid:0x0' local it = is and '1' or '0' "
    "if pg then it = 'none' if is then "
    "local of = redis.call('HMGET', state .. 'BUFFER_PROFILE:' .. p, "
    "'SAI_BUFFER_PROFILE_ATTR_XOFF_TH', 'SAI_BUFFER_PROFILE_ATTR_RESERVED_BUFFER_SIZE') "
    "if of[1] then it = of[2] or '0' end end "
    "elseif redis.call('HGET', state .. 'QUEUE:' .. ARGV[i + 1], 'SAI_QUEUE_ATTR_ENABLE_PFC_DLDR') "
    "== 'true' then it = is and '3' or '2' end "
    "r[#r + 1] = it end return r";

/// STATE_DB's limit of the chip: the octets that all priority groups of a port can have.
constexpr std::string_view kMostRoom = "BUFFER_MAX_PARAM_TABLE|";

/// Attributes of a port beside those of kFields.
constexpr const char* kOthers[] = {kPfcSentAttribute, kPfcModeAttribute, kRewriteAttribute};

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc{} && end == text.data() + text.size() ? std::optional(number)
                                                                 : std::nullopt;
}

/// A number that a script of Redis made: from 10^14 on it may stand as 1.7959465469314e+15.
std::optional<std::uint64_t> number_of_script(std::string_view text) {
  if (const auto whole = number_of(text)) return whole;
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  constexpr double kMost = 1ULL << 53U;  // beyond it they are not exact
  if (code != std::errc{} || end != text.data() + text.size() || !(number >= 0 && number <= kMost))
    return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

/// Where a kind of kCount belongs.
qos::ByPriority<std::uint64_t>& place_of(std::string_view what, qos::Carried& port) {
  if (what.starts_with("pauses")) return port.pauses;
  if (what.starts_with("paused")) return port.paused_microseconds;
  if (what.starts_with("since")) return port.last_pause_microseconds;
  return what.starts_with("lost") ? port.lost.frames : port.frames;
}

std::optional<unsigned> number(const json& of, const char* name) {
  if (!of.is_object()) return std::nullopt;
  const auto at = of.find(name);
  return at != of.end() && at->is_number_unsigned() ? std::optional(at->get<unsigned>())
                                                    : std::nullopt;
}

}  // namespace

QosMaps maps_of_object(const Row& object) {
  QosMaps maps;
  const auto at = object.find("SAI_QOS_MAP_ATTR_MAP_TO_VALUE_LIST");
  const json map = at == object.end() ? json() : parse_json<json>(at->second);
  if (!map.is_object() || !map.contains("list") || !map["list"].is_array()) return maps;
  for (const json& entry : map["list"]) {
    if (!entry.is_object() || !entry.contains("key") || !entry.contains("value")) continue;
    for (const Field& f : kFields)
      if (f.map)
        if (const auto key = number(entry["key"], f.key), value = number(entry["value"], f.value);
            key && value)
          maps[index(*f.map)][*key] = *value;
  }
  return maps;
}

void Reader::select(const char* database, std::function<void()> then) {
  redis_.send({"SELECT", std::to_string(databases_.at(database))},
              [this, database, then = std::move(then)](const redisReply* reply) {
                if (reply == nullptr) return;
                if (reply->type == REDIS_REPLY_ERROR)
                  refused_(std::string(database) + ": " + text_of(reply));
                else if (then)
                  then();
              });
}

void Reader::start(const Redis::Command& watched, const Memory& notes, bool count) {
  run_.emplace(Run{});  // clang takes it for not constructible from nothing, being nested
  run_->view.notes = notes;
  select("CONFIG_DB");
  redis_.send({"UNWATCH"}, [](const redisReply*) {});
  if (!watched.empty()) {
    Redis::Command watch{"WATCH"};
    watch.insert(watch.end(), watched.begin(), watched.end());
    redis_.send(watch, [](const redisReply*) {});
  }
  redis_.send(ask_for_rows({"PORT|*", "PORT_QOS_MAP|*", "LLDP_LEVEL|*", "DSCP_TO_TC_MAP|*",
                            "TC_TO_DSCP_MAP|*", "TC_TO_QUEUE_MAP|*", "TC_TO_PRIORITY_GROUP_MAP|*",
                            "PFC_WD|*", "BUFFER_PG|*", "BUFFER_QUEUE|*", "BUFFER_PROFILE|*",
                            "BUFFER_POOL|*", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|*",
                            "MAP_PFC_PRIORITY_TO_QUEUE|*", "DEVICE_METADATA|localhost",
                            "VERSIONS|DATABASE", "SYSTEM_DEFAULTS|tunnel_qos_remap"}),
              [this](const redisReply* reply) {
                if (reply == nullptr || !run_) return;
                if (reply->type != REDIS_REPLY_ARRAY) return refused_(text_of(reply));
                run_->view.config = rows_of(reply);
              });
  select("STATE_DB");
  redis_.send({"HGET", "SWITCH_CAPABILITY|switch", "SWITCH|NUMBER_OF_TRAFFIC_CLASSES"},
              [this](const redisReply* reply) {
                if (reply == nullptr || !run_) return;
                // "N/A", or nothing in releases that do not ask the chip.
                if (const auto number = number_of(text_of(reply)); number && *number > 0)
                  run_->view.traffic_classes =
                      static_cast<unsigned>(std::min<std::uint64_t>(*number, kMostTrafficClasses));
              });
  read_limits();
  select("COUNTERS_DB");
  redis_.send({"HGETALL", "COUNTERS_PORT_NAME_MAP"}, [this, count](const redisReply* reply) {
    if (reply == nullptr || !run_) return;
    run_->view.oids = row_of(reply);
    if (count) read_counters();
    read_names();
    read_ports();
  });
}

void Reader::read_limits() {
  redis_.send(ask_for_rows({std::string(kMostRoom) + "*"}), [this](const redisReply* reply) {
    if (reply == nullptr || !run_) return;
    for (const auto& [key, row] : rows_of(reply)) {
      const auto most = number_of(value_of(&row, "max_headroom_size"));
      if (most && *most != 0) run_->view.most_room[key.substr(kMostRoom.size())] = *most;
    }
  });
}

void Reader::read_counters() {
  std::map<std::string, std::string> names;  // of ports, by object
  Redis::Command command{"EVAL", kCount, "0"};
  for (const std::string& port : run_->view.our_ports()) {
    const auto oid = run_->view.oids.find(port);
    if (oid == run_->view.oids.end()) continue;
    names[oid->second] = port;
    command.push_back(oid->second);
  }
  run_->counted.emplace();
  if (names.empty()) return;
  redis_.send(command, [this, names = std::move(names)](const redisReply* reply) {
    if (reply == nullptr || !run_ || reply->type != REDIS_REPLY_ARRAY) return;
    for (std::size_t i = 0; i + 3 < reply->elements; i += 4) {
      const auto name = names.find(text_of(reply->element[i]));
      const std::string what = text_of(reply->element[i + 1]);
      const auto priority = number_of(text_of(reply->element[i + 2]));
      const auto count = number_of_script(text_of(reply->element[i + 3]));
      if (name == names.end() || !priority || *priority > Priority::kMax || !count) continue;
      auto& counts = place_of(what, (*run_->counted)[name->second]);
      (what.ends_with("received") ? counts.received : counts.sent)[*priority] = *count;
    }
  });
}

std::vector<std::string> Reader::ports_to_read() const {
  std::vector<std::string> ports = run_->view.our_ports();
  std::ranges::copy(run_->view.leaving_ports(), std::back_inserter(ports));
  std::erase_if(ports, [&](const std::string& port) { return !run_->view.oids.contains(port); });
  return ports;
}

void Reader::read_names() {
  for (const bool group : {true, false}) {
    std::vector<Buffered> buffered;
    Redis::Command command{"HMGET", group ? "COUNTERS_PG_NAME_MAP" : "COUNTERS_QUEUE_NAME_MAP"};
    for (const std::string& port : ports_to_read()) {
      const Row* noted = run_->view.note(port);
      unsigned mask = mask_of_list(run_->view.field(port, "pfc_enable")) |
                      mask_of_list(value_of(noted, kSetPfc));
      for (const std::string& range : split_list(value_of(noted, kLeaving), ' '))
        mask |= mask_of_range(range);
      for (unsigned p = 0; p <= Priority::kMax; ++p) {
        if ((mask >> p & 1U) == 0) continue;
        buffered.push_back({.port = port, .number = p, .group = group});
        command.push_back(port + ":" + std::to_string(p));
      }
    }
    if (buffered.empty()) return;
    redis_.send(command, [this, buffered = std::move(buffered)](const redisReply* reply) {
      if (reply == nullptr || !run_ || reply->type != REDIS_REPLY_ARRAY) return;
      for (std::size_t i = 0; i < std::min(reply->elements, buffered.size()); ++i) {
        Buffered one = buffered[i];
        one.oid = text_of(reply->element[i]);
        if (!one.oid.empty()) run_->buffered.push_back(std::move(one));
      }
    });
  }
}

void Reader::read_ports() {
  select("ASIC_DB", [this] {
    if (!run_) return;
    read_buffers();
    if (run_->left == 0) finish();  // no port is ours
  });
  for (const std::string& port : ports_to_read()) {
    Redis::Command command{"HMGET", "ASIC_STATE:SAI_OBJECT_TYPE_PORT:" + run_->view.oids.at(port)};
    for (const Field& f : kFields)
      if (*f.attribute != '\0') command.emplace_back(f.attribute);
    for (const char* other : kOthers) command.emplace_back(other);
    ++run_->left;
    redis_.send(command, [this, port](const redisReply* reply) {
      if (reply == nullptr || !run_) return;
      std::size_t i = 0;
      Row& attributes = run_->view.asic[port];
      for (const Field& f : kFields) {
        if (*f.attribute == '\0' || i >= reply->elements) continue;
        const std::string value = text_of(reply->element[i++]);
        attributes[f.attribute] = value;
        if (value.starts_with("oid:") && value != "oid:0x0") run_->wanted.insert(value);
      }
      for (const char* other : kOthers)
        if (i < reply->elements) attributes[other] = text_of(reply->element[i++]);
      count_down();
    });
  }
}

void Reader::read_buffers() {
  if (run_->buffered.empty()) return;
  Redis::Command command{"EVAL", kBuffers, "0"};
  for (const Buffered& one : run_->buffered)
    command.insert(command.end(), {one.group ? "PG" : "QUEUE", one.oid});
  ++run_->left;
  redis_.send(command, [this](const redisReply* reply) {
    if (reply == nullptr || !run_) return;
    for (std::size_t i = 0; i < std::min(reply->elements, run_->buffered.size()); ++i) {
      const Buffered& one = run_->buffered[i];
      AsicBuffers& port = run_->view.buffers[one.port];
      const auto bit = static_cast<std::uint8_t>(1U << one.number);
      const auto add = [bit](std::uint8_t& mask) { mask = static_cast<std::uint8_t>(mask | bit); };
      add(one.group ? port.groups_known : port.queues_known);
      const auto told = number_of(text_of(reply->element[i]));
      if (!told) continue;
      if (one.group) {
        add(port.groups_lossless);
        port.room.at(one.number) = *told;
      } else {
        if ((*told & 1) != 0) add(port.queues_set);
        if ((*told & 2) != 0) add(port.queues_watched);
      }
    }
    count_down();
  });
}

void Reader::count_down() {
  if (--run_->left == 0) read_maps();
}

void Reader::read_maps() {
  select("ASIC_DB");
  run_->left = run_->wanted.size();
  if (run_->left == 0) return finish();
  for (const std::string& oid : run_->wanted)
    redis_.send({"HGETALL", "ASIC_STATE:SAI_OBJECT_TYPE_QOS_MAP:" + oid},
                [this, oid](const redisReply* reply) {
                  if (reply == nullptr || !run_) return;
                  run_->view.qos_maps[oid] = maps_of_object(row_of(reply));
                  if (--run_->left == 0) finish();
                });
}

void Reader::finish() {
  Run run = std::move(*run_);
  run_.reset();
  done_(std::move(run.view), std::move(run.counted));
}

}  // namespace lldp::dataplane::sonic
