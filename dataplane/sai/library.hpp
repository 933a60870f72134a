// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "dataplane/sai/api.hpp"
#include "dataplane/sai/messages.hpp"

namespace lldp::dataplane::sai {

/// A vendor's libsai, connected to a chip that another program has initialized. Any call may hang
/// or end the process. One in a process.
class SaiLibrary {
 public:
  /// `meanwhile` is told Busy between two calls of libsai, and Making. `profile`: a file of
  /// KEY=VALUE lines that libsai may ask for; empty: none.
  using Tell = std::function<void(const Answer&)>;
  [[nodiscard]] static Result<std::unique_ptr<SaiLibrary>> open(const std::string& path,
                                                                const std::string& profile,
                                                                Tell meanwhile);

  [[nodiscard]] Answer answer(const Request& request);

 private:
  explicit SaiLibrary(Tell meanwhile) : meanwhile_(std::move(meanwhile)) {}
  [[nodiscard]] Result<void> connect();
  void query_capabilities();

  [[nodiscard]] Result<View> read(const Read& what);
  [[nodiscard]] Result<Oid> make(const Map& map);
  [[nodiscard]] Result<void> drop(Oid map);
  [[nodiscard]] Result<void> set(const Set& what);
  [[nodiscard]] Result<Acl> set_acl(const SetAcl& what);

  /// The ACL that is bound, and ours.
  [[nodiscard]] Result<void> read_binding(const Acl& known, View& view);
  [[nodiscard]] Result<Port> read_port(Oid port);
  /// An error without a code: it is of a kind that is not ours to know.
  [[nodiscard]] Result<Map> read_map(Oid map);
  [[nodiscard]] Acl read_acl(const Acl& known);
  /// It is at the ingress, by in and out ports and DSCP, as ours is: its id may be another's by
  /// now.
  [[nodiscard]] bool looks_ours(Oid table);
  /// None: the library cannot list them, or they are too many.
  [[nodiscard]] std::vector<Oid> entries_of(Oid table);
  /// The bound table, if it looks as only ours do: an entry for each class over one set of ports,
  /// in and out. A daemon that was killed between making the table and recording it has no record
  /// of it.
  [[nodiscard]] Acl recognize(Oid table);
  [[nodiscard]] Result<void> set_map(Oid port, MapKind kind, Oid map);
  [[nodiscard]] Result<void> set_pfc(Oid port, unsigned mask);
  [[nodiscard]] bool is_pfc_separate(Oid port);
  [[nodiscard]] Result<void> bind(Oid table);
  [[nodiscard]] Result<Oid> make_entry(Oid table, const Turn& turn, std::uint32_t rank,
                                       const std::vector<Oid>& ports);
  [[nodiscard]] Result<void> remove_acl(const Acl& acl);
  [[nodiscard]] bool can(sai_object_type_t type, sai_attr_id_t attribute, bool create);
  /// What libsai answered to a call, as an error where it is no success.
  [[nodiscard]] Result<void> done(long status, const char* what);

  Tell meanwhile_;
  decltype(&sai_get_object_key) keys_ = nullptr;
  decltype(&sai_query_attribute_capability) capability_ = nullptr;
  const sai_switch_api_t* switch_api_ = nullptr;
  const sai_port_api_t* port_api_ = nullptr;
  const sai_hostif_api_t* hostif_api_ = nullptr;
  const sai_qos_map_api_t* map_api_ = nullptr;
  const sai_acl_api_t* acl_api_ = nullptr;  ///< null: it has none
  sai_object_id_t switch_ = SAI_NULL_OBJECT_ID;
  View known_{};  ///< the release and what it can do
  /// Of the present request a call was refused for want of memory or the like: of what was asked
  /// nothing is known then, not that it is not there.
  std::optional<Error> short_of_{};
};

}  // namespace lldp::dataplane::sai
