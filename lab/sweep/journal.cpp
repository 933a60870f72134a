// SPDX-License-Identifier: Apache-2.0
#include "lab/sweep/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "os/file.hpp"
#include "os/file_kind.hpp"

namespace lldp::lab::sweep {
namespace {

constexpr std::size_t kMaxOctets = std::size_t{4} << 30;

Error error_of(const std::string& path, int code) { return {code, path, std::strerror(code)}; }
auto refuse(const std::string& path, std::size_t line, std::string what) {
  return fail(Error{0, fmt::format("{}: line {}", path, line), std::move(what)});
}

/// The lines of a text that end; the octets that they take together.
std::pair<std::vector<std::string_view>, std::size_t> whole_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  std::size_t from = 0;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos;
       end = text.find('\n', from)) {
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return {std::move(lines), from};
}

Json parse(std::string_view line) { return Json::parse(line, nullptr, false); }

std::size_t count_at(const Json& object, const char* key) {
  const auto it = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && it != object.end() && it->is_number_unsigned()
             ? it->get<std::size_t>()
             : static_cast<std::size_t>(-1);
}

/// A result line: hash, task, result.
Result<std::size_t> task_of(const Json& line, const std::string& hash, std::size_t tasks) {
  const std::size_t task = count_at(line, "task");
  if (task >= tasks || !line.contains("result")) return fail(Error{0, "", "not a result"});
  if (line.value("hash", Json()) != hash) return fail(Error{0, "", "of another run: another hash"});
  return task;
}

Result<void> write_line(int fd, const std::string& path, const Json& line) {
  const std::string text = line.dump() + "\n";
  const ssize_t n = ::write(fd, text.data(), text.size());
  if (n == static_cast<ssize_t>(text.size())) return {};
  return fail(n < 0 ? error_of(path, errno)
                    : Error{0, path, "a line was written in part: disk full?"});
}

}  // namespace

std::string hash_of(std::string_view text) {
  std::uint64_t h = 0xcbf2'9ce4'8422'2325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3;
  return fmt::format("{:016x}", h);
}

std::string RunIdentity::hash() const {
  return hash_of(fmt::format("{}\n{}\n{}", program, scenario.dump(), tasks));
}

Result<ResultsFile> ResultsFile::open(const std::string& path, const RunIdentity& identity,
                                      const Shard& shard) {
  ResultsFile journal(path, identity.hash(), identity.tasks);
  journal.file_ = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!journal.file_) return fail(error_of(path, errno));
  const int fd = journal.file_.get();
  struct stat status {};
  if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode))
    return fail(Error{EINVAL, path,
                      fmt::format("is {}: results want a file that can be read again",
                                  kind_of_file(status.st_mode))});
  if (flock(fd, LOCK_EX | LOCK_NB) != 0)
    return fail(Error{errno, path, "another process is writing to it"});
  const auto text = read_file(path, kMaxOctets);
  if (!text) return fail(text.error());
  const auto [lines, octets] = whole_lines(*text);
  if (octets < text->size() && ftruncate(fd, static_cast<off_t>(octets)) != 0)
    return fail(error_of(path, errno));
  if (lines.empty()) {
    const Json header = {{"sweep", 1},
                         {"hash", journal.hash_},
                         {"program", identity.program},
                         {"tasks", identity.tasks},
                         {"shard", shard.index},
                         {"shards", shard.count},
                         {"base", shard.base},
                         {"scenario", identity.scenario}};
    if (auto ok = write_line(fd, path, header); !ok) return fail(ok.error());
    return journal;
  }
  const Json header = parse(lines[0]);
  if (!header.is_object() || header.value("hash", Json()) != journal.hash_)
    return refuse(path, 1, "results of another program, scenario or seed: take another file");
  if (count_at(header, "shard") != shard.index || count_at(header, "shards") != shard.count)
    return refuse(path, 1, "results of another shard: take another file");
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto task = task_of(parse(lines[i]), journal.hash_, identity.tasks);
    if (!task) return refuse(path, i + 1, task.error().what);
    journal.done_[*task] = true;
  }
  return journal;
}

Result<void> ResultsFile::add(std::size_t task, const Json& result) {
  done_[task] = true;
  return write_line(file_.get(), path_, {{"hash", hash_}, {"task", task}, {"result", result}});
}

std::string Merged::missing_shards() const {
  std::vector<bool> wanted(shards);
  for (const std::size_t task : missing) wanted[task % shards] = true;
  std::vector<std::size_t> numbers;
  for (std::size_t s = 0; s < shards; ++s)
    if (wanted[s]) numbers.push_back(base + s);
  return to_array(numbers);
}

Result<Merged> merge(const std::vector<std::string>& paths) {
  Merged merged;
  std::vector<std::string> where;
  std::string hash;
  for (const std::string& path : paths) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)))
      return fail(Error{EINVAL, path, "is a device, and not a sweep's results"});
    const auto text = read_file(path, kMaxOctets);
    if (!text) return fail(text.error());
    const auto lines = whole_lines(*text).first;
    if (lines.empty()) return refuse(path, 1, "not a sweep's results: empty");
    const Json header = parse(lines[0]);
    const std::size_t tasks = count_at(header, "tasks");
    const std::size_t shards = count_at(header, "shards");
    if (count_at(header, "sweep") != 1 || tasks > 100'000'000 || shards == 0 ||
        shards > 100'000'000)
      return refuse(path, 1, "not a sweep's results");
    if (merged.identity.is_null()) {
      const Json told = header.value("hash", Json());
      if (!told.is_string()) return refuse(path, 1, "not a sweep's results");
      hash = told.get<std::string>();
      merged.identity = header;
      merged.results.resize(tasks);
      merged.shards = shards;
      merged.base = std::min<std::size_t>(count_at(header, "base"), 1'000'000'000);
      where.resize(tasks);
    } else if (header.value("hash", Json()) != hash || shards != merged.shards) {
      return refuse(path, 1, fmt::format("results of another run than {}", paths[0]));
    }
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const Json line = parse(lines[i]);
      const auto task = task_of(line, hash, tasks);
      if (!task) return refuse(path, i + 1, task.error().what);
      std::string here = fmt::format("{}: line {}", path, i + 1);
      if (!where[*task].empty())
        return refuse(path, i + 1,
                      fmt::format("task {} has a result already: {}", *task, where[*task]));
      where[*task] = std::move(here);
      merged.results[*task] = line["result"];
    }
  }
  for (std::size_t t = 0; t < merged.results.size(); ++t)
    if (where[t].empty()) merged.missing.push_back(t);
  return merged;
}

}  // namespace lldp::lab::sweep
