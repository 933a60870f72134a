// SPDX-License-Identifier: Apache-2.0
#include "sim/packets/workload/program.hpp"

#include <algorithm>

#include "sim/packets/run.hpp"

namespace lldp::lab::packets {

std::optional<std::uint32_t> never_ends(const Program& program) {
  using Index = std::uint32_t;
  const auto& all = program.operations;
  std::vector<std::uint32_t> told(all.size());
  std::vector<bool> done(all.size());
  std::vector<std::uint32_t> arrived(program.channels);
  std::vector<std::deque<Index>> receivers(program.channels);
  std::vector<Index> ready;
  const auto tell = [&](const std::vector<Index>& others) {
    for (const Index other : others)
      if (++told[other] == all[other].needs) ready.push_back(other);
  };
  const auto end = [&](Index i) {
    done[i] = true;
    tell(all[i].after);
  };
  for (Index i = 0; i < all.size(); ++i)
    if (all[i].needs == 0 || all[i].needs == kNone) ready.push_back(i);  // kNone: by its time
  while (!ready.empty()) {
    const Index i = ready.back();
    ready.pop_back();
    const Program::Operation& o = all[i];
    tell(o.with_start);
    if (o.kind == Program::Kind::kReceive && arrived[o.channel] == 0) {
      receivers[o.channel].push_back(i);
      continue;
    }
    if (o.kind == Program::Kind::kReceive) --arrived[o.channel];
    end(i);
    if (o.kind != Program::Kind::kSend || o.channel == kNone) continue;
    auto& waiting = receivers[o.channel];
    if (waiting.empty()) {
      ++arrived[o.channel];
    } else {
      end(waiting.front());
      waiting.pop_front();
    }
  }
  const auto first = std::ranges::find(done, false);
  if (first == done.end()) return std::nullopt;
  return static_cast<Index>(first - done.begin());
}

ProgramRun::ProgramRun(const Program& program, Simulation& simulation)
    : program_(program),
      simulation_(simulation),
      told_(program.operations.size()),
      by_flow_(simulation.network().flows.size(), kNone),
      lane_free_(program.lanes),
      channels_(program.channels) {
  for (Index i = 0; i < program.operations.size(); ++i)
    if (program.operations[i].kind == Program::Kind::kSend)
      by_flow_[program.operations[i].flow] = i;
}

void ProgramRun::begin() {
  for (Index i = 0; i < program_.operations.size(); ++i)
    if (program_.operations[i].needs == 0) ready_.push_back(i);
  go();
}

void ProgramRun::notice(Kind what, std::uint32_t which) {
  if (what == Kind::kFinished) {
    if (which < by_flow_.size() && by_flow_[which] != kNone) ended(by_flow_[which]);
  } else if (which % 2 == 0) {
    ended(which / 2);
  } else {
    tell(program_.operations[which / 2].with_start);
  }
  go();
}

void ProgramRun::tell(const std::vector<Index>& others) {
  for (const Index other : others)
    if (++told_[other] == program_.operations[other].needs) ready_.push_back(other);
}

void ProgramRun::ended(Index operation) {
  const Program::Operation& o = program_.operations[operation];
  tell(o.after);
  if (o.kind != Program::Kind::kSend || o.channel == kNone) return;
  Channel& channel = channels_[o.channel];
  if (channel.receivers.empty()) {
    ++channel.arrived;
    return;
  }
  const Index receiver = channel.receivers.front();
  channel.receivers.pop_front();
  tell(program_.operations[receiver].after);
}

void ProgramRun::go() {
  while (!ready_.empty()) {
    const Index operation = ready_.front();
    ready_.pop_front();
    begin(operation);
  }
}

void ProgramRun::begin(Index operation) {
  const Program::Operation& o = program_.operations[operation];
  switch (o.kind) {
    case Program::Kind::kSend:
      simulation_.release(o.flow);
      return tell(o.with_start);
    case Program::Kind::kReceive: {
      tell(o.with_start);
      Channel& channel = channels_[o.channel];
      if (channel.arrived == 0) {
        channel.receivers.push_back(operation);
        return;
      }
      --channel.arrived;
      return ended(operation);
    }
    case Program::Kind::kCompute: {
      const Picoseconds now = simulation_.network().now;
      const Picoseconds from = std::max(now, lane_free_[o.lane]);
      lane_free_[o.lane] = from + o.time;
      if (!o.with_start.empty()) simulation_.call_at(from, 2 * operation + 1);
      return simulation_.call_at(from + o.time, 2 * operation);
    }
    case Program::Kind::kGate:
      tell(o.with_start);
      return ended(operation);
  }
}

}  // namespace lldp::lab::packets
