// SPDX-License-Identifier: Apache-2.0
#include "agent/control/control.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <cstring>
#include <list>
#include <utility>

#include "agent/control/connection.hpp"
#include "agent/control/control_session.hpp"
#include "agent/control/varlink.hpp"
#include "base/text.hpp"
#include "os/fd.hpp"
#include "os/file_kind.hpp"
#include "os/unix_address.hpp"

namespace lldp::io {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Protocol = asio::local::stream_protocol;

/// After a failed accept (no descriptors left): long enough not to spin, short enough for a person.
constexpr std::chrono::milliseconds kAcceptPause{100};

Error system_error(const std::string& path, std::string what) {
  const int code = errno;
  what += ": ";
  what += std::strerror(code);
  if (code == EACCES)  // for root too, which has no capability to go past that
    what += ": its directory must belong to the user that the daemon runs as";
  if (code == ENOENT) what += ": make its directory, for the user that the daemon runs as";
  if (code == ENOTDIR) what += ": remove what has the place of its directory";
  if (code == EROFS) what += ": restart the daemon if the directory was removed";
  return {code, path, std::move(what)};
}

void make_directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash != path.npos && slash > 0) ::mkdir(path.substr(0, slash).c_str(), 0755);
}

/// The right to the path, for as long as the descriptor is open: two daemons that start together,
/// and find the same dead socket, must not both take it over.
Result<UniqueFd> lock(const std::string& path) {
  const std::string name = control::lock_name(path);
  UniqueFd fd(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return fail(system_error(name, "cannot be opened"));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (errno != EWOULDBLOCK) return fail(system_error(name, "cannot be locked"));
  return fail(Error{EADDRINUSE, path,
                    "another lldp-leveld has this control socket: stop it, or give this one its "
                    "own --socket and --state-file"});
}

/// A listening socket under a temporary name, then renamed: a client that finds the path can
/// connect, with the right mode, from the first moment on. The socket of a dead daemon is replaced.
Result<UniqueFd> listen_at(const std::string& path, std::optional<std::uint32_t> group) {
  constexpr std::string_view kFresh = ".new";
  const std::string fresh = path + std::string(kFresh);
  const auto address = unix_address(fresh);
  if (!address)
    return fail(Error{ENAMETOOLONG, path,
                      "too long for a socket: use at most " +
                          std::to_string(kMaxUnixName - kFresh.size()) + " characters"});
  struct stat there {};
  if (::lstat(path.c_str(), &there) == 0 && !S_ISSOCK(there.st_mode))
    return fail(Error{EEXIST, path,
                      std::string(kind_of_file(there.st_mode)) +
                          " has the place of the control socket: remove it, or use another "
                          "--socket"});
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fail(system_error(path, "no socket can be had"));
  ::unlink(fresh.c_str());
  if (::bind(fd.get(), address->get(), address->size) != 0)
    return fail(system_error(path, "the control socket cannot be made"));
  if (group && ::chown(fresh.c_str(), static_cast<uid_t>(-1), *group) != 0) {
    Error error = system_error(path, "cannot be given to the group of control.group");
    error.what += ": make the daemon's user a member (SupplementaryGroups= of the service)";
    ::unlink(fresh.c_str());
    return fail(std::move(error));
  }
  if (::chmod(fresh.c_str(), 0660) != 0 || ::listen(fd.get(), SOMAXCONN) != 0 ||
      ::rename(fresh.c_str(), path.c_str()) != 0) {
    Error error = system_error(path, "the control socket cannot be opened");
    ::unlink(fresh.c_str());
    return fail(std::move(error));
  }
  return fd;
}

/// A file by its device and number.
using Inode = std::pair<dev_t, ino_t>;
std::optional<Inode> inode_of(const std::string& path) {
  struct stat there {};
  if (::lstat(path.c_str(), &there) != 0) return std::nullopt;
  return Inode(there.st_dev, there.st_ino);
}

/// The client as the kernel knows it; root and the daemon's own user may command, every other
/// client may only read.
Client client_of(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return {};
  return {.user = peer.uid, .may_command = peer.uid == 0 || peer.uid == ::geteuid()};
}

}  // namespace

