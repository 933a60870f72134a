// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lldpctl.h>

#include "base/result.hpp"

namespace lldp::lldpd {

/// What we call of liblldpctl, by its names without `lldpctl_`. It comes with lldpd and is loaded
/// when lldpd's socket is first there: a daemon without lldpd pays nothing for it.
struct Library {
  decltype(&lldpctl_log_callback) log_callback = nullptr;
  decltype(&lldpctl_new_name) new_name = nullptr;
  decltype(&lldpctl_release) release = nullptr;
  decltype(&lldpctl_last_error) last_error = nullptr;
  decltype(&lldpctl_strerror) strerror = nullptr;
  decltype(&lldpctl_recv) recv = nullptr;
  decltype(&lldpctl_watch_callback2) watch_callback2 = nullptr;
  decltype(&lldpctl_get_configuration) get_configuration = nullptr;
  decltype(&lldpctl_get_local_chassis) get_local_chassis = nullptr;
  decltype(&lldpctl_get_interfaces) get_interfaces = nullptr;
  decltype(&lldpctl_get_port) get_port = nullptr;
  decltype(&lldpctl_atom_dec_ref) atom_dec_ref = nullptr;
  decltype(&lldpctl_atom_get) atom_get = nullptr;
  decltype(&lldpctl_atom_get_str) atom_get_str = nullptr;
  decltype(&lldpctl_atom_get_buffer) atom_get_buffer = nullptr;
  decltype(&lldpctl_atom_get_int) atom_get_int = nullptr;
  decltype(&lldpctl_atom_set) atom_set = nullptr;
  decltype(&lldpctl_atom_set_str) atom_set_str = nullptr;
  decltype(&lldpctl_atom_set_buffer) atom_set_buffer = nullptr;
  decltype(&lldpctl_atom_set_int) atom_set_int = nullptr;
  decltype(&lldpctl_atom_iter) atom_iter = nullptr;
  decltype(&lldpctl_atom_iter_next) atom_iter_next = nullptr;
  decltype(&lldpctl_atom_iter_value) atom_iter_value = nullptr;
  decltype(&lldpctl_atom_create) atom_create = nullptr;
};

/// Loads it at the first call that finds it; stays loaded. An error: it is not installed, or too
/// old.
[[nodiscard]] Result<const Library*> library();

}  // namespace lldp::lldpd
