// SPDX-License-Identifier: Apache-2.0
// A liblldpctl whose messages are easy to make: what a question asks, and what comes back, are JSON
// values in CBOR behind their length. Like the real one it writes and reads through the functions
// it is given, and takes no question while it waits for the answer to another, or after one that
// was refused. Atoms are values with a count of references.
#include <lldpctl.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

using nlohmann::json;

struct lldpctl_conn_t {
  lldpctl_send_callback send = nullptr;
  lldpctl_recv_callback recv = nullptr;
  void* user = nullptr;
  lldpctl_error_t error = LLDPCTL_NO_ERROR;
  std::optional<json> asked{};
  bool spoilt = false;
  std::vector<std::uint8_t> received{};
  lldpctl_change_callback2 changed = nullptr;
  void* changed_user = nullptr;
};

struct lldpctl_atom_t {
  lldpctl_conn_t* connection = nullptr;
  json value{};
  int references = 1;
};

namespace {

lldpctl_atom_t* make(lldpctl_conn_t* connection, json value) {
  auto* atom = new lldpctl_atom_t;
  atom->connection = connection;
  atom->value = std::move(value);
  return atom;
}

constexpr std::size_t kHeader = 4;

std::size_t wanted(const lldpctl_conn_t& c) {
  if (c.received.size() < kHeader) return kHeader;
  std::size_t length = 0;
  for (std::size_t i = 0; i < kHeader; ++i) length = length << 8 | c.received[i];
  return kHeader + length;
}

/// The first message, if all of it is there.
std::optional<json> take(lldpctl_conn_t& c) {
  const std::size_t size = wanted(c);
  if (c.received.size() < kHeader || c.received.size() < size) return std::nullopt;
  const auto end = c.received.begin() + static_cast<std::ptrdiff_t>(size);
  json out = json::from_cbor(c.received.begin() + kHeader, end);
  c.received.erase(c.received.begin(), end);
  return out;
}

std::optional<json> ask(lldpctl_conn_t& c, const json& question) {
  if (c.spoilt || (c.asked && *c.asked != question)) {
    c.error = LLDPCTL_ERR_INVALID_STATE;
    return std::nullopt;
  }
  if (!c.asked) {
    std::vector<std::uint8_t> message(kHeader);
    json::to_cbor(question, message);
    for (std::size_t i = 0; i < kHeader; ++i)
      message[i] = static_cast<std::uint8_t>((message.size() - kHeader) >> (8 * (kHeader - 1 - i)));
    const ssize_t sent = c.send(&c, message.data(), message.size(), c.user);
    if (sent < 0) {
      c.error = static_cast<lldpctl_error_t>(sent);
      return std::nullopt;
    }
    c.asked = question;
  }
  std::optional<json> answer;
  while (!(answer = take(c))) {
    const std::size_t had = c.received.size();
    c.received.resize(wanted(c));
    const ssize_t n = c.recv(&c, c.received.data() + had, c.received.size() - had, c.user);
    c.received.resize(n < 0 ? had : had + static_cast<std::size_t>(n));
    if (n < 0) {
      c.error = static_cast<lldpctl_error_t>(n);
      return std::nullopt;
    }
  }
  c.asked.reset();
  if (answer->contains("refused")) {
    c.spoilt = true;
    c.error = LLDPCTL_ERR_NOT_EXIST;
    return std::nullopt;
  }
  c.error = LLDPCTL_NO_ERROR;
  return answer;
}

lldpctl_atom_t* answered(lldpctl_conn_t* c, const json& question) {
  auto answer = ask(*c, question);
  return answer ? make(c, std::move(*answer)) : nullptr;
}

const json* field(lldpctl_atom_t* atom, lldpctl_key_t key) {
  const auto at = atom->value.find(std::to_string(key));
  atom->connection->error = at == atom->value.end() ? LLDPCTL_ERR_NOT_EXIST : LLDPCTL_NO_ERROR;
  return at == atom->value.end() ? nullptr : &*at;
}

lldpctl_atom_t* put(lldpctl_atom_t* atom, lldpctl_key_t key, json value) {
  atom->value[std::to_string(key)] = std::move(value);
  return atom;
}

lldpctl_atom_iter_t* position(std::size_t n, std::size_t size) {
  return n < size ? reinterpret_cast<lldpctl_atom_iter_t*>(n + 1) : nullptr;
}
std::size_t index(lldpctl_atom_iter_t* iter) { return reinterpret_cast<std::uintptr_t>(iter) - 1; }

}  // namespace

