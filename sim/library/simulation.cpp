// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/text.hpp"
#include "sim/library/lldp_level_sim.h"
#include "sim/packets/plan_file.hpp"
#include "sim/packets/run.hpp"

namespace {

using namespace lldp;
using namespace lldp::lab::packets;

/// The first version's. A later one may be longer.
constexpr std::size_t kLeastFlow = sizeof(lls_flow);
constexpr std::size_t kMostSize = 4096;
constexpr std::size_t kLeastTotals = offsetof(lls_totals, packet_hops);
constexpr std::uint64_t kMostFrames = 4'000'000'000;
constexpr std::uint64_t kMostFlows = 0xffff'fff0;
/// 115 days: sums of such times do not wrap.
constexpr Picoseconds kLatest = 10'000'000 * kSecond;

void say(char* error, std::size_t size, std::string_view what) {
  if (error == nullptr || size == 0) return;
  const std::size_t count = std::min(size - 1, what.size());
  std::memcpy(error, what.data(), count);
  error[count] = '\0';
}

}  // namespace

struct lls_simulation {
  explicit lls_simulation(Plan from) : plan(std::move(from)) {
    plan.duration = kNever;
    for (std::size_t n = 0; n < plan.fabric.nodes.size(); ++n) {
      if (plan.fabric.nodes[n].role != Role::kHost) continue;
      by_name.emplace(plan.fabric.nodes[n].name, static_cast<std::uint32_t>(hosts.size()));
      hosts.push_back(n);
    }
  }

  struct Moment {
    lls_moment call = nullptr;
    void* user = nullptr;
  };
  struct Done {
    lls_done call = nullptr;
    void* user = nullptr;
  };

  lls_result refuse(lls_result why, std::string what) {
    error = std::move(what);
    return why;
  }
  void notice(Kind what, std::uint32_t which) {
    if (what == Kind::kMoment) {
      const Moment m = moments[which];
      free_moments.push_back(which);
      m.call(this, m.user);
    } else if (const auto asked = done.find(which); asked != done.end()) {
      const Done d = asked->second;
      done.erase(asked);
      d.call(this, which, d.user);
    }
  }

  Plan plan;
  Hooks hooks{};
  std::vector<std::size_t> hosts{};  ///< index in Fabric::nodes
  std::map<std::string, std::uint32_t, std::less<>> by_name{};
  std::unique_ptr<Simulation> run{};
  std::unordered_map<std::uint32_t, Done> done{};  ///< by flow: the callback to call
  std::vector<Moment> moments{};
  std::vector<std::uint32_t> free_moments{};
  std::string error{};
  bool running = false;
  bool broken = false;
};

namespace {

lls_simulation* made(Result<Plan> plan, char* error, std::size_t size) {
  if (!plan) {
    say(error, size, to_string(plan.error()));
    return nullptr;
  }
  if (!plan->program.operations.empty()) {
    say(error, size, "traffic: flows that wait for others are for the caller to send");
    return nullptr;
  }
  auto s = std::make_unique<lls_simulation>(std::move(*plan));
  auto run = simulate(s->plan, s->hooks, [raw = s.get()](Kind what, std::uint32_t which) {
    raw->notice(what, which);
  });
  if (!run) {
    say(error, size, to_string(run.error()));
    return nullptr;
  }
  s->run = std::move(*run);
  say(error, size, "");
  return s.release();
}

/// Nothing that is thrown gets out.
template <class Make>
lls_simulation* guarded_make(char* error, std::size_t size, const Make& make) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    say(error, size, "no memory");
  } catch (const std::exception& e) {
    say(error, size, e.what());
  } catch (...) {
    say(error, size, "unknown error");
  }
  return nullptr;
}

/// The same for what is done to a simulation that may be none, or broken.
template <class Do>
lls_result guarded(lls_simulation* s, const Do& what) {
  if (s == nullptr) return LLS_ARGUMENT;
  if (s->broken) return LLS_BROKEN;
  const bool was_running = s->running;
  try {
    return what();
  } catch (const std::bad_alloc&) {
    s->error = "no memory";
  } catch (const std::exception& e) {
    s->error = std::string("stopped by an exception: ").append(e.what(), 0, 200);
  } catch (...) {
    s->error = "stopped by an exception";
  }
  s->broken = true;  // in the middle of something
  s->running = was_running;
  s->run->halt();
  return LLS_BROKEN;
}

