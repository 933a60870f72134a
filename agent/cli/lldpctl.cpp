// SPDX-License-Identifier: Apache-2.0
// lldp-level under the name of lldpctl or lldpcli, for programs that run those.
#include "agent/report/lldpctl.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "agent/cli/ask.hpp"
#include "agent/cli/command.hpp"
#include "agent/cli/lldpctl.hpp"
#include "agent/cli/terminal.hpp"
#include "agent/config/config.hpp"
#include "base/text.hpp"

namespace lldp::cli {
namespace {

using report::LldpctlDetail;
using report::LldpctlFormat;

struct Request {
  bool chassis = false;
  LldpctlDetail detail = LldpctlDetail::kNormal;
  LldpctlFormat format = LldpctlFormat::kPlain;
  std::vector<std::string> ports{};
  Arguments arguments{};
};

constexpr std::string_view kHelp =
    "usage: lldpctl [-f FORMAT] [-u SOCKET] [INTERFACE...]\n"
    "       lldpcli [-f FORMAT] [-u SOCKET] show neighbors [details|summary] [ports LIST]\n"
    "       lldpcli [-f FORMAT] [-u SOCKET] show chassis [details|summary]\n\n"
    "The answers of lldp-leveld as lldpd's client prints them.\n\n"
    "  -f FORMAT  plain, keyvalue, json, json0 or xml [plain]\n"
    "  -u SOCKET  control socket of lldp-leveld\n"
    "  -v         the version\n"
    "  -h         this text\n\n"
    "See lldpctl(8) and lldp-level(1).\n";

Result<LldpctlFormat> format_of(std::string_view name) {
  constexpr std::pair<std::string_view, LldpctlFormat> kFormats[] = {
      {"plain", LldpctlFormat::kPlain},
      {"keyvalue", LldpctlFormat::kKeyvalue},
      {"json", LldpctlFormat::kJson},
      {"json0", LldpctlFormat::kJson0},
      {"xml", LldpctlFormat::kXml}};
  const auto* const at =
      std::ranges::find(kFormats, name, &std::pair<std::string_view, LldpctlFormat>::first);
  if (at == std::end(kFormats))
    return fail(Error{.where = "-f " + escape(name),
                      .what = "the formats are plain, keyvalue, json, json0 and xml"});
  return at->second;
}

/// The one of `all` that `word` abbreviates, as lldpcli takes its words.
std::optional<std::string_view> whole_word(std::string_view word,
                                           std::initializer_list<std::string_view> all) {
  std::optional<std::string_view> found;
  for (const std::string_view one : all) {
    if (one == word) return one;
    if (!one.starts_with(word)) continue;
    if (found) return std::nullopt;
    found = one;
  }
  return found;
}

Error not_answered(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + escape(word);
  return Error{.where = text.empty() ? "lldpcli" : text,
               .what =
                   "lldp-leveld answers only `show neighbors` and `show chassis` for lldpd: "
                   "see lldp-level --help for its own commands, and install lldpd where its "
                   "configuration is needed"};
}

Result<void> read_words(const std::vector<std::string>& words, Request& request) {
  if (words.size() < 2) return fail(not_answered(words));
  if (whole_word(words[0], {"configure", "unconfigure", "complete", "exit", "help", "pause",
                            "resume", "show", "update", "watch"}) != "show")
    return fail(not_answered(words));
  const auto what = whole_word(words[1], {"neighbors", "interfaces", "chassis", "statistics",
                                          "configuration", "running-configuration"});
  if (what != "neighbors" && what != "chassis") return fail(not_answered(words));
  request.chassis = what == "chassis";
  for (std::size_t i = 2; i < words.size(); ++i) {
    const auto word = whole_word(words[i], {"details", "summary", "hidden", "ports", "protocol"});
    if (word == "details") {
      request.detail = LldpctlDetail::kDetails;
    } else if (word == "summary") {
      request.detail = LldpctlDetail::kSummary;
    } else if (word == "ports" && !request.chassis && i + 1 < words.size()) {
      for (std::string& port : split_list(words[++i])) request.ports.push_back(std::move(port));
    } else if (word != "hidden" || request.chassis) {  // no neighbor is hidden here
      return fail(not_answered(words));
    }
  }
  return {};
}

Result<int> answer(const Request& request) {
  const auto heard = ask(request.arguments, "org.lldplevel.Detail", request.ports);
  if (!heard) return fail(heard.error());
  const auto text = request.chassis
                        ? report::chassis_as_lldpctl(*heard, request.format, request.detail)
                        : report::as_lldpctl(*heard, request.format, request.detail);
  if (!text) return fail(text.error());
  if (const auto printed = print(*text); !printed) return fail(printed.error());
  return kDone;
}

}  // namespace

std::optional<std::string_view> lldpd_client_name(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  return name == "lldpctl" || name == "lldpcli" ? std::optional(name) : std::nullopt;
}

Result<int> run_as_lldpd_client(std::string_view name, int argc, char** argv) {
  Request request;
  request.arguments.socket = std::string(config::kDefaultSocket);
  const auto show = [](std::string_view text) -> Result<int> {
    if (const auto printed = print(text); !printed) return fail(printed.error());
    return kDone;
  };
  opterr = 0;
  for (int option = 0; (option = ::getopt(argc, argv, "hdvsf:u:")) != -1;) {
    switch (option) {
      case 'h':
        return show(kHelp);
      case 'v':
        return show("lldp-level " LLDP_VERSION "\n");
      case 'd':
      case 's':
        break;  // lldpd's client says more, or less, on standard error
      case 'f': {
        const auto format = format_of(optarg);
        if (!format) return fail(format.error());
        request.format = *format;
        break;
      }
      case 'u':
        request.arguments.socket = optarg;
        break;
      default:
        return fail(Error{.where = "-" + escape(std::string(1, static_cast<char>(optopt))),
                          .what = "unknown, or its value is missing: try -h"});
    }
  }
  const std::vector<std::string> words(argv + optind, argv + argc);
  if (name == "lldpctl") {
    request.detail = LldpctlDetail::kDetails;
    request.ports = words;
  } else if (const auto read = read_words(words, request); !read) {
    return fail(read.error());
  }
  return answer(request);
}

}  // namespace lldp::cli
