// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agent/config/config.hpp"
#include "base/result.hpp"
#include "dataplane/sonic/databases.hpp"
#include "dataplane/sonic/redis.hpp"
#include "os/fd.hpp"
#include "os/timer.hpp"

namespace lldp::io {

struct ConfigDbOptions {
  std::string redis{};                     ///< as `sonic.redis`
  std::string config{};                    ///< as `sonic.config`
  std::chrono::milliseconds opening{250};  ///< for the first rows, before anything else runs
  std::chrono::milliseconds first_try{100};
  std::chrono::milliseconds last_try{5'000};
};

/// What an operator of SONiC has the agent do, and sees of it: rows of CONFIG_DB (config::Rows),
/// read anew whenever one of them is written to; and rows of STATE_DB about the ports. Nothing is
/// polled: Redis tells of changes.
class ConfigDb {
 public:
  /// By key: `LLDP_LEVEL_STATE|Ethernet0`.
  using StateRows = std::map<std::string, std::map<std::string, std::string>>;

  [[nodiscard]] static Result<std::unique_ptr<ConfigDb>> open(const ConfigDbOptions& options);

  [[nodiscard]] int fd() const { return poll_.get(); }
  void take_events();
  /// As last read; nothing: never yet. They stay while Redis is away.
  [[nodiscard]] const std::optional<config::Rows>& rows() const { return rows_; }
  /// Why they are not followed, or the state is not told, at present.
  [[nodiscard]] const std::optional<Error>& trouble() const { return trouble_; }
  /// The rows of STATE_DB are to be these: what differs is written.
  void tell(StateRows wanted);
  /// They go, as far as Redis takes that at once: the agent ends.
  void withdraw();

 private:
  ConfigDb(ConfigDbOptions options, dataplane::sonic::Databases databases, UniqueFd poll,
           Timer timer);
  void connect();
  void lost(const Error& why);
  void read();
  void take_rows(const dataplane::sonic::Rows& rows);
  void write();
  void ask(const char* database, const dataplane::sonic::Redis::Command& command,
           dataplane::sonic::Redis::OnReply on_reply);

  ConfigDbOptions options_;
  dataplane::sonic::Databases databases_;
  UniqueFd poll_;  ///< epoll: both connections and timer_
  Timer timer_;    ///< the next try
  dataplane::sonic::Redis follower_;
  dataplane::sonic::Redis client_;
  std::chrono::milliseconds pause_{};
  std::optional<config::Rows> rows_{};
  std::optional<Error> trouble_{};
  bool reading_ = false;
  bool again_ = false;  ///< written to since it is being read
  StateRows wanted_{};
  StateRows told_{};
  bool cleared_ = false;  ///< rows of an earlier process are gone
};

}  // namespace lldp::io
