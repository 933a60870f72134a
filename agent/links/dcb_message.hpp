// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent/core/agent.hpp"
#include "base/bytes.hpp"

namespace lldp::io {

/// How PFC stands on an interface, as its driver tells by dcbnl.
struct InterfacePfc {
  std::string name{};
  core::Pfc pfc{};
  friend bool operator==(const InterfacePfc&, const InterfacePfc&) = default;
};

/// RTM_GETDCB with DCB_CMD_IEEE_GET for one interface, `sequence` in its header.
[[nodiscard]] Bytes pfc_request(std::string_view name, std::uint32_t sequence);

/// One rtnetlink message, its header in front: the answer to that, or what RTNLGRP_DCB tells when
/// the settings of an interface were changed. nullopt: it says nothing of PFC, or is malformed.
[[nodiscard]] std::optional<InterfacePfc> parse_dcb_message(ByteSpan message);

}  // namespace lldp::io
