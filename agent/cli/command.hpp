// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bounded.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

/// What `lldp-level` can do. main.cpp has the table of the commands.
namespace lldp::cli {

/// The command line after it was read.
struct Arguments {
  std::vector<std::string> operands{};
  std::string socket{};
  bool json = false;
  bool watch = false;
  bool labels = false;
  bool sent = false;
  std::string lasts{};                  ///< --for, in seconds
  std::optional<std::string> prefix{};  ///< of labels, as given
  std::optional<unsigned> first{};      ///< number of the lowest tier in labels
  std::optional<Level> level{};
  bool is_protected = false;
  std::vector<std::string> ports{};  ///< --port, as given
  std::optional<MacAddress> own{};
  std::string as{};
  std::string format{};
  std::optional<std::string> filter{};  ///< as given: an empty one is refused
  std::optional<std::chrono::milliseconds> timeout{};
  std::string listen{};  ///< as config::parse_listen writes it; empty: not given
};

enum Exit : int { kDone = 0, kFailed = 1, kUsage = 2, kNoDaemon = 3 };

struct Command {
  std::string_view name{};
  std::string_view operands{};  ///< as in the usage line
  std::size_t least = 0;        ///< operands
  std::size_t most = 0;
  std::string_view options{};  ///< the options it obeys besides --socket, comma-separated
  std::string_view help{};
  /// Prints to standard output; an error is printed by the caller.
  Result<int> (*run)(const Arguments&) = nullptr;
};

/// An error that is the caller's fault: exit status 2.
[[nodiscard]] Error usage_error(std::string what);
[[nodiscard]] bool is_usage_error(const Error& error);

/// The commands, as the table lists them.
[[nodiscard]] Result<int> show(const Arguments& arguments);
[[nodiscard]] Result<int> watch(const Arguments& arguments);
[[nodiscard]] Result<int> location(const Arguments& arguments);
[[nodiscard]] Result<int> rules(const Arguments& arguments);
[[nodiscard]] Result<int> stats(const Arguments& arguments);
[[nodiscard]] Result<int> wait(const Arguments& arguments);
[[nodiscard]] Result<int> check(const Arguments& arguments);
[[nodiscard]] Result<int> doctor(const Arguments& arguments);
[[nodiscard]] Result<int> metrics(const Arguments& arguments);
[[nodiscard]] Result<int> reload(const Arguments& arguments);
[[nodiscard]] Result<int> forget(const Arguments& arguments);
[[nodiscard]] Result<int> update(const Arguments& arguments);
[[nodiscard]] Result<int> pause(const Arguments& arguments);
[[nodiscard]] Result<int> resume(const Arguments& arguments);
[[nodiscard]] Result<int> set(const Arguments& arguments);
[[nodiscard]] Result<int> config(const Arguments& arguments);
[[nodiscard]] Result<int> explain(const Arguments& arguments);
[[nodiscard]] Result<int> mute(const Arguments& arguments);
[[nodiscard]] Result<int> help(const Arguments& arguments);
[[nodiscard]] Result<int> accept(const Arguments& arguments);
[[nodiscard]] Result<int> reject(const Arguments& arguments);
[[nodiscard]] Result<int> expect(const Arguments& arguments);
[[nodiscard]] Result<int> decode(const Arguments& arguments);
[[nodiscard]] Result<int> record(const Arguments& arguments);
[[nodiscard]] Result<int> replay(const Arguments& arguments);
[[nodiscard]] Result<int> check_config(const Arguments& arguments);

}  // namespace lldp::cli
