// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "agent/report/lldpctl_tree.hpp"
#include "agent/report/shape.hpp"
#include "base/hex.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace lldp::report {
namespace {

/// `text` with `replace(octets, code point)` in place of each code point that is not safe to show;
/// octets that are no UTF-8 come one by one, as U+FFFD.
template <class Replace>
std::string made_safe(std::string_view text, Replace replace) {
  std::string out;
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    const std::string_view octets = text.substr(0, std::max<std::size_t>(c.length, 1));
    if (c.length == 0)
      out += replace(octets, 0xfffdU);
    else if (is_unsafe_to_show(c.value))
      out += replace(octets, c.value);
    else
      out += octets;
    text.remove_prefix(octets.size());
  }
  return out;
}

std::string as_hex_escapes(std::string_view octets) {
  std::string out;
  for (const char octet : octets) {
    const auto value = static_cast<std::uint8_t>(octet);
    out += "\\x" + to_hex({&value, 1});
  }
  return out;
}

// keyvalue and plain

std::string kv_value(std::string_view text) {
  return made_safe(text, [](std::string_view octets, std::uint32_t) {
    return octets == "\n" ? std::string(" ") : as_hex_escapes(octets);
  });
}

void write_keyvalue(const Element& element, const std::string& parent, std::string& out) {
  // An attribute that names or classes the element stands in the place of its tag.
  std::string path = parent + element.tag;
  for (const auto& [name, label, value] : element.attributes) {
    if (name == "name" || name == "type")
      path = parent + kv_value(value);
    else
      out += path + '.' + name + '=' + kv_value(value) + '\n';
  }
  if (element.data) out += path + '=' + kv_value(*element.data) + '\n';
  for (const Element& child : element.children) write_keyvalue(child, path + '.', out);
}

/// lldpctl's default: labels in columns, elements indented by their depth.
class PlainWriter {
 public:
  std::string write(const Element& root) {
    element(root, 0);
    line_break();
    return std::move(out_);
  }

 private:
  static constexpr std::size_t kRule = 79;

  void line_break() {
    if (!out_.empty() && out_.back() != '\n') out_ += '\n';
  }
  void rule() { out_ += std::string(kRule, '-'); }
  void element(const Element& e, std::size_t depth) {
    if (depth == 0) {
      rule();
      out_ += '\n';
    } else {
      line_break();
    }
    if (depth > 0) out_.append(2 * (depth - 1), ' ');
    out_ += fmt::format("{:<13}", e.label + ':');
    if (depth == 0) {
      line_break();
      rule();
    }
    for (const auto& [name, label, value] : e.attributes) {
      out_ += &value == &e.attributes.front().value ? " " : ", ";
      if (!label.empty()) out_ += label + ": ";
      out_ += safe(value);
    }
    if (e.data) data(*e.data, depth);
    for (const Element& child : e.children) element(child, depth + 1);
    if (depth == 1) {
      line_break();
      rule();
    }
  }
  void data(std::string_view text, std::size_t depth) {
    out_ += ' ';
    for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos;
         text.remove_prefix(end + 1)) {
      out_ += safe(text.substr(0, end)) + '\n';
      if (depth > 0) out_.append(2 * (depth - 1), ' ');
      out_.append(14, ' ');
    }
    out_ += safe(text);
  }
  static std::string safe(std::string_view text) {
    return made_safe(text,
                     [](std::string_view octets, std::uint32_t) { return as_hex_escapes(octets); });
  }

  std::string out_{};
};

// json and json0

/// Valid UTF-8: octets that are none become U+FFFD.
std::string utf8(const std::string& text) {
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace))
      .get<std::string>();
}

json json_value(const std::string& text) {
  if (text == "yes" || text == "on") return true;
  if (text == "no" || text == "off") return false;
  return utf8(text);
}

/// Every element in an array of its tag, whatever their number.
json json0_of(const Element& element) {
  json out = json::object();
  for (const auto& [name, label, value] : element.attributes) out[name] = json_value(value);
  if (element.data) out["value"] = utf8(*element.data);
  for (const Element& child : element.children) out[child.tag].push_back(json0_of(child));
  return out;
}

/// What lldpctl makes of json0 for `json`: an array of one becomes its member, an object of a
/// `value` alone that value, and a `name` becomes the key of an object around the rest.
json simplified(json value) {
  if (value.is_array() && value.size() == 1) return simplified(value.front());
  if (value.is_object() && value.size() == 1 && value.begin().key() == "value")
    return simplified(value.begin().value());
  if (!value.is_structured()) return value;
  for (json& member : value) member = simplified(std::move(member));
  if (!value.is_object()) return value;
  const auto name = value.find("name");
  if (name == value.end() || !name->is_string()) return value;
  const std::string key = name->get<std::string>();
  value.erase(name);
  return json{{key, std::move(value)}};
}

std::string json_text(const json& value) {
  return made_safe(value.dump(2),
                   [](std::string_view octets, std::uint32_t c) {
                     if (octets == "\n") return std::string(octets);  // between the values
                     if (c <= 0xffff) return fmt::format("\\u{:04x}", c);
                     return fmt::format("\\u{:04x}\\u{:04x}", 0xd7c0 + (c >> 10),
                                        0xdc00 + (c & 0x3ff));
                   }) +
         "\n\n";
}

// xml

std::string xml_text(const std::string& text, bool in_attribute) {
  std::string marked;
  for (const char c : text) {
    if (c == '&')
      marked += "&amp;";
    else if (c == '<')
      marked += "&lt;";
    else if (c == '>')
      marked += "&gt;";
    else if (c == '"' && in_attribute)
      marked += "&quot;";
    else
      marked += c;
  }
  return made_safe(marked, [in_attribute](std::string_view octets, std::uint32_t c) {
    if ((c == '\n' || c == '\t') && !in_attribute) return std::string(octets);
    const bool is_of_xml =
        c == '\n' || c == '\t' || c == '\r' || (c >= 0x20 && c < 0xfffd) || c > 0xffff;
    return is_of_xml ? fmt::format("&#{};", c) : std::string("\xef\xbf\xbd");
  });
}

void write_xml(const Element& element, std::size_t depth, std::string& out) {
  out += std::string(depth, ' ') + '<' + element.tag;
  if (!element.label.empty()) out += " label=\"" + xml_text(element.label, true) + '"';
  for (const auto& [name, label, value] : element.attributes)
    out += ' ' + name + "=\"" + xml_text(value, true) + '"';
  if (element.children.empty() && (!element.data || element.data->empty())) {
    out += "/>\n";
    return;
  }
  out += '>';
  if (element.data) out += xml_text(*element.data, false);
  if (!element.children.empty()) {
    out += '\n';
    for (const Element& child : element.children) write_xml(child, depth + 1, out);
    out += std::string(depth, ' ');
  }
  out += "</" + element.tag + ">\n";
}

}  // namespace

std::string write_lldpctl(const Element& root, LldpctlFormat format) {
  std::string out;
  switch (format) {
    case LldpctlFormat::kPlain:
      return PlainWriter().write(root);
    case LldpctlFormat::kKeyvalue:
      write_keyvalue(root, "", out);
      break;
    case LldpctlFormat::kJson0:
      return json_text({{root.tag, json::array({json0_of(root)})}});
    case LldpctlFormat::kJson:
      return json_text({{root.tag, simplified(json0_of(root))}});
    case LldpctlFormat::kXml:
      out = R"(<?xml version="1.0" encoding="UTF-8"?>)"
            "\n";
      write_xml(root, 0, out);
      break;
  }
  return out;
}

}  // namespace lldp::report
