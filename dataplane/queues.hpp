// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bounded.hpp"
#include "base/result.hpp"
#include "dataplane/tc.hpp"
#include "os/fd.hpp"

namespace lldp::dataplane {

/// HTB at a port's root, with a class for each lossless priority and one for all others, so that
/// they can be told apart, and counted, where no hardware does it. No class is slowed down.
///
/// Our tree is known by its handle, 4c4c:. Class 4c4c:1N is priority N's, 4c4c:1f the others'.
class Queues {
 public:
  /// What is at a port's root.
  struct Root {
    bool foreign = false;  ///< configured by someone else: not ours to touch
    /// Ours: bit n for a class for priority n; 0 if it is not whole, or not as we made it.
    std::optional<std::uint8_t> lossless{};
  };

  [[nodiscard]] static Result<Queues> open();
  [[nodiscard]] Result<Root> find(Ifindex port);
  /// In the place of the kernel's own choice, or of ours. `lossless`: bit n for priority n.
  [[nodiscard]] Result<void> put(Ifindex port, std::uint8_t lossless);
  /// The kernel's own choice comes back.
  [[nodiscard]] Result<void> remove(Ifindex port);
  [[nodiscard]] Result<std::vector<Ifindex>> ports();
  [[nodiscard]] const TcSocket& socket() const { return socket_; }

 private:
  explicit Queues(TcSocket socket) : socket_(std::move(socket)) {}
  [[nodiscard]] Result<void> build(Ifindex port, std::uint8_t lossless);

  TcSocket socket_;
  UniqueFd classifier_{};
};

}  // namespace lldp::dataplane
