// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "dataplane/bpf/nft_rules.hpp"
#include "dataplane/bpf/nft_watch.hpp"
#include "os/fd.hpp"

namespace lldp::dataplane::bpf {

/// What nftables does past the rules of ports, in the network namespace of the first read().
class Nftables {
 public:
  /// From now on the kernel tells of changes, if it can. In the namespace of the first read().
  void watch();
  /// Readable when take() may be true; -1: never.
  [[nodiscard]] int fd() const { return watch_ ? watch_->fd() : -1; }
  /// True once after a transaction: read() has something to do.
  [[nodiscard]] bool take();
  /// Nothing has changed since the last read(), or the kernel would have told.
  [[nodiscard]] bool is_current() const { return watch_ && !told_ && (generation_ || refused_); }
  /// Reads what there is, if a transaction has changed anything since. One short question where
  /// none has.
  void read();
  /// Reads at the next read() whether anything changed or not: an interface, which nftables names
  /// here, has gone or has another name.
  void expire() { generation_.reset(); }
  /// What lets packets pass by this part of the rules of the interface, or (`below`) of one that
  /// stands on it; nothing: none that is known.
  [[nodiscard]] std::optional<NftBypass> past(std::string_view interface, Part part,
                                              bool below) const;
  /// What may change the DSCP of packets on their way between two ports (kWrites), or give them
  /// another interface to have come by (kSendsOn), wherever in the namespace it is hooked. Asks for
  /// all rules, where a transaction has changed anything since that was done.
  [[nodiscard]] std::optional<NftBypass> on_the_way(NftDoes does);
  /// Why nothing can be read.
  [[nodiscard]] const std::optional<Error>& unread() const { return unread_; }

 private:
  using Each = std::function<void(nlmsghdr*)>;
  /// A question, and the errno of its refusal.
  int ask(int type, int flags, std::uint8_t family, std::span<char> buffer, const Each& each,
          std::string_view table = {});
  [[nodiscard]] bool is_missing() const;
  /// What was read last stays.
  void refuse(int code);
  int read_all(std::vector<NftBypass>& found);
  /// The chains of a family, or of all (NFPROTO_UNSPEC), that a hook of an interface calls, or also
  /// (`of_stack`) one of the stack, with the rules of their tables.
  int read_family(std::uint8_t family, bool of_stack, std::span<char> buffer,
                  std::vector<NftChain>& all, std::vector<NftRule>& rules);

  std::optional<NftWatch> watch_{};
  bool told_ = false;  ///< of a transaction, since the last read()
  UniqueFd socket_;
  std::uint32_t sequence_ = 0;
  bool refused_ = false;  ///< the kernel had no nftables when it was asked
  std::optional<std::uint32_t> generation_{};
  std::vector<NftBypass> found_{};
  std::optional<std::uint32_t> on_the_way_of_{};  ///< of this generation
  std::vector<NftBypass> on_the_way_{};           ///< the first of a kind
  std::optional<Error> unread_{};
};

}  // namespace lldp::dataplane::bpf
