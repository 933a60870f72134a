// SPDX-License-Identifier: Apache-2.0
#include "dataplane/soft/soft.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.hpp"
#include "dataplane/parts.hpp"
#include "os/poll_set.hpp"
#include "os/unix_address.hpp"

namespace lldp::dataplane {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kConnectionOfSoft = 1, kTimerOfSoft = 2;
constexpr int kShareOfSoft = 16;  ///< messages of a turn: others have theirs

Error error(std::string what) { return {0, "backend soft", std::move(what)}; }

}  // namespace

Soft::Soft(SoftOptions options, UniqueFd poll, Timer timer)
    : options_(std::move(options)), poll_(std::move(poll)), timer_(std::move(timer)) {}

Result<std::unique_ptr<Backend>> Soft::open(const SoftOptions& options) {
  if (!unix_address(options.socket))
    return fail(error("soft.socket is too long for a socket: " + escape(options.socket)));
  Timer timer;
  auto poll = make_poll_set("backend soft", {{timer.fd(), kTimerOfSoft}});
  if (!poll) return fail(poll.error());
  std::unique_ptr<Soft> self(new Soft(options, std::move(*poll), std::move(timer)));
  self->down_ = error("the switch has not answered yet");
  self->connect();
  const auto until = Clock::now() + options.opening;
  while (self->socket_ && self->down_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    pollfd ready{.fd = self->socket_.get(), .events = POLLIN, .revents = 0};
    if (left <= 0ms || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) break;
    self->receive();
  }
  return self;
}

std::string Soft::description() const {
  return "the software switch" + (view_.name.empty() ? "" : " " + escape(view_.name)) + " at " +
         options_.socket;
}

// The connection.

void Soft::connect() {
  const auto there = unix_address(options_.socket);
  socket_ = UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_ || ::connect(socket_.get(), there->get(), there->size) != 0) {
    const int code = errno;
    return fall("there is no switch at " + options_.socket + ": " + std::strerror(code), code);
  }
  epoll_event interest{.events = EPOLLIN, .data = {.u64 = kConnectionOfSoft}};
  ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, socket_.get(), &interest);
  timer_.set(options_.times.period);
  settled_.clear();
  reading_ = send(soft::Read{});
  asked_at_ = Clock::now();
}

void Soft::fall(std::string why, int code) {
  socket_ = UniqueFd();
  reading_ = false;
  const bool news = !down_ || down_->what != why;
  down_ = error(std::move(why));
  down_->code = code;
  for (const Outcome& outcome : std::exchange(done_, {})) events_.outcomes.push_back(outcome);
  for (const auto& [id, asked] : std::exchange(asked_, {}))
    events_.outcomes.push_back({.port = asked.port.ifindex, .refused = asked.change, .why = down_});
  if (news) events_.changed.emplace_back();
  // An outcome may be waited for: the event is told at once, and then it is tried again.
  timer_.set(events_.outcomes.empty() && !news ? options_.times.period : 1ms);
}

void Soft::on_timer() {
  if (!socket_) return connect();
  timer_.set(options_.times.period);
  const auto now = Clock::now();
  const bool is_late = reading_ && now - asked_at_ > options_.times.answer;
  // It may go on telling what there is.
  const bool is_change_late =
      !asked_.empty() && now - asked_.begin()->second.at > options_.times.answer;
  if (is_late || is_change_late)
    return fall("the switch at " + options_.socket + " does not answer");
  if (reading_) return;
  asked_at_ = now;
  reading_ = send(soft::Read{});
}

