// SPDX-License-Identifier: Apache-2.0
#include "agent/cli/replay.hpp"

#include "agent/cli/capture.hpp"
#include "agent/core/agent.hpp"
#include "agent/report/change.hpp"
#include "agent/report/report.hpp"
#include "agent/report/text.hpp"

namespace lldp::cli {
namespace {

/// The agent's time is the capture's, which starts in 1970; both go forward only.
TimePoint boot_time(CaptureTime time) { return TimePoint(time); }

void print(const core::Actions& actions, CaptureTime time, std::ostream& out) {
  for (const core::Event& event : actions.events) {
    const std::string line = report::change_line(event);
    if (!line.empty()) out << to_date(time) << "  " << line << '\n';
  }
}

}  // namespace

Result<void> replay_capture(const std::string& file, const std::string& port,
                            const std::optional<MacAddress>& own, bool json,
                            core::Settings settings, std::ostream& out) {
  auto reader = CaptureReader::open(file);
  if (!reader) return fail(reader.error());
  CapturedFrame frame;
  auto more = reader->next(frame);
  if (!more) return fail(more.error());
  if (!*more) return fail(Error{0, file, "no LLDP frame: capture with 'ether proto 0x88cc'"});

  CaptureTime now = frame.time;
  core::Agent agent(std::move(settings), {}, boot_time(now));
  core::Actions actions;
  constexpr auto kPort = Ifindex::of<1>();
  agent.set_link({.ifindex = kPort,
                  .name = port,
                  // Without its own it has one that nobody has in the capture.
                  .address = own.value_or(MacAddress{0x02, 0x4c, 0x56, 0xff, 0xff, 0xff}),
                  .up = true},
                 boot_time(now), actions);
  while (*more) {
    // Frames that several interfaces captured may stand out of order; time does not go back.
    const CaptureTime until = std::max(now, frame.time);
    for (auto due = agent.next_deadline(); due && *due <= boot_time(until);
         due = agent.next_deadline()) {
      now = std::max(now, CaptureTime(due->time_since_epoch()));
      agent.advance(boot_time(now), actions);
      if (!json) print(actions, now, out);
      actions.clear();  // and nothing is sent
    }
    now = until;
    if (frame.missing == 0 && frame.source != own)
      agent.receive(kPort, frame.octets, boot_time(now), actions);
    if (!json) print(actions, now, out);
    actions.clear();
    more = reader->next(frame);
    if (!more) return fail(more.error());
  }

  const report::WallClock clock{
      .wall = std::chrono::system_clock::time_point(
          std::chrono::duration_cast<std::chrono::system_clock::duration>(now)),
      .boot = boot_time(now)};
  const std::string shown =
      report::show_json(agent.snapshot(boot_time(now)), report::Protection{"none"}, clock, {}, {});
  if (json) {
    out << shown << '\n';
    return {};
  }
  const auto text = report::show_text(shown, {});
  if (!text) return fail(text.error());
  out << '\n' << *text;
  return {};
}

}  // namespace lldp::cli
