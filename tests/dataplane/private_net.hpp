// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace lldp::dataplane {

/// A network and a mount namespace of this process's own, with a BPF file system in it; they go
/// when the process ends. The tests of a process share them: each fixture begins by removing what
/// the one before has left.
class PrivateNet {
 public:
  /// Empty, or why it cannot be had.
  static std::string enter() {
    static const std::string kWhyNot = [] {
      if (::geteuid() != 0) return std::string("needs root, for namespaces and BPF");
      if (::unshare(CLONE_NEWNET | CLONE_NEWNS) != 0 ||
          ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        return std::string("no namespaces here");
      std::string dir = std::filesystem::temp_directory_path() / "lldp-bpffs-XXXXXX";
      if (::mkdtemp(dir.data()) == nullptr) return std::string("no temporary directory");
      bpffs() = dir;
      if (::mount("bpf", dir.c_str(), "bpf", 0, nullptr) != 0)
        return std::string("no BPF file system in this kernel");
      std::atexit([] {
        ::umount2(bpffs().c_str(), MNT_DETACH);
        ::rmdir(bpffs().c_str());
      });
      return std::string();
    }();
    return kWhyNot;
  }
  static std::string& bpffs() {
    static std::string path;
    return path;
  }
};

/// True if the shell command succeeded; its output is the test's.
inline bool sh(const std::string& command) { return std::system(command.c_str()) == 0; }

/// What the command prints.
inline std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  for (int c = 0; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  if (pipe != nullptr) ::pclose(pipe);
  return text;
}

}  // namespace lldp::dataplane
