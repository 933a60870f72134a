// SPDX-License-Identifier: Apache-2.0
#include "agent/agentx/mib.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/bytes.hpp"
#include "base/hex.hpp"
#include "base/text.hpp"
#include "tlv/basic.hpp"
#include "tlv/lldpdu.hpp"

namespace lldp::agentx {
namespace {

using json = nlohmann::json;

std::string number(std::uint64_t v) {
  std::string out;
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(v >> shift & 0xff);
  return out;
}

std::string arcs(const Oid& oid) {
  std::string out;
  for (const std::uint32_t arc : oid) out += number(arc);
  return out;
}

Oid oid_from(std::string_view octets) {
  Oid out;
  for (; octets.size() >= 4; octets.remove_prefix(4)) {
    std::uint32_t arc = 0;
    for (std::size_t i = 0; i < 4; ++i) arc = arc << 8 | static_cast<std::uint8_t>(octets[i]);
    out.push_back(arc);
  }
  return out;
}

/// BITS of RFC 2578: bit 0 is the highest of the first octet. The eight that the MIB knows.
std::string bits(unsigned capabilities) {
  unsigned out = 0;
  for (unsigned bit = 0; bit < 8; ++bit)
    if ((capabilities >> bit & 1U) != 0) out |= 0x80U >> bit;
  return {static_cast<char>(out)};
}

/// What of an LLDPDU the MIB has a place for.
struct Told {
  explicit Told(ByteSpan lldpdu) {
    tlv::TlvWalk walk(lldpdu, {});
    for (tlv::Tlv t; walk.next(t);) {
      if (t.status != tlv::Tlv::Status::kValid) continue;
      read(t, chassis);
      read(t, port);
      read(t, port_description);
      read(t, system_name);
      read(t, system_description);
      read(t, capabilities);
      std::optional<tlv::ManagementAddress> address;
      read(t, address);
      if (address) addresses.push_back(*address);
    }
  }
  template <class T>
  static void read(const tlv::Tlv& t, std::optional<T>& into) {
    if (t.key == T::kKey && !into) into = tlv::decode_as<T>(t.information);
  }
  std::optional<tlv::ChassisIdTlv> chassis{};
  std::optional<tlv::PortIdTlv> port{};
  std::optional<tlv::PortDescription> port_description{};
  std::optional<tlv::SystemName> system_name{};
  std::optional<tlv::SystemDescription> system_description{};
  std::optional<tlv::Capabilities> capabilities{};
  std::vector<tlv::ManagementAddress> addresses{};
};

/// Puts the columns of one row.
class RowWriter {
 public:
  RowWriter(Mib& mib, Oid table, Oid index)
      : mib_(mib), table_(std::move(table)), index_(std::move(index)) {}
  RowWriter& integer(std::uint32_t column, std::uint64_t v) {
    return put(column, Type::kInteger, number(v));
  }
  RowWriter& counter(std::uint32_t column, std::uint64_t v) {
    return put(column, Type::kCounter, number(v));
  }
  RowWriter& gauge(std::uint32_t column, std::uint64_t v) {
    return put(column, Type::kGauge, number(v));
  }
  RowWriter& octets(std::uint32_t column, std::string_view v) {
    return put(column, Type::kOctets, std::string(v));
  }
  RowWriter& oid(std::uint32_t column, const Oid& v) { return put(column, Type::kOid, arcs(v)); }

