// SPDX-License-Identifier: Apache-2.0
#include "dataplane/sonic/sonic.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <net/if.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "os/file.hpp"

namespace lldp::dataplane {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using sonic::Row;

constexpr Part kParts[] = {Part::kClassify, Part::kRemap, Part::kQueues, Part::kPfc};
constexpr auto kPeriod = 5s;    ///< between two readings
constexpr auto kPatience = 2s;  ///< for an answer of Redis
constexpr auto kGrace = 5s;     ///< for orchagent to make what was written
constexpr auto kSoon = 100ms;   ///< between two readings while it does
constexpr auto kFirstTry = 100ms;
constexpr auto kLastTry = 5s;
constexpr auto kOpening = 250ms;  ///< for the first reading, before anything else runs

/// Where the ports' fields were before ours: ours too, so that they outlive us and are saved along.
constexpr std::string_view kOriginals = "LLDP_LEVEL|";
constexpr std::string_view kPortMaps = "PORT_QOS_MAP|";
constexpr std::string_view kWatchdogs = "PFC_WD|";

/// Whether a field of PORT_QOS_MAP names a map of ours.
/// Before the name of a field in our row of a port: what we have set it to, where the value does
/// not say itself that it is ours.
constexpr const char* kOurs = "set:";

bool names_ours(std::string_view value) { return value.find("LLDP_LEVEL") != value.npos; }

/// A member that is to be text and is, or what there is else.
std::string text_or(const json& object, const char* name, const char* otherwise) {
  const auto at = object.find(name);
  return at != object.end() && at->is_string() ? at->get<std::string>() : otherwise;
}

/// What SONiC has where its configuration of databases is the usual one. Made when it is asked for:
/// before main() nobody says in a line that memory has run out.
std::map<std::string, int> usual_databases() {
  return {{"CONFIG_DB", 4}, {"ASIC_DB", 1}, {"COUNTERS_DB", 2}};
}
constexpr const char* kUsualSocket = "/run/redis/redis.sock";

/// All rows of some tables, in one answer.
constexpr const char* kCollect =
    "local r = {} "
    "for _, p in ipairs(ARGV) do for _, k in ipairs(redis.call('KEYS', p)) do "
    "if redis.call('TYPE', k).ok == 'hash' then "  // else it is no row of SONiC's
    "r[#r + 1] = k; r[#r + 1] = redis.call('HGETALL', k) end end end return r";

/// How a field of PORT_QOS_MAP is found in the ASIC.
struct Attribute {
  Part part{};
  const char* name = "";
  const char* key = "";
  const char* value = "";
};
constexpr std::array<Attribute, std::size(sonic::kFields)> kAttributes = {
    {{Part::kClassify, "SAI_PORT_ATTR_QOS_DSCP_TO_TC_MAP", "dscp", "tc"},
     {Part::kRemap, "SAI_PORT_ATTR_QOS_TC_AND_COLOR_TO_DSCP_MAP", "tc", "dscp"},
     {Part::kRemap, "SAI_PORT_ATTR_QOS_TC_TO_QUEUE_MAP", "tc", "qidx"},
     {Part::kQueues, "SAI_PORT_ATTR_QOS_TC_TO_PRIORITY_GROUP_MAP", "tc", "pg"},
     {Part::kPfc, "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL", "", ""},
     {Part::kPfc, "", "", ""}}};  // the watchdog is SONiC's own

/// The reply itself, or the first part of it, that is no consent to a transaction.
const redisReply* refusal_in(const redisReply* reply) {
  if (reply->type != REDIS_REPLY_ARRAY) return reply;
  for (std::size_t i = 0; i < reply->elements; ++i)
    if (reply->element[i]->type == REDIS_REPLY_ERROR) return reply->element[i];
  return nullptr;
}

std::string text_of(const redisReply* reply) {
  return reply != nullptr && reply->str != nullptr
             ? std::string(reply->str, static_cast<std::size_t>(reply->len))
             : "";
}

Row row_of(const redisReply* reply) {
  Row row;
  if (reply == nullptr || reply->type != REDIS_REPLY_ARRAY) return row;
  for (std::size_t i = 0; i + 1 < reply->elements; i += 2)
    row[text_of(reply->element[i])] = text_of(reply->element[i + 1]);
  return row;
}

/// "AZURE"; older releases write "[DSCP_TO_TC_MAP|AZURE]".
std::string bare(std::string reference) {
  if (!reference.starts_with('[')) return reference;
  const auto bar = reference.find('|');
  return reference.substr(bar + 1, reference.size() - bar - 2);
}

unsigned mask_of(const std::string& priorities) {
  unsigned mask = 0;
  for (const char c : priorities)
    if (c >= '0' && c <= '7') mask |= 1U << static_cast<unsigned>(c - '0');
  return mask;
}

/// A QoS map of the ASIC: the number of each key, whatever its colour.
Row list_of(const Row& object) {
  Row list;
  const auto at = object.find("SAI_QOS_MAP_ATTR_MAP_TO_VALUE_LIST");
  const json map = at == object.end() ? json() : json::parse(at->second, nullptr, false);
  if (!map.is_object() || !map.contains("list") || !map["list"].is_array()) return list;
  for (const json& entry : map["list"]) {
    if (!entry.is_object() || !entry.contains("key") || !entry.contains("value")) continue;
    for (const Attribute& a : kAttributes) {
      const auto number = [](const json& of, const char* name) {
        return of.is_object() && of.contains(name) && of[name].is_number_unsigned()
                   ? std::to_string(of[name].get<unsigned>())
                   : std::string("?");
      };
      if (*a.key != '\0')
        list[std::string(a.key) + number(entry["key"], a.key) + a.value] =
            number(entry["value"], a.value);
    }
  }
  return list;
}

struct Databases {
  std::string redis{};
  std::map<std::string, int> numbers{};
};

/// By SONiC's database_config.json, where it is.
Result<Databases> find_databases(const SonicOptions& options) {
  Databases found{.redis = kUsualSocket, .numbers = usual_databases()};
  const auto bad = [&](const std::string& why) {
    return fail(
        Error{0, options.config, why + ": name SONiC's database_config.json in sonic.config"});
  };
  if (const auto file = read_file(options.config)) {
    const json config = json::parse(*file, nullptr, false);
    if (!config.is_object()) return bad("is not JSON");
    std::set<std::string> instances;
    for (auto& [name, number] : found.numbers) {
      const json* at = config.contains("DATABASES") && config["DATABASES"].is_object() &&
                               config["DATABASES"].contains(name)
                           ? &config["DATABASES"][name]
                           : nullptr;
      if (at == nullptr || !at->is_object() || !at->contains("id") ||
          !(*at)["id"].is_number_integer())
        return bad("has no " + name);
      number = (*at)["id"].get<int>();
      instances.insert(text_or(*at, "instance", "redis"));
    }
    if (instances.size() != 1)
      return bad("has its databases in several Redis servers, which is not supported");
    const std::string instance = *instances.begin();
    if (config.contains("INSTANCES") && config["INSTANCES"].is_object() &&
        config["INSTANCES"].contains(instance) && config["INSTANCES"][instance].is_object())
      found.redis = text_or(config["INSTANCES"][instance], "unix_socket_path", kUsualSocket);
  } else if (file.error().code != ENOENT) {
    return bad(file.error().what);
  }
  if (!options.redis.empty()) found.redis = options.redis;
  return found;
}

}  // namespace

