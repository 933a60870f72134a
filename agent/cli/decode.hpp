// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <string>

#include "agent/core/settings.hpp"
#include "agent/report/tlvs.hpp"
#include "base/result.hpp"

namespace lldp::cli {

struct CapturedFrame;

/// One LLDP frame as one line of JSON: its sender, what the sender claims, its TLVs and the
/// counters it would change; or, of a frame that a receiver discards, time, source and error.
[[nodiscard]] std::string frame_json(const CapturedFrame& frame, const core::Settings& settings,
                                     report::OwnerOf owner = report::nobody);
/// The same for a person: a heading, and a line per TLV.
[[nodiscard]] std::string frame_text(const CapturedFrame& frame, const core::Settings& settings,
                                     report::OwnerOf owner = report::nobody);

/// `decode FILE`: every LLDP frame of a capture; "-" is standard input. `settings` say which OUIs
/// mean the contribution TLV, and whether a Station Only is a host.
[[nodiscard]] Result<void> decode_capture(const std::string& file, bool json,
                                          const core::Settings& settings, std::ostream& out,
                                          report::OwnerOf owner = report::nobody);

}  // namespace lldp::cli
