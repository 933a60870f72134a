// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/programs.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "dataplane/bpf/kernel.hpp"
#include "dataplane/bpf/lldp_level_shared.h"

namespace lldp::dataplane::bpf {
namespace {

// No dots: the BPF file system keeps names with them for itself.
constexpr std::string_view kIn = "-in";
constexpr std::string_view kOut = "-out";

std::string bounces_name() { return fmt::format("bounces-{}", LLDP_LEVEL_LAYOUT); }

/// FNV-1a, to tell apart a handful of rules and versions.
std::uint32_t hash_of(ByteSpan octets) {
  std::uint32_t h = 0x811c9dc5;
  for (std::uint8_t o : octets) h = (h ^ o) * 0x01000193U;
  return h;
}

lldp_level_rules constants_of(const qos::Ruleset& rules) {
  lldp_level_rules c{};
  c.turning_tags = rules.turning_tags;
  c.tag = rules.tag.value();
  for (const qos::Class& i : rules.ingress)
    c.priority_of[i.dscp.value()] = static_cast<__u8>(LLDP_LEVEL_SET | i.priority.value());
  for (const qos::Remap& r : rules.remaps) {
    const unsigned from = r.from.dscp.value() * 4U;
    const unsigned to = r.to.dscp.value() * 4U;
    const unsigned sum = (from ^ 0xffff) + to;
    c.turn_of[r.from.dscp.value()] = {
        .from = static_cast<__u8>(LLDP_LEVEL_SET | r.from.priority.value()),
        .priority = r.to.priority.value(),
        .flip = static_cast<__u8>(from ^ to),
        .reserved = 0,
        .sum = htons(static_cast<__u16>((sum & 0xffff) + (sum >> 16))),
        .reserved2 = 0};
  }
  return c;
}

template <class T>
ByteSpan octets_of(const T& value) {
  return {reinterpret_cast<const std::uint8_t*>(&value), sizeof value};
}

/// The part of a key that changes with the code.
const std::string& code_version() {
  static const std::string kVersion =
      fmt::format("{}{:08x}", LLDP_LEVEL_LAYOUT, hash_of(object_octets()));
  return kVersion;
}

/// Sticky and open to all, as /tmp: daemons of several users may stand side by side.
void make_shared_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0) ::chmod(path.c_str(), 01777);
}

}  // namespace

std::optional<Pins> Pins::open(const std::string& bpffs) {
  struct statfs fs {};
  struct stat ns {};
  if (::statfs(bpffs.c_str(), &fs) != 0 || fs.f_type != BPF_FS_MAGIC) return std::nullopt;
  if (::stat("/proc/thread-self/ns/net", &ns) != 0) return std::nullopt;
  const std::string ours = bpffs + "/lldp-level";
  const std::string directory = fmt::format("{}/{}", ours, ns.st_ino);
  make_shared_directory(ours);
  const bool writable = ::access(directory.c_str(), W_OK | X_OK) == 0 ||
                        (errno == ENOENT && ::access(ours.c_str(), W_OK | X_OK) == 0);
  return writable ? std::optional(Pins(directory)) : std::nullopt;
}

std::string Pins::path(std::string_view name) const { return directory_ + "/" + std::string(name); }

std::vector<std::string> Pins::names() const {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(directory_.c_str()), ::closedir);
  while (const dirent* entry = dir ? ::readdir(dir.get()) : nullptr)
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  std::sort(names.begin(), names.end());
  return names;
}

Result<void> Pins::put(const UniqueFd& object, std::string_view name) const {
  make_shared_directory(directory_.substr(0, directory_.rfind('/')));
  ::mkdir(directory_.c_str(), 0700);
  return pin(object, path(name));
}

void Pins::remove(std::string_view name) const { ::unlink(path(name).c_str()); }

void Pins::clear() const {
  for (const std::string& name : names()) remove(name);
  ::rmdir(directory_.c_str());
  ::rmdir(directory_.substr(0, directory_.rfind('/')).c_str());  // fails while others are there
}

Programs::Programs(std::optional<Pins> pins) : pins_(std::move(pins)) {
  if (!pins_) return;
  if (auto map = get_pinned(pins_->path(bounces_name())); map && is_bounces(*map))
    bounces_ = std::move(*map);
  for (const std::string& name : pins_->names()) {
    if (!name.ends_with(kIn) || !std::isxdigit(static_cast<unsigned char>(name[0]))) continue;
    const std::string key = name.substr(0, name.size() - kIn.size());
    auto in = get_pinned(pins_->path(name));
    auto out = get_pinned(pins_->path(key + std::string(kOut)));
    const auto in_id = in ? id_of_program(*in) : fail(in.error());
    const auto out_id = out ? id_of_program(*out) : fail(out.error());
    if (bounces_ && in_id && out_id && key.starts_with(code_version())) {
      keep(key, {std::move(*in), std::move(*out)}, *in_id, *out_id);
    } else {  // of another version: ports that run it do so until they are given ours
      pins_->remove(name);
      pins_->remove(key + std::string(kOut));
    }
  }
}

