// SPDX-License-Identifier: Apache-2.0
#include "agent/report/location.hpp"

#include "agent/cli/ask.hpp"
#include "agent/cli/command.hpp"
#include "agent/cli/terminal.hpp"

namespace lldp::cli {
namespace {

/// No interface is called so: what is asked for is the device alone.
constexpr std::string_view kNoPort = "/";

}  // namespace

Result<int> location(const Arguments& arguments) {
  if (arguments.json && arguments.labels)
    return fail(usage_error("--json and --labels contradict"));
  const auto show = ask(arguments, "org.lldplevel.Show", {std::string(kNoPort)});
  if (!show) return fail(show.error());
  const auto text = arguments.json     ? report::location_json(*show)
                    : arguments.labels ? report::location_labels(*show)
                                       : report::location_text(*show);
  if (!text) return fail(text.error());
  if (text->empty())
    return fail(Error{.where = "location",
                      .what = "nothing is known: no switch that tells where it stands has been "
                              "heard: see lldp-level show"});
  if (const auto printed = print(*text); !printed) return fail(printed.error());
  return kDone;
}

}  // namespace lldp::cli
