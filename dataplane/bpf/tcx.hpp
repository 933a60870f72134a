// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/bpf/hook.hpp"
#include "os/fd.hpp"

namespace lldp::dataplane::bpf {

/// TCX (Linux 6.6): a BPF link per port and part, which its file in the BPF file system keeps.
/// Links of ours that have their file where we do not see it are found all the same, with
/// CAP_SYS_ADMIN: they get one here, or, without a BPF file system, can be removed.
class Tcx : public Hook {
 public:
  /// `programs` must outlive this. Without pins put() may not be called.
  explicit Tcx(const Programs& programs);

  [[nodiscard]] Result<std::optional<std::string>> find(Ifindex port, Part part) override;
  [[nodiscard]] Result<void> put(Ifindex port, Part part, const Programs::Loaded& program) override;
  [[nodiscard]] Result<void> remove(Ifindex port, Part part) override;
  void forget(Ifindex port) override;
  [[nodiscard]] bool is_shared(Ifindex port, Part part) override;
  [[nodiscard]] Result<std::vector<Ifindex>> ports() override;
  /// With programs that may be ours, for all that we could know without CAP_SYS_ADMIN.
  [[nodiscard]] const std::set<Ifindex>& unknown() const { return unknown_; }

 private:
  void find_strays();
  /// `kept`: the IDs of the links that have a file.
  void find_strays(Ifindex port, Part part, const std::set<std::uint32_t>& kept);
  /// ENOENT if there is none.
  [[nodiscard]] Result<UniqueFd> link(Ifindex port, Part part) const;

  const Programs& programs_;
  std::set<Ifindex> unknown_;
  std::map<std::pair<Ifindex, Part>, UniqueFd> strays_;  ///< links without a file that we see
};

}  // namespace lldp::dataplane::bpf
