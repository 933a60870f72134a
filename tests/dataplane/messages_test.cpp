// SPDX-License-Identifier: Apache-2.0
// What the daemon says to a software switch and to the process with libsai, and what is taken of
// their answers: every field alone at its bounds, of another kind, and missing.
#include "dataplane/sai/messages.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "dataplane/soft/messages.hpp"

namespace lldp::dataplane {
namespace {

using nlohmann::json;
using Pointer = json::json_pointer;

/// Whether it is taken, as just what it says.
using Taken = std::function<bool(const json&)>;
/// The most that the number in this place may be.
using Most = std::function<std::uint64_t(const std::string& key)>;

template <class T>
bool says(const Result<T>& read, const json& message) {
  return read && json::parse(format(*read)) == message;
}

/// The last word of its way that is no index of a list.
std::string key_of(Pointer at) {
  std::string key;
  for (; !at.empty(); at.pop_back()) {
    key = at.back();
    if (key.find_first_not_of("0123456789") != std::string::npos) return key;
  }
  return key;
}

void every_way(const json& value, const Pointer& at,
               const std::function<void(const Pointer&)>& each) {
  if (!at.empty()) each(at);
  if (value.is_object())
    for (const auto& [key, below] : value.items()) every_way(below, at / key, each);
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i) every_way(value[i], at / i, each);
}

void holds_every_field(const json& message, const Taken& taken, const Most& most,
                       const std::set<std::string>& optional = {}) {
  ASSERT_TRUE(taken(message)) << message;
  every_way(message, Pointer(), [&](const Pointer& at) {
    const json& value = message.at(at);
    const auto with = [&](const json& other) {
      json changed = message;
      changed.at(at) = other;
      return changed;
    };
    const std::string key = key_of(at);
    const std::string where = at.to_string() + " of " + message.dump();
    if (key == "version") {
      for (const std::uint64_t n : {0U, 2U}) EXPECT_FALSE(taken(with(n))) << where;
    } else if (value.is_number()) {
      const std::uint64_t limit = most(at.to_string());
      EXPECT_TRUE(taken(with(limit))) << where;
      EXPECT_TRUE(taken(with(0U))) << where;
      EXPECT_TRUE(limit == UINT64_MAX || !taken(with(limit + 1))) << where;
      for (const json& wrong : {json(-1), json(1.5), json("1"), json(nullptr), json(true)})
        EXPECT_FALSE(taken(with(wrong))) << where << ": " << wrong;
    } else if (value.is_boolean()) {
      for (const json& wrong : {json(1), json("true"), json(nullptr)})
        EXPECT_FALSE(taken(with(wrong))) << where << ": " << wrong;
    } else if (value.is_string()) {
      for (const json& wrong : {json(1), json(json::array())})
        EXPECT_FALSE(taken(with(wrong))) << where << ": " << wrong;
    } else if (value.is_array()) {
      for (const json& wrong : {json(1), json("x"), json(json::object({{"0", 1}}))})
        EXPECT_FALSE(taken(with(wrong))) << where << ": " << wrong;
    }
    json without = message;
    const Pointer parent = at.parent_pointer();
    if (without.at(parent).is_object() && key_of(at) == at.back() && !optional.contains(key) &&
        key.rfind("port ", 0) != 0) {
      without.at(parent).erase(at.back());
      EXPECT_FALSE(taken(without)) << where;
    }
  });
}

namespace soft_limits {

std::uint64_t of(const std::string& way) {
  const auto ends = [&](std::string_view tail) { return way.ends_with(tail); };
  const bool of_class = way.find("/ingress/") != way.npos || way.find("/remaps/") != way.npos ||
                        way.find("/entering/") != way.npos || way.find("/leaving/") != way.npos ||
                        way.find("/lossy/") != way.npos;
  if (of_class) return ends("/0") ? Priority::kMax : std::uint64_t{Dscp::kMax};
  if (ends("/id")) return UINT32_MAX;
  if (ends("/code")) return 4095;
  if (ends("/near")) return qos::Layer::kMax;
  if (ends("/tag")) return qos::Tag::kMax;
  for (const char* mask :
       {"/pfc", "/stopped", "/stopping", "/waiting", "/lossless", "/not-crossing"})
    if (ends(mask)) return 255;
  return UINT64_MAX;
}

qos::Ruleset rules() {
  return {.port = {.order = Order::kUp, .near = qos::Layer::of<3>(), .lossy = 9},
          .ingress = {{Priority::of<1>(), Dscp::of<2>()}, {Priority::of<3>(), Dscp::of<4>()}},
          .entering = {{{Priority::of<1>(), Dscp::of<2>()}, {Priority::of<0>(), Dscp::of<1>()}}},
          .tag = qos::Tag::of<5>(),
          .turning_tags = 6,
          .remaps = {{{Priority::of<7>(), Dscp::of<8>()}, {Priority::of<6>(), Dscp::of<10>()}}},
          .leaving = {{{Priority::of<2>(), Dscp::of<3>()}, {Priority::of<4>(), Dscp::of<5>()}}},
          .pfc_enable = 11,
          .lossy = {Priority::of<2>(), Dscp::of<1>()},
          .layered = true};
}

bool request(const json& m) { return says(soft::parse_request(m.dump()), m); }
bool answer(const json& m) { return says(soft::parse_answer(m.dump()), m); }

}  // namespace soft_limits

TEST(SoftMessages, AreTakenWithinTheirBoundsAndNotBeyond) {
  using namespace soft;
  const Request set = Set{.id = 1, .port = "swp1", .rules = soft_limits::rules()};
  holds_every_field(json::parse(format(set)), soft_limits::request, soft_limits::of);
  const Answer done = Done{.id = 1, .code = 2, .why = "no"};
  holds_every_field(json::parse(format(done)), soft_limits::answer, soft_limits::of);
  View view{
      .name = "leaf", .lossless = 1, .drops = 2, .drops_lossy = 3, .missed = 4, .behind_us = 5};
  view.ports["port 1"] = {.rules = soft_limits::rules(),
                          .bounces = {11, 12, 13, 14, 15, 16, 17, 18},
                          .stopped = 21,
                          .stopping = 22,
                          .waiting = 23,
                          .waiting_octets = 24,
                          .sent = 25,
                          .pauses_sent = 26,
                          .pauses_heard = 27,
                          .gone = true};
  view.ports["port 2"] = {};
  holds_every_field(json::parse(format(Answer(view))), soft_limits::answer, soft_limits::of);
  EXPECT_EQ(*parse_answer(format(Answer(view))), Answer(view));
}

TEST(SoftMessages, ListsAndTextsHaveTheirLengths) {
  using namespace soft;
  json set = json::parse(format(Request(Set{.port = "swp1", .rules = soft_limits::rules()})));
  for (const char* name : {"ingress", "entering", "remaps", "leaving"}) {
    json& list = set["set"]["rules"][name];
    while (list.size() < Dscp::kMax + 1U) list.push_back(list[0]);
    EXPECT_TRUE(soft_limits::request(set)) << name;
    list.push_back(list[0]);
    EXPECT_FALSE(soft_limits::request(set)) << name;
    list.erase(1);
    list[0].push_back(list[0][0]);  // three in a pair
    EXPECT_FALSE(soft_limits::request(set)) << name;
    list[0].erase(2);
  }
  set["set"]["port"] = std::string(1024, 'x');
  EXPECT_TRUE(soft_limits::request(set));
  set["set"]["port"] = std::string(1025, 'x');
  EXPECT_FALSE(soft_limits::request(set));
  for (const Order order : {Order::kUnknown, Order::kDown, Order::kUp, Order::kShut}) {
    set["set"]["port"] = "swp1";
    set["set"]["rules"]["order"] = to_string(order);
    EXPECT_TRUE(soft_limits::request(set));
  }
  set["set"]["rules"]["order"] = "sideways";
  EXPECT_FALSE(soft_limits::request(set));
  json view = json::parse(format(Answer(View{.ports = {{"swp1", {}}}})));
  json& bounces = view["view"]["ports"]["swp1"]["bounces"];
  EXPECT_EQ(bounces.size(), 8U);
  bounces.push_back(1);
  EXPECT_FALSE(parse_answer(view.dump()));
  const std::string read = format(Request(Read{}));
  EXPECT_TRUE(parse_request(read + std::string(kMaxMessage - read.size(), ' ')));
  EXPECT_FALSE(parse_request(read + std::string(kMaxMessage - read.size() + 1, ' ')));
  EXPECT_FALSE(parse_request(R"({"read": false})"));
}

namespace sai_limits {

std::uint64_t of(const std::string& way) {
  const bool is_small = way.ends_with("/pfc") || way.ends_with("/traffic-classes") ||
                        way.find("/numbers/") != way.npos || way.find("/turns/") != way.npos;
  return is_small ? 255 : UINT64_MAX;
}
bool request(const json& m) { return says(sai::parse_request(m.dump()), m); }
bool answer(const json& m) { return says(sai::parse_answer(m.dump()), m); }
bool memory(const json& m) { return says(sai::parse_memory(m.dump()), m); }

}  // namespace sai_limits

TEST(SaiMessages, AreTakenWithinTheirBoundsAndNotBeyond) {
  using namespace sai;
  const Map map{MapKind::kTcToQueue, {{1, 2}}};
  const Acl acl{.table = 7, .entries = {8, 9}, .turns = {{43, 6, 51}, {52, 3, 1}}, .ports = {1, 2}};
  for (const Request& request :
       {Request(Read{{1, 2}, acl}), Request(map), Request(Drop{3}),
        Request(Set{4, {{MapKind::kTcToDscp, 5}, {MapKind::kDscpToTc, 9}}, 0x60U}),
        Request(SetAcl{acl, {{43, 6, 51}}, {5}})})
    holds_every_field(json::parse(format(request)), sai_limits::request, sai_limits::of, {"pfc"});
  const View view{
      .release = "1.18",
      .can_map = {true, false, true, true},
      .can_pfc = true,
      .traffic_classes = 7,
      .ports = {{"port 0", {.oid = 1, .maps = {1, 2, 3, 4}, .pfc = 0x18, .rewrites = true}}},
      .maps = {{2, map}},
      .bound = 7,
      .acl = acl};
  for (const Answer& answer :
       {Answer(Refused{"no room"}), Answer(Done{5}), Answer(view), Answer(acl)})
    holds_every_field(json::parse(format(answer)), sai_limits::answer, sai_limits::of);
  EXPECT_EQ(*parse_answer(format(Answer(view))), Answer(view));
  const Memory memory{
      .ports = {{"port 0", {.before = {.oid = 1, .maps = {1, 2, 3, 4}, .pfc = 5}, .pfc = 6}}},
      .maps = {{2, map}},
      .acl = acl};
  holds_every_field(json::parse(format(memory)), sai_limits::memory, sai_limits::of);
  EXPECT_EQ(*parse_memory(format(memory)), memory);
}

}  // namespace
}  // namespace lldp::dataplane
