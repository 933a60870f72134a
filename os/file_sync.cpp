// SPDX-License-Identifier: Apache-2.0
#include "os/file_sync.hpp"

#include <linux/aio_abi.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

#include "os/fd.hpp"

namespace lldp {
namespace {

class KernelFileSync final : public FileSync {
 public:
  KernelFileSync() : ended_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  // Waits for what is under way, as the end of the process would.
  ~KernelFileSync() override {
    if (context_ != 0) ::syscall(SYS_io_destroy, context_);
  }

  int fd() const override { return ended_.get(); }

  void start(int file) override {
    if (submit(file)) return;
    result_ = ::fsync(file) == 0 ? 0 : errno;
  }

  std::optional<int> take() override {
    if (!under_way_) return std::exchange(result_, std::nullopt);
    return told() ? reap() : std::nullopt;
  }

  int wait() override {
    if (!under_way_) return std::exchange(result_, std::nullopt).value_or(0);
    std::optional<int> result;
    while (!result) result = reap();
    static_cast<void>(told());
    return *result;
  }

 private:
  bool submit(int file) {
    if (!ended_ || (context_ == 0 && ::syscall(SYS_io_setup, 1, &context_) != 0)) return false;
    iocb request{};
    request.aio_lio_opcode = IOCB_CMD_FSYNC;
    request.aio_fildes = static_cast<std::uint32_t>(file);
    request.aio_flags = IOCB_FLAG_RESFD;
    request.aio_resfd = static_cast<std::uint32_t>(fd());
    iocb* requests[] = {&request};
    under_way_ = ::syscall(SYS_io_submit, context_, 1, requests) == 1;
    return under_way_;
  }

  /// Once for each that has ended.
  bool told() const {
    std::uint64_t ends = 0;
    return ::read(fd(), &ends, sizeof ends) == sizeof ends;
  }
  /// What has ended, or ends next; nothing if a signal came.
  std::optional<int> reap() {
    io_event event{};
    if (::syscall(SYS_io_getevents, context_, 1, 1, &event, nullptr) != 1) return std::nullopt;
    under_way_ = false;
    return static_cast<int>(-event.res);
  }

  UniqueFd ended_;
  aio_context_t context_ = 0;
  bool under_way_ = false;
  std::optional<int> result_{};  ///< of one that was waited for
};

}  // namespace

std::unique_ptr<FileSync> make_file_sync() { return std::make_unique<KernelFileSync>(); }

}  // namespace lldp
