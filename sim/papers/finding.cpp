// SPDX-License-Identifier: Apache-2.0
#include "sim/papers/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "lab/report/html.hpp"

namespace lldp::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 6> kNames{"",    "match", "direction-only",
                                                 "off", "holds", "fails"};

/// The rule, in the words that every output has.
constexpr std::string_view kRule =
    "match: within the tolerance of the published number (10 %, from the 99th percentile on 25 %, "
    "where the value has no other). direction-only: the ratio of two set-ups is on the published "
    "side of 1 and outside the tolerance. off: everything else. holds, fails: a statement without "
    "a number, with the test that it was put to.";

std::string test_text(const Statement& s) {
  switch (s.test) {
    case Statement::Test::kBelow:
      return fmt::format("below {:g}", s.bound);
    case Statement::Test::kAbove:
      return fmt::format("above {:g}", s.bound);
    case Statement::Test::kAbout:
      return fmt::format("{:g} within {:g} %", s.bound, 100 * kTolerance);
    case Statement::Test::kEqual:
      break;
  }
  return fmt::format("{:g}", s.bound);
}

std::string published_text(const Finding& f) {
  return f.published ? fmt::format("{:.4g}", f.published->value) : std::string();
}
std::string tolerance_text(const Finding& f) {
  return f.published ? fmt::format("{:g} %", 100 * f.published->tolerance) : std::string();
}
std::string off_text(const Finding& f) {
  if (!f.published || f.published->value == 0) return {};
  return fmt::format("{:+.1f} %", 100 * (f.ours / f.published->value - 1));
}
struct Range {
  double least = 0;
  double most = 0;
};
std::optional<Range> range_of(const Finding& f) {
  if (f.by_seed.empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(f.by_seed.begin(), f.by_seed.end());
  return Range{*least, *most};
}
std::string range_text(const Finding& f) {
  const auto range = range_of(f);
  return range ? fmt::format("{:.4g} to {:.4g}", range->least, range->most) : std::string();
}
/// `8 of 10`; empty where there is one seed, or no verdict.
std::string agreement_text(const Finding& f) {
  if (f.by_seed.empty() || f.verdict() == Verdict::kNone) return {};
  return fmt::format("{} of {}", f.seeds_that_agree(), f.by_seed.size());
}

bool to_explain(Verdict v) { return v == Verdict::kOff || v == Verdict::kFails; }
/// What a reason is shown of, where there is one.
bool has_reason(Verdict v) { return to_explain(v) || v == Verdict::kDirectionOnly; }

}  // namespace

std::string_view name_of(Verdict verdict) { return kNames[static_cast<std::size_t>(verdict)]; }

Verdict Finding::judge(double at, const Published& p) {
  const double distance = p.value == 0 ? (at == 0 ? 0 : 2) : std::abs(at / p.value - 1);
  if (distance <= p.tolerance) return Verdict::kMatch;
  return p.ratio && (at - 1) * (p.value - 1) > 0 ? Verdict::kDirectionOnly : Verdict::kOff;
}

bool Finding::holds(double at, const Statement& s) {
  switch (s.test) {
    case Statement::Test::kBelow:
      return at < s.bound;
    case Statement::Test::kAbove:
      return at > s.bound;
    case Statement::Test::kAbout:
      return std::abs(at / s.bound - 1) <= kTolerance;
    case Statement::Test::kEqual:
      break;
  }
  return at == s.bound;
}

Verdict Finding::verdict() const {
  if (published) return judge(ours, *published);
  if (statement) return holds(ours, *statement) ? Verdict::kHolds : Verdict::kFails;
  return Verdict::kNone;
}

std::size_t Finding::seeds_that_agree() const {
  const Verdict all = verdict();
  return static_cast<std::size_t>(std::count_if(by_seed.begin(), by_seed.end(), [&](double value) {
    Finding one = *this;
    one.ours = value;
    return one.verdict() == all;
  }));
}