bool Soft::send(const soft::Request& request) {
  const std::string text = soft::format(request);
  if (socket_ && ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
    return true;
  if (socket_) fall(std::string("the switch cannot be asked: ") + std::strerror(errno));
  return false;
}

void Soft::receive() {
  std::string text(soft::kMaxMessage, '\0');
  const ssize_t size = ::recv(socket_.get(), text.data(), text.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) return fall("the switch at " + options_.socket + " has ended");
  auto answer = soft::parse_answer({text.data(), static_cast<std::size_t>(size)});
  if (!answer) return fall(answer.error().what);
  if (auto* view = std::get_if<soft::View>(&*answer))
    take(std::move(*view));
  else
    take(std::get<soft::Done>(*answer));
}

Events Soft::take_events() {
  for (int turn = 0; turn < kShareOfSoft; ++turn) {
    std::array<epoll_event, 2> ready{};
    const int n = ::epoll_wait(poll_.get(), ready.data(), ready.size(), 0);
    if (n <= 0) break;
    for (int i = 0; i < n; ++i) {
      if (ready[static_cast<std::size_t>(i)].data.u64 == kConnectionOfSoft)
        receive();
      else if (timer_.take())
        on_timer();
    }
  }
  return std::exchange(events_, {});
}

// What it says.

void Soft::take(soft::View view) {
  reading_ = false;
  const bool was_down = down_.has_value();
  down_.reset();
  if (was_down) events_.changed = {Ifindex()};  // any of them, this one among them
  for (const auto& [name, port] : view.ports) {
    const auto before = view_.ports.find(name);
    const auto number = numbers_.find(name);
    if (!was_down && number &&
        (before == view_.ports.end() || before->second.rules != port.rules ||
         before->second.gone != port.gone))
      events_.changed.push_back(*number);
  }
  view_ = std::move(view);
  for (Outcome& outcome : std::exchange(done_, {})) {
    events_.changed.push_back(outcome.port);
    events_.outcomes.push_back(std::move(outcome));
  }
}

void Soft::take(const soft::Done& done) {
  const auto at = asked_.find(done.id);
  if (at == asked_.end()) return;
  Outcome outcome{.port = at->second.port.ifindex};
  if (done.why.empty()) {
    settled_.insert(at->second.port.name);
  } else {
    outcome.refused = at->second.change;
    outcome.why = Error{done.code, "backend soft", escape(done.why)};
  }
  asked_.erase(at);
  done_.push_back(std::move(outcome));
  if (reading_) return;  // the reading that is on its way shows it
  asked_at_ = Clock::now();
  reading_ = send(soft::Read{});
}

// What is asked for.

Result<PortPlan> Soft::plan_from(const PortRef& port, std::optional<qos::Ruleset> want) {
  if (down_) return fail(*down_);
  numbers_.note(port);
  const auto at = view_.ports.find(port.name);
  const std::optional<qos::Ruleset> have =
      at == view_.ports.end() ? std::nullopt : at->second.rules;
  const bool same = have == want;
  return make_plan(port, std::move(want), [&](Part part) {
    return have && needs(part) ? std::optional(same) : std::nullopt;
  });
}

Result<PortPlan> Soft::plan(const PortRef& port, const qos::Ruleset& want) {
  return plan_from(port, want);
}

Result<PortPlan> Soft::plan_removal(const PortRef& port) { return plan_from(port, std::nullopt); }

Result<Reading> Soft::verify(const PortRef& port, const qos::Ruleset& want) {
  auto plan = plan_from(port, want);
  if (!plan) return fail(plan.error());
  Reading reading = reading_of(std::move(*plan));
  const auto at = view_.ports.find(port.name);
  if (at != view_.ports.end() && !at->second.gone) return reading;
  for (PartReading& read : reading.parts) {
    read.state = PartState::kBypassed;
    read.text = at == view_.ports.end()
                    ? "the interface is no port of the switch at " + options_.socket
                    : "the switch has lost the interface, and takes it again when it is there";
  }
  return reading;
}

void Soft::apply(const Plan& plan) {
  for (const PortPlan& port : plan.ports) {
    numbers_.note(port.port);
    if ((port.empty() && settled_.contains(port.port.name)) || down_) {
      events_.outcomes.push_back({.port = port.port.ifindex, .why = down_});
      continue;
    }
    const std::uint32_t id = next_id_++;
    const Change first =
        port.empty() ? Change{Action::kReplace, Part::kClassify} : port.changes.front();
    asked_.insert_or_assign(id, Asked{port.port, first, Clock::now()});
    if (!send(soft::Set{.id = id, .port = port.port.name, .rules = port.want})) continue;
    // What it has then is read, not assumed; the answers come in this order, and the outcome is
    // told when it has been read.
    if (send(soft::Read{}) && !reading_) {
      reading_ = true;
      asked_at_ = Clock::now();
    }
  }
  if (!events_.outcomes.empty()) timer_.set(1ms);  // which makes events() readable
}

Result<std::vector<PortRef>> Soft::ports() {
  if (down_) return fail(*down_);
  std::vector<std::string> ours;
  for (const auto& [name, port] : view_.ports)
    if (port.rules) ours.push_back(name);
  return numbers_.ports(ours);
}

Result<Bounces> Soft::bounces(Ifindex port) {
  if (down_) return fail(*down_);
  for (const auto& [name, at] : view_.ports)
    if (numbers_.find(name) == port) return at.bounces;
  return Bounces{};
}

}  // namespace lldp::dataplane
