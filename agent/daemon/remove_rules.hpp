// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "agent/config/config.hpp"
#include "base/result.hpp"
#include "dataplane/backend.hpp"

namespace lldp::io {

/// Takes off every port of this network namespace what a daemon with this configuration has left
/// there; nothing else is touched, and nothing to remove is no error. A port that cannot be cleared
/// does not keep the others from it; the error names the first. What another back end than the
/// configured one has left, as far as it can be found, is an error that says how it goes; so is a
/// daemon that runs here, for it puts them back.
[[nodiscard]] Result<void> remove_rules(const config::Config& config);

using BackendOpener =
    std::function<Result<std::unique_ptr<dataplane::Backend>>(std::string_view name)>;
/// What other back ends than the configured one have left, as an error that says how it goes. One
/// that cannot be had, or is down, as Redis where there is none, has left nothing that could be
/// found; one that is there and cannot say is an error too. `sai_memory`: libsai's file.
[[nodiscard]] Result<void> find_others(const std::string& configured, const BackendOpener& open,
                                       const std::string& sai_memory);

}  // namespace lldp::io
