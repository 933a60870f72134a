// SPDX-License-Identifier: Apache-2.0
#include "agent/cli/libpcap.hpp"

#include <dlfcn.h>

namespace lldp::cli {
namespace {

/// Debian has kept the first; other distributions have the second. The interface is the same.
constexpr const char* kNames[] = {"libpcap.so.0.8", "libpcap.so.1"};

Result<Libpcap> load() {
  void* library = nullptr;
  for (const char* name : kNames)
    if (library == nullptr) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return fail(Error{.where = "libpcap", .what = "capture files need it: install libpcap0.8"});
  Libpcap out;
  const char* missing = nullptr;
  const auto find = [&](auto& function, const char* name) {
    void* symbol = ::dlsym(library, name);
    if (symbol == nullptr) missing = name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
  find(out.close, "pcap_close");
  find(out.geterr, "pcap_geterr");
  find(out.datalink, "pcap_datalink");
  find(out.datalink_val_to_name, "pcap_datalink_val_to_name");
  find(out.fopen_offline_with_tstamp_precision, "pcap_fopen_offline_with_tstamp_precision");
  find(out.next_ex, "pcap_next_ex");
  find(out.open_dead_with_tstamp_precision, "pcap_open_dead_with_tstamp_precision");
  find(out.dump_fopen, "pcap_dump_fopen");
  find(out.dump, "pcap_dump");
  find(out.dump_flush, "pcap_dump_flush");
  find(out.dump_close, "pcap_dump_close");
  if (missing != nullptr)
    return fail(
        Error{.where = "libpcap", .what = std::string(missing) + " is not in it: update it"});
  return out;
}

}  // namespace

const Result<Libpcap>& libpcap() {
  static const Result<Libpcap> loaded = load();
  return loaded;
}

}  // namespace lldp::cli
