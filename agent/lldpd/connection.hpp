// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/lldpd/library.hpp"
#include "agent/lldpd/values.hpp"
#include "base/result.hpp"
#include "os/fd.hpp"

namespace lldp::lldpd {

/// One reference to an atom, lldpd's word for anything it tells.
struct AtomRelease {
  const Library* library = nullptr;
  void operator()(lldpctl_atom_t* atom) const { library->atom_dec_ref(atom); }
};
using Atom = std::unique_ptr<lldpctl_atom_t, AtomRelease>;

/// A TLV that is about to be set. The library keeps its value in the list it was made for.
struct PendingTlv {
  Atom list{};
  Atom tlv{};
};

/// A change of a neighbor.
struct Notice {
  std::string interface {};
  Neighbor neighbor{};
};

/// One connection to lldpd that never blocks: liblldpctl writes and reads messages, and our
/// functions move the octets. What has to wait for an answer is called again, in the same way, when
/// fd() is readable. One question at a time.
class LldpdConnection {
 public:
  enum class Outcome : std::uint8_t {
    kDone,
    kAgain,    ///< the answer has yet to come
    kRefused,  ///< lldpd cannot; the library then takes no other question on this connection
    kLost,     ///< the peer is gone
  };

  [[nodiscard]] static Result<std::unique_ptr<LldpdConnection>> open(const Library& library,
                                                                     const std::string& path);
  ~LldpdConnection();
  LldpdConnection(const LldpdConnection&) = delete;
  LldpdConnection& operator=(const LldpdConnection&) = delete;
  [[nodiscard]] int fd() const { return fd_.get(); }

  [[nodiscard]] Outcome configuration(Atom& out);
  [[nodiscard]] Outcome local_chassis(Atom& out);
  [[nodiscard]] Outcome interfaces(Atom& out);
  [[nodiscard]] Outcome port(const Atom& interface, Atom& out);
  [[nodiscard]] Outcome set(const Atom& port, const PendingTlv& tlv);

  /// From now on lldpd tells of changes, and this connection is for nothing else.
  [[nodiscard]] Outcome watch();
  /// Takes the notices that have come.
  [[nodiscard]] Outcome receive(std::vector<Notice>& out);

  // What needs no answer.

  /// The elements of a list.
  [[nodiscard]] std::vector<Atom> elements(const Atom& list) const;
  [[nodiscard]] std::string text(const Atom& atom, lldpctl_key_t key) const;
  [[nodiscard]] std::optional<long> number(const Atom& atom, lldpctl_key_t key) const;
  [[nodiscard]] Atom part(const Atom& atom, lldpctl_key_t key) const;
  [[nodiscard]] Identifier chassis_id(const Atom& atom) const;  ///< of a chassis or a port
  [[nodiscard]] Identifier port_id(const Atom& port) const;
  [[nodiscard]] std::vector<CustomTlv> custom_tlvs(const Atom& port) const;
  /// nullopt: not heard by LLDP.
  [[nodiscard]] std::optional<Neighbor> neighbor(const Atom& port) const;
  /// What to set on the port for the change; nullopt: lldpd was built without custom TLVs.
  [[nodiscard]] std::optional<PendingTlv> pending(const Atom& port, const Change& change) const;

 private:
  LldpdConnection(const Library& library, UniqueFd fd) : library_(library), fd_(std::move(fd)) {}
  static ssize_t send(lldpctl_conn_t*, const std::uint8_t* data, size_t length, void* self);
  static ssize_t recv(lldpctl_conn_t*, const std::uint8_t* data, size_t length, void* self);
  static void noticed(lldpctl_change_t, lldpctl_atom_t* interface, lldpctl_atom_t* neighbor,
                      void* self);
  [[nodiscard]] Atom own(lldpctl_atom_t* atom) const { return {atom, AtomRelease{&library_}}; }
  [[nodiscard]] Outcome outcome() const;
  [[nodiscard]] Outcome answered(lldpctl_atom_t* answer, Atom& out) const;
  [[nodiscard]] Identifier identifier(const Atom& atom, lldpctl_key_t subtype,
                                      lldpctl_key_t octets) const;
  [[nodiscard]] ByteSpan octets(const Atom& atom, lldpctl_key_t key) const;
  [[nodiscard]] std::optional<Neighbor> read_neighbor(lldpctl_atom_t* port) const;

  const Library& library_;
  UniqueFd fd_;
  lldpctl_conn_t* connection_ = nullptr;
  std::vector<Notice>* notices_ = nullptr;  ///< where those of the current receive() go
};

}  // namespace lldp::lldpd
