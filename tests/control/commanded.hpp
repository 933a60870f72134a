// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/control/control.hpp"

namespace lldp::io::test {

/// A daemon behind a control socket to which all that it is told to do comes in one place.
class CommandedHandler : public ControlHandler {
 public:
  std::string detail_json(std::span<const std::string> ports) override { return show_json(ports); }
  std::string config_json() override {
    return R"({"version":1,"keys":[{"key":"role","value":"switch","source":"/etc/x:3"},{"key":"level","value":"","source":"default"},{"key":"bpffs","value":"/x","source":"default","after_restart":"/y"},{"key":"qdisc","value":"htb","source":"/etc/x:9","after_restart":""}]})";
  }
  Result<void> forget(std::span<const std::string> ports) override {
    return commanded("forget", ports);
  }
  Result<void> update(std::span<const std::string> ports) override {
    return commanded("update", ports);
  }
  Result<void> pause(std::span<const std::string> ports) override {
    return commanded("pause", ports);
  }
  Result<void> resume(std::span<const std::string> ports) override {
    return commanded("resume", ports);
  }
  Result<void> set(std::string_view key, std::string_view value) override {
    return commanded("set", std::vector{std::string(key), std::string(value)});
  }
  Result<void> mute(std::string_view alarm, std::string_view port,
                    std::string_view seconds) override {
    return commanded("mute",
                     std::vector{std::string(alarm), std::string(port), std::string(seconds)});
  }
  Result<void> accept_pfc(const std::string& port, bool accept) override {
    return commanded(accept ? "accept" : "reject", std::vector{port});
  }

 protected:
  virtual Result<void> commanded(std::string what, std::span<const std::string> words) = 0;
};

}  // namespace lldp::io::test