 private:
  RowWriter& put(std::uint32_t column, Type type, std::string value) {
    Oid oid = table_;
    oid.push_back(column);
    oid.insert(oid.end(), index_.begin(), index_.end());
    mib_.add({std::move(oid), type, std::move(value)});
    return *this;
  }
  Mib& mib_;
  Oid table_;
  Oid index_;
};

std::string_view text_of(const auto& tlv) { return tlv ? tlv->text : std::string_view(); }

/// An object identifier as a TLV has it: BER contents. What is none is 0.0, and so is one of more
/// than 128 arcs, which SNMP does not carry (RFC 2578 3.5): no walk would get past it.
Oid oid_of(ByteSpan ber) {
  Oid out;
  std::uint64_t arc = 0;
  bool whole = true;
  for (const std::uint8_t octet : ber) {
    arc = (whole ? 0 : arc << 7) | (octet & 0x7fU);
    whole = (octet & 0x80U) == 0;
    if (arc >> 32 != 0) return {0, 0};
    if (!whole) continue;
    if (out.empty()) {
      const std::uint64_t first = std::min<std::uint64_t>(arc / 40, 2);
      out.push_back(static_cast<std::uint32_t>(first));
      arc -= 40 * first;
    }
    out.push_back(static_cast<std::uint32_t>(arc));
  }
  constexpr std::size_t kMostArcs = 128;
  return whole && !out.empty() && out.size() <= kMostArcs ? out : Oid{0, 0};
}

Oid with_address(Oid index, const tlv::ManagementAddress& m) {
  index.push_back(m.address[0]);
  const auto address = m.address.subspan(1);
  index.push_back(static_cast<std::uint32_t>(address.size()));
  index.insert(index.end(), address.begin(), address.end());
  return index;
}

Bytes octets_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_string()
             ? Bytes()
             : from_hex(found->get<std::string>()).value_or(Bytes());
}

void add_device(Mib& mib, const json& device, const Told& told) {
  RowWriter row(mib, {1, 3}, {0});
  const auto id = device.at("chassis_id").get<std::string>();
  if (told.chassis)
    row.integer(1, told.chassis->subtype).octets(2, as_text(told.chassis->octets));
  else if (const auto mac = parse_mac(id))
    row.integer(1, ChassisId::kMacAddress).octets(2, as_text(*mac));
  if (const auto name = text_of(told.system_name); !name.empty()) row.octets(3, name);
  if (const auto text = text_of(told.system_description); !text.empty()) row.octets(4, text);
  if (told.capabilities)
    row.octets(5, bits(told.capabilities->system)).octets(6, bits(told.capabilities->enabled));
  for (const tlv::ManagementAddress& m : told.addresses)
    RowWriter(mib, {1, 3, 8, 1}, with_address({}, m))
        .integer(3, m.address.size())
        .integer(4, m.interface_subtype)
        .integer(5, m.interface_number)
        .oid(6, oid_of(m.object_id));
}

void add_port(Mib& mib, const json& port, const Told& told) {
  const auto name = port.at("name").get<std::string>();
  const Oid index{port.at("ifindex").get<std::uint32_t>()};
  constexpr std::string_view kAdmin[] = {"tx", "rx", "rxtx", "off"};  // from 1
  const auto admin = std::ranges::find(kAdmin, port.at("admin").get<std::string>());
  if (admin != std::end(kAdmin))
    RowWriter(mib, {1, 1, 6, 1}, index)
        .integer(2, static_cast<std::uint64_t>(admin - std::begin(kAdmin)) + 1);
  RowWriter row(mib, {1, 3, 7, 1}, index);
  if (told.port)
    row.integer(2, told.port->subtype).octets(3, as_text(told.port->octets));
  else
    row.integer(2, PortId::kInterfaceName).octets(3, name);
  row.octets(4, told.port_description ? told.port_description->text : std::string_view(name));
}

void add_neighbor(Mib& mib, std::uint32_t port, std::uint32_t index, const Told& told) {
  // lldpRemTimeMark, a TimeFilter, by which a manager asks for what is newer: 0 is all.
  const Oid at{0, port, index};
  RowWriter row(mib, {1, 4, 1, 1}, at);
  row.integer(4, told.chassis->subtype).octets(5, as_text(told.chassis->octets));
  row.integer(6, told.port->subtype).octets(7, as_text(told.port->octets));
  if (const auto text = text_of(told.port_description); !text.empty()) row.octets(8, text);
  if (const auto text = text_of(told.system_name); !text.empty()) row.octets(9, text);
  if (const auto text = text_of(told.system_description); !text.empty()) row.octets(10, text);
  const tlv::Capabilities capabilities = told.capabilities.value_or(tlv::Capabilities{});
  row.octets(11, bits(capabilities.system)).octets(12, bits(capabilities.enabled));
  for (const tlv::ManagementAddress& m : told.addresses)
    RowWriter(mib, {1, 4, 2, 1}, with_address(at, m))
        .integer(3, m.interface_subtype)
        .integer(4, m.interface_number)
        .oid(5, oid_of(m.object_id));
}

void add_statistics(Mib& mib, const json& stats,
                    const std::map<std::string, std::uint32_t>& ports) {
  std::uint64_t drops = 0;
  std::uint64_t ageouts = 0;
  for (const json& port : stats.at("ports")) {
    const auto count = [&](const char* key) { return port.at(key).get<std::uint64_t>(); };
    drops += count("statsTooManyNeighborsTotal");
    ageouts += count("statsAgeoutsTotal");
    const auto ifindex = ports.find(port.at("name").get<std::string>());
    if (ifindex == ports.end()) continue;
    RowWriter(mib, {1, 2, 6, 1}, {ifindex->second}).counter(2, count("statsFramesOutTotal"));
    RowWriter(mib, {1, 2, 7, 1}, {ifindex->second})
        .counter(2, count("statsFramesDiscardedTotal"))
        .counter(3, count("statsFramesInErrorsTotal"))
        .counter(4, count("statsFramesInTotal"))
        .counter(5, count("statsTLVsDiscardedTotal"))
        .counter(6, count("statsTLVsUnrecognizedTotal"))
        .gauge(7, count("statsAgeoutsTotal"));  // ZeroBasedCounter32, as the next two: RFC 2021
  }
  RowWriter(mib, {1, 2}, {0}).gauge(4, drops).gauge(5, ageouts);
}

}  // namespace

