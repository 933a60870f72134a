// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/state_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "agent/core/location.hpp"
#include "base/text.hpp"
#include "os/clock.hpp"
#include "os/fd.hpp"
#include "os/host.hpp"

namespace lldp::io {
namespace {

constexpr std::string_view kHeading = "lldp-level-state ";
constexpr std::string_view kVersion = "3";
constexpr std::string_view kLastLine = "end";
constexpr std::size_t kMaxSize =
    1 << 24;  // for each port the agents that it knows, and chassis IDs of up to 255 octets
constexpr std::size_t kMostSurroundings = 1024;

Error damaged(int line, std::string what) {
  return {.where = "line " + std::to_string(line), .what = std::move(what)};
}

/// A decimal number of at most `most`, and nothing else.
template <class Number = unsigned>
std::optional<Number> parse_number(std::string_view text, Number most, int base = 10) {
  Number v = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, v, base);
  if (error != std::errc() || end != last || v > most) return std::nullopt;
  return v;
}

std::optional<std::string> parse_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string octets;
  for (; !text.empty(); text.remove_prefix(2)) {
    std::uint8_t octet = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + 2, octet, 16);
    if (error != std::errc() || end != text.data() + 2) return std::nullopt;
    octets += static_cast<char>(octet);
  }
  return octets;
}

std::optional<ChassisId> parse_chassis_id(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == text.npos) return std::nullopt;
  const auto subtype = parse_number(text.substr(0, space), 255U);
  auto octets = parse_hex(text.substr(space + 1));
  if (!subtype || !octets || octets->empty() || octets->size() > 255) return std::nullopt;
  ChassisId id;
  id.subtype = static_cast<std::uint8_t>(*subtype);
  id.octets = std::move(*octets);
  return id;
}

std::string text_of(const ChassisId& id) {
  return std::to_string(id.subtype) + " " + to_hex(as_octets(id.octets));
}

/// Up to the next space, which is taken away too.
std::string_view next_word(std::string_view& text) {
  const std::size_t space = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, space);
  text.remove_prefix(std::min(space + 1, text.size()));
  return word;
}

/// `LEVEL SUBTYPE OCTETS`, or for the bottom, where the chassis ID is of no account, `0`.
std::string text_of(const Position& p) {
  const std::string level = std::to_string(p.level.value());
  return p.chassis.octets.empty() ? level : level + " " + text_of(p.chassis);
}
std::optional<Position> parse_position(std::string_view text) {
  const auto level = parse_number(next_word(text), unsigned{Level::kMax});
  if (!level) return std::nullopt;
  Position p{.level = *Level::make(*level)};
  if (text.empty()) return p;
  auto chassis = parse_chassis_id(text);
  if (!chassis) return std::nullopt;
  p.chassis = std::move(*chassis);
  return p;
}

/// As one word: `LEVEL:SUBTYPE:OCTETS`, or `0`; of a chassis ID `SUBTYPE:OCTETS`.
std::string word_of(const ChassisId& id) {
  return std::to_string(id.subtype) + ":" + to_hex(as_octets(id.octets));
}
std::string word_of(const Position& p) {
  const std::string level = std::to_string(p.level.value());
  return p.chassis.octets.empty() ? level : level + ":" + word_of(p.chassis);
}
std::string spaced(std::string_view word) {
  std::string text(word);
  std::ranges::replace(text, ':', ' ');
  return text;
}
std::optional<Position> parse_rank(std::string_view word) {
  auto position = parse_position(spaced(word));
  // A rank has both, or neither: the bottom.
  if (!position || (position->level == Level()) != position->chassis.octets.empty())
    return std::nullopt;
  return position;
}

/// `3:4`, or `-`.
std::string text_of(const std::optional<Layers>& layers) {
  return layers ? to_string(*layers) : "-";
}

/// Tiers as the TLV has them, in hexadecimal.
std::optional<std::string> parse_tiers(std::string_view text) {
  auto octets = parse_hex(text);
  if (!octets || core::tiers_of(*octets).empty()) return std::nullopt;
  return octets;
}

