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

/// The map of a SAI object of ASIC_DB: the number of each key, whatever its color and kind.
[[nodiscard]] QosMaps maps_of_object(const Row& object);

/// Reads the databases: CONFIG_DB, the objects of the ports, their attributes, and the maps that
/// these name.
class Reader {
 public:
  /// The counters of ports, by the port's name.
  using Counted = std::map<std::string, qos::Carried>;
  /// Counters are absent unless start() asked for them.
  using Done = std::function<void(View, std::optional<Counted>)>;

  /// `redis` must outlive this. `done` gets the view; `refused` why nothing can be read.
  Reader(Redis& redis, std::map<std::string, int> databases, Done done,
         std::function<void(std::string)> refused)
      : redis_(redis),
        databases_(std::move(databases)),
        done_(std::move(done)),
        refused_(std::move(refused)) {}

  /// WATCHes these rows of CONFIG_DB before they are read: if another client writes to one of them,
  /// Redis refuses the next EXEC by an empty reply. `notes`: the notes of ports. `count`: read the
  /// counters too.
  void start(const Redis::Command& watched, const Memory& notes, bool count);
  [[nodiscard]] bool busy() const { return run_.has_value(); }
  /// Ends the reading; neither `done` nor `refused` is called.
  void stop() { run_.reset(); }
  /// Selects the database of the commands that follow; calls `then`, or `refused` if there is none.
  void select(const char* database, std::function<void()> then = {});

 private:
  /// A priority group or queue of a port; its profile is read.
  struct Buffered {
    std::string port{};
    unsigned number = 0;
    bool group = false;
    std::string oid{};
  };
  struct Run {
    View view{};
    std::optional<Counted> counted{};
    std::set<std::string> wanted{};  ///< objects still to be read
    std::vector<Buffered> buffered{};
    std::size_t left = 0;
  };
  void read_counters();
  void read_limits();
  /// Finds the objects of the priority groups and queues of lossless classes.
  void read_names();
  void read_ports();
  void read_buffers();
  /// One more answer has come; after the last one the maps are read.
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