void Mib::add(const Object& object) {
  constexpr std::size_t kLongest = 0xffff;
  if (object.value.size() > kLongest) return;  // no TLV is so long
  rows_.push_back({.at = static_cast<std::uint32_t>(text_.size()),
                   .oid_octets = static_cast<std::uint16_t>(4 * object.oid.size()),
                   .value_octets = static_cast<std::uint16_t>(object.value.size()),
                   .type = object.type});
  text_ += arcs(object.oid) + object.value;
}

void Mib::sort() {
  const auto before = [this](const Row& a, const Row& b) { return oid_of(a) < oid_of(b); };
  std::ranges::stable_sort(rows_, before);
  const auto same = [this](const Row& a, const Row& b) { return oid_of(a) == oid_of(b); };
  // A neighbor may tell an address twice.
  rows_.erase(std::unique(rows_.begin(), rows_.end(), same), rows_.end());
}

Object Mib::object_of(const Row& row) const {
  return {.oid = oid_from(oid_of(row)),
          .type = row.type,
          .value = text_.substr(row.at + row.oid_octets, row.value_octets)};
}

std::optional<Object> Mib::get(const Oid& oid) const {
  const std::string wanted = arcs(oid);
  const auto at = std::ranges::lower_bound(rows_, std::string_view(wanted), {},
                                           [this](const Row& row) { return oid_of(row); });
  return at != rows_.end() && oid_of(*at) == wanted ? std::optional(object_of(*at)) : std::nullopt;
}

std::optional<Object> Mib::next(const Oid& oid) const {
  const std::string wanted = arcs(oid);
  const auto at = std::ranges::upper_bound(rows_, std::string_view(wanted), {},
                                           [this](const Row& row) { return oid_of(row); });
  return at != rows_.end() ? std::optional(object_of(*at)) : std::nullopt;
}

std::uint32_t Indices::of(const std::string& neighbor) {
  constexpr std::uint32_t kMost = 0x7fff'ffff;
  const auto [it, fresh] = entries_.try_emplace(neighbor);
  if (fresh) it->second.index = last_ = last_ == kMost ? 1 : last_ + 1;
  it->second.seen = true;
  return it->second.index;
}

void Indices::sweep() {
  std::erase_if(entries_, [](const auto& entry) { return !entry.second.seen; });
  for (auto& [neighbor, entry] : entries_) entry.seen = false;
}

Result<Mib> mib_of(std::string_view detail, std::string_view stats, Indices& indices) {
  try {
    Mib mib;
    std::map<std::string, std::uint32_t> ports;
    std::optional<Bytes> device;  // as the first port that may send tells it
    const auto take_port = [&](const json& port) {
      const auto ifindex = port.at("ifindex").get<std::uint32_t>();
      const auto name = port.at("name").get<std::string>();
      ports.emplace(name, ifindex);
      Bytes announced = octets_in(port, "announced");
      const Told own(announced);
      add_port(mib, port, own);
      for (const json& neighbor : port.at("neighbors")) {
        const Bytes lldpdu = octets_in(neighbor, "lldpdu");
        const Told told(lldpdu);
        if (!told.chassis || !told.port) continue;
        const std::string msap = name + '/' + neighbor.at("scope").get<std::string>() + '/' +
                                 to_hex(told.chassis->octets) + '/' + to_hex(told.port->octets);
        add_neighbor(mib, ifindex, indices.of(msap), told);
      }
      if (own.chassis && !device) device = std::move(announced);
    };
    // Each port is forgotten as soon as it was read: all of them together are large.
    std::string member;
    const json show = json::parse(detail, [&](int depth, json::parse_event_t event, json& parsed) {
      if (depth == 1 && event == json::parse_event_t::key) member = parsed.get<std::string>();
      if (depth != 2 || event != json::parse_event_t::object_end || member != "ports") return true;
      take_port(parsed);
      return false;
    });
    if (!show.at("ports").is_array())
      return fail(Error{.what = "the daemon tells of no ports: is it of another version?"});
    add_device(mib, show.at("device"), Told(device ? ByteSpan(*device) : ByteSpan()));
    indices.sweep();
    add_statistics(mib, json::parse(stats), ports);
    mib.sort();
    return mib;
  } catch (const json::exception&) {
    return fail(Error{.what = "the daemon's answer is not understood: is it of another version?"});
  }
}

}  // namespace lldp::agentx
