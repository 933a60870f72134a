// SPDX-License-Identifier: Apache-2.0
#include "lab/packets/workload/program.hpp"

#include <algorithm>

#include "lab/packets/run.hpp"

namespace lldp::lab::packets {

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
