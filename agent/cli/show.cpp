// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <optional>

#include "agent/cli/ask.hpp"
#include "agent/cli/command.hpp"
#include "agent/cli/terminal.hpp"
#include "agent/report/detail.hpp"
#include "agent/report/filter.hpp"
#include "agent/report/formats.hpp"
#include "agent/report/lldpctl.hpp"
#include "agent/report/oui.hpp"
#include "agent/report/text.hpp"
#include "base/text.hpp"

namespace lldp::cli {
namespace {

/// What of the daemon's answer is printed, and how.
struct View {
  bool detail = false;
  bool sent = false;
  std::string format{"table"};
  std::optional<report::LldpctlFormat> lldpctl{};
  std::optional<report::ShowFilter> filter{};
  std::vector<std::string> ports{};
};

Result<View> view_of(const Arguments& arguments) {
  View view{.ports = arguments.operands};
  if (!view.ports.empty() && view.ports.front() == "detail") {
    view.detail = true;
    view.ports.erase(view.ports.begin());
  }
  view.sent = arguments.sent;
  if (view.sent && (view.detail || arguments.json || !arguments.format.empty() ||
                    !arguments.as.empty() || arguments.filter))
    return fail(usage_error("--sent stands alone: `show detail --json` has the same as `sends`"));
  if (arguments.json && !arguments.format.empty() && arguments.format != "json")
    return fail(usage_error("--json and --format " + escape(arguments.format) + " contradict"));
  if (arguments.json) view.format = "json";
  if (!arguments.format.empty()) view.format = arguments.format;
  constexpr std::string_view kFormats[] = {"table", "json", "keyvalue", "csv"};
  if (std::ranges::find(kFormats, view.format) == std::end(kFormats))
    return fail(usage_error("--format takes table, json, keyvalue or csv"));
  if (!arguments.as.empty()) {
    constexpr std::string_view kNames[] = {"lldpctl-plain", "lldpctl-keyvalue", "lldpctl-json",
                                           "lldpctl-json0", "lldpctl-xml"};
    const auto at = std::ranges::find(kNames, arguments.as);
    if (at == std::end(kNames))
      return fail(
          usage_error("--as takes lldpctl-plain, lldpctl-keyvalue, lldpctl-json, lldpctl-json0 or "
                      "lldpctl-xml"));
    if (arguments.json || !arguments.format.empty())
      return fail(usage_error("--as is a format of its own: leave out --json and --format"));
    view.lldpctl = static_cast<report::LldpctlFormat>(at - std::begin(kNames));
  }
  if (arguments.filter) {
    auto filter = report::ShowFilter::parse(*arguments.filter);
    if (!filter) return fail(usage_error("--filter: " + filter.error().what));
    view.filter = std::move(*filter);
  }
  return view;
}

Result<std::string> render(const View& view, std::string answer) {
  if (view.lldpctl) return report::as_lldpctl(answer, *view.lldpctl);
  if (view.sent) return report::sent_text(answer, terminal_style(), report::oui_owner);
  if (view.format == "csv") return report::csv(answer);
  if (view.format == "table")
    return view.detail ? report::detail_text(answer, terminal_style(), report::oui_owner)
                       : report::show_text(answer, terminal_style());
  if (view.detail) {
    auto whole = report::with_tlvs(answer, report::oui_owner);
    if (!whole) return whole;
    answer = std::move(*whole);
  }
  if (view.format == "keyvalue") return report::keyvalue(answer);
  return answer + "\n";
}

}  // namespace

Result<int> show(const Arguments& arguments) {
  const auto view = view_of(arguments);
  if (!view) return fail(view.error());
  auto answer = ask(
      arguments,
      view->detail || view->sent || view->lldpctl ? "org.lldplevel.Detail" : "org.lldplevel.Show",
      view->ports);
  if (!answer) return fail(answer.error());
  const auto missing = not_there(view->ports, *answer);
  if (!missing) return fail(missing.error());
  if (!missing->empty() && missing->size() == view->ports.size())
    return fail(no_such_ports(*missing));
  if (view->filter) answer = view->filter->apply(*answer);
  if (!answer) return fail(answer.error());
  const auto text = render(*view, std::move(*answer));
  if (!text) return fail(text.error());
  if (const auto printed = print(*text); !printed) return fail(printed.error());
  if (!missing->empty()) return fail(no_such_ports(*missing));
  return kDone;
}

}  // namespace lldp::cli
