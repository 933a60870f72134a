// SPDX-License-Identifier: Apache-2.0
#include "agent/lldpd/lldpd_transport.hpp"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "agent/process/log.hpp"
#include "base/count.hpp"
#include "base/text.hpp"
#include "os/clock.hpp"
#include "tlv/classes.hpp"
#include "tlv/dot1.hpp"
#include "tlv/location.hpp"
#include "tlv/order.hpp"
#include "tlv/topology.hpp"

namespace lldp::io {
namespace {

/// How long a socket may be there without being of use: at first its group may not enter.
constexpr std::chrono::seconds kPatienceWithTrouble{1};

std::uint32_t number_of(const core::Oui& oui) {
  return static_cast<std::uint32_t>(oui[0] << 16 | oui[1] << 8 | oui[2]);
}

/// The TLVs in lldpd that only this daemon sets.
std::vector<tlv::Key> ours_of(const core::Settings& settings) {
  std::vector<tlv::Key> out{tlv::Tr::kKey};
  // Unless configured here, a PFC TLV in lldpd belongs to lldpd's own operator.
  if (settings.send_pfc) out.push_back(tlv::PfcConfig::kKey);
  for (const core::Oui& oui : settings.accepted_ouis)
    for (tlv::Key key : {tlv::Contribution::kKey, tlv::LocationTlv::kKey, tlv::LayersTlv::kKey,
                         tlv::OrderTlv::kKey, tlv::ClassesTlv::kKey}) {
      key.oui = number_of(oui);
      out.push_back(key);
    }
  for (const core::CustomTlv& custom : settings.custom_tlvs)
    out.push_back(
        {.type = tlv::kOrganizational, .oui = number_of(custom.oui), .subtype = custom.subtype});
  return out;
}

lldpd::Client::Settings settings_of(const config::Config& config) {
  return {.socket = config.lldpd_socket,
          .group = core::group_address(config.core.scopes.front()),
          .ours = ours_of(config.core)};
}

/// It is not running, or not yet: nothing to complain of.
bool is_absence(const Error& reason) {
  return reason.code == ENOENT || reason.code == ECONNREFUSED || reason.code == ECONNRESET ||
         reason.code == EAGAIN;
}

std::string explain(const Error& reason) {
  std::string out = to_string(reason);
  if (reason.code == EACCES) out += ": the daemon's user has to be in lldpd's group";
  return out;
}

}  // namespace

std::string_view to_string(LldpdTransport::Speaker speaker) {
  switch (speaker) {
    case LldpdTransport::Speaker::kPackets:
      return "packet";
    case LldpdTransport::Speaker::kLldpd:
      return "lldpd";
    case LldpdTransport::Speaker::kNone:
      break;
  }
  return "none";
}

LldpdTransport::LldpdTransport(const config::Config& config, Owner owner, TimePoint now)
    : wait_(config.transport == config::Transport::kLldpd),
      patience_(config.lldpd_grace),
      owner_(std::move(owner)),
      client_(settings_of(config), [this](std::string_view port, ByteSpan frame) {
        const auto at = by_name_.find(std::string(port));
        if (at != by_name_.end()) owner_.heard(at->second, frame);
      }) {
  if (wait_) grace_ = now + patience_;
}

void LldpdTransport::receive(TimePoint now) {
  client_.receive(now);
  follow(now);
}

void LldpdTransport::advance(TimePoint now) {
  client_.advance(now);
  follow(now);
}

std::optional<TimePoint> LldpdTransport::next_deadline() const {
  std::optional<TimePoint> next = client_.next_deadline();
  const bool absent = client_.state() == lldpd::Client::State::kAbsent;
  if (absent && grace_ && (!next || *grace_ < *next)) next = grace_;
  return next;
}

void LldpdTransport::follow(TimePoint now) {
  using State = lldpd::Client::State;
  if (client_.state() == State::kAbsent) {
    in_session_ = false;
    return follow_absence(now);
  }
  if (!in_session_) begin_session(now);
  if (client_.state() != State::kReady) return;
  if (revision_ != client_.revision()) {
    revision_ = client_.revision();
    take_over_identity();
    check_ports();
  }
  if (speaker_ == Speaker::kLldpd) return;
  grace_.reset();
  trouble_.clear();
  log(Severity::kNotice, "lldpd sends our TLVs on " + count_text(ports_.size(), "port"));
  owner_.alarm({}, std::nullopt);
  paused_ = false;
  check_ports();
  speak(Speaker::kLldpd);
}

void LldpdTransport::follow_absence(TimePoint now) {
  complain(now);
  switch (speaker_) {
    case Speaker::kLldpd:
      for (auto& [ifindex, port] : ports_)
        if (!std::exchange(port.complaint, {}).empty()) owner_.alarm(port.name, std::nullopt);
      if (std::exchange(paused_, false)) owner_.alarm({}, std::nullopt);
      log(Severity::kNotice, fmt::format("lldpd is gone ({}): waiting {} s for it",
                                         explain(client_.reason()), patience_.count()));
      grace_ = now + patience_;
      return speak(Speaker::kNone);
    case Speaker::kPackets:
      return;
    case Speaker::kNone:
      break;
  }
  // One that has ended in order has said goodbye to all neighbors, and taken its socket away: they
  // would be without us until it is back, or we are. One that hangs or was killed may be back soon.
  const bool ended = client_.reason().code == ENOENT;
  if (grace_ && now < *grace_ && (wait_ || !ended)) return;
  if (!wait_) {
    if (grace_)
      log(Severity::kNotice, fmt::format("lldpd {}: this daemon sends LLDP itself",
                                         ended ? "has ended" : "did not come back"));
    speak(Speaker::kPackets);
  } else if (grace_) {
    owner_.alarm(
        {}, fmt::format("no LLDP is sent, because lldpd does not send our TLVs ({}): start it, "
                        "or set transport = auto",
                        explain(client_.reason())));
  }
  grace_.reset();
}

void LldpdTransport::complain(TimePoint now) {
  const Error& reason = client_.reason();
  std::string trouble = is_absence(reason) ? std::string() : explain(reason);
  if (trouble != trouble_) {
    trouble_ = std::move(trouble);
    trouble_since_ = now;
    trouble_told_ = false;
  }
  if (trouble_.empty() || trouble_told_ || now < trouble_since_ + kPatienceWithTrouble) return;
  trouble_told_ = true;
  log(Severity::kWarning, fmt::format("lldpd cannot send our TLVs: {}", trouble_));
}

void LldpdTransport::speak(Speaker speaker) {
  speaker_ = speaker;
  owner_.speaks(speaker);
}

// Ports and identifiers

void LldpdTransport::begin_session(TimePoint now) {
  in_session_ = true;
  revision_ = client_.revision() - 1;  // to be followed
  for (const auto& [ifindex, name] : owner_.ports()) add_port(ifindex, name, now);
}

void LldpdTransport::configure(const core::Settings& settings) {
  // What was ours before is taken off where it is not wanted any more.
  client_.add_ours(ours_of(settings));
}

void LldpdTransport::add_port(Ifindex ifindex, const std::string& name, TimePoint now) {
  if (const auto at = ports_.find(ifindex); at != ports_.end() && at->second.name != name)
    remove_port(ifindex);
  if (!in_session_) return;  // until lldpd was there for once nothing is kept of any port
  const bool fresh = ports_.try_emplace(ifindex, Port{.name = name}).second;
  by_name_.insert_or_assign(name, ifindex);
  const Bytes frame = owner_.announcement(ifindex);
  if (frame.empty()) return client_.set_port(name, {}, now);  // by port.NAME.admin: heard at most
  if (!fresh && client_.port_id(name)) return;
  client_.set_port(name, lldpd::custom_tlvs_of(frame).value_or(std::vector<lldpd::CustomTlv>{}),
                   now);
}

void LldpdTransport::remove_port(Ifindex ifindex) {
  const auto at = ports_.find(ifindex);
  if (at == ports_.end()) return;
  const Port port = std::move(at->second);
  ports_.erase(at);
  if (const auto name = by_name_.find(port.name);
      name != by_name_.end() && name->second == ifindex) {
    by_name_.erase(name);
    client_.remove_port(port.name);
  }
  if (!port.complaint.empty()) owner_.alarm(port.name, std::nullopt);
}

void LldpdTransport::tell(std::span<const core::Send> sends, TimePoint now) {
  for (const core::Send& send : sends) {
    const auto port = ports_.find(send.port);
    if (port == ports_.end()) continue;
    if (auto tlvs = lldpd::custom_tlvs_of(send.frame))
      client_.set_port(port->second.name, std::move(*tlvs), now);
  }
}

std::optional<PortId> LldpdTransport::port_id(Ifindex ifindex) const {
  const auto at = ports_.find(ifindex);
  return at == ports_.end() ? std::nullopt : at->second.id;
}

void LldpdTransport::take_over_identity() {
  bool changed = false;
  if (!client_.chassis_id().octets.empty() && chassis_id_ != client_.chassis_id()) {
    chassis_id_ = client_.chassis_id();
    changed = true;
  }
  for (auto& [ifindex, port] : ports_) {
    auto id = client_.port_id(port.name);
    if (!id || id->octets.empty() || id == port.id) continue;
    port.id = std::move(id);
    changed = true;
  }
  if (changed) owner_.identified();
}

void LldpdTransport::check_ports() {
  const std::vector<std::string> unserved = client_.unserved();
  for (auto& [ifindex, port] : ports_) {
    std::string now = complaint_of(port.name, unserved);
    if (now == port.complaint) continue;
    port.complaint = std::move(now);
    owner_.alarm(port.name, port.complaint.empty() ? std::nullopt : std::optional(port.complaint));
  }
  if (std::exchange(paused_, client_.paused()) == client_.paused()) return;
  owner_.alarm({}, paused_ ? std::optional<std::string>(
                                 "lldpd is paused, so nothing is sent: neighbors lose this device "
                                 "after their TTL; end it with `lldpcli resume`")
                           : std::nullopt);
}

std::string LldpdTransport::complaint_of(const std::string& port,
                                         const std::vector<std::string>& unserved) const {
  if (std::ranges::binary_search(unserved, port))
    return "lldpd does not speak here: its configuration leaves the interface out";
  if (client_.mute(port))
    return fmt::format(
        "lldpd is configured not to send here, so the neighbor does not hear this device: `lldpcli "
        "configure ports {} lldp status rx-and-tx`, or, if no lossless packets take the port, "
        "leave it out of `ports`",
        escape(port));
  if (const unsigned times = client_.contested(port); times != 0)
    return fmt::format(
        "another program took our TLVs off lldpd or changed them ({} time{}): they were put back, "
        "and the neighbor may have heard something else for 10 s; find what runs `lldpcli` and "
        "leave custom TLVs 00-80-c2/20 and 02-4c-56 to this daemon",
        times, times == 1 ? "" : "s");
  return {};
}

void LldpdTransport::withdraw(std::chrono::milliseconds limit) {
  if (!in_session_) return;
  TimePoint now = boot_time();
  const TimePoint end = now + limit;
  for (const auto& [ifindex, port] : ports_) client_.set_port(port.name, {}, now);
  while (now < end && client_.state() != lldpd::Client::State::kAbsent) {
    client_.advance(now);
    if (client_.idle()) return;
    pollfd ready{.fd = client_.fd(), .events = POLLIN, .revents = 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - now);
    if (::poll(&ready, 1, static_cast<int>(left.count())) > 0) client_.receive(boot_time());
    now = boot_time();
  }
}

}  // namespace lldp::io
