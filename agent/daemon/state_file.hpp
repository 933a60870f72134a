// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "agent/core/state.hpp"
#include "base/result.hpp"

/// The state file: what outlives a restart, as a few lines of text.
///
///     lldp-level-state 2
///     chassis-id 4 020000000001                     subtype, octets in hexadecimal
///     role switch
///     level 2
///     supported 86400                               seconds
///     place 2 4 020000000001                        level and chassis ID; 0: it was a host
///     location 020704020000000002...                tiers as their TLV has them, in hexadecimal
///     location-until 1764201600                     seconds of the Unix epoch: what no port tells
///     classes 3:dscp26+24-31>2:dscp19                lossless, as they were learned
///     near 0123456789abcdef                         one line for each that it knows
///     boot 2c8a5d7e-...                             of the machine, which the counts below are of
///     ports learning                                it may have heard too little to name them all
///     port swp1 7 3 switch 1 4 020000000002         ifindex, carrier_changes or -, neighbor
///     port swp2 8 2 host
///     port swp3 9 2 tiers 0107040200... switch 1 4 020000000003     with the tiers that it told
///     port swp4 9 - above 2 4 020000000001          the carrier went, when the place was that
///     port swp5 10 1 left                           a switch not known any further; a place,
///     too end
///
/// Lines for unknown values are left out; a file without its last line is torn. A file of version 1
/// has chassis ID and level only, and the place was the level.
namespace lldp::io {

/// The text of the file. format_state and parse_state are each other's inverse for the same `boot`;
/// in another one, no port's carrier is known to have held. `epoch`: when the agent's clock stood
/// at 0, in seconds of the Unix epoch.
[[nodiscard]] std::string format_state(const core::State& state, std::string_view boot,
                                       std::chrono::seconds epoch = {});
/// The error's `where` is the line; its `what` says what is wrong with it.
[[nodiscard]] Result<core::State> parse_state(std::string_view text, std::string_view boot,
                                              std::chrono::seconds epoch = {});

/// Reads what was saved, or written last. A missing file is a first start: an empty State. A
/// damaged one, or one that cannot be read, is an error after which the caller goes on with an
/// empty State; it was renamed to PATH.corrupt, so that it is neither lost nor read again. One that
/// is_passing(): the caller tries again later, and not with an empty State, which would be written
/// over what is there.
[[nodiscard]] Result<core::State> load_state(const std::string& path);
/// PATH.corrupt.
[[nodiscard]] std::string damaged_name(const std::string& path);
/// No such file, as opposed to one of which the disk does not say.
[[nodiscard]] bool is_gone(const std::string& path);
/// There is nothing for load_state(), not even a damaged one.
[[nodiscard]] bool is_state_gone(const std::string& path);
/// Nothing is wrong with the file: the process or the machine lacks descriptors or memory now.
[[nodiscard]] bool is_passing(const Error& error);

/// The text for write_state(), in the machine and at the time that is.
[[nodiscard]] Result<std::string> state_text(const core::State& state);
/// Replaces PATH.new as a whole, which load_state() finds if this process ends in the next moment.
/// Does not ask the disk to keep it. On failure nothing has changed.
[[nodiscard]] Result<void> write_state(const std::string& path, std::string_view text);
/// Makes the result of write_state() final at PATH, as a whole: a reader, and a power failure at
/// any time, finds the old or the new content. Meanwhile it is PATH.sync, which load_state() uses
/// if nothing newer was written. Waits for the disk; a write meanwhile waits for the next commit.
/// Data that the disk did not take is lost, and PATH is unchanged. `may_be_kept`: the previous
/// commit began, or went on, while that was written, and may have taken it.
[[nodiscard]] Result<void> commit_state(const std::string& path, bool may_be_kept = false);

}  // namespace lldp::io
