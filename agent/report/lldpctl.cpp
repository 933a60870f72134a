// SPDX-License-Identifier: Apache-2.0
#include "agent/report/lldpctl.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "agent/report/lldpctl_mau.hpp"
#include "agent/report/lldpctl_tree.hpp"
#include "agent/report/shape.hpp"
#include "base/hex.hpp"
#include "base/text.hpp"
#include "tlv/dot1.hpp"
#include "tlv/dot3.hpp"
#include "tlv/lldpdu.hpp"
#include "tlv/med.hpp"

namespace lldp::report {
namespace {

std::string yes_no(bool v) { return v ? "yes" : "no"; }
std::string on_off(bool v) { return v ? "on" : "off"; }

/// A text of a TLV is a C string to lldpd; an empty one is none.
std::optional<std::string> c_string(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return std::string(text.substr(0, text.find('\0')));
}

std::string name_in(tlv::Names names, std::uint32_t number, const char* otherwise = "unknown") {
  const auto at = std::ranges::find(names, number, &tlv::Name::number);
  return at == names.end() ? otherwise : std::string(at->name);
}

std::string octets_text(ByteSpan octets, char separator) {
  std::string out;
  for (const std::uint8_t octet : octets) {
    if (!out.empty()) out += separator;
    out += to_hex({&octet, 1});
  }
  return out;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  return text;
}

/// `types`: lldpctl's word for each subtype from 1 on.
void add_id(Element& parent, const char* label, std::uint8_t subtype, ByteSpan octets,
            std::span<const std::string_view> types) {
  const std::string type(subtype != 0 && subtype <= types.size() ? types[subtype - 1U] : "unknown");
  Element& id = parent.child("id", label).attribute("type", "", type);
  const bool network =
      type == "ip" && octets.size() > 1 &&
      ((octets[0] == 1 && octets.size() == 5) || (octets[0] == 2 && octets.size() == 17));
  if (type == "mac")
    id.data = octets_text(octets, ':');
  else if (network)
    id.data = network_address_to_string(octets);
  else if (type == "ifname" || type == "ifalias" || type == "local")
    id.data = c_string(as_text(octets)).value_or("");
  else
    id.data = octets_text(octets, ' ');
}

/// All that lldpctl tells of one LLDPDU, gathered before it is told in lldpctl's order.
struct Heard {
  explicit Heard(ByteSpan lldpdu);

  void add_chassis(Element& out, LldpctlDetail detail) const;
  void add_port(Element& out, LldpctlDetail detail) const;
  void add_vlans(Element& out) const;
  void add_med(Element& out) const;
  void add_unknown(Element& out) const;

 private:
  void take(const tlv::Tlv& t);
  void take_basic(const tlv::Tlv& t);
  bool take_dot1(const tlv::Tlv& t);
  bool take_dot3(const tlv::Tlv& t);
  bool take_med(const tlv::Tlv& t);
  void add_autoneg(Element& port) const;
  void add_power(Element& port) const;
  static void add_policy(Element& med, const tlv::MedPolicy& policy);
  static void add_location(Element& med, const tlv::MedLocation& location);
  void add_med_power(Element& med) const;

