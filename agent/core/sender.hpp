// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/core/agent_impl.hpp"

namespace lldp::core {

/// The procedures of the transmit machine, IEEE 802.1AB-2016 9.2.8.
struct Agent::Impl::Sender {
  Impl& impl;
  Port& port;
  PortAgent& agent;
  TimePoint now{};
  Actions& out;
  void txInfoFrame() { impl.send(port, agent, false, now, out); }
  void txShutdownFrame() { impl.send(port, agent, true, now, out); }
};

}  // namespace lldp::core