Summary summary_of(std::string_view paper, const std::vector<Finding>& findings) {
  Summary s{.values = findings.size()};
  for (const Finding& f : findings) {
    const Verdict v = f.verdict();
    ++s.count[static_cast<std::size_t>(v)];
    if (!to_explain(v)) continue;
    if (explanation(paper, f))
      ++s.explained;
    else
      s.news.push_back(&f);
  }
  return s;
}

std::vector<Finding> merged(const std::vector<std::vector<Finding>>& by_seed) {
  std::vector<Finding> all;
  std::map<std::array<std::string, 3>, std::size_t> at;
  for (const auto& findings : by_seed)
    for (const Finding& f : findings) {
      const auto [known, fresh] = at.try_emplace({f.place, f.scenario, f.metric}, all.size());
      if (fresh) all.push_back(f);
      all[known->second].by_seed.push_back(f.ours);
    }
  for (Finding& f : all) {
    std::vector<double> sorted = f.by_seed;
    const auto unknown = std::ranges::find_if(sorted, [](double v) { return std::isnan(v); });
    const std::size_t n = sorted.size();
    if (unknown != sorted.end()) {
      f.ours = *unknown;
    } else {
      std::ranges::sort(sorted);
      f.ours = n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    }
    if (by_seed.size() == 1) f.by_seed.clear();
  }
  return all;
}

std::string readable(std::string metric) {
  std::replace(metric.begin(), metric.end(), '_', ' ');
  return metric;
}

std::string to_json_line(std::string_view paper, const Finding& f,
                         std::optional<std::uint64_t> seed) {
  Json j;
  if (seed) j["seed"] = *seed;
  j["place"] = f.place;
  Json row = Json::object();
  for (const auto& [name, value] : f.keys) row[name] = value;
  if (!f.scheme.empty()) row["scheme"] = f.scheme;
  if (row.empty()) row["scenario"] = f.scenario;
  j["row"] = std::move(row);
  j["metric"] = f.metric;
  j["ours"] = f.ours;
  if (const auto range = range_of(f)) {
    j["least"] = range->least;
    j["most"] = range->most;
    j["by_seed"] = f.by_seed;
  }
  j["published"] = f.published ? Json(f.published->value) : Json(nullptr);
  if (f.published) {
    j["tolerance"] = f.published->tolerance;
    if (!f.published->printed.empty()) j["printed"] = f.published->printed;
  }
  if (f.statement) {
    j["statement"] = f.statement->quote;
    j["holds_if"] = test_text(*f.statement);
  }
  const Verdict v = f.verdict();
  j["verdict"] = v == Verdict::kNone ? Json(nullptr) : Json(name_of(v));
  if (!f.by_seed.empty() && v != Verdict::kNone) j["seeds_that_agree"] = f.seeds_that_agree();
  if (const auto why = explanation(paper, f); why && has_reason(v)) j["why"] = *why;
  return j.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_json_line(const Summary& s) {
  Json j = {{"values", s.values}};
  for (std::size_t v = 1; v < kNames.size(); ++v) j[std::string(kNames[v])] = s.count[v];
  j["explained"] = s.explained;
  j["news"] = s.news.size();
  return Json{{"summary", std::move(j)}}.dump() + "\n";
}

std::string to_text_line(std::string_view paper, const Finding& f,
                         std::optional<std::uint64_t> seed) {
  const Verdict v = f.verdict();
  std::string out = seed ? fmt::format("seed {:<3} ", *seed) : std::string();
  out += fmt::format("{:<22} {:<38} {:<30} {:>10.4g}", f.place, f.scenario, f.metric, f.ours);
  if (!f.by_seed.empty()) out += fmt::format(" {:>20}", range_text(f));
  if (f.published)
    out +=
        fmt::format(" {:>8} {:>9} (within {})", published_text(f), off_text(f), tolerance_text(f));
  if (f.statement) out += fmt::format(" (to be {})", test_text(*f.statement));
  if (v != Verdict::kNone) out += fmt::format(" {}", name_of(v));
  if (const std::string agree = agreement_text(f); !agree.empty())
    out += fmt::format(" in {} seeds", agree);
  const bool bad = to_explain(v);
  if (bad && explanation(paper, f)) out += ", explained";
  out += '\n';
  if (f.statement && bad) out += fmt::format("    the paper: {}\n", f.statement->quote);
  return out;
}

std::string to_text(std::string_view paper, const Summary& s) {
  std::string out = fmt::format(
      "\n{}: {} match, {} direction-only, {} off; {} hold, {} fail; {} more values that the paper "
      "does not print\n",
      paper, s.of(Verdict::kMatch), s.of(Verdict::kDirectionOnly), s.of(Verdict::kOff),
      s.of(Verdict::kHolds), s.of(Verdict::kFails), s.of(Verdict::kNone));
  if (s.explained + s.news.size() != 0)
    out += fmt::format("of those that are off or fail, {} are explained (-o FILE.html has why)\n",
                       s.explained);
  for (const Finding* f : s.news)
    out += fmt::format("NOT EXPLAINED: {}, {}, {}: {:.4g}, {}\n", f->place, f->scenario, f->metric,
                       f->ours, name_of(f->verdict()));
  return out;
}

std::string to_csv(std::string_view paper, const std::vector<Finding>& findings) {
  const auto quoted = [](std::string text) {
    for (std::size_t i = 0; (i = text.find('"', i)) != std::string::npos; i += 2)
      text.insert(i, 1, '"');
    return '"' + text + '"';
  };
  std::string out =
      "place,scenario,metric,ours,least,most,published,tolerance,statement,holds_if,verdict,why\n";
  for (const Finding& f : findings) {
    const auto range = range_of(f);
    const auto why = explanation(paper, f);
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", quoted(f.place), quoted(f.scenario),
                       f.metric, f.ours, range ? fmt::format("{}", range->least) : "",
                       range ? fmt::format("{}", range->most) : "",
                       f.published ? fmt::format("{}", f.published->value) : "",
                       f.published ? fmt::format("{}", f.published->tolerance) : "",
                       f.statement ? quoted(f.statement->quote) : "",
                       f.statement ? quoted(test_text(*f.statement)) : "", name_of(f.verdict()),
                       why && has_reason(f.verdict()) ? quoted(std::string(*why)) : "");
  }
  return out;
}