  tlv::ChassisIdTlv chassis_{};
  tlv::PortIdTlv port_{};
  tlv::Ttl ttl_{};
  std::optional<std::string> name_{};
  std::optional<std::string> description_{};
  std::optional<std::string> port_description_{};
  tlv::Capabilities capabilities_{};
  std::vector<tlv::ManagementAddress> management_{};
  std::uint16_t pvid_ = 0;
  std::vector<tlv::VlanName> vlans_{};
  std::vector<tlv::PortProtocolVlan> protocol_vlans_{};
  std::vector<tlv::ProtocolIdentity> protocols_{};
  tlv::MacPhy mac_phy_{};
  std::optional<tlv::PowerViaMdi> power_{};
  std::uint32_t aggregation_ = 0;
  std::uint16_t frame_size_ = 0;
  tlv::MedCapabilities med_{};
  std::map<std::uint8_t, tlv::MedPolicy> policies_{};
  std::map<std::uint8_t, tlv::MedLocation> locations_{};
  std::optional<tlv::MedPower> med_power_{};
  std::array<std::optional<std::string>, 7> inventory_{};  ///< by subtype, from hardware on
  std::vector<tlv::Tlv> unknown_{};
};

Heard::Heard(ByteSpan lldpdu) {
  tlv::TlvWalk walk(lldpdu, {});
  for (tlv::Tlv t; walk.next(t);)
    if (t.status != tlv::Tlv::Status::kDiscarded) take(t);
}

void Heard::take(const tlv::Tlv& t) {
  if (t.key.type != tlv::kOrganizational) return take_basic(t);
  const bool known = t.key.oui == tlv::kDot1   ? take_dot1(t)
                     : t.key.oui == tlv::kDot3 ? take_dot3(t)
                     : t.key.oui == tlv::kTia  ? take_med(t)
                                               : false;
  if (!known) unknown_.push_back(t);
}

/// Fills `into` if the TLV is a T; true then.
template <class T, class Into>
bool is(const tlv::Tlv& t, Into into) {
  if (t.key != T::kKey) return false;
  if (const auto v = tlv::decode_as<T>(t.information)) into(*v);
  return true;
}

void Heard::take_basic(const tlv::Tlv& t) {
  is<tlv::ChassisIdTlv>(t, [this](const auto& v) { chassis_ = v; });
  is<tlv::PortIdTlv>(t, [this](const auto& v) { port_ = v; });
  is<tlv::Ttl>(t, [this](const auto& v) { ttl_ = v; });
  is<tlv::SystemName>(t, [this](const auto& v) { name_ = c_string(v.text); });
  is<tlv::SystemDescription>(t, [this](const auto& v) { description_ = c_string(v.text); });
  is<tlv::PortDescription>(t, [this](const auto& v) { port_description_ = c_string(v.text); });
  is<tlv::Capabilities>(t, [this](const auto& v) { capabilities_ = v; });
  is<tlv::ManagementAddress>(t, [this](const auto& v) {
    if (v.address[0] == 1 || v.address[0] == 2) management_.push_back(v);
  });
}

bool Heard::take_dot1(const tlv::Tlv& t) {
  return is<tlv::PortVlan>(t, [this](const auto& v) { pvid_ = v.vid; }) ||
         is<tlv::VlanName>(t, [this](const auto& v) { vlans_.push_back(v); }) ||
         is<tlv::PortProtocolVlan>(t, [this](const auto& v) { protocol_vlans_.push_back(v); }) ||
         is<tlv::ProtocolIdentity>(t, [this](const auto& v) { protocols_.push_back(v); });
}

bool Heard::take_dot3(const tlv::Tlv& t) {
  return is<tlv::MacPhy>(t, [this](const auto& v) { mac_phy_ = v; }) ||
         is<tlv::PowerViaMdi>(t, [this](const auto& v) { power_ = v; }) ||
         is<tlv::Dot3LinkAggregation>(t, [this](const auto& v) { aggregation_ = v.port_id; }) ||
         is<tlv::MaxFrameSize>(t, [this](const auto& v) { frame_size_ = v.octets; });
}

bool Heard::take_med(const tlv::Tlv& t) {
  if (is<tlv::MedCapabilities>(t, [this](const auto& v) { med_ = v; }) ||
      is<tlv::MedPolicy>(t, [this](const auto& v) { policies_[v.application] = v; }) ||
      is<tlv::MedLocation>(t, [this](const auto& v) { locations_[v.format] = v; }) ||
      is<tlv::MedPower>(t, [this](const auto& v) { med_power_ = v; }))
    return true;
  const auto item = static_cast<std::size_t>(t.key.subtype - tlv::MedHardware::kKey.subtype);
  if (item >= inventory_.size()) return false;
  inventory_[item] = c_string(as_text(t.information));
  return true;
}

void Heard::add_chassis(Element& out, LldpctlDetail detail) const {
  static constexpr std::string_view kTypes[] = {"unhandled", "ifalias", "unhandled", "mac",
                                                "ip",        "ifname",  "local"};
  static constexpr const char* kCapabilities[] = {"Other",  "Repeater", "Bridge", "Wlan",
                                                  "Router", "Tel",      "Docsis", "Station"};
  static constexpr std::size_t kOrder[] = {0, 1, 2, 4, 3, 5, 6, 7};
  Element& chassis = out.child("chassis", "Chassis");
  add_id(chassis, "ChassisID", chassis_.subtype, chassis_.octets, kTypes);
  chassis.text("name", "SysName", name_);
  if (detail == LldpctlDetail::kSummary) return;
  chassis.text("descr", "SysDescr", description_);
  for (const tlv::ManagementAddress& m : management_) {
    constexpr std::uint8_t kIfIndex = 2;
    chassis.text("mgmt-ip", "MgmtIP", network_address_to_string(m.address));
    if (m.interface_subtype == kIfIndex && m.interface_number != 0)
      chassis.text("mgmt-iface", "MgmtIface", std::to_string(m.interface_number));
  }
  for (const std::size_t bit : kOrder)
    if ((capabilities_.system >> bit & 1U) != 0)
      chassis.child("capability", "Capability")
          .attribute("type", "", kCapabilities[bit])
          .attribute("enabled", "", on_off((capabilities_.enabled >> bit & 1U) != 0));
}

void Heard::add_port(Element& out, LldpctlDetail detail) const {
  static constexpr std::string_view kTypes[] = {"ifalias", "unhandled", "mac",  "ip",
                                                "ifname",  "unhandled", "local"};
  Element& port = out.child("port", "Port");
  add_id(port, "PortID", port_.subtype, port_.octets, kTypes);
  port.text("descr", "PortDescr", port_description_);
  port.text("ttl", "TTL", std::to_string(ttl_.seconds));
  if (detail != LldpctlDetail::kDetails) return;
  if (frame_size_ != 0) port.text("mfs", "MFS", std::to_string(frame_size_));
  if (aggregation_ != 0)
    port.text("aggregation", "Port is aggregated. PortAggregID", std::to_string(aggregation_));
  add_autoneg(port);
  add_power(port);
}

void Heard::add_autoneg(Element& port) const {
  struct Mode {
    const char* name = "";
    std::uint16_t half = 0;
    std::uint16_t full = 0;
  };
  static constexpr Mode kModes[] = {{"10Base-T", 0x4000, 0x2000},   {"100Base-TX", 0x0800, 0x0400},
                                    {"100Base-T2", 0x0200, 0x0100}, {"100Base-T4", 0x1000, 0x1000},
                                    {"1000Base-X", 0x0008, 0x0004}, {"1000Base-T", 0x0002, 0x0001}};
  if (!mac_phy_.autoneg_supported && !mac_phy_.autoneg_enabled && mac_phy_.mau_type == 0) return;
  Element& out = port.child("auto-negotiation", "PMD autoneg");
  out.attribute("supported", "supported", yes_no(mac_phy_.autoneg_supported))
      .attribute("enabled", "enabled", yes_no(mac_phy_.autoneg_enabled));
  for (const Mode& mode : kModes) {
    if (!mac_phy_.autoneg_enabled || (mac_phy_.advertised & (mode.half | mode.full)) == 0) continue;
    Element& advertised = out.child("advertised", "Adv").attribute("type", "", mode.name);
    if (mode.half != mode.full)
      advertised.attribute("hd", "HD", yes_no((mac_phy_.advertised & mode.half) != 0))
          .attribute("fd", "FD", yes_no((mac_phy_.advertised & mode.full) != 0));
  }
  out.text("current", "MAU oper type", name_in(kLldpctlMauTypes, mac_phy_.mau_type));
}

void Heard::add_power(Element& port) const {
  static constexpr tlv::Name kPairs[] = {{1, "signal"}, {2, "spare"}};
  static constexpr tlv::Name kClasses[] = {
      {1, "class 0"}, {2, "class 1"}, {3, "class 2"}, {4, "class 3"}, {5, "class 4"}};
  // The other way round in IEEE 802.3-2018 79.3.2.4.2; this is how lldpctl has it.
  static constexpr tlv::Name kSourcesOfPse[] = {{1, "PSE"}, {3, "PSE + Local"}};
  static constexpr tlv::Name kSourcesOfPd[] = {{1, "Primary power source"}, {2, "Backup source"}};
  static constexpr tlv::Name kPriorities[] = {
      {0, "unknown"}, {1, "critical"}, {2, "high"}, {3, "low"}};
  if (!power_) return;
  Element& out = port.child("power", "MDI Power");
  out.attribute("supported", "supported", yes_no(power_->supported))
      .attribute("enabled", "enabled", yes_no(power_->enabled))
      .attribute("paircontrol", "pair control", yes_no(power_->pair_control));
  out.text("device-type", "Device type", power_->pse ? "PSE" : "PD");
  out.text("pairs", "Power pairs", name_in(kPairs, power_->pair));
  out.text("class", "Class", name_in(kClasses, power_->power_class));
  if (!power_->negotiation) return;
  const tlv::PowerNegotiation& more = *power_->negotiation;
  constexpr std::uint8_t kType1 = 2;  // and PD of type 1 above it
  out.text("power-type", "Power type", more.type >= kType1 ? "1" : "2");
  out.text(
      "source", "Power Source",
      name_in(power_->pse ? tlv::Names(kSourcesOfPse) : tlv::Names(kSourcesOfPd), more.source));
  out.text("priority", "Power Priority", name_in(kPriorities, more.priority));
  out.text("requested", "PD requested power Value", std::to_string(more.requested * 100));
  out.text("allocated", "PSE allocated power Value", std::to_string(more.allocated * 100));
}

void Heard::add_vlans(Element& out) const {
  bool named = false;
  for (const tlv::VlanName& vlan : vlans_) {
    named |= vlan.vid == pvid_;
    out.child("vlan", "VLAN")
        .attribute("vlan-id", "", std::to_string(vlan.vid))
        .attribute("pvid", "pvid", yes_no(vlan.vid == pvid_))
        .data = c_string(vlan.name).value_or("");
  }
  if (!named && pvid_ != 0)
    out.child("vlan", "VLAN")
        .attribute("vlan-id", "", std::to_string(pvid_))
        .attribute("pvid", "pvid", "yes");
  for (const tlv::PortProtocolVlan& vlan : protocol_vlans_) {
    Element& ppvid = out.child("ppvid", "PPVID");
    if (vlan.vid != 0) ppvid.attribute("value", "", std::to_string(vlan.vid));
    ppvid.attribute("supported", "supported", yes_no(vlan.supported))
        .attribute("enabled", "enabled", yes_no(vlan.enabled));
  }
  for (const tlv::ProtocolIdentity& protocol : protocols_)
    if (!protocol.identity.empty()) out.text("pi", "PI", octets_text(protocol.identity, ' '));
}

void Heard::add_policy(Element& med, const tlv::MedPolicy& policy) {
  static constexpr tlv::Name kApplications[] = {
      {1, "Voice"},           {2, "Voice Signaling"},
      {3, "Guest Voice"},     {4, "Guest Voice Signaling"},
      {5, "Softphone Voice"}, {6, "Video Conferencing"},
      {7, "Streaming Video"}, {8, "Video Signaling"}};
  static constexpr const char* kPriorities[] = {
      "Best effort", "Background", "Excellent effort",     "Critical applications",
      "Video",       "Voice",      "Internetwork control", "Network control"};
  constexpr std::uint16_t kReserved = 4095;
  if (policy.application == 0 || policy.application > std::size(kApplications)) return;
  Element& out = med.child("policy", "LLDP-MED Network Policy for");
  out.attribute("apptype", "", name_in(kApplications, policy.application))
      .attribute("defined", "Defined", yes_no(!policy.unknown));
  if (policy.tagged)
    out.child("vlan", "VLAN")
        .attribute("vid", "",
                   policy.vid == 0           ? "priority"
                   : policy.vid == kReserved ? "reserved"
                                             : std::to_string(policy.vid));
  out.text("priority", "Priority", kPriorities[policy.priority]);
  out.text("pcp", "PCP", std::to_string(policy.priority));
  out.text("dscp", "DSCP Value", std::to_string(policy.dscp));
}

void Heard::add_location(Element& med, const tlv::MedLocation& location) {
  static constexpr tlv::Name kElements[] = {{0, "Language"},
                                            {1, "Country subdivision"},
                                            {2, "County"},
                                            {3, "City"},
                                            {4, "City division"},
                                            {5, "Block"},
                                            {6, "Street"},
                                            {16, "Direction"},
                                            {17, "Trailing street suffix"},
                                            {18, "Street suffix"},
                                            {19, "Number"},
                                            {20, "Number suffix"},
                                            {21, "Landmark"},
                                            {22, "Additional"},
                                            {23, "Name"},
                                            {24, "ZIP"},
                                            {25, "Building"},
                                            {26, "Unit"},
                                            {27, "Floor"},
                                            {28, "Room"},
                                            {29, "Place type"},
                                            {128, "Script"}};
  constexpr const char* kLabel = "LLDP-MED Location Identification";
  if (location.format == tlv::MedLocation::kElin)
    med.child("location", kLabel)
        .attribute("type", "Type", "ELIN")
        .text("ecs", "ECS ELIN", c_string(as_text(location.location)).value_or(""));
  // Length of what comes, what it is the address of, country; then type, length and text of each
  // element.
  constexpr std::size_t kHead = 4;
  ByteSpan rest = location.location;
  if (location.format != tlv::MedLocation::kCivic || rest.size() < kHead) return;
  const std::size_t told = 1U + rest[0];
  if (told > rest.size()) return;
  Element& out = med.child("location", kLabel).attribute("type", "Type", "Civic address");
  out.text("country", "Country", std::string(as_text(rest.subspan(2, 2))));
  for (rest = rest.first(std::max(told, kHead)).subspan(kHead);
       rest.size() >= 2 && rest.size() - 2 >= rest[1]; rest = rest.subspan(2U + rest[1])) {
    const std::string type = name_in(kElements, rest[0]);
    std::string tag = type;
    for (char& c : tag) c = c == ' ' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    out.text(tag, type, c_string(as_text(rest.subspan(2, rest[1]))).value_or(""));
  }
}

void Heard::add_med_power(Element& med) const {
  static constexpr tlv::Name kSourcesOfPse[] = {
      {1, "Primary Power Source"}, {2, "Backup Power Source / Power Conservation Mode"}};
  static constexpr tlv::Name kSourcesOfPd[] = {{1, "PSE"}, {2, "Local"}, {3, "PSE + Local"}};
  static constexpr tlv::Name kPriorities[] = {{1, "critical"}, {2, "high"}, {3, "low"}};
  if (!med_power_ || med_power_->type > tlv::MedPower::kPd) return;
  const bool pd = med_power_->type == tlv::MedPower::kPd;
  Element& out = med.child("poe", "Extended Power-over-Ethernet");
  out.text("device-type", "Power Type & Source", pd ? "PD" : "PSE");
  out.text("source", "Power Source",
           name_in(pd ? tlv::Names(kSourcesOfPd) : tlv::Names(kSourcesOfPse), med_power_->source));
  out.text("priority", "Power priority", name_in(kPriorities, med_power_->priority));
  out.text("power", "Power Value", std::to_string(med_power_->watts * 100));
}

void Heard::add_med(Element& out) const {
  static constexpr const char* kClasses[] = {
      "Generic Endpoint (Class I)", "Media Endpoint (Class II)",
      "Communication Device Endpoint (Class III)", "Network Connectivity Device"};
  static constexpr const char* kCapabilities[] = {"Capabilities", "Policy", "Location",
                                                  "MDI/PSE",      "MDI/PD", "Inventory"};
  struct Item {
    const char* tag = "";
    const char* label = "";
    std::size_t at = 0;
  };
  static constexpr Item kInventory[] = {{"hardware", "Hardware Revision", 0},
                                        {"software", "Software Revision", 2},
                                        {"firmware", "Firmware Revision", 1},
                                        {"serial", "Serial Number", 3},
                                        {"manufacturer", "Manufacturer", 4},
                                        {"model", "Model", 5},
                                        {"asset", "Asset ID", 6}};
  if (med_.device_class == 0) return;
  Element& med = out.child("lldp-med", "LLDP-MED");
  med.text("device-type", "Device Type",
           med_.device_class <= std::size(kClasses) ? kClasses[med_.device_class - 1U] : "unknown");
  for (std::size_t bit = 0; bit < std::size(kCapabilities); ++bit)
    if ((med_.capabilities >> bit & 1U) != 0)
      med.child("capability", "Capability")
          .attribute("type", "", kCapabilities[bit])
          .attribute("available", "", "yes");
  for (const auto& [application, policy] : policies_) add_policy(med, policy);
  for (const auto& [format, location] : locations_) add_location(med, location);
  add_med_power(med);
  if (std::ranges::none_of(inventory_, [](const auto& item) { return item.has_value(); })) return;
  Element& inventory = med.child("inventory", "Inventory");
  for (const Item& item : kInventory) inventory.text(item.tag, item.label, inventory_[item.at]);
}

void Heard::add_unknown(Element& out) const {
  if (unknown_.empty()) return;
  Element& all = out.child("unknown-tlvs", "Unknown TLVs");
  for (const tlv::Tlv& t : unknown_) {
    const std::uint8_t oui[] = {static_cast<std::uint8_t>(t.key.oui >> 16),
                                static_cast<std::uint8_t>(t.key.oui >> 8),
                                static_cast<std::uint8_t>(t.key.oui)};
    Element& one = all.child("unknown-tlv", "TLV");
    one.attribute("oui", "OUI", upper(octets_text(oui, ',')))
        .attribute("subtype", "SubType", std::to_string(t.key.subtype))
        .attribute("len", "Len", std::to_string(t.information.size()));
    if (!t.information.empty()) one.data = upper(octets_text(t.information, ','));
  }
}

std::string age_text(long seconds) {
  const auto two = [](long v) { return (v < 10 ? "0" : "") + std::to_string(v); };
  const long days = seconds / 86400;
  return std::to_string(days) + (days > 1 ? " days, " : " day, ") + two(seconds / 3600 % 24) + ":" +
         two(seconds / 60 % 60) + ":" + two(seconds % 60);
}

Element neighbors_of(const json& show, LldpctlDetail detail) {
  Element out{"lldp", "LLDP neighbors", {}, {}, {}};
  std::map<std::string, std::size_t> devices;
  for (const json& port : show.at("ports"))
    for (const json& neighbor : port.at("neighbors")) {
      const Bytes lldpdu = from_hex(str(neighbor, "lldpdu")).value_or(Bytes());
      const Heard heard(lldpdu);
      const std::size_t rid =
          devices.try_emplace(str(neighbor, "chassis_id"), devices.size() + 1).first->second;
      Element& one = out.child("interface", "Interface");
      one.attribute("name", "", str(port, "name")).attribute("via", "via", "LLDP");
      if (detail != LldpctlDetail::kSummary)
        one.attribute("rid", "RID", std::to_string(rid))
            .attribute("age", "Time", age_text(neighbor.at("unchanged_for").get<long>()));
      heard.add_chassis(one, detail);
      heard.add_port(one, detail);
      if (detail == LldpctlDetail::kDetails) {
        heard.add_vlans(one);
        heard.add_med(one);
      }
      heard.add_unknown(one);
    }
  return out;
}

}  // namespace

Result<std::string> as_lldpctl(std::string_view text, LldpctlFormat format, LldpctlDetail detail) {
  return with_json(
      text, [&](const json& show) { return write_lldpctl(neighbors_of(show, detail), format); });
}

Result<std::string> chassis_as_lldpctl(std::string_view text, LldpctlFormat format,
                                       LldpctlDetail detail) {
  const auto announced = with_json(text, [](const json& show) -> std::optional<std::string> {
    for (const json& port : show.at("ports"))
      if (port.contains("announced")) return str(port, "announced");
    return std::nullopt;
  });
  if (!announced) return fail(announced.error());
  if (!*announced)
    return fail(Error{.where = "local chassis",
                      .what = "no port sends LLDP, so nothing is announced: see lldp-level show"});
  const Bytes lldpdu = from_hex(**announced).value_or(Bytes());
  Element out{"local-chassis", "Local chassis", {}, {}, {}};
  Heard(lldpdu).add_chassis(out, detail);
  return write_lldpctl(out, format);
}

}  // namespace lldp::report
