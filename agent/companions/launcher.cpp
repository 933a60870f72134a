// SPDX-License-Identifier: Apache-2.0
#include "agent/companions/launcher.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/companions/output.hpp"
#include "agent/process/log.hpp"
#include "os/file.hpp"
#include "os/unix_address.hpp"

namespace lldp::io {
namespace {

constexpr std::int64_t kNever = -1;
constexpr std::int64_t kStopPatience = 2000;  ///< ms
constexpr std::int64_t kSweepPause = 50;      ///< ms

Error system_error(const char* where, const char* what) {
  return {errno, where, std::string(what) + ": " + std::strerror(errno)};
}

// In the launcher, which allocates next to nothing: its pages are the daemon's until it does.

std::int64_t now_ms() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1'000'000;
}

/// Never root: the user of that name, or else the user `nobody`. Read without the name service,
/// whose modules would stay in memory.
struct User {
  uid_t user = 0;
  gid_t group = 0;
};
User unprivileged_user(std::string_view wanted) {
  User found;
  std::FILE* users = std::fopen("/etc/passwd", "re");
  if (users == nullptr) return found;
  while (const passwd* entry = ::fgetpwent(users)) {
    const std::string_view name = entry->pw_name;
    if (name != wanted && name != "nobody") continue;
    found = {.user = entry->pw_uid, .group = entry->pw_gid};
    if (name == wanted) break;
  }
  std::fclose(users);
  return found;
}

/// Why it could not be done, or null. `other`: whether it is another user now.
const char* become_unprivileged(const char* name, bool& other) {
  // The bounding set can be emptied by root alone; without new privileges it grants nothing.
  for (int capability = 0; capability <= CAP_LAST_CAP; ++capability)
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "cannot give up new privileges";
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  const auto [user, group] = unprivileged_user(name);
  const bool root = ::geteuid() == 0;
  errno = 0;
  if (user == 0 && root) return "its user does not exist, nor a user nobody";
  const bool may = user != 0 && ::setgroups(1, &group) == 0;
  if (may || root) {  // without root and these rights, the user stays the same
    if (!may || ::setresgid(group, group, group) != 0 || ::setresuid(user, user, user) != 0)
      return "cannot become another user, with CAP_SETUID and CAP_SETGID";
  }
  other = may;
  // A service of its own has none, and its sandbox forbids the call that would drop them.
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct has[_LINUX_CAPABILITY_U32S_3] = {};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  const bool any =
      ::syscall(SYS_capget, &header, has) != 0 || std::ranges::any_of(has, [](const auto& part) {
        return (part.permitted | part.effective | part.inheritable) != 0;
      });
  if (any && ::syscall(SYS_capset, &header, none) != 0) return "cannot drop its capabilities";
  return nullptr;
}

class Process {
 public:
  [[nodiscard]] bool is(pid_t pid) const { return pid_ == pid; }
  [[nodiscard]] bool runs() const { return pid_ > 0; }
  [[nodiscard]] std::int64_t deadline() const { return deadline_; }

  void start(char* const* words, int input, int output, std::uint32_t limit_ms) {
    pid_ = ::fork();
    if (pid_ == 0) become(words, input, output);
    if (pid_ > 0) ::setpgid(pid_, pid_);  // as the child does itself: whichever is first
    too_late_ = false;
    deadline_ = limit_ms == 0 ? kNever : now_ms() + limit_ms;
  }
  [[nodiscard]] bool failed() const { return pid_ < 0; }
  void stop() {
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGTERM);
    deadline_ = now_ms() + kStopPatience;
  }
  void expire(std::int64_t now) {
    if (pid_ <= 0 || deadline_ == kNever || now < deadline_) return;
    ::kill(-pid_, SIGKILL);
    deadline_ = kNever;
    too_late_ = true;
  }
  [[nodiscard]] Launcher::Ended ended(int status) {
    pid_ = 0;
    deadline_ = kNever;
    return {.status = status, .too_late = too_late_};
  }