/// `NAME IFINDEX CARRIER-CHANGES MEMORY`, where `layers TOLD OWN` and `tiers TIERS` may stand
/// before the memory's kind.
std::string text_of(const core::PortState& port) {
  using Kind = core::PortMemory::Kind;
  std::string out = port.name + " " + std::to_string(port.ifindex.value()) + " " +
                    (port.carrier_changes ? std::to_string(*port.carrier_changes) : "-");
  if (port.memory.layers || port.memory.own_layers)
    out += " layers " + text_of(port.memory.layers) + " " + text_of(port.memory.own_layers);
  if (!port.memory.tiers.empty()) out += " tiers " + to_hex(as_octets(port.memory.tiers));
  switch (port.memory.kind) {
    case Kind::kNobody:
      return out + " nobody";
    case Kind::kLeft:
      return out + " left";
    case Kind::kHost:
      return out + " host";
    case Kind::kAbove:
      return out + " above";
    case Kind::kSwitch:
      return out + " switch " + text_of(port.memory.at);
  }
  return out;
}

std::optional<core::PortState> parse_port(std::string_view text) {
  using Kind = core::PortMemory::Kind;
  core::PortState port{.name = std::string(next_word(text))};
  const auto ifindex = parse_number(next_word(text), unsigned{Ifindex::kMax});
  const std::string_view carrier = next_word(text);
  if (port.name.empty() || !ifindex) return std::nullopt;
  port.ifindex = *Ifindex::make(*ifindex);
  if (carrier != "-") {
    port.carrier_changes = parse_number(carrier, ~std::uint32_t{});
    if (!port.carrier_changes) return std::nullopt;
  }
  std::string_view memory = next_word(text);
  if (memory == "layers") {
    for (auto* layers : {&port.memory.layers, &port.memory.own_layers}) {
      const std::string_view word = next_word(text);
      *layers = parse_layers(word);
      if (!*layers && word != "-") return std::nullopt;
    }
    memory = next_word(text);
  }
  if (memory == "tiers") {
    auto tiers = parse_tiers(next_word(text));
    memory = next_word(text);
    if (!tiers || memory != "switch") return std::nullopt;
    port.memory.tiers = std::move(*tiers);
  }
  if (memory == "switch") {
    auto at = parse_position(text);
    if (!at) return std::nullopt;
    port.memory.kind = Kind::kSwitch;
    port.memory.at = std::move(*at);
    return port;
  }
  if (memory == "above" || memory == "left") {
    port.memory.kind = memory == "above" ? Kind::kAbove : Kind::kLeft;
    return port;  // an older agent wrote a place behind it
  }
  if (memory == "host")
    port.memory.kind = Kind::kHost;
  else if (memory != "nobody")
    return std::nullopt;
  return text.empty() ? std::optional(std::move(port)) : std::nullopt;
}

constexpr unsigned kOrders = 4;
constexpr unsigned kHostFlag = 1;
constexpr unsigned kHeardFlag = 2;
constexpr unsigned kSpeaksFlag = 4;
constexpr unsigned kCountedFlag = 8;

/// `IN-FORCE REQUESTED EVER-HEARD BORN-BEFORE OTHERS`
std::string text_of_order(const core::PortState& port) {
  return fmt::format("{} {} {:d} {} {}", static_cast<unsigned>(port.in_force), port.requested,
                     port.ever_heard, port.born_before, port.others ? word_of(*port.others) : "-");
}

bool parse_order(std::string_view text, core::PortState& port) {
  const auto in_force = parse_number(next_word(text), kOrders - 1);
  const auto requested = parse_number(next_word(text), (1U << kOrders) - 1);
  const auto ever_heard = parse_number(next_word(text), 1U);
  const auto born = parse_number<std::uint64_t>(next_word(text), ~std::uint64_t{});
  const std::string_view others = next_word(text);
  if (!in_force || !requested || !ever_heard || !born || !text.empty()) return false;
  if (others != "-" && !(port.others = parse_rank(others))) return false;
  port.in_force = static_cast<Order>(*in_force);
  port.requested = static_cast<std::uint8_t>(*requested);
  port.ever_heard = *ever_heard != 0;
  port.born_before = *born;
  return true;
}

/// `AGENT CHASSIS BELIEF BIRTH BOOT SESSION SEQUENCE BOUND FLAGS ACKNOWLEDGED`
std::string text_of(const core::KnownAgent& v) {
  const unsigned flags = (v.host ? kHostFlag : 0) | (v.heard ? kHeardFlag : 0) |
                         (v.speaks ? kSpeaksFlag : 0) | (v.counted ? kCountedFlag : 0);
  return fmt::format("{:016x} {} {} {} {} {} {} {} {} {}", v.agent,
                     v.chassis.octets.empty() ? "-" : word_of(v.chassis), word_of(v.belief),
                     v.birth, v.boot, v.session, v.sequence, word_of(v.bound), flags,
                     v.acknowledged);
}

