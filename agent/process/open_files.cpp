// SPDX-License-Identifier: Apache-2.0
#include "agent/process/open_files.hpp"

#include <algorithm>
#include <cerrno>
#include <string>

namespace lldp::io {

Result<rlimit> open_files_for(rlimit now) {
  if (now.rlim_cur >= kLeastOpenFiles) return now;
  if (now.rlim_max < kLeastOpenFiles)
    return fail(Error{EMFILE, "open files",
                      "the limit is " + std::to_string(now.rlim_max) +
                          ", and a daemon opens up to " + std::to_string(kLeastOpenFiles) +
                          ": raise it (LimitNOFILE= of the service, ulimit -n of a shell)"});
  return rlimit{std::min(now.rlim_max, kUsualOpenFiles), now.rlim_max};
}

Result<void> make_room_for_open_files() {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return {};  // what cannot be opened says so
  const auto wanted = open_files_for(now);
  if (!wanted) return fail(wanted.error());
  ::setrlimit(RLIMIT_NOFILE, &*wanted);
  return {};
}

}  // namespace lldp::io
