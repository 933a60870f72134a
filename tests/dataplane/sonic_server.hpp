// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hiredis/hiredis.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dataplane/sonic/maps.hpp"

extern char** environ;

namespace lldp::dataplane {

inline constexpr int kAsic = 1;
inline constexpr int kCounters = 2;
inline constexpr int kConfig = 4;
inline constexpr int kState = 6;

/// A Redis server in a directory of its own.
class Server {
 public:
  /// `port`: it listens there too, on loopback.
  explicit Server(int port = 0) : port_(port) {
    std::string path = std::filesystem::temp_directory_path() / "lldp-redis-XXXXXX";
    directory_ = ::mkdtemp(path.data());
    start();
  }
  ~Server() {
    stop();
    std::filesystem::remove_all(directory_);
  }
  [[nodiscard]] bool runs() const { return context_ != nullptr; }
  [[nodiscard]] std::string socket() const { return directory_ + "/redis.sock"; }
  [[nodiscard]] std::string path(const std::string& name) const { return directory_ + "/" + name; }
  void start() {
    const std::string socket_path = socket();
    const std::string log = path("log");
    const std::string port = std::to_string(port_);
    const char* words[] = {"redis-server", "--port", port.c_str(), "--bind", "127.0.0.1",
                           "--unixsocket", socket_path.c_str(), "--dir", directory_.c_str(),
                           "--appendonly", "yes",
                           // Else what is written while the kernel syncs the file is answered and
                           // not in the file yet, and a kill loses it.
                           "--appendfsync", "no", "--notify-keyspace-events", "KEA", "--save", "",
                           "--logfile", log.c_str(), "--loglevel", "warning", nullptr};
    if (::posix_spawnp(&pid_, words[0], nullptr, nullptr, const_cast<char**>(words), environ) !=
        0) {
      pid_ = 0;
      return;
    }
    for (int i = 0; i < 500 && context_ == nullptr; ++i) {
      context_.reset(::redisConnectUnix(socket_path.c_str()));
      if (context_->err != 0) context_ = nullptr;
      if (context_ != nullptr && is_loading()) context_ = nullptr;
      if (context_ == nullptr) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  void stop() {
    context_ = nullptr;
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  void pause(bool paused) const { ::kill(pid_, paused ? SIGSTOP : SIGCONT); }

  /// The reply as words, one after the other.
  std::vector<std::string> ask(int database, const std::vector<std::string>& words) {
    raw({"SELECT", std::to_string(database)});
    return raw(words);
  }
  sonic::Row row(int database, const std::string& key) {
    const auto words = ask(database, {"HGETALL", key});
    sonic::Row row;
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) row[words[i]] = words[i + 1];
    return row;
  }
  /// Empty: it is not there.
  std::string field(int database, const std::string& key, const std::string& name) {
    const auto words = ask(database, {"HGET", key, name});
    return words.empty() ? std::string() : words[0];
  }
  std::vector<std::string> keys(int database, const std::string& pattern) {
    auto found = ask(database, {"KEYS", pattern});
    std::ranges::sort(found);
    return found;
  }
  /// Commands that wrote, so far.
  std::size_t writes() {
    std::size_t n = 0;
    for (const std::string& line : raw({"INFO", "commandstats"}))
      for (const char* write : {"cmdstat_hset:calls=", "cmdstat_hdel:calls=", "cmdstat_del:calls="})
        if (const auto at = line.find(write); at != line.npos)
          n += std::stoul(line.substr(at + std::string(write).size()));
    return n;
  }

 private:
  /// It answers, and knows nothing yet.
  bool is_loading() {
    auto* answer = static_cast<redisReply*>(::redisCommand(context_.get(), "PING"));
    const bool loads = answer == nullptr || answer->type == REDIS_REPLY_ERROR;
    ::freeReplyObject(answer);
    return loads;
  }
  struct Free {
    void operator()(redisContext* c) const { ::redisFree(c); }
    void operator()(redisReply* r) const { ::freeReplyObject(r); }
  };
  std::vector<std::string> raw(const std::vector<std::string>& words) {
    std::vector<const char*> at;
    std::vector<std::size_t> sizes;
    for (const std::string& w : words) {
      at.push_back(w.data());
      sizes.push_back(w.size());
    }
    const std::unique_ptr<redisReply, Free> reply(static_cast<redisReply*>(
        ::redisCommandArgv(context_.get(), static_cast<int>(at.size()), at.data(), sizes.data())));
    std::vector<std::string> out;
    const auto take = [&](const redisReply* r) {
      out.emplace_back(r->str != nullptr ? std::string(r->str, static_cast<std::size_t>(r->len))
                                         : "");
    };
    if (!reply) return out;
    if (reply->type != REDIS_REPLY_ARRAY) take(reply.get());
    for (std::size_t i = 0; i < reply->elements; ++i) take(reply->element[i]);
    return out;
  }
  int port_;
  std::string directory_;
  pid_t pid_ = 0;
  std::unique_ptr<redisContext, Free> context_;
};

/// The keys of a database that are written to, and by what, as SONiC's processes are told of them.
class KeyEvents {
 public:
  KeyEvents(std::string socket, int database)
      : socket_(std::move(socket)), prefix_("__keyspace@" + std::to_string(database) + "__:") {
    connect();
  }
  [[nodiscard]] bool connected() const { return context_ != nullptr && context_->err == 0; }
  void connect() {
    context_.reset(::redisConnectUnix(socket_.c_str()));
    if (connected()) (void)reply(("PSUBSCRIBE " + prefix_ + "*").c_str());
  }
  /// Those since it was last asked, in order.
  std::vector<std::pair<std::string, std::string>> take() {
    std::vector<std::pair<std::string, std::string>> events;
    if (!connected()) return events;
    // What was written before this is told before its answer.
    std::vector<std::string> words = reply("PING");
    while (connected() && !words.empty() && words[0] != "pong") {
      if (words.size() == 4 && words[2].starts_with(prefix_))
        events.emplace_back(words[2].substr(prefix_.size()), words[3]);
      words = reply(nullptr);
    }
    return events;
  }

 private:
  struct Free {
    void operator()(redisContext* c) const { ::redisFree(c); }
  };
  /// To a command, or what comes next.
  std::vector<std::string> reply(const char* command) {
    void* got = nullptr;
    if (command != nullptr)
      got = ::redisCommand(context_.get(), command);  // NOLINT: no format
    else if (::redisGetReply(context_.get(), &got) != REDIS_OK)
      got = nullptr;
    std::vector<std::string> words;
    auto* all = static_cast<redisReply*>(got);
    if (all == nullptr) return words;
    for (std::size_t i = 0; i < all->elements; ++i) {
      const redisReply* word = all->element[i];
      words.emplace_back(
          word->str != nullptr ? std::string(word->str, static_cast<std::size_t>(word->len)) : "");
    }
    ::freeReplyObject(all);
    return words;
  }
  std::string socket_;
  std::string prefix_;
  std::unique_ptr<redisContext, Free> context_{};
};

}  // namespace lldp::dataplane
