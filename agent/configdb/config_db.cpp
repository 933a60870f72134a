// SPDX-License-Identifier: Apache-2.0
#include "agent/configdb/config_db.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "os/poll_set.hpp"

namespace lldp::io {
namespace {

using dataplane::sonic::Redis;
using dataplane::sonic::text_of;
using namespace std::chrono_literals;

constexpr std::string_view kStateRows = "LLDP_LEVEL_STATE|";

/// Of all rows of the table.
constexpr const char* kClear =
    "for _, k in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', k) end return 'OK'";

std::string pattern(std::string_view table) { return std::string(table) + "*"; }

}  // namespace

ConfigDb::ConfigDb(ConfigDbOptions options, dataplane::sonic::Databases databases, UniqueFd poll,
                   Timer timer)
    : options_(std::move(options)),
      databases_(std::move(databases)),
      poll_(std::move(poll)),
      timer_(std::move(timer)),
      follower_(poll_.get(), [this](const Error& why) { lost(why); }),
      client_(poll_.get(), [this](const Error& why) { lost(why); }) {}

Result<std::unique_ptr<ConfigDb>> ConfigDb::open(const ConfigDbOptions& options) {
  auto databases = dataplane::sonic::find_databases(options.config, options.redis);
  if (!databases) return fail(databases.error());
  Timer timer;
  auto poll = make_poll_set("CONFIG_DB", {{timer.fd()}});
  if (!poll) return fail(poll.error());
  std::unique_ptr<ConfigDb> self(
      new ConfigDb(options, std::move(*databases), std::move(*poll), std::move(timer)));
  self->connect();
  const auto until = std::chrono::steady_clock::now() + options.opening;
  while (!self->rows_) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd ready{.fd = self->poll_.get(), .events = POLLIN, .revents = 0};
    if (left <= 0ms || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) break;
    self->take_events();
  }
  return self;
}

void ConfigDb::connect() {
  timer_.stop();
  client_.connect(databases_.redis);
  if (!client_.connected()) return;  // lost() was told
  follower_.connect(databases_.redis);
  if (!follower_.connected()) return;
  const std::string events = fmt::format("__keyspace@{}__:", databases_.numbers.at("CONFIG_DB"));
  follower_.follow({events + std::string(config::kDeviceRow), events + pattern(config::kPortRows)},
                   [this] { read(); });
}

void ConfigDb::lost(const Error& why) {
  trouble_ = Error{why.code, "CONFIG_DB",
                   fmt::format("Redis at {}: {}: its values stay as they were read last: see "
                               "whether it runs, and whether we may connect",
                               databases_.redis, why.what)};
  follower_.disconnect();
  client_.disconnect();
  reading_ = again_ = cleared_ = false;
  told_.clear();
  pause_ = std::clamp(2 * pause_, options_.first_try, options_.last_try);
  timer_.set(pause_);
}

void ConfigDb::take_events() {
  for (int i = 0; i < 16; ++i) {
    std::array<epoll_event, 3> ready{};
    const int n = ::epoll_wait(poll_.get(), ready.data(), ready.size(), 0);
    if (n <= 0) return;
    for (int k = 0; k < n; ++k) {
      const epoll_event& event = ready[static_cast<std::size_t>(k)];
      if (event.data.ptr == &follower_)
        follower_.handle(event.events);
      else if (event.data.ptr == &client_)
        client_.handle(event.events);
      else if (timer_.take())
        connect();
    }
  }
}

void ConfigDb::ask(const char* database, const Redis::Command& command, Redis::OnReply on_reply) {
  client_.send({"SELECT", std::to_string(databases_.numbers.at(database))},
               [](const redisReply*) {});
  client_.send(command, std::move(on_reply));
}

void ConfigDb::read() {
  if (reading_) {
    again_ = true;
    return;
  }
  reading_ = true;
  ask("CONFIG_DB",
      dataplane::sonic::ask_for_rows({std::string(config::kDeviceRow), pattern(config::kPortRows)}),
      [this](const redisReply* reply) {
        if (reply == nullptr) return;  // lost() is told
        reading_ = false;
        // As while it loads its file: no event tells when that is over.
        if (reply->type != REDIS_REPLY_ARRAY) return lost({.what = text_of(reply)});
        take_rows(dataplane::sonic::rows_of(reply));
        if (std::exchange(again_, false)) read();
      });
}

void ConfigDb::take_rows(const dataplane::sonic::Rows& rows) {
  pause_ = {};
  trouble_.reset();
  rows_ = rows;
  write();
}

void ConfigDb::tell(StateRows wanted) {
  wanted_ = std::move(wanted);
  write();
}

void ConfigDb::write() {
  if (!client_.connected() || !rows_) return;
  const auto done = [this](const redisReply* reply) {
    if (reply != nullptr && reply->type == REDIS_REPLY_ERROR)
      trouble_ = Error{0, "STATE_DB", text_of(reply) + ": rows of LLDP_LEVEL_STATE are not told"};
  };
  if (!std::exchange(cleared_, true))
    ask("STATE_DB", {"EVAL", kClear, "0", pattern(kStateRows)}, done);
  for (const auto& [key, row] : told_)
    if (!wanted_.contains(key)) ask("STATE_DB", {"DEL", key}, done);
  for (const auto& [key, row] : wanted_) {
    if (const auto before = told_.find(key); before != told_.end() && before->second == row)
      continue;
    Redis::Command set{"HSET", key};
    for (const auto& [field, value] : row) set.insert(set.end(), {field, value});
    ask("STATE_DB", set, done);
  }
  told_ = wanted_;
}

void ConfigDb::withdraw() {
  wanted_.clear();
  write();
  client_.handle(EPOLLOUT);
}

}  // namespace lldp::io
