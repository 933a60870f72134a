// SPDX-License-Identifier: Apache-2.0
#include "agent/cli/doctor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "agent/core/alarm.hpp"
#include "agent/core/classes.hpp"
#include "agent/report/carried.hpp"
#include "agent/report/json_writer.hpp"
#include "agent/report/report.hpp"
#include "agent/report/table.hpp"
#include "base/hex.hpp"
#include "base/spelling.hpp"
#include "base/text.hpp"
#include "tlv/port_facts.hpp"

namespace lldp::cli {
namespace {

using json = nlohmann::json;
using Severity = Finding::Severity;

/// PFC that is missing, or on for what is in no class: `check` says it by an alarm.
Severity pfc_severity() {
  return core::severity_of(core::AlarmCode::kPfcMismatch) == core::AlarmSeverity::kCritical
             ? Severity::kBad
             : Severity::kUnknown;
}

/// Frames that were lost longer ago say nothing of the path as it is. Longer than monitoring waits
/// between two looks.
constexpr std::chrono::minutes kRecent{10};

std::string str(const json& object, const char* key) { return object.at(key).get<std::string>(); }

/// The bits of a list of priorities; nothing: null.
std::optional<unsigned> bits_of(const json& list) {
  if (!list.is_array()) return std::nullopt;
  unsigned bits = 0;
  for (const json& p : list) bits |= 1U << (p.get<unsigned>() & Priority::kMax);
  return bits;
}

unsigned bits_of(const std::vector<qos::Class>& classes) {
  unsigned bits = 0;
  for (const qos::Class& c : classes) bits |= 1U << c.priority.value();
  return bits;
}

std::string list_of(unsigned bits, std::string_view each = "{}", std::string_view between = ", ") {
  std::string out;
  for (unsigned p = 0; p <= Priority::kMax; ++p)
    if ((bits >> p & 1U) != 0) {
      if (!out.empty()) out += between;
      out += fmt::vformat(each, fmt::make_format_args(p));
    }
  return out;
}

/// The 802.3 Maximum Frame Size that a neighbor tells, where its LLDPDU is at hand; 0: none.
unsigned frame_size_of(const json& neighbor) {
  const auto hex = neighbor.find("lldpdu");
  if (hex == neighbor.end() || !hex->is_string()) return 0;
  return tlv::port_facts(from_hex(hex->get<std::string>()).value_or(Bytes())).frame_octets;
}

/// The lossless classes, as the daemon tells them.
struct Fabric {
  qos::Chains chains{};
  std::vector<qos::Class> lossless{};  ///< all of them, by the DSCP that marks each
  bool has_none = false;               ///< `qos.lossless = none` on a switch
};

Result<Fabric> fabric_of(const json& rules, const json& detail) {
  Fabric fabric;
  // A host learns none, so what it knows says nothing.
  const json device = detail.value("device", json::object());
  fabric.has_none = device.value("role", "") == "switch" &&
                    detail.value("protection", json::object()).value("classes_known", false);
  for (const json& told : rules.at("chains")) {
    qos::Chain chain;
    for (const json& c : told) {
      const auto priority = Priority::make(c.at("priority").get<unsigned>());
      qos::DscpSet dscps;
      for (const json& d : c.at("dscps"))
        if (const auto dscp = Dscp::make(d.get<unsigned>())) dscps.insert(*dscp);
      const auto mark = Dscp::make(c.at("dscps").at(0).get<unsigned>());
      if (!priority || !mark) return fail(report::not_understood());
      chain.classes.push_back({*priority, *mark, dscps});
      fabric.lossless.push_back({*priority, *mark});
    }
    if (!chain.classes.empty()) fabric.chains.push_back(std::move(chain));
  }
  return fabric;
}

/// The lossless priorities of a port; its rules may restore spare classes there.
unsigned lossless_of(const Fabric& fabric, const json* rules) {
  const unsigned all = bits_of(fabric.lossless);
  unsigned restored = 0;
  if (rules == nullptr) return all;
  for (const json& change : rules->value("leaving", json::array()))
    if ((all >> (change.at("to").at("priority").get<unsigned>() & 7U) & 1U) != 0)
      restored |= 1U << (change.at("from").at("priority").get<unsigned>() & 7U);
  return all & ~restored;
}

/// Of a port that is called `name` in an answer.
std::string octets_of(const std::string& name) { return unescape(name).value_or(name); }

class Examination {
 public:
  /// `pfc`: how the daemon reads that part of the port's rules; null: it does not.
  /// `needed`: the priorities that are lossless on the port.
  Examination(const json& port, const LocalPort& local, const Fabric& fabric, unsigned needed,
              const json* pfc, const qos::Lost& lost)
      : port_(port),
        local_(local),
        fabric_(fabric),
        pfc_(pfc),
        lost_(lost),
        name_(shell_word(octets_of(str(port, "name")))),
        needed_(needed) {
    for (const qos::Class& c : fabric.lossless)
      if ((needed >> c.priority.value() & 1U) != 0) lossless_.push_back(c);
  }
  std::vector<Finding> run() {
    if (!local_.here) {
      add(Severity::kUnknown, "elsewhere", "it is not this network namespace's",
          "what its driver says cannot be asked from here", "run this beside the daemon");
      return std::move(findings_);
    }
    if (fabric_.chains.empty() && !fabric_.has_none)
      add(Severity::kUnknown, "classes-unknown", "no lossless class is known here",
          "without one nothing can be said of the path of lossless traffic",
          "lldp-level set qos.lossless " + with_pfc(own_pfc_bits()));
    own_pfc();
    frames_lost();
    dscp_map();
    trust();
    headroom();
    global_pause();
    firmware_agent();
    for (const json& neighbor : port_.at("neighbors")) look_at(neighbor);
    if (port_.at("neighbors").empty())
      add(Severity::kUnknown, "no-neighbor", "no neighbor is heard",
          "without LLDP from the other end its PFC is not known", "");
    std::ranges::stable_sort(findings_, std::ranges::greater(), &Finding::severity);
    return std::move(findings_);
  }

