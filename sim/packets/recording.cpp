// SPDX-License-Identifier: Apache-2.0
#include "sim/packets/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/text.hpp"
#include "lab/report/fabric_picture.hpp"
#include "lab/report/html.hpp"
#include "sim/packets/oracle.hpp"

namespace lldp::lab::packets {
namespace {

constexpr std::size_t kMostMoments = 512;
constexpr std::size_t kMostValues = std::size_t{1} << 23;  ///< of arcs, in all moments
constexpr std::size_t kFewestMoments = 16;
constexpr std::size_t kFramesShown = 1000;
constexpr std::size_t kMostChanges = 400'000;
constexpr std::size_t kFewFlows = 8;
constexpr std::size_t kQueuesShown = 6;
constexpr std::size_t kFlowsDrawn = 50;
/// What is drawn: with more lines a browser takes seconds a frame.
constexpr std::size_t kMostLinks = 4000;

std::string shown(const std::string& name) { return entities(escape(name)); }

std::string arc_name(const Plan& plan, Arc a) {
  const Link& link = plan.fabric.links[a / 2];
  return fmt::format("{} to {}", escape(plan.fabric.nodes[link.ends[a % 2].node].name),
                     escape(plan.fabric.nodes[link.ends[1 - a % 2].node].name));
}

std::string row(std::string_view what, const std::string& value) {
  return fmt::format("<tr><td>{}</td><td class=\"n\">{}</td></tr>\n", what, value);
}

/// The player of what `moments` has: [us, [arc, state, ...], [node, fill in 1/8, ...]], changes
/// only. States: 0, 1 paused, 2 deadlocked.
constexpr std::string_view kPlayer = R"js(<script>
(function () {
  const slider = document.getElementById('at'), play = document.getElementById('play'), clock = document.getElementById('clock');
  const fills = ['', '#2a6aa0', '#55628e', '#805a7c', '#a0526a', '#b54a52', '#c8402c', '#d55e00'];
  let now = -1, timer = null;
  function set(id, what, value) { const e = document.getElementById(id); if (e) e.setAttribute(what, value); }
  function step(m) {
    for (let i = 0; i < m[1].length; i += 2) set('a' + m[1][i], 'data-s', m[1][i + 1]);
    for (let i = 0; i < m[2].length; i += 2) { const e = document.getElementById('n' + m[2][i]); if (e) e.style.fill = fills[Math.floor(m[2][i + 1] * 7 / fullest)]; }
  }
  function show(to) {
    if (to < now) {
      document.querySelectorAll('#fabric [data-s]').forEach(e => e.removeAttribute('data-s'));
      document.querySelectorAll('#fabric [id^="n"]').forEach(e => { e.style.fill = ''; });
      now = -1;
    }
    while (now < to) step(moments[++now]);
    slider.value = now;
    clock.textContent = moments[now][0].toFixed(0) + ' us';
  }
  function stop() { clearInterval(timer); timer = null; play.textContent = 'play'; }
  play.onclick = function () {
    if (timer) return stop();
    if (now == moments.length - 1) show(0);
    play.textContent = 'pause';
    timer = setInterval(() => { show(now + 1); if (now == moments.length - 1) stop(); }, 60);
  };
  slider.max = moments.length - 1;
  slider.oninput = function () { if (timer) stop(); show(+slider.value); };
  show(Math.min(first, moments.length - 1));
})();
</script>
)js";

}  // namespace

Recording::Recording(const Plan& plan)
    : state_(2 * plan.fabric.links.size()),
      held_(plan.fabric.nodes.size()),
      most_(std::clamp(kMostValues / (2 * plan.fabric.links.size() + 1), kFewestMoments,
                       kMostMoments)),
      every_(10 * kMicrosecond) {}

void Recording::sample(const Network& n) {
  if (shown_until_ == kNever) frame(n);
  if (n.now < next_) return;
  next_ = n.now + every_;
  moment(n);
}

void Recording::frame(const Network& n) {
  Frame f{.at = n.now};
  std::vector<State> state(n.arcs());
  std::vector<std::uint64_t> held(held_.size());
  bool any = false;
  for (Arc a = 0; a < n.arcs(); ++a) {
    const Port& p = n.ports[a];
    state[a] = p.paused != 0 ? kPaused : kGoes;
    any |= p.paused != 0;
    for (unsigned mask = p.waiting; mask != 0; mask &= mask - 1)
      held[p.node] += n.queue(a, static_cast<std::uint8_t>(std::countr_zero(mask))).octets;
  }
  if (any)
    for (const Stuck& s : stuck_queues(n)) state[s.arc] = kDeadlocked;
  for (Arc a = 0; a < n.arcs(); ++a)
    if (state[a] != state_[a]) f.arcs.push_back({a, state_[a] = state[a]});
  for (std::size_t i = 0; i < held.size(); ++i)
    if (const auto is = static_cast<std::uint32_t>(held[i] >> 13); is != held_[i])
      f.nodes.push_back({static_cast<std::uint32_t>(i), held_[i] = is});
  changes_ += f.arcs.size() + f.nodes.size();
  if (f.arcs.empty() && f.nodes.empty()) return;
  frames_.push_back(std::move(f));
  if (frames_.size() == kFramesShown || changes_ > kMostChanges) shown_until_ = n.now;
}

