// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/live/place.hpp"
#include "lab/live/processes.hpp"
#include "os/fd.hpp"
#include "os/timer.hpp"

namespace lldp::lab::live {

/// Starts `PROGRAM switch FILE` in the namespace of each node for which there is a file's text, and
/// none is running; the kernel forwards there no more. Refuses where one runs by another text.
[[nodiscard]] Result<void> start_switches(const FabricPlace& place,
                                          const std::map<std::string, std::string>& files,
                                          const std::string& program);

/// Starts switches again that have ended, each once a second at most. Their agents give them their
/// rules anew.
class SwitchKeeper {
 public:
  /// Of the switches that run now.
  SwitchKeeper(const FabricPlace& place, std::map<std::string, std::string> files,
               std::string program);

  /// Readable when there is something to do for mind().
  [[nodiscard]] int fd() const { return poll_.get(); }
  /// A line for each that has ended or could not be started.
  [[nodiscard]] std::vector<std::string> mind();
  [[nodiscard]] std::size_t restarts() const { return restarts_; }

 private:
  void hold(const std::string& node);

  const FabricPlace& place_;
  std::map<std::string, std::string> files_;
  std::string program_;
  UniqueFd poll_;
  Timer timer_;
  Processes running_{};
  std::vector<std::string> ended_{};
  std::size_t restarts_ = 0;
};

/// Stops the switches of these nodes, and only those; known by the file on their command line.
void stop_switches(const FabricPlace& place, const std::vector<std::string>& nodes);

}  // namespace lldp::lab::live
