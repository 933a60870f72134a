// SPDX-License-Identifier: Apache-2.0
// What the precompiled headers have in them (LLDP_PCH). No file relies on it: `./run syntax` reads
// each without.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <tl/expected.hpp>
#include <utility>
#include <vector>
