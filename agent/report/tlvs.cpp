// SPDX-License-Identifier: Apache-2.0
#include "agent/report/tlvs.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "tlv/table.hpp"

namespace lldp::report {
namespace {

using tlv::Field;
using tlv::Tlv;

/// Name and fields of a TLV, whatever became of it.
tlv::Fields fields_of(const Tlv& t, OwnerOf owner) {
  if (t.status == Tlv::Status::kValid) return t.row()->describe(t.information);
  tlv::Fields out;
  if (t.row() == nullptr) {
    out.push_back(Field::of("type", std::uint64_t{t.key.type}));
    if (t.key.type == tlv::kOrganizational) {
      out.push_back(Field::of("oui", oui_text(t.key.oui)));
      if (const auto name = owner(t.key.oui); !name.empty())
        out.push_back(Field::of("owner", escape(name)));
      out.push_back(Field::of("subtype", std::uint64_t{t.key.subtype}));
    }
  }
  out.push_back(Field::of("octets", to_hex(t.information)));
  return out;
}
std::string_view name_of(const Tlv& t) { return t.row() == nullptr ? "unknown" : t.row()->name; }

void write(JsonWriter& out, const Field& field) {
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
    out += std::string(f.name) + ' ' + text_of(f);
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
      return std::to_string(field.number / 10) + '.' + std::to_string(field.number % 10);
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

}  // namespace

std::string oui_text(std::uint32_t oui) {
  std::string out;
  for (const int shift : {16, 8, 0}) {
    const auto octet = static_cast<std::uint8_t>(oui >> shift);
    out += (out.empty() ? "" : "-") + to_hex({&octet, 1});
  }
  return out;
}

void write_tlv(JsonWriter& out, const Tlv& t, OwnerOf owner) {
  out.open('{').member("name", name_of(t));
  if (t.status == Tlv::Status::kDiscarded) out.member("discarded", true);
  for (const Field& field : fields_of(t, owner)) write(out, field);
  out.close('}');
}

void write_tlvs(JsonWriter& out, ByteSpan lldpdu, const tlv::Dialect& dialect, OwnerOf owner) {
  out.open('[');
  tlv::TlvWalk walk(lldpdu, dialect);
  for (Tlv t; walk.next(t);) write_tlv(out, t, owner);
  out.close(']');
}

std::string tlv_line(const Tlv& t, OwnerOf owner) {
  constexpr std::size_t kColumn = 23;
  const tlv::Fields fields = fields_of(t, owner);
  std::string out = "  " + std::string(name_of(t));
  out.resize(std::max(out.size(), kColumn + 2), ' ');
  out += t.status == Tlv::Status::kDiscarded ? " discarded: " : " ";
  return out + (fields.size() == 1 ? text_of(fields.front()) : named_texts(fields)) + '\n';
}

}  // namespace lldp::report