Sonic::Sonic(std::string redis_at, std::map<std::string, int> databases, UniqueFd poll,
             UniqueFd timer)
    : redis_at_(std::move(redis_at)),
      databases_(std::move(databases)),
      poll_(std::move(poll)),
      timer_(std::move(timer)),
      redis_(poll_.get(), [this](const std::string& why) { lost(why); }) {}

Result<std::unique_ptr<Backend>> Sonic::open(const SonicOptions& options) {
  auto databases = find_databases(options);
  if (!databases) return fail(databases.error());
  UniqueFd poll(::epoll_create1(EPOLL_CLOEXEC));
  UniqueFd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  epoll_event interest{.events = EPOLLIN, .data = {.ptr = nullptr}};
  if (::epoll_ctl(poll.get(), EPOLL_CTL_ADD, timer.get(), &interest) != 0)
    return fail(Error{errno, "backend sonic", std::strerror(errno)});
  std::unique_ptr<Sonic> self(new Sonic(std::move(databases->redis), std::move(databases->numbers),
                                        std::move(poll), std::move(timer)));
  // A moment for the answer: what is there shall be known before the first plan.
  self->connect();
  const auto until = Clock::now() + kOpening;
  while (self->reader_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (left <= 0ms) break;
    pollfd ready{.fd = self->poll_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, static_cast<int>(left.count())) <= 0) break;
    Events told = self->take_events();
    if (!told.changed.empty()) self->events_.changed = {Ifindex()};
  }
  if (self->reader_)
    self->down_ =
        Error{0, "backend sonic", "Redis at " + self->redis_at_ + " has not answered yet"};
  return self;
}

