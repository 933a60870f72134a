// SPDX-License-Identifier: Apache-2.0
#include "sim/lossless/lookout.hpp"

#include <algorithm>
#include <cerrno>

namespace lldp::lab::lossless {
namespace {

using packets::kMillisecond;
using packets::kSecond;

constexpr Picoseconds kLook = 100 * kMillisecond;  ///< between two rounds
constexpr Picoseconds kStillness = 3 * kSecond;

}  // namespace

void Lateness::read(std::size_t process, Picoseconds behind) {
  most_ = std::max(most_, behind - first_.try_emplace(process, behind).first->second);
}

Result<void> Lookout::run(Picoseconds now) {
  if (now < due_) return {};
  if (!unanswered_.empty()) return fail(switches_.at(*unanswered_.begin()).silence(ETIMEDOUT));
  for (const auto& [node, client] : switches_) {
    if (auto ok = client.ask(); !ok) return ok;
    unanswered_.insert(node);
  }
  due_ = now + kStillness;
  return {};
}

Result<bool> Lookout::take(std::size_t node, Picoseconds now) {
  auto view = switches_.at(node).answer();
  if (!view) return fail(view.error());
  views_.insert_or_assign(node, std::move(*view));
  unanswered_.erase(node);
  if (!unanswered_.empty()) return false;
  due_ = now + kLook;
  ++still_;
  if (const std::uint64_t frames = sum(&dataplane::soft::Port::sent); frames != frames_) {
    still_ = 0;
    frames_ = frames;
    pauses_ = sum(&dataplane::soft::Port::pauses_sent);
    moved_ = now;
  }
  return true;
}

std::uint64_t Lookout::sum(std::uint64_t dataplane::soft::Port::*what) const {
  std::uint64_t all = 0;
  for (const auto& [node, view] : views_)
    for (const auto& [name, port] : view.ports) all += port.*what;
  return all;
}

}  // namespace lldp::lab::lossless
