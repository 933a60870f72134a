// SPDX-License-Identifier: Apache-2.0
#include "lab/collect/sources.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>

#include "base/text.hpp"
#include "lab/collect/read.hpp"
#include "os/file.hpp"

namespace lldp::lab::collect {
namespace {

namespace fs = std::filesystem;

/// One device's texts, and what they are called.
struct Batch {
  struct File {
    std::string path{};
    bool rules = false;
  };
  std::string name{};   ///< of the device, if it does not say
  std::string where{};  ///< the first file, for findings
  std::vector<File> files{};
};

bool take_ending(std::string& name, std::string_view ending) {
  if (name.size() <= ending.size() || !std::string_view(name).ends_with(ending)) return false;
  name.resize(name.size() - ending.size());
  return true;
}

/// The device's name by its file's; `second`: it is the rules, which another file comes before.
std::pair<std::string, bool> device_of(const fs::path& file) {
  std::string name = file.filename().string();
  for (const char* ending : {".json", ".txt"})
    if (take_ending(name, ending)) break;
  const bool rules = take_ending(name, ".rules");
  if (!rules) take_ending(name, ".show");
  return {name, rules};
}

void add_file(std::map<fs::path, Batch>& batches, const fs::path& file) {
  const auto [name, rules] = device_of(file);
  const fs::path key = file.parent_path() / name;
  Batch& batch = batches[key];
  batch.name = name;
  if (rules) {
    batch.files.push_back({file.string(), true});
  } else {
    batch.files.insert(batch.files.begin(), {file.string(), false});
    batch.where = file.string();
  }
  if (batch.where.empty()) batch.where = file.string();
}

CollectedProblem unreadable(const std::string& where, const Error& e) {
  return {CollectedProblem::Kind::kUnreadable, escape(where), "", to_string(e)};
}

/// Whatever order threads come in, the result is in the order of `n`.
template <class Work>
void in_parallel(std::size_t n, Work work) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t i = next++; i < n; i = next++) work(i);
  };
  std::vector<std::jthread> others;
  for (std::size_t t = std::min<std::size_t>(std::thread::hardware_concurrency(), n); t > 1; --t)
    others.emplace_back(run);
  run();
}

}  // namespace

DeviceFacts read_files(const std::vector<std::string>& paths, const Progress& progress) {
  DeviceFacts told;
  std::map<fs::path, Batch> by_device;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      add_file(by_device, path);
      continue;
    }
    for (auto entry = fs::directory_iterator(path, error);
         !error && entry != fs::directory_iterator(); entry.increment(error)) {
      std::error_code ignored;
      if (entry->is_regular_file(ignored) && !entry->path().filename().string().starts_with('.'))
        add_file(by_device, entry->path());
    }
    if (error) told.findings.push_back(unreadable(path, {error.value(), "", error.message()}));
  }
  std::vector<const Batch*> batches;
  for (const auto& [key, batch] : by_device) batches.push_back(&batch);

  std::vector<Result<Device>> devices(batches.size(), Result<Device>(Device{}));
  std::atomic<std::size_t> done{0};
  in_parallel(batches.size(), [&](std::size_t i) {
    devices[i] = [&]() -> Result<Device> {
      std::vector<Printed> texts;
      for (const auto& [path, rules] : batches[i]->files) {
        auto text = read_file(path);
        const std::string where =
            path == batches[i]->where ? "" : escape(fs::path(path).filename().string());
        if (!text) return fail(Error{text.error().code, where, text.error().what});
        texts.push_back({where, std::move(*text), rules});
      }
      return read_device(texts, batches[i]->name);
    }();
    ++done;
  });
  if (progress) progress(done, batches.size());
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (devices[i]) {
      devices[i]->source = escape(batches[i]->where);
      told.devices.push_back(std::move(*devices[i]));
    } else {
      told.findings.push_back(unreadable(batches[i]->where, devices[i].error()));
    }
  }
  return told;
}

DeviceFacts read_hosts(const std::vector<std::string>& hosts, const SshSettings& settings,
                       const Progress& progress) {
  DeviceFacts told;
  const auto answers = ask_by_ssh(hosts, settings, [&](std::size_t done) {
    if (progress) progress(done, hosts.size());
  });
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::string name = hosts[i].substr(hosts[i].find('@') + 1);
    if (!answers[i]) {
      told.findings.push_back(
          {CollectedProblem::Kind::kNoAnswer, escape(name), "", answers[i].error().what});
      continue;
    }
    auto device = read_device(*answers[i], name);
    if (!device) {
      told.findings.push_back(unreadable(name, device.error()));
      continue;
    }
    device->source = escape(name);
    told.devices.push_back(std::move(*device));
  }
  return told;
}

Result<std::vector<std::string>> hosts_from(const std::string& text) {
  std::vector<std::string> hosts;
  if (text.starts_with('@')) {
    auto file = read_file(text.substr(1));
    if (!file) return fail(file.error());
    std::replace(file->begin(), file->end(), '\r', '\n');
    for (const std::string& line : split_list(*file, '\n'))
      for (std::string& host : split_list(std::string_view(line).substr(0, line.find('#'))))
        hosts.push_back(std::move(host));
  } else {
    hosts = split_list(text);
  }
  if (hosts.empty()) return fail(Error{0, "--ssh", "names no host"});
  for (const std::string& host : hosts)
    if (host.starts_with('-') || host.find_first_of(" \t") != std::string::npos)
      return fail(Error{0, "--ssh", "`" + escape(host) + "` is no name of a host"});
  return hosts;
}

}  // namespace lldp::lab::collect
