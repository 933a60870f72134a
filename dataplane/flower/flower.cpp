// SPDX-License-Identifier: Apache-2.0
#include "dataplane/flower/flower.hpp"

#include <fmt/format.h>
#include <linux/pkt_sched.h>
#include <net/if.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "dataplane/parts.hpp"

namespace lldp::dataplane {
namespace {

using flower::Block;
using flower::Filter;
using flower::Found;
using flower::Mode;

constexpr Block kBlocks[] = {Block::kIngress,   Block::kUp,          Block::kOther,
                             Block::kRestoring, Block::kShutIngress, Block::kShut};

bool leads_up(const qos::Ruleset& rules) { return rules.port.order == Order::kUp; }

std::uint32_t number_of(Block block) { return static_cast<std::uint32_t>(block); }

std::string name_of(Ifindex port) {
  std::array<char, IF_NAMESIZE> name{};
  return ::if_indextoname(port.value(), name.data()) != nullptr ? name.data()
                                                                : std::to_string(port.value());
}

Error foreign() {
  return {EEXIST,
          {},
          "a clsact or ingress qdisc that is not ours stands on the port: delete it, or, if no "
          "lossless packets take the port, leave it out of `ports`"};
}

constexpr std::string_view kLayered = "flower cannot tell layers apart: use bpf";

}  // namespace

Flower::Blocks Flower::blocks_of(Stand stand) {
  switch (stand) {
    case Stand::kUp:
      return {Block::kIngress, Block::kUp};
    case Stand::kRestoring:
      return {Block::kIngress, Block::kRestoring};
    case Stand::kShut:
      return {Block::kShutIngress, Block::kShut};
    case Stand::kOther:
    case Stand::kNothing:
    case Stand::kForeign:
      break;
  }
  return {Block::kIngress, Block::kOther};
}

Flower::Stand Flower::stand_of(const qos::Ruleset& rules) {
  if (leads_up(rules)) return Stand::kUp;
  if (rules.port.order == Order::kShut) return Stand::kShut;
  return rules.leaving.empty() ? Stand::kOther : Stand::kRestoring;
}

Result<std::unique_ptr<Backend>> Flower::open(const FlowerOptions& options) {
  auto socket = TcSocket::open();
  if (!socket) return fail(socket.error());
  auto events = TcEvents::open();
  if (!events) return fail(events.error());
  events->ignore(*socket);
  return std::unique_ptr<Backend>(new Flower(std::move(*socket), std::move(*events), options));
}

Capabilities Flower::capabilities() const {
  const Support by =
      options_.offload == FlowerOptions::Offload::kOff ? Support::kSoftware : Support::kHardware;
  return {by, by, Support::kNo, Support::kNo};
}

std::string Flower::description() const {
  std::string text = fmt::format("tc flower on clsact, blocks {} to {}", number_of(Block::kIngress),
                                 number_of(Block::kShut));
  if (!view_) return text;
  if (const auto mode = mode_of(*view_); mode) {
    text += *mode == Mode::kHardware ? ", in hardware" : ", in software";
    if (*mode == Mode::kSoftware && !refusal_.empty()) text += " (" + refusal_ + ")";
  }
  const auto up = view_->filters.find(Block::kUp);
  if (up == view_->filters.end()) return text;
  std::map<Dscp, std::uint64_t> turned;
  for (const Found& found : up->second)
    if (found.filter.rewrite && found.filter.dscp) turned[*found.filter.dscp] += found.packets;
  for (const auto& [dscp, packets] : turned)
    text += fmt::format(", {} packets of dscp{} turned", packets, dscp.value());
  return text;
}

Result<Flower::View> Flower::read() {
  View view;
  bool any = false;
  auto done =
      socket_.dump(TcMessage(RTM_GETQDISC, NLM_F_DUMP, Ifindex(), 0), [&](const TcObject& q) {
        if (q.kind != "clsact" && q.kind != "ingress") return;
        Stand stand = Stand::kForeign;
        for (const Stand ours : {Stand::kUp, Stand::kOther, Stand::kRestoring, Stand::kShut})
          if (q.ingress_block == number_of(blocks_of(ours).ingress) &&
              q.egress_block == number_of(blocks_of(ours).egress))
            stand = ours;
        any |= stand != Stand::kForeign;
        view.ports[q.port] = stand;
      });
  if (!done) return fail(done.error());
  if (!any) return view;  // without a port there is no block
  for (const Block block : kBlocks) {
    done = socket_.dump(flower::dump_message(block), [&](const TcObject& f) {
      if (auto found = flower::parse(f)) view.filters[block].push_back(std::move(*found));
    });
    // Of a block without ports older kernels say that there is none.
    if (!done && done.error().code != EINVAL && done.error().code != ENOENT)
      return fail(done.error());
  }
  return view;
}

Result<const Flower::View*> Flower::view() {
  // What the kernel tells of changes stays for take_events(): here it only says that there are any.
  pollfd ready{.fd = events_.fd(), .events = POLLIN, .revents = 0};
  if (!view_ || ::poll(&ready, 1, 0) != 0) {
    auto now = read();
    if (!now) return fail(now.error());
    view_ = std::move(*now);
  }
  return &*view_;
}

std::optional<Mode> Flower::mode_of(const View& view) const {
  using enum FlowerOptions::Offload;
  if (options_.offload != kAuto)
    return options_.offload == kRequire ? Mode::kHardware : Mode::kSoftware;
  for (const auto& [block, filters] : view.filters)
    if (!filters.empty()) return filters.front().mode;
  return std::nullopt;
}

bool Flower::are_right(const View& view, Block block, const qos::Ruleset& rules) const {
  std::set<Filter> left = flower::shared_filters(block, rules);
  const auto mode = mode_of(view);
  const auto at = view.filters.find(block);
  if (at != view.filters.end())
    for (const Found& found : at->second) {
      if (flower::is_from_port(found.filter)) continue;
      const auto want = left.find(found.filter);
      if (want == left.end() || found.mode != mode || !found.does(*want)) return false;
      left.erase(want);
    }
  return left.empty();
}

Flower::Look Flower::look(const View& view, const PortRef& port, Part part,
                          const qos::Ruleset* want) const {
  const auto at = view.ports.find(port.ifindex);
  const Stand stand = at == view.ports.end() ? Stand::kNothing : at->second;
  Look look{.there = stand != Stand::kNothing && stand != Stand::kForeign};
  if (!look.there || want == nullptr) return look;
  const bool up = leads_up(*want);
  const Blocks blocks = blocks_of(stand_of(*want));
  if (part == Part::kRemap) {
    if (stand != stand_of(*want))
      look.wrong = "the egress is that of a port of another order";
    else if (!are_right(view, blocks.egress, *want))
      look.wrong = "the filters at the egress are not as wanted";
    return look;
  }
  if (blocks_of(stand).ingress != blocks.ingress)
    look.wrong = "the ingress is that of a port of another order";
  else if (!are_right(view, blocks.ingress, *want))
    look.wrong = "the filters at the ingress are not as wanted";
  const Filter from = flower::from_port(port.ifindex, port.name);
  bool found_it = false;
  if (const auto filters = view.filters.find(Block::kUp); filters != view.filters.end())
    for (const Found& found : filters->second) {
      if (!flower::is_from_port(found.filter) || found.filter.handle != from.handle) continue;
      found_it = true;
      if (!up || found.mode != mode_of(view) || !found.does(from))
        look.wrong = "the filter for what came in by this port is not the one wanted";
    }
  if (up && !found_it) look.wrong = "no filter matches what came in by this port";
  return look;
}

Result<PortPlan> Flower::plan_from(const PortRef& port, std::optional<qos::Ruleset> want) {
  const auto now = view();
  if (!now) return fail(now.error());
  const bool layered = want && want->layered;
  const qos::Ruleset* rules = want && !layered ? &*want : nullptr;
  const auto state = [&](Part part) -> std::optional<bool> {
    if (part == Part::kQueues) return std::nullopt;
    const Look found = look(**now, port, part, rules);
    return found.there ? std::optional(found.wrong.empty()) : std::nullopt;
  };
  if (!layered) return make_plan(port, want, state);
  PortPlan plan = make_plan(port, std::nullopt, state);
  plan.want = std::move(want);
  return plan;
}

Result<PortPlan> Flower::plan(const PortRef& port, const qos::Ruleset& want) {
  return plan_from(port, want);
}

Result<PortPlan> Flower::plan_removal(const PortRef& port) { return plan_from(port, std::nullopt); }

Result<Reading> Flower::verify(const PortRef& port, const qos::Ruleset& want) {
  auto plan = plan_from(port, want);
  if (!plan) return fail(plan.error());
  const View& now = *view_;
  const auto at = now.ports.find(port.ifindex);
  const bool taken = at != now.ports.end() && at->second == Stand::kForeign;
  LinkFacts facts;
  if (mode_of(now) != Mode::kHardware) {
    const auto read =
        socket_.links(port.ifindex, [&](Ifindex, const LinkFacts& its) { facts = its; });
    if (!read) return fail(read.error());
  }
  Reading reading{.mend = std::move(*plan)};
  for (const Part part : {Part::kClassify, Part::kRemap}) {
    PartReading read{.part = part, .state = PartState::kDone};
    const Look found = look(now, port, part, &want);
    if (want.layered) {
      read.state = PartState::kUnsupported;
      read.text = kLayered;
    } else if (taken) {
      read.state = PartState::kForeign;
      read.text = foreign().what;
    } else if (!found.there || !found.wrong.empty()) {
      read.state = PartState::kMissing;
      read.text = found.there ? found.wrong : "not there";
    } else if (facts.switch_port) {
      read.state = PartState::kBypassed;
      read.text = "in software, and the switch chip forwards past the kernel" +
                  (refusal_.empty() ? std::string() : ": " + refusal_);
    }
    reading.parts.push_back(std::move(read));
  }
  if (taken) reading.mend.changes.clear();
  return reading;
}

Events Flower::take_events() {
  Events events = std::exchange(told_, {});
  const std::vector<Ifindex> changed = events_.take();
  if (!changed.empty()) view_.reset();
  events.changed.insert(events.changed.end(), changed.begin(), changed.end());
  return events;
}

std::vector<Ifindex> Flower::glance(std::span<const Ifindex> ports, Glance) {
  // No event reports what a driver drops by itself.
  const auto before = std::exchange(view_, std::nullopt);
  const auto now = view();
  if (!now || !before) return {ports.begin(), ports.end()};
  const auto gone = [](const View& v) {
    std::vector<std::pair<Filter, bool>> out;
    for (const auto& [block, filters] : v.filters)
      for (const Found& f : filters) out.emplace_back(f.filter, f.in_hardware);
    return out;
  };
  if (gone(*before) == gone(**now) && before->ports == (*now)->ports) return {};
  return {ports.begin(), ports.end()};
}

Result<void> Flower::unbind(View& view, Ifindex port) {
  TcMessage gone(RTM_DELQDISC, 0, port, TC_H_CLSACT);
  auto done = socket_.request(gone.text(TCA_KIND, "clsact"));
  if (!done && done.error().code != ENOENT && done.error().code != EINVAL) return done;
  view.ports.erase(port);
  // With its last port a block goes, and all its filters.
  std::erase_if(view.filters, [&](const auto& filters) {
    return std::ranges::none_of(view.ports, [&](const auto& p) {
      const Blocks blocks = blocks_of(p.second);
      return p.second != Stand::kForeign &&
             (filters.first == blocks.ingress || filters.first == blocks.egress);
    });
  });
  return {};
}

Result<void> Flower::bind(View& view, Ifindex port, Stand stand) {
  const auto at = view.ports.find(port);
  if (at != view.ports.end()) {
    if (at->second == stand) return {};
    if (at->second == Stand::kForeign) return fail(foreign());
    // A qdisc keeps the blocks that it was made with.
    if (auto done = unbind(view, port); !done) return done;
  }
  TcMessage message(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, port, TC_H_CLSACT,
                    TC_H_MAKE(TC_H_CLSACT, 0));
  message.text(TCA_KIND, "clsact")
      .number(TCA_INGRESS_BLOCK, number_of(blocks_of(stand).ingress))
      .number(TCA_EGRESS_BLOCK, number_of(blocks_of(stand).egress));
  auto done = socket_.request(message);
  if (!done && done.error().code == EEXIST) return fail(foreign());
  if (!done && done.error().code == EOPNOTSUPP)
    done.error().what +=
        ": the driver takes no rules here, and those of other ports are in hardware";
  if (done) view.ports[port] = stand;
  return done;
}

Result<void> Flower::set(View& view, Block block, const Filter& filter, Mode mode) {
  auto& filters = view.filters[block];
  const auto same = [&](const Found& f) {
    return f.filter.chain == filter.chain && f.filter.preference == filter.preference &&
           f.filter.protocol == filter.protocol && f.filter.handle == filter.handle;
  };
  const auto at = std::ranges::find_if(filters, same);
  if (at != filters.end() && at->mode == mode && at->does(filter)) return {};
  if (at != filters.end())
    if (auto gone = drop(view, block, Filter(at->filter)); !gone) return gone;
  auto done = socket_.request(flower::put_message(block, filter, mode));
  if (!done) {
    // The kernel's own answer, without a driver's words.
    if (mode == Mode::kHardware && done.error().code == EOPNOTSUPP &&
        done.error().what.find("this kernel lacks") != std::string::npos)
      done.error().what = fmt::format(
          "the driver of this port, or of another with rules, takes no flower filters at the {}",
          block == Block::kIngress || block == Block::kShutIngress ? "ingress" : "egress");
    return done;
  }
  Found found{.filter = filter, .mode = mode, .in_hardware = mode == Mode::kHardware};
  found.checksum = false;
  Found mends = found;
  mends.checksum = true;
  view.filters[block].push_back(found.does(filter) ? found : mends);
  return done;
}

Result<void> Flower::drop(View& view, Block block, const Filter& filter) {
  auto done = socket_.request(flower::delete_message(block, filter));
  if (!done && done.error().code != ENOENT && done.error().code != EINVAL) return done;
  std::erase_if(view.filters[block], [&](const Found& f) { return f.filter == filter; });
  return {};
}

Result<void> Flower::put(View& view, const PortRef& port, const qos::Ruleset& want, Mode mode) {
  const bool up = leads_up(want);
  const Filter from = flower::from_port(port.ifindex, port.name);
  // Nothing turns by a filter whose port has gone before its qdisc has.
  if (!up && view.filters.contains(Block::kUp)) {
    std::vector<Filter> gone;
    for (const Found& found : view.filters[Block::kUp])
      if (flower::is_from_port(found.filter) && found.filter.handle == from.handle)
        gone.push_back(found.filter);
    for (const Filter& filter : gone)
      if (auto done = drop(view, Block::kUp, filter); !done) return done;
  }
  const Stand stand = stand_of(want);
  if (auto done = bind(view, port.ifindex, stand); !done) return done;
  for (const Block block : {blocks_of(stand).ingress, blocks_of(stand).egress}) {
    const std::set<Filter> wanted = flower::shared_filters(block, want);
    for (const Filter& filter : wanted)
      if (auto done = set(view, block, filter, mode); !done) return done;
    std::vector<Filter> stale;
    for (const Found& found : view.filters[block])
      if (!flower::is_from_port(found.filter) && !wanted.contains(found.filter))
        stale.push_back(found.filter);
    for (const Filter& filter : stale)
      if (auto done = drop(view, block, filter); !done) return done;
  }
  if (!up) return {};
  return set(view, Block::kUp, from, mode);
}

Outcome Flower::apply(View& view, const PortPlan& plan) {
  Outcome outcome{.port = plan.port.ifindex};
  if (plan.empty()) return outcome;
  const auto at = view.ports.find(plan.port.ifindex);
  const Stand before = at == view.ports.end() ? Stand::kNothing : at->second;
  const auto away = [&]() -> Result<void> {
    if (before == Stand::kForeign || !view.ports.contains(plan.port.ifindex)) return {};
    const Filter from = flower::from_port(plan.port.ifindex, plan.port.name);
    if (view.filters.contains(Block::kUp))
      for (const Found& found : std::vector(view.filters[Block::kUp]))
        if (flower::is_from_port(found.filter) && found.filter.handle == from.handle)
          if (auto done = drop(view, Block::kUp, found.filter); !done) return done;
    return unbind(view, plan.port.ifindex);
  };
  const auto refuse = [&](Error why) {
    why.where = plan.port.name;
    outcome.refused = plan.changes.front();
    outcome.why = std::move(why);
  };
  if (!plan.want || plan.want->layered) {
    if (const auto done = away(); !done) refuse(done.error());
    return outcome;
  }
  const auto mode = mode_of(view);
  auto done = put(view, plan.port, *plan.want, mode.value_or(Mode::kHardware));
  if (!done && !mode && done.error().code != ENODEV && done.error().code != EPERM &&
      done.error().code != EEXIST) {
    refusal_ = done.error().what;
    (void)away();
    done = put(view, plan.port, *plan.want, Mode::kSoftware);
  }
  if (done) return outcome;
  // As it was: bare, or as a port of the order that it had.
  (void)away();
  if (before != Stand::kNothing && before != Stand::kForeign) {
    (void)bind(view, plan.port.ifindex, before);
    if (before == Stand::kUp && mode)
      (void)set(view, Block::kUp, flower::from_port(plan.port.ifindex, plan.port.name), *mode);
  }
  refuse(done.error());
  return outcome;
}

void Flower::apply(const Plan& plan) {
  auto now = read();
  for (const PortPlan& port : plan.ports) {
    told_.changed.push_back(port.port.ifindex);
    told_.outcomes.push_back(now ? apply(*now, port)
                                 : Outcome{.port = port.port.ifindex, .why = now.error()});
  }
  view_.reset();
}

void Flower::forget(Ifindex port) {
  const auto now = view();
  if (!now || (*now)->ports.contains(port)) return;  // it is there: its rules are too
  View copy = **now;
  const auto up = copy.filters.find(Block::kUp);
  if (up == copy.filters.end()) return;
  for (const Found& found : std::vector(up->second))
    if (flower::is_from_port(found.filter) && found.filter.handle == port.value())
      (void)drop(copy, Block::kUp, found.filter);
  view_.reset();
}

Result<std::vector<PortRef>> Flower::ports() {
  const auto now = view();
  if (!now) return fail(now.error());
  std::vector<PortRef> out;
  for (const auto& [port, stand] : (*now)->ports)
    if (stand != Stand::kForeign) out.push_back({port, name_of(port)});
  return out;
}

}  // namespace lldp::dataplane
