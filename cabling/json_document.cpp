// SPDX-License-Identifier: Apache-2.0
#include "cabling/json_document.hpp"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.hpp"

namespace lldp::cabling {
namespace {

using Library = nlohmann::json;
using Kind = JsonValue::Kind;

}  // namespace

JsonValue::JsonValue(Kind kind, std::span<const JsonMember> members)
    : at_(members.data()), size_(static_cast<std::uint32_t>(members.size())), kind_(kind) {}

std::span<const JsonMember> JsonValue::members() const {
  if (kind_ != Kind::kList && kind_ != Kind::kObject) return {};
  return {static_cast<const JsonMember*>(at_), size_};
}

const JsonValue* JsonValue::find(std::string_view name) const {
  if (kind_ != Kind::kObject) return nullptr;
  const auto all = members();
  const auto it =
      std::find_if(all.rbegin(), all.rend(), [&](const auto& m) { return *m.name.text() == name; });
  return it == all.rend() || it->value.is(Kind::kNull) ? nullptr : &it->value;
}

std::string JsonValue::dump() const {
  if (kind_ == Kind::kNull) return "null";
  if (kind_ == Kind::kString) return Library(*text()).dump();
  if (const auto scalar = text()) return std::string(*scalar);
  std::string out;
  for (const JsonMember& m : members()) {
    if (!out.empty()) out += ',';
    if (kind_ == Kind::kObject) out += m.name.dump() + ':';
    out += m.value.dump();
  }
  return kind_ == Kind::kObject ? '{' + out + '}' : '[' + out + ']';
}

/// Takes what the library's parser tells, one thing after the other.
class JsonDocument::Builder : public nlohmann::json_sax<Library> {
 public:
  explicit Builder(std::pmr::memory_resource& memory) : memory_(memory) {}

  bool null() override { return add({}); }
  bool boolean(bool v) override { return add({Kind::kBoolean, v ? "true" : "false"}); }
  bool number_integer(number_integer_t v) override {
    return add({Kind::kWhole, kept(std::to_string(v))});
  }
  bool number_unsigned(number_unsigned_t v) override {
    return add({Kind::kWhole, kept(std::to_string(v))});
  }
  bool number_float(number_float_t v, const string_t&) override {
    return add({Kind::kReal, kept(Library(v).dump())});
  }
  bool string(string_t& v) override { return add({Kind::kString, kept(v)}); }
  bool binary(binary_t&) override { return false; }  // JSON has none
  bool key(string_t& v) override {
    waiting_.push_back({.name = {Kind::kString, kept(v)}});
    return true;
  }
  bool start_object(std::size_t) override { return begin(true); }
  bool start_array(std::size_t) override { return begin(false); }
  bool end_object() override { return end(Kind::kObject); }
  bool end_array() override { return end(Kind::kList); }
  bool parse_error(std::size_t octets, const std::string&,
                   const nlohmann::detail::exception& e) override {
    read_ = octets;
    number_too_large_ = dynamic_cast<const Library::out_of_range*>(&e) != nullptr;
    return false;
  }

  [[nodiscard]] JsonValue root() const { return waiting_.front().value; }
  /// How many octets were read when it failed.
  [[nodiscard]] std::size_t read() const { return read_; }
  [[nodiscard]] bool number_too_large() const { return number_too_large_; }

 private:
  std::string_view kept(std::string_view text) {
    if (text.empty()) return {};
    auto* to = static_cast<char*>(memory_.allocate(text.size(), 1));
    std::copy(text.begin(), text.end(), to);
    return {to, text.size()};
  }
  bool add(JsonValue value) {
    if (!open_.empty() && open_.back().object)
      waiting_.back().value = value;
    else
      waiting_.push_back({.value = value});
    return true;
  }
  bool begin(bool object) {
    open_.push_back({waiting_.size(), object});
    return true;
  }
  bool end(Kind kind) {
    const auto first = waiting_.begin() + static_cast<std::ptrdiff_t>(open_.back().first);
    const auto size = static_cast<std::size_t>(waiting_.end() - first);
    auto* to =
        static_cast<JsonMember*>(memory_.allocate(size * sizeof(JsonMember), alignof(JsonMember)));
    std::uninitialized_copy(first, waiting_.end(), to);
    waiting_.erase(first, waiting_.end());
    open_.pop_back();
    return add({kind, std::span<const JsonMember>(to, size)});
  }

  /// A list or an object that has not ended: where its members begin among those that wait.
  struct Open {
    std::size_t first = 0;
    bool object = false;
  };
  std::pmr::memory_resource& memory_;
  std::vector<Open> open_{};
  std::vector<JsonMember> waiting_{};
  std::size_t read_ = 0;
  bool number_too_large_ = false;
};

Result<JsonDocument> JsonDocument::parse(std::string_view text) {
  const auto refuse = [](std::string where, std::string what) {
    return fail(Error{0, std::move(where), std::move(what)});
  };
  if (is_too_deep(text))
    return refuse("fabric", "nested more than " + std::to_string(kDeepestJson) + " levels deep");
  JsonDocument document;
  document.memory_ = std::make_unique<std::pmr::monotonic_buffer_resource>(text.size());
  Builder builder(*document.memory_);
  if (!Library::sax_parse(text, &builder)) {
    if (builder.number_too_large()) return refuse("fabric", "a number is out of range");
    const auto read = text.substr(0, std::min(builder.read(), text.size()));
    const bool cut = builder.read() > text.size() && text.find_first_not_of(" \t\r\n") != text.npos;
    return refuse("line " + std::to_string(1 + std::count(read.begin(), read.end(), '\n')),
                  cut ? "cut off: the JSON has no end: write the file again" : "not JSON");
  }
  document.root_ = builder.root();
  return document;
}

}  // namespace lldp::cabling
