// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/rtnetlink.h>
#include <netlink/msg.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded.hpp"
#include "base/result.hpp"
#include "os/fd.hpp"

/// Traffic control by rtnetlink: libnl-route 3.7 has neither clsact nor cls_bpf, so messages are
/// made here, in one place.
namespace lldp::dataplane {

struct NlMsgFree {
  void operator()(nl_msg* m) const { nlmsg_free(m); }
};
/// A request about a qdisc, class or filter, with its attributes.
class TcMessage {
 public:
  TcMessage(int type, int flags, Ifindex port, std::uint32_t parent, std::uint32_t handle = 0,
            std::uint32_t info = 0);
  TcMessage& text(int attribute, std::string_view value);
  TcMessage& number(int attribute, std::uint32_t value);
  TcMessage& octets(int attribute, const void* data, std::size_t size);
  /// TCA_OPTIONS, filled by `fill`.
  TcMessage& options(const std::function<void(TcMessage&)>& fill);
  [[nodiscard]] nl_msg* get() const { return msg_.get(); }

 private:
  std::unique_ptr<nl_msg, NlMsgFree> msg_;
};

/// A qdisc, class or filter as the kernel tells it. Borrows; holds during the callback.
struct TcObject {
  Ifindex port{};
  std::uint32_t handle = 0;
  std::uint32_t parent = 0;
  std::uint32_t info = 0;
  std::string_view kind{};
  nlattr* options = nullptr;  ///< nested, may be null
};

class TcSocket {
 public:
  /// For the network namespace of the calling thread.
  [[nodiscard]] static Result<TcSocket> open();
  /// Waits for the kernel's answer. The error has its errno, and its own words where it gave any.
  [[nodiscard]] Result<void> request(const TcMessage& message);
  [[nodiscard]] Result<void> dump(const TcMessage& message,
                                  const std::function<void(const TcObject&)>& each);

 private:
  explicit TcSocket(UniqueFd socket) : socket_(std::move(socket)) {}
  [[nodiscard]] Result<void> run(const TcMessage& message,
                                 const std::function<void(const TcObject&)>& each);

  UniqueFd socket_;
  std::uint32_t sequence_ = 0;
  std::vector<char> buffer_ = std::vector<char>(32768);  ///< as large as the kernel makes dumps
};

}  // namespace lldp::dataplane
