// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/companions/launcher.hpp"
#include "agent/config/config.hpp"

namespace boost::asio {
class io_context;
}

namespace lldp::io {

/// The two programs that run beside the daemon if the configuration asks for them, without any of
/// its capabilities: the exporter, for as long as `metrics.listen` is set, and the hook
/// `on-change`, once for every change.
class Companions {
 public:
  /// Makes the connection to the control socket that the exporter asks over.
  using Connect = std::function<Result<UniqueFd>()>;
  /// Tests make them short.
  struct Times {
    std::chrono::milliseconds hook_limit{10'000};    ///< then it is killed
    std::chrono::milliseconds hook_pause{100};       ///< between one run and the next
    std::chrono::milliseconds first_restart{1'000};  ///< of the exporter; doubles
    std::chrono::milliseconds last_restart{60'000};  ///< and no more than this
  };
  static constexpr std::size_t kQueue = 32;

  /// One for each, as each has a user of its own.
  struct Launchers {
    Launcher exporter;
    Launcher hook;
  };

  /// Whether `config` asks for any of them: then the daemon forks the launchers first of all.
  [[nodiscard]] static bool wanted(const config::Config& config);
  [[nodiscard]] static Result<Launchers> fork();

  /// Without launchers nothing runs, and configure() says so.
  Companions(boost::asio::io_context& loop, std::optional<Launchers> launchers, Connect connect,
             Times times);
  Companions(const Companions&) = delete;
  Companions& operator=(const Companions&) = delete;
  ~Companions();

  /// At start and at every reload.
  void configure(const config::Config& config);
  [[nodiscard]] bool wants_changes() const;
  /// report::change_json.
  void changed(std::string change);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  ///< shared with what waits in the loop
};

}  // namespace lldp::io
