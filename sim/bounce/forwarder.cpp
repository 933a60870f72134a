// SPDX-License-Identifier: Apache-2.0
#include "sim/bounce/forwarder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "lab/live/fabric_of_namespaces.hpp"

namespace lldp::lab::bounce {
namespace {

constexpr char kBridge[] = "br0";
constexpr int kBridgeIndex = 99;  ///< below all ports

Result<void> set_sysctl(const std::string& name, const char* value) {
  const std::string path = "/proc/sys/net/" + name;
  std::ofstream file(path);
  if (file << value << std::flush) return {};
  return fail(Error{errno, path, std::strerror(errno)});
}

}  // namespace

Forwarder::Forwarder(const Fabric& fabric, BounceMode mode)
    : fabric_(&fabric), mode_(mode), addresses_(live::port_addresses(fabric)) {}

Result<Forwarder> Forwarder::open(const live::FabricPlace& place, const Fabric& fabric,
                                  BounceMode mode) {
  Forwarder forwarder(fabric, mode);
  const live::KeepNamespace home;
  for (std::size_t n = 0; n < fabric.nodes.size(); ++n) {
    if (auto ok = live::enter(place, fabric.nodes[n].name); !ok) return fail(ok.error());
    auto batch = live::RouteBatch::open();
    if (!batch) return fail(batch.error());
    forwarder.batches_.push_back(std::move(*batch));
    if (fabric.nodes[n].role == Role::kHost) continue;
    if (auto ok = forwarder.prepare(n); !ok) return fail(ok.error());
  }
  if (auto ok = forwarder.commit(); !ok) return fail(ok.error());
  return forwarder;
}

Result<void> Forwarder::prepare(std::size_t node) {
  live::RouteBatch& batch = batches_[node];
  const auto ports = adjacencies(*fabric_)[node];
  if (mode_ == BounceMode::kBridged) {
    // Down until no port floods: there are loops.
    batch.add_bridge(kBridge, kBridgeIndex);
    for (const Adjacency& a : ports)
      batch.enslave(live::ifindex_of(a.link, a.own_end), kBridgeIndex);
    batch.set_up(kBridge);
    return {};
  }
  if (auto ok = set_sysctl("ipv6/conf/all/forwarding", "1"); !ok) return ok;
  // No switch has a route back to where a probe comes from.
  if (auto ok = set_sysctl("ipv4/conf/all/rp_filter", "0"); !ok) return ok;
  for (const Adjacency& a : ports) {
    const std::string& port = fabric_->links[a.link].ends[a.own_end].port;
    if (auto ok = set_sysctl(fmt::format("ipv4/conf/{}/rp_filter", port), "0"); !ok) return ok;
  }
  return {};
}

Result<void> Forwarder::lay(std::size_t flow, const Path& path) {
  for (std::size_t i = 1; i < path.links.size(); ++i) {
    live::RouteBatch& batch = batches_[path.nodes[i]];
    const std::size_t link = path.links[i];
    const std::size_t own = fabric_->links[link].ends[0].node == path.nodes[i] ? 0 : 1;
    const int port = live::ifindex_of(link, own);
    if (mode_ == BounceMode::kBridged) {
      batch.replace_forwarding(mac_of(flow, true), port);
      continue;
    }
    const auto v4 = ipv4_of(flow, true);
    const auto v6 = ipv6_of(flow, true);
    for (const ByteSpan to : {ByteSpan(v4), ByteSpan(v6)}) {
      batch.replace_neighbor(to, addresses_[link][1 - own], port);
      batch.replace_route(to, port);
    }
  }
  return commit();
}

Result<void> Forwarder::cut(const FailedLinks& failed) {
  for (std::size_t i = 0; i < failed.size(); ++i)
    if (failed[i])
      for (const LinkEnd& end : fabric_->links[i].ends) batches_[end.node].set_down(end.port);
  return commit();
}

MacAddress Forwarder::first_hop(std::size_t flow, const Path& path) const {
  if (mode_ == BounceMode::kBridged) return mac_of(flow, true);
  const std::size_t link = path.links.front();
  return addresses_[link][fabric_->links[link].ends[0].node == path.nodes.front() ? 1 : 0];
}

Result<void> Forwarder::commit() {
  for (std::size_t n = 0; n < batches_.size(); ++n)
    if (auto ok = batches_[n].commit(); !ok) {
      Error e = ok.error();
      e.where = fabric_->nodes[n].name + ":" + e.where;
      return fail(std::move(e));
    }
  return {};
}

}  // namespace lldp::lab::bounce
