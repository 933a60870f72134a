// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

/// A switch chip in a file that is mapped by the library that drives it (libsai.cpp) and by the
/// tests, which look at it, change it as somebody else would, and send packets through it. It
/// outlives the process that has the library, as a chip does.
namespace lldp::fake_sai {

/// Where the chip's profile says that the file is.
inline constexpr const char* kFileKey = "FAKE_SAI_CHIP";

inline constexpr std::size_t kObjects = 512;
inline constexpr std::size_t kPorts = 128;

struct Pair {
  std::uint8_t key = 0;
  std::uint8_t value = 0;
  std::uint8_t color = 0;
};
struct PortSet {
  std::uint32_t count = 0;
  std::uint64_t ports[kPorts] = {};
};
/// An object of any type; `type` 0: none.
struct Object {
  std::uint64_t oid = 0;
  int type = 0;
  // Port.
  std::uint64_t maps[4] = {};  ///< DSCP to TC, TC to DSCP, TC to queue, TC to priority group
  std::uint8_t pfc = 0;        ///< and where a chip tells them apart, what it obeys
  std::uint8_t pfc_tx = 0;     ///< what it sends
  // Host interface: the port. ACL entry: the table.
  std::uint64_t of = 0;
  char name[16] = {};
  // QoS map.
  int map_type = 0;
  std::uint32_t count = 0;
  Pair pairs[256] = {};
  // ACL table.
  bool by_out_ports = false;
  // ACL entry.
  PortSet in{};
  PortSet out{};
  std::uint8_t dscp = 0;
  std::uint8_t tc = 0;
  std::uint8_t to = 0;
};

struct Chip {
  // How the library behaves.
  std::uint64_t version = 0;
  bool no_capabilities = false;  ///< cannot be asked what it can do
  bool keeps_dscps = false;      ///< UPDATE_DSCP of ports is false
  unsigned traffic_classes = 8;  ///< that the switch has; 0: it does not say
  bool no_rewriting = false;     ///< NOT_IMPLEMENTED: TC_AND_COLOR_TO_DSCP of ports
  bool no_acl = false;
  bool no_pfc = false;
  bool separate_pfc = false;         ///< what is obeyed and what is sent are two attributes
  bool only_what_was_set = false;    ///< can be read, as of SONiC's virtual one
  std::atomic<int> hang = 0;         ///< ms that the next call takes
  std::atomic<int> slow = 0;         ///< ms that each call takes
  std::atomic<int> crash = 0;        ///< the next so many calls that set something end the process
  std::atomic<bool> throws = false;  ///< the next call that sets something throws an exception
  std::atomic<int> refuse_set = -1;  ///< of this attribute of a port: no resources
  std::atomic<int> refuse_at = 0;    ///< the so-manieth call that sets something: no resources
  std::atomic<bool> refuse_on = false;  ///< and all that follow it
  std::atomic<int> refuse_read_at = 0;  ///< the so-manieth call that reads something: the same
  std::atomic<long> refuse_with = 0;    ///< another status than no resources; 0: that
  std::atomic<int> end_at = 0;          ///< of those calls, the one that ends the process
  // What has been done.
  std::atomic<int> cut_off = 0;           ///< calls that have begun and not ended
  std::atomic<int> sets = 0;              ///< calls that changed something
  std::atomic<int> reads = 0;             ///< calls that read something
  std::atomic<bool> initialized = false;  ///< somebody has initialized it anew: all traffic is lost
  char profile[256] = {};                 ///< what the library found when it walked through it
  // The chip.
  std::uint64_t bound = 0;  ///< ACL at its ingress
  std::uint64_t last = 0x1000;
  Object objects[kObjects] = {};

  Object* find(std::uint64_t oid, int type = 0) {
    for (Object& o : objects)
      if (o.type != 0 && o.oid == oid && (type == 0 || o.type == type)) return &o;
    return nullptr;
  }
  Object* add(int type) {
    for (Object& o : objects)
      if (o.type == 0) {
        o = Object{};
        o.type = type;
        o.oid = ++last;
        return &o;
      }
    return nullptr;
  }
};

/// The chip of a file, made if it is not there.
inline Chip* open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return nullptr;
  if (::ftruncate(fd, sizeof(Chip)) != 0) return nullptr;
  void* at = ::mmap(nullptr, sizeof(Chip), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  return at == MAP_FAILED ? nullptr : static_cast<Chip*>(at);
}

}  // namespace lldp::fake_sai