 private:
  [[noreturn]] static void become(char* const* words, int input, int output) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    if (::dup2(input, STDIN_FILENO) < 0) ::_exit(127);
    ::dup2(output, STDERR_FILENO);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);  // what it prints is for the log
    ::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
    if (::chdir("/") == 0) ::execv(words[0], words);
    log(Severity::kError, system_error(words[0], "cannot be run"));
    ::_exit(127);
  }

  pid_t pid_ = 0;
  std::int64_t deadline_ = kNever;
  bool too_late_ = false;
};

/// The launcher itself: takes requests, watches over what it has started.
class Loop {
 public:
  /// `only`: null: whatever it is asked for. `output`: null: what is started prints to the log.
  Loop(int daemon, const Only* only, Output* output)
      : daemon_(daemon), only_(only), output_(output) {}

  [[noreturn]] void run() {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    children_ = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    // It ends with the daemon. Blocked and not ignored: what reaches a child before it has become
    // its program waits for it.
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&child, signal);
    ::sigprocmask(SIG_BLOCK, &child, nullptr);
    // A process that its program leaves in the background becomes a child of the launcher.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    while (true) {
      pollfd ends[] = {{daemon_, POLLIN, 0},
                       {children_, POLLIN, 0},
                       {output_ != nullptr ? output_->fd() : -1, POLLIN, 0}};
      ::poll(ends, std::size(ends), patience());
      pass_on();
      process_.expire(now_ms());
      end_left(now_ms());
      if (ends[1].revents != 0) reap();
      if (ends[0].revents != 0) serve();
    }
  }

 private:
  /// In the background, when the program that has started it had ended.
  struct Left {
    pid_t pid = 0;
    std::int64_t until = kNever;
  };

  [[nodiscard]] int patience() const {
    std::int64_t at = process_.deadline();
    for (const Left& left : left_)
      if (at == kNever || left.until < at) at = left.until;
    return at == kNever ? -1 : static_cast<int>(std::max<std::int64_t>(0, at - now_ms()));
  }

  void pass_on() const {
    if (output_ != nullptr) output_->pass_on(now_ms());
  }

  void reap() {
    signalfd_siginfo ignored{};
    while (::read(children_, &ignored, sizeof ignored) > 0) continue;
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
      if (!process_.is(pid)) continue;
      const std::int64_t deadline = process_.deadline();
      pass_on();
      const Launcher::Ended ended = process_.ended(status);
      tell(ended);
      if (is_limited_) look_for_left(ended.too_late ? now_ms() : deadline);
    }
    if (pid < 0) left_.clear();  // no child is left
  }

  /// Its children that are neither the program nor known to be left have until then.
  void look_for_left(std::int64_t until) {
    std::vector<Left> now;
    for (const pid_t child : children()) {
      if (process_.is(child)) continue;
      const auto known = std::ranges::find(left_, child, &Left::pid);
      now.push_back(known == left_.end() ? Left{child, until} : *known);
    }
    left_ = std::move(now);
  }

  /// They have as long as the program had, and so have those they leave behind themselves.
  void end_left(std::int64_t now) {
    const auto is_due = [now](const Left& left) { return left.until <= now; };
    if (std::ranges::none_of(left_, is_due)) return;
    look_for_left(process_.deadline() == kNever ? now : process_.deadline());
    for (Left& left : left_) {
      if (!is_due(left)) continue;
      ::kill(left.pid, SIGKILL);
      left.until = now + kSweepPause;  // its own children become ours as soon as it is gone
    }
  }

  [[nodiscard]] static std::vector<pid_t> children() {
    std::vector<pid_t> out;
    const auto text = read_file("/proc/thread-self/children");
    if (!text) return out;  // of a kernel that does not tell
    const char* at = text->data();
    const char* const end = at + text->size();
    for (pid_t pid = 0; at < end; at = std::min(at, end - 1) + 1) {
      const auto [next, error] = std::from_chars(at, end, pid);
      if (error == std::errc()) out.push_back(pid);
      at = next;
    }
    return out;
  }

  void tell(const Launcher::Ended& ended) const {
    ::send(daemon_, &ended, sizeof ended, MSG_NOSIGNAL);
  }

  void serve() {
    static std::array<char, Request::kHead + Request::kMaxOctets> message;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> ancillary{};
    iovec data{message.data(), message.size()};
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = ancillary.data();
    header.msg_controllen = ancillary.size();
    const ssize_t size = ::recvmsg(daemon_, &header, MSG_CMSG_CLOEXEC);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (size <= 0) die();  // the daemon has ended
    UniqueFd connection;
    if (const cmsghdr* c = CMSG_FIRSTHDR(&header);
        c != nullptr && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c), sizeof fd);
      connection = UniqueFd(fd);
    }
    const auto request = decode({message.data(), static_cast<std::size_t>(size)});
    if (!request || request->has_connection != static_cast<bool>(connection)) die();
    if (request->verb == Request::Verb::kStop) return process_.stop();
    if (process_.runs()) die();  // one at a time
    start(*request, std::move(connection));
  }

  void start(const Request& request, UniqueFd connection) {
    std::uint32_t limit = request.limit_ms;
    if (only_ != nullptr) {
      if (!std::ranges::equal(request.command(), only_->words)) {
        tell({.refused = true});
        die();  // what it is for may have become another: the next one reads it anew
      }
      limit = static_cast<std::uint32_t>(only_->limit.count());
    }
    std::array<char*, Request::kMaxWords + 1> words{};
    for (std::size_t i = 0; i < request.count; ++i)
      words[i] = const_cast<char*>(request.words[i].data());
    const UniqueFd input =
        request.has_connection ? std::move(connection) : UniqueFd(file_of(request.input));
    is_limited_ = limit != 0;
    process_.start(words.data(), input.get(), output_ != nullptr ? output_->end() : STDERR_FILENO,
                   limit);
    if (process_.failed()) tell(process_.ended(127 << 8));
  }

  /// A file without a name: takes all of it at once, and can be read again, as a pipe cannot.
  static int file_of(std::string_view text) {
    const int file = ::memfd_create("change", MFD_CLOEXEC);
    if (file < 0) return -1;
    [[maybe_unused]] const auto written = ::write(file, text.data(), text.size());
    ::lseek(file, 0, SEEK_SET);
    return file;
  }

  [[noreturn]] void die() {
    process_.stop();
    for (const Left& left : left_) ::kill(left.pid, SIGKILL);
    ::_exit(0);
  }

  int daemon_;
  const Only* only_;
  Output* output_;
  int children_ = -1;
  Process process_;
  bool is_limited_ = false;  ///< what it has started has to end within a time
  std::vector<Left> left_{};
};

