// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/config/config.hpp"
#include "agent/core/actions.hpp"
#include "agent/lldpd/client.hpp"
#include "base/fabric.hpp"
#include "base/time.hpp"

namespace lldp::io {

/// Decides whether lldpd or this daemon sends LLDP, so that neighbors see one LLDP agent.
///
/// While lldpd answers, it sends for us, and we use its chassis ID and port IDs: the order of two
/// switches has to come out the same at both ends. We keep these IDs when lldpd ends, and so take
/// over its place in the tables of its neighbors. In between nothing is sent for `lldpd.grace`,
/// long enough for a restart; neighbors keep what they have for their TTL.
///
/// A hand-over takes no frame of its own: lldpd gets our TLVs first, then our identifiers change to
/// its, and a change of identifiers is a shutdown LLDPDU for the old ones. Where they are the same
/// already, nothing is retracted, and the last frame of lldpd stands.
class LldpdTransport {
 public:
  enum class Speaker : std::uint8_t { kNone, kPackets, kLldpd };

  /// The daemon's side. None of them may call back, except `heard` and `identified` tell().
  struct Owner {
    std::function<std::vector<std::pair<Ifindex, std::string>>()> ports{};
    std::function<Bytes(Ifindex)> announcement{};  ///< core::Agent::announcement
    std::function<void(Ifindex, ByteSpan)> heard{};
    std::function<void()> identified{};  ///< chassis_id() or a port_id() is another
    std::function<void(Speaker)> speaks{};
    /// Raises the alarm `lldpd` of a port (empty: of all), or clears it without a text.
    std::function<void(std::string_view port, std::optional<std::string> text)> alarm{};
  };

  LldpdTransport(const config::Config& config, Owner owner, TimePoint now);

  [[nodiscard]] int fd() const { return client_.fd(); }  ///< readable: call receive()
  void receive(TimePoint now);
  void advance(TimePoint now);
  [[nodiscard]] std::optional<TimePoint> next_deadline() const;

  [[nodiscard]] Speaker speaker() const { return speaker_; }
  /// What we would send; lldpd does instead. Shutdown LLDPDUs are not for it.
  void tell(std::span<const core::Send> sends, TimePoint now);
  /// After the configuration has been read anew; what is to be sent is told as before.
  void configure(const core::Settings& settings);
  void add_port(Ifindex port, const std::string& name, TimePoint now);
  void remove_port(Ifindex port);
  /// lldpd's, from the first time that it spoke for us.
  [[nodiscard]] const std::optional<ChassisId>& chassis_id() const { return chassis_id_; }
  [[nodiscard]] std::optional<PortId> port_id(Ifindex port) const;
  /// Takes our TLVs out of lldpd, which would go on sending them; gives up after `limit`.
  void withdraw(std::chrono::milliseconds limit);

 private:
  struct Port {
    std::string name{};
    std::optional<PortId> id{};  ///< kept when lldpd goes
    std::string complaint{};     ///< an alarm has this text
  };
  void begin_session(TimePoint now);
  void follow(TimePoint now);
  void take_over_identity();
  void follow_absence(TimePoint now);
  void complain(TimePoint now);
  void check_ports();
  /// Why neighbors do not hear there what we have lldpd say, or might not; empty: they do.
  [[nodiscard]] std::string complaint_of(const std::string& port,
                                         const std::vector<std::string>& unserved) const;
  void speak(Speaker speaker);

  bool wait_ = false;              ///< `transport = lldpd`: never by ourselves
  std::chrono::seconds patience_;  ///< how long lldpd may be away before that is taken for good
  Owner owner_;
  lldpd::Client client_;
  std::unordered_map<Ifindex, Port> ports_;
  std::unordered_map<std::string, Ifindex> by_name_;
  Speaker speaker_ = Speaker::kNone;
  bool in_session_ = false;
  bool paused_ = false;               ///< an alarm says so
  std::optional<TimePoint> grace_{};  ///< when lldpd's absence has consequences
  std::optional<ChassisId> chassis_id_{};
  unsigned revision_ = 0;  ///< the client's, as far as it was followed
  std::string trouble_{};  ///< what keeps us from lldpd though it runs
  TimePoint trouble_since_{};
  bool trouble_told_ = false;
};

[[nodiscard]] std::string_view to_string(LldpdTransport::Speaker speaker);  ///< none, packet, lldpd

}  // namespace lldp::io
