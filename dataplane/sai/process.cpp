// SPDX-License-Identifier: Apache-2.0
// The process with libsai: its start and end, and what it is asked.
#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "dataplane/sai/sai.hpp"
#include "os/poll_set.hpp"

namespace lldp::dataplane {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kConnectionOfProcess = 1, kSpawnerOfProcess = 2, kTimerOfProcess = 3;
constexpr int kShareOfProcess = 16;  ///< messages of a turn: others have theirs
constexpr int kLastWords = 1024;     ///< of a process that has ended

}  // namespace

Result<std::unique_ptr<Backend>> Sai::open(const SaiOptions& options) {
  if (!options.spawner)
    return fail(error("libsai's process cannot be started: see the previous lines"));
  Timer timer;
  auto poll = make_poll_set(
      "backend sai", {{timer.fd(), kTimerOfProcess}, {options.spawner->fd(), kSpawnerOfProcess}});
  if (!poll) return fail(poll.error());
  std::unique_ptr<Sai> self(new Sai(options, std::move(*poll), std::move(timer)));
  if (options.removing && self->damaged_)
    return fail(Error{0, options.memory,
                      self->damaged_->what + ": what the ports had before is not known: set their "
                                             "QoS maps and PFC anew, and remove the file"});
  self->down_ = error("libsai has not answered yet");
  self->start();
  const auto until = Clock::now() + options.opening;
  while (self->current_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (left <= 0ms) break;
    pollfd ready{.fd = self->poll_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, static_cast<int>(left.count())) <= 0) break;
    if (Events told = self->take_events(); !told.changed.empty())
      self->events_.changed = {Ifindex()};
  }
  return self;
}

void Sai::start() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fall("no socket can be had: " + std::string(std::strerror(errno)));
  socket_ = UniqueFd(ends[0]);
  UniqueFd theirs(ends[1]);
  epoll_event interest{.events = EPOLLIN, .data = {.u64 = kConnectionOfProcess}};
  ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, socket_.get(), &interest);
  if (auto begun = options_.spawner->start(std::move(theirs)); !begun) {
    socket_ = UniqueFd();
    pause_ = options_.times.last_restart;
    timer_.set(pause_);
    return fall(to_string(begun.error()));
  }
  life_ = Life::kComing;
  started_ = Clock::now();
  said_.clear();
  refresh();
}

void Sai::fall(std::string why) {
  down_ = error(std::move(why));
  jobs_.clear();
  if (current_) current_->answered = nullptr;
  for (const auto& task : std::exchange(tasks_, {}))
    for (const auto& [port, outcome] : task->outcomes)
      events_.outcomes.push_back({.port = port, .why = down_});
  events_.changed.emplace_back();
}

void Sai::on_timer() {
  if (life_ == Life::kEnded) return start();
  if (!current_) return refresh();
  // One that has not come up is down already. Its end starts the next one.
  if (life_ != Life::kAnswers) return options_.spawner->stop();
  life_ = Life::kHangs;
  timer_.set(options_.times.last);
  fall(fmt::format(
      "libsai has not answered for {} s: it is waited for, and its process started anew after {} s",
      std::chrono::duration<double>(options_.times.answer).count(),
      std::chrono::duration<double>(options_.times.last).count()));
}

void Sai::on_ended(const std::string& how) {
  life_ = Life::kEnded;
  current_.reset();
  socket_ = UniqueFd();
  if (Clock::now() - started_ > options_.times.last_restart) pause_ = {};  // it has worked
  pause_ = std::clamp<Clock::duration>(pause_ * 2, options_.times.first_restart,
                                       options_.times.last_restart);
  timer_.set(pause_);
  fall(said_.empty() ? fmt::format("libsai's process has ended ({}): it is started anew", how)
                     : said_);
}

bool Sai::receive() {
  if (!socket_) return false;
  std::string text(sai::kMaxMessage, '\0');
  const ssize_t size = ::recv(socket_.get(), text.data(), text.size(), MSG_DONTWAIT);
  if (size > 0) {
    on_message({text.data(), static_cast<std::size_t>(size)});
    return true;
  }
  if (size == 0) {  // its parent reports how it ended
    socket_ = UniqueFd();
    options_.spawner->stop();
  }
  return false;
}

void Sai::on_message(std::string_view text) {
  const auto answer = sai::parse_answer(text);
  if (!answer) {
    fall(to_string(answer.error()));
    return options_.spawner->stop();
  }
  const auto* making = std::get_if<sai::Making>(&*answer);
  if (making != nullptr || std::holds_alternative<sai::Busy>(*answer)) {
    if (!current_) return;
    timer_.set(patience());
    if (making == nullptr) return;
    memory_.acl = making->acl;
    (void)save();
    return;
  }
  if (const auto* refused = std::get_if<sai::Refused>(&*answer)) said_ = escape(refused->why);
  life_ = Life::kAnswers;
  if (!current_) return;
  const auto answered = std::move(current_->answered);
  current_.reset();
  if (answered) answered(*answer);
  if (down_ && jobs_.empty() && !current_ && std::holds_alternative<sai::Refused>(*answer))
    return timer_.set(options_.times.period);  // it may do better then
  if (down_ && jobs_.empty() && !current_) return refresh();
  send_next();
}

void Sai::send_next() {
  while (!current_ && !jobs_.empty() && socket_) {
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    const auto request = job.request();
    if (!request) continue;
    const std::string text = format(*request);
    if (::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
      if (errno == EPIPE) return options_.spawner->stop();  // it takes no more
      fall("libsai's process cannot be asked: " + std::string(std::strerror(errno)));
      return timer_.set(options_.times.period);
    }
    current_ = std::move(job);
    timer_.set(patience());
  }
  if (!current_ && socket_) timer_.set(options_.times.period);
}

Events Sai::take_events() {
  for (int i = 0; i < kShareOfProcess; ++i) {
    std::array<epoll_event, 3> ready{};
    const int n = ::epoll_wait(poll_.get(), ready.data(), ready.size(), 0);
    if (n <= 0) break;
    for (int k = 0; k < n; ++k) {
      switch (ready[static_cast<std::size_t>(k)].data.u64) {
        case kConnectionOfProcess:
          (void)receive();
          break;
        case kSpawnerOfProcess:
          for (int last = 0; last < kLastWords && receive();) ++last;
          if (auto ended = options_.spawner->ended(); !ended) {
            ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, options_.spawner->fd(), nullptr);
            on_ended(to_string(ended.error()));
          } else if (*ended) {
            on_ended(**ended);
          }
          break;
        default:
          if (timer_.take()) on_timer();
      }
    }
  }
  return std::exchange(events_, {});
}

}  // namespace lldp::dataplane