/// What a forked launcher says first; behind it, why it cannot be one.
struct Birth {
  int code = 0;
  bool of_daemons_user = false;
};

/// The daemon's environment, with variables of systemd or an operator's shell, is not passed to
/// programs of another user: they get a path, the language and the time zone. A vendor's libsai
/// runs as the daemon's user, and may be found and set up by variables of the unit.
void clean_environment() {
  constexpr const char* kKept[] = {"LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_TIME", "TZ"};
  std::vector<std::pair<const char*, std::string>> kept;
  for (const char* name : kKept)
    if (const char* value = std::getenv(name); value != nullptr) kept.emplace_back(name, value);
  ::clearenv();
  ::setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
  for (const auto& [name, value] : kept) ::setenv(name, value.c_str(), 1);
}

[[noreturn]] void run_launcher(int daemon, pid_t parent, const char* user) {
  ::prctl(PR_SET_NAME, "lldp-launcher");
  // Another launcher's end, above all: that one is to notice the daemon's.
  if (daemon > STDERR_FILENO + 1) ::syscall(SYS_close_range, STDERR_FILENO + 1, daemon - 1, 0);
  ::syscall(SYS_close_range, daemon + 1, ~0U, 0);
  if (user != nullptr) clean_environment();
  bool other = user == nullptr;
  const char* wrong = user != nullptr ? become_unprivileged(user, other) : nullptr;
  // After the change of user, which takes it back.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  const Birth birth{.code = wrong == nullptr ? 0 : errno, .of_daemons_user = !other};
  const std::string_view complaint = wrong == nullptr ? "" : wrong;
  const iovec parts[] = {{const_cast<Birth*>(&birth), sizeof birth},
                         {const_cast<char*>(complaint.data()), complaint.size()}};
  msghdr header{};
  header.msg_iov = const_cast<iovec*>(parts);
  header.msg_iovlen = 2;
  ::sendmsg(daemon, &header, MSG_NOSIGNAL);
  if (wrong != nullptr) ::_exit(1);
  Output output(user != nullptr ? user : "launcher");
  Loop(daemon, nullptr, &output).run();
}

}  // namespace