std::string Programs::key_of(const qos::Ruleset& rules) {
  return fmt::format("{}-{:08x}", code_version(), hash_of(octets_of(constants_of(rules))));
}

const Programs::Loaded& Programs::keep(std::string key, ProgramPair pair, std::uint32_t in_id,
                                       std::uint32_t out_id) {
  Loaded loaded{key, std::move(pair), in_id, out_id};
  return loaded_.insert_or_assign(std::move(key), std::move(loaded)).first->second;
}

const Programs::Loaded* Programs::find(const std::string& key) const {
  const auto at = loaded_.find(key);
  return at == loaded_.end() ? nullptr : &at->second;
}

std::string Programs::key_of_id(std::uint32_t id) const {
  for (const auto& [key, loaded] : loaded_)
    if (loaded.in_id == id || loaded.out_id == id) return key;
  return {};
}

Result<const Programs::Loaded*> Programs::get(const qos::Ruleset& rules) {
  const std::string key = key_of(rules);
  if (const Loaded* there = find(key)) return there;
  if (auto done = need_bounces(); !done) return fail(done.error());
  auto pair = load(constants_of(rules), bounces_);
  if (!pair) return fail(pair.error());
  const auto in_id = id_of_program(pair->in);
  const auto out_id = id_of_program(pair->out);
  if (!in_id) return fail(in_id.error());
  if (!out_id) return fail(out_id.error());
  if (pins_) {
    if (auto done = pins_->put(pair->in, key + std::string(kIn)); !done) return fail(done.error());
    if (auto done = pins_->put(pair->out, key + std::string(kOut)); !done)
      return fail(done.error());
  }
  return &keep(key, std::move(*pair), *in_id, *out_id);
}

Result<void> Programs::need_bounces() {
  if (bounces_) return {};
  auto map = create_bounces();
  if (!map) return fail(map.error());
  if (pins_) {
    pins_->remove(bounces_name());  // one of another shape
    if (auto done = pins_->put(*map, bounces_name()); !done) return done;
  }
  bounces_ = std::move(*map);
  return {};
}

bool Programs::adopt_bounces(std::uint32_t program_id) {
  const auto program = program_by_id(program_id);
  if (!program) return false;
  auto map = map_of_program(*program, "lldp_bounces");
  if (!map || !is_bounces(*map)) return false;
  bounces_ = std::move(*map);
  return true;
}

Result<std::optional<std::uint32_t>> Programs::slot_of(Ifindex owner, Ifindex start) const {
  const auto cpus = possible_cpus();
  if (!cpus) return fail(cpus.error());
  std::vector<lldp_level_bounces> of_cpu(*cpus);
  for (std::uint32_t i = 0; i < LLDP_LEVEL_PROBES; ++i) {
    const std::uint32_t slot = (start.value() + i) % LLDP_LEVEL_SLOTS;
    if (auto done = get_element(bounces_, &slot, of_cpu.data()); !done) return fail(done.error());
    if (of_cpu.front().port == owner.value()) return slot;
  }
  return std::nullopt;
}

Result<void> Programs::set_slot(std::uint32_t slot, Ifindex owner) {
  const auto cpus = possible_cpus();
  if (!cpus) return fail(cpus.error());
  const std::vector<lldp_level_bounces> zeros(
      *cpus, {.port = owner.value(), .reserved = 0, .packets = {}});
  return set_element(bounces_, &slot, zeros.data(), BPF_ANY);
}

Result<void> Programs::start_counting(Ifindex port) {
  auto slot = slot_of(port, port);
  if (!slot) return fail(slot.error());
  if (*slot) return {};
  if (slot = slot_of(Ifindex(), port); !slot) return fail(slot.error());
  // With all its places taken a port is protected, and not counted.
  return *slot ? set_slot(**slot, port) : Result<void>();
}

Result<Bounces> Programs::bounces(Ifindex port) const {
  Bounces sum{};
  if (!bounces_) return sum;
  const auto slot = slot_of(port, port);
  if (!slot) return fail(slot.error());
  if (!*slot) return sum;
  std::vector<lldp_level_bounces> of_cpu(*possible_cpus());  // slot_of() has asked
  if (auto done = get_element(bounces_, &**slot, of_cpu.data()); !done) return fail(done.error());
  for (const lldp_level_bounces& b : of_cpu)
    for (std::size_t p = 0; p < sum.size(); ++p) sum[p] += b.packets[p];
  return sum;
}

void Programs::forget(Ifindex port) {
  if (!bounces_) return;
  if (const auto slot = slot_of(port, port); slot && *slot)
    (void)set_slot(**slot, Ifindex());  // at worst the place stays taken
}

void Programs::clear() {
  loaded_.clear();
  bounces_ = UniqueFd();
  if (pins_) pins_->clear();
}

}  // namespace lldp::dataplane::bpf
