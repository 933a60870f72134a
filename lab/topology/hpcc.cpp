// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/hpcc.hpp"

#include <fmt/format.h>

#include "lab/topology/builder.hpp"
#include "lab/topology/words.hpp"

namespace lldp::lab {
namespace {

struct Unit {
  std::string_view name{};
  double scale = 0;
};
constexpr Unit kRates[] = {{"Gbps", 1e9}, {"Gb/s", 1e9}, {"Mbps", 1e6},
                           {"Mb/s", 1e6}, {"Kbps", 1e3}, {"kbps", 1e3},
                           {"kb/s", 1e3}, {"bps", 1},    {"b/s", 1}};
constexpr Unit kTimes[] = {{"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"s", 1e9}};

/// A number with its unit, as ns-3 writes them: `100Gbps`.
template <std::size_t n>
Result<std::uint64_t> quantity(Words& words, std::string_view what, const Unit (&units)[n],
                               double most) {
  const std::string_view word = words.next();
  for (const Unit& u : units)
    if (word.ends_with(u.name))
      return words.scaled(word.substr(0, word.size() - u.name.size()), what, u.scale, most);
  return words.refuse(
      fmt::format("{}: {} has a unit, as {}", Words::shown(word), what, units[0].name));
}

/// What stands first: nodes, switches and links; or in SimAI's files nodes, GPUs of a server,
/// NVSwitches, other switches, links and the name of the GPU.
struct Header {
  std::uint64_t nodes = 0;
  std::uint64_t switches = 0;
  std::uint64_t links = 0;
};
Result<Header> header(Words& words) {
  const auto nodes = words.number("the number of nodes", 1, kMaxNodes);
  if (!nodes) return fail(nodes.error());
  const std::string_view second = words.next();
  const std::string_view third = words.next();
  const bool simai = words.more_on_line();
  if (simai) {
    const auto gpus = words.number(second, "the number of GPUs of a server", 0, *nodes);
    if (!gpus) return fail(gpus.error());
  }
  const auto switches =
      words.number(simai ? third : second,
                   simai ? "the number of NVSwitches" : "the number of switches", 0, *nodes);
  if (!switches) return fail(switches.error());
  const auto more = simai ? words.number("the number of switches", 0, *nodes - *switches)
                          : Result<std::uint64_t>(0);
  if (!more) return fail(more.error());
  const auto links = simai ? words.number("the number of links", 0, kMaxLinks)
                           : words.number(third, "the number of links", 0, kMaxLinks);
  if (!links) return fail(links.error());
  if (simai && words.more_on_line()) words.next();  // A100
  return Header{*nodes, *switches + *more, *links};
}

}  // namespace

Result<Fabric> fabric_from_hpcc(std::string_view text) {
  Words words(text);
  const auto head = header(words);
  if (!head) return fail(head.error());
  const auto [nodes, switches, links] = *head;
  Fabric fabric{.name = "topology"};
  for (std::size_t i = 0; i < nodes; ++i)
    fabric.nodes.push_back({.name = fmt::format("{}", i), .role = Role::kHost});
  for (std::size_t i = 0; i < switches; ++i) {
    const auto node = words.number("a switch", 0, nodes - 1);
    if (!node) return fail(node.error());
    if (fabric.nodes[*node].role == Role::kSwitch)
      return words.refuse(fmt::format("{} is named as a switch twice", *node));
    fabric.nodes[*node].role = Role::kSwitch;
  }
  std::vector<std::size_t> ports(nodes);
  for (std::size_t i = 0; i < links; ++i) {
    Link link;
    for (LinkEnd& end : link.ends) {
      const auto node = words.number("an end of a link", 0, nodes - 1);
      if (!node) return fail(node.error());
      end = {.node = *node, .port = fmt::format("{}", ++ports[*node])};
    }
    if (link.ends[0].node == link.ends[1].node)
      return words.refuse(fmt::format("a link from {} to itself", link.ends[0].node));
    const auto rate = quantity(words, "a rate", kRates, 1e13);
    if (!rate) return fail(rate.error());
    if (*rate == 0) return words.refuse("a rate of 0");
    const auto delay = quantity(words, "a delay", kTimes, 1e9);
    if (!delay) return fail(delay.error());
    const auto errors = words.scaled("an error rate", 1e9, 1e9);
    if (!errors) return fail(errors.error());
    if (*errors >= 1'000'000'000)
      return words.refuse("an error rate of 1: no frame would arrive: leave the link out");
    link.loss_ppb = *errors;
    link.rate_bps = *rate;
    link.delay_ns = *delay;
    fabric.links.push_back(std::move(link));
  }
  if (!words.at_end()) return words.refuse(fmt::format("there are more than {} links", links));
  return complete(std::move(fabric));
}

}  // namespace lldp::lab