 private:
  void add(Severity severity, std::string code, std::string text, std::string why,
           std::string command) {
    findings_.push_back(
        {severity, std::move(code), std::move(text), std::move(why), std::move(command)});
  }

  /// Priorities with PFC at this end.
  [[nodiscard]] unsigned own_pfc_bits() const {
    return local_.dcb && local_.dcb->pfc ? local_.dcb->pfc->enabled : 0U;
  }
  /// The classes with those of `pfc` that are in none, as a word of a shell.
  [[nodiscard]] std::string with_pfc(unsigned pfc) const {
    const unsigned more = pfc & ~bits_of(fabric_.lossless);
    return more == 0 ? "roce" : "'" + core::with_chains_for(fabric_.chains, more) + "'";
  }
  /// PFC for priorities that are in no class, here or there.
  void beyond_classes(unsigned pfc, std::string code, const std::string& where) {
    const unsigned beyond = pfc & ~bits_of(fabric_.lossless);
    if (beyond == 0 || fabric_.chains.empty()) return;
    add(pfc_severity(), std::move(code),
        fmt::format("PFC is on{} for priority {}, which is in no lossless class", where,
                    list_of(beyond)),
        "its packets keep their priority where they turn: they can wait for each other in a cycle",
        "lldp-level set qos.lossless " + with_pfc(pfc));
  }

  void own_pfc() {
    beyond_classes(own_pfc_bits(), "pfc-unclassed", "");
    if (!local_.dcb || !local_.dcb->pfc) {
      // Of a switch chip behind Redis or a library the kernel has no driver that tells.
      const std::string state = pfc_ != nullptr ? str(*pfc_, "state") : "unsupported";
      if (state == "done") return;
      if (state != "unsupported")
        return add(Severity::kBad, "pfc-off",
                   "PFC is " + state + " in the hardware" +
                       (pfc_->at("text").is_string() ? " (" + str(*pfc_, "text") + ")" : ""),
                   "a full buffer drops lossless packets", "lldp-level rules");
      add(Severity::kUnknown, "pfc-unknown", "the driver reports no PFC state (no dcbnl)",
          "without PFC a full buffer drops lossless packets",
          local_.driver == "mlx5_core" ? fmt::format("mlnx_qos -i {}", name_) : "");
      return;
    }
    const unsigned off = needed_ & ~unsigned{local_.dcb->pfc->enabled};
    if (off != 0)
      add(pfc_severity(), "pfc-off", fmt::format("no PFC for priority {}", list_of(off)),
          "a full buffer drops its packets",
          fmt::format("dcb pfc set dev {} prio-pfc {}", name_, list_of(off, "{}:on", " ")));
    if (dcbnl::firmware_decides(*local_.dcb))
      add(Severity::kBad, "firmware-dcbx", "the NIC's firmware runs DCBX",
          "it takes PFC from its neighbor, and may overwrite what is set here",
          fmt::format("dcb dcbx set dev {} host ieee", name_));
  }

