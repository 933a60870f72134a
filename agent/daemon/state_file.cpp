// SPDX-License-Identifier: Apache-2.0
#include "agent/daemon/state_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "base/text.hpp"
#include "os/fd.hpp"

namespace lldp::io {
namespace {

constexpr std::string_view kFirstLine = "lldp-level-state 1";
constexpr std::string_view kLastLine = "end";
constexpr std::size_t kMaxSize = 4096;  // a chassis ID has at most 255 octets

Error damaged(int line, std::string what) {
  return {.where = "line " + std::to_string(line), .what = std::move(what)};
}

/// A decimal number of at most `most`, and nothing else.
std::optional<unsigned> parse_number(std::string_view text, unsigned most) {
  unsigned v = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, v);
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
  const auto subtype = parse_number(text.substr(0, space), 255);
  auto octets = parse_hex(text.substr(space + 1));
  if (!subtype || !octets || octets->empty() || octets->size() > 255) return std::nullopt;
  ChassisId id;
  id.subtype = static_cast<std::uint8_t>(*subtype);
  id.octets = std::move(*octets);
  return id;
}

Error cannot(std::string_view verb, const std::string& path, int code) {
  std::string what = "cannot be " + std::string(verb) + ": " + std::strerror(code);
  if (code == EACCES)  // for root too, which has no capability to go past that
    what += ": it and its directory must belong to the user that the daemon runs as";
  return {code, path, std::move(what)};
}

Result<std::string> read_whole(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return fail(cannot("read", path, errno));
  std::string text(kMaxSize + 1, '\0');  // one more than a sound file has
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

/// Writes and waits for the disk; 0 or an errno.
int write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return ::fsync(fd) == 0 ? 0 : errno;
}

}  // namespace

std::string format_state(const core::State& state) {
  std::string out(kFirstLine);
  if (state.chassis_id)
    out += "\nchassis-id " + std::to_string(state.chassis_id->subtype) + " " +
           to_hex(as_octets(state.chassis_id->octets));
  if (state.level) out += "\nlevel " + std::to_string(state.level->value());
  out += '\n';
  out += kLastLine;
  out += '\n';
  return out;
}

Result<core::State> parse_state(std::string_view text) {
  core::State state;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    if (end == text.npos) return fail(damaged(line, "is torn"));
    const std::string_view content = text.substr(0, end);
    text.remove_prefix(end + 1);
    const std::size_t space = std::min(content.find(' '), content.size());
    const std::string_view key = content.substr(0, space);
    const std::string_view value = content.substr(std::min(space + 1, content.size()));
    if (line == 1) {
      if (content != kFirstLine)
        return fail(damaged(line, "is not '" + std::string(kFirstLine) + "'"));
    } else if (key == "chassis-id" && !state.chassis_id) {
      state.chassis_id = parse_chassis_id(value);
      if (!state.chassis_id) return fail(damaged(line, "holds no chassis ID"));
    } else if (key == "level" && !state.level) {
      const auto level = parse_number(value, Level::kMax);
      if (!level) return fail(damaged(line, "holds no level"));
      state.level = Level::make(*level);
    } else if (content == kLastLine) {
      if (!text.empty()) return fail(damaged(line + 1, "stands after the end"));
      return state;
    } else {
      return fail(damaged(line, "is not understood"));
    }
  }
  return fail(Error{.where = "the end", .what = "is missing"});
}

Result<core::State> load_state(const std::string& path) {
  const auto text = read_whole(path);
  if (!text) {
    if (text.error().code == ENOENT) return core::State{};
    return fail(text.error());
  }
  auto state = parse_state(*text);
  if (state) return state;
  const std::string aside = path + ".corrupt";
  std::string what = "damaged (" + state.error().where + " " + state.error().what + "): ";
  what += ::rename(path.c_str(), aside.c_str()) == 0
              ? "set aside as " + aside + ", the level is learned anew"
              : "it cannot be set aside (" + std::string(std::strerror(errno)) +
                    "): remove it; the level is learned anew";
  return fail(Error{.where = path, .what = std::move(what)});
}

Result<void> save_state(const std::string& path, const core::State& state) {
  const std::string fresh = path + ".new";
  {
    // O_TRUNC: what an interrupted save left there is of no use. O_NOFOLLOW: nor is a link.
    const UniqueFd fd(
        ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!fd) return fail(cannot("written", path, errno));
    if (const int code = write_whole(fd.get(), format_state(state)); code != 0) {
      ::unlink(fresh.c_str());
      return fail(cannot("written", path, code));
    }
  }
  if (::rename(fresh.c_str(), path.c_str()) != 0) {
    const int code = errno;
    ::unlink(fresh.c_str());
    return fail(cannot("replaced", path, code));
  }
  const std::size_t slash = path.rfind('/');
  const std::string directory =
      slash == path.npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
  const UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return fail(cannot("made durable", path, errno));
  return {};
}

}  // namespace lldp::io