extern "C" {

void lldpctl_log_callback(void (*)(int, const char*)) {}
const char* lldpctl_strerror(lldpctl_error_t) { return "an error"; }

lldpctl_conn_t* lldpctl_new_name(const char*, lldpctl_send_callback send,
                                 lldpctl_recv_callback recv, void* user) {
  auto* c = new lldpctl_conn_t;
  c->send = send;
  c->recv = recv;
  c->user = user;
  return c;
}
int lldpctl_release(lldpctl_conn_t* c) {
  delete c;
  return 0;
}
lldpctl_error_t lldpctl_last_error(lldpctl_conn_t* c) { return c->error; }

ssize_t lldpctl_recv(lldpctl_conn_t* c, const std::uint8_t* data, size_t length) {
  c->received.insert(c->received.end(), data, data + length);
  while (const auto notice = take(*c)) {
    lldpctl_atom_t* interface = make(c, notice->at("interface"));
    lldpctl_atom_t* neighbor = make(c, notice->at("neighbor"));
    c->changed(notice->at("change").get<lldpctl_change_t>(), interface, neighbor, c->changed_user);
    lldpctl_atom_dec_ref(interface);
    lldpctl_atom_dec_ref(neighbor);
  }
  return static_cast<ssize_t>(length);
}

int lldpctl_watch_callback2(lldpctl_conn_t* c, lldpctl_change_callback2 changed, void* user) {
  if (!ask(*c, {{"ask", "watch"}})) return c->error;
  c->changed = changed;
  c->changed_user = user;
  return 0;
}

lldpctl_atom_t* lldpctl_get_configuration(lldpctl_conn_t* c) {
  return answered(c, {{"ask", "configuration"}});
}
lldpctl_atom_t* lldpctl_get_local_chassis(lldpctl_conn_t* c) {
  return answered(c, {{"ask", "chassis"}});
}
lldpctl_atom_t* lldpctl_get_interfaces(lldpctl_conn_t* c) {
  return answered(c, {{"ask", "interfaces"}});
}
lldpctl_atom_t* lldpctl_get_port(lldpctl_atom_t* interface) {
  const json* name = field(interface, lldpctl_k_interface_name);
  return answered(interface->connection, {{"ask", "port"}, {"port", *name}});
}

void lldpctl_atom_dec_ref(lldpctl_atom_t* atom) {
  if (atom != nullptr && --atom->references == 0) delete atom;
}

lldpctl_atom_t* lldpctl_atom_get(lldpctl_atom_t* atom, lldpctl_key_t key) {
  const json* value = field(atom, key);
  return value == nullptr ? nullptr : make(atom->connection, *value);
}
const char* lldpctl_atom_get_str(lldpctl_atom_t* atom, lldpctl_key_t key) {
  const json* value = field(atom, key);
  return value == nullptr ? nullptr : value->get_ref<const std::string&>().c_str();
}
const std::uint8_t* lldpctl_atom_get_buffer(lldpctl_atom_t* atom, lldpctl_key_t key, size_t* size) {
  const json* value = field(atom, key);
  if (value == nullptr) return nullptr;
  const auto& octets = value->get_ref<const std::string&>();
  *size = octets.size();
  return reinterpret_cast<const std::uint8_t*>(octets.data());
}
long lldpctl_atom_get_int(lldpctl_atom_t* atom, lldpctl_key_t key) {
  const json* value = field(atom, key);
  return value == nullptr ? -1 : value->get<long>();
}

lldpctl_atom_t* lldpctl_atom_set(lldpctl_atom_t* atom, lldpctl_key_t, lldpctl_atom_t* value) {
  const json* name = field(atom, lldpctl_k_port_name);
  return ask(*atom->connection, {{"ask", "set"}, {"port", *name}, {"tlv", value->value}}) ? atom
                                                                                          : nullptr;
}
lldpctl_atom_t* lldpctl_atom_set_str(lldpctl_atom_t* atom, lldpctl_key_t key, const char* value) {
  return put(atom, key, value);
}
lldpctl_atom_t* lldpctl_atom_set_buffer(lldpctl_atom_t* atom, lldpctl_key_t key,
                                        const std::uint8_t* octets, size_t size) {
  return put(atom, key, std::string(reinterpret_cast<const char*>(octets), size));
}
lldpctl_atom_t* lldpctl_atom_set_int(lldpctl_atom_t* atom, lldpctl_key_t key, long value) {
  return put(atom, key, value);
}

lldpctl_atom_iter_t* lldpctl_atom_iter(lldpctl_atom_t* list) {
  return list == nullptr ? nullptr : position(0, list->value.size());
}
lldpctl_atom_iter_t* lldpctl_atom_iter_next(lldpctl_atom_t* list, lldpctl_atom_iter_t* iter) {
  return position(index(iter) + 1, list->value.size());
}
lldpctl_atom_t* lldpctl_atom_iter_value(lldpctl_atom_t* list, lldpctl_atom_iter_t* iter) {
  return make(list->connection, list->value.at(index(iter)));
}
lldpctl_atom_t* lldpctl_atom_create(lldpctl_atom_t* list) {
  return make(list->connection, json::object());
}
}
