// SPDX-License-Identifier: Apache-2.0
#include "agent/report/report.hpp"

#include <algorithm>

#include "agent/report/json_writer.hpp"
#include "base/text.hpp"

namespace lldp::report {

std::string_view to_string(Protection::State state) {
  switch (state) {
    case Protection::State::kActive:
      return "active";
    case Protection::State::kPartial:
      return "partial";
    case Protection::State::kFailed:
      return "failed";
    case Protection::State::kInactive:
      break;
  }
  return "inactive";
}

std::string_view to_string(PortRules::Installed installed) {
  switch (installed) {
    case PortRules::Installed::kYes:
      return "yes";
    case PortRules::Installed::kDiffers:
      return "differs";
    case PortRules::Installed::kUnknown:
      return "unknown";
    case PortRules::Installed::kNo:
      break;
  }
  return "no";
}

std::string WallClock::date(TimePoint t) const {
  using namespace std::chrono;
  const auto second = floor<seconds>(at(t));
  const auto day = floor<days>(second);
  const year_month_day date(day);
  const hh_mm_ss time(second - day);
  std::string out;
  const auto append = [&](auto value, std::size_t digits, char after) {
    const std::string text = std::to_string(value);
    out.append(digits - std::min(digits, text.size()), '0').append(text) += after;
  };
  append(static_cast<int>(date.year()), 4, '-');
  append(static_cast<unsigned>(date.month()), 2, '-');
  append(static_cast<unsigned>(date.day()), 2, 'T');
  append(time.hours().count(), 2, ':');
  append(time.minutes().count(), 2, ':');
  append(time.seconds().count(), 2, 'Z');
  return out;
}

std::string stats_json(std::span<const PortStatistics> ports, std::string_view transport,
                       const std::optional<ProcessStatistics>& process) {
  std::string text;
  JsonWriter out(text);
  out.open('{').member("version", kVersion);
  if (!transport.empty()) out.member("transport", transport);
  if (process) {
    using std::chrono::seconds;
    out.key("process")
        .open('{')
        .member("started", std::chrono::floor<seconds>(process->started.time_since_epoch()).count())
        .member("cpu_milliseconds", process->cpu.count())
        .member("resident_octets", process->resident_octets)
        .close('}');
  }
  out.key("ports").open('[');
  for (const PortStatistics& port : ports) {
    const core::Statistics& c = port.counters;
    out.open('{')
        .member("name", escape(port.name))
        .member("statsFramesOutTotal", c.statsFramesOutTotal)
        .member("statsFramesInTotal", c.statsFramesInTotal)
        .member("statsFramesInErrorsTotal", c.statsFramesInErrorsTotal)
        .member("statsFramesDiscardedTotal", c.statsFramesDiscardedTotal)
        .member("statsTLVsDiscardedTotal", c.statsTLVsDiscardedTotal)
        .member("statsTLVsUnrecognizedTotal", c.statsTLVsUnrecognizedTotal)
        .member("statsAgeoutsTotal", c.statsAgeoutsTotal)
        .member("statsTooManyNeighborsTotal", c.statsTooManyNeighborsTotal)
        .member("framesTaggedTotal", c.framesTaggedTotal)
        .member("lldpduLengthErrors", c.lldpduLengthErrors)
        .close('}');
  }
  out.close(']').close('}');
  return text;
}

}  // namespace lldp::report
