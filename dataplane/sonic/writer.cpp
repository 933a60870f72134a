// SPDX-License-Identifier: Apache-2.0
#include "dataplane/sonic/writer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/text.hpp"

namespace lldp::dataplane::sonic {
namespace {

constexpr std::string_view kPfc = "pfc_enable";

/// Deletes a row and writes it with the same values, in one step, so that no change of another
/// client is lost. SONiC's watchdog replaces a port's priorities only when its row appears; a
/// change of the row only adds to them.
constexpr const char* kMakeAnew =
    "local r = redis.call('HGETALL', KEYS[1]) "
    "if #r > 0 then redis.call('DEL', KEYS[1]) redis.call('HSET', KEYS[1], unpack(r)) end";
constexpr unsigned kTries = 3;  ///< to write rows of BUFFER_PG again
/// Writes the step unless another client has changed or replaced the row, or the buffers are gone.
constexpr const char* kStep =
    "if redis.call('EXISTS', KEYS[1], KEYS[2]) == 2 and "
    "(redis.call('HGET', KEYS[1], 'pfc_enable') or '') == ARGV[1] and "
    "(redis.call('HGET', KEYS[1], 'dscp_to_tc_map') or '') == ARGV[3] then "
    "redis.call('HSET', KEYS[1], 'pfc_enable', ARGV[2]) end";

std::string row_of(std::string_view table, const std::string& port) {
  return std::string(table) + port;
}

bool is_pfc(const Field& f) { return f.name == kPfc; }

/// A port that is down has no lossless buffers on some chips, and needs none.
bool is_up(const View& view, const std::string& port) {
  return value_of(view.row("PORT|" + port), "admin_status") == "up";
}

std::uint8_t without(unsigned mask, unsigned others) {
  return static_cast<std::uint8_t>(mask & ~others);
}

/// The priorities of `mask` whose priority group is not lossless.
std::uint8_t without_group(const View& view, const PortBuffers& buffers, const std::string& port,
                           std::uint8_t mask) {
  return is_up(view, port) ? without(mask, buffers.lossless_groups(port)) : std::uint8_t{0};
}

/// Those of them for which the buffer manager would make a lossless group.
std::uint8_t to_be_made(const View& view, const PortBuffers& buffers, const std::string& port,
                        std::uint8_t mask) {
  return buffers.is_dynamic() ? std::uint8_t{0} : without_group(view, buffers, port, mask);
}

unsigned first_of(std::uint8_t mask) { return static_cast<unsigned>(std::countr_zero(mask)); }

std::string set_queues(const QueueRow& row, const std::string& range, const std::string& profile) {
  return fmt::format("sonic-db-cli CONFIG_DB hset 'BUFFER_QUEUE|{}|{}' profile {}", row.ports,
                     range, profile);
}

/// Why `queue`, one of `mask`, is not lossless by CONFIG_DB, with the commands that mend it.
std::string queue_fault(const PortBuffers& buffers, const std::string& port, std::uint8_t mask,
                        unsigned queue) {
  const std::vector<QueueRow>& rows = buffers.queue_rows(port);
  const auto usual = std::ranges::find(rows, true, &QueueRow::lossless);
  const std::string lossless = usual == rows.end() ? "egress_lossless_profile" : usual->profile;
  const auto lossy = std::ranges::find_if(rows, [&](const QueueRow& row) {
    return !row.lossless && (mask_of_range(row.range) >> queue & 1U) != 0;
  });
  if (lossy == rows.end())
    return fmt::format("BUFFER_QUEUE has no lossless profile for queue {1} of {0}: {2}", port,
                       queue, set_queues({.ports = port}, std::to_string(queue), lossless));
  const unsigned range = mask_of_range(lossy->range);
  const std::string why = fmt::format("BUFFER_QUEUE|{}|{} gives queue {} the profile {}",
                                      lossy->ports, lossy->range, queue, lossy->profile);
  if ((range & ~mask) == 0) return why + ": " + set_queues(*lossy, lossy->range, lossless);
  // orchagent skips a row with an unchanged profile, although the deletion of another row has taken
  // the profile from the queue: the lossless rows in the range go too, and come again.
  unsigned ours = range & mask;
  std::string gone = "del";
  for (const QueueRow& row : rows) {
    if (row.ports != lossy->ports || (mask_of_range(row.range) & range) == 0) continue;
    gone += fmt::format(" 'BUFFER_QUEUE|{}|{}'", row.ports, row.range);
    if (row.lossless) ours |= mask_of_range(row.range);
  }
  std::string commands = "sonic-db-cli CONFIG_DB " + gone;
  for (const std::string& rest : ranges_of(without(range, ours)))
    commands += "; " + set_queues(*lossy, rest, lossy->profile);
  for (const std::string& some : ranges_of(static_cast<std::uint8_t>(ours)))
    commands += "; " + set_queues(*lossy, some, lossless);
  return why + ", and of rows that share a queue any may be applied last: split it: " + commands;
}

/// Priority groups of the port that are lossless by CONFIG_DB and not in the ASIC.
unsigned lost_groups(const View& view, const PortBuffers& buffers, const std::string& port) {
  const auto chip = view.buffers.find(port);
  if (chip == view.buffers.end()) return 0;
  return static_cast<unsigned>(buffers.lossless_groups(port) & chip->second.groups_known) &
         ~static_cast<unsigned>(chip->second.groups_lossless);
}

/// Deletes the rows of BUFFER_PG that have some of `groups`, to be written again. False: none has.
bool delete_groups(const View& view, const PortBuffers& buffers, const std::string& port,
                   unsigned groups, GroupStep& step) {
  std::string again;
  for (const std::string& range : buffers.group_ranges(port)) {
    const std::string key = row_of(kGroupRows, port) + "|" + range;
    const Row* row = view.row(key);
    if ((mask_of_range(range) & groups) == 0 || row == nullptr || row->size() != 1) continue;
    step.commands.push_back({"DEL", key});
    again += (again.empty() ? "" : " ") + range + "=" + value_of(row, "profile");
  }
  if (!again.empty()) step.note[kAgain] = again;
  return !again.empty();
}

/// Writes the rows that were deleted; the note of them stays until they are there.
void write_again(const View& view, const PortBuffers& buffers, const std::string& port,
                 GroupStep& step) {
  for (const std::string& row : split_list(value_of(&step.note, kAgain), ' ')) {
    const auto equals = row.find('=');
    if (equals == row.npos || !buffers.has_pool()) continue;  // all buffers are loaded anew
    const std::string key = row_of(kGroupRows, port) + "|" + row.substr(0, equals);
    if (view.row(key) == nullptr)
      step.commands.push_back({"HSET", key, "profile", row.substr(equals + 1)});
  }
  if (step.commands.empty()) step.note.erase(kAgain);
}

}  // namespace

std::optional<Error> RowWriter::why_not_now(const std::string& port, bool comes) const {
  if (buffers_.has_pool()) return std::nullopt;
  const Field& pfc = *std::ranges::find_if(kFields, is_pfc);  // there is one
  const std::string now = view_.field(port, pfc.name);
  if (!comes && (now.empty() || !view_.holds_ours(port, pfc))) return std::nullopt;
  return Error{0, port,
               fmt::format("CONFIG_DB has no {}: QoS is being loaded anew, or was cleared: nothing "
                           "is written until it is there: `config qos reload`",
                           kLosslessPool)};
}

void RowWriter::keep_originals(const std::string& port, Row& note) const {
  const Row* there = view_.row(row_of(kPortMaps, port));
  const Row* before = view_.originals_of(there);
  for (const Field& f : kFields) note[f.name] = value_of(before, f.name);
  // Groups that the buffer manager made after the port's first rules are no originals.
  const Row* noted = view_.note(port);
  const std::vector<std::string> had = split_list(value_of(noted, kGroups), ' ');
  std::vector<std::string> groups = buffers_.group_ranges(port);
  if (noted != nullptr && noted->contains(kGroups))
    std::erase_if(groups, [&](const std::string& range) {
      return buffers_.is_automatic(port, range) && std::ranges::find(had, range) == had.end();
    });
  note[kGroups] = fmt::format("{}", fmt::join(groups, " "));
  if (before == nullptr) note[kNoRow] = "yes";
}

std::string RowWriter::pfc_to_write(const std::string& port, const std::string& wanted) const {
  const std::string now = view_.field(port, kPfc.data());
  const std::uint8_t lacking = to_be_made(view_, buffers_, port, mask_of_list(wanted));
  if (now == wanted || lacking == 0) return wanted;
  // The buffer manager has to see the present value first, as after `config qos reload`: if the
  // last value that it saw is the wanted one, it would not look at the port.
  const std::uint8_t mask = mask_of_list(now);
  const bool seen = !view_.asic.contains(port) ||  // no rules of ours were there
                    (view_.asic_pfc(port) == mask && to_be_made(view_, buffers_, port, mask) == 0);
  return seen ? wanted : now;
}

void RowWriter::set(const std::string& port, const Maps& maps) {
  const std::string key = row_of(kPortMaps, port);
  Row& note = notes_[port];
  // True if other priorities are written, or if the notes of the port were lost.
  bool others = !view_.is_noted(port);
  if (others || view_.is_made_anew(port) || view_.row(key) == nullptr) {
    // The present values are the originals.
    note.clear();
    keep_originals(port, note);
  } else if (note.contains(kNoRow) && view_.is_loaded(port)) {
    for (const Field& f : kFields)
      note[f.name] = view_.holds_ours(port, f) ? std::string() : view_.field(port, f.name);
    note.erase(kNoRow);
  }
  for (const auto& [name, wanted] : maps.rows) {
    const Row* map = view_.row(name);
    if ((map != nullptr && *map == wanted) || !maps_.insert(name).second) continue;
    Redis::Command set{"HSET", name};
    for (const auto& [k, v] : wanted) set.insert(set.end(), {k, v});
    commands_.push_back(std::move(set));
    for (const auto& [k, v] : map != nullptr ? *map : Row{})
      if (!wanted.contains(k)) commands_.push_back({"HDEL", name, k});
  }
  Redis::Command set{"HSET", key};
  Redis::Command unset{"HDEL", key};
  for (const Field& f : kFields) {
    const std::string& wanted = maps.port.at(f.name);
    if (!f.map) note[note_of(f)] = wanted;
    const std::string value = is_pfc(f) ? pfc_to_write(port, wanted) : wanted;
    if (is_pfc(f)) {
      note.erase(kStepPfc);
      if (value != wanted) note[kStepPfc] = value;
    }
    if (view_.field(port, f.name) == value) continue;
    others |= !f.map;
    if (value.empty())
      unset.emplace_back(f.name);
    else
      set.insert(set.end(), {f.name, value});
  }
  if (others && view_.row(row_of(kWatchdogs, port)) != nullptr) note[kTouchDue] = "due";
  if (set.size() > 2) commands_.push_back(std::move(set));
  if (unset.size() > 2) commands_.push_back(std::move(unset));
}

void RowWriter::take_off(const std::string& port) {
  const std::string key = row_of(kPortMaps, port);
  const Row* there = view_.row(key);
  const Row* noted = view_.note(port);
  const Row* originals = noted != nullptr ? noted : view_.originals_of(there);
  std::string pfc = value_of(there, std::string(kPfc));
  for (const Field& f : kFields) {
    // Do not restore a field that another client changed after us, nor a row that it deleted.
    if (there == nullptr || !view_.holds_ours(port, f)) continue;
    std::string before;
    if (originals != nullptr)
      before = is_pfc(f) ? view_.original_pfc(*originals) : value_of(originals, f.name);
    if (is_pfc(f)) pfc = before;
    if (before.empty())
      commands_.push_back({"HDEL", key, f.name});
    else
      commands_.push_back({"HSET", key, f.name, before});
  }
  std::vector<std::string> taken;
  if (noted != nullptr && noted->contains(kGroups)) {
    const std::vector<std::string> had = split_list(noted->at(kGroups), ' ');
    for (const std::string& range : buffers_.group_ranges(port)) {
      if (!buffers_.is_automatic(port, range) || std::ranges::find(had, range) != had.end() ||
          without(mask_of_range(range), mask_of_list(pfc)) == 0)
        continue;
      commands_.push_back({"DEL", row_of(kGroupRows, port) + "|" + range});
      taken.push_back(range);
    }
  }
  const bool watched = view_.row(row_of(kWatchdogs, port)) != nullptr;
  if (taken.empty() && !watched) {
    taken_off_[port];
    return;
  }
  Row leaving{{kLeaving, fmt::format("{}", fmt::join(taken, " "))}};
  if (watched) leaving[kTouchDue] = "due";
  taken_off_[port] = std::move(leaving);
}

Memory RowWriter::notes_after() const {
  Memory notes = notes_;
  for (const auto& [port, row] : taken_off_)
    if (row.empty())
      notes.erase(port);
    else
      notes[port] = row;
  return notes;
}

void RowWriter::remove_maps() {
  for (const auto& [key, row] : view_.config)
    if (const auto bar = key.find("_MAP|");
        bar != key.npos && is_our_map(std::string_view(key).substr(bar + 5)))
      commands_.push_back({"DEL", key});
}

std::optional<PfcStep> next_pfc(const View& view, const PortBuffers& buffers,
                                const std::string& port, bool settled, bool may_begin) {
  const Row* noted = view.note(port);
  if (noted == nullptr || !noted->contains(kSetPfc) || !buffers.has_pool() ||
      !is_our_map(view.field(port, kFields[0].name)))  // gone, or replaced by another client
    return std::nullopt;
  const std::string& wanted = noted->at(kSetPfc);
  const std::string now = view.field(port, kPfc.data());
  const std::uint8_t lacking = to_be_made(view, buffers, port, mask_of_list(wanted));
  if (now == wanted) {
    if (lacking == 0 || !settled || !may_begin) return std::nullopt;
    std::string fewer = priorities_text(without(mask_of_list(wanted), lacking), ",");
    // The model of 202411 takes no empty list. The last priority named twice is another text, but
    // the same priorities for the buffer manager and orchagent.
    if (fewer.empty()) fewer = wanted + "," + wanted.back();
    return PfcStep{.from = now,
                   .to = std::move(fewer),
                   .map = view.field(port, kFields[0].name),
                   .again = true};
  }
  if (!noted->contains(kStepPfc) || noted->at(kStepPfc) != now) return std::nullopt;
  const std::uint8_t mask = mask_of_list(now);
  if (view.asic_pfc(port) != mask || (to_be_made(view, buffers, port, mask) != 0 && !settled))
    return std::nullopt;
  return PfcStep{.from = now, .to = wanted, .map = view.field(port, kFields[0].name)};
}

Redis::Command command_of(const std::string& port, const PfcStep& step) {
  return {"EVAL",    kStep,   "2",     row_of(kPortMaps, port), std::string(kLosslessPool),
          step.from, step.to, step.map};
}

std::optional<Redis::Command> touch_watchdog(const View& view, const std::string& port) {
  const Row* noted = view.note(port);
  if (noted == nullptr || !noted->contains(kTouchDue)) return std::nullopt;
  return Redis::Command{"EVAL", kMakeAnew, "1", row_of(kWatchdogs, port)};
}

std::optional<GroupStep> next_again(const View& view, const PortBuffers& buffers,
                                    const std::string& port, bool may_begin) {
  const Row* noted = view.note(port);
  if (noted == nullptr) return std::nullopt;
  GroupStep step{.note = *noted};
  if (noted->contains(kAgain)) {
    write_again(view, buffers, port, step);
    return step;
  }
  const unsigned lost = lost_groups(view, buffers, port) & mask_of_list(value_of(noted, kSetPfc));
  if (!may_begin || lost == 0 || !delete_groups(view, buffers, port, lost, step))
    return std::nullopt;
  return step;
}

std::optional<GroupStep> next_last(const View& view, const PortBuffers& buffers,
                                   const std::string& port, bool settled) {
  const Row* noted = view.note(port);
  if (noted == nullptr) return GroupStep();
  GroupStep step{.note = *noted};
  write_again(view, buffers, port, step);
  if (!step.commands.empty()) return step;
  unsigned taken = 0;
  for (const std::string& range : split_list(value_of(noted, kLeaving), ' '))
    taken |= mask_of_range(range);
  const auto chip = view.buffers.find(port);
  const unsigned there = chip == view.buffers.end() ? 0U : chip->second.groups_lossless;
  const bool has_left =
      !view.asic.contains(port) || (!view.ignored(port, Part::kPfc) &&
                                    (without(taken, buffers.lossless_groups(port)) & there) == 0);
  const std::size_t times = value_of(noted, kTimes).size();
  const bool lost = times > 0 && (taken & lost_groups(view, buffers, port)) != 0;
  if ((!has_left || lost) && !settled) return std::nullopt;
  if ((times == 0 || (lost && times < kTries)) && delete_groups(view, buffers, port, taken, step)) {
    step.note[kTimes] += "1";
    return step;
  }
  if (auto touch = touch_watchdog(view, port)) step.commands.push_back(std::move(*touch));
  step.note.clear();
  return step;
}

std::optional<std::string> buffer_fault(const View& view, const PortBuffers& buffers,
                                        const std::string& port, Part part, std::uint8_t mask) {
  if (!is_up(view, port) || (part != Part::kPfc && part != Part::kQueues)) return std::nullopt;
  const bool on_arrival = part == Part::kPfc;
  const char* field = on_arrival ? "pfc_to_pg_map" : "pfc_to_queue_map";
  const char* table =
      on_arrival ? "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP" : "MAP_PFC_PRIORITY_TO_QUEUE";
  if (const std::uint8_t other = view.led_elsewhere(port, field, table, mask); other != 0)
    return fmt::format(
        "{0}|{1} does not lead priority {2} to {3} {2}: sonic-db-cli CONFIG_DB hset "
        "'{0}|{1}' {2} {2}",
        table, view.field(port, field), first_of(other), on_arrival ? "priority group" : "queue");
  const std::uint8_t none = on_arrival ? without_group(view, buffers, port, mask)
                                       : without(mask, buffers.lossless_queues(port));
  if (none != 0 && !on_arrival) return queue_fault(buffers, port, mask, first_of(none));
  if (none != 0 && buffers.is_dynamic())
    return fmt::format(
        "BUFFER_PG has no lossless profile for priority {1} of {0}, and the dynamic "
        "buffer model makes none: config interface buffer priority-group lossless "
        "add {0} {1}",
        port, first_of(none));
  if (none != 0)
    return fmt::format(
        "BUFFER_PG has no lossless profile for priority {1} of {0}: the buffer "
        "manager has not made it: see its log, and pg_profile_lookup.ini for this "
        "speed and cable",
        port, first_of(none));
  const auto chip = view.buffers.find(port);
  if (chip == view.buffers.end()) return std::nullopt;
  const AsicBuffers& there = chip->second;
  const std::uint8_t missing = on_arrival
                                   ? without(mask & there.groups_known, there.groups_lossless)
                                   : without(mask & there.queues_known, there.queues_set);
  if (missing == 0) return std::nullopt;
  return fmt::format("the ASIC has no {} profile on {} {} of {}: see orchagent's log",
                     on_arrival ? "lossless" : "buffer", on_arrival ? "priority group" : "queue",
                     first_of(missing), port);
}

std::optional<std::string> buffer_limit(const View& view, const std::string& port, Part part,
                                        std::uint8_t mask) {
  const auto chip = view.buffers.find(port);
  if (chip == view.buffers.end() || !is_up(view, port)) return std::nullopt;
  const AsicBuffers& there = chip->second;
  if (const auto most = view.most_room.find(port);
      part == Part::kPfc && most != view.most_room.end()) {
    // Assume that a priority group without a buffer will need as much as the largest.
    const std::uint64_t usual = *std::ranges::max_element(there.room);
    std::uint64_t needed = 0;
    for (unsigned p = 0; p <= Priority::kMax; ++p)
      if ((mask >> p & 1U) != 0) needed += there.room.at(p) != 0 ? there.room.at(p) : usual;
    if (needed > most->second)
      return fmt::format(
          "the headroom of priorities {} is {} octets, and {} can have {} "
          "(max_headroom_size): set fewer classes in qos.lossless, or shorter cables in "
          "CABLE_LENGTH",
          priorities_text(mask), needed, port, most->second);
  }
  const std::uint8_t unwatched = without(mask & there.queues_known, there.queues_watched);
  if (part == Part::kQueues && (there.queues_watched & mask) != 0 && unwatched != 0)
    return fmt::format(
        "the chip's own PFC watchdog watches queues {} of {} and not {}: a host that pauses "
        "those for ever is not seen (SAI_QUEUE_ATTR_ENABLE_PFC_DLDR)",
        priorities_text(there.queues_watched), port, priorities_text(unwatched));
  return std::nullopt;
}

std::optional<std::string> release_fault(const View& view) {
  const std::string version = value_of(view.row("VERSIONS|DATABASE"), "VERSION");
  constexpr std::string_view kBegins = "version_";
  constexpr std::string_view kFirst = "202411";
  if (!version.starts_with(kBegins)) return std::nullopt;
  const std::string release =
      version.substr(kBegins.size(), version.find('_', kBegins.size()) - kBegins.size());
  // Before 2023 the database had version numbers of its own: version_4_0_5.
  const bool counted = release.size() == 1;
  if (!counted && (release.size() != kFirst.size() || release >= kFirst)) return std::nullopt;
  return fmt::format("this release of SONiC is too old ({}): the rules need 202411 or later",
                     version);
}

}  // namespace lldp::dataplane::sonic
