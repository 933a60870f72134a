// SPDX-License-Identifier: Apache-2.0
#include "dataplane/sonic/sonic.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <utility>

#include "dataplane/sonic/databases.hpp"
#include "dataplane/sonic/platform.hpp"
#include "dataplane/sonic/writer.hpp"
#include "os/file.hpp"
#include "os/poll_set.hpp"

namespace lldp::dataplane {
namespace {

using namespace std::chrono_literals;
using sonic::Row;
using sonic::text_of;

constexpr auto kFirstTry = 100ms;
constexpr auto kLastTry = 5s;

/// What an earlier process has kept of ports.
Result<sonic::Memory> read_notes(const std::string& path) {
  if (path.empty()) return sonic::Memory();
  const auto file = read_file(path);
  if (!file && file.error().code == ENOENT) return sonic::Memory();
  auto notes = file ? sonic::parse_memory(*file) : fail(file.error());
  if (notes) return notes;
  return fail(Error{notes.error().code, path,
                    notes.error().what +
                        ": what ports had before the rules is kept there; if it cannot be mended: "
                        "remove it, then `config qos reload`"});
}

}  // namespace

Sonic::Sonic(SonicOptions options, std::string redis_at, std::map<std::string, int> databases,
             sonic::Memory notes, UniqueFd poll, Timer timer)
    : options_(std::move(options)),
      redis_at_(std::move(redis_at)),
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
          }) {
  view_.notes = std::move(notes);
}

Result<std::unique_ptr<Backend>> Sonic::open(const SonicOptions& options) {
  auto databases = sonic::find_databases(options.config, options.redis);
  if (!databases) return fail(databases.error());
  auto notes = read_notes(options.memory);
  if (!notes) return fail(notes.error());
  Timer timer;
  auto poll = make_poll_set("backend sonic", {{timer.fd()}});
  if (!poll) return fail(poll.error());
  std::unique_ptr<Sonic> self(new Sonic(options, std::move(databases->redis),
                                        std::move(databases->numbers), std::move(*notes),
                                        std::move(*poll), std::move(timer)));
  // Wait a moment for the first reading: the first plan needs it.
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
  std::string text = "QoS maps in CONFIG_DB of Redis at " + redis_at_;
  if (unkept_)
    text += "; what ports had before cannot be kept in " + options_.memory + ": " + unkept_->what;
  return text + map_notes(costs_, taken);
}

void Sonic::connect() {
  timer_.set(options_.answer);
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
  for (auto* plans : {&waiting_, &held_})
    for (const PortPlan& plan : std::exchange(*plans, {}))
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
                            std::chrono::duration<double>(options_.answer).count())});
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
  timer_.set(options_.answer);
  watched_.clear();
  sonic::Redis::Command rows;
  for (const PortPlan& plan : waiting_) {
    watched_.insert(plan.port.name);
    rows.push_back(std::string(sonic::kPortMaps) + plan.port.name);
  }
  if (!rows.empty()) rows.emplace_back(sonic::kLosslessPool);
  // Counters are many: a waiting change is written first.
  reader_.start(rows, view_.notes,
                waiting_.empty() && Clock::now() >= counted_at_ + options_.times.period);
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
  view.notes = view_.notes;
  const bool differs = view != view_;
  if (differs) {
    const sonic::View before = std::exchange(view_, std::move(view));
    const auto buffers_before = std::exchange(buffers_, sonic::PortBuffers(view_.config));
    note_changes(before, buffers_before);
    platform_ = sonic::platform_of(view_);
    maps_.clear();
  }
  if (move_old_notes()) return refresh();
  std::map<std::string, std::string> ignoring;
  hold_back();
  bool waiting = !view_.leaving_ports().empty() || !held_.empty();
  for (const std::string& port : view_.our_ports()) {
    const sonic::Row* noted = view_.note(port);
    waiting |= noted != nullptr && noted->contains(sonic::kStepPfc) && is_fresh(port);
    waiting |= noted != nullptr && noted->contains(sonic::kAgain);
    for (const Part part : kParts)
      if (const auto why = why_not(port, part)) {
        waiting |= is_fresh(port);
        ignoring[port] += *why + (is_fresh(port) ? "?" : "!");
      }
  }
  if (differs || was_down || ignoring != told_) events_.changed.emplace_back();
  told_ = std::move(ignoring);
  if (std::ranges::any_of(waiting_, [&](const PortPlan& plan) {
        return !watched_.contains(plan.port.name);  // the plan came after the reading began
      })) {
    tell_outcomes();
    return refresh();
  }
  if (waiting_.empty() && follow_asic()) return refresh();
  tell_outcomes();
  timer_.set(waiting ? options_.times.soon : options_.times.period);
  write_waiting();
}

