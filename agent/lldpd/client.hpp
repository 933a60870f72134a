// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/lldpd/connection.hpp"
#include "agent/lldpd/values.hpp"
#include "base/time.hpp"

namespace lldp::lldpd {

/// lldpd as our voice and our ears: has it send our TLVs, and turns what it tells of its neighbors
/// into frames.
///
/// It never blocks, and never waits longer than kPatience for an answer: an lldpd that is stopped
/// is as good as gone. lldpd answers one question of a connection at a time and looks through all
/// its interfaces after every change, but once for all changes that come together; so there are a
/// few connections (lanes), each with its share of the ports. A visit to a port reads what lldpd
/// sends there and changes what differs; nothing is remembered that could differ from lldpd's own.
class Client {
 public:
  enum class State : std::uint8_t {
    kAbsent,   ///< no answer; the appearance of the socket is noticed
    kSyncing,  ///< it answers, but has not all of our TLVs yet, or we not all of its neighbors
    kReady,
  };
  struct Settings {
    std::string socket{};          ///< lldpd's
    MacAddress group{};            ///< the destination address that its neighbors are heard on
    std::vector<tlv::Key> ours{};  ///< TLVs that no other program configures
  };
  /// A neighbor has changed, or is confirmed.
  using Heard = std::function<void(std::string_view port, ByteSpan frame)>;

  static constexpr std::chrono::seconds kPatience{10};
  /// How often lldpd is asked for a sign of life. Its answer confirms the neighbors: lldpd ages
  /// them and reports only changes. More often where a neighbor's TTL is short.
  static constexpr std::chrono::seconds kBeat{10};
  /// How long a new interface may be unknown to lldpd, which looks at them a second after a change.
  static constexpr std::chrono::seconds kSettle{2};
  static constexpr std::chrono::milliseconds kFirstRetry{100};
  static constexpr std::chrono::seconds kBusyRetry{1};
  /// So long after our TLVs were put back it counts that another program takes them off.
  static constexpr std::chrono::minutes kCalm{1};
  static constexpr std::chrono::seconds kLastRetry{10};

  Client(Settings settings, Heard heard);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Readable when receive() has something to do.
  [[nodiscard]] int fd() const { return epoll_.get(); }
  void receive(TimePoint now);
  /// Does what is due by `now`. The first call is the first attempt to connect.
  void advance(TimePoint now);
  [[nodiscard]] std::optional<TimePoint> next_deadline() const;

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const Error& reason() const { return reason_; }  ///< why it is absent

  /// These TLVs are ours too, from now on.
  void add_ours(std::span<const tlv::Key> keys);

  // While it is not absent; a new session begins with nothing.

  /// What lldpd shall send on an interface. The same again costs nothing.
  void set_port(const std::string& name, std::vector<CustomTlv> wanted, TimePoint now);
  void remove_port(const std::string& name);
  /// Everything that was asked for is done.
  [[nodiscard]] bool idle() const;
  /// Another number than before: one of the following may be different.
  [[nodiscard]] unsigned revision() const { return revision_; }
  [[nodiscard]] const ChassisId& chassis_id() const { return chassis_id_; }
  [[nodiscard]] std::optional<PortId> port_id(const std::string& name) const;
  /// Interfaces of ours that lldpd does not speak on.
  [[nodiscard]] std::vector<std::string> unserved() const;
  /// Nothing is sent at all: `lldpcli pause`.
  [[nodiscard]] bool paused() const { return paused_; }
  /// Whether lldpd is configured not to send on an interface where something is to be sent.
  [[nodiscard]] bool mute(const std::string& name) const;
  /// How often another program took our TLVs off lldpd on an interface; 0: not in the last minute.
  /// They were put back.
  [[nodiscard]] unsigned contested(const std::string& name) const;

 private:
  /// A new level is at 256 ports in 0.4 s by four, in 1.0 s by one; no more than five connections
  /// with that of the notices, for so many may wait at lldpd's socket while it is busy.
  static constexpr std::size_t kLanes = 4;
  using Outcome = LldpdConnection::Outcome;

