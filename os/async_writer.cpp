// SPDX-License-Identifier: Apache-2.0
#include "os/async_writer.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>
#include <thread>
#include <utility>

#include "os/fd.hpp"

namespace lldp {
namespace {

bool take_count(int fd) {
  std::uint64_t count = 0;
  return ::read(fd, &count, sizeof count) == sizeof count;
}

void add_one(int fd) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(fd, &one, sizeof one);
}

class Thread final : public AsyncWriter {
 public:
  Thread() {
    if (!shared_->asked || !shared_->ended) return;
    sigset_t all{};
    sigset_t before{};
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);  // they are the owner's
    try {
      thread_ = std::thread([shared = shared_] { shared->run(); });
    } catch (const std::system_error&) {  // none is to be had
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Thread() override {
    if (!thread_.joinable()) return;
    shared_->leaving = true;
    add_one(shared_->asked.get());
    if (under_way_)
      thread_.detach();
    else
      thread_.join();
  }

  int fd() const override { return thread_.joinable() ? shared_->ended.get() : -1; }

  void start(Job job) override {
    under_way_ = thread_.joinable();
    if (!under_way_) {
      shared_->outcome = job();
      return;
    }
    shared_->job = std::move(job);
    add_one(shared_->asked.get());
  }

  std::optional<Result<void>> take() override {
    under_way_ = under_way_ && !await(std::chrono::milliseconds(0));
    if (under_way_) return std::nullopt;
    return std::exchange(shared_->outcome, std::nullopt);
  }

  std::optional<Result<void>> wait(std::chrono::milliseconds most) override {
    if (under_way_) under_way_ = !await(most);
    return take();
  }

 private:
  /// What both have: the thread may outlive us. `job` and `outcome` are its own from `asked` until
  /// `ended`.
  struct Shared {
    void run() {
      for (; take_count(asked.get()); add_one(ended.get())) {
        if (job) outcome = std::exchange(job, nullptr)();
        if (leaving) return;
      }
    }
    UniqueFd asked{::eventfd(0, EFD_CLOEXEC)};
    UniqueFd ended{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    std::atomic<bool> leaving = false;
    Job job{};
    std::optional<Result<void>> outcome{};
  };

  /// Whether it has ended.
  [[nodiscard]] bool await(std::chrono::milliseconds most) const {
    pollfd ended{.fd = shared_->ended.get(), .events = POLLIN, .revents = 0};
    while (::poll(&ended, 1, static_cast<int>(most.count())) < 0 && errno == EINTR) {
    }
    return take_count(shared_->ended.get());
  }

  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  bool under_way_ = false;
  std::thread thread_{};
};

}  // namespace

std::unique_ptr<AsyncWriter> make_async_writer() { return std::make_unique<Thread>(); }

}  // namespace lldp
