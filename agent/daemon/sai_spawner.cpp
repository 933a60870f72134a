// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/sai_spawner.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "agent/companions/launcher.hpp"
#include "agent/config/helper.hpp"

namespace lldp::io {
namespace {

constexpr const char* kProgram = "lldp-level-sai";

class SaiSpawner : public dataplane::sai::Spawner {
 public:
  SaiSpawner(Launcher launcher, std::vector<std::string> words)
      : launcher_(std::move(launcher)), words_(std::move(words)) {}

  int fd() const override { return launcher_.fd(); }
  Result<void> start(UniqueFd connection) override {
    return launcher_.start({.words = words_, .connection = std::move(connection)});
  }
  void stop() override { (void)launcher_.stop(); }
  Result<std::optional<std::string>> ended() override {
    const auto ended = launcher_.receive();
    if (!ended)
      return fail(
          Error{ECHILD, "libsai", "the launcher of its process has ended: restart the daemon"});
    if (!*ended) return std::nullopt;
    const int status = (*ended)->status;
    return WIFSIGNALED(status) ? fmt::format("killed by signal {}, {}", WTERMSIG(status),
                                             strsignal(WTERMSIG(status)))
                               : fmt::format("exit status {}", WEXITSTATUS(status));
  }

 private:
  Launcher launcher_;
  std::vector<std::string> words_;
};

}  // namespace

Result<std::shared_ptr<dataplane::sai::Spawner>> fork_sai_spawner(const std::string& library,
                                                                  const std::string& profile) {
  if (library.empty())
    return fail(Error{0, "backend sai", "name the vendor's libsai.so in sai.library"});
  std::vector<std::string> words{config::helper_path(kProgram), library};
  if (::access(words[0].c_str(), X_OK) != 0)
    return fail(
        Error{errno, words[0],
              "cannot be run: build it with -DLLDP_LEVEL_SAI=ON, for that libsai's release"});
  if (!profile.empty()) words.push_back(profile);
  auto launcher = Launcher::fork(nullptr);
  if (!launcher) return fail(launcher.error());
  return std::make_shared<SaiSpawner>(std::move(*launcher), std::move(words));
}

}  // namespace lldp::io