  struct Port {
    std::vector<CustomTlv> wanted{};
    std::optional<PortId> id{};
    bool listed = false;
    bool queued = false;     ///< a visit is to come
    bool refused = false;    ///< lldpd no longer had it when it was asked; until it is listed anew
    bool overtaken = false;  ///< a notice came while the port was asked for: the answer is old
    bool confirmed = false;  ///< lldpd had all that is wanted when it was last asked
    bool silenced = false;   ///< lldpd is configured not to send here
    unsigned restored = 0;   ///< times that what was confirmed was put back, since it was calm
    TimePoint restored_at{};
    unsigned missed = 0;  ///< times in a row that lldpd's list was without it
    /// Twice, so that lldpd had its time to find an interface that has just come.
    [[nodiscard]] bool unserved() const { return missed > 1; }
  };
  struct Task {
    enum class Kind : std::uint8_t { kConfiguration, kChassis, kList, kVisit };
    Kind kind{};
    std::string port{};  ///< of kVisit
  };
  struct Lane {
    std::unique_ptr<LldpdConnection> connection{};
    std::map<std::string, Atom> interfaces{};  ///< its share of lldpd's
    std::deque<Task> tasks{};                  ///< the first is under way
    std::optional<TimePoint> waiting{};        ///< since when, for an answer
    // Of the visit under way:
    Atom port{};
    std::deque<Change> changes{};
    std::optional<PendingTlv> pending{};
  };
  struct Known {
    Bytes frame{};
    std::uint16_t ttl = 0;
  };

  void watch_directory();
  void attempt(TimePoint now);
  [[nodiscard]] Result<void> connect();
  [[nodiscard]] Result<void> open(Lane& lane);
  void add_to_set(int fd, std::size_t index);
  void lost(Error why, TimePoint now);
  void drain_directory(TimePoint now);

  void run(Lane& lane, TimePoint now);
  void run_watch(TimePoint now);
  [[nodiscard]] Outcome perform(Lane& lane, const Task& task);
  [[nodiscard]] Outcome probe(Lane& lane);
  [[nodiscard]] Outcome list(Lane& lane);
  [[nodiscard]] Outcome visit(Lane& lane, const std::string& name);
  void read(Lane& lane, Port& port, const std::string& name);
  /// Sets it, and notes where that is another value.
  template <class T>
  void note(T& known, T now) {
    if (std::exchange(known, now) != now) ++revision_;
  }
  void queue_visit(const std::string& name, Port& port);
  [[nodiscard]] Lane& lane_of(std::string_view port);
  void check_ready(TimePoint now);
  void identify(Identifier& known, Identifier told);
  void hear(const std::string& port, const Neighbor& neighbor);
  /// The same of it was heard last.
  [[nodiscard]] bool is_known(const std::string& port, const Neighbor& neighbor) const;
  void confirm_all();
  [[nodiscard]] Duration beat() const;

  Settings settings_;
  Heard heard_;
  UniqueFd epoll_;
  UniqueFd directory_;  ///< inotify
  State state_ = State::kAbsent;
  Error reason_{};
  std::optional<Error> unusable_{};  ///< found out by a question; ends the session
  std::optional<TimePoint> retry_{TimePoint{}};
  Duration pause_{kFirstRetry};

  // Of a session.
  const Library* library_ = nullptr;
  std::array<Lane, kLanes> lanes_{};
  std::unique_ptr<LldpdConnection> watch_{};
  std::optional<TimePoint> watch_waiting_{};  ///< the subscription has yet to be confirmed
  TimePoint now_{};                           ///< of this turn
  TimePoint looked_{};                        ///< when it was last read what lldpd sends
  bool paused_ = false;
  unsigned revision_ = 0;
  ChassisId chassis_id_{};
  std::map<std::string, Port> ports_{};
  std::map<std::pair<std::string, Bytes>, Known> known_{};  ///< by port and shutdown LLDPDU
  std::optional<TimePoint> beat_due_{};
  bool beating_ = false;
};

}  // namespace lldp::lldpd
