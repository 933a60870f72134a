// SPDX-License-Identifier: Apache-2.0
#include "agent/cli/decode.hpp"

#include <fmt/format.h>

#include <optional>

#include "agent/cli/capture.hpp"
#include "agent/core/neighbor_table.hpp"
#include "agent/report/json_writer.hpp"
#include "base/text.hpp"
#include "tlv/lldpdu.hpp"
#include "tlv/table.hpp"

namespace lldp::cli {
namespace {

using tlv::Field;
using tlv::Tlv;

/// What a receiver makes of a frame: the neighbour it would learn, or why none.
struct Reading {
  std::string error{};
  std::optional<tlv::LldpduView> view{};
  std::optional<core::Neighbor> neighbor{};
};

std::string cut_text(const CapturedFrame& frame) {
  return fmt::format("cut by the snap length: {} octets were not captured", frame.missing);
}

Reading read(const CapturedFrame& frame, const core::Settings& settings) {
  Reading out;
  const auto view = tlv::decode(frame.lldpdu(), tlv::Dialect{settings.accepted_ouis});
  if (!view) {
    out.error = frame.cut ? cut_text(frame) : to_string(view.error());
    return out;
  }
  out.view = *view;
  out.neighbor.emplace(core::Scope::kNearestBridge, view->octets, *view, settings);
  return out;
}

std::string oui_text(std::uint32_t oui) {
  return fmt::format("{:02x}-{:02x}-{:02x}", oui >> 16, oui >> 8 & 0xff, oui & 0xff);
}

/// Name and fields of a TLV, whatever became of it.
tlv::Fields fields_of(const Tlv& t) {
  if (t.status == Tlv::Status::kValid) return t.row()->describe(t.information);
  tlv::Fields out;
  if (t.row() == nullptr) {
    out.push_back(Field::of("type", std::uint64_t{t.key.type}));
    if (t.key.type == tlv::kOrganizational) {
      out.push_back(Field::of("oui", oui_text(t.key.oui)));
      out.push_back(Field::of("subtype", std::uint64_t{t.key.subtype}));
    }
  }
  out.push_back(Field::of("octets", to_hex(t.information)));
  return out;
}
std::string_view name_of(const Tlv& t) { return t.row() == nullptr ? "unknown" : t.row()->name; }

void write(report::JsonWriter& out, const Field& field) {
  if (!field.name.empty()) out.key(field.name);
  switch (field.kind) {
    case Field::Kind::kBool:
      out.value(field.number != 0);
      return;
    case Field::Kind::kNumber:
      out.value(field.number);
      return;
    case Field::Kind::kTenths:
      out.tenths(field.number);
      return;
    case Field::Kind::kText:
      out.value(field.text);
      return;
    case Field::Kind::kList:
      out.open('[');
      for (const Field& child : field.children) write(out, child);
      out.close(']');
      return;
    case Field::Kind::kRecord:
      out.open('{');
      for (const Field& child : field.children) write(out, child);
      out.close('}');
      return;
  }
}

/// A value as a person reads it: `yes`, `5`, `text`, `5 6`, `(priority 3, protocol 6)`.
std::string text_of(const Field& field);

std::string named_texts(const tlv::Fields& fields) {
  std::string out;
  for (const Field& f : fields) {
    if (!out.empty()) out += ", ";
    out += fmt::format("{} {}", f.name, text_of(f));
  }
  return out;
}

std::string text_of(const Field& field) {
  switch (field.kind) {
    case Field::Kind::kBool:
      return field.number != 0 ? "yes" : "no";
    case Field::Kind::kNumber:
      return std::to_string(field.number);
    case Field::Kind::kTenths:
      return fmt::format("{}.{}", field.number / 10, field.number % 10);
    case Field::Kind::kText:
      return field.text.empty() ? "-" : field.text;
    case Field::Kind::kList: {
      std::string out;
      for (const Field& child : field.children) {
        if (!out.empty()) out += ' ';
        out += text_of(child);
      }
      return out.empty() ? "-" : out;
    }
    case Field::Kind::kRecord:
      break;
  }
  return '(' + named_texts(field.children) + ')';
}

std::string line_of(const Tlv& t) {
  const tlv::Fields fields = fields_of(t);
  const std::string text = fields.size() == 1 ? text_of(fields.front()) : named_texts(fields);
  const char* mark = t.status == Tlv::Status::kDiscarded ? "discarded: " : "";
  return fmt::format("  {:<23} {}{}\n", name_of(t), mark, text);
}

std::optional<unsigned> number(const std::optional<Level>& level) {
  return level ? std::optional<unsigned>(level->value()) : std::nullopt;
}

}  // namespace

std::string frame_json(const CapturedFrame& frame, const core::Settings& settings) {
  const Reading reading = read(frame, settings);
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
  out.key("tlvs").open('[');
  tlv::TlvWalk walk(view.octets, tlv::Dialect{settings.accepted_ouis});
  for (Tlv t; walk.next(t);) {
    out.open('{').member("name", name_of(t));
    if (t.status == Tlv::Status::kDiscarded) out.member("discarded", true);
    for (const Field& field : fields_of(t)) write(out, field);
    out.close('}');
  }
  out.close(']');
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

std::string frame_text(const CapturedFrame& frame, const core::Settings& settings) {
  const Reading reading = read(frame, settings);
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
  for (Tlv t; walk.next(t);) out += line_of(t);
  if (frame.cut) out += "  " + cut_text(frame) + '\n';
  return out;
}

Result<void> decode_capture(const std::string& file, bool json, const core::Settings& settings,
                            std::ostream& out) {
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
      out << frame_json(frame, settings) << '\n';
    } else {
      out << (first ? "" : "\n") << frame_text(frame, settings);
    }
    first = false;
  }
}

}  // namespace lldp::cli
