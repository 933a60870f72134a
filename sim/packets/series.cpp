// SPDX-License-Identifier: Apache-2.0
#include "sim/packets/series.hpp"

#include <fmt/format.h>

#include <iterator>

#include "base/text.hpp"

namespace lldp::lab::packets {
namespace {

/// A field of CSV: in quotes where it has to be (RFC 4180).
std::string quoted(std::string_view raw) {
  std::string text = escape(raw);
  if (text.find_first_of(",\"") == text.npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

}  // namespace

std::string Series::sample(const Network& n) {
  received_.resize(n.flows.size());
  rates_.resize(n.flows.size());
  ports_.resize(n.arcs());
  std::string text;
  const auto line = [&, out = std::back_inserter(text)](std::string_view what,
                                                        std::string_view name, std::uint64_t now,
                                                        std::uint64_t& last) {
    if (now == 0 && last == 0) return;
    last = now;
    fmt::format_to(out, "{},{},{},{}\n", n.now / kNanosecond, what, quoted(name), now);
  };
  const Picoseconds span = n.now - before_;
  for (std::size_t f = 0; f < n.flows.size() && span != 0; ++f) {
    const std::uint64_t bits = (n.flows[f].received - received_[f]) * 8;
    received_[f] = n.flows[f].received;
    const auto rate =
        static_cast<std::uint64_t>(static_cast<unsigned __int128>(bits) * kSecond / span);
    if (rate != 0 || rates_[f] != 0)
      line("throughput_bps", flow_name(plan_, plan_.flows[f]), rate, rates_[f]);
  }
  for (Arc a = 0; a < n.arcs(); ++a) {
    const Port& p = n.ports[a];
    if (!p.forwards) continue;
    std::uint64_t octets = 0;
    for (const Queue& q : n.queues_of(a)) octets += q.octets;
    const Link& link = plan_.fabric.links[a / 2];
    const std::string name = fmt::format("{}>{}", plan_.fabric.nodes[link.ends[a % 2].node].name,
                                         plan_.fabric.nodes[link.ends[1 - a % 2].node].name);
    line("queue_octets", name, octets, ports_[a].queue);
    line("paused", name, p.paused, ports_[a].paused);
  }
  before_ = n.now;
  return text;
}

}  // namespace lldp::lab::packets
