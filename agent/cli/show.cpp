// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <optional>

#include "agent/cli/ask.hpp"
#include "agent/cli/command.hpp"
#include "agent/cli/terminal.hpp"
#include "agent/report/filter.hpp"
#include "agent/report/formats.hpp"
#include "agent/report/text.hpp"
#include "base/text.hpp"

namespace lldp::cli {
namespace {

/// What of the daemon's answer is printed, and how.
struct View {
  std::string format{"table"};
  std::optional<report::Filter> filter{};
};

Result<View> view_of(const Arguments& arguments) {
  View view;
  if (arguments.json && !arguments.format.empty() && arguments.format != "json")
    return fail(usage_error("--json and --format " + escape(arguments.format) + " contradict"));
  if (arguments.json) view.format = "json";
  if (!arguments.format.empty()) view.format = arguments.format;
  constexpr std::string_view kFormats[] = {"table", "json", "keyvalue", "csv"};
  if (std::ranges::find(kFormats, view.format) == std::end(kFormats))
    return fail(usage_error("--format takes table, json, keyvalue or csv"));
  if (!arguments.filter.empty()) {
    auto filter = report::Filter::parse(arguments.filter);
    if (!filter) return fail(usage_error("--filter: " + filter.error().what));
    view.filter = std::move(*filter);
  }
  return view;
}

Result<std::string> render(const View& view, const std::string& answer) {
  if (view.format == "csv") return report::csv(answer);
  if (view.format == "table") return report::show_text(answer, terminal_style());
  if (view.format == "keyvalue") return report::keyvalue(answer);
  return answer + "\n";
}

}  // namespace

Result<int> show(const Arguments& arguments) {
  const auto view = view_of(arguments);
  if (!view) return fail(view.error());
  auto answer = ask(arguments, "org.lldplevel.Show", arguments.operands);
  if (!answer) return fail(answer.error());
  const auto missing = not_there(arguments.operands, *answer);
  if (!missing) return fail(missing.error());
  if (!missing->empty() && missing->size() == arguments.operands.size())
    return fail(no_such_ports(*missing));
  if (view->filter) answer = view->filter->apply(*answer);
  if (!answer) return fail(answer.error());
  const auto text = render(*view, *answer);
  if (!text) return fail(text.error());
  if (const auto printed = print(*text); !printed) return fail(printed.error());
  if (!missing->empty()) return fail(no_such_ports(*missing));
  return kDone;
}

}  // namespace lldp::cli
