// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

/// Where the device stands in the fabric, from what `show` answers. Empty where nothing is known.
namespace lldp::report {

/// `tier 1  02:00:00:00:00:01`, a line for each tier.
[[nodiscard]] Result<std::string> location_text(std::string_view show);
/// `{"tiers": [{"level": 1, "id": "02:00:00:00:00:01"}]}`
[[nodiscard]] Result<std::string> location_json(std::string_view show);
/// How the tiers are named in labels: PREFIX and a number, which is `first` for the leaf.
struct LabelKeys {
  std::string_view prefix{"lldp-level.tier-"};
  unsigned first = 1;
};
/// `lldp-level.tier-1=02-00-00-00-00-01`, a line for each tier: a feature file of Kubernetes' node
/// feature discovery.
[[nodiscard]] Result<std::string> location_labels(std::string_view show,
                                                  const LabelKeys& keys = {});
/// True if `prefix` and a number of up to three digits make a label's key, as Kubernetes has it:
/// [DOMAIN/]NAME, a NAME of letters, digits, `-`, `_` and `.` that begins with a letter or a digit.
[[nodiscard]] bool can_begin_a_key(std::string_view prefix);
/// An ID as a label's value may be: up to 63 letters, digits, `-`, `_` and `.`, the first and the
/// last of them a letter or a digit. Colons become hyphens; what fits not even so, a hash of it.
[[nodiscard]] std::string label_value(std::string_view id);

}  // namespace lldp::report