std::optional<std::string> Sonic::why_not(const std::string& port, Part part) const {
  if (auto table = view_.ignored(port, part)) return table;
  const sonic::Row* noted = view_.note(port);
  return sonic::buffer_fault(view_, buffers_, port, part,
                             sonic::mask_of_list(sonic::value_of(noted, sonic::kSetPfc)));
}

void Sonic::note_changes(const sonic::View& before, const sonic::PortBuffers& buffers_before) {
  const Clock::time_point now = Clock::now();
  if (view_.config != before.config) config_changed_ = now;
  if (buffers_ != buffers_before || view_.buffers != before.buffers) buffers_changed_ = now;
  if (!buffers_.has_pool()) return loaded_.clear();  // nothing is written anyway
  std::erase_if(loaded_, [&](const auto& port) { return !view_.is_being_loaded(port.first); });
  for (const std::string& port : view_.our_ports())
    if (view_.is_being_loaded(port)) loaded_.try_emplace(port, now);
}

bool Sonic::is_whole(const std::string& port) const {
  const auto loaded = loaded_.find(port);
  const Clock::time_point now = Clock::now();
  if (loaded == loaded_.end() || now >= loaded->second + options_.times.grace) return true;
  return view_.is_loaded(port) && now >= config_changed_ + options_.times.settle;
}

void Sonic::hold_back() {
  std::vector<PortPlan> plans = std::exchange(held_, {});
  std::ranges::move(std::exchange(waiting_, {}), std::back_inserter(plans));
  for (PortPlan& plan : plans)
    (plan.want && !is_whole(plan.port.name) ? held_ : waiting_).push_back(std::move(plan));
}

bool Sonic::is_fresh(const std::string& port) const {
  const auto at = written_.find(port);
  return at != written_.end() && Clock::now() < at->second + options_.times.grace;
}

