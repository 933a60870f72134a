// SPDX-License-Identifier: Apache-2.0
#include "sim/lossless/switch_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/text.hpp"

namespace lldp::lab::lossless {
namespace {

using nlohmann::json;

/// `0a:00:...` or `198.18.0.2`: N numbers with one character between them.
template <std::size_t N>
bool numbers(std::string_view text, char between, int base, std::array<std::uint8_t, N>& out) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < N; ++i) {
    if (i > 0 && (at == end || *at++ != between)) return false;
    const auto [next, code] = std::from_chars(at, end, out[i], base);
    if (code != std::errc{}) return false;
    at = next;
  }
  return at == end;
}

/// One object of the file: reads what stands at a key, and remembers what it has not liked.
class Reader {
 public:
  Reader(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) refuse("", "must be an object");
  }
  void text(const char* key, std::string& into) {
    const json* v = find(key);
    if (v == nullptr) return;
    if (v->is_string())
      into = v->get<std::string>();
    else
      refuse(key, "must be text");
  }
  template <class T>
  void number(const char* key, T& into) {
    const json* v = find(key);
    if (v == nullptr) return;
    const auto n = v->is_number_unsigned() ? v->get<std::uint64_t>() : 0;
    if (!v->is_number_unsigned() || n > std::numeric_limits<T>::max())
      refuse(key, fmt::format("must be a number up to {}", std::numeric_limits<T>::max()));
    else
      into = static_cast<T>(n);
  }
  template <std::size_t N>
  void address(const char* key, char between, int base, std::array<std::uint8_t, N>& into) {
    std::string written;
    text(key, written);
    if (!numbers(written, between, base, into)) refuse(key, "is no address");
  }
  /// Each element of an array.
  template <class Each>
  void list(const char* key, Each each) {
    const json* v = find(key);
    if (v == nullptr) return;
    if (!v->is_array()) return refuse(key, "must be an array");
    for (std::size_t i = 0; i < v->size(); ++i) {
      Reader one((*v)[i], fmt::format("{}[{}].", path(key), i));
      each(one);
      one.end();
      if (one.complaint_ && !complaint_) complaint_ = one.complaint_;
    }
  }
  [[nodiscard]] std::string path(const char* key) const { return where_ + key; }
  [[nodiscard]] const std::optional<Error>& complaint() const { return complaint_; }
  /// All that was to be read has been.
  void end() {
    if (!object_.is_object()) return;
    for (const auto& [key, value] : object_.items())
      if (!asked_.contains(key)) return refuse(escape(key).c_str(), "is not known");
  }

 private:
  const json* find(const char* key) {
    asked_.insert(key);
    if (complaint_ || !object_.contains(key)) return nullptr;
    return &object_[key];
  }
  void refuse(const char* key, std::string why) {
    if (!complaint_) complaint_ = Error{0, path(key), std::move(why)};
  }

  const json& object_;
  std::string where_;
  std::set<std::string, std::less<>> asked_{};
  std::optional<Error> complaint_{};
};

/// The text as JSON, with the first key that one of its objects has twice: the parser takes the
/// last.
json parse_json(std::string_view text, std::optional<Error>& twice) {
  std::vector<std::set<std::string>> keys;
  return json::parse(
      text,
      [&](int, json::parse_event_t event, json& parsed) {
        if (event == json::parse_event_t::object_start) keys.emplace_back();
        if (event == json::parse_event_t::object_end) keys.pop_back();
        if (event == json::parse_event_t::key && !twice &&
            !keys.back().insert(parsed.get<std::string>()).second)
          twice = Error{0, escape(parsed.get<std::string>()), "stands twice"};
        return true;
      },
      false);
}

std::string mac_text(const MacAddress& a) { return fmt::format("{:02x}", fmt::join(a, ":")); }

}  // namespace

std::string format(const SwitchFile& file) {
  const StationSettings& s = file.station;
  json ports = json::array();
  for (const StationPort& p : s.ports)
    ports.push_back({{"name", p.name}, {"address", mac_text(p.address)}});
  json routes = json::array();
  for (const Route& r : s.routes)
    routes.push_back({{"to", fmt::format("{}", fmt::join(r.to, "."))},
                      {"port", r.port},
                      {"next", mac_text(r.next)}});
  return json{{"socket", file.socket},
              {"name", s.name},
              {"ports", std::move(ports)},
              {"routes", std::move(routes)},
              {"qos.lossless", s.policy.lossless_text()},
              {"qos.lossy", s.policy.lossy_text()},
              {"rate_bps", s.rate_bps},
              {"xoff_octets", s.xoff_octets},
              {"xon_octets", s.xon_octets},
              {"quanta", s.quanta},
              {"allowance_ms", s.allowance_ms},
              {"rules_late_ms", file.rules_late_ms}}
             .dump(1) +
         "\n";
}

Result<SwitchFile> parse_switch_file(std::string_view text) {
  std::optional<Error> twice;
  const json document = parse_json(text, twice);
  if (document.is_discarded()) return fail(Error{0, "switch", "is no JSON"});
  if (twice) return fail(std::move(*twice));
  SwitchFile file;
  StationSettings& s = file.station;
  std::string lossless(qos::Policy::kDefaultLossless);
  std::string lossy(qos::Policy::kDefaultLossy);
  Reader top(document, "");
  top.text("socket", file.socket);
  top.text("name", s.name);
  top.list("ports", [&](Reader& r) {
    StationPort port;
    r.text("name", port.name);
    r.address("address", ':', 16, port.address);
    s.ports.push_back(std::move(port));
  });
  top.list("routes", [&](Reader& r) {
    Route route;
    r.address("to", '.', 10, route.to);
    r.text("port", route.port);
    r.address("next", ':', 16, route.next);
    s.routes.push_back(std::move(route));
  });
  top.text("qos.lossless", lossless);
  top.text("qos.lossy", lossy);
  top.number("rate_bps", s.rate_bps);
  top.number("xoff_octets", s.xoff_octets);
  top.number("xon_octets", s.xon_octets);
  top.number("quanta", s.quanta);
  top.number("allowance_ms", s.allowance_ms);
  top.number("rules_late_ms", file.rules_late_ms);
  top.end();
  if (top.complaint()) return fail(*top.complaint());
  auto policy = qos::Policy::parse(lossless, lossy);
  if (!policy) return fail(policy.error());
  if (policy->chains().empty()) return fail(Error{0, "qos.lossless", "none: nothing is sent"});
  s.policy = std::move(*policy);
  if (file.rules_late_ms > SwitchFile::kMostLate)
    return fail(Error{0, "rules_late_ms", fmt::format("give {} at most", SwitchFile::kMostLate)});
  if (file.socket.empty()) return fail(Error{0, "socket", "is missing"});
  return file;
}

}  // namespace lldp::lab::lossless
