// SPDX-License-Identifier: Apache-2.0
#include "agent/lldpd/connection.hpp"

#include <lldp-const.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "os/unix_address.hpp"

namespace lldp::lldpd {

Result<std::unique_ptr<LldpdConnection>> LldpdConnection::open(const Library& library,
                                                               const std::string& path) {
  const auto failed = [&](int code) { return fail(Error{code, path, std::strerror(code)}); };
  const auto address = unix_address(path);
  if (!address) return failed(ENAMETOOLONG);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return failed(errno);
  if (::connect(fd.get(), address->get(), address->size) != 0) return failed(errno);
  std::unique_ptr<LldpdConnection> out(new LldpdConnection(library, std::move(fd)));
  out->connection_ = library.new_name(path.c_str(), &LldpdConnection::send, &LldpdConnection::recv,
                                      static_cast<void*>(out.get()));
  if (out->connection_ == nullptr) return failed(ENOMEM);
  return out;
}

LldpdConnection::~LldpdConnection() { library_.release(connection_); }

ssize_t LldpdConnection::send(lldpctl_conn_t*, const std::uint8_t* data, size_t length,
                              void* self) {
  const int fd = static_cast<LldpdConnection*>(self)->fd();
  // The library takes a part for the whole. A question is shorter than any socket's buffer, and one
  // is under way at a time, so less than all means that something is wrong.
  const ssize_t n = ::send(fd, data, length, MSG_NOSIGNAL);
  return n == static_cast<ssize_t>(length) ? n : ssize_t{LLDPCTL_ERR_CALLBACK_FAILURE};
}

ssize_t LldpdConnection::recv(lldpctl_conn_t*, const std::uint8_t* data, size_t length,
                              void* self) {
  const int fd = static_cast<LldpdConnection*>(self)->fd();
  // The declaration says const, and means where to put it.
  const ssize_t n = ::recv(fd, const_cast<std::uint8_t*>(data), length, 0);
  if (n > 0) return n;
  if (n == 0) return LLDPCTL_ERR_EOF;
  return errno == EAGAIN || errno == EINTR ? LLDPCTL_ERR_WOULDBLOCK : LLDPCTL_ERR_CALLBACK_FAILURE;
}

LldpdConnection::Outcome LldpdConnection::outcome() const {
  switch (library_.last_error(connection_)) {
    case LLDPCTL_NO_ERROR:
      return Outcome::kDone;
    case LLDPCTL_ERR_WOULDBLOCK:
      return Outcome::kAgain;
    case LLDPCTL_ERR_EOF:
    case LLDPCTL_ERR_CALLBACK_FAILURE:
      return Outcome::kLost;
    default:
      return Outcome::kRefused;
  }
}

LldpdConnection::Outcome LldpdConnection::answered(lldpctl_atom_t* answer, Atom& out) const {
  if (answer == nullptr) return outcome();
  out = own(answer);
  return Outcome::kDone;
}

LldpdConnection::Outcome LldpdConnection::configuration(Atom& out) {
  return answered(library_.get_configuration(connection_), out);
}
LldpdConnection::Outcome LldpdConnection::local_chassis(Atom& out) {
  return answered(library_.get_local_chassis(connection_), out);
}
LldpdConnection::Outcome LldpdConnection::interfaces(Atom& out) {
  return answered(library_.get_interfaces(connection_), out);
}
LldpdConnection::Outcome LldpdConnection::port(const Atom& interface, Atom& out) {
  return answered(library_.get_port(interface.get()), out);
}
LldpdConnection::Outcome LldpdConnection::set(const Atom& port, const PendingTlv& tlv) {
  // What comes back is the port itself, without another reference.
  return library_.atom_set(port.get(), lldpctl_k_custom_tlv, tlv.tlv.get()) != nullptr
             ? Outcome::kDone
             : outcome();
}

LldpdConnection::Outcome LldpdConnection::watch() {
  return library_.watch_callback2(connection_, &LldpdConnection::noticed, this) == 0
             ? Outcome::kDone
             : outcome();
}

LldpdConnection::Outcome LldpdConnection::receive(std::vector<Notice>& out) {
  std::array<std::uint8_t, 16384> buffer{};
  notices_ = &out;
  while (true) {
    const ssize_t n = recv(connection_, buffer.data(), buffer.size(), this);
    if (n < 0) return n == LLDPCTL_ERR_WOULDBLOCK ? Outcome::kAgain : Outcome::kLost;
    if (library_.recv(connection_, buffer.data(), static_cast<std::size_t>(n)) < 0)
      return Outcome::kLost;
  }
}

void LldpdConnection::noticed(lldpctl_change_t change, lldpctl_atom_t* interface,
                              lldpctl_atom_t* neighbor, void* self) {
  const LldpdConnection& me = *static_cast<LldpdConnection*>(self);
  const char* name = me.library_.atom_get_str(interface, lldpctl_k_interface_name);
  auto values = me.read_neighbor(neighbor);
  if (me.notices_ == nullptr || name == nullptr || !values) return;
  if (change == lldpctl_c_deleted) values->ttl = 0;
  me.notices_->push_back({name, std::move(*values)});
}

std::vector<Atom> LldpdConnection::elements(const Atom& list) const {
  std::vector<Atom> out;
  for (auto* i = library_.atom_iter(list.get()); i != nullptr;
       i = library_.atom_iter_next(list.get(), i))
    if (lldpctl_atom_t* value = library_.atom_iter_value(list.get(), i)) out.push_back(own(value));
  return out;
}

std::string LldpdConnection::text(const Atom& atom, lldpctl_key_t key) const {
  const char* value = library_.atom_get_str(atom.get(), key);
  return value == nullptr ? std::string() : value;
}

std::optional<long> LldpdConnection::number(const Atom& atom, lldpctl_key_t key) const {
  const long value = library_.atom_get_int(atom.get(), key);
  return library_.last_error(connection_) == LLDPCTL_NO_ERROR ? std::optional(value) : std::nullopt;
}

Atom LldpdConnection::part(const Atom& atom, lldpctl_key_t key) const {
  return own(library_.atom_get(atom.get(), key));
}

ByteSpan LldpdConnection::octets(const Atom& atom, lldpctl_key_t key) const {
  std::size_t length = 0;
  const std::uint8_t* data = library_.atom_get_buffer(atom.get(), key, &length);
  return data == nullptr ? ByteSpan{} : ByteSpan{data, length};
}

Identifier LldpdConnection::identifier(const Atom& atom, lldpctl_key_t subtype,
                                       lldpctl_key_t value) const {
  return {static_cast<std::uint8_t>(number(atom, subtype).value_or(0)),
          std::string(as_text(octets(atom, value)))};
}
Identifier LldpdConnection::chassis_id(const Atom& atom) const {
  return identifier(atom, lldpctl_k_chassis_id_subtype, lldpctl_k_chassis_id);
}
Identifier LldpdConnection::port_id(const Atom& port) const {
  return identifier(port, lldpctl_k_port_id_subtype, lldpctl_k_port_id);
}

std::vector<CustomTlv> LldpdConnection::custom_tlvs(const Atom& port) const {
  std::vector<CustomTlv> out;
  const Atom list = part(port, lldpctl_k_custom_tlvs);
  for (const Atom& custom : elements(list)) {
    const ByteSpan oui = octets(custom, lldpctl_k_custom_tlv_oui);
    if (oui.size() != 3) continue;
    const ByteSpan information = octets(custom, lldpctl_k_custom_tlv_oui_info_string);
    out.push_back({.key = {.type = tlv::kOrganizational,
                           .oui = static_cast<std::uint32_t>(oui[0] << 16 | oui[1] << 8 | oui[2]),
                           .subtype = static_cast<std::uint8_t>(
                               number(custom, lldpctl_k_custom_tlv_oui_subtype).value_or(0))},
                   .information = Bytes(information.begin(), information.end())});
  }
  return out;
}

std::optional<Neighbor> LldpdConnection::neighbor(const Atom& port) const {
  if (number(port, lldpctl_k_port_protocol) != LLDPD_MODE_LLDP) return std::nullopt;
  Neighbor out{.ttl = static_cast<std::uint16_t>(
                   std::clamp(number(port, lldpctl_k_port_ttl).value_or(0), 0L, 65535L)),
               .port_description = text(port, lldpctl_k_port_descr),
               .system_name = text(port, lldpctl_k_chassis_name),
               .capabilities = {.system = static_cast<std::uint16_t>(
                                    number(port, lldpctl_k_chassis_cap_available).value_or(0)),
                                .enabled = static_cast<std::uint16_t>(
                                    number(port, lldpctl_k_chassis_cap_enabled).value_or(0))},
               .custom = custom_tlvs(port)};
  static_cast<Identifier&>(out.chassis_id) = chassis_id(port);
  static_cast<Identifier&>(out.port_id) = port_id(port);
  return out;
}

std::optional<Neighbor> LldpdConnection::read_neighbor(lldpctl_atom_t* port) const {
  Atom borrowed = own(port);  // the library's, until the callback returns
  auto values = neighbor(borrowed);
  static_cast<void>(borrowed.release());
  return values;
}

std::optional<PendingTlv> LldpdConnection::pending(const Atom& port, const Change& change) const {
  PendingTlv out{.list = part(port, lldpctl_k_custom_tlvs)};
  if (out.list) out.tlv = own(library_.atom_create(out.list.get()));
  lldpctl_atom_t* tlv = out.tlv.get();
  if (tlv == nullptr) return std::nullopt;
  const std::uint32_t oui = change.tlv.key.oui;
  const std::array<std::uint8_t, 3> octets{static_cast<std::uint8_t>(oui >> 16),
                                           static_cast<std::uint8_t>(oui >> 8),
                                           static_cast<std::uint8_t>(oui)};
  const Bytes& information = change.tlv.information;
  library_.atom_set_buffer(tlv, lldpctl_k_custom_tlv_oui, octets.data(), octets.size());
  library_.atom_set_int(tlv, lldpctl_k_custom_tlv_oui_subtype, change.tlv.key.subtype);
  if (!information.empty())
    library_.atom_set_buffer(tlv, lldpctl_k_custom_tlv_oui_info_string, information.data(),
                             information.size());
  library_.atom_set_str(tlv, lldpctl_k_custom_tlv_op,
                        change.operation == Change::Operation::kReplace ? "replace" : "remove");
  return out;
}

}  // namespace lldp::lldpd
