// SPDX-License-Identifier: Apache-2.0
#include "agent/cli/decode.hpp"

#include <fmt/format.h>

#include <optional>

#include "agent/cli/capture.hpp"
#include "agent/core/neighbor_table.hpp"
#include "agent/report/json_writer.hpp"
#include "agent/report/tlvs.hpp"
#include "base/text.hpp"
#include "tlv/lldpdu.hpp"

namespace lldp::cli {
namespace {

using tlv::Tlv;

/// What a receiver makes of a frame: the neighbor it would learn, or why none.
struct DecodedFrame {
  std::string error{};
  std::optional<tlv::LldpduView> view{};
  std::optional<core::Neighbor> neighbor{};
};

std::string cut_text(const CapturedFrame& frame) {
  return fmt::format("cut by the snap length: {} octets were not captured", frame.missing);
}

DecodedFrame read(const CapturedFrame& frame, const core::Settings& settings) {
  DecodedFrame out;
  const auto view = tlv::decode(frame.lldpdu(), tlv::Dialect{settings.accepted_ouis});
  if (!view) {
    out.error = frame.cut ? cut_text(frame) : to_string(view.error());
    return out;
  }
  out.view = *view;
  out.neighbor.emplace(core::Scope::kNearestBridge, view->octets, *view, settings);
  return out;
}

std::optional<unsigned> number(const std::optional<Level>& level) {
  return level ? std::optional<unsigned>(level->value()) : std::nullopt;
}

}  // namespace

std::string frame_json(const CapturedFrame& frame, const core::Settings& settings,
                       report::OwnerOf owner) {
  const DecodedFrame reading = read(frame, settings);
  std::string text;
  report::JsonWriter out(text);
  out.open('{')
      .member("time", to_date(frame.time))
      .member("source", to_string(frame.source))
      .member("ignored", why_ignored(frame, settings))
      .member("missing", frame.missing);
  if (!reading.view) {
    out.member("error", reading.error).close('}');
    return text;
  }
  const tlv::LldpduView& view = *reading.view;
  const core::Neighbor& n = *reading.neighbor;
  out.member("chassis_id", to_string(n.chassis_id()))
      .member("port_id", to_string(n.port_id()))
      .member("ttl", view.ttl)
      .member("system_name",
              view.system_name ? std::optional(escape(*view.system_name)) : std::nullopt)
      .member("device_type", to_string(n.device))
      .member("level", number(n.level))
      .member("port_type", to_string(n.port));
  out.key("tlv").open('[');
  if (n.tr) out.value("tr");
  if (n.contribution) out.value("contribution");
  out.close(']');
  report::write_tlvs(out.key("tlvs"), view.octets, tlv::Dialect{settings.accepted_ouis}, owner);
  out.key("counters")
      .open('{')
      .member("statsTLVsDiscardedTotal", view.tlvs_discarded)
      .member("statsTLVsUnrecognizedTotal", view.tlvs_unrecognized)
      .member("statsFramesInErrorsTotal", view.in_error ? 1 : 0)
      .close('}');
  out.key("error").value(std::optional<std::string>());
  out.close('}');
  return text;
}

std::string frame_text(const CapturedFrame& frame, const core::Settings& settings,
                       report::OwnerOf owner) {
  const DecodedFrame reading = read(frame, settings);
  std::string out = fmt::format("{}  {}  ", to_date(frame.time), to_string(frame.source));
  const auto ignored = why_ignored(frame, settings);
  const std::string remark =
      ignored ? fmt::format("  {:<23} {}\n", "ignored", *ignored) : std::string();
  if (!reading.view) return out + "discarded: " + reading.error + '\n' + remark;
  const core::Neighbor& n = *reading.neighbor;
  out += fmt::format("{} {}", core::name_of(n), core::port_name_of(n));
  if (reading.view->ttl == 0) {
    out += ", shutdown";
  } else {
    out += fmt::format(", {}", to_string(n.device));
    if (n.level) out += fmt::format(", level {}", n.level->value());
    if (n.port != PortType::kUnmarked) out += fmt::format(", {}", to_string(n.port));
  }
  out += '\n' + remark;
  tlv::TlvWalk walk(reading.view->octets, tlv::Dialect{settings.accepted_ouis});
  for (Tlv t; walk.next(t);) out += report::tlv_line(t, owner);
  if (frame.cut) out += "  " + cut_text(frame) + '\n';
  return out;
}

Result<void> decode_capture(const std::string& file, bool json, const core::Settings& settings,
                            std::ostream& out, report::OwnerOf owner) {
  auto reader = CaptureReader::open(file);
  if (!reader) return fail(reader.error());
  CapturedFrame frame;
  bool first = true;
  for (;;) {
    const auto more = reader->next(frame);
    if (!more) return fail(more.error());
    if (!*more && first) return fail(no_lldp(file));
    if (!*more) return {};
    if (json) {
      out << frame_json(frame, settings, owner) << '\n';
    } else {
      out << (first ? "" : "\n") << frame_text(frame, settings, owner);
    }
    first = false;
  }
}

}  // namespace lldp::cli
