// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agent/cli/ask.hpp"
#include "agent/cli/capture.hpp"
#include "agent/cli/command.hpp"
#include "agent/cli/terminal.hpp"
#include "agent/control/connection.hpp"

namespace lldp::cli {
namespace {

using json = nlohmann::ordered_json;

/// RFC 4648 section 4; nullopt for anything else.
std::optional<Bytes> from_base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  Bytes out;
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::uint32_t group = 0;
    for (std::size_t j = i; j < i + 4; ++j) {
      const std::size_t digit = j + padding < text.size() ? kDigits.find(text[j]) : 0;
      if (digit == kDigits.npos) return std::nullopt;
      group = group << 6U | static_cast<std::uint32_t>(digit);
    }
    for (const unsigned shift : {16U, 8U, 0U})
      out.push_back(static_cast<std::uint8_t>(group >> shift));
  }
  out.resize(out.size() - padding);
  return out;
}

struct Seen {
  CaptureTime time{};
  Bytes frame{};
  std::uint64_t dropped = 0;
};

std::optional<Seen> parse_seen(const std::string& answer) {
  try {
    const json seen = json::parse(answer);
    auto frame = from_base64(seen.at("frame").get<std::string>());
    if (!frame) return std::nullopt;
    return Seen{.time = CaptureTime(seen.at("time").get<std::int64_t>()),
                .frame = std::move(*frame),
                .dropped = seen.value("dropped", std::uint64_t{0})};
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

/// Where lldpd speaks, no frame passes the daemon.
void tell_of_lldpd(const std::string& socket) {
  auto connection = control::Connection::open(socket);
  if (!connection) return;
  const auto answer = connection->ask("org.lldplevel.Show", R"({"ports":["none"]})",
                                      std::chrono::steady_clock::now() + control::kPatience);
  if (answer && answer->find(R"("transport":"lldpd")") != answer->npos)
    std::fprintf(stderr,
                 "lldp-level: lldpd speaks, and its frames are not seen here: tcpdump -i "
                 "PORT ether proto 0x88cc sees them\n");
}

}  // namespace

Result<int> record(const Arguments& arguments) {
  const std::string& path = arguments.operands.front();
  auto connection = control::Connection::open(arguments.socket);
  if (!connection) return fail(connection.error());
  const std::vector<std::string> ports(arguments.operands.begin() + 1, arguments.operands.end());
  if (const auto there = all_there(arguments, ports); !there) return fail(there.error());
  if (auto asked = connection->call("org.lldplevel.Record", control::ports_parameter(ports), true);
      !asked)
    return fail(asked.error());
  // The first answer says that recording has begun: no empty file is made without it.
  if (auto begun = connection->next(std::chrono::steady_clock::now() + control::kPatience); !begun)
    return fail(begun.error());
  tell_of_lldpd(arguments.socket);
  auto file = CaptureWriter::open(path);
  if (!file) return fail(file.error());
  while (true) {
    if (path == "-" && !connection->has_next())
      if (const auto read = wait_while_read(connection->fd()); !read) return fail(read.error());
    const auto answer = connection->next();
    if (!answer) return fail(answer.error());
    const auto seen = parse_seen(*answer);
    if (!seen) {
      return fail(Error{.where = arguments.socket,
                        .what = "the answer is no frame: is the daemon of another version?"});
    }
    if (seen->dropped != 0) {
      std::fprintf(stderr,
                   "lldp-level: %s: %llu frames are not in it: they came faster than they could be "
                   "written\n",
                   path.c_str(), static_cast<unsigned long long>(seen->dropped));
    }
    if (auto written = file->write(seen->time, seen->frame); !written) return fail(written.error());
  }
}

}  // namespace lldp::cli
