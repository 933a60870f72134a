// SPDX-License-Identifier: Apache-2.0
#include "lab/live/switches.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "lab/live/fabric_of_namespaces.hpp"
#include "lab/live/processes.hpp"
#include "os/file.hpp"

namespace lldp::lab::live {
namespace {

constexpr char kSubcommand[] = "switch";

Processes find_switches(const FabricPlace& place, const std::vector<std::string>& nodes) {
  std::map<std::string, std::string> node_of;
  for (const std::string& node : nodes) node_of.emplace(place.switch_file(node), node);
  return find_processes([&](const std::vector<std::string>& words) {
    const auto node =
        words.size() == 3 && words[1] == kSubcommand ? node_of.find(words[2]) : node_of.end();
    return node == node_of.end() ? std::string() : node->second;
  });
}

}  // namespace

Result<void> start_switches(const FabricPlace& place,
                            const std::map<std::string, std::string>& files,
                            const std::string& program) {
  std::vector<std::string> nodes;
  for (const auto& [node, text] : files) nodes.push_back(node);
  const Processes running = find_switches(place, nodes);
  const KeepNamespace home;
  for (const auto& [node, text] : files) {
    if (running.contains(node)) {
      if (const auto own = read_file(place.switch_file(node)); own && *own == text) continue;
      return fail(Error{0, node, "a switch with other settings runs: take the lab down first"});
    }
    if (auto ok = replace_file(place.switch_file(node), text); !ok) return ok;
    if (auto ok = enter(place, node); !ok) return ok;
    for (const char* forwarding :
         {"/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/ipv6/conf/all/forwarding"})
      if (auto ok = write_setting(forwarding, "0"); !ok) return ok;
    if (auto ok = spawn({program, kSubcommand, place.switch_file(node)}, place.switch_log(node));
        !ok)
      return ok;
  }
  return {};
}

void stop_switches(const FabricPlace& place, const std::vector<std::string>& nodes) {
  end_processes(find_switches(place, nodes));
}

SwitchKeeper::SwitchKeeper(const FabricPlace& place, std::map<std::string, std::string> files,
                           std::string program)
    : place_(place),
      files_(std::move(files)),
      program_(std::move(program)),
      poll_(epoll_create1(EPOLL_CLOEXEC)) {
  epoll_event interest{.events = EPOLLIN, .data = {.fd = timer_.fd()}};
  epoll_ctl(poll_.get(), EPOLL_CTL_ADD, timer_.fd(), &interest);
  std::vector<std::string> nodes;
  for (const auto& [node, text] : files_) nodes.push_back(node);
  running_ = find_switches(place_, nodes);
  for (const std::string& node : nodes) hold(node);
}

void SwitchKeeper::hold(const std::string& node) {
  const auto at = running_.find(node);
  if (at == running_.end()) {
    ended_.push_back(node);
    timer_.set(std::chrono::seconds(1));
    return;
  }
  epoll_event interest{.events = EPOLLIN, .data = {.fd = at->second.get()}};
  epoll_ctl(poll_.get(), EPOLL_CTL_ADD, at->second.get(), &interest);
}

std::vector<std::string> SwitchKeeper::mind() {
  std::vector<std::string> lines;
  if (timer_.take()) {
    for (const std::string& node : std::exchange(ended_, {})) {
      if (const auto started = start_switches(place_, {*files_.find(node)}, program_); !started)
        lines.push_back(fmt::format("{}: its switch cannot be started again: {}", node,
                                    to_string(started.error())));
      ++restarts_;
      running_.merge(find_switches(place_, {node}));
      hold(node);
    }
  }
  for (auto at = running_.begin(); at != running_.end();) {
    pollfd process{.fd = at->second.get(), .events = POLLIN, .revents = 0};
    if (poll(&process, 1, 0) <= 0) {
      ++at;
      continue;
    }
    const std::string node = at->first;
    waitid(P_PIDFD, static_cast<id_t>(at->second.get()), nullptr, WEXITED);  // if it is our child
    at = running_.erase(at);
    lines.push_back(fmt::format("{}: its switch has ended, and is started again: {}", node,
                                last_line(place_.switch_log(node))));
    hold(node);
  }
  return lines;
}

}  // namespace lldp::lab::live
