// SPDX-License-Identifier: Apache-2.0
#include "tests/netns/support.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <sched.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "os/fd.hpp"
#include "os/file.hpp"
#include "os/unix_address.hpp"
#include "tests/support/places.hpp"

extern char** environ;

namespace lldp::netns {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  return {std::istream_iterator<std::string>(in), {}};
}

}  // namespace

std::string missing_privilege() { return ::geteuid() == 0 ? "" : "network namespaces need root"; }

TemporaryDirectory::TemporaryDirectory() {
  std::string name = std::filesystem::temp_directory_path() / "lldp-level-XXXXXX";
  if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp: " + name);
  path_ = name;
  std::filesystem::permissions(path_, std::filesystem::perms(0755));  // lldpd runs as its own user
}
TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Process::Process(std::vector<std::string> command, const std::string& output_file)
    : output_file_(output_file) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, output_file.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  if (const int e =
          posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ)) {
    pid_ = -1;
    ADD_FAILURE() << command[0] << ": " << std::strerror(e);
  }
  posix_spawn_file_actions_destroy(&actions);
}
Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), output_file_(std::move(other.output_file_)) {}
Process::~Process() {
  if (pid_ < 0) return;
  signal(SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}
void Process::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}
int Process::wait(std::chrono::milliseconds timeout) {
  int status = 0;
  if (!eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; }, timeout)) return -1;
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
std::string Process::output() const { return read_file(output_file_).value_or(""); }

pid_t process_with(const std::string& last_argument) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    // Not by a C++ stream, which throws when the process ends between the opening and the reading.
    const auto words = read_file(entry.path() / "cmdline");
    if (words && words->ends_with('\0' + last_argument + '\0'))
      return static_cast<pid_t>(std::stoi(entry.path().filename()));
  }
  return -1;
}

std::string run(const std::vector<std::string>& command) {
  const TemporaryDirectory files;
  Process process(command, files.file("output"));
  const int status = process.wait();
  EXPECT_EQ(status, 0) << fmt::format("{}", command[0]) << ": " << process.output();
  return process.output();
}

Namespace::Namespace() {
  static int count = 0;
  name_ = fmt::format("lldpt{}-{}", ::getpid(), count++);
  // Of this number there is nobody else: it was left by one who was killed and had it before.
  if (std::filesystem::exists("/run/netns/" + name_)) run({"ip", "netns", "del", name_});
  run({"ip", "netns", "add", name_});
  ip("link set lo up");
  // Duplicate address detection and router solicitation would only disturb.
  sysctl("net/ipv6/conf/default/disable_ipv6", "1");
}
Namespace::~Namespace() { run({"ip", "netns", "del", name_}); }
std::string Namespace::ip(std::string_view arguments) const {
  std::vector<std::string> command{"ip", "-n", name_};
  for (std::string& word : words_of(arguments)) command.push_back(std::move(word));
  return run(command);
}
void Namespace::ip_batch(const std::string& lines) const {
  const TemporaryDirectory files;
  std::ofstream(files.file("batch")) << lines;
  run({"ip", "-n", name_, "-batch", files.file("batch")});
}
std::vector<std::string> Namespace::inside(std::vector<std::string> command) const {
  command.insert(command.begin(), {"ip", "netns", "exec", name_});
  return command;
}
void Namespace::sysctl(std::string_view key, std::string_view value) const {
  const Inside here(*this);
  std::ofstream(fmt::format("/proc/sys/{}", key)) << value;
}

void send(const Namespace& from, const std::vector<std::uint8_t>& frame) {
  const Inside in(from);
  const UniqueFd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_ifindex = static_cast<int>(::if_nametoindex("p0"));
  EXPECT_EQ(::sendto(fd.get(), frame.data(), frame.size(), 0,
                     reinterpret_cast<const sockaddr*>(&to), sizeof to),
            static_cast<ssize_t>(frame.size()));
}