/// As a switch would: flows between the same two go the same way, by another seed maybe another
/// one. Seed 1 adds nothing.
std::uint64_t hash_of(std::uint64_t from, std::uint64_t to, std::uint64_t seed) {
  std::uint64_t h = (from << 32 | to) * 0x9e37'79b9'7f4a'7c15 + (seed - 1) * 0xd6e8'feb8'6659'fd93;
  h = (h ^ h >> 29) * 0xbf58'476d'1ce4'e5b9;
  return (h ^ h >> 32) | 1U;
}

/// A later version's structure, of which nothing new is used, is as good as ours.
bool all_zero_beyond(const lls_flow& flow) {
  if (flow.size > kMostSize) return false;
  const char* const octets = reinterpret_cast<const char*>(&flow);
  return std::all_of(octets + sizeof flow, octets + std::max(flow.size, sizeof flow),
                     [](char c) { return c == 0; });
}

lls_result refusal(lls_simulation* s, const lls_flow& f) {
  const auto refuse = [&](std::string what) { return s->refuse(LLS_ARGUMENT, std::move(what)); };
  if (f.from >= s->hosts.size() || f.to >= s->hosts.size())
    return refuse(fmt::format("{}: {}: there are {} hosts",
                              f.from >= s->hosts.size() ? "from" : "to",
                              f.from >= s->hosts.size() ? f.from : f.to, s->hosts.size()));
  if (f.from == f.to) return refuse("to: is where the flow begins");
  const std::uint64_t most = kMostFrames * s->plan.settings.payload_octets;
  if (f.octets > most) return refuse(fmt::format("octets: {}: at most {}", f.octets, most));
  if (f.start > kLatest) return refuse(fmt::format("start: {}: at most {}", f.start, kLatest));
  if (f.rate_bps != 0 && f.rate_bps < 1000)
    return refuse(fmt::format("rate_bps: {}: 1000 or more", f.rate_bps));
  if (f.transport > LLS_PACED)
    return refuse(fmt::format("transport: {}: there is none such", f.transport));
  const std::size_t classes = s->plan.settings.policy.classes().size();
  if (f.lossless_class >= classes)
    return refuse(fmt::format("lossless_class: {}: there are {}", f.lossless_class, classes));
  if (s->run->network().flows.size() >= kMostFlows) return refuse("there are too many flows");
  return LLS_OK;
}

}  // namespace

