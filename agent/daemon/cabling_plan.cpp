// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/cabling_plan.hpp"

#include "base/text.hpp"
#include "os/file.hpp"

namespace lldp::io {

Result<CablingPlan> load_cabling_plan(const std::string& path, const std::string& system_name,
                                      const ChassisId& chassis) {
  const auto text = read_lasting_file(path);
  if (!text) return fail(text.error());
  const auto in_file = [&](Error error) {
    error.where = path + ": " + error.where;
    return fail(std::move(error));
  };
  const auto drawing = cabling::read_plan(*text);
  if (!drawing) return in_file(drawing.error());
  auto expected = cabling::Expectations::of(
      *drawing, escape(system_name), chassis.octets.empty() ? std::string() : to_string(chassis));
  if (!expected) return in_file(expected.error());
  CablingPlan plan{std::move(*expected), cabling::first_notes(*drawing)};
  for (std::string& note : plan.notes) note = path + ": " + note;
  return plan;
}

}  // namespace lldp::io
