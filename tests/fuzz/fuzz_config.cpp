// SPDX-License-Identifier: Apache-2.0
// The configuration file: a configuration or errors, each of them one line. And its lines once
// more, each set on the configuration that the ones before have made, as on request.
#include <cstdlib>

#include "agent/config/config.hpp"
#include "base/text.hpp"

namespace {

void require_one_line(const lldp::Error& error) {
  if (to_string(error).find('\n') != std::string::npos) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = lldp::as_text({data, size});
  const auto config = lldp::config::parse(text, "file");
  if (!config) {
    if (config.error().empty()) std::abort();
    for (const lldp::Error& error : config.error()) require_one_line(error);
  }
  lldp::config::Config changed = config ? *config : lldp::config::Config();
  const lldp::config::Config before = changed;
  for (const std::string& line : lldp::split_list(text, '\n')) {
    const std::size_t equals = std::min(line.find('='), line.size() - 1);
    auto next = lldp::config::with_option(changed, line.substr(0, equals), line.substr(equals + 1));
    if (!next) require_one_line(next.error());
    if (next) changed = std::move(*next);
  }
  lldp::config::Config restored = changed;
  if (!lldp::config::keep_what_is_of_start(restored, before).empty()) std::abort();
  return 0;
}
