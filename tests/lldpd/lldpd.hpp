// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <lldp-const.h>
#include <lldpctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/lldpd/values.hpp"
#include "base/hex.hpp"
#include "os/fd.hpp"
#include "tests/support/unix_socket.hpp"

namespace lldp::lldpd {

/// An lldpd that answers when the test says so, to the liblldpctl of lldpctl.cpp: what it is asked,
/// what it sends on its ports and when a connection ends are the test's.
class FakeLldpd {
 public:
  struct Port {
    PortId id{};
    std::vector<CustomTlv> sent{};
    std::string status{"RX and TX"};
    std::vector<Neighbor> neighbors{};
  };
  using json = nlohmann::json;

  explicit FakeLldpd(std::string path, int backlog = 16)
      : path_(std::move(path)), fd_(socket_at(path_, SOCK_STREAM, backlog)) {
    chassis.subtype = ChassisId::kMacAddress;
    chassis.octets.assign("\x02\0\0\0\0\x64", 6);
  }
  /// Ends in order: without a word to those who are connected, but its socket is gone.
  ~FakeLldpd() {
    if (!keep_socket) ::unlink(path_.c_str());
  }
  FakeLldpd(const FakeLldpd&) = delete;
  FakeLldpd& operator=(const FakeLldpd&) = delete;

  ChassisId chassis{};
  std::map<std::string, Port> ports{};
  bool keep_socket = false;  ///< it is killed, when it goes
  bool receive_only = false;
  bool paused = false;
  bool old = false;                      ///< before 1.0.15
  int protocol = LLDPD_MODE_LLDP;        ///< that its neighbors speak
  bool without_custom_tlvs = false;      ///< by how it was built
  std::vector<std::string> asked{};      ///< since the test last cleared it
  std::string hold{};                    ///< the question that is left unanswered
  std::string refuse{};                  ///< the question that is answered with an error
  std::string hang_up{};                 ///< the question whose connection is closed
  std::size_t octets = ~std::size_t{0};  ///< of the answer, before that

  Port& add(const std::string& name) {
    Port& port = ports[name];
    port.id.subtype = PortId::kInterfaceName;
    port.id.octets = name;
    return port;
  }

  /// Answers what has come; true if anything had.
  bool serve() {
    bool busy = false;
    while (UniqueFd fd{::accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)}) {
      peers_.push_back({.fd = std::move(fd)});
      busy = true;
    }
    for (auto peer = peers_.begin(); peer != peers_.end();) {
      const bool stays = serve(*peer, busy);
      peer = stays ? std::next(peer) : peers_.erase(peer);
    }
    return busy;
  }
  /// Answers what was held.
  void release() {
    hold.clear();
    for (Peer& peer : peers_)
      for (const std::string& message : std::exchange(peer.held, {})) write(peer, message);
  }
  void notify(lldpctl_change_t change, const std::string& interface, const Neighbor& neighbor) {
    for (Peer& peer : peers_)
      if (peer.watches)
        write(peer, framed({{"interface", {{key(lldpctl_k_interface_name), interface}}},
                            {"neighbor", atom(neighbor)},
                            {"change", change}}));
  }
  void hang_up_on_watchers() {
    peers_.remove_if([](const Peer& peer) { return peer.watches; });
  }
  void hang_up_on_all_but_watchers() {
    peers_.remove_if([](const Peer& peer) { return !peer.watches; });
  }
  void hang_up_on_all() { peers_.clear(); }
  [[nodiscard]] std::size_t connections() const { return peers_.size(); }

 private:
  struct Peer {
    UniqueFd fd{};
    std::string received{};
    std::vector<std::string> held{};
    bool watches = false;
  };
  static std::string key(int number) { return std::to_string(number); }

  static std::string framed(const json& value) {
    std::vector<std::uint8_t> out(4);
    json::to_cbor(value, out);
    const auto length = static_cast<std::uint32_t>(out.size() - 4);
    for (std::size_t i = 0; i < 4; ++i) out[i] = static_cast<std::uint8_t>(length >> (24 - 8 * i));
    return {out.begin(), out.end()};
  }
  static void write(const Peer& peer, const std::string& message) {
    const ssize_t n = ::send(peer.fd.get(), message.data(), message.size(), MSG_NOSIGNAL);
    EXPECT_TRUE(n == static_cast<ssize_t>(message.size()) || errno == EPIPE);
  }

  bool serve(Peer& peer, bool& busy) {
    std::array<char, 4096> buffer{};
    ssize_t n = 0;
    while ((n = ::recv(peer.fd.get(), buffer.data(), buffer.size(), 0)) > 0)
      peer.received.append(buffer.data(), static_cast<std::size_t>(n));
    const bool ended = n == 0 || errno != EAGAIN;
    while (peer.received.size() >= 4) {
      std::size_t length = 0;
      for (std::size_t i = 0; i < 4; ++i)
        length = length << 8 | static_cast<std::uint8_t>(peer.received[i]);
      if (peer.received.size() < 4 + length) break;
      const json question = json::from_cbor(peer.received.substr(4, length));
      peer.received.erase(0, 4 + length);
      busy = true;
      if (!answer(peer, question)) return false;
    }
    busy = busy || ended;
    return !ended;
  }

