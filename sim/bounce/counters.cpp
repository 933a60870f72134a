// SPDX-License-Identifier: Apache-2.0
#include "sim/bounce/counters.hpp"

#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>

#include "agent/control/connection.hpp"

namespace lldp::lab::bounce {
namespace {

constexpr std::chrono::seconds kPatience{5};

Result<nlohmann::json> ask(const std::string& path) {
  auto daemon = control::Connection::open(path);
  if (!daemon) return fail(daemon.error());
  const auto reply =
      daemon->ask("org.lldplevel.Rules", "{}", std::chrono::steady_clock::now() + kPatience);
  if (!reply) return fail(reply.error());
  nlohmann::json json = nlohmann::json::parse(*reply, nullptr, false);
  if (json.is_discarded()) return fail(Error{0, path, "no whole answer"});
  return json;
}

void read_counts(const nlohmann::json& reply, const Fabric& fabric,
                 const std::vector<Adjacency>& ports, Bounces& counted) {
  for (const nlohmann::json& port : reply.at("ports"))
    for (const Adjacency& a : ports) {
      if (port.at("name") != fabric.links[a.link].ends[a.own_end].port) continue;
      for (const auto& [priority, count] : port.at("bounces").items()) {
        unsigned p = 0;
        std::from_chars(priority.data(), priority.data() + priority.size(), p);
        if (count != 0)
          counted[{{a.link, a.own_end, true}, Priority::make(p).value_or(Priority{})}] = count;
      }
    }
}

}  // namespace

Result<Bounces> counted_bounces(const live::FabricPlace& place, const Fabric& fabric) {
  const auto ports_of = adjacencies(fabric);
  Bounces counted;
  for (std::size_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].role == Role::kHost) continue;
    const std::string socket = place.socket(fabric.nodes[n].name);
    const auto reply = ask(socket);
    if (!reply) return fail(reply.error());
    try {
      read_counts(*reply, fabric, ports_of[n], counted);
    } catch (const nlohmann::json::exception& e) {
      return fail(Error{0, socket, e.what()});
    }
  }
  return counted;
}

}  // namespace lldp::lab::bounce
