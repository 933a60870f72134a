// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "dataplane/bpf/hook.hpp"
#include "dataplane/bpf/qdiscs.hpp"
#include "dataplane/bpf/strangers.hpp"
#include "dataplane/tc.hpp"

namespace lldp::dataplane::bpf {

/// The clsact qdisc with a cls_bpf filter per part. The filter's name is ours and tells its key,
/// and whether the qdisc was made for it: so everything that is to be found again is in the kernel.
/// Of a qdisc that we made and that has no filter of ours any more a mark in our directory tells.
class Clsact : public Hook {
 public:
  Clsact(TcSocket socket, Programs& programs);

  [[nodiscard]] Result<std::optional<std::string>> find(Ifindex port, Part part) override;
  [[nodiscard]] Result<void> put(Ifindex port, Part part, const Programs::Loaded& program) override;
  [[nodiscard]] Result<void> remove(Ifindex port, Part part) override;
  /// The qdisc stays: to take it from a port that is up loses the packets that wait there, and
  /// without a filter it costs nothing.
  [[nodiscard]] Result<void> leave(Ifindex port, Part part) override;
  void forget(Ifindex port) override;
  [[nodiscard]] Result<std::vector<Ifindex>> ports() override;

  /// The filter that stands before ours and may see IP packets: where it matches, ours is not
  /// asked.
  [[nodiscard]] Result<std::optional<std::string>> before(Ifindex port, Part part);
  /// Which filters: to another chain than the first no packet comes but by a filter's word.
  enum class Chains : std::uint8_t { kFirst, kAll };
  /// The filters of others that may see IP packets behind ours, or all where ours is not there.
  [[nodiscard]] Result<std::vector<Stranger>> behind(Ifindex port, Part part,
                                                     Chains chains = Chains::kFirst);
  /// What packets go through after the egress hook: `qdiscs`, their filters, those of their classes
  /// and of their qevents. To choose a class decides nothing here: the mark is needed no more.
  [[nodiscard]] Result<std::vector<Stranger>> in_qdiscs(Ifindex port, const Qdiscs& qdiscs,
                                                        Chains chains = Chains::kFirst);
  /// All other ports are gone, and with them what was left there.
  void keep_only(const std::set<Ifindex>& ports);
  /// An ingress qdisc, which clsact cannot stand beside.
  [[nodiscard]] Result<bool> taken(Ifindex port);

 private:
  struct Filter {
    std::uint32_t handle = 0;
    std::uint32_t info = 0;  ///< preference << 16 | protocol
    std::string kind{};
    std::string name{};  ///< of a cls_bpf filter
    std::uint32_t program_id = 0;
    Power power{};
    [[nodiscard]] bool ours() const;
  };
  [[nodiscard]] Result<std::vector<Filter>> filters(Ifindex port, Part part);
  [[nodiscard]] Result<std::vector<Filter>> filters(const TcMessage& question,
                                                    Chains chains = Chains::kFirst);
  [[nodiscard]] static std::optional<Filter> ours_in(const std::vector<Filter>& all);
  [[nodiscard]] Result<std::optional<Filter>> ours(Ifindex port, Part part);
  /// True if it was not there before.
  [[nodiscard]] Result<bool> need_qdisc(Ifindex port);
  /// The port's qdisc was made by us and left empty.
  [[nodiscard]] bool is_left(Ifindex port) const;
  [[nodiscard]] Result<void> remove_filter(Ifindex port, Part part, const Filter& filter);
  /// Whether the qdisc has filters besides this one.
  [[nodiscard]] Result<bool> has_others(Ifindex port, Part part, const std::optional<Filter>& mine);
  /// And what is in it: our last filter goes with the qdisc that was made for it, so that a refusal
  /// leaves both, and the next attempt finds them.
  [[nodiscard]] Result<void> remove_qdisc(Ifindex port);

  TcSocket socket_;
  Programs& programs_;
  bool adopted_ = false;  ///< programs that were found at work share our state
};

}  // namespace lldp::dataplane::bpf
