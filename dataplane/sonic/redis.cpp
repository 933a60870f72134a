// SPDX-License-Identifier: Apache-2.0
#include "dataplane/sonic/redis.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <utility>

namespace lldp::dataplane::sonic {
namespace {

/// To be asked before any other call: hiredis keeps the text alone.
Error error_of(const redisAsyncContext& context) {
  return {.code = context.err == REDIS_ERR_IO ? errno : 0, .what = context.errstr};
}

}  // namespace

Redis::Redis(int epoll, std::function<void(Error)> lost) : epoll_(epoll), lost_(std::move(lost)) {}

Redis::~Redis() {
  lost_ = nullptr;
  disconnect();
}

void Redis::connect(const std::string& at) {
  if (at.starts_with('/')) {
    context_ = redisAsyncConnectUnix(at.c_str());
  } else {
    const std::size_t colon = std::min(at.rfind(':'), at.size());
    const bool v6 = at.starts_with('[');
    const std::string host = v6 && colon >= 2 ? at.substr(1, colon - 2) : at.substr(0, colon);
    context_ =
        redisAsyncConnect(host.c_str(), std::atoi(at.c_str() + std::min(colon + 1, at.size())));
  }
  if (context_ == nullptr) return lost_({.what = "out of memory"});
  if (context_->err != 0) {
    Error why = error_of(*context_);
    redisAsyncFree(std::exchange(context_, nullptr));
    return lost_(std::move(why));
  }
  context_->data = this;
  context_->ev.data = this;
  context_->ev.addRead = [](void* self) {
    auto* me = static_cast<Redis*>(self);
    me->watch(me->watched_ | EPOLLIN);
  };
  context_->ev.delRead = [](void* self) {
    auto* me = static_cast<Redis*>(self);
    me->watch(me->watched_ & ~std::uint32_t{EPOLLIN});
  };
  context_->ev.addWrite = [](void* self) {
    auto* me = static_cast<Redis*>(self);
    me->watch(me->watched_ | EPOLLOUT);
  };
  context_->ev.delWrite = [](void* self) {
    auto* me = static_cast<Redis*>(self);
    me->watch(me->watched_ & ~std::uint32_t{EPOLLOUT});
  };
  context_->ev.cleanup = [](void* self) { static_cast<Redis*>(self)->watch(0); };
  redisAsyncSetConnectCallback(context_, [](const redisAsyncContext* context, int status) {
    if (status != REDIS_OK)
      static_cast<Redis*>(context->data)->gone(context, "no answer from that address");
  });
  redisAsyncSetDisconnectCallback(context_, [](const redisAsyncContext* context, int) {
    static_cast<Redis*>(context->data)->gone(context, "the connection was closed");
  });
}

void Redis::gone(const redisAsyncContext* context, const char* why) {
  if (context != context_) return;
  context_ = nullptr;  // hiredis frees it
  waiting_ = 0;
  if (lost_) lost_(context->err != 0 ? error_of(*context) : Error{.what = why});
}

void Redis::disconnect() {
  if (context_ == nullptr) return;
  redisAsyncContext* context = std::exchange(context_, nullptr);
  watch(0);
  context->ev = {};
  redisAsyncFree(context);
  waiting_ = 0;
}

void Redis::send(const Command& command, OnReply on_reply) {
  if (context_ == nullptr) return on_reply(nullptr);
  std::vector<const char*> words;
  std::vector<std::size_t> sizes;
  for (const std::string& word : command) {
    words.push_back(word.data());
    sizes.push_back(word.size());
  }
  struct Pending {
    Redis* self;
    OnReply on_reply;
  };
  auto pending = std::make_unique<Pending>(Pending{this, std::move(on_reply)});
  const auto answer = [](redisAsyncContext*, void* reply, void* data) {
    const std::unique_ptr<Pending> done(static_cast<Pending*>(data));
    if (done->self->waiting_ > 0) --done->self->waiting_;
    done->on_reply(static_cast<const redisReply*>(reply));
  };
  if (redisAsyncCommandArgv(context_, answer, pending.get(), static_cast<int>(words.size()),
                            words.data(), sizes.data()) != REDIS_OK)
    return pending->on_reply(nullptr);
  (void)pending.release();  // answer() has it
  ++waiting_;
}

void Redis::follow(const std::vector<std::string>& patterns, std::function<void()> on_event) {
  if (context_ == nullptr) return;
  on_event_ = std::move(on_event);
  std::vector<const char*> words{"PSUBSCRIBE"};
  for (const std::string& pattern : patterns) words.push_back(pattern.c_str());
  const auto told = [](redisAsyncContext*, void* reply, void* self) {
    if (reply != nullptr) static_cast<Redis*>(self)->on_event_();  // else lost_ is told
  };
  redisAsyncCommandArgv(context_, told, this, static_cast<int>(words.size()), words.data(),
                        nullptr);
}

void Redis::handle(std::uint32_t events) {
  if (context_ != nullptr && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
    redisAsyncHandleRead(context_);
  if (context_ != nullptr && (events & EPOLLOUT) != 0) redisAsyncHandleWrite(context_);
}

void Redis::watch(std::uint32_t events) {
  if (events == watched_) return;
  epoll_event interest{.events = events, .data = {.ptr = this}};
  if (context_ != nullptr)  // else the descriptor is closed, and has left the set by itself
    ::epoll_ctl(epoll_,
                watched_ == 0 ? EPOLL_CTL_ADD
                : events == 0 ? EPOLL_CTL_DEL
                              : EPOLL_CTL_MOD,
                context_->c.fd, &interest);
  watched_ = events;
}

}  // namespace lldp::dataplane::sonic