void Recording::moment(const Network& n) {
  if (moments_.size() == most_) {  // every second one stays
    for (std::size_t i = 1; 2 * i < most_; ++i) moments_[i] = std::move(moments_[2 * i]);
    moments_.resize((most_ + 1) / 2);
    every_ *= 2;
  }
  Moment m{.at = n.now};
  for (const Flow& f : n.flows) m.received += f.received;
  if (n.flows.size() <= kFewFlows)
    for (const Flow& f : n.flows) m.flows.push_back(f.received);
  m.queues.resize(n.arcs());
  for (Arc a = 0; a < n.arcs(); ++a) {
    for (const Queue& q : n.queues_of(a)) m.queues[a] += q.octets;
    m.paused += n.ports[a].paused != 0 ? 1U : 0U;
  }
  if (m.paused != 0) m.deadlocked = stuck_queues(n).size();
  moments_.push_back(std::move(m));
}

std::string to_html(const Plan& plan, const Outcome& o, const Recording& recording,
                    const std::string& command) {
  const auto& moments = recording.moments_;
  const auto& frames = recording.frames_;
  std::string body = fmt::format("<p><code>{}</code></p>\n", entities(command));
  std::string facts;
  const auto name_of = [](const auto& names, auto value) {
    return std::string(names[static_cast<std::size_t>(value)]);
  };
  facts +=
      row("deadlock", o.deadlocked_at
                          ? fmt::format("<span class=\"off\">at {:.0f} us, {:.0f} us in all</span>",
                                        micros(*o.deadlocked_at), micros(o.deadlocked_for))
                          : fmt::format("<span class=\"match\">none</span>{}",
                                        o.stopped ? " until it was stopped" : ""));
  facts += row("protection", name_of(kProtections, plan.settings.protection));
  facts += row("flow control", name_of(kFlowControls, plan.settings.flow_control));
  facts += row("simulated", fmt::format("{:.0f} us", micros(o.duration)));
  facts += row("seed", fmt::format("{}", plan.settings.seed));
  facts += row("lossless frames dropped", fmt::format("{}", o.count.drops));
  if (o.count.drops_lossy != 0)
    facts += row("lossy frames dropped", fmt::format("{}", o.count.drops_lossy));
  if (o.count.lost != 0) facts += row("lost on links", fmt::format("{}", o.count.lost));
  if (o.count.discarded != 0)
    facts += row("thrown away by the detector", fmt::format("{}", o.count.discarded));
  if (o.unroutable != 0)
    facts += row("times that a flow had no way on", fmt::format("{}", o.unroutable));
  if (o.exposed != 0)
    facts += row("a link up with its order unknown", fmt::format("{:.0f} us", micros(o.exposed)));
  if (!o.levels_agreed)
    facts += row("orders of ports", "<span class=\"off\">not agreed on by the agents</span>");
  facts += row("pauses", fmt::format("{}", o.count.pauses));
  facts += row("packets that changed class", fmt::format("{}", o.count.turned));
  facts += row("packet-hops", fmt::format("{}", o.count.hops));
  body += table(facts);
  if (!o.deadlock.empty()) {
    body += "<p>These wait for each other:</p>\n<ul>\n";
    for (const StuckQueue& s : o.deadlock)
      body += fmt::format("<li>{} to {}, priority {}</li>\n", entities(s.from), entities(s.to),
                          s.priority);
    body += "</ul>\n";
  }

  Marks marks{.halves = true};
  for (std::size_t l = 0; l < plan.failed.size(); ++l)
    if (plan.failed[l]) marks.failed.push_back(l);
  for (const auto state : {Recording::kDeadlocked, Recording::kPaused})
    for (const auto& f : frames)
      for (const auto& c : f.arcs)
        if (c.is == state)
          for (const LinkEnd& e : plan.fabric.links[c.which / 2].ends) marks.near.push_back(e.node);
  if (!frames.empty() && (plan.fabric.links.size() <= kMostLinks || !marks.near.empty())) {
    body +=
        "<h2>Pauses, as they spread</h2>\n<p>The half of a link at its sender is orange while that "
        "is paused, and red while it waits in a deadlock. A node turns to orange as what waits in "
        "it becomes more.</p>\n<style>#fabric svg{max-width:100%;height:auto}"
        "#fabric line[data-s=\"1\"]{stroke:#e69f00;stroke-width:5;stroke-opacity:1}"
        "#fabric line[data-s=\"2\"]{stroke:var(--cycle);stroke-width:6;stroke-opacity:1}"
        "#at{width:60%;vertical-align:middle}#play{min-width:5em}"
        "#clock{display:inline-block;min-width:6em;text-align:right;"
        "font-variant-numeric:tabular-nums}</style>\n"
        "<p><button id=\"play\" type=\"button\">play</button> <input id=\"at\" type=\"range\" "
        "min=\"0\" value=\"0\" aria-label=\"time\"> <span id=\"clock\"></span></p>\n"
        "<div id=\"fabric\">\n";
    body += fabric_picture(plan.fabric, marks) + "</div>\n<script>\nconst moments = [\n";
    std::uint32_t fullest = 1;
    std::size_t first = 0;
    std::string out;
    for (const auto& f : frames) {
      const auto list = [](const auto& changes) {
        std::string text;
        for (const auto& c : changes)
          text += fmt::format("{}{},{}", text.empty() ? "" : ",", c.which, c.is);
        return text;
      };
      for (const auto& c : f.nodes) fullest = std::max(fullest, c.is);
      if (first == 0 && !f.arcs.empty()) first = static_cast<std::size_t>(&f - frames.data());
      fmt::format_to(std::back_inserter(out), "[{:.3f},[{}],[{}]],\n", micros(f.at), list(f.arcs),
                     list(f.nodes));
    }
    body += out + fmt::format("];\nconst first = {}, fullest = {};\n</script>\n", first, fullest);
    body += kPlayer;
  }

  Chart throughput{.title = "Throughput", .x_label = "time, us", .y_label = "payload, Gb/s"};
  Chart queues{.title = "The longest queues", .x_label = "time, us", .y_label = "kB"};
  Chart paused{.title = "Ports that are paused", .x_label = "time, us", .y_label = "ports"};
  const auto rate = [](std::uint64_t octets, Picoseconds time) {
    return time == 0 ? 0 : static_cast<double>(octets) * 8e3 / static_cast<double>(time);
  };
  const bool few = !moments.empty() && !moments.front().flows.empty();
  if (few)
    for (const PlannedFlow& f : plan.flows)
      throughput.lines.push_back({escape(flow_name(plan, f)), {}});
  else
    throughput.lines.push_back({"all flows", {}});
  std::vector<std::pair<std::uint32_t, Arc>> longest;
  for (Arc a = 0; !moments.empty() && a < moments.front().queues.size(); ++a) {
    std::uint32_t most = 0;
    for (const auto& m : moments) most = std::max(most, m.queues[a]);
    if (most != 0) longest.emplace_back(most, a);
  }
  std::stable_sort(longest.begin(), longest.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  longest.resize(std::min(longest.size(), kQueuesShown));
  for (const auto& [most, a] : longest) queues.lines.push_back({arc_name(plan, a), {}});
  paused.lines.push_back({"paused", {}});
  paused.lines.push_back({"deadlocked", {}});
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const auto& m = moments[i];
    const double at = micros(m.at);
    const Picoseconds span = i == 0 ? m.at : m.at - moments[i - 1].at;
    if (few)
      for (std::size_t f = 0; f < m.flows.size(); ++f)
        throughput.lines[f].points.emplace_back(
            at, rate(m.flows[f] - (i == 0 ? 0 : moments[i - 1].flows[f]), span));
    else
      throughput.lines[0].points.emplace_back(
          at, rate(m.received - (i == 0 ? 0 : moments[i - 1].received), span));
    for (std::size_t q = 0; q < longest.size(); ++q)
      queues.lines[q].points.emplace_back(at,
                                          static_cast<double>(m.queues[longest[q].second]) / 1e3);
    paused.lines[0].points.emplace_back(at, static_cast<double>(m.paused));
    paused.lines[1].points.emplace_back(at, static_cast<double>(m.deadlocked));
  }
  body += "<h2>Over time</h2>\n" + svg(throughput) + svg(queues) + svg(paused);

  std::string rows =
      "<tr><th>flow</th><th class=\"n\">Gb/s</th><th class=\"n\">done in, "
      "us</th><th>way</th></tr>\n";
  for (std::size_t i = 0; i < o.flows.size() && i < kFlowsDrawn; ++i) {
    const FlowResult& f = o.flows[i];
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"n\">{:.3f}</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
        shown(flow_name(plan, plan.flows[i])), static_cast<double>(f.throughput_bps) / 1e9,
        f.fct ? fmt::format("{:.3f}", micros(*f.fct)) : "", entities(path_text(plan, o, f)));
  }
  body += "<h2>Flows</h2>\n" + table(rows);
  if (o.flows.size() > kFlowsDrawn)
    body += fmt::format("<p>and {} more flows</p>\n", o.flows.size() - kFlowsDrawn);
  return page(fmt::format("Simulation of {}", escape(plan.name)), body);
}

}  // namespace lldp::lab::packets
