// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dataplane/sonic/redis.hpp"
#include "dataplane/sonic/view.hpp"
#include "qos/carried.hpp"

namespace lldp::dataplane::sonic {

/// Reads what the databases say: CONFIG_DB, the ports' objects, their attributes, the maps that
/// these name.
class Reader {
 public:
  /// What the ports' counters say, by name.
  using Counted = std::map<std::string, qos::Carried>;
  /// Nothing is counted where that was not asked for.
  using Done = std::function<void(View, std::optional<Counted>)>;

  /// `redis` must outlive this. `done` gets what was read; `refused` why nothing can be.
  Reader(Redis& redis, std::map<std::string, int> databases, Done done,
         std::function<void(std::string)> refused)
      : redis_(redis),
        databases_(std::move(databases)),
        done_(std::move(done)),
        refused_(std::move(refused)) {}

  /// The next EXEC is refused, by no reply, if somebody writes to one of these rows of CONFIG_DB
  /// from before they are read. `notes`: what is kept of ports. `count`: the counters are read,
  /// too.
  void start(const Redis::Command& watched, const Memory& notes, bool count);
  [[nodiscard]] bool busy() const { return run_.has_value(); }
  /// Its end is not told.
  void stop() { run_.reset(); }
  /// The commands that follow are for this database; `refused` is told if there is none, else
  /// `then`.
  void select(const char* database, std::function<void()> then = {});

 private:
  /// A priority group or queue of a port, of which a profile is to be read.
  struct Buffered {
    std::string port{};
    unsigned number = 0;
    bool group = false;
    std::string oid{};
  };
  struct Run {
    View view{};
    std::optional<Counted> counted{};
    std::set<std::string> wanted{};  ///< objects to be read yet
    std::vector<Buffered> buffered{};
    std::size_t left = 0;
  };
  void read_counters();
  void read_limits();
  /// Which objects the priority groups and queues of lossless classes are.
  void read_names();
  void read_ports();
  void read_buffers();
  /// One of the answers that are waited for before the maps are read.
  void count_down();
  [[nodiscard]] std::vector<std::string> ports_to_read() const;
  void read_maps();
  void finish();

  Redis& redis_;
  std::map<std::string, int> databases_;
  Done done_;
  std::function<void(std::string)> refused_;
  std::optional<Run> run_{};
};

}  // namespace lldp::dataplane::sonic
