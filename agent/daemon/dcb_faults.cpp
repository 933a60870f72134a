// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/dcb_faults.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/bounded.hpp"
#include "base/spelling.hpp"

namespace lldp::io {
namespace {

using Fault = report::PartReading;
using Numbers = std::array<std::uint8_t, Priority::kMax + 1>;  ///< of what each priority goes to

bool is_in(unsigned priorities, unsigned p) { return (priorities >> p & 1U) != 0; }

std::string named(unsigned priorities) {
  std::vector<unsigned> all;
  for (unsigned p = 0; p <= Priority::kMax; ++p)
    if (is_in(priorities, p)) all.push_back(p);
  return fmt::format("{} {}", all.size() == 1 ? "priority" : "priorities", fmt::join(all, ", "));
}

/// The other priorities that go where `p` goes.
unsigned beside(const Numbers& of, unsigned p) {
  unsigned others = 0;
  for (unsigned q = 0; q <= Priority::kMax; ++q)
    if (q != p && of.at(q) == of.at(p)) others |= 1U << q;
  return others;
}

/// Where `p` can go alone: its own number if that is free, else the first; `most`: there is none.
unsigned free_for(const Numbers& of, unsigned p, unsigned most) {
  const auto is_free = [&](unsigned n) { return std::ranges::find(of, n) == of.end(); };
  if (p < most && is_free(p)) return p;
  for (unsigned n = 0; n < most; ++n)
    if (is_free(n)) return n;
  return most;
}

Fault shared_class(const dcbnl::Ets& ets, const std::string& port, unsigned p) {
  const unsigned free = free_for(ets.of, p, std::min<unsigned>(ets.cap, Priority::kMax + 1U));
  const std::string text =
      fmt::format("priority {} shares traffic class {} with {}: a pause of one stops all of them",
                  p, ets.of.at(p), named(beside(ets.of, p)));
  if (free >= ets.cap)
    return {"queues", "limited",
            fmt::format("{}, and the port has {} traffic classes: set fewer classes in "
                        "qos.lossless, or give other priorities one traffic class (dcb ets)",
                        text, ets.cap)};
  return {"queues", "missing",
          fmt::format("{}: dcb ets set dev {} prio-tc {}:{}", text, shell_word(port), p, free)};
}

}  // namespace

std::vector<Fault> dcb_faults(const dcbnl::Settings& told, const std::string& port,
                              std::uint8_t lossless) {
  std::vector<Fault> faults;
  if (told.trusted && std::ranges::find(*told.trusted, dcbnl::kDscp) == told.trusted->end())
    faults.push_back(
        {"classify", "bypassed",
         fmt::format("the port does not trust DSCPs: packets have the priority of their "
                     "VLAN tag or of the port: dcb apptrust set dev {} order dscp",
                     shell_word(port))});
  for (unsigned p = 0; p <= Priority::kMax; ++p) {
    if (!is_in(lossless, p)) continue;
    // A driver that tells no number of traffic classes has no say in them.
    if (told.ets && told.ets->cap > 1 && beside(told.ets->of, p) != 0)
      faults.push_back(shared_class(*told.ets, port, p));
    if (!told.buffers) continue;
    const unsigned buffer = told.buffers->of.at(p);
    if (const unsigned lossy = beside(told.buffers->of, p) & ~unsigned{lossless}; lossy != 0) {
      const unsigned free = free_for(told.buffers->of, p, Priority::kMax + 1U);
      faults.push_back(
          {"queues", "missing",
           fmt::format("priority {} shares buffer {} with lossy {}, whose packets take its room{}",
                       p, buffer, named(lossy),
                       free > Priority::kMax
                           ? std::string()
                           : fmt::format(": dcb buffer set dev {} prio-buffer {}:{}",
                                         shell_word(port), p, free))});
    } else if (buffer < told.buffers->octets.size() && told.buffers->octets.at(buffer) == 0) {
      faults.push_back(
          {"queues", "missing",
           fmt::format("priority {} has no room in buffer {}, so frames that arrive after "
                       "a pause are lost: dcb buffer set dev {} buffer-size {}:OCTETS",
                       p, buffer, shell_word(port), buffer)});
    }
  }
  return faults;
}

}  // namespace lldp::io
