// SPDX-License-Identifier: Apache-2.0
#include "lab/sweep/shard.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "base/text.hpp"

namespace lldp::lab::sweep {
namespace {

auto refuse(std::string what) { return fail(Error{0, "--shard", std::move(what)}); }

std::optional<std::size_t> number(std::string_view text) {
  std::size_t n = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return n;
}

Result<Shard> checked(std::optional<std::size_t> index, std::optional<std::size_t> base,
                      std::optional<std::size_t> count, std::string_view from) {
  if (index && base && count && *count > 0 && *index >= *base && *index - *base < *count)
    return Shard{*index - *base, *count, *base};
  return refuse(fmt::format("{} make no sense together", from));
}

}  // namespace

std::optional<std::string> process_environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

Result<Shard> shard_from(std::string_view text, const Environment& environment) {
  const auto variable = [&](const char* name) -> std::optional<std::size_t> {
    const auto value = environment(name);
    return value ? number(*value) : std::nullopt;
  };
  const std::size_t slash = text.find('/');
  const auto count =
      slash != std::string_view::npos ? number(text.substr(slash + 1)) : std::nullopt;
  if (text.substr(0, slash) != "auto") {
    const auto index = number(text.substr(0, slash));
    if (index && count && *count > 0 && *index >= 1 && *index <= *count)
      return Shard{*index - 1, *count, 1};
    return refuse(fmt::format("`{}` is not I/N (the first is 1/N), auto or auto/N", escape(text)));
  }
  if (slash != std::string_view::npos && !count) return refuse("auto/N: N is no number");
  if (environment("SLURM_ARRAY_TASK_ID")) {
    // With N the first is task 0: an array that runs what is missing again has another _MIN and
    // _COUNT.
    const bool from_zero = count || !environment("SLURM_ARRAY_TASK_MIN");
    return checked(variable("SLURM_ARRAY_TASK_ID"),
                   from_zero ? 0 : variable("SLURM_ARRAY_TASK_MIN"),
                   count ? count : variable("SLURM_ARRAY_TASK_COUNT"),
                   "SLURM_ARRAY_TASK_ID, _MIN and _COUNT (an array without gaps is needed)");
  }
  if (environment("JOB_COMPLETION_INDEX")) {
    if (!count) return refuse("Kubernetes tells no number of completions: say auto/N");
    return checked(variable("JOB_COMPLETION_INDEX"), 0, count, "JOB_COMPLETION_INDEX and N");
  }
  if (environment("OMPI_COMM_WORLD_RANK"))
    return checked(variable("OMPI_COMM_WORLD_RANK"), 0,
                   count ? count : variable("OMPI_COMM_WORLD_SIZE"),
                   "OMPI_COMM_WORLD_RANK and _SIZE");
  return refuse(
      "auto: neither SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX nor OMPI_COMM_WORLD_RANK is set");
}

std::string to_array(const std::vector<std::size_t>& rising) {
  std::string out;
  for (std::size_t i = 0; i < rising.size();) {
    std::size_t last = i;
    while (last + 1 < rising.size() && rising[last + 1] == rising[last] + 1) ++last;
    out += fmt::format("{}{}", out.empty() ? "" : ",", rising[i]);
    if (last > i) out += fmt::format("-{}", rising[last]);
    i = last + 1;
  }
  return out;
}

}  // namespace lldp::lab::sweep
