// SPDX-License-Identifier: Apache-2.0
#include "agent/cli/replay.hpp"

#include "agent/cli/capture.hpp"
#include "agent/core/agent.hpp"
#include "agent/report/change.hpp"
#include "agent/report/report.hpp"
#include "agent/report/text.hpp"

namespace lldp::cli {
namespace {

/// The agent's time is the capture's, which starts in 1970; both go forward only. Of a gap, as
/// where a clock was set, the agent lives through the first days alone: it wakes every few seconds,
/// and waits for nothing that is longer (`infer.establish` is a day, a TTL 18 hours).
struct Clock {
  static constexpr CaptureTime kLongestGap = std::chrono::days(3);
  [[nodiscard]] TimePoint agents(CaptureTime time) const { return TimePoint(time - skipped); }
  [[nodiscard]] CaptureTime captures(TimePoint time) const {
    return time.time_since_epoch() + skipped;
  }
  CaptureTime skipped{};
};

void print(const core::Actions& actions, CaptureTime time, std::ostream& out) {
  for (const core::Event& event : actions.events) {
    const std::string line = report::change_line(event);
    if (!line.empty()) out << to_date(time) << "  " << line << '\n';
  }
}

/// There is no data plane: what is asked for is in force.
void confirm(core::Agent& agent, Ifindex port, TimePoint now, core::Actions& actions) {
  for (std::uint32_t confirmed = 0; agent.request(port).generation != confirmed;) {
    confirmed = agent.request(port).generation;
    agent.in_force(port, confirmed, now, actions);
  }
}

}  // namespace

Result<std::vector<std::string>> replay_capture(const std::string& file, const std::string& port,
                                                const std::optional<MacAddress>& own, bool json,
                                                core::Settings settings, std::ostream& out) {
  auto reader = CaptureReader::open(file);
  if (!reader) return fail(reader.error());
  CapturedFrame frame;
  auto more = reader->next(frame);
  if (!more) return fail(more.error());
  if (!*more) return fail(no_lldp(file));

  CaptureTime now = frame.time;
  Clock at;
  core::Agent agent(std::move(settings), {}, at.agents(now));
  core::Actions actions;
  constexpr auto kPort = Ifindex::of<1>();
  agent.set_link({.ifindex = kPort,
                  .name = port,
                  // Without --own, an address that does not occur in the capture.
                  .address = own.value_or(MacAddress{0x02, 0x4c, 0x56, 0xff, 0xff, 0xff}),
                  .up = true},
                 at.agents(now), actions);
  std::size_t passed_over = 0;
  std::size_t cut = 0;
  std::size_t gaps = 0;
  while (*more) {
    // Frames that several interfaces captured may stand out of order; time does not go back.
    const CaptureTime until = std::max(now, frame.time);
    const CaptureTime lived = now + std::min(until - now, Clock::kLongestGap);
    for (auto due = agent.next_deadline(); due && at.captures(*due) <= lived;
         due = agent.next_deadline()) {
      now = std::max(now, at.captures(*due));
      agent.advance(at.agents(now), actions);
      confirm(agent, kPort, at.agents(now), actions);
      if (!json) print(actions, now, out);
      actions.clear();  // and nothing is sent
    }
    if (until != lived) ++gaps;
    at.skipped += until - lived;
    now = until;
    if (frame.source != own && !frame.sent) {
      const auto ignored = why_ignored(frame, agent.settings());
      if (ignored) ++passed_over;
      if (!ignored && frame.cut) ++cut;
      if (!ignored) agent.receive(kPort, frame.octets, at.agents(now), actions);
    }
    confirm(agent, kPort, at.agents(now), actions);
    if (!json) print(actions, now, out);
    actions.clear();
    more = reader->next(frame);
    if (!more) return fail(more.error());
  }

  std::vector<std::string> notes;
  if (cut != 0)
    notes.push_back(file + ": LLDPDUs cut by the snap length: " + std::to_string(cut) +
                    "; taken as far as they go");
  if (passed_over != 0)
    notes.push_back(file + ": frames that the daemon ignores: " + std::to_string(passed_over) +
                    "; decode says why");

  if (gaps != 0)
    notes.push_back(file + ": gaps of more than 3 days, as of a clock that was set: " +
                    std::to_string(gaps) + "; taken for 3 days");

  const report::WallClock clock{
      .wall = std::chrono::system_clock::time_point(
          std::chrono::duration_cast<std::chrono::system_clock::duration>(now)),
      .boot = at.agents(now)};
  const std::string shown = report::show_json(
      agent.snapshot(at.agents(now)), report::Protection{"none"}, clock, {}, {.transport = {}});
  if (json) {
    out << shown << '\n';
    return notes;
  }
  const auto text = report::show_text(shown, {});
  if (!text) return fail(text.error());
  out << '\n' << *text;
  return notes;
}

}  // namespace lldp::cli
