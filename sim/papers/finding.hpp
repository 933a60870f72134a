// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lldp::lab {

/// How far ours may be from a published number, relative to it, where nothing else is set.
inline constexpr double kTolerance = 0.10;
inline constexpr double kTailTolerance = 0.25;  ///< of the 99th percentile and beyond

/// A number as the paper prints it, or what follows from one alone (61 % less: a ratio of 0.39).
struct Published {
  double value = 0;
  double tolerance = kTolerance;
  /// One set-up over another: 1 is no difference.
  bool ratio = false;
  std::string printed{};  ///< as it stands there, if that is not the value: `69.2 % less`
};

/// What a paper says without a number, and what of ours it is taken to mean.
struct Statement {
  std::string quote{};
  enum class Test : std::uint8_t { kBelow, kAbove, kEqual, kAbout };  ///< kAbout: within kTolerance
  Test test = Test::kEqual;
  double bound = 0;
};

enum class Verdict : std::uint8_t { kNone, kMatch, kDirectionOnly, kOff, kHolds, kFails };
/// `match`, `direction-only`, `off`, `holds`, `fails`; empty where the paper says nothing.
[[nodiscard]] std::string_view name_of(Verdict verdict);

/// One value that was measured, and what the paper has in its place.
struct Finding {
  std::string place{};     ///< `V-B, Figure 8`
  std::string scenario{};  ///< what was run
  std::string metric{};
  double ours = 0;  ///< the median where there are more seeds
  std::optional<Published> published{};
  std::optional<Statement> statement{};
  std::vector<double> by_seed{};  ///< where there is more than one seed

  /// Numbers by which a table is read: `k`, 4. Empty: the scenario says all.
  struct Key {
    std::string name{};
    std::size_t value = 0;
  };
  std::vector<Key> keys{};
  std::string scheme{};

  [[nodiscard]] Verdict verdict() const;
  /// Of the seeds, those whose own value has the median's verdict.
  [[nodiscard]] std::size_t seeds_that_agree() const;
  /// The rule of one published number; `at` is ours.
  [[nodiscard]] static Verdict judge(double at, const Published& published);
  [[nodiscard]] static bool holds(double at, const Statement& statement);
};

/// A figure of the paper, drawn from ours.
struct PaperFigure {
  std::string place{};  ///< `Figure 8`
  std::string svg{};
};

struct ReproduceOptions {
  bool quick = false;
  std::uint64_t seed = 1;
  std::size_t threads = 1;
  std::size_t sets = 0;  ///< of links that fail (dot1), of random fabrics (itsy); 0: as usual
  std::optional<int>
      figure{};  ///< only what is in this one; not all papers' findings are in figures
};

/// Is told each finding as soon as it is known, and how far the work is, from 0 to 1.
struct Sink {
  std::function<void(const Finding&)> found{};
  std::function<void(PaperFigure)> draw{};
  std::function<void(double)> tell{};
};

/// "ITSY: Initial Trigger-Based PFC Deadlock Detection in the Data Plane" (Wu and Ng, 2021).
void reproduce_itsy(const ReproduceOptions& options, const Sink& sink);

/// "Revisiting Flow Control in Node-Centric Datacenter Networks" (Cao et al., 2026): PortFC.
void reproduce_portfc(const ReproduceOptions& options, const Sink& sink);
/// The figures of that paper which can be asked for.
inline constexpr int kPortFcFigures[] = {4, 5, 7, 8, 9, 10, 11, 12, 14, 15, 16, 17, 18, 19};

/// "PFC Deadlock Free in Data Center Network" (Yu, IEEE 802.1, September 2019): changing the
/// priority on the turn, beside recovery by a watchdog and nothing at all.
void reproduce_dot1(const ReproduceOptions& options, const Sink& sink);

/// A paper, and what of it is not attempted here.
struct Paper {
  std::string_view name{};  ///< of `reproduce`
  std::string_view title{};
  std::string_view source{};
  struct Omitted {
    std::string_view what{};
    std::string_view why{};
  };
  std::vector<Omitted> omitted{};
  void (*find)(const ReproduceOptions& options, const Sink& sink) = nullptr;  ///< none: fcplus
};
[[nodiscard]] const std::vector<Paper>& papers();

/// Why a finding is off, or fails: none where that is not known, and so is news.
[[nodiscard]] std::optional<std::string_view> explanation(std::string_view paper,
                                                          const Finding& finding);

/// How many of each verdict.
struct Summary {
  std::size_t values = 0;
  std::size_t count[6] = {};           ///< by Verdict
  std::size_t explained = 0;           ///< of off and fails
  std::vector<const Finding*> news{};  ///< off or fails, and not explained
  [[nodiscard]] std::size_t of(Verdict v) const { return count[static_cast<std::size_t>(v)]; }
};
[[nodiscard]] Summary summary_of(std::string_view paper, const std::vector<Finding>& findings);

/// The findings of several seeds as one: by place, scenario and metric.
[[nodiscard]] std::vector<Finding> merged(const std::vector<std::vector<Finding>>& by_seed);

/// A metric's name, for a person.
[[nodiscard]] std::string readable(std::string metric);

/// `seed`: of several, the one whose finding it is; none where it is the only one, or of all.
[[nodiscard]] std::string to_json_line(std::string_view paper, const Finding& finding,
                                       std::optional<std::uint64_t> seed = {});
[[nodiscard]] std::string to_json_line(const Summary& summary);
[[nodiscard]] std::string to_text_line(std::string_view paper, const Finding& finding,
                                       std::optional<std::uint64_t> seed = {});
[[nodiscard]] std::string to_text(std::string_view paper, const Summary& summary);
[[nodiscard]] std::string to_csv(std::string_view paper, const std::vector<Finding>& findings);
/// One page: what came of it, what is not within its tolerance and why, the figures, all values.
[[nodiscard]] std::string to_html(const Paper& paper, const std::vector<Finding>& findings,
                                  const std::vector<PaperFigure>& drawings,
                                  const std::string& command);

}  // namespace lldp::lab
