// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "dataplane/qos_maps.hpp"

/// What the daemon and the process with libsai say to each other, as JSON, a message a packet:
/// one request at a time, and one answer to it. Neither trusts what the other says.
namespace lldp::dataplane::sai {

using Oid = std::uint64_t;  ///< of a SAI object; 0: none
inline constexpr std::size_t kMaxMessage = 192 << 10;

struct Port {
  Oid oid = 0;
  std::array<Oid, std::size(kMapKinds)> maps{};
  unsigned pfc = 0;       ///< priorities, as a mask
  bool rewrites = false;  ///< DSCPs of what leaves, by its map
  friend bool operator==(const Port&, const Port&) = default;
};
struct Map {
  MapKind kind{};
  QosMap numbers{};
  friend auto operator<=>(const Map&, const Map&) = default;
};
/// A packet with this DSCP that turns gets this traffic class and this DSCP.
struct Turn {
  unsigned dscp = 0;
  unsigned tc = 0;
  unsigned to = 0;
  friend auto operator<=>(const Turn&, const Turn&) = default;
};
/// Our table of the ACL, at the ingress of the switch: one entry for each class, over the set of up
/// ports.
struct Acl {
  Oid table = 0;
  std::vector<Oid> entries{};  ///< one for each of `turns`
  std::vector<Turn> turns{};
  std::vector<Oid> ports{};
  friend bool operator==(const Acl&, const Acl&) = default;
};
/// What there is.
struct View {
  std::string release{};  ///< of SAI
  std::array<bool, std::size(kMapKinds)> can_map{};
  bool can_pfc = false;
  bool can_acl = false;
  unsigned traffic_classes = 0;         ///< that the chip has at most; 0: not told
  std::map<std::string, Port> ports{};  ///< by the name of their interface
  std::map<Oid, Map> maps{};            ///< those of the ports, and those asked for
  Oid bound = 0;                        ///< ACL at the ingress of the switch, of any program
  Acl acl{};                            ///< of what was asked for, what is there
  friend bool operator==(const View&, const View&) = default;
};

struct Read {
  std::vector<Oid> maps{};
  Acl acl{};  ///< its objects
  friend bool operator==(const Read&, const Read&) = default;
};
struct Drop {
  Oid map = 0;
  friend bool operator==(const Drop&, const Drop&) = default;
};
/// All of it, or nothing.
struct Set {
  Oid port = 0;
  std::vector<std::pair<MapKind, Oid>> maps{};
  std::optional<unsigned> pfc{};
  /// PFC comes before the maps: a port is known as ours by a map of ours, so that one comes first
  /// and goes last, whenever the process is killed.
  bool pfc_first = false;
  friend bool operator==(const Set&, const Set&) = default;
};
/// From those objects to these turns and ports; no ports: the objects go.
struct SetAcl {
  Acl acl{};
  std::vector<Turn> turns{};
  std::vector<Oid> ports{};
  friend bool operator==(const SetAcl&, const SetAcl&) = default;
};
using Request = std::variant<Read, Map /* to be made */, Drop, Set, SetAcl>;

struct Busy {  ///< at work, and not hanging
  friend bool operator==(const Busy&, const Busy&) = default;
};
struct Making {  ///< of the ACL there is so much: it is not lost if the process is killed now
  Acl acl{};
  friend bool operator==(const Making&, const Making&) = default;
};
struct Refused {
  std::string why{};
  friend bool operator==(const Refused&, const Refused&) = default;
};
struct Done {
  Oid made = 0;  ///< the map, if it was one
  friend bool operator==(const Done&, const Done&) = default;
};
using Answer = std::variant<Busy, Making, Refused, Done, View, Acl>;

[[nodiscard]] std::string format(const Request& request);
[[nodiscard]] std::string format(const Answer& answer);
[[nodiscard]] Result<Request> parse_request(std::string_view text);
[[nodiscard]] Result<Answer> parse_answer(std::string_view text);

/// What we have changed, and so what to put back; and our own objects, which nothing else tells
/// from others'.
struct Memory {
  struct Original {
    Port before{};
    unsigned pfc = 0;  ///< that we have set
    friend bool operator==(const Original&, const Original&) = default;
  };
  std::map<std::string, Original> ports{};
  std::map<Oid, Map> maps{};
  Acl acl{};
  [[nodiscard]] bool empty() const { return ports.empty() && maps.empty() && acl.table == 0; }
  friend bool operator==(const Memory&, const Memory&) = default;
};
[[nodiscard]] std::string format(const Memory& memory);
[[nodiscard]] Result<Memory> parse_memory(std::string_view text);

}  // namespace lldp::dataplane::sai