extern "C" {

uint32_t lls_api_version(void) { return LLS_API_VERSION; }
const char* lls_release(void) { return LLDP_VERSION; }

lls_simulation* lls_create(const char* scenario, const char* directory, char* error,
                           size_t error_size) {
  return guarded_make(error, error_size, [&]() -> lls_simulation* {
    if (scenario == nullptr) {
      say(error, error_size, "there is no scenario");
      return nullptr;
    }
    return made(plan_from_json(scenario, files_in(directory == nullptr ? "" : directory), {},
                               WithoutFlows::kTaken),
                error, error_size);
  });
}

lls_simulation* lls_open(const char* path, char* error, size_t error_size) {
  return guarded_make(error, error_size, [&]() -> lls_simulation* {
    if (path == nullptr) {
      say(error, error_size, "there is no scenario");
      return nullptr;
    }
    return made(plan_from_file(path, {}, WithoutFlows::kTaken), error, error_size);
  });
}

lls_result lls_destroy(lls_simulation* simulation) {
  if (simulation == nullptr) return LLS_OK;
  if (simulation->running) return simulation->refuse(LLS_BUSY, "a callback cannot destroy");
  delete simulation;
  return LLS_OK;
}

const char* lls_error(const lls_simulation* simulation) {
  return simulation == nullptr ? "there is no simulation" : simulation->error.c_str();
}

uint32_t lls_hosts(const lls_simulation* simulation) {
  return simulation == nullptr ? 0 : static_cast<uint32_t>(simulation->hosts.size());
}

const char* lls_host_name(const lls_simulation* simulation, uint32_t host) {
  if (simulation == nullptr || host >= simulation->hosts.size()) return nullptr;
  return simulation->plan.fabric.nodes[simulation->hosts[host]].name.c_str();
}

uint32_t lls_host(const lls_simulation* simulation, const char* name) {
  if (simulation == nullptr || name == nullptr) return LLS_NO_HOST;
  const auto at = simulation->by_name.find(std::string_view(name));
  return at == simulation->by_name.end() ? LLS_NO_HOST : at->second;
}

lls_result lls_send(lls_simulation* simulation, const lls_flow* flow, uint64_t* number) {
  lls_simulation* const s = simulation;
  return guarded(s, [&] {
    if (flow == nullptr) return s->refuse(LLS_ARGUMENT, "there is no flow");
    if (flow->size < kLeastFlow) return s->refuse(LLS_ARGUMENT, "size: set it to sizeof(lls_flow)");
    if (!all_zero_beyond(*flow))
      return s->refuse(LLS_ARGUMENT,
                       "size: asks for what this version of the library does not know");
    const lls_flow& f = *flow;
    if (const lls_result why = refusal(s, f); why != LLS_OK) return why;
    constexpr HostTransport kTransport[] = {HostTransport::kGoBackN, HostTransport::kSelective,
                                            HostTransport::kPaced};
    const auto sent = s->run->send(
        {.spec = {.octets = f.octets,
                  .rate_bps = f.rate_bps,
                  .start = f.start,
                  .transport = kTransport[f.transport],
                  .lossless_class = static_cast<std::uint8_t>(f.lossless_class)},
         .way = {.from = s->hosts[f.from],
                 .to = s->hosts[f.to],
                 .hash = f.hash != 0 ? f.hash : hash_of(f.from, f.to, s->plan.settings.seed)}});
    if (!sent) return s->refuse(LLS_NO_WAY, to_string(sent.error()));
    if (f.done != nullptr) s->done[*sent] = {f.done, f.user};
    if (number != nullptr) *number = *sent;
    return LLS_OK;
  });
}

uint64_t lls_finished(const lls_simulation* simulation, uint64_t flow) {
  if (simulation == nullptr) return LLS_FOREVER;
  const auto& flows = simulation->run->network().flows;
  return flow < flows.size() ? flows[flow].finish : LLS_FOREVER;
}

lls_result lls_at(lls_simulation* simulation, uint64_t at, lls_moment moment, void* user) {
  lls_simulation* const s = simulation;
  return guarded(s, [&] {
    if (moment == nullptr) return s->refuse(LLS_ARGUMENT, "moment: there is no callback");
    if (at > kLatest)
      return s->refuse(LLS_ARGUMENT, fmt::format("at: {}: at most {}", at, kLatest));
    if (s->free_moments.empty()) {
      s->free_moments.push_back(static_cast<std::uint32_t>(s->moments.size()));
      s->moments.emplace_back();
    }
    const std::uint32_t which = s->free_moments.back();
    s->moments[which] = {moment, user};
    s->run->call_at(at, which);
    s->free_moments.pop_back();
    return LLS_OK;
  });
}

lls_result lls_run_until(lls_simulation* simulation, uint64_t until) {
  lls_simulation* const s = simulation;
  return guarded(s, [&] {
    if (s->running)
      return s->refuse(LLS_BUSY, "a callback cannot run the simulation that calls it");
    s->running = true;
    const Simulation::Halt why = s->run->run_until(until);
    s->running = false;
    if (s->broken) return LLS_BROKEN;  // by what a callback called
    switch (why) {
      case Simulation::Halt::kTime:
        return LLS_OK;
      case Simulation::Halt::kIdle:
        return LLS_IDLE;
      case Simulation::Halt::kAsked:
        return LLS_STOPPED;
      case Simulation::Halt::kDeadlock:
        return LLS_DEADLOCK;
    }
    return LLS_BROKEN;
  });
}

void lls_stop(lls_simulation* simulation) {
  if (simulation != nullptr && simulation->running) simulation->run->halt();
}

uint64_t lls_now(const lls_simulation* simulation) {
  return simulation == nullptr ? 0 : simulation->run->network().now;
}

int lls_deadlocked(lls_simulation* simulation) {
  bool is = false;
  guarded(simulation, [&] {
    is = simulation->run->deadlocked();
    return LLS_OK;
  });
  return is ? 1 : 0;
}

lls_result lls_get_totals(const lls_simulation* simulation, lls_totals* totals) {
  if (simulation == nullptr || totals == nullptr || totals->size < kLeastTotals)
    return LLS_ARGUMENT;
  const Network& n = simulation->run->network();
  const Counters& c = n.count;
  const lls_totals all = {.size = totals->size,
                          .events = c.events,
                          .packet_hops = c.hops,
                          .drops = c.drops,
                          .drops_lossy = c.drops_lossy,
                          .lost = c.lost,
                          .pauses = c.pauses,
                          .turned = c.turned,
                          .ecn_marks = c.ecn_marks,
                          .sent_octets = c.sent,
                          .delivered_octets = c.delivered,
                          .flows = n.flows.size(),
                          .unfinished = n.unfinished,
                          .digest = c.digest};
  std::memcpy(totals, &all, std::min(totals->size, sizeof all));
  return LLS_OK;
}

}  // extern "C"
