// SPDX-License-Identifier: Apache-2.0
// What is written to CONFIG_DB, and what is kept of ports before that.
#include <algorithm>
#include <memory>
#include <utility>

#include "dataplane/sonic/databases.hpp"
#include "dataplane/sonic/sonic.hpp"
#include "dataplane/sonic/writer.hpp"
#include "os/file.hpp"

namespace lldp::dataplane {
namespace {

using sonic::Row;
using sonic::text_of;

constexpr unsigned kCollisions = 5;  ///< refused transactions before they are reported

/// The first error in the reply to a transaction: the reply itself, or one of its parts.
const redisReply* refusal_in(const redisReply* reply) {
  if (reply->type != REDIS_REPLY_ARRAY) return reply;
  for (std::size_t i = 0; i < reply->elements; ++i)
    if (reply->element[i]->type == REDIS_REPLY_ERROR) return reply->element[i];
  return nullptr;
}

}  // namespace

Result<void> Sonic::keep(sonic::Memory notes) {
  if (notes == view_.notes) return {};
  unkept_.reset();
  if (!options_.memory.empty())
    if (auto kept = replace_file(options_.memory, notes.empty() ? "" : sonic::format(notes)); !kept)
      unkept_ = Error{kept.error().code, options_.memory,
                      "what ports had before the rules cannot be kept: " + kept.error().what};
  if (unkept_) return fail(*unkept_);
  view_.notes = std::move(notes);
  maps_.clear();
  return {};
}

void Sonic::remember(sonic::Memory notes) {
  if (!keep(notes)) view_.notes = std::move(notes);
}

bool Sonic::move_old_notes() {
  sonic::Memory notes = view_.notes;
  sonic::Redis::Command gone{"DEL"};
  for (auto at = view_.config.lower_bound(std::string(sonic::kOldNotes));
       at != view_.config.end() && at->first.starts_with(sonic::kOldNotes); ++at) {
    // Rows of the same table with our configuration have none of these fields.
    if (!at->second.contains(sonic::kFields[0].name)) continue;
    gone.push_back(at->first);
    notes.try_emplace(at->first.substr(sonic::kOldNotes.size()), at->second);
  }
  if (gone.size() == 1 || !keep(std::move(notes))) return false;
  reader_.select("CONFIG_DB");
  redis_.send(gone, [](const redisReply*) {});
  return true;
}

bool Sonic::follow_asic() {
  const Clock::time_point now = Clock::now();
  sonic::Memory notes = view_.notes;
  std::vector<sonic::Redis::Command> commands;
  // As long as buffers of any port come, the buffer manager has others to make.
  const bool had_time = now >= std::max(started_, buffers_changed_) + options_.times.grace;
  // A deletion that the row follows too soon does not reach orchagent.
  const auto waits = [&](const std::string& port) {
    const auto written = written_.find(port);
    return view_.note(port)->contains(sonic::kAgain) && written != written_.end() &&
           now < written->second + options_.times.settle;
  };
  for (const std::string& port : view_.leaving_ports()) {
    if (waits(port)) continue;
    auto step = sonic::next_last(view_, buffers_, port, !is_fresh(port));
    if (!step) continue;
    if (step->note.empty())
      notes.erase(port);
    else
      notes[port] = std::move(step->note);
    if (!step->commands.empty()) written_[port] = now;
    std::ranges::move(step->commands, std::back_inserter(commands));
  }
  for (const std::string& port : view_.our_ports()) {
    const Row* noted = view_.note(port);
    if (noted != nullptr && waits(port)) continue;
    const auto retry = retries_.find(port);
    const bool may_begin = retry == retries_.end() || now >= retry->second.due;
    const bool settled = !is_fresh(port) && had_time;
    const auto pause = [&] {
      Retry& again = retries_[port];
      again.pause = std::clamp<Clock::duration>(2 * again.pause, options_.times.retry,
                                                16 * options_.times.retry);
      again.due = now + again.pause;
    };
    if (auto again = sonic::next_again(view_, buffers_, port, settled && may_begin)) {
      if (again->note.contains(sonic::kAgain) && !noted->contains(sonic::kAgain)) pause();
      notes[port] = std::move(again->note);
      if (!again->commands.empty()) written_[port] = now;
      std::ranges::move(again->commands, std::back_inserter(commands));
    } else if (const auto step = sonic::next_pfc(view_, buffers_, port, settled, may_begin)) {
      commands.push_back(sonic::command_of(port, *step));
      notes[port].erase(sonic::kStepPfc);
      if (step->again) {
        notes[port][sonic::kStepPfc] = step->to;
        pause();
      }
      written_[port] = now;
    } else if (noted != nullptr && noted->contains(sonic::kTouchDue) &&
               !noted->contains(sonic::kStepPfc) && !view_.ignored(port, Part::kPfc)) {
      // The watchdog goes by the mask that the port has in the ASIC when its row is written.
      if (auto touch = sonic::touch_watchdog(view_, port)) commands.push_back(std::move(*touch));
      notes[port].erase(sonic::kTouchDue);
    }
    if (noted != nullptr &&
        !sonic::buffer_fault(view_, buffers_, port, Part::kPfc,
                             sonic::mask_of_list(sonic::value_of(noted, sonic::kSetPfc))))
      retries_.erase(port);
  }
  // A step that is noted already was lost on its way, or refused: its command goes out again.
  const bool noted = notes != view_.notes;
  if (noted) remember(std::move(notes));
  if (commands.empty()) return noted;
  reader_.select("CONFIG_DB");
  for (const sonic::Redis::Command& command : commands)
    redis_.send(command, [](const redisReply*) {});
  return noted;
}

void Sonic::tell_outcomes() {
  const std::vector<std::string> leaving = view_.leaving_ports();
  std::vector<Outcome> held;
  for (Outcome& outcome : std::exchange(changed_, {})) {
    const bool waits = !outcome.why && std::ranges::any_of(leaving, [&](const std::string& port) {
      return numbers_.find(port) == outcome.port;
    });
    (waits ? held : events_.outcomes).push_back(std::move(outcome));
  }
  changed_ = std::move(held);
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
  sonic::RowWriter writer(view_, buffers_);
  std::set<std::string> removed;
  bool comes = false;  // after this transaction some port has rules
  std::vector<Outcome> outcomes;
  for (const PortPlan& port : plans) {
    outcomes.push_back({.port = port.port.ifindex, .in_force = false});  // orchagent has a part
    const auto left = plan_from(port.port, port.want);
    if (!left) {
      outcomes.back().why = left.error();
    } else if (left->empty()) {
      continue;
    } else if (auto why = writer.why_not_now(port.port.name, port.want.has_value())) {
      outcomes.back().why = std::move(why);
    } else {
      if (!port.want) {
        writer.take_off(port.port.name);
        removed.insert(port.port.name);
      } else if (const auto& maps = maps_of(*port.want); maps) {
        writer.set(port.port.name, *maps);  // it was planned, so there are some
      }
      comes |= port.want.has_value();
      written_[port.port.name] = Clock::now();
    }
  }
  const bool last =
      !removed.empty() && !comes &&
      std::ranges::all_of(view_.our_ports(), [&](const auto& p) { return removed.contains(p); });
  if (last) writer.remove_maps();
  Written written{.plans = std::move(plans),
                  .outcomes = std::move(outcomes),
                  .before = view_.notes,
                  .after = writer.notes_after()};
  if (const auto kept = keep(writer.notes()); !kept) {
    for (Outcome& outcome : written.outcomes)
      if (!outcome.why) outcome.why = kept.error();
    std::ranges::move(written.outcomes, std::back_inserter(events_.outcomes));
    return;
  }
  if (writer.commands().empty()) {
    remember(std::move(written.after));
    std::ranges::move(written.outcomes, std::back_inserter(events_.outcomes));
    return;
  }
  for (const Outcome& outcome : written.outcomes) applying_.insert(outcome.port);
  timer_.set(options_.answer);
  // Redis gives the reason for a command that it does not queue at that command, not at EXEC.
  const auto refusal = std::make_shared<std::string>();
  const auto queued = [refusal](const redisReply* reply) {
    if (reply != nullptr && reply->type == REDIS_REPLY_ERROR && refusal->empty())
      *refusal = text_of(reply);
  };
  reader_.select("CONFIG_DB");
  redis_.send({"MULTI"}, queued);
  for (const auto& command : writer.commands()) redis_.send(command, queued);
  redis_.send({"EXEC"}, [this, refusal, written = std::move(written)](const redisReply* reply) {
    if (reply != nullptr) take_answer(*reply, *refusal, written);  // else lost() says so
  });
}

void Sonic::take_answer(const redisReply& answer, const std::string& refusal, Written written) {
  applying_.clear();
  std::optional<Error> why;
  if (answer.type == REDIS_REPLY_NIL) {
    why = Error{0, "backend sonic",
                "another client keeps changing the same rows of PORT_QOS_MAP (5 attempts failed): "
                "find it with `redis-cli client list`"};
  } else if (const redisReply* refused = refusal_in(&answer); refused != nullptr) {
    why = Error{0, "backend sonic",
                "Redis refuses the change: " + (refusal.empty() ? text_of(refused) : refusal)};
  }
  // An array: the transaction ran, and where a command of it failed the others did not. So rows of
  // ours are there, and their notes stay. If the file cannot be written, it keeps notes of ports
  // without a value of ours in their rows; the next reading finds these notes by the rows.
  if (!why)
    remember(std::move(written.after));
  else if (answer.type != REDIS_REPLY_ARRAY)
    remember(std::move(written.before));
  if (answer.type == REDIS_REPLY_NIL && ++collisions_ < kCollisions) {
    waiting_.insert(waiting_.begin(), written.plans.begin(), written.plans.end());
    return refresh();  // the rows have changed: read and write again
  }
  collisions_ = 0;
  for (Outcome& outcome : written.outcomes) {
    if (!outcome.why) outcome.why = why;
    changed_.push_back(std::move(outcome));
  }
  refresh();
}

}  // namespace lldp::dataplane