std::string Sonic::description() const {
  std::string text = "QoS maps in CONFIG_DB of Redis at " + redis_at_;
  std::vector<unsigned> dscps;
  for (const Dscp d : collapsed_) dscps.push_back(d.value());
  if (!dscps.empty())
    text += fmt::format("; no traffic class is left for DSCP {}: at up ports they leave as lossy",
                        fmt::join(dscps, ", "));
  if (const unsigned taken = pfc_taken(); taken != 0) {
    std::vector<unsigned> priorities;
    for (unsigned p = 0; p <= Priority::kMax; ++p)
      if ((taken >> p & 1U) != 0) priorities.push_back(p);
    text += fmt::format(
        "; priority {} had PFC before the rules, and is lossy now: name it in qos.lossless if it "
        "is in use",
        fmt::join(priorities, ", "));
  }
  return text;
}

unsigned Sonic::pfc_taken() const {
  unsigned taken = 0;
  for (const auto& [key, originals] : view_.config) {
    if (!key.starts_with(kOriginals)) continue;
    const auto before = originals.find("pfc_enable");
    const auto ours = originals.find(std::string(kOurs) + "pfc_enable");
    if (before != originals.end() && ours != originals.end())
      taken |= mask_of(before->second) & ~mask_of(ours->second);
  }
  return taken;
}

void Sonic::connect() {
  set_timer(kPatience);
  redis_.connect(redis_at_);
  if (redis_.connected()) refresh();
}

void Sonic::lost(const std::string& why) {
  reader_.reset();
  down_ = Error{0, "backend sonic",
                fmt::format("Redis at {}: {}: see whether it runs, and whether we may connect",
                            redis_at_, why)};
  for (const Outcome& outcome : std::exchange(changed_, {}))
    events_.outcomes.push_back({.port = outcome.port, .why = down_});
  for (const Ifindex port : std::exchange(applying_, {}))
    events_.outcomes.push_back({.port = port, .why = down_});
  events_.changed.emplace_back();
  pause_ = std::clamp<Clock::duration>(pause_ * 2, kFirstTry, kLastTry);
  set_timer(pause_);
}