/// Shared with the handlers that wait in the loop, which may run after the server is gone.
class ControlServer::Impl final : public SessionOwner, public std::enable_shared_from_this<Impl> {
 public:
  Impl(ControlServer& front, asio::io_context& loop, ControlHandler& handler,
       const ControlLimits& limits, std::string path, std::optional<std::uint32_t> group,
       UniqueFd right, UniqueFd listening)
      : front_(front),
        loop_(loop),
        handler_(handler),
        limits_(limits),
        path_(std::move(path)),
        group_(group),
        right_(std::move(right)),
        acceptor_(loop, Protocol(), listening.release()),
        accept_again_(loop),
        tell_(loop) {}

  Result<bool> renew() {
    struct stat mine {};
    const auto there = inode_of(control::lock_name(path_));
    if (::fstat(right_.get(), &mine) != 0 || there != Inode(mine.st_dev, mine.st_ino)) {
      make_directory_of(path_);
      auto right = lock(path_);  // the file is gone; another daemon may have made it anew
      if (!right) return fail(right.error());
      right_ = std::move(*right);
    }
    if (const auto here = inode_of(path_); here && here == made_) return false;
    auto listening = listen_at(path_, group_);
    if (!listening) return fail(listening.error());
    made_ = inode_of(path_);
    error_code ignored;
    acceptor_.close(ignored);
    acceptor_.assign(Protocol(), listening->release());
    accept_again_.cancel();
    accept();
    return true;
  }

  void stop() {
    if (inode_of(path_) == made_) ::unlink(path_.c_str());  // else it is another's
    acceptor_.close();
    accept_again_.cancel();
    tell_.cancel();
    while (!sessions_.empty()) sessions_.front()->close();
  }

  void accept() {
    acceptor_.async_accept([weak = weak_from_this()](error_code error, Protocol::socket socket) {
      const auto self = weak.lock();
      if (!self || !self->acceptor_.is_open()) return;
      if (error == asio::error::operation_aborted) return;  // renew() has begun anew
      if (error) {
        self->accept_again_.expires_after(kAcceptPause);
        self->accept_again_.async_wait([weak](error_code cancelled) {
          if (const auto again = weak.lock(); again && !cancelled) again->accept();
        });
        return;
      }
      const Client client = client_of(socket.native_handle());
      self->admit(std::move(socket), client);
      self->accept();
    });
  }

  void connect(UniqueFd fd) {
    admit(Protocol::socket(loop_, Protocol(), fd.release()), {.user = ::geteuid()});
  }

  void notify_changed() {
    if (watchers_ == 0 || tell_pending_) return;
    tell_pending_ = true;
    tell_.expires_at(told_ + limits_.watch_pause);
    tell_.async_wait([weak = weak_from_this()](error_code cancelled) {
      if (const auto self = weak.lock(); self && !cancelled) self->tell_watchers();
    });
  }

