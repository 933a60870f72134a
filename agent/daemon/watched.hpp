// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <utility>

namespace lldp::io {

/// A descriptor in the loop. Asio waits for edges, but asks again at every wait(): data that was
/// left causes another wake-up, after the other events of the loop.
class Watched {
 public:
  Watched(boost::asio::io_context& loop, int fd, std::function<void()> ready)
      : fd_(fd), descriptor_(loop, fd), ready_(std::move(ready)) {}
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched() { pause(); }  // its owner closes it
  void wait() {
    if (is_paused()) descriptor_.assign(fd_);
    descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                           [this](const boost::system::error_code& error) {
                             if (!error) ready_();
                           });
  }
  /// Until wait(). Without it Asio's epoll set, which keeps the descriptor between two waits, would
  /// wake the process at every frame that comes, without a handler.
  void pause() {
    if (!is_paused()) descriptor_.release();
  }
  [[nodiscard]] bool is_paused() const { return !descriptor_.is_open(); }

 private:
  int fd_;
  boost::asio::posix::stream_descriptor descriptor_;
  std::function<void()> ready_;
};

}  // namespace lldp::io
