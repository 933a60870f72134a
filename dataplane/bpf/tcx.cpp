// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/tcx.hpp"

#include <cerrno>
#include <charconv>

#include "dataplane/bpf/kernel.hpp"

namespace lldp::dataplane::bpf {
namespace {

constexpr std::string_view kPort = "port-";

std::string name_of(Ifindex port, Part part) {
  return std::string(kPort) + std::to_string(port.value()) +
         (part == Part::kClassify ? "-ingress" : "-egress");
}

std::optional<Ifindex> port_of(std::string_view name) {
  if (!name.starts_with(kPort)) return std::nullopt;
  name.remove_prefix(kPort.size());
  std::uint32_t n = 0;
  std::from_chars(name.data(), name.data() + name.size(), n);
  return Ifindex::make(n);
}

}  // namespace

Result<std::optional<std::string>> Tcx::find(Ifindex port, Part part) {
  const auto link = get_pinned(pins().path(name_of(port, part)));
  if (!link && link.error().code == ENOENT) return std::nullopt;
  if (!link) return fail(link.error());
  const auto info = link_info(*link);
  if (!info) return fail(info.error());
  // The file of an interface that is no more, or that lost its program by force.
  if (info->ifindex != port.value()) return std::nullopt;
  return programs_.key_of_id(info->program_id);
}

Result<void> Tcx::put(Ifindex port, Part part, const Programs::Loaded& program) {
  const std::string name = name_of(port, part);
  const auto there = find(port, part);
  if (!there) return fail(there.error());
  if (*there) {
    const auto link = get_pinned(pins().path(name));
    if (!link) return fail(link.error());
    return update_link(*link, program.program(part));
  }
  pins().remove(name);
  const auto link = attach_tcx(program.program(part), port, part);
  if (!link) return fail(link.error());
  return pins().put(*link, name);
}

Result<void> Tcx::remove(Ifindex port, Part part) {
  const std::string name = name_of(port, part);
  // What fails here is done, later, by the loss of the link's last reference, its file.
  if (const auto link = get_pinned(pins().path(name))) (void)detach_link(*link);
  pins().remove(name);
  return {};
}

void Tcx::forget(Ifindex port) {
  for (Part part : {Part::kClassify, Part::kRemap}) pins().remove(name_of(port, part));
}

bool Tcx::is_shared(Ifindex port, Part part) {
  const auto chain = tcx_chain(port, part);
  return chain && !chain->program_ids.empty();
}

Result<std::vector<Ifindex>> Tcx::ports() {
  std::vector<Ifindex> ports;
  for (const std::string& name : pins().names()) {
    const auto port = port_of(name);
    const auto link = port ? get_pinned(pins().path(name)) : fail(Error{});
    const auto info = link ? link_info(*link) : fail(Error{});
    if (!info) continue;
    if (info->ifindex == port->value())
      ports.push_back(*port);
    else
      pins().remove(name);
  }
  return ports;
}

}  // namespace lldp::dataplane::bpf
