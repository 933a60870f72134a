// SPDX-License-Identifier: Apache-2.0
#include "agent/control/connection.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/text.hpp"
#include "os/file_kind.hpp"
#include "os/unix_address.hpp"

namespace lldp::control {
namespace {

using json = nlohmann::ordered_json;
using std::chrono::steady_clock;

/// An answer of thousands of ports has megabytes.
constexpr std::size_t kLongest = std::size_t{256} << 20;

constexpr const char* kNoVarlink =
    "the answer is not Varlink: does another program have this socket?";

constexpr const char* kNoAnswer = "the daemon does not answer: see its log";

constexpr std::string_view kMadeAgain =
    " the daemon makes its socket again within a minute, and at once after kill -HUP";

/// True if a daemon runs that has this path; false also if this process may not read the lock.
bool is_taken(const std::string& path) {
  const int fd = ::open(lock_name(path).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  const bool taken = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return taken;
}

/// Why no daemon answers, and what to do: it does not run, or its socket is not there.
std::string no_daemon_text(const std::string& path) {
  struct stat here {};
  const bool any = ::lstat(path.c_str(), &here) == 0;
  const bool other = any && !S_ISSOCK(here.st_mode);
  if (is_taken(path)) {
    if (!any)
      return "the socket's file was removed while lldp-leveld runs:" + std::string(kMadeAgain);
    if (other)
      return "lldp-leveld runs, and " + std::string(kind_of_file(here.st_mode)) +
             " has the place of its socket: remove it;" + std::string(kMadeAgain);
    return "lldp-leveld runs, and another program's socket has the place of its own:" +
           std::string(kMadeAgain);
  }
  if (other && !S_ISLNK(here.st_mode))  // a link may lead to where the socket will be
    return std::string(kind_of_file(here.st_mode)) +
           " has the place of the socket of lldp-leveld: remove it, or name the socket with "
           "--socket";
  const std::size_t slash = path.rfind('/');
  if (!any && slash != path.npos && slash > 0 && ::access(path.substr(0, slash).c_str(), F_OK) != 0)
    return "no lldp-leveld answers here, and the directory of its socket is missing: start it, or "
           "name its socket with --socket; if it runs, its log has why its socket is not there";
  return "no lldp-leveld answers here: start it, or name its socket with --socket";
}

/// A Varlink error as a person reads it. What the daemon says in its own words needs no more.
Error error_of(const json& reply, const std::string& path) {
  const json& name = reply.at("error");
  const std::string error = name.is_string() ? name.get<std::string>() : name.dump();
  const auto parameter = [&](const char* key) {
    const auto parameters = reply.find("parameters");
    if (parameters == reply.end() || !parameters->contains(key)) return std::string();
    const json& value = parameters->at(key);
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  if (error == "org.lldplevel.ReloadFailed" || error == "org.lldplevel.ForgetFailed" ||
      error == "org.lldplevel.Refused")
    return {.what = parameter("reason")};
  if (error == "org.lldplevel.NotAllowed") return {.where = path, .what = parameter("who")};
  if (error == "org.lldplevel.TooManyClients")
    return {.where = path, .what = "the daemon has too many clients: end some, or ask as root"};
  for (const char* key : {"method", "interface", "parameter"})
    if (const std::string what = parameter(key); !what.empty())
      return {.where = path,
              .what = "the daemon does not know the " + std::string(key) + " " + escape(what) +
                      ": is it of another version?"};
  return {.where = path, .what = "the daemon refuses: " + escape(error)};
}

/// The parameters of a reply in our own notation, not parsed: an answer has megabytes, and the
/// caller parses them anyway. Nothing: it is an error, in another notation, or nested too deep.
std::optional<std::string_view> plain_parameters(std::string_view reply) {
  constexpr std::string_view kBegin = R"({"parameters":)";
  if (!reply.starts_with(kBegin)) return std::nullopt;
  reply.remove_prefix(kBegin.size());
  const std::size_t length = reply.starts_with('{') ? json_length(reply).value_or(0) : 0;
  const std::string_view rest = reply.substr(length);
  if (length == 0 || (rest != "}" && rest != R"(,"continues":true})")) return std::nullopt;
  return reply.substr(0, length);
}

/// The nearest directory above `path` that is there.
std::string directory_above(const std::string& path) {
  std::string directory = path;
  struct stat there {};
  do {
    const std::size_t slash = directory.rfind('/');
    if (slash == directory.npos) return ".";
    directory.erase(slash);
    if (directory.empty()) return "/";
  } while (::stat(directory.c_str(), &there) != 0);
  return directory;
}

}  // namespace

std::string ports_parameter(std::span<const std::string> ports) {
  json parameters = json::object();
  if (!ports.empty()) parameters["ports"] = ports;
  return parameters.dump(-1, ' ', false, json::error_handler_t::replace);
}

int poll_time(const Deadline& deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - steady_clock::now());
  return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, 1'000'000));
}

bool is_no_daemon(const Error& error) { return error.code == ENOENT || error.code == ECONNREFUSED; }

bool is_hang_up(const Error& error) { return error.code == ECONNRESET || error.code == EPIPE; }

