// SPDX-License-Identifier: Apache-2.0
#include "agent/lldpd/library.hpp"

#include <dlfcn.h>

#include <optional>
#include <type_traits>

namespace lldp::lldpd {
namespace {

constexpr const char* kName = "liblldpctl.so.4";

Result<Library> load() {
  void* library = ::dlopen(kName, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return fail(Error{.where = kName, .what = "cannot be loaded: install lldpd's own library"});
  Library out;
  const char* missing = nullptr;
  const auto find = [&](auto& function, const char* name) {
    void* symbol = ::dlsym(library, name);
    if (symbol == nullptr) missing = name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
  find(out.log_callback, "lldpctl_log_callback");
  find(out.new_name, "lldpctl_new_name");
  find(out.release, "lldpctl_release");
  find(out.last_error, "lldpctl_last_error");
  find(out.strerror, "lldpctl_strerror");
  find(out.recv, "lldpctl_recv");
  find(out.watch_callback2, "lldpctl_watch_callback2");
  find(out.get_configuration, "lldpctl_get_configuration");
  find(out.get_local_chassis, "lldpctl_get_local_chassis");
  find(out.get_interfaces, "lldpctl_get_interfaces");
  find(out.get_port, "lldpctl_get_port");
  find(out.atom_dec_ref, "lldpctl_atom_dec_ref");
  find(out.atom_get, "lldpctl_atom_get");
  find(out.atom_get_str, "lldpctl_atom_get_str");
  find(out.atom_get_buffer, "lldpctl_atom_get_buffer");
  find(out.atom_get_int, "lldpctl_atom_get_int");
  find(out.atom_set, "lldpctl_atom_set");
  find(out.atom_set_str, "lldpctl_atom_set_str");
  find(out.atom_set_buffer, "lldpctl_atom_set_buffer");
  find(out.atom_set_int, "lldpctl_atom_set_int");
  find(out.atom_iter, "lldpctl_atom_iter");
  find(out.atom_iter_next, "lldpctl_atom_iter_next");
  find(out.atom_iter_value, "lldpctl_atom_iter_value");
  find(out.atom_create, "lldpctl_atom_create");
  if (missing != nullptr) {
    ::dlclose(library);
    return fail(Error{.where = kName,
                      .what = std::string(missing) + " is not in it: lldpd 1.0.15 is needed"});
  }
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
