// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/companions/kind.hpp"
#include "agent/companions/launcher.hpp"
#include "agent/config/config.hpp"
#include "agent/report/report.hpp"

namespace boost::asio {
class io_context;
}

namespace lldp::io {

/// The programs that run beside the daemon if the configuration asks for them, without any of its
/// capabilities: the exporter, for as long as `metrics.listen` is set, the AgentX subagent for as
/// long as `snmp.agentx` is, and the hook `on-change`, once for every change.
class Companions {
 public:
  /// Makes the connection to the control socket that exporter and subagent ask over.
  using Connect = std::function<Result<UniqueFd>()>;
  /// Called when report() has become another.
  using Told = std::function<void()>;
  /// Tests make them short.
  struct Times {
    std::chrono::milliseconds hook_limit{kHookLimit};
    std::chrono::milliseconds hook_answer{5'000};    ///< of its launcher, after the limit
    std::chrono::milliseconds hook_pause{100};       ///< between one run and the next
    std::chrono::milliseconds first_restart{1'000};  ///< of what has failed; doubles
    std::chrono::milliseconds settled{1'000};        ///< what has run so long has come up
    std::chrono::milliseconds last_restart{60'000};  ///< and no more than this
  };
  static constexpr std::size_t kQueue = 32;

  /// One for each, as each has a user of its own.
  struct Launchers {
    std::optional<Launcher> exporter{};
    std::optional<Launcher> hook{};
    std::optional<Launcher> agentx{};
    /// Where the sockets of those are that are services of their own, and then all are; else empty.
    std::string services{};
    std::string why_none{};  ///< they could not be forked; else empty
  };

  /// Whether `config` asks for any of them: then the daemon forks the launchers first of all.
  [[nodiscard]] static bool wanted(const config::Config& config);
  /// Those of exporter and hook if either is asked for, as it always was; the subagent's if it is.
  [[nodiscard]] static Launchers fork(const config::Config& config);
  /// Whether the daemon has none to fork, because the service that started it has put them beside
  /// it: LLDP_LEVEL_LAUNCHERS names the folder of their sockets.
  [[nodiscard]] static std::optional<Launchers> of_services();

  /// Without launchers nothing runs, and configure() says so.
  Companions(
      boost::asio::io_context& loop, std::optional<Launchers> launchers, Connect connect,
      Times times, Told told = [] {});
  Companions(const Companions&) = delete;
  Companions& operator=(const Companions&) = delete;
  ~Companions();

  /// Those that `config` asks for and that cannot be started until a restart.
  [[nodiscard]] std::vector<report::Companion> out_of_reach(const config::Config& config) const;
  /// Those that `config`, the last that configure() was given, asks for.
  [[nodiscard]] std::vector<report::Companion> report(const config::Config& config) const;
  /// Services of their own start what the file says and nothing else, so nothing but a reload can
  /// change that.
  [[nodiscard]] bool go_by_the_file() const;
  /// At start and whenever the configuration has become another.
  void configure(const config::Config& config);
  [[nodiscard]] bool wants_changes() const;
  /// report::change_json.
  void changed(std::string change);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  ///< shared with what waits in the loop
};

}  // namespace lldp::io