  void frames_lost() {
    const auto recent = [&](const auto& ago) {
      unsigned bits = 0;
      for (unsigned p = 0; p <= Priority::kMax; ++p)
        if (ago[p] && *ago[p] < kRecent) bits |= 1U << p;
      return bits & needed_;
    };
    const std::string when = fmt::format(" in the last {}", core::duration_text(kRecent));
    if (const unsigned bits = recent(lost_.ago.received); bits != 0)
      add(Severity::kBad, "frames-lost",
          fmt::format("frames of priority {} were dropped on arrival{}", list_of(bits), when),
          "the buffer was full: the neighbor was not paused, or it went on after that",
          "show priority-group drop counters");
    if (const unsigned bits = recent(lost_.ago.sent); bits != 0)
      add(Severity::kBad, "frames-lost",
          fmt::format("frames of priority {} were dropped in their queue{}", list_of(bits), when),
          "it was full, or the PFC watchdog emptied it",
          fmt::format("show queue counters {}", name_));
  }

  void dscp_map() {
    if (!local_.dcb || !local_.dcb->pfc) return;
    for (const qos::Class& c : lossless_) {
      const unsigned priority = c.priority.value();
      const unsigned dscp = c.dscp.value();
      std::vector<unsigned> others;
      bool there = false;
      for (const dcbnl::App& app : local_.dcb->apps)
        if (app.selector == dcbnl::kDscp && app.protocol == dscp) {
          there |= app.priority == priority;
          if (app.priority != priority) others.push_back(app.priority);
        }
      if (there && others.empty()) continue;
      add(Severity::kBad, "dscp-map",
          others.empty() ? fmt::format("DSCP {} has no priority", dscp)
                         : fmt::format("DSCP {} has priority {}, not {}", dscp,
                                       fmt::join(others, " and "), priority),
          fmt::format("its packets fill a buffer that PFC of priority {} does not guard", priority),
          fmt::format("dcb app {} dev {} dscp-prio {}:{}", others.empty() ? "add" : "replace",
                      name_, dscp, priority));
    }
  }

  void trust() {
    if (!local_.dcb || !local_.dcb->trusted) return;
    const std::vector<std::uint8_t>& trusted = *local_.dcb->trusted;
    if (std::ranges::find(trusted, dcbnl::kDscp) != trusted.end()) return;
    add(Severity::kBad, "dscp-trust", "the port does not trust the DSCP of received packets",
        "lossless packets have the priority of their VLAN tag or of the port",
        fmt::format("dcb apptrust set dev {} order dscp", name_));
  }

  void headroom() {
    if (!local_.dcb || !local_.dcb->buffers) return;
    const dcbnl::Buffers& buffers = *local_.dcb->buffers;
    unsigned with_lossy = 0;  // buffers
    for (unsigned p = 0; p < buffers.of.size(); ++p)
      if ((needed_ >> p & 1U) == 0) with_lossy |= 1U << (buffers.of[p] & 7U);
    for (const qos::Class& c : lossless_) {
      const unsigned priority = c.priority.value();
      const unsigned buffer = buffers.of[priority] & 7U;
      if ((with_lossy >> buffer & 1U) != 0) {
        const unsigned free = (with_lossy >> priority & 1U) == 0
                                  ? priority
                                  : static_cast<unsigned>(std::countr_one(with_lossy));
        add(Severity::kBad, "shared-buffer",
            fmt::format("priority {} shares buffer {} with lossy priorities", priority, buffer),
            "their packets take the headroom for frames that arrive after a pause",
            free < buffers.of.size()
                ? fmt::format("dcb buffer set dev {} prio-buffer {}:{}", name_, priority, free)
                : "");
      } else if (buffers.octets[buffer] == 0) {
        add(Severity::kBad, "no-headroom",
            fmt::format("priority {} has no room (buffer {})", priority, buffer),
            "frames that arrive after a pause are lost",
            fmt::format("dcb buffer set dev {} buffer-size {}:OCTETS", name_, buffer));
      }
    }
  }

