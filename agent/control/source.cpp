// SPDX-License-Identifier: Apache-2.0
#include "agent/control/source.hpp"

#include <unistd.h>

namespace lldp::control {

DaemonSource::DaemonSource(std::string path) : path_(std::move(path)) {
  if (path_ == "-") given_.emplace(Connection::adopt(STDIN_FILENO, "lldp-leveld"));
}

Result<void> DaemonSource::ask(std::span<const char* const> methods, std::span<std::string> answers,
                               std::chrono::milliseconds patience) {
  const Deadline deadline = std::chrono::steady_clock::now() + patience;
  std::optional<Connection> opened;
  if (!given_) {
    auto connection = Connection::open(path_, patience);
    if (!connection) return fail(connection.error());
    opened.emplace(std::move(*connection));
  }
  Connection& daemon = given_ ? *given_ : *opened;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    auto answer = daemon.ask(methods[i], "{}", deadline);
    if (!answer) return fail(answer.error());
    answers[i] = std::move(*answer);
  }
  return {};
}

}  // namespace lldp::control