Result<Launcher> Launcher::fork(const char* user) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(system_error("launcher", "no socket can be had"));
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return fail(system_error("launcher", "cannot be started"));
  if (child == 0) {
    ::close(ours.release());
    run_launcher(theirs.get(), parent, user);
  }
  ::close(theirs.release());
  std::array<char, 256> said{};
  Birth birth;
  const ssize_t size = ::recv(ours.get(), said.data(), said.size() - 1, 0);
  if (size < static_cast<ssize_t>(sizeof birth))
    return fail(Error{ECHILD, "launcher", "ended at once"});
  std::memcpy(&birth, said.data(), sizeof birth);
  if (size > static_cast<ssize_t>(sizeof birth))
    return fail(Error{birth.code, "launcher",
                      std::string(said.data() + sizeof birth) +
                          (birth.code == 0 ? "" : std::string(": ") + std::strerror(birth.code))});
  Launcher out(std::move(ours));
  out.of_daemons_user_ = birth.of_daemons_user;
  return out;
}

Result<Launcher> Launcher::connect(const std::string& path) {
  const auto address = unix_address(path);
  if (!address) return fail(Error{ENAMETOOLONG, path, "is too long for a socket"});
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd || ::connect(fd.get(), address->get(), address->size) != 0)
    return fail(system_error(path.c_str(), "cannot be reached"));
  return Launcher(std::move(fd));
}

Result<void> Launcher::start(const Job& job) {
  Request request{.verb = Request::Verb::kStart,
                  .has_connection = static_cast<bool>(job.connection),
                  .limit_ms = static_cast<std::uint32_t>(job.limit.count()),
                  .count = job.words.size(),
                  .input = job.input};
  std::optional<std::string> message;
  if (request.count <= Request::kMaxWords) {
    std::ranges::copy(job.words, request.words.begin());
    message = encode(request);
  }
  if (!message) return fail(Error{E2BIG, job.words.front(), "too much for it to read"});
  iovec data{message->data(), message->size()};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> ancillary{};
  if (job.connection) {
    header.msg_control = ancillary.data();
    header.msg_controllen = ancillary.size();
    cmsghdr* c = CMSG_FIRSTHDR(&header);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    const int fd = job.connection.get();
    std::memcpy(CMSG_DATA(c), &fd, sizeof fd);
  }
  if (::sendmsg(fd(), &header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
    return fail(system_error("launcher", "cannot be asked"));
  return {};
}

Result<void> Launcher::stop() {
  const std::string message = *encode({.verb = Request::Verb::kStop});
  if (::send(fd(), message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
    return fail(system_error("launcher", "cannot be asked"));
  return {};
}

Result<std::optional<Launcher::Ended>> Launcher::receive() {
  Ended ended;
  const ssize_t size = ::recv(fd(), &ended, sizeof ended, MSG_DONTWAIT);
  if (size == sizeof ended) return ended;
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  return fail(Error{ECHILD, "launcher", "has ended: what it starts does not run until a restart"});
}

void serve_launcher(UniqueFd connection, const Only& only) {
  clean_environment();
  bool other = false;
  if (const char* wrong = become_unprivileged(only.user, other); wrong != nullptr) {
    log(Severity::kError, Error{errno, "launcher", wrong});
    ::_exit(1);
  }
  // The journal itself limits what a service prints, and knows the service.
  Loop(connection.get(), &only, nullptr).run();
}

}  // namespace lldp::io