  void global_pause() {
    if (!local_.pause || (!local_.pause->rx && !local_.pause->tx)) return;
    add(Severity::kBad, "global-pause",
        fmt::format("global pause is on ({})", local_.pause->rx && local_.pause->tx ? "rx, tx"
                                               : local_.pause->rx                   ? "rx"
                                                                                    : "tx"),
        "it stops all priorities at once, and most NICs do no PFC beside it",
        fmt::format("ethtool -A {} autoneg off rx off tx off", name_));
  }

  void firmware_agent() {
    // ice has its agent where the flag is set, i40e where it is not.
    for (const auto& [flag, with_agent] :
         {std::pair("fw-lldp-agent", true), {"disable-fw-lldp", false}}) {
      const auto at = local_.private_flags.find(flag);
      if (at == local_.private_flags.end() || at->second != with_agent) continue;
      add(Severity::kBad, "firmware-lldp", "the NIC's firmware has an LLDP agent of its own",
          "it takes the frames that come in, and answers for this machine",
          fmt::format("ethtool --set-priv-flags {} {} {}", name_, flag, with_agent ? "off" : "on"));
    }
  }

  void look_at(const json& neighbor) {
    std::string who = str(neighbor, "system_name");
    if (who.empty()) who = str(neighbor, "chassis_id");
    who += " " + str(neighbor, "port_id");
    const auto pfc = bits_of(neighbor.at("pfc_enabled"));
    if (!pfc)
      add(Severity::kUnknown, "neighbor-pfc-unknown", who + " reports no PFC state",
          "its buffers may drop what this end sends", "");
    else if (const unsigned off = needed_ & ~*pfc; off != 0)
      add(pfc_severity(), "neighbor-pfc-off",
          fmt::format("{} has no PFC for priority {}", who, list_of(off)),
          "it drops instead of pausing this end, and ignores pauses", "lldp-level doctor, there");
    if (pfc) beyond_classes(*pfc, "neighbor-pfc-unclassed", " at " + who);
    const unsigned size = frame_size_of(neighbor);
    if (size == 0 || !local_.mtu) return;
    const unsigned ours = *local_.mtu + tlv::kFrameHeader;
    if (std::max(ours, size) - std::min(ours, size) <= tlv::kTagAndCheck) return;
    add(Severity::kBad, "mtu",
        fmt::format("frames of {} octets here, of {} at {}", ours, size, who),
        "what is longer than the other end takes is lost",
        size > ours ? fmt::format("ip link set dev {} mtu {}", name_, tlv::mtu_of(size))
                    : "ip link set mtu, there");
  }