bool parse_agent(std::string_view text, core::PortState& port) {
  constexpr std::uint32_t kAny = ~std::uint32_t{};
  const auto agent = parse_number<std::uint64_t>(next_word(text), ~std::uint64_t{}, 16);
  const std::string_view chassis = next_word(text);
  const auto belief = parse_rank(next_word(text));
  const auto birth = parse_number<std::uint64_t>(next_word(text), ~std::uint64_t{});
  const auto boot = parse_number<std::uint32_t>(next_word(text), kAny);
  const auto session = parse_number<std::uint32_t>(next_word(text), kAny);
  const auto sequence = parse_number<std::uint32_t>(next_word(text), kAny);
  const auto bound = parse_rank(next_word(text));
  const auto flags = parse_number(next_word(text), 15U);
  const auto acknowledged = parse_number<std::uint32_t>(next_word(text), kAny);
  if (!agent || *agent == 0 || !belief || !birth || !boot || !session || !sequence || !bound ||
      !flags || !acknowledged || !text.empty() ||
      port.agents.size() >= core::PortOrder::kMostAgents)
    return false;
  core::KnownAgent v{.agent = *agent,
                     .belief = *belief,
                     .birth = *birth,
                     .boot = *boot,
                     .session = *session,
                     .sequence = *sequence,
                     .bound = *bound,
                     .host = (*flags & kHostFlag) != 0,
                     .heard = (*flags & kHeardFlag) != 0,
                     .speaks = (*flags & kSpeaksFlag) != 0,
                     .counted = (*flags & kCountedFlag) != 0,
                     .acknowledged = *acknowledged};
  if (chassis != "-") {
    auto id = parse_chassis_id(spaced(chassis));
    if (!id) return false;
    v.chassis = std::move(*id);
  }
  port.agents.push_back(std::move(v));
  return true;
}

/// What a line of the file says, into the state. False if it is not understood.
bool take_line(std::string_view key, std::string_view value, core::State& state, std::string& boot,
               std::chrono::seconds epoch) {
  if (key == "chassis-id" && !state.chassis_id) {
    state.chassis_id = parse_chassis_id(value);
    return state.chassis_id.has_value();
  }
  if (key == "level" && !state.level) {
    const auto level = parse_number(value, unsigned{Level::kMax});
    if (level) state.level = Level::make(*level);
    return level.has_value();
  }
  if (key == "supported") {
    const auto seconds = parse_number<std::uint32_t>(value, ~std::uint32_t{});
    if (seconds) state.supported = std::chrono::seconds(*seconds);
    return seconds.has_value();
  }
  if (key == "classes" && state.classes.empty()) {
    auto classes = qos::parse_chains(value);
    if (!classes || classes->empty() || value.find('>') == value.npos) return false;
    state.classes = std::move(*classes);
    return true;
  }
  if (key == "near") {
    const auto hash = parse_number<std::uint64_t>(value, ~std::uint64_t{}, 16);
    if (!hash || state.surroundings.size() >= kMostSurroundings) return false;
    state.surroundings.push_back(*hash);
    return true;
  }
  if (key == "agent" && state.agent == 0) {
    const auto id = parse_number<std::uint64_t>(value, ~std::uint64_t{}, 16);
    if (id) state.agent = *id;
    return id && *id != 0;
  }
  if (key == "rank-id" && !state.rank_id) {
    state.rank_id = parse_chassis_id(value);
    return state.rank_id.has_value();
  }
  if (key == "start") {
    const auto start = parse_number<std::uint32_t>(value, ~std::uint32_t{});
    if (start) state.boot = *start;
    return start.has_value();
  }
  if (key == "rank" || key == "bound") {
    const auto rank = parse_rank(value);
    if (rank) (key == "rank" ? state.rank : state.bound) = *rank;
    return rank.has_value();
  }
  if (key == "births") {
    const auto births = parse_number<std::uint64_t>(value, ~std::uint64_t{});
    if (births) state.births = *births;
    return births.has_value();
  }
  if (key == "lost" && value == "yes") return state.lost = true;
  if (key == "order") return !state.ports.empty() && parse_order(value, state.ports.back());
  if (key == "knows") return !state.ports.empty() && parse_agent(value, state.ports.back());
  // An older agent wrote these two: what it knew of the order is not known any more.
  if (key == "place") return parse_position(value).has_value();
  if (key == "ports" && value == "learning") return true;
  if (key == "role" && !state.role && (value == "host" || value == "switch")) {
    state.role = value == "host" ? Role::kHost : Role::kSwitch;
    return true;
  }
  if (key == "location" && state.location.empty()) {
    const auto tiers = parse_tiers(value);
    if (tiers) state.location = core::tiers_of(*tiers);
    return tiers.has_value();
  }
  if (key == "location-until" && !state.location_until) {
    const auto seconds = parse_number<std::uint32_t>(value, ~std::uint32_t{});
    if (seconds) state.location_until = TimePoint(std::chrono::seconds(*seconds) - epoch);
    return seconds.has_value();
  }
  if (key == "boot" && boot.empty()) {
    boot = value;
    return !boot.empty();
  }
  if (key == "port") {
    auto port = parse_port(value);
    if (port) state.ports.push_back(std::move(*port));
    return port.has_value();
  }
  return false;
}