const Result<sonic::Maps>& Sonic::maps_of(const qos::Ruleset& rules) {
  const auto known = std::ranges::find(maps_, rules, [](const auto& entry) { return entry.first; });
  if (known != maps_.end()) return known->second;
  return maps_.emplace_back(rules, sonic::maps_of(rules, view_.before(), view_.traffic_classes))
      .second;
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

Result<void> Sonic::accept_pfc(const PortRef& port, bool accept) {
  const Row* noted = view_.note(port.name);
  if (noted == nullptr || !noted->contains(sonic::kSetPfc) || !view_.is_noted(port.name))
    return fail(Error{ENOENT, port.name, "has no rules whose PFC could be accepted"});
  if (accept && view_.pfc_taken(port.name) == 0)
    return fail(Error{0, port.name, "no priority lost its PFC to the rules: nothing to accept"});
  if (!accept && !noted->contains(sonic::kAcceptedPfc))
    return fail(Error{0, port.name, "nothing was accepted: nothing to reject"});
  sonic::Memory notes = view_.notes;
  Row& note = notes.at(port.name);
  if (accept)
    note[sonic::kAcceptedPfc] = note.at(sonic::kSetPfc);
  else
    note.erase(sonic::kAcceptedPfc);
  if (auto kept = keep(std::move(notes)); !kept) return kept;
  if (platform_) platform_ = sonic::platform_of(view_);  // which goes by the originals
  events_.changed.emplace_back();
  return {};
}

std::optional<std::string> Sonic::why_never(const qos::Ruleset& rules) const {
  if (auto release = sonic::release_fault(view_)) return release;
  if (!rules.layered) return std::nullopt;
  return "layers (port.NAME.layers) need more traffic classes than SONiC has";
}

Result<void> Sonic::find_port(const PortRef& port) const {
  if (view_.row("PORT|" + port.name) != nullptr) return {};
  const auto any = view_.config.lower_bound("PORT|");
  if (any == view_.config.end() || !any->first.starts_with("PORT|"))
    return fail(Error{0, port.name,
                      "SONiC's CONFIG_DB has no PORT at all: it is not loaded yet (`config "
                      "reload`), or sonic.config names another Redis"});
  return fail(
      Error{0, port.name, "SONiC's CONFIG_DB has no PORT of that name: leave it out of `ports`"});
}

Result<void> Sonic::can_restore(const std::string& port) const {
  if (!view_.is_ours(port) || view_.is_noted(port) ||
      view_.originals_of(view_.row(std::string(sonic::kPortMaps) + port)) != nullptr)
    return {};
  return fail(Error{0, port,
                    "what its row of PORT_QOS_MAP was before the rules is not known, for " +
                        (options_.memory.empty() ? "the notes" : options_.memory) +
                        " does not say it, and no other port tells: `config qos reload` makes it "
                        "anew"});
}

Result<MapCosts> Sonic::costs_of(const qos::Ruleset& rules) {
  const auto& maps = maps_of(rules);
  if (!maps) return fail(maps.error());
  return maps->costs;
}

bool Sonic::is_step(const std::string& port, const sonic::Field& f, const std::string& wanted,
                    const std::string& now) const {
  const Row* noted = view_.note(port);
  return noted != nullptr && sonic::note_of(f) == sonic::kSetPfc &&
         noted->contains(sonic::kStepPfc) && noted->at(sonic::kStepPfc) == now &&
         sonic::value_of(noted, sonic::kSetPfc) == wanted;
}

bool Sonic::is_set(const std::string& port, Part part, const qos::Ruleset& rules) {
  const auto& maps = maps_of(rules);
  return maps && std::ranges::all_of(sonic::kFields, [&](const sonic::Field& f) {
           if (f.part != part) return true;
           const std::string& wanted = maps->port.at(f.name);
           const std::string now = view_.field(port, f.name);
           if (now != wanted) return is_step(port, f, wanted, now);
           if (!f.map || wanted.empty()) return true;
           const std::string key = std::string(f.table) + "|" + wanted;
           const Row* there = view_.row(key);
           return there != nullptr && *there == maps->rows.at(key);
         });
}

std::optional<PartReading> Sonic::crossing_limit(const qos::Ruleset& in, const qos::Ruleset& out) {
  if (down_ || why_never(out)) return std::nullopt;
  const auto& maps = maps_of(out);
  return maps ? dataplane::crossing_limit(in, out, maps->merged) : std::nullopt;
}

std::optional<PartReading> Sonic::why_not_done(const std::string& port, Part part,
                                               const qos::Ruleset& rules, bool set) {
  if (!set) return std::nullopt;
  const bool fresh = is_fresh(port);
  PartReading read{.part = part, .state = fresh ? PartState::kMissing : PartState::kBypassed};
  if (const auto table = view_.ignored(port, part)) {
    if (!view_.asic.contains(port))
      read.text =
          fresh ? fmt::format("the port is not in the ASIC yet ({})", *table)
                : fmt::format("the port is not in the ASIC ({}): see orchagent's log", *table);
    else if (fresh)
      read.text = fmt::format("{} is written, and not in the ASIC yet", *table);
    else if (const auto [name, absent] = view_.absent_map(port); !absent.empty())
      read.text = fmt::format(
          "PORT_QOS_MAP|{0} names {1}, which CONFIG_DB does not have, and orchagent applies "
          "nothing "
          "of such a row: `config qos reload`, or sonic-db-cli CONFIG_DB hdel 'PORT_QOS_MAP|{0}' "
          "{2}",
          port, absent, name);
    else
      read.text = fmt::format(
          "{} is ignored: no SAI object says the same 5 s after it was written: see orchagent's "
          "log, and whether this release and ASIC take the table",
          *table);
    return read;
  }
  if (auto fault = sonic::buffer_fault(view_, buffers_, port, part, rules.pfc_enable)) {
    read.text = std::move(*fault);
    return read;
  }
  if (auto limit = sonic::buffer_limit(view_, port, part, rules.pfc_enable))
    return PartReading{part, PartState::kLimited, std::move(*limit)};
  if (part != Part::kRemap) return std::nullopt;
  const auto& maps = maps_of(rules);
  if (maps && maps->last_hop_lossy) return last_hop_lossy(part);
  if (!maps || maps->port.at("tc_to_dscp_map").empty() || options_.rewrite_verified ||
      view_.rewrites(port))
    return std::nullopt;
  return rewrite_unverified(part, "TC_TO_DSCP_MAP");
}

Result<PortPlan> Sonic::plan(const PortRef& port, const qos::Ruleset& want) {
  return plan_from(port, want);
}

Result<PortPlan> Sonic::plan_removal(const PortRef& port) { return plan_from(port, std::nullopt); }

Result<Reading> Sonic::verify(const PortRef& port, const qos::Ruleset& want) {
  numbers_.note(port);
  return read_maps(*this, port, want, costs_);
}

Result<std::vector<PortRef>> Sonic::ports() {
  if (down_) return fail(*down_);
  return numbers_.ports(view_.our_ports());
}

}  // namespace lldp::dataplane