Result<Connection> Connection::open(const std::string& path, std::chrono::milliseconds patience) {
  const auto address = unix_address(path);
  if (path.empty())
    return fail(Error{EINVAL, {}, "the name of the socket is empty: check --socket"});
  if (!address) return fail(Error{ENAMETOOLONG, path, "too long for a socket: check --socket"});
  Connection connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), path);
  // Of all that is sent, and of connecting first.
  const timeval limit{.tv_sec = patience.count() / 1000, .tv_usec = patience.count() % 1000 * 1000};
  ::setsockopt(connection.fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (connection.fd_ >= 0 && ::connect(connection.fd_, address->get(), address->size) == 0)
    return connection;
  const int code = errno;
  if (code == EAGAIN) return fail(connection.failed(ETIMEDOUT, kNoAnswer));
  if (code == ENOENT || code == ECONNREFUSED)
    return fail(connection.failed(code, no_daemon_text(path)));
  std::string what = "cannot connect: " + std::string(std::strerror(code));
  if (code == EACCES) what += ": run as root, or as a member of the socket's group";
  return fail(connection.failed(code, std::move(what)));
}

Connection::Connection(Connection&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      received_(std::move(other.received_)),
      given_up_(other.given_up_) {}

Connection::~Connection() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> Connection::call(std::string_view method, std::string_view parameters, bool more,
                              const Deadline& deadline) {
  if (auto settled = settle(deadline); !settled) return settled;
  std::string message = R"({"method":")" + std::string(method) + R"(","parameters":)";
  message += parameters;
  message += more ? R"(,"more":true})" : "}";
  message += '\0';
  for (std::string_view rest = message; !rest.empty();) {
    const ssize_t n = ::send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return fail(failed(errno, "cannot ask the daemon: " + std::string(std::strerror(errno))));
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<std::size_t> Connection::hear(const Deadline& deadline) {
  std::size_t end = received_.find('\0');
  bool late = false;
  while (end == received_.npos) {
    pollfd ready{fd_, POLLIN, 0};
    const int polled = ::poll(&ready, 1, poll_time(deadline));
    // An endless reply counts as no answer.
    if (polled == 0 || late) return fail(failed(ETIMEDOUT, kNoAnswer));
    if (polled < 0 && errno == EINTR) continue;
    char buffer[65536];
    const ssize_t n = polled < 0 ? -1 : ::recv(fd_, buffer, sizeof buffer, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return fail(failed(errno, "cannot hear the daemon: " + std::string(std::strerror(errno))));
    if (n == 0) return fail(failed(ECONNRESET, "the daemon hung up: see its log"));
    const std::size_t before = received_.size();
    received_.append(buffer, static_cast<std::size_t>(n));
    end = received_.find('\0', before);
    if (received_.size() > kLongest) return fail(failed(EPROTO, kNoVarlink));
    late = deadline && steady_clock::now() >= *deadline;
  }
  return end;
}

Result<void> Connection::settle(const Deadline& deadline) {
  while (given_up_) {
    const auto end = hear(deadline);
    if (!end) return fail(end.error());
    const auto reply = parse_json<json>(std::string_view(received_).substr(0, *end));
    given_up_ = reply.is_object() && reply.contains("continues") && reply["continues"] == true;
    received_.erase(0, *end + 1);
  }
  return {};
}

bool Connection::stays() {
  const auto settled = settle(steady_clock::now());
  if (!settled && settled.error().code != ETIMEDOUT) return false;
  char octet = 0;
  const ssize_t n = ::recv(fd_, &octet, 1, MSG_PEEK | MSG_DONTWAIT);
  // More late data may follow. The daemon sends nothing else unasked: data that is never read would
  // keep poll(2) from waiting.
  return n > 0 ? given_up_ : n < 0 && (errno == EAGAIN || errno == EINTR);
}

Result<std::string> Connection::next(const Deadline& deadline) {
  const auto heard = hear(deadline);
  if (!heard) {
    given_up_ = heard.error().code == ETIMEDOUT;
    return fail(heard.error());
  }
  const std::size_t end = *heard;
  const auto message = std::string_view(received_).substr(0, end);
  if (const auto parameters = plain_parameters(message)) {
    std::string out(*parameters);
    received_.erase(0, end + 1);
    if (received_.empty()) received_ = {};  // it may have been large
    return out;
  }
  const auto reply = parse_json<json>(message);
  received_.erase(0, end + 1);
  if (!reply.is_object()) return fail(failed(EPROTO, kNoVarlink));
  if (reply.contains("error")) return fail(error_of(reply, path_));
  const auto parameters = reply.find("parameters");
  return parameters == reply.end() ? "{}" : parameters->dump();
}

Result<std::string> Connection::ask(std::string_view method, std::string_view parameters,
                                    const Deadline& deadline) {
  if (const auto asked = call(method, parameters, false, deadline); !asked)
    return fail(asked.error());
  return next(deadline);
}

Result<Connection> open_when_there(const std::string& path, const Deadline& deadline,
                                   std::chrono::milliseconds least) {
  using std::chrono::milliseconds;
  const auto patience = [&] {
    return deadline ? std::clamp<milliseconds>(milliseconds(poll_time(deadline)), least, kPatience)
                    : kPatience;
  };
  while (true) {
    const std::string directory = directory_above(path);
    const int watch = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch < 0 || ::inotify_add_watch(watch, directory.c_str(), IN_CREATE | IN_MOVED_TO) < 0) {
      const int code = errno;
      if (watch >= 0) ::close(watch);
      return fail(Error{code, directory, "cannot be watched: " + std::string(std::strerror(code))});
    }
    // The watch stands before the attempt, so what comes in between is not missed.
    auto connection = Connection::open(path, patience());
    const bool wait = !connection && is_no_daemon(connection.error());
    pollfd ready{watch, POLLIN, 0};
    const int polled = wait ? ::poll(&ready, 1, poll_time(deadline)) : 0;
    ::close(watch);
    if (!wait || polled == 0) return connection;
  }
}

}  // namespace lldp::control
