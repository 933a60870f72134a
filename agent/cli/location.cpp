// SPDX-License-Identifier: Apache-2.0
#include "agent/report/location.hpp"

#include <cstdio>

#include "agent/cli/ask.hpp"
#include "agent/cli/command.hpp"
#include "agent/cli/terminal.hpp"

namespace lldp::cli {
namespace {

/// No interface has this name: the question is about the device alone.
constexpr std::string_view kNoPort = "/";

Result<report::LabelKeys> label_keys(const Arguments& arguments) {
  if (!arguments.labels && (arguments.prefix || arguments.first))
    return fail(usage_error("--prefix and --first go with --labels"));
  report::LabelKeys keys;
  if (arguments.prefix) keys.prefix = *arguments.prefix;
  keys.first = arguments.first.value_or(keys.first);
  if (!report::can_begin_a_key(keys.prefix))
    return fail(
        usage_error("--prefix takes what the key of a label may begin with: [DOMAIN/]NAME, "
                    "a NAME of letters, digits, '-', '_' and '.', at most 60 long"));
  return keys;
}

Result<std::string> text_of(const Arguments& arguments, const report::LabelKeys& keys) {
  const auto show = ask(arguments, "org.lldplevel.Show", {std::string(kNoPort)});
  if (!show) return fail(show.error());
  if (arguments.json) return report::location_json(*show);
  return arguments.labels ? report::location_labels(*show, keys) : report::location_text(*show);
}

}  // namespace

Result<int> location(const Arguments& arguments) {
  if (arguments.json && arguments.labels)
    return fail(usage_error("--json and --labels contradict"));
  const auto keys = label_keys(arguments);
  if (!keys) return fail(keys.error());
  const auto text = text_of(arguments, *keys);
  if (text && text->empty())
    return fail(Error{.where = "location",
                      .what = "not known: no switch that tells its location has been heard: see "
                              "lldp-level show"});
  // 1 says that there is none; that it could not be read or printed is another matter.
  const auto printed = text ? print(*text) : Result<void>(fail(text.error()));
  if (printed) return kDone;
  std::fprintf(stderr, "lldp-level: %s\n", to_string(printed.error()).c_str());
  return kNoDaemon;
}

}  // namespace lldp::cli