/// Nothing is wrong with the file: the process or the machine lacks something at the moment.
bool passes(int code) {
  return code == EMFILE || code == ENFILE || code == ENOMEM || code == EINTR;
}

Error cannot(std::string_view verb, const std::string& path, int code) {
  std::string what = "cannot be " + std::string(verb) + ": " + std::strerror(code);
  if (code == EACCES)  // for root too, which has no capability to go past that
    what += ": it and its directory must belong to the user that the daemon runs as";
  return {code, path, std::move(what)};
}

/// The boot ID of the machine: the kernel's counters are of one boot. Empty: not known.
Result<std::string> this_boot() {
  auto id = boot_id();
  if (!id && !passes(id.error().code)) return std::string();
  return id;
}
/// When the agent's clock stood at 0, for what is to end while the machine is off, too.
std::chrono::seconds epoch() {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::floor<std::chrono::seconds>(wall - boot_time().time_since_epoch());
}

Result<std::string> read_whole(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return fail(cannot("read", path, errno));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return fail(cannot("read", path, errno));
  const auto octets = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
  std::string text(std::min(octets, kMaxSize) + 1, '\0');  // one more than there is
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t n = ::read(fd.get(), text.data() + size, text.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(cannot("read", path, errno));
    if (n == 0) break;
    size += static_cast<std::size_t>(n);
  }
  text.resize(size);
  return text;
}

/// 0 or an errno.
int write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

/// So that it is not written over. The error and what became of it.
Error set_aside(const std::string& path, Error why) {
  const std::string aside = damaged_name(path);
  why.what += ::rename(path.c_str(), aside.c_str()) == 0
                  ? ": set aside as " + aside + ", the level is learned anew"
                  : ": it cannot be set aside (" + std::string(std::strerror(errno)) +
                        "): remove it; the level is learned anew";
  return why;
}

std::string fresh_name(const std::string& path) { return path + ".new"; }
std::string sync_name(const std::string& path) { return path + ".sync"; }

}  // namespace

std::string format_state(const core::State& state, std::string_view boot,
                         std::chrono::seconds epoch) {
  std::string out(kHeading);
  out.append(kVersion);
  const auto line = [&out](std::string_view key, std::string_view value) {
    out.append("\n").append(key).append(" ").append(value);
  };
  if (state.chassis_id) line("chassis-id", text_of(*state.chassis_id));
  if (state.role) line("role", to_string(*state.role));
  if (state.level) line("level", std::to_string(state.level->value()));
  if (const auto s = std::chrono::duration_cast<std::chrono::seconds>(state.supported).count();
      s > 0)
    line("supported", std::to_string(s));
  if (state.agent != 0) {
    line("agent", fmt::format("{:016x}", state.agent));
    if (state.rank_id) line("rank-id", text_of(*state.rank_id));
    line("start", std::to_string(state.boot));
    line("rank", word_of(state.rank));
    line("bound", word_of(state.bound));
    line("births", std::to_string(state.births));
    if (state.lost) line("lost", "yes");
  }
  if (const std::string location = core::octets_of(state.location); !location.empty())
    line("location", to_hex(as_octets(location)));
  if (state.location_until) {
    const auto until = std::chrono::floor<std::chrono::seconds>(*state.location_until);
    line("location-until", std::to_string(static_cast<std::uint32_t>(std::clamp<std::int64_t>(
                               (until.time_since_epoch() + epoch).count(), 0, ~std::uint32_t{}))));
  }
  if (!state.classes.empty()) line("classes", qos::to_string(state.classes));
  for (const std::uint64_t hash : state.surroundings) line("near", fmt::format("{:016x}", hash));
  if (!boot.empty()) line("boot", boot);
  for (const core::PortState& port : state.ports) {
    line("port", text_of(port));
    line("order", text_of_order(port));
    for (const core::KnownAgent& v : port.agents) line("knows", text_of(v));
  }
  out += '\n';
  out += kLastLine;
  out += '\n';
  return out;
}