void Sonic::set_timer(Clock::duration after) {
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(after).count();
  itimerspec spec{};
  spec.it_value = {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
  ::timerfd_settime(timer_.get(), 0, &spec, nullptr);
}

void Sonic::on_timer() {
  if (!redis_.connected()) return connect();
  if (redis_.waiting() == 0 && !reader_) return refresh();
  redis_.disconnect();
  lost("no answer within 2 s");
}

Events Sonic::take_events() {
  for (int i = 0; i < 16; ++i) {
    std::array<epoll_event, 2> ready{};
    const int n = ::epoll_wait(poll_.get(), ready.data(), ready.size(), 0);
    if (n <= 0) break;
    for (int k = 0; k < n; ++k) {
      std::uint64_t expirations = 0;
      if (ready[static_cast<std::size_t>(k)].data.ptr != nullptr)
        redis_.handle(ready[static_cast<std::size_t>(k)].events);
      else if (::read(timer_.get(), &expirations, sizeof expirations) == sizeof expirations)
        on_timer();
    }
  }
  return std::exchange(events_, {});
}

void Sonic::select(const char* database) {
  redis_.send({"SELECT", std::to_string(databases_.at(database))}, [](const redisReply*) {});
}

void Sonic::refresh() {
  if (reader_) return;        // changes of meanwhile are read after it
  reader_.emplace(Reader{});  // clang takes it for not constructible from nothing, being nested
  reader_->outcomes = std::exchange(changed_, {});
  set_timer(kPatience);
  select("CONFIG_DB");
  redis_.send(
      {"EVAL", kCollect, "0", "PORT|*", "PORT_QOS_MAP|*", "LLDP_LEVEL|*", "DSCP_TO_TC_MAP|*",
       "TC_TO_DSCP_MAP|*", "TC_TO_QUEUE_MAP|*", "TC_TO_PRIORITY_GROUP_MAP|*", "PFC_WD|*"},
      [this](const redisReply* reply) {
        if (reply == nullptr || !reader_) return;
        if (reply->type != REDIS_REPLY_ARRAY) {
          redis_.disconnect();
          return lost(text_of(reply));
        }
        for (std::size_t i = 0; i + 1 < reply->elements; i += 2)
          reader_->view.config[text_of(reply->element[i])] = row_of(reply->element[i + 1]);
      });
  select("COUNTERS_DB");
  redis_.send({"HGETALL", "COUNTERS_PORT_NAME_MAP"}, [this](const redisReply* reply) {
    if (reply == nullptr || !reader_) return;
    reader_->view.oids = row_of(reply);
    read_ports();
  });
}

void Sonic::read_ports() {
  select("ASIC_DB");
  for (const auto& [key, row] : reader_->view.config) {
    if (!key.starts_with(kOriginals)) continue;
    const std::string port = key.substr(kOriginals.size());
    const auto oid = reader_->view.oids.find(port);
    if (oid == reader_->view.oids.end()) continue;
    sonic::Redis::Command command{"HMGET", "ASIC_STATE:SAI_OBJECT_TYPE_PORT:" + oid->second};
    for (const Attribute& a : kAttributes)
      if (*a.name != '\0') command.emplace_back(a.name);
    ++reader_->left;
    redis_.send(command, [this, port](const redisReply* reply) {
      if (reply == nullptr || !reader_) return;
      for (std::size_t i = 0; i < reply->elements && i < kAttributes.size(); ++i) {
        const std::string value = text_of(reply->element[i]);
        reader_->view.asic[port][kAttributes[i].name] = value;
        if (value.starts_with("oid:") && value != "oid:0x0") reader_->wanted.insert(value);
      }
      if (--reader_->left == 0) read_maps();
    });
  }
  if (reader_->left == 0) read_done();
}

void Sonic::read_maps() {
  select("ASIC_DB");
  reader_->left = reader_->wanted.size();
  if (reader_->left == 0) return read_done();
  for (const std::string& oid : reader_->wanted)
    redis_.send({"HGETALL", "ASIC_STATE:SAI_OBJECT_TYPE_QOS_MAP:" + oid},
                [this, oid](const redisReply* reply) {
                  if (reply == nullptr || !reader_) return;
                  reader_->view.qos_maps[oid] = list_of(row_of(reply));
                  if (--reader_->left == 0) read_done();
                });
}

void Sonic::read_done() {
  Reader reader = std::move(*reader_);
  reader_.reset();
  const bool was_down = std::exchange(down_, std::nullopt).has_value();
  pause_ = {};
  std::map<std::string, std::string> ignoring;
  const bool differs = reader.view != view_;
  if (differs) {
    view_ = std::move(reader.view);
    maps_.clear();
    brackets_ = std::ranges::any_of(view_.config, [](const auto& entry) {
      return entry.first.starts_with(kPortMaps) &&
             std::ranges::any_of(entry.second,
                                 [](const auto& f) { return f.second.starts_with('['); });
    });
  }
  bool waiting = false;
  for (const auto& [key, row] : view_.config) {
    if (!key.starts_with(kOriginals)) continue;
    const std::string port = key.substr(kOriginals.size());
    for (const Part part : kParts)
      if (const auto why = ignored(port, part)) {
        waiting |= is_fresh(port);
        ignoring[port] += *why + (is_fresh(port) ? "?" : "!");
      }
  }
  if (differs || was_down || ignoring != told_) events_.changed.emplace_back();
  told_ = std::move(ignoring);
  std::ranges::move(reader.outcomes, std::back_inserter(events_.outcomes));
  // It goes by the mask that the port has in the ASIC when its row is written.
  for (auto at = watchdogs_.begin(); at != watchdogs_.end();) {
    if (ignored(*at, Part::kPfc)) {
      ++at;
      continue;
    }
    select("CONFIG_DB");
    if (const auto touch = touch_watchdog(*at)) redis_.send(*touch, [](const redisReply*) {});
    at = watchdogs_.erase(at);
  }
  if (!changed_.empty()) return refresh();
  set_timer(waiting ? Clock::duration(kSoon) : Clock::duration(kPeriod));
}

const Row* Sonic::row(const std::string& key) const {
  const auto at = view_.config.find(key);
  return at == view_.config.end() ? nullptr : &at->second;
}

std::string Sonic::field(const std::string& port, const char* field) const {
  const Row* maps = row(std::string(kPortMaps) + port);
  if (maps == nullptr) return {};
  const auto at = maps->find(field);
  return at == maps->end() ? std::string() : bare(at->second);
}

bool Sonic::is_ours(const std::string& port) const {
  return row(std::string(kOriginals) + port) != nullptr;
}

const sonic::Row* Sonic::originals_of(const sonic::Row* there) const {
  if (there == nullptr ||
      std::ranges::none_of(*there, [](const auto& field) { return names_ours(field.second); }))
    return there;
  // Somebody took away the row that says what was there before ours, and ours is no original: what
  // another port had is the best guess, for SONiC gives all ports the same.
  for (const auto& [key, originals] : view_.config)
    if (key.starts_with(kOriginals)) return &originals;
  return nullptr;
}

bool Sonic::is_fresh(const std::string& port) const {
  const auto at = written_.find(port);
  return at != written_.end() && Clock::now() < at->second + kGrace;
}

sonic::Base Sonic::base() const {
  // Those of the first port that has any, as they were before ours: the same at each start.
  for (const auto& [key, unused] : view_.config) {
    if (!key.starts_with("PORT|")) continue;
    const std::string port = key.substr(5);
    const Row* originals = row(std::string(kOriginals) + port);
    const auto before = [&](const char* name) {
      if (originals == nullptr) return field(port, name);
      const auto at = originals->find(name);
      return at == originals->end() ? std::string() : bare(at->second);
    };
    if (before("dscp_to_tc_map").empty() || names_ours(before("dscp_to_tc_map"))) continue;
    const auto table = [&](const char* name, const char* of) {
      const Row* map = row(std::string(of) + "|" + before(name));
      return map != nullptr ? *map : Row{};
    };
    return {.dscp_to_tc = table("dscp_to_tc_map", "DSCP_TO_TC_MAP"),
            .tc_to_queue = table("tc_to_queue_map", "TC_TO_QUEUE_MAP"),
            .tc_to_pg = table("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP")};
  }
  return {};
}

const Result<sonic::Maps>& Sonic::maps_of(const qos::Ruleset& rules) {
  const auto known = std::ranges::find(maps_, rules, [](const auto& entry) { return entry.first; });
  if (known != maps_.end()) return known->second;
  return maps_.emplace_back(rules, sonic::maps_of(rules, base())).second;
}

std::string Sonic::alias(const PortRef& port) const {
  const Row* known = row("PORT|" + port.name);
  const auto at = known != nullptr ? known->find("alias") : Row::const_iterator{};
  return known != nullptr && at != known->end() && at->second != port.name ? at->second
                                                                           : std::string();
}

Result<PortPlan> Sonic::plan_from(const PortRef& port, std::optional<qos::Ruleset> want) {
  if (down_) return fail(*down_);
  numbers_[port.name] = port.ifindex;
  // Traffic classes tell two kinds of ports apart, and layers make more: no rules rather than half.
  if (want && want->layered) want.reset();
  PortPlan plan{.port = port, .want = std::move(want)};
  const bool ours = is_ours(port.name);
  if (!plan.want) {
    if (ours)
      for (const Part part : kParts) plan.changes.push_back({Action::kRemove, part});
    return plan;
  }
  if (row("PORT|" + port.name) == nullptr)
    return fail(
        Error{0, port.name, "SONiC's CONFIG_DB has no PORT of that name: leave it out of `ports`"});
  const auto& maps = maps_of(*plan.want);
  if (!maps) return fail(maps.error());
  collapsed_ = maps->collapsed;
  for (const Part part : kParts) {
    bool right = true;
    for (std::size_t i = 0; i < kAttributes.size(); ++i) {
      if (kAttributes[i].part != part) continue;
      const std::string& wanted = maps->port.at(sonic::kFields[i].name);
      right &= field(port.name, sonic::kFields[i].name) == wanted;
      if (*sonic::kFields[i].table == '\0' || wanted.empty()) continue;
      const std::string key = std::string(sonic::kFields[i].table) + "|" + wanted;
      const Row* there = row(key);
      right &= there != nullptr && *there == maps->rows.at(key);
    }
    if (!ours || !right) plan.changes.push_back({ours ? Action::kReplace : Action::kAdd, part});
  }
  return plan;
}

Result<PortPlan> Sonic::plan(const PortRef& port, const qos::Ruleset& want) {
  return plan_from(port, want);
}

Result<PortPlan> Sonic::plan_removal(const PortRef& port) { return plan_from(port, std::nullopt); }

std::optional<std::string> Sonic::ignored(const std::string& port, Part part) const {
  const auto asic = view_.asic.find(port);
  if (asic == view_.asic.end()) return "the port is not in the ASIC yet (COUNTERS_PORT_NAME_MAP)";
  for (std::size_t i = 0; i < kAttributes.size(); ++i) {
    const Attribute& a = kAttributes[i];
    if (a.part != part || *a.name == '\0') continue;
    const std::string wanted = field(port, sonic::kFields[i].name);
    const auto at = asic->second.find(a.name);
    const std::string value = at == asic->second.end() ? std::string() : at->second;
    const char* table = *sonic::kFields[i].table != '\0' ? sonic::kFields[i].table : "PORT_QOS_MAP";
    if (*a.key == '\0') {
      if (value != std::to_string(mask_of(wanted)))
        return fmt::format("{}: {}", table, sonic::kFields[i].name);
      continue;
    }
    const bool none = value.empty() || value == "oid:0x0";
    if (wanted.empty() && none) continue;
    const auto object = view_.qos_maps.find(value);
    const Row* map = row(std::string(table) + "|" + wanted);
    if (none != wanted.empty() || object == view_.qos_maps.end() || map == nullptr) return table;
    for (const auto& [key, number] : *map) {
      const auto entry = object->second.find(a.key + key + a.value);
      if (entry == object->second.end() || entry->second != number) return table;
    }
  }
  return std::nullopt;
}

Result<Reading> Sonic::verify(const PortRef& port, const qos::Ruleset& want) {
  auto plan = plan_from(port, want);
  if (!plan) return fail(plan.error());
  Reading reading{.mend = std::move(*plan)};
  if (want.layered) {
    for (const Part part : kParts)
      reading.parts.push_back(
          {part, PartState::kUnsupported,
           "layers (port.NAME.layers) need more traffic classes than SONiC has"});
    return reading;
  }
  for (const Part part : kParts) {
    PartReading read{.part = part, .state = PartState::kDone};
    const auto change = std::ranges::find(reading.mend.changes, part, &Change::part);
    if (change != reading.mend.changes.end()) {
      read.state = PartState::kMissing;
      read.text =
          change->action == Action::kAdd ? "not there" : "another than the one wanted is there";
    } else if (const auto why = ignored(port.name, part)) {
      read.state = is_fresh(port.name) ? PartState::kMissing : PartState::kBypassed;
      read.text = is_fresh(port.name)
                      ? fmt::format("{} is written, and not in the ASIC yet", *why)
                      : fmt::format(
                            "{} is ignored: no SAI object says the same 5 s after it was "
                            "written: see orchagent's log, and whether this release and "
                            "ASIC take the table",
                            *why);
    }
    reading.parts.push_back(std::move(read));
  }
  return reading;
}

void Sonic::write(const PortPlan& plan, std::set<std::string>& written,
                  std::vector<sonic::Redis::Command>& commands) {
  const std::string& port = plan.port.name;
  const auto& maps = maps_of(*plan.want);
  if (!maps) return;  // it was planned, so there are some
  const std::string key = std::string(kPortMaps) + port;
  const Row* there = row(key);
  if (!is_ours(port)) {
    sonic::Redis::Command keep{"HSET", std::string(kOriginals) + port};
    const Row* before = originals_of(there);
    for (const sonic::Field& f : sonic::kFields) {
      const bool had = before != nullptr && before->contains(f.name);
      keep.insert(keep.end(), {f.name, had ? before->at(f.name) : ""});
    }
    commands.push_back(std::move(keep));
  }
  for (const auto& [name, wanted] : maps->rows) {
    const Row* map = row(name);
    if ((map != nullptr && *map == wanted) || !written.insert(name).second) continue;
    sonic::Redis::Command set{"HSET", name};
    for (const auto& [k, v] : wanted) set.insert(set.end(), {k, v});
    commands.push_back(std::move(set));
    for (const auto& [k, v] : map != nullptr ? *map : Row{})
      if (!wanted.contains(k)) commands.push_back({"HDEL", name, k});
  }
  sonic::Redis::Command set{"HSET", key};
  sonic::Redis::Command unset{"HDEL", key};
  sonic::Redis::Command ours{"HSET", std::string(kOriginals) + port};
  const Row* noted = row(ours.back());
  for (const sonic::Field& f : sonic::kFields) {
    const std::string& wanted = maps->port.at(f.name);
    const std::string note = kOurs + std::string(f.name);
    if (*f.table == '\0' &&
        (noted == nullptr || !noted->contains(note) || noted->at(note) != wanted))
      ours.insert(ours.end(), {note, wanted});
    if (field(port, f.name) == wanted) continue;
    if (*f.table == '\0') watchdogs_.insert(port);
    if (wanted.empty())
      unset.emplace_back(f.name);
    else
      set.insert(set.end(),
                 {f.name, brackets_ && *f.table != '\0' ? fmt::format("[{}|{}]", f.table, wanted)
                                                        : wanted});
  }
  if (set.size() > 2) commands.push_back(std::move(set));
  if (unset.size() > 2) commands.push_back(std::move(unset));
  if (ours.size() > 2) commands.push_back(std::move(ours));
}

bool Sonic::holds_ours(const std::string& port, const sonic::Field& f) const {
  const std::string now = field(port, f.name);
  if (*f.table != '\0') return names_ours(now) || (now.empty() && sonic::may_lack(f));
  const Row* noted = row(std::string(kOriginals) + port);
  const auto ours = noted->find(kOurs + std::string(f.name));
  return ours == noted->end() || now == ours->second;
}

void Sonic::restore(const std::string& port, std::vector<sonic::Redis::Command>& commands) const {
  const Row* originals = row(std::string(kOriginals) + port);
  if (originals == nullptr) return;
  const bool there = row(std::string(kPortMaps) + port) != nullptr;
  for (const sonic::Field& f : sonic::kFields) {
    // What somebody has set since is his, and so is that he took the row away.
    if (!there || !holds_ours(port, f)) continue;
    const auto before = originals->find(f.name);
    if (before != originals->end() && !before->second.empty())
      commands.push_back({"HSET", std::string(kPortMaps) + port, f.name, before->second});
    else
      commands.push_back({"HDEL", std::string(kPortMaps) + port, f.name});
  }
  commands.push_back({"DEL", std::string(kOriginals) + port});
  if (auto touch = touch_watchdog(port)) commands.push_back(std::move(*touch));
}

std::optional<sonic::Redis::Command> Sonic::touch_watchdog(const std::string& port) const {
  const std::string key = std::string(kWatchdogs) + port;
  const Row* watchdog = row(key);
  if (watchdog == nullptr || watchdog->empty()) return std::nullopt;
  sonic::Redis::Command command{"HSET", key};
  for (const auto& [name, value] : *watchdog) command.insert(command.end(), {name, value});
  return command;
}

void Sonic::apply(const Plan& plan) {
  std::vector<sonic::Redis::Command> commands;
  std::set<std::string> written;
  std::set<std::string> removed;
  std::vector<Outcome> outcomes;
  for (const PortPlan& port : plan.ports) {
    outcomes.push_back({.port = port.port.ifindex});
    if (down_) {
      outcomes.back().why = down_;
      continue;
    }
    const auto left = plan_from(port.port, port.want);
    if (!left) {
      outcomes.back().why = left.error();
    } else if (!left->empty()) {
      if (port.want)
        write(*left, written, commands);
      else
        restore(port.port.name, commands);
      if (!port.want) removed.insert(port.port.name);
      written_[port.port.name] = Clock::now();
    }
  }
  if (commands.empty()) {
    std::ranges::move(outcomes, std::back_inserter(events_.outcomes));
    return;
  }
  const bool last = !removed.empty() && written.empty() &&
                    std::ranges::all_of(view_.config, [&](const auto& entry) {
                      return !entry.first.starts_with(kOriginals) ||
                             removed.contains(entry.first.substr(kOriginals.size()));
                    });
  if (last)
    for (const auto& [key, row] : view_.config)
      if (key.find("_MAP|LLDP_LEVEL") != key.npos) commands.push_back({"DEL", key});
  for (const Outcome& outcome : outcomes) applying_.insert(outcome.port);
  set_timer(kPatience);
  select("CONFIG_DB");
  redis_.send({"MULTI"}, [](const redisReply*) {});
  for (const auto& command : commands) redis_.send(command, [](const redisReply*) {});
  redis_.send({"EXEC"}, [this, outcomes](const redisReply* reply) {
    if (reply == nullptr) return;  // lost() has said so
    for (Outcome outcome : outcomes) {
      applying_.erase(outcome.port);
      if (const redisReply* refusal = refusal_in(reply); refusal != nullptr && !outcome.why)
        outcome.why = Error{0, "backend sonic", "Redis refuses the change: " + text_of(refusal)};
      changed_.push_back(std::move(outcome));
    }
    refresh();
  });
}

Result<std::vector<PortRef>> Sonic::ports() {
  if (down_) return fail(*down_);
  std::vector<PortRef> ports;
  for (const auto& [key, unused] : view_.config) {
    if (!key.starts_with(kOriginals)) continue;
    const std::string name = key.substr(kOriginals.size());
    const auto known = numbers_.find(name);
    ports.push_back({known != numbers_.end()
                         ? known->second
                         : Ifindex::make(::if_nametoindex(name.c_str())).value_or(Ifindex()),
                     name});
  }
  std::ranges::sort(ports);
  return ports;
}

}  // namespace lldp::dataplane