void join(const Namespace& a, const Namespace& b, std::size_t count, std::string_view prefix) {
  std::string pairs;
  std::string ups;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string port = fmt::format("{}{}", prefix, i);
    pairs += fmt::format("link add {0} type veth peer name {0} netns {1}\n", port, b.name());
    ups += fmt::format("link set {} up\n", port);
  }
  a.ip_batch(pairs + ups);
  b.ip_batch(ups);
}

Inside::Inside(const Namespace& space)
    : home_(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)) {
  const int there = ::open(("/run/netns/" + space.name()).c_str(), O_RDONLY | O_CLOEXEC);
  if (home_ < 0 || there < 0 || ::setns(there, CLONE_NEWNET) != 0)
    throw std::runtime_error("cannot enter " + space.name());
  ::close(there);
}
Inside::~Inside() {
  if (::setns(home_, CLONE_NEWNET) != 0) std::abort();  // any test after this would be wrong
  ::close(home_);
}

bool eventually(const std::function<bool()>& done, std::chrono::milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(3ms);
  }
  return true;
}

Agent::Agent(const Namespace& space, std::vector<std::string> options, Called called) {
  write_config("");
  std::vector<std::string> command{support::program("lldp-leveld"),
                                   "--config",
                                   config_file(),
                                   "--socket",
                                   socket(),
                                   "--state-file",
                                   state_file(),
                                   "--backend",
                                   "print"};
  if (called == Called::kAsTheNamespace)
    command.insert(command.end(), {"--system-name", space.name()});
  // Most tests are of rules, whatever the classes are.
  if (std::ranges::find(options, "--qos.lossless") == options.end())
    command.insert(command.end(), {"--qos.lossless", "slides"});
  command.insert(command.end(), options.begin(), options.end());
  command_ = space.inside(std::move(command));
  restart();
}
Agent::~Agent() {
  if (testing::Test::HasFailure()) std::fputs(process_->output().c_str(), stderr);
}
void Agent::restart() {
  process_.reset();
  process_ = std::make_unique<Process>(command_, files_.file("log"));
  const auto answers = [this] {
    return ::access(socket().c_str(), F_OK) == 0 && !call("org.lldplevel.Show").is_null();
  };
  EXPECT_TRUE(eventually(answers)) << process_->output();
}
void Agent::write_config(std::string_view text) const {
  std::ofstream file(config_file());
  file << text;
  // Nothing in a namespace is physical.
  if (!text.starts_with("ports =") && text.find("\nports =") == text.npos) file << "\nports = *\n";
}

nlohmann::json Agent::call(std::string_view method, std::string_view parameters) const {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const std::unique_ptr<const int, void (*)(const int*)> closer(&fd,
                                                                [](const int* p) { ::close(*p); });
  const auto address = unix_address(socket());
  if (!address || ::connect(fd, address->get(), address->size) != 0) return nullptr;
  const std::string request =
      fmt::format(R"({{"method":"{}","parameters":{}}})", method, parameters);
  if (::write(fd, request.c_str(), request.size() + 1) < 0) return nullptr;
  std::string reply;
  char buffer[65536];
  while (reply.empty() || reply.back() != '\0') {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n <= 0) return nullptr;
    reply.append(buffer, static_cast<std::size_t>(n));
  }
  reply.pop_back();
  return nlohmann::json::parse(reply)["parameters"];
}

nlohmann::json Agent::show() const { return call("org.lldplevel.Show"); }
int Agent::level() const {
  const auto all = show();
  const auto& level = all["device"]["level"];
  return level.is_number() ? level.get<int>() : -1;
}
nlohmann::json Agent::port(std::string_view name) const {
  const auto all = show();
  for (const auto& port : all["ports"])
    if (port["name"] == name) return port;
  return nullptr;
}
std::size_t Agent::neighbors(std::string_view name) const {
  const auto p = port(name);
  return p.is_null() ? 0 : p["neighbors"].size();
}

}  // namespace lldp::netns
