// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Names of interfaces as an operator types them. Linux takes nearly any octet in such a name:
/// what cannot be typed, or means something else where it is typed, is written as escape() writes
/// it, \xNN, and a backslash as \\.
namespace lldp {

/// The octets that a text in this notation stands for, as escape() and spell() write it; nullopt:
/// a backslash begins neither.
[[nodiscard]] std::optional<std::string> unescape(std::string_view text);

/// The name as the configuration takes it in every place: `x\x23a` for `x#a`. Ordinary names stay
/// as they are.
[[nodiscard]] std::string spell(std::string_view name);

/// A sentence made safe to show, as by escape(); its backslashes stay, for names in it may be
/// written so already.
[[nodiscard]] std::string printable(std::string_view sentence);

/// The name as an argument of our own commands, for a shell: quoted where spell() changes it.
[[nodiscard]] std::string argument(std::string_view name);
/// The same for a command of another project, which takes octets: $'x\x23a' is a quotation that
/// bash, zsh and ksh have.
[[nodiscard]] std::string shell_word(std::string_view name);

/// Pattern with * and ? (no classes) in this notation, where \x2a is the octet *; it matches the
/// whole name, which is in octets.
[[nodiscard]] bool name_match(std::string_view pattern, std::string_view name);
/// True when any pattern matches.
[[nodiscard]] bool any_name_match(std::span<const std::string> patterns, std::string_view name);
/// Whether other names may match as well.
[[nodiscard]] bool has_wildcard(std::string_view pattern);

}  // namespace lldp
