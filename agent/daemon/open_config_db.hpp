// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "agent/configdb/config_db.hpp"

namespace lldp::io {

/// With `sonic.config-db`: opens CONFIG_DB and reads its rows, before anything goes by the
/// configuration; null else, or if it cannot be. Rows that are read are the invocation's, and
/// `config` is what they make of it unless something in them is wrong.
[[nodiscard]] std::unique_ptr<ConfigDb> open_config_db(config::Invocation& invocation,
                                                       config::Config& config);

}  // namespace lldp::io