namespace {

/// What of the paper came out; a paper may print no numbers, or be asked for figures alone.
std::string headline(const Summary& s) {
  const std::size_t numbers =
      s.of(Verdict::kMatch) + s.of(Verdict::kDirectionOnly) + s.of(Verdict::kOff);
  const std::size_t statements = s.of(Verdict::kHolds) + s.of(Verdict::kFails);
  std::string text;
  if (numbers != 0)
    text += fmt::format(
        "<b>{} of {} published numbers match</b>, {} have the direction only, {} are off. ",
        s.of(Verdict::kMatch), numbers, s.of(Verdict::kDirectionOnly), s.of(Verdict::kOff));
  if (statements != 0)
    text += fmt::format("<b>{} of {} statements hold</b>, {} fail. ", s.of(Verdict::kHolds),
                        statements, s.of(Verdict::kFails));
  if (numbers + statements == 0) text += "The paper prints none of these values. ";
  if (s.explained + s.news.size() != 0)
    text += fmt::format("Of those that are off or fail, {} are explained below and {} are not.",
                        s.explained, s.news.size());
  return fmt::format("<p class=\"headline\">{}</p>\n", text);
}

std::string rows_of(std::string_view paper, const std::vector<const Finding*>& findings,
                    bool reasons) {
  const bool ranges = std::any_of(findings.begin(), findings.end(),
                                  [](const Finding* f) { return !f->by_seed.empty(); });
  const bool numbers = std::any_of(findings.begin(), findings.end(),
                                   [](const Finding* f) { return f->published.has_value(); });
  const auto number = [&](const std::string& text) {
    return numbers ? fmt::format("<td class=\"n\">{}</td>", text) : std::string();
  };
  std::string rows = fmt::format(
      "<tr><th class=\"place\">place</th><th>scenario</th><th>metric</th><th "
      "class=\"n\">{}</th>{}{}"
      "<th>verdict</th>{}</tr>\n",
      ranges ? "ours, median" : "ours", ranges ? "<th class=\"n\">least to most</th>" : "",
      numbers ? "<th class=\"n\">published</th><th class=\"n\">off by</th>"
                "<th class=\"n\">tolerance</th>"
              : "",
      ranges ? "<th class=\"n\">of seeds</th>" : "");
  for (const Finding* f : findings) {
    const Verdict v = f->verdict();
    std::string note = f->published ? entities(f->published->printed) : std::string();
    if (f->statement)
      note = fmt::format("“{}” Taken as: to be {}.", entities(f->statement->quote),
                         test_text(*f->statement));
    const auto why = explanation(paper, *f);
    if (reasons && (to_explain(v) || why)) {
      note += fmt::format("{}<b>{}</b>", note.empty() ? "" : "<br>",
                          why ? entities(*why) : "not explained");
    }
    rows += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{:.4g}</td>{}{}{}{}"
        "<td class=\"{}\">{}</td>{}</tr>\n",
        entities(f->place), entities(f->scenario), entities(readable(f->metric)), f->ours,
        ranges ? fmt::format("<td class=\"n\">{}</td>", range_text(*f)) : "",
        number(published_text(*f)), number(off_text(*f)), number(tolerance_text(*f)), name_of(v),
        name_of(v), ranges ? fmt::format("<td class=\"n\">{}</td>", agreement_text(*f)) : "");
    if (!note.empty())
      rows += fmt::format("<tr><td></td><td class=\"note\" colspan=\"{}\">{}</td></tr>\n",
                          4 + (ranges ? 2 : 0) + (numbers ? 3 : 0), note);
  }
  return table(rows);
}

}  // namespace

