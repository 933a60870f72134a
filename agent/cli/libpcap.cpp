// SPDX-License-Identifier: Apache-2.0
#include "agent/cli/libpcap.hpp"

#include "os/shared_library.hpp"

namespace lldp::cli {
namespace {

Result<Libpcap> load() {
  // Debian has kept the first; other distributions have the second. The interface is the same.
  SharedLibrary library{"libpcap.so.0.8", "libpcap.so.1"};
  if (!library.is_loaded())
    return fail(Error{.where = "libpcap", .what = "capture files need it: install libpcap0.8"});
  Libpcap out;
  library.find(out.close, "pcap_close");
  library.find(out.geterr, "pcap_geterr");
  library.find(out.datalink, "pcap_datalink");
  library.find(out.datalink_val_to_name, "pcap_datalink_val_to_name");
  library.find(out.fopen_offline_with_tstamp_precision, "pcap_fopen_offline_with_tstamp_precision");
  library.find(out.next_ex, "pcap_next_ex");
  library.find(out.open_dead_with_tstamp_precision, "pcap_open_dead_with_tstamp_precision");
  library.find(out.dump_fopen, "pcap_dump_fopen");
  library.find(out.dump, "pcap_dump");
  library.find(out.dump_flush, "pcap_dump_flush");
  library.find(out.dump_close, "pcap_dump_close");
  if (const char* missing = library.missing())
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