  const json& port_;
  const LocalPort& local_;
  const Fabric& fabric_;
  std::vector<qos::Class> lossless_{};
  const json* pfc_;
  const qos::Lost& lost_;
  std::string name_;  ///< for a shell
  unsigned needed_;
  std::vector<Finding> findings_;
};

/// The part that sets PFC on a port, by the daemon's answer of `Rules`; null: none does.
const json* pfc_part(const json& port) {
  for (const json& part : port.at("parts"))
    if (str(part, "part") == "pfc") return &part;
  return nullptr;
}

/// Of one priority, what is counted, unless nothing was.
std::string counts_text(const qos::PriorityFrames& frames, unsigned priority, const char* received,
                        const char* sent) {
  std::string out;
  const auto& in = frames.received[priority];
  const auto& left = frames.sent[priority];
  if (in.value_or(0) + left.value_or(0) == 0) return out;
  if (in) out += fmt::vformat(received, fmt::make_format_args(*in));
  if (in && left) out += ", ";
  if (left) out += fmt::vformat(sent, fmt::make_format_args(*left));
  return fmt::format("  priority {}: {}\n", priority, out);
}

/// Of one priority, for how long PFC paused, and since when the last time, unless it did not.
std::string paused_text(const qos::Carried& carried, unsigned priority) {
  const auto& [in, out] = carried.paused_microseconds;
  std::string text;
  const auto add = [&](const auto& time, const char* format) {
    if (const double seconds = static_cast<double>(time.value_or(0)) / 1e6; seconds > 0)
      text += (text.empty() ? "" : ", ") + fmt::format(fmt::runtime(format), seconds);
  };
  add(in[priority], "paused by the neighbor for {:.6g} s");
  add(out[priority], "paused it for {:.6g} s");
  if (const auto& since = carried.last_pause_microseconds.received[priority]) {
    const report::WallClock then{
        .wall = std::chrono::system_clock::time_point(std::chrono::microseconds(*since))};
    text += fmt::format("{}the neighbor's last pause began {}", text.empty() ? "" : ", ",
                        then.date({}));
  }
  return text.empty() ? text : fmt::format("  priority {}: {}\n", priority, text);
}

/// Of one priority, and when that was, unless nothing was lost.
std::string lost_text(const qos::Lost& lost, unsigned priority) {
  std::string out;
  const auto add = [&](const auto& count, const auto& ago, const char* where) {
    if (count.value_or(0) == 0) return;
    out += fmt::format("{}{} frames dropped {}", out.empty() ? "" : ", ", *count, where);
    if (ago) out += fmt::format(" (the last {} ago)", core::duration_text(*ago));
  };
  add(lost.frames.received[priority], lost.ago.received[priority], "on arrival");
  add(lost.frames.sent[priority], lost.ago.sent[priority], "in their queue");
  return out.empty() ? out : fmt::format("  priority {}: {}\n", priority, out);
}

std::string_view to_string(Severity s) { return s == Severity::kBad ? "bad" : "unknown"; }

/// `lossless`: priorities of which it matters what is lost.
std::string text_of(const PortHealth& port, unsigned lossless, const report::Style& style) {
  std::string out = report::paint(port.name, report::Ink::kBold, style) + ": ";
  if (port.findings.empty()) out += report::paint("fine", report::Ink::kGood, style);
  out += port.findings.empty() ? "\n"
                               : fmt::format("{} finding{}\n", port.findings.size(),
                                             port.findings.size() == 1 ? "" : "s");
  for (const Finding& f : port.findings) {
    out += "  " +
           report::paint(to_string(f.severity),
                         f.severity == Severity::kBad ? report::Ink::kBad : report::Ink::kWarn,
                         style) +
           " " + f.text + ": " + f.why;
    if (!f.command.empty()) out += ": " + f.command;
    out += "\n";
  }
  for (unsigned p = 0; p <= Priority::kMax; ++p)
    out += counts_text(port.carried.frames, p, "{} frames received", "{} frames sent");
  for (unsigned p = 0; p <= Priority::kMax; ++p)
    out += counts_text(port.carried.pauses, p, "paused by the neighbor {} times",
                       "paused it {} times");
  for (unsigned p = 0; p <= Priority::kMax; ++p) out += paused_text(port.carried, p);
  for (unsigned p = 0; p <= Priority::kMax; ++p)
    if ((lossless >> p & 1U) != 0) out += lost_text(port.carried.lost, p);
  return out;
}

const PortHealth* find(const Health& health, const std::string& port) {
  const auto at = std::ranges::find(health.ports, port, &PortHealth::name);
  return at == health.ports.end() ? nullptr : &*at;
}

/// A line for each priority of which there are more pauses now, or of those that are lossless more
/// frames lost; and one if a counter has gone back, as those of a driver that is loaded anew do.
std::string counted_since(const PortHealth& before, const PortHealth& now, unsigned lossless) {
  std::string out;
  const qos::Carried& then = before.carried;
  const qos::Carried& is = now.carried;
  bool went_back = false;
  for (unsigned p = 0; p <= Priority::kMax; ++p) {
    const auto tell = [&](const auto& old, const auto& fresh, const char* what) {
      if (!old[p] || !fresh[p]) return;
      if (*fresh[p] > *old[p])
        out += fmt::format("{}: {} {}: {}\n", now.name, what, p, *fresh[p] - *old[p]);
      went_back |= *fresh[p] < *old[p];
    };
    tell(then.pauses.received, is.pauses.received, "the neighbor paused priority");
    tell(then.pauses.sent, is.pauses.sent, "paused the neighbor on priority");
    if ((lossless >> p & 1U) == 0) continue;
    tell(then.lost.frames.received, is.lost.frames.received,
         "dropped on arrival frames of priority");
    tell(then.lost.frames.sent, is.lost.frames.sent, "dropped in their queue frames of priority");
  }
  if (went_back)
    out += now.name + ": counters went back, as after a reload of the driver: counted anew\n";
  return out;
}

}  // namespace

int Health::status() const {
  int worst = ports.empty() ? 1 : 0;
  for (const PortHealth& port : ports)
    for (const Finding& f : port.findings)
      worst = std::max(worst, f.severity == Severity::kBad ? 2 : 1);
  return worst;
}

Result<Health> examine(std::string_view detail, std::string_view rules,
                       const std::function<LocalPort(const std::string&, unsigned)>& local,
                       std::span<const std::string> asked) {
  try {
    Health out;
    const json told = json::parse(rules);
    const json answer = json::parse(detail);
    const auto fabric = fabric_of(told, answer);
    if (!fabric) return fail(fabric.error());
    out.lossless = fabric->lossless;
    std::map<std::string, const json*> rules_of;
    if (const auto ports = told.find("ports"); ports != told.end())
      for (const json& port : *ports) rules_of[str(port, "name")] = &port;
    for (const json& port : answer.at("ports")) {
      if (!port.at("up").get<bool>()) {
        const std::string down = str(port, "name");
        const auto is_it = [&](const std::string& name) {
          return octets_of(name) == octets_of(down);
        };
        if (std::ranges::any_of(asked, is_it))
          out.ports.push_back({.name = down,
                               .findings = {{.code = "down",
                                             .text = "the port is down",
                                             .why = "nothing can be known of its path"}}});
        continue;
      }
      const LocalPort facts =
          local(octets_of(str(port, "name")), port.at("ifindex").get<unsigned>());
      const auto at = rules_of.find(str(port, "name"));
      const json* its = at == rules_of.end() ? nullptr : at->second;
      const qos::Carried carried =
          its == nullptr ? facts.carried : facts.carried.or_else(report::read_carried(*its));
      Examination examination(port, facts, *fabric, lossless_of(*fabric, its),
                              its == nullptr ? nullptr : pfc_part(*its), carried.lost);
      out.ports.push_back(
          {.name = str(port, "name"), .findings = examination.run(), .carried = carried});
    }
    return out;
  } catch (const json::exception&) {
    return fail(report::not_understood());
  }
}

std::string health_text(const Health& health, const report::Style& style) {
  std::string out;
  const unsigned lossless = bits_of(health.lossless);
  for (const PortHealth& port : health.ports) out += text_of(port, lossless, style);
  return out.empty() ? "no port is up: nothing is known\n" : out;
}

std::string health_json(const Health& health) {
  std::string text;
  report::JsonWriter out(text);
  out.open('{').member("version", report::kVersion).member("status", health.status());
  out.key("lossless").open('[');
  for (const qos::Class& c : health.lossless)
    out.open('{').member("priority", c.priority.value()).member("dscp", c.dscp.value()).close('}');
  out.close(']').key("ports").open('[');
  for (const PortHealth& port : health.ports) {
    out.open('{').member("name", port.name).key("findings").open('[');
    for (const Finding& f : port.findings) {
      out.open('{')
          .member("code", f.code)
          .member("severity", to_string(f.severity))
          .member("text", f.text)
          .member("why", f.why)
          .member("command", f.command.empty() ? std::nullopt : std::optional(f.command))
          .close('}');
    }
    out.close(']');
    report::write_carried(out, port.carried);
    out.close('}');
  }
  out.close(']').close('}');
  return text;
}

std::string health_changes(const Health& before, const Health& now, const report::Style& style) {
  std::string out;
  for (const PortHealth& port : before.ports)
    if (find(now, port.name) == nullptr) out += port.name + ": is down, or gone\n";
  const unsigned lossless = bits_of(now.lossless);
  for (const PortHealth& port : now.ports) {
    const PortHealth* old = find(before, port.name);
    if (old == nullptr || old->findings != port.findings) out += text_of(port, lossless, style);
    if (old != nullptr) out += counted_since(*old, port, lossless);
  }
  return out;
}

}  // namespace lldp::cli
