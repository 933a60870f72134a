// SPDX-License-Identifier: Apache-2.0
#include "agent/control/varlink.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace lldp::io::varlink {
namespace {

using nlohmann::json;

Error malformed(const char* what) { return {.what = what}; }

/// A flag of the call: absent and false are the same.
bool flag(const json& call, const char* name) {
  const auto at = call.find(name);
  return at != call.end() && at->is_boolean() && at->get<bool>();
}

std::optional<Parameter> parse_parameter(const std::string& name, const json& value) {
  Parameter out{.name = name};
  if (value.is_string()) {
    out.values.push_back(value.get<std::string>());
    return out;
  }
  if (!value.is_array()) return std::nullopt;
  out.is_list = true;
  for (const json& element : value) {
    if (!element.is_string()) return std::nullopt;
    out.values.push_back(element.get<std::string>());
  }
  return out;
}

}  // namespace

void Framer::feed(std::string_view octets) {
  buffer_.erase(0, begin_);
  seen_ -= begin_;
  begin_ = 0;
  buffer_.append(octets);
}

std::optional<std::string_view> Framer::next() {
  if (overlong_) return std::nullopt;
  const std::size_t end = buffer_.find('\0', seen_);
  seen_ = std::min(end, buffer_.size());
  if (seen_ - begin_ > max_octets_) overlong_ = true;
  if (overlong_ || end == std::string::npos) return std::nullopt;
  const auto message = std::string_view(buffer_).substr(begin_, end - begin_);
  begin_ = seen_ = end + 1;
  return message;
}

Result<Call> parse_call(std::string_view message) {
  const json parsed = parse_json<json>(message);
  if (!parsed.is_object()) return fail(malformed("not a JSON object"));
  const auto method = parsed.find("method");
  if (method == parsed.end() || !method->is_string()) return fail(malformed("calls no method"));
  Call call{.method = method->get<std::string>(),
            .more = flag(parsed, "more"),
            .oneway = flag(parsed, "oneway"),
            .upgrade = flag(parsed, "upgrade")};
  const auto parameters = parsed.find("parameters");
  if (parameters == parsed.end() || parameters->is_null()) return call;
  if (!parameters->is_object()) return fail(malformed("its parameters are not a JSON object"));
  for (const auto& [name, value] : parameters->items()) {
    if (value.is_null()) continue;  // a null is an optional parameter that is not given
    if (auto parameter = parse_parameter(name, value)) {
      call.parameters.push_back(std::move(*parameter));
    } else if (!call.misfit) {
      call.misfit = name;
    }
  }
  return call;
}

std::string reply(std::string_view parameters, bool continues) {
  std::string out = R"({"parameters":)";
  out += parameters;
  if (continues) out += R"(,"continues":true)";
  out += '}';
  out += '\0';
  return out;
}

std::string error(std::string_view name, std::string_view parameters) {
  std::string out = R"({"error":")";
  out += name;
  out += R"(","parameters":)";
  out += parameters;
  out += '}';
  out += '\0';
  return out;
}

std::string base64(ByteSpan octets) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((octets.size() + 2) / 3 * 4);
  for (; !octets.empty(); octets = octets.subspan(std::min<std::size_t>(octets.size(), 3))) {
    const auto at = [&](std::size_t i) {
      return i < octets.size() ? std::uint32_t{octets[i]} : 0U;
    };
    const std::uint32_t group = at(0) << 16U | at(1) << 8U | at(2);
    out += kDigits[group >> 18U & 63U];
    out += kDigits[group >> 12U & 63U];
    out += octets.size() > 1 ? kDigits[group >> 6U & 63U] : '=';
    out += octets.size() > 2 ? kDigits[group & 63U] : '=';
  }
  return out;
}

std::string quote(std::string_view text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace lldp::io::varlink
