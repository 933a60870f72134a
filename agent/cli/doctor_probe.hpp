// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "agent/cli/doctor.hpp"
#include "base/result.hpp"
#include "os/dcbnl_socket.hpp"
#include "os/fd.hpp"

namespace lldp::cli {

/// Asks the kernel and the drivers of this network namespace; needs no privilege. What a driver
/// does not say is left out.
class Probe {
 public:
  [[nodiscard]] static Result<Probe> open();
  [[nodiscard]] LocalPort look_at(const std::string& port, unsigned ifindex);

 private:
  Probe(UniqueFd socket, dcbnl::Socket dcb) : socket_(std::move(socket)), dcb_(std::move(dcb)) {}
  UniqueFd socket_;
  dcbnl::Socket dcb_;
};

}  // namespace lldp::cli
