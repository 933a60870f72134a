// SPDX-License-Identifier: Apache-2.0
#include "agent/lldpd/library.hpp"

#include <optional>

#include "os/shared_library.hpp"

namespace lldp::lldpd {
namespace {

constexpr const char* kName = "liblldpctl.so.4";

Result<Library> load() {
  SharedLibrary library{kName};
  if (!library.is_loaded())
    return fail(Error{.where = kName, .what = "cannot be loaded: install lldpd's own library"});
  Library out;
  library.find(out.log_callback, "lldpctl_log_callback");
  library.find(out.new_name, "lldpctl_new_name");
  library.find(out.release, "lldpctl_release");
  library.find(out.last_error, "lldpctl_last_error");
  library.find(out.strerror, "lldpctl_strerror");
  library.find(out.recv, "lldpctl_recv");
  library.find(out.watch_callback2, "lldpctl_watch_callback2");
  library.find(out.get_configuration, "lldpctl_get_configuration");
  library.find(out.get_local_chassis, "lldpctl_get_local_chassis");
  library.find(out.get_interfaces, "lldpctl_get_interfaces");
  library.find(out.get_port, "lldpctl_get_port");
  library.find(out.atom_dec_ref, "lldpctl_atom_dec_ref");
  library.find(out.atom_get, "lldpctl_atom_get");
  library.find(out.atom_get_str, "lldpctl_atom_get_str");
  library.find(out.atom_get_buffer, "lldpctl_atom_get_buffer");
  library.find(out.atom_get_int, "lldpctl_atom_get_int");
  library.find(out.atom_set, "lldpctl_atom_set");
  library.find(out.atom_set_str, "lldpctl_atom_set_str");
  library.find(out.atom_set_buffer, "lldpctl_atom_set_buffer");
  library.find(out.atom_set_int, "lldpctl_atom_set_int");
  library.find(out.atom_iter, "lldpctl_atom_iter");
  library.find(out.atom_iter_next, "lldpctl_atom_iter_next");
  library.find(out.atom_iter_value, "lldpctl_atom_iter_value");
  library.find(out.atom_create, "lldpctl_atom_create");
  if (const char* missing = library.missing())
    return fail(Error{.where = kName,
                      .what = std::string(missing) + " is not in it: lldpd 1.0.15 is needed"});
  out.log_callback([](int, const char*) {});  // what fails is told by return values
  return out;
}

}  // namespace

Result<const Library*> library() {
  static std::optional<Library> loaded;
  if (!loaded) {
    auto fresh = load();
    if (!fresh) return fail(fresh.error());
    loaded = *fresh;
  }
  return &*loaded;
}

}  // namespace lldp::lldpd
