// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
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

/// What an attribute holds; nothing where it is not there, or too short.
template <class T>
std::optional<T> value_of(const nlattr* attribute) {
  T value{};
  if (attribute == nullptr || nla_len(attribute) < static_cast<int>(sizeof value))
    return std::nullopt;
  std::memcpy(&value, nla_data(attribute), sizeof value);
  return value;
}

/// A request about a qdisc, class or filter, with its attributes.
class TcMessage {
 public:
  TcMessage(int type, int flags, Ifindex port, std::uint32_t parent, std::uint32_t handle = 0,
            std::uint32_t info = 0);
  /// About a filter of a block that several interfaces share.
  [[nodiscard]] static TcMessage of_block(int type, int flags, std::uint32_t block,
                                          std::uint32_t handle = 0, std::uint32_t info = 0);
  TcMessage& text(int attribute, std::string_view value);
  TcMessage& number(int attribute, std::uint32_t value);
  TcMessage& octets(int attribute, const void* data, std::size_t size);
  TcMessage& nest(int attribute, const std::function<void(TcMessage&)>& fill);
  /// TCA_OPTIONS, filled by `fill`.
  TcMessage& options(const std::function<void(TcMessage&)>& fill);
  [[nodiscard]] nl_msg* get() const { return msg_.get(); }

 private:
  std::unique_ptr<nl_msg, NlMsgFree> msg_;
};

/// A qdisc, class or filter as the kernel tells it. Borrows; holds during the callback.
struct TcObject {
  Ifindex port{};  ///< 0: of a block that interfaces share
  std::uint32_t handle = 0;
  std::uint32_t parent = 0;
  std::uint32_t info = 0;
  std::uint32_t chain = 0;
  std::string_view kind{};
  nlattr* options = nullptr;        ///< nested, may be null
  std::uint32_t ingress_block = 0;  ///< a qdisc's that shares its block; 0: it does not
  std::uint32_t egress_block = 0;
};

/// What a message about one says.
[[nodiscard]] std::optional<TcObject> parse_tc(nlmsghdr* header);

/// What lets packets go another way than past traffic control, and how interfaces stand on each
/// other.
struct LinkFacts {
  std::string name{};
  std::string kind{};             ///< IFLA_INFO_KIND; empty: a device of its own
  Ifindex lower{};                ///< IFLA_LINK, in this network namespace; 0: none
  Ifindex master{};               ///< 0: none
  std::uint32_t xdp_program = 0;  ///< id; ~0 if it is attached and has none
  bool switch_port = false;       ///< of a switch chip, which forwards by itself
  /// Ethernet without a kind, and without hardware, as far as the kernel tells.
  bool virtual_ethernet = false;
  bool up = false;  ///< by its operator's word
};

class TcSocket {
 public:
  /// For the network namespace of the calling thread.
  [[nodiscard]] static Result<TcSocket> open();
  /// Waits for the kernel's answer. The error has its errno, and its own words where it gave any.
  [[nodiscard]] Result<void> request(const TcMessage& message);
  [[nodiscard]] Result<void> dump(const TcMessage& message,
                                  const std::function<void(const TcObject&)>& each);
  /// Of one interface, or of all if `port` is 0.
  [[nodiscard]] Result<void> links(Ifindex port,
                                   const std::function<void(Ifindex, const LinkFacts&)>& each);
  /// The port ID by which the kernel names this socket when it reports our requests to others;
  /// unique in the network namespace while this is open. (A process ID may be another's in another
  /// PID namespace, and tc(8) uses the time as sequence number.)
  [[nodiscard]] std::uint32_t port_id() const;

 private:
  explicit TcSocket(UniqueFd socket) : socket_(std::move(socket)) {}
  [[nodiscard]] Result<void> run(nlmsghdr* ask, const std::function<void(nlmsghdr*)>& each);

  UniqueFd socket_;
  std::uint32_t sequence_ = 0;
  std::vector<char> buffer_ = std::vector<char>(32768);  ///< as large as the kernel makes dumps
};

/// Reports every change of traffic control, in the network namespace of the thread that opens it.
class TcEvents {
 public:
  [[nodiscard]] static Result<TcEvents> open();
  [[nodiscard]] int fd() const { return socket_.get(); }
  /// The interfaces concerned; 0 if it may be any. A bounded number; the rest keeps fd() readable.
  [[nodiscard]] std::vector<Ifindex> take();
  /// What this socket asks for is no event.
  void ignore(const TcSocket& own) { ignored_.push_back(own.port_id()); }

 private:
  explicit TcEvents(UniqueFd socket) : socket_(std::move(socket)) {}
  UniqueFd socket_;
  std::vector<std::uint32_t> ignored_{};
  std::vector<char> buffer_ = std::vector<char>(16384);
};

}  // namespace lldp::dataplane