  /// False: the connection is to be closed.
  bool answer(Peer& peer, const json& question) {
    std::string what = question.at("ask");
    if (question.contains("port")) what += " " + question.at("port").get<std::string>();
    if (question.contains("tlv")) what += " " + text(question.at("tlv"));
    asked.push_back(what);
    const auto is = [&](const std::string& pattern) {
      return !pattern.empty() && what.starts_with(pattern);
    };
    const std::string message =
        framed(is(refuse) ? json{{"refused", true}} : reply(peer, question));
    if (is(hang_up)) {
      const std::string part = message.substr(0, octets);
      if (!part.empty()) write(peer, part);
      hang_up.clear();
      return false;
    }
    if (is(hold))
      peer.held.push_back(message);
    else
      write(peer, message);
    return true;
  }

  json reply(Peer& peer, const json& question) {
    const std::string what = question.at("ask");
    if (what == "configuration") {
      json out{{key(lldpctl_k_config_receiveonly), receive_only ? 1 : 0},
               {key(lldpctl_k_config_paused), paused ? 1 : 0}};
      if (!old) out[key(lldpctl_k_config_chassis_cap_override)] = 0;
      return out;
    }
    if (what == "chassis")
      return identifier(chassis, lldpctl_k_chassis_id_subtype, lldpctl_k_chassis_id);
    if (what == "interfaces") {
      json out = json::array();
      for (const auto& [name, port] : ports) out.push_back({{key(lldpctl_k_interface_name), name}});
      return out;
    }
    if (what == "watch") {
      peer.watches = true;
      return json::object();
    }
    const std::string name = question.at("port");
    if (!ports.contains(name)) return {{"refused", true}};
    Port& port = ports.at(name);
    if (what == "set") {
      set(port, question.at("tlv"));
      return json::object();
    }
    json out = identifier(port.id, lldpctl_k_port_id_subtype, lldpctl_k_port_id);
    out[key(lldpctl_k_port_name)] = name;
    out[key(lldpctl_k_port_status)] = port.status;
    if (!without_custom_tlvs) out[key(lldpctl_k_custom_tlvs)] = list(port.sent);
    out[key(lldpctl_k_port_neighbors)] = json::array();
    for (const Neighbor& neighbor : port.neighbors)
      out[key(lldpctl_k_port_neighbors)].push_back(atom(neighbor));
    return out;
  }

  static json identifier(const Identifier& id, int subtype, int octets) {
    return {{key(subtype), id.subtype}, {key(octets), id.octets}};
  }
  static json list(const std::vector<CustomTlv>& tlvs) {
    json out = json::array();
    for (const CustomTlv& tlv : tlvs)
      out.push_back({{key(lldpctl_k_custom_tlv_oui), oui(tlv.key)},
                     {key(lldpctl_k_custom_tlv_oui_subtype), tlv.key.subtype},
                     {key(lldpctl_k_custom_tlv_oui_info_string),
                      std::string(tlv.information.begin(), tlv.information.end())}});
    return out;
  }
  static std::string oui(const tlv::Key& tlv) {
    return {static_cast<char>(tlv.oui >> 16), static_cast<char>(tlv.oui >> 8),
            static_cast<char>(tlv.oui)};
  }
  json atom(const Neighbor& neighbor) const {
    json out = identifier(neighbor.port_id, lldpctl_k_port_id_subtype, lldpctl_k_port_id);
    out.update(identifier(neighbor.chassis_id, lldpctl_k_chassis_id_subtype, lldpctl_k_chassis_id));
    out.update({{key(lldpctl_k_port_protocol), protocol},
                {key(lldpctl_k_port_ttl), neighbor.ttl},
                {key(lldpctl_k_port_descr), neighbor.port_description},
                {key(lldpctl_k_chassis_name), neighbor.system_name},
                {key(lldpctl_k_chassis_cap_available), neighbor.capabilities.system},
                {key(lldpctl_k_chassis_cap_enabled), neighbor.capabilities.enabled},
                {key(lldpctl_k_custom_tlvs), list(neighbor.custom)}});
    return out;
  }
  static CustomTlv tlv_of(const json& atom) {
    const auto octets = [&](int number) { return atom.value(key(number), std::string()); };
    const std::string oui = octets(lldpctl_k_custom_tlv_oui);
    CustomTlv out{.key = {.type = tlv::kOrganizational,
                          .subtype = atom.at(key(lldpctl_k_custom_tlv_oui_subtype))}};
    for (const char c : oui) out.key.oui = out.key.oui << 8 | static_cast<std::uint8_t>(c);
    const std::string information = octets(lldpctl_k_custom_tlv_oui_info_string);
    out.information.assign(information.begin(), information.end());
    return out;
  }
  static std::string text(const json& atom) {
    const CustomTlv tlv = tlv_of(atom);
    return atom.at(key(lldpctl_k_custom_tlv_op)).get<std::string>() + " " +
           std::to_string(tlv.key.oui) + "/" + std::to_string(tlv.key.subtype);
  }
  static void set(Port& port, const json& atom) {
    const CustomTlv tlv = tlv_of(atom);
    std::erase_if(port.sent, [&](const CustomTlv& there) { return there.key == tlv.key; });
    if (atom.at(key(lldpctl_k_custom_tlv_op)) == "replace") port.sent.push_back(tlv);
  }

  std::string path_;
  UniqueFd fd_;
  std::list<Peer> peers_{};
};

}  // namespace lldp::lldpd