Result<core::State> parse_state(std::string_view text, std::string_view this_boot,
                                std::chrono::seconds epoch) {
  core::State state;
  std::string boot;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    if (end == text.npos) return fail(damaged(line, "is torn"));
    const std::string_view content = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line == 1) {
      const bool old =
          content == std::string(kHeading) + "1" || content == std::string(kHeading) + "2";
      if (!old && content != std::string(kHeading) + std::string(kVersion))
        return fail(
            damaged(line, "is not '" + std::string(kHeading) + std::string(kVersion) + "'"));
      continue;
    }
    if (content == kLastLine) {
      if (!text.empty()) return fail(damaged(line + 1, "stands after the end"));
      if (boot.empty() || boot != this_boot)
        for (core::PortState& port : state.ports) port.carrier_changes.reset();
      return state;
    }
    std::string_view value = content;
    const std::string_view key = next_word(value);
    if (!take_line(key, value, state, boot, epoch)) return fail(damaged(line, "is not understood"));
  }
  return fail(Error{.where = "the end", .what = "is missing"});
}

Result<core::State> load_state(const std::string& path) {
  const auto boot = this_boot();
  if (!boot) return fail(boot.error());
  // What was written and not made durable is the newest there is, if it is whole.
  for (const std::string& name : {fresh_name(path), sync_name(path)}) {
    const auto fresh = read_whole(name);
    if (fresh) {
      if (auto state = parse_state(*fresh, *boot, epoch())) return state;
    } else if (passes(fresh.error().code)) {
      return fail(fresh.error());
    }
  }
  const auto text = read_whole(path);
  if (!text && text.error().code == ENOENT) return core::State{};
  if (!text && passes(text.error().code)) return fail(text.error());
  if (!text) return fail(set_aside(path, text.error()));
  auto state = parse_state(*text, *boot, epoch());
  if (state) return state;
  return fail(set_aside(
      path,
      {.where = path, .what = "damaged (" + state.error().where + " " + state.error().what + ")"}));
}

std::string damaged_name(const std::string& path) { return path + ".corrupt"; }

bool is_gone(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) != 0 && errno == ENOENT;
}

bool is_state_gone(const std::string& path) {
  // In the order in which one takes the place of the next: none is missed that is just moved.
  return is_gone(fresh_name(path)) && is_gone(sync_name(path)) && is_gone(path);
}

bool is_passing(const Error& error) { return passes(error.code); }

Result<std::string> state_text(const core::State& state) {
  const auto boot = this_boot();
  if (!boot) return fail(boot.error());
  return format_state(state, *boot, epoch());
}

Result<void> write_state(const std::string& path, std::string_view text) {
  // What was written before may not be durable yet, and was told: it stands until this is whole.
  const std::string part = path + ".part";
  // O_TRUNC: what an interrupted save left there is of no use. O_NOFOLLOW: nor is a link.
  const UniqueFd fd(
      ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd) return fail(cannot("written", path, errno));
  int code = write_whole(fd.get(), text);
  if (code == 0 && ::rename(part.c_str(), fresh_name(path).c_str()) != 0) code = errno;
  if (code == 0) return {};
  ::unlink(part.c_str());
  return fail(cannot("written", path, code));
}

Result<void> commit_state(const std::string& path, bool may_be_kept) {
  const std::string sync = sync_name(path);
  const auto give_up = [&](const char* what) {
    const int code = errno;
    ::unlink(sync.c_str());
    return fail(cannot(what, path, code));
  };
  // Set aside first: what is written meanwhile is not what the disk is asked to keep.
  if (::rename(fresh_name(path).c_str(), sync.c_str()) != 0) {
    if (may_be_kept && errno == ENOENT) return {};
    return fail(cannot("written", path, errno));
  }
  const UniqueFd written(::open(sync.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!written || ::fsync(written.get()) != 0) return give_up("written");
  if (::rename(sync.c_str(), path.c_str()) != 0) return give_up("replaced");
  const std::size_t slash = path.rfind('/');
  const std::string directory =
      slash == path.npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
  const UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return fail(cannot("made durable", path, errno));
  return {};
}

}  // namespace lldp::io
