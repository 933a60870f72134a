// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace lldp::support {

struct Ran {
  int status = 0;      ///< the exit status
  std::string text{};  ///< standard output and standard error, as they came
};

/// Runs a command of the shell to its end; no leak is looked for in it, as with LLDP_MANY_STARTS.
inline Ran run(const std::string& command) {
  Ran r;
  std::FILE* p = ::popen(("export ASAN_OPTIONS=detect_leaks=0; " + command + " 2>&1").c_str(), "r");
  char buffer[4096];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, p)) r.text.append(buffer, n);
  r.status = WEXITSTATUS(::pclose(p));
  return r;
}

}  // namespace lldp::support