std::string to_html(const Paper& paper, const std::vector<Finding>& findings,
                    const std::vector<PaperFigure>& drawings, const std::string& command) {
  const Summary s = summary_of(paper.name, findings);
  std::string body =
      fmt::format("<p>{}</p>\n<p><code>{}</code></p>\n", entities(paper.source), entities(command));
  body += headline(s) + fmt::format("<p>{}</p>\n", kRule);
  std::vector<const Finding*> all;
  std::vector<const Finding*> judged;
  std::vector<const Finding*> bad;
  for (const Finding& f : findings) {
    const Verdict v = f.verdict();
    all.push_back(&f);
    if (v != Verdict::kNone) judged.push_back(&f);
    if (has_reason(v)) bad.push_back(&f);
  }
  if (!bad.empty())
    body += "<h2>Not within the tolerance, and why</h2>\n" + rows_of(paper.name, bad, true);
  if (!judged.empty())
    body += "<h2>All that the paper states</h2>\n" + rows_of(paper.name, judged, false);
  std::string last;
  std::vector<PaperFigure> in_order = drawings;
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const PaperFigure& a, const PaperFigure& b) {
                     return a.place.size() != b.place.size() ? a.place.size() < b.place.size()
                                                             : a.place < b.place;
                   });
  if (!drawings.empty()) body += "<h2>The paper's figures, drawn from these runs</h2>\n";
  for (const PaperFigure& d : in_order) {
    if (d.place != last) body += fmt::format("<h3>{}</h3>\n", entities(last = d.place));
    body += d.svg;
  }
  body += "<h2>All values</h2>\n" + rows_of(paper.name, all, false);
  if (!paper.omitted.empty()) {
    body += "<h2>Not attempted</h2>\n<ul>\n";
    for (const auto& [what, why] : paper.omitted)
      body += fmt::format("<li>{}: {}</li>\n", entities(what), entities(why));
    body += "</ul>\n";
  }
  return page(fmt::format("{}, reproduced", paper.title), body);
}

}  // namespace lldp::lab
