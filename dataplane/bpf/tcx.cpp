// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/tcx.hpp"

#include <fcntl.h>
#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>

#include "dataplane/bpf/kernel.hpp"
#include "dataplane/bpf/object.hpp"

namespace lldp::dataplane::bpf {
namespace {

std::string name_of(Ifindex port, Part part) {
  return std::string(Pins::kLink) + std::to_string(port.value()) +
         (part == Part::kClassify ? "-ingress" : "-egress");
}

std::optional<Ifindex> port_of(std::string_view name) {
  if (!name.starts_with(Pins::kLink)) return std::nullopt;
  name.remove_prefix(Pins::kLink.size());
  std::uint32_t n = 0;
  std::from_chars(name.data(), name.data() + name.size(), n);
  return Ifindex::make(n);
}

/// Of this network namespace's interface with that number: one that was moved to another namespace
/// keeps its links, and may keep its number.
bool is_on(const TcxLink& link, Ifindex port, Part part) {
  if (link.ifindex != port.value() || link.part != part) return false;
  const auto there = is_attached(link);
  return there ? *there : there.error().code != ENODEV;
}

}  // namespace

Tcx::Tcx(const Programs& programs) : programs_(programs) { find_strays(); }

void Tcx::find_strays() {
  std::set<std::uint32_t> kept;
  if (const auto& pins = programs_.pins()) {
    for (const std::string& name : pins->names()) {
      const auto link = port_of(name) ? get_pinned(pins->path(name)) : fail(Error{});
      if (const auto info = link ? link_info(*link) : fail(Error{})) kept.insert(info->id);
    }
  }
  const std::unique_ptr<struct if_nameindex[], void (*)(struct if_nameindex*)> interfaces(
      ::if_nameindex(), ::if_freenameindex);
  for (auto* i = interfaces.get(); i != nullptr && i->if_index != 0; ++i)
    for (const Part part : {Part::kClassify, Part::kRemap})
      find_strays(*Ifindex::make(i->if_index), part, kept);
}

void Tcx::find_strays(Ifindex port, Part part, const std::set<std::uint32_t>& kept) {
  const auto chain = tcx_chain(port, part);
  if (!chain && chain.error().code == EPERM) unknown_.insert(port);
  for (std::size_t i = 0; chain && i < chain->link_ids.size(); ++i) {
    if (chain->link_ids[i] == 0 || kept.contains(chain->link_ids[i])) continue;
    const auto name = name_of_program(chain->program_ids[i]);
    if (!name && name.error().code == EPERM) unknown_.insert(port);
    if (!name || std::ranges::find(kProgramNames, *name) == kProgramNames.end()) continue;
    auto link = link_by_id(chain->link_ids[i]);
    if (!link) continue;  // gone meanwhile
    const auto& pins = programs_.pins();
    const auto put = pins ? pins->put(*link, name_of(port, part)) : fail(Error{});
    if (put) continue;
    // A second one, beside that which is kept here.
    if (put.error().code == EEXIST && detach_link(*link)) continue;
    strays_.insert_or_assign({port, part}, std::move(*link));
  }
}

Result<UniqueFd> Tcx::link(Ifindex port, Part part) const {
  if (const auto& pins = programs_.pins()) {
    auto pinned = get_pinned(pins->path(name_of(port, part)));
    if (pinned || pinned.error().code != ENOENT) return pinned;
  }
  const auto stray = strays_.find({port, part});
  if (stray == strays_.end()) return fail(Error{ENOENT, {}, std::strerror(ENOENT)});
  UniqueFd copy(::fcntl(stray->second.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy) return fail(Error{errno, {}, std::strerror(errno)});
  return copy;
}

Result<std::optional<std::string>> Tcx::find(Ifindex port, Part part) {
  const auto link = this->link(port, part);
  if (!link && link.error().code == ENOENT) return std::nullopt;
  if (!link) return fail(link.error());
  const auto info = link_info(*link);
  if (!info) return fail(info.error());
  // The file of an interface that is no more or elsewhere, or that lost its program by force.
  if (!is_on(*info, port, part)) return std::nullopt;
  return programs_.key_of_id(info->program_id);
}

Result<void> Tcx::put(Ifindex port, Part part, const Programs::Loaded& program) {
  const std::string name = name_of(port, part);
  const auto there = find(port, part);
  if (!there) return fail(there.error());
  if (*there) {
    const auto link = this->link(port, part);
    if (!link) return fail(link.error());
    return update_link(*link, program.program(part));
  }
  programs_.pins()->remove(name);
  const auto link = attach_tcx(program.program(part), port, part);
  if (!link) return fail(link.error());
  return programs_.pins()->put(*link, name);
}

Result<void> Tcx::remove(Ifindex port, Part part) {
  const bool stray = strays_.contains({port, part});
  const auto link = this->link(port, part);
  auto detached = link ? detach_link(*link) : Result<void>();
  // Of one with a file here, what failed is done, later, by the loss of that, its last reference.
  if (!detached && stray && detached.error().code != ENOLINK) return detached;
  strays_.erase({port, part});
  if (const auto& pins = programs_.pins()) pins->remove(name_of(port, part));
  return {};
}

void Tcx::forget(Ifindex port) {
  for (Part part : {Part::kClassify, Part::kRemap}) {
    strays_.erase({port, part});
    if (const auto& pins = programs_.pins()) pins->remove(name_of(port, part));
  }
}

bool Tcx::is_shared(Ifindex port, Part part) {
  const auto chain = tcx_chain(port, part);
  return chain && !chain->program_ids.empty();
}

Result<std::vector<Ifindex>> Tcx::ports() {
  std::vector<Ifindex> ports;
  for (const auto& [place, link] : strays_) ports.push_back(place.first);
  const auto& pins = programs_.pins();
  for (const std::string& name : pins ? pins->names() : std::vector<std::string>()) {
    const auto port = port_of(name);
    const auto link = port ? get_pinned(pins->path(name)) : fail(Error{});
    const auto info = link ? link_info(*link) : fail(Error{});
    if (!info || !info->part) continue;
    if (is_on(*info, *port, *info->part))
      ports.push_back(*port);
    else
      pins->remove(name);
  }
  return ports;
}

}  // namespace lldp::dataplane::bpf