  void record(Direction direction, std::string_view port, ByteSpan frame) {
    const auto time = std::chrono::system_clock::now().time_since_epoch();
    std::string text = R"("time":)";
    text += std::to_string(std::chrono::nanoseconds(time).count());
    text += R"(,"port":)";
    text += varlink::quote(escape(port));
    text += direction == Direction::kIn ? R"(,"direction":"in")" : R"(,"direction":"out")";
    text += R"(,"frame":")";
    text += varlink::base64(frame);
    text += '"';
    for (const auto& session : sessions_) session->frame_seen(port, text);
  }

  // SessionOwner
  ControlHandler& handler() override { return handler_; }
  const ControlLimits& limits() const override { return limits_; }
  void stream_began(Stream stream) override {
    stream == Stream::kWatch ? ++watchers_ : ++front_.recorders_;
  }
  void ended(Session& session) override {
    if (session.stream() == Stream::kWatch) --watchers_;
    if (session.stream() == Stream::kRecord) --front_.recorders_;
    sessions_.remove_if([&](const auto& s) { return s.get() == &session; });
  }

 private:
  void admit(Protocol::socket socket, const Client& client) {
    if (!make_room_for(client)) {
      const std::string refusal = varlink::error("org.lldplevel.TooManyClients");
      error_code ignored;
      socket.non_blocking(true, ignored);
      socket.send(asio::buffer(refusal), 0, ignored);
      return;
    }
    sessions_.push_back(std::make_shared<Session>(std::move(socket), *this, client));
    sessions_.back()->start();
  }

  /// A user above the limit closes a connection of the same user; a client that may command finds
  /// room even if the others watch.
  bool make_room_for(const Client& client) {
    if (!client.may_command) {
      const auto his = [&](const Session& s) { return s.client().user == client.user; };
      const auto count = std::ranges::count_if(sessions_, [&](const auto& s) { return his(*s); });
      if (static_cast<std::size_t>(count) >= limits_.clients_per_user)
        return put_out([&](const Session& s) { return his(s) && s.stream() == Stream::kNone; });
    }
    if (sessions_.size() < limits_.clients) return true;
    return put_out([](const Session& s) { return s.stream() == Stream::kNone; }) ||
           (client.may_command &&
            put_out([](const Session& s) { return !s.client().may_command; }));
  }

  /// Closes the one that has been silent longest among those, if there is any.
  template <class Which>
  bool put_out(Which among) {
    Session* oldest = nullptr;
    for (const auto& session : sessions_)
      if (among(*session) && (oldest == nullptr || session->last_heard() < oldest->last_heard()))
        oldest = session.get();
    if (oldest == nullptr) return false;
    oldest->close();
    return true;
  }

  void tell_watchers() {
    tell_pending_ = false;
    told_ = std::chrono::steady_clock::now();
    for (const auto& session : sessions_)
      if (session->stream() == Stream::kWatch) session->changed();
  }

  ControlServer& front_;
  asio::io_context& loop_;
  ControlHandler& handler_;
  const ControlLimits limits_;
  const std::string path_;
  const std::optional<std::uint32_t> group_;
  UniqueFd right_;
  std::optional<Inode> made_ = inode_of(path_);  ///< by us
  Protocol::acceptor acceptor_;
  asio::steady_timer accept_again_;
  asio::steady_timer tell_;
  bool tell_pending_ = false;
  std::chrono::steady_clock::time_point told_{};
  std::size_t watchers_ = 0;
  std::list<std::shared_ptr<Session>> sessions_;
};

ControlServer::ControlServer() = default;

ControlServer::~ControlServer() {
  if (impl_) impl_->stop();  // none where the loop refused it
}

Result<UniqueFd> ControlServer::connect() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(system_error("control", "no socket can be had"));
  impl_->connect(UniqueFd(ends[0]));
  return UniqueFd(ends[1]);
}

Result<std::unique_ptr<ControlServer>> ControlServer::open(asio::io_context& loop,
                                                           const std::string& path,
                                                           ControlHandler& handler,
                                                           ControlLimits limits,
                                                           std::optional<std::uint32_t> group) {
  make_directory_of(path);
  auto right = lock(path);
  if (!right) return fail(right.error());
  auto listening = listen_at(path, group);
  if (!listening) return fail(listening.error());
  std::unique_ptr<ControlServer> server(new ControlServer);
  server->impl_ = std::make_shared<Impl>(*server, loop, handler, limits, path, group,
                                         std::move(*right), std::move(*listening));
  server->impl_->accept();
  return server;
}

Result<bool> ControlServer::renew() { return impl_->renew(); }

void ControlServer::notify_changed() { impl_->notify_changed(); }

void ControlServer::record(Direction direction, std::string_view port, ByteSpan frame) {
  impl_->record(direction, port, frame);
}

}  // namespace lldp::io
