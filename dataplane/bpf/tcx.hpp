// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dataplane/bpf/hook.hpp"

namespace lldp::dataplane::bpf {

/// TCX (Linux 6.6): a BPF link per port and part, which its file in the BPF file system keeps.
class Tcx : public Hook {
 public:
  /// `programs` must have pins, and outlive this.
  explicit Tcx(const Programs& programs) : programs_(programs) {}

  [[nodiscard]] Result<std::optional<std::string>> find(Ifindex port, Part part) override;
  [[nodiscard]] Result<void> put(Ifindex port, Part part, const Programs::Loaded& program) override;
  [[nodiscard]] Result<void> remove(Ifindex port, Part part) override;
  void forget(Ifindex port) override;
  [[nodiscard]] bool is_shared(Ifindex port, Part part) override;
  [[nodiscard]] Result<std::vector<Ifindex>> ports() override;

 private:
  [[nodiscard]] const Pins& pins() const { return *programs_.pins(); }
  const Programs& programs_;
};

}  // namespace lldp::dataplane::bpf
