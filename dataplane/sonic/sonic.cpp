// SPDX-License-Identifier: Apache-2.0
#include "dataplane/sonic/sonic.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <net/if.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.hpp"
#include "dataplane/sonic/platform.hpp"
#include "os/file.hpp"
#include "os/poll_set.hpp"

namespace lldp::dataplane {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using sonic::Row;
using sonic::text_of;

constexpr auto kPeriod = 5s;   ///< between two readings
constexpr auto kGrace = 5s;    ///< for orchagent to make what was written
constexpr auto kSoon = 100ms;  ///< between two readings while it does
constexpr auto kFirstTry = 100ms;
constexpr auto kLastTry = 5s;
constexpr unsigned kCollisions = 5;  ///< with others who write, until that is said

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

/// Writes a watchdog's row as it is, so that nobody's change is lost, for what follows it takes the
/// priorities only then; and strikes out the note that this is to be done.
constexpr const char* kTouch =
    "local r = redis.call('HGETALL', KEYS[1]) "
    "if #r > 0 then redis.call('HSET', KEYS[1], unpack(r)) end "
    "redis.call('HDEL', KEYS[2], ARGV[1])";

sonic::Redis::Command touch(const std::string& port) {
  return {"EVAL",
          kTouch,
          "2",
          std::string(sonic::kWatchdogs) + port,
          std::string(sonic::kOriginals) + port,
          sonic::kTouchDue};
}

/// The reply itself, or the first part of it, that is no consent to a transaction.
const redisReply* refusal_in(const redisReply* reply) {
  if (reply->type != REDIS_REPLY_ARRAY) return reply;
  for (std::size_t i = 0; i < reply->elements; ++i)
    if (reply->element[i]->type == REDIS_REPLY_ERROR) return reply->element[i];
  return nullptr;
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
    const json config = parse_json<json>(*file);
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

Sonic::Sonic(std::string redis_at, std::map<std::string, int> databases, Clock::duration patience,
             UniqueFd poll, Timer timer)
    : redis_at_(std::move(redis_at)),
      patience_(patience),
      poll_(std::move(poll)),
      timer_(std::move(timer)),
      redis_(poll_.get(), [this](const Error& why) { lost(why); }),
      reader_(
          redis_, std::move(databases),
          [this](sonic::View view, std::optional<sonic::Reader::Counted> counted) {
            read_done(std::move(view), std::move(counted));
          },
          [this](const std::string& why) {
            redis_.disconnect();
            lost({.what = why});
          }) {}

Result<std::unique_ptr<Backend>> Sonic::open(const SonicOptions& options) {
  auto databases = find_databases(options);
  if (!databases) return fail(databases.error());
  Timer timer;
  auto poll = make_poll_set("backend sonic", {{timer.fd()}});
  if (!poll) return fail(poll.error());
  std::unique_ptr<Sonic> self(new Sonic(std::move(databases->redis), std::move(databases->numbers),
                                        options.answer, std::move(*poll), std::move(timer)));
  // A moment for the answer: what is there shall be known before the first plan.
  self->connect();
  const auto until = Clock::now() + options.opening;
  while (self->reader_.busy()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (left <= 0ms) break;
    pollfd ready{.fd = self->poll_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, static_cast<int>(left.count())) <= 0) break;
    Events told = self->take_events();
    if (!told.changed.empty()) self->events_.changed = {Ifindex()};
  }
  if (self->reader_.busy())
    self->down_ =
        Error{0, "backend sonic", "Redis at " + self->redis_at_ + " has not answered yet"};
  return self;
}

std::string Sonic::description() const {
  unsigned taken = 0;
  for (const std::string& port : view_.our_ports()) taken |= view_.pfc_taken(port);
  return "QoS maps in CONFIG_DB of Redis at " + redis_at_ + map_notes(collapsed_, taken);
}

void Sonic::connect() {
  timer_.set(patience_);
  redis_.connect(redis_at_);
  if (redis_.connected()) refresh();
}

void Sonic::lost(const Error& why) {
  reader_.stop();
  down_ = Error{why.code, "backend sonic",
                fmt::format("Redis at {}: {}: see whether it runs, and whether we may connect",
                            redis_at_, why.what)};
  for (const Outcome& outcome : std::exchange(changed_, {}))
    events_.outcomes.push_back({.port = outcome.port, .why = down_});
  for (const Ifindex port : std::exchange(applying_, {}))
    events_.outcomes.push_back({.port = port, .why = down_});
  for (const PortPlan& plan : std::exchange(waiting_, {}))
    events_.outcomes.push_back({.port = plan.port.ifindex, .why = down_});
  events_.changed.emplace_back();
  pause_ = std::clamp<Clock::duration>(pause_ * 2, kFirstTry, kLastTry);
  timer_.set(pause_);
}

void Sonic::on_timer() {
  if (!redis_.connected()) return connect();
  if (redis_.waiting() == 0 && !reader_.busy()) return refresh();
  redis_.disconnect();
  lost({.what = fmt::format("no answer within {} s",
                            std::chrono::duration<double>(patience_).count())});
}

Events Sonic::take_events() {
  for (int i = 0; i < 16; ++i) {
    std::array<epoll_event, 2> ready{};
    const int n = ::epoll_wait(poll_.get(), ready.data(), ready.size(), 0);
    if (n <= 0) break;
    for (int k = 0; k < n; ++k) {
      if (ready[static_cast<std::size_t>(k)].data.ptr != nullptr)
        redis_.handle(ready[static_cast<std::size_t>(k)].events);
      else if (timer_.take())
        on_timer();
    }
  }
  return std::exchange(events_, {});
}

void Sonic::refresh() {
  timer_.set(patience_);
  watched_.clear();
  sonic::Redis::Command rows;
  for (const PortPlan& plan : waiting_) {
    watched_.insert(plan.port.name);
    for (const std::string_view table : {sonic::kPortMaps, sonic::kOriginals})
      rows.push_back(std::string(table) + plan.port.name);
  }
  // Counters are many: no change waits for them.
  reader_.start(rows, waiting_.empty() && Clock::now() >= counted_at_ + kPeriod);
}

void Sonic::read_done(sonic::View view, std::optional<sonic::Reader::Counted> counted) {
  if (counted) {
    counted_ = std::move(*counted);
    counted_at_ = Clock::now();
    for (const auto& [port, carried] : counted_)
      losses_[port].take(carried.lost.frames, counted_at_);
  }
  const bool was_down = std::exchange(down_, std::nullopt).has_value();
  pause_ = {};
  std::map<std::string, std::string> ignoring;
  const bool differs = view != view_;
  if (differs) {
    view_ = std::move(view);
    platform_ = sonic::platform_of(view_);
    maps_.clear();
    brackets_ = std::ranges::any_of(view_.config, [](const auto& entry) {
      return entry.first.starts_with(sonic::kPortMaps) &&
             std::ranges::any_of(entry.second,
                                 [](const auto& f) { return f.second.starts_with('['); });
    });
  }
  bool waiting = false;
  for (const std::string& port : view_.our_ports()) {
    for (const Part part : kParts)
      if (const auto why = view_.ignored(port, part)) {
        waiting |= is_fresh(port);
        ignoring[port] += *why + (is_fresh(port) ? "?" : "!");
      }
  }
  if (differs || was_down || ignoring != told_) events_.changed.emplace_back();
  told_ = std::move(ignoring);
  std::ranges::move(std::exchange(changed_, {}), std::back_inserter(events_.outcomes));
  if (std::ranges::any_of(waiting_, [&](const PortPlan& plan) {
        return !watched_.contains(plan.port.name);  // it has come meanwhile
      }))
    return refresh();
  if (waiting_.empty()) touch_watchdogs();
  timer_.set(waiting ? Clock::duration(kSoon) : Clock::duration(kPeriod));
  write_waiting();
}

bool Sonic::is_fresh(const std::string& port) const {
  const auto at = written_.find(port);
  return at != written_.end() && Clock::now() < at->second + kGrace;
}

const Result<sonic::Maps>& Sonic::maps_of(const qos::Ruleset& rules) {
  const auto known = std::ranges::find(maps_, rules, [](const auto& entry) { return entry.first; });
  if (known != maps_.end()) return known->second;
  return maps_.emplace_back(rules, sonic::maps_of(rules, view_.before())).second;
}

std::string Sonic::alias(const PortRef& port) const {
  const Row* known = view_.row("PORT|" + port.name);
  const auto at = known != nullptr ? known->find("alias") : Row::const_iterator{};
  return known != nullptr && at != known->end() && at->second != port.name ? at->second
                                                                           : std::string();
}

qos::Carried Sonic::carried(const PortRef& port) const {
  const auto at = counted_.find(port.name);
  if (at == counted_.end()) return {};
  qos::Carried carried = at->second;
  carried.lost.ago = losses_.at(port.name).ago(Clock::now());
  return carried;
}

std::string Sonic::displaced(const PortRef& port) const {
  const unsigned taken = view_.pfc_taken(port.name);
  return taken == 0 ? std::string() : pfc_taken_text(taken);
}

std::optional<std::string> Sonic::why_never(const qos::Ruleset& rules) const {
  if (!rules.layered) return std::nullopt;
  return "layers (port.NAME.layers) need more traffic classes than SONiC has";
}

Result<void> Sonic::find_port(const PortRef& port) const {
  if (view_.row("PORT|" + port.name) != nullptr) return {};
  return fail(
      Error{0, port.name, "SONiC's CONFIG_DB has no PORT of that name: leave it out of `ports`"});
}

Result<void> Sonic::can_restore(const std::string& port) const {
  if (!view_.is_ours(port) || view_.is_noted(port) ||
      view_.originals_of(view_.row(std::string(sonic::kPortMaps) + port)) != nullptr)
    return {};
  return fail(Error{0, port,
                    "what its row of PORT_QOS_MAP was before the rules is not known, for the notes "
                    "(LLDP_LEVEL|*) are gone, and no other port tells: `config qos reload` makes "
                    "it anew"});
}

Result<std::vector<Dscp>> Sonic::collapsed_by(const qos::Ruleset& rules) {
  const auto& maps = maps_of(rules);
  if (!maps) return fail(maps.error());
  return maps->collapsed;
}

bool Sonic::is_set(const std::string& port, Part part, const qos::Ruleset& rules) {
  const auto& maps = maps_of(rules);
  return maps && std::ranges::all_of(sonic::kFields, [&](const sonic::Field& f) {
           if (f.part != part) return true;
           const std::string& wanted = maps->port.at(f.name);
           if (view_.field(port, f.name) != wanted) return false;
           if (!f.map || wanted.empty()) return true;
           const std::string key = std::string(f.table) + "|" + wanted;
           const Row* there = view_.row(key);
           return there != nullptr && *there == maps->rows.at(key);
         });
}

std::optional<PartReading> Sonic::why_not_done(const std::string& port, Part part,
                                               const qos::Ruleset& rules, bool set) {
  const auto table = set ? view_.ignored(port, part) : std::nullopt;
  if (!table) {
    const auto& maps = maps_of(rules);
    const bool lossy = set && part == Part::kRemap && maps && maps->last_hop_lossy;
    return lossy ? std::optional(last_hop_lossy(part)) : std::nullopt;
  }
  const bool fresh = is_fresh(port);
  PartReading read{.part = part, .state = fresh ? PartState::kMissing : PartState::kBypassed};
  if (!view_.asic.contains(port))
    read.text = fresh
                    ? fmt::format("the port is not in the ASIC yet ({})", *table)
                    : fmt::format("the port is not in the ASIC ({}): see orchagent's log", *table);
  else if (fresh)
    read.text = fmt::format("{} is written, and not in the ASIC yet", *table);
  else
    read.text = fmt::format(
        "{} is ignored: no SAI object says the same 5 s after it was written: see orchagent's "
        "log, and whether this release and ASIC take the table",
        *table);
  return read;
}

Result<PortPlan> Sonic::plan(const PortRef& port, const qos::Ruleset& want) {
  return plan_from(port, want);
}

Result<PortPlan> Sonic::plan_removal(const PortRef& port) { return plan_from(port, std::nullopt); }

Result<Reading> Sonic::verify(const PortRef& port, const qos::Ruleset& want) {
  numbers_.note(port);
  return read_maps(*this, port, want, collapsed_);
}

void Sonic::write(const PortPlan& plan, std::set<std::string>& written,
                  std::vector<sonic::Redis::Command>& commands) {
  const std::string& port = plan.port.name;
  const auto& maps = maps_of(*plan.want);
  if (!maps) return;  // it was planned, so there are some
  const std::string key = std::string(sonic::kPortMaps) + port;
  const Row* there = view_.row(key);
  if (!view_.is_noted(port)) {
    sonic::Redis::Command keep{"HSET", std::string(sonic::kOriginals) + port};
    const Row* before = view_.originals_of(there);
    for (const sonic::Field& f : sonic::kFields) {
      const bool had = before != nullptr && before->contains(f.name);
      keep.insert(keep.end(), {f.name, had ? before->at(f.name) : ""});
    }
    commands.push_back(std::move(keep));
  }
  for (const auto& [name, wanted] : maps->rows) {
    const Row* map = view_.row(name);
    if ((map != nullptr && *map == wanted) || !written.insert(name).second) continue;
    sonic::Redis::Command set{"HSET", name};
    for (const auto& [k, v] : wanted) set.insert(set.end(), {k, v});
    commands.push_back(std::move(set));
    for (const auto& [k, v] : map != nullptr ? *map : Row{})
      if (!wanted.contains(k)) commands.push_back({"HDEL", name, k});
  }
  sonic::Redis::Command set{"HSET", key};
  sonic::Redis::Command unset{"HDEL", key};
  sonic::Redis::Command ours{"HSET", std::string(sonic::kOriginals) + port};
  const Row* noted = view_.row(ours.back());
  // Other priorities; or whoever took away the row that says what was there took the note along.
  bool others = !view_.is_noted(port);
  for (const sonic::Field& f : sonic::kFields) {
    const std::string& wanted = maps->port.at(f.name);
    const std::string note = sonic::note_of(f);
    if (!f.map && (noted == nullptr || !noted->contains(note) || noted->at(note) != wanted))
      ours.insert(ours.end(), {note, wanted});
    if (view_.field(port, f.name) == wanted) continue;
    others |= !f.map;
    if (wanted.empty())
      unset.emplace_back(f.name);
    else
      set.insert(set.end(),
                 {f.name, brackets_ && f.map ? fmt::format("[{}|{}]", f.table, wanted) : wanted});
  }
  if (others && view_.row(std::string(sonic::kWatchdogs) + port) != nullptr)
    ours.insert(ours.end(), {sonic::kTouchDue, "due"});
  if (set.size() > 2) commands.push_back(std::move(set));
  if (unset.size() > 2) commands.push_back(std::move(unset));
  if (ours.size() > 2) commands.push_back(std::move(ours));
}

void Sonic::restore(const std::string& port, std::vector<sonic::Redis::Command>& commands) const {
  const Row* there = view_.row(std::string(sonic::kPortMaps) + port);
  const Row* noted = view_.row(std::string(sonic::kOriginals) + port);
  const Row* originals = noted != nullptr ? noted : view_.originals_of(there);
  for (const sonic::Field& f : sonic::kFields) {
    // What somebody has set since is his, and so is that he took the row away.
    if (there == nullptr || !view_.holds_ours(port, f)) continue;
    const auto before = originals != nullptr ? originals->find(f.name) : Row::const_iterator{};
    if (originals != nullptr && before != originals->end() && !before->second.empty())
      commands.push_back({"HSET", std::string(sonic::kPortMaps) + port, f.name, before->second});
    else
      commands.push_back({"HDEL", std::string(sonic::kPortMaps) + port, f.name});
  }
  if (noted != nullptr) commands.push_back({"DEL", std::string(sonic::kOriginals) + port});
  if (view_.row(std::string(sonic::kWatchdogs) + port) != nullptr) commands.push_back(touch(port));
}

void Sonic::touch_watchdogs() {
  bool selected = false;
  for (const std::string& port : view_.our_ports()) {
    // The watchdog goes by the mask that the port has in the ASIC when its row is written.
    const Row* noted = view_.row(std::string(sonic::kOriginals) + port);
    if (noted == nullptr || !noted->contains(sonic::kTouchDue) || view_.ignored(port, Part::kPfc))
      continue;
    if (!std::exchange(selected, true)) reader_.select("CONFIG_DB");
    redis_.send(touch(port), [](const redisReply*) {});
  }
}

void Sonic::apply(const Plan& plan) {
  if (down_) {
    for (const PortPlan& port : plan.ports)
      events_.outcomes.push_back({.port = port.port.ifindex, .why = down_});
    return;
  }
  waiting_.insert(waiting_.end(), plan.ports.begin(), plan.ports.end());
  if (applying_.empty() && !reader_.busy()) refresh();
}

void Sonic::write_waiting() {
  std::vector<PortPlan> plans = std::exchange(waiting_, {});
  std::vector<sonic::Redis::Command> commands;
  std::set<std::string> written;
  std::set<std::string> removed;
  bool comes = false;  // some port has rules then
  std::vector<Outcome> outcomes;
  for (const PortPlan& port : plans) {
    outcomes.push_back({.port = port.port.ifindex, .in_force = false});  // orchagent has a part
    const auto left = plan_from(port.port, port.want);
    if (!left) {
      outcomes.back().why = left.error();
    } else if (!left->empty()) {
      if (port.want)
        write(*left, written, commands);
      else
        restore(port.port.name, commands);
      if (!port.want) removed.insert(port.port.name);
      comes |= port.want.has_value();
      written_[port.port.name] = Clock::now();
    }
  }
  if (commands.empty()) {
    std::ranges::move(outcomes, std::back_inserter(events_.outcomes));
    return;
  }
  const bool last =
      !removed.empty() && !comes &&
      std::ranges::all_of(view_.our_ports(), [&](const auto& p) { return removed.contains(p); });
  if (last)
    for (const auto& [key, row] : view_.config)
      if (const auto bar = key.find("_MAP|");
          bar != key.npos && sonic::is_our_map(std::string_view(key).substr(bar + 5)))
        commands.push_back({"DEL", key});
  for (const Outcome& outcome : outcomes) applying_.insert(outcome.port);
  timer_.set(patience_);
  // Of a command that Redis does not even queue it gives the reason there, and none at the end.
  const auto refusal = std::make_shared<std::string>();
  const auto queued = [refusal](const redisReply* reply) {
    if (reply != nullptr && reply->type == REDIS_REPLY_ERROR && refusal->empty())
      *refusal = text_of(reply);
  };
  reader_.select("CONFIG_DB");
  redis_.send({"MULTI"}, queued);
  for (const auto& command : commands) redis_.send(command, queued);
  redis_.send({"EXEC"}, [this, refusal, plans = std::move(plans),
                         outcomes = std::move(outcomes)](const redisReply* reply) {
    if (reply != nullptr) take_answer(*reply, *refusal, plans, outcomes);  // else lost() says so
  });
}

void Sonic::take_answer(const redisReply& answer, const std::string& refusal,
                        std::vector<PortPlan> plans, std::vector<Outcome> outcomes) {
  applying_.clear();
  std::optional<Error> why;
  if (answer.type == REDIS_REPLY_NIL) {
    if (++collisions_ < kCollisions) {  // what it was made by is no more: once again
      waiting_.insert(waiting_.begin(), plans.begin(), plans.end());
      return refresh();
    }
    why = Error{0, "backend sonic",
                "another client keeps changing the same rows of PORT_QOS_MAP (5 attempts failed): "
                "find it with `redis-cli client list`"};
  } else if (const redisReply* refused = refusal_in(&answer); refused != nullptr) {
    why = Error{0, "backend sonic",
                "Redis refuses the change: " + (refusal.empty() ? text_of(refused) : refusal)};
  }
  collisions_ = 0;
  for (Outcome& outcome : outcomes) {
    if (!outcome.why) outcome.why = why;
    changed_.push_back(std::move(outcome));
  }
  refresh();
}

Result<std::vector<PortRef>> Sonic::ports() {
  if (down_) return fail(*down_);
  return numbers_.ports(view_.our_ports());
}

}  // namespace lldp::dataplane
