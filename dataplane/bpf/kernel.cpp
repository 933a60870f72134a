// SPDX-License-Identifier: Apache-2.0
#include "dataplane/bpf/kernel.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace lldp::dataplane::bpf {
namespace {

// Linux 6.6, <linux/bpf.h>; Debian 12's headers are older.
constexpr std::uint32_t kTcxIngress = 46;
constexpr std::uint32_t kTcxEgress = 47;
constexpr std::uint32_t kNetkitPrimary = 54;  // Linux 6.7
constexpr std::uint32_t kNetkitPeer = 55;
constexpr std::uint32_t kBefore = 1U << 3;  ///< BPF_F_BEFORE: of nothing named, so: first

std::uint64_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

std::uint32_t hook_of(Part part) { return part == Part::kClassify ? kTcxIngress : kTcxEgress; }

/// The attribute must be zero wherever it is not set, padding included.
bpf_attr zeroed() {
  bpf_attr attr;
  std::memset(&attr, 0, sizeof attr);
  return attr;
}

int call(bpf_cmd command, bpf_attr& attr) {
  return static_cast<int>(::syscall(SYS_bpf, command, &attr, sizeof attr));
}

Error failed(const char* what, int code) {
  std::string text = std::string(what) + ": " + std::strerror(code);
  switch (code) {
    case EPERM:
      text +=
          ": run with CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON, in a container with a seccomp "
          "profile that allows bpf(2) too, or choose another backend";
      break;
    case ENOSYS:
      text += ": this kernel is built without BPF; choose another backend";
      break;
    case ENODEV:
      text = "the port has vanished";
  }
  return {code, {}, text};
}
Error failed(const char* what) { return failed(what, errno); }

void set_name(char (&to)[BPF_OBJ_NAME_LEN], const char* name) {
  std::strncpy(to, name, BPF_OBJ_NAME_LEN - 1);
}

/// Before Linux 5.11 maps and programs count as locked memory.
bool raise_memlock() {
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  return ::setrlimit(RLIMIT_MEMLOCK, &none) == 0;
}

int create(bpf_cmd command, bpf_attr& attr) {
  const int fd = call(command, attr);
  return fd < 0 && errno == EPERM && raise_memlock() ? call(command, attr) : fd;
}

/// The verifier tells the whole way it went; the reason is the last line before the statistics.
std::string reason_of(std::string_view log) {
  std::string reason;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(log.size(), line.size() + 1));
    if (line.starts_with("processed ")) break;
    if (!line.empty()) reason = line;
  }
  return reason;
}

/// `prepare` sets what is asked for beside the numbers.
template <class Info, class Prepare = void (*)(Info&)>
Result<Info> info_of(
    const UniqueFd& object, Prepare prepare = [](Info&) {}) {
  Info info;
  std::memset(&info, 0, sizeof info);  // the padding too: a kernel with a shorter one refuses it
  prepare(info);
  bpf_attr attr = zeroed();
  attr.info.bpf_fd = static_cast<std::uint32_t>(object.get());
  attr.info.info_len = sizeof info;
  attr.info.info = address(&info);
  if (call(BPF_OBJ_GET_INFO_BY_FD, attr) != 0) return fail(failed("BPF_OBJ_GET_INFO_BY_FD"));
  return info;
}

/// The ids of the maps that a program uses.
Result<std::vector<std::uint32_t>> maps_of(const UniqueFd& program) {
  std::vector<std::uint32_t> ids(8);
  const auto info = info_of<bpf_prog_info>(program, [&](bpf_prog_info& ask) {
    ask.nr_map_ids = static_cast<std::uint32_t>(ids.size());
    ask.map_ids = address(ids.data());
  });
  if (!info) return fail(info.error());
  ids.resize(std::min<std::size_t>(ids.size(), info->nr_map_ids));
  return ids;
}

/// bpf_link_info of a TCX link, whose part Debian 12's headers lack.
struct TcxLinkInfo {
  std::uint32_t type;
  std::uint32_t id;
  std::uint32_t prog_id;
  std::uint32_t padding;
  std::uint32_t ifindex;
  std::uint32_t attach_type;
};

/// bpf_attr of BPF_PROG_QUERY, with the parts that Debian 12's headers lack.
struct TcxQuery {
  std::uint32_t ifindex = 0;
  std::uint32_t attach_type = 0;
  std::uint32_t query_flags = 0;
  std::uint32_t attach_flags = 0;
  std::uint64_t program_ids = 0;
  std::uint32_t count = 0;
  std::uint32_t padding = 0;
  std::uint64_t program_attach_flags = 0;
  std::uint64_t link_ids = 0;
  std::uint64_t link_attach_flags = 0;
  std::uint64_t revision = 0;
};
static_assert(sizeof(TcxQuery) == 64);

}  // namespace

Result<UniqueFd> create_map(const char* name, const MapShape& shape) {
  bpf_attr attr = zeroed();
  attr.map_type = shape.type;
  attr.key_size = shape.key_size;
  attr.value_size = shape.value_size;
  attr.max_entries = shape.max_entries;
  attr.map_flags = shape.flags;
  set_name(attr.map_name, name);
  UniqueFd fd(create(BPF_MAP_CREATE, attr));
  if (!fd) return fail(failed("BPF_MAP_CREATE"));
  return fd;
}

Result<MapShape> shape_of_map(const UniqueFd& map) {
  const auto info = info_of<bpf_map_info>(map);
  if (!info) return fail(info.error());
  return MapShape{static_cast<bpf_map_type>(info->type), info->key_size, info->value_size,
                  info->max_entries, info->map_flags};
}

Result<void> freeze_map(const UniqueFd& map) {
  bpf_attr attr = zeroed();
  attr.map_fd = static_cast<std::uint32_t>(map.get());
  if (call(BPF_MAP_FREEZE, attr) != 0) return fail(failed("BPF_MAP_FREEZE"));
  return {};
}

Result<void> set_element(const UniqueFd& map, const void* key, const void* value,
                         std::uint64_t flags) {
  bpf_attr attr = zeroed();
  attr.map_fd = static_cast<std::uint32_t>(map.get());
  attr.key = address(key);
  attr.value = address(value);
  attr.flags = flags;
  if (call(BPF_MAP_UPDATE_ELEM, attr) != 0) return fail(failed("BPF_MAP_UPDATE_ELEM"));
  return {};
}

Result<Mapping> Mapping::of(const UniqueFd& map, std::size_t size, std::size_t from,
                            Access access) {
  const int protection = access == Access::kRead ? PROT_READ : PROT_READ | PROT_WRITE;
  void* at = ::mmap(nullptr, size, protection, MAP_SHARED, map.get(), static_cast<off_t>(from));
  if (at == MAP_FAILED) return fail(failed("mmap of a map"));
  return Mapping(at, size);
}

Mapping::~Mapping() {
  if (at_ != nullptr) ::munmap(at_, size_);
}

Result<UniqueFd> load_program(const char* name, std::span<const bpf_insn> code, const char* license,
                              bpf_prog_type type) {
  bpf_attr attr = zeroed();
  attr.prog_type = type;
  attr.insns = address(code.data());
  attr.insn_cnt = static_cast<std::uint32_t>(code.size());
  attr.license = address(license);
  set_name(attr.prog_name, name);
  UniqueFd fd(create(BPF_PROG_LOAD, attr));
  if (fd) return fd;
  const Error refused = failed("BPF_PROG_LOAD");
  // Again with a log: the kernel writes one only when asked beforehand, and it costs.
  std::vector<char> log(std::size_t{256} << 10);
  attr.log_buf = address(log.data());
  attr.log_size = static_cast<std::uint32_t>(log.size());
  attr.log_level = 1;
  if (fd = UniqueFd(call(BPF_PROG_LOAD, attr)); fd) return fd;
  const std::string reason = reason_of(log.data());
  if (reason.empty()) return fail(refused);
  return fail(Error{refused.code,
                    {},
                    "the kernel's verifier refuses " + std::string(name) + ": " + reason +
                        ": report it with the kernel's version, and choose another backend"});
}

Result<UniqueFd> trace_entry(const char* name, std::span<const bpf_insn> code, const char* license,
                             std::uint32_t function) {
  bpf_attr attr = zeroed();
  attr.prog_type = BPF_PROG_TYPE_TRACING;
  attr.expected_attach_type = BPF_TRACE_FENTRY;
  attr.attach_btf_id = function;
  attr.insns = address(code.data());
  attr.insn_cnt = static_cast<std::uint32_t>(code.size());
  attr.license = address(license);
  set_name(attr.prog_name, name);
  const UniqueFd program(create(BPF_PROG_LOAD, attr));
  if (!program) return fail(failed("BPF_PROG_LOAD"));
  // Since Linux 5.19, which is older than TCX; before it was BPF_RAW_TRACEPOINT_OPEN alone.
  attr = zeroed();
  attr.link_create.prog_fd = static_cast<std::uint32_t>(program.get());
  attr.link_create.attach_type = BPF_TRACE_FENTRY;
  UniqueFd link(call(BPF_LINK_CREATE, attr));
  if (!link) return fail(failed("BPF_LINK_CREATE"));
  return link;
}

Result<std::uint32_t> id_of_program(const UniqueFd& program) {
  const auto info = info_of<bpf_prog_info>(program);
  if (!info) return fail(info.error());
  return info->id;
}

Result<UniqueFd> program_by_id(std::uint32_t id) {
  bpf_attr attr = zeroed();
  attr.prog_id = id;
  UniqueFd fd(call(BPF_PROG_GET_FD_BY_ID, attr));
  if (!fd) return fail(failed("BPF_PROG_GET_FD_BY_ID"));
  return fd;
}

Result<UniqueFd> map_of_program(const UniqueFd& program, std::string_view name) {
  const auto ids = maps_of(program);
  if (!ids) return fail(ids.error());
  for (const std::uint32_t id : *ids) {
    bpf_attr attr = zeroed();
    attr.map_id = id;
    UniqueFd map(call(BPF_MAP_GET_FD_BY_ID, attr));
    if (!map) return fail(failed("BPF_MAP_GET_FD_BY_ID"));
    const auto map_info = info_of<bpf_map_info>(map);
    if (map_info && name == map_info->name) return map;
  }
  return fail(failed("BPF_MAP_GET_FD_BY_ID", ENOENT));
}

bool uses_map(const UniqueFd& program, const UniqueFd& map) {
  const auto ids = maps_of(program);
  const auto info = info_of<bpf_map_info>(map);
  return ids && info && std::ranges::find(*ids, info->id) != ids->end();
}

Result<void> pin(const UniqueFd& object, const std::string& path) {
  bpf_attr attr = zeroed();
  attr.pathname = address(path.c_str());
  attr.bpf_fd = static_cast<std::uint32_t>(object.get());
  if (call(BPF_OBJ_PIN, attr) != 0) return fail(failed(("BPF_OBJ_PIN " + path).c_str()));
  return {};
}

Result<UniqueFd> get_pinned(const std::string& path) {
  bpf_attr attr = zeroed();
  attr.pathname = address(path.c_str());
  UniqueFd fd(call(BPF_OBJ_GET, attr));
  if (!fd) return fail(failed(("BPF_OBJ_GET " + path).c_str()));
  return fd;
}

bool has_tcx() {
  bpf_attr attr = zeroed();
  attr.query.target_fd = 1;  // the loopback interface, which every namespace has
  attr.query.attach_type = kTcxIngress;
  // ENOENT: nothing was ever there. EPERM: without the right to ask, existence is unknown.
  return call(BPF_PROG_QUERY, attr) == 0 || errno == ENOENT || errno == EPERM || errno == EACCES;
}

namespace {

/// What a hook answers, in place: to look whether a chain is as it was allocates nothing.
struct TcxAnswer {
  std::array<std::uint32_t, 64> ids;  // as many as the kernel takes
  std::array<std::uint32_t, 64> links;
  std::size_t count = 0;
  std::uint64_t revision = 0;
};

Result<void> query_tcx(TcxAnswer& answer, Ifindex port, std::uint32_t hook) {
  TcxQuery query{.ifindex = port.value(), .attach_type = hook};
  query.program_ids = address(answer.ids.data());
  query.link_ids = address(answer.links.data());
  query.count = static_cast<std::uint32_t>(answer.ids.size());
  if (::syscall(SYS_bpf, BPF_PROG_QUERY, &query, sizeof query) != 0) {
    if (errno == ENOENT) return {};  // nothing was ever there
    return fail(failed("BPF_PROG_QUERY"));
  }
  answer.count = std::min<std::size_t>(query.count, answer.ids.size());
  answer.revision = query.revision;
  return {};
}

Result<TcxChain> chain_of(Ifindex port, std::uint32_t hook) {
  TcxAnswer now;
  if (auto asked = query_tcx(now, port, hook); !asked) return fail(asked.error());
  return TcxChain{.program_ids = {now.ids.data(), now.ids.data() + now.count},
                  .link_ids = {now.links.data(), now.links.data() + now.count},
                  .revision = now.revision};
}

}  // namespace

Result<TcxChain> tcx_chain(Ifindex port, Part part) { return chain_of(port, hook_of(part)); }

Result<TcxChain> netkit_chain(Ifindex primary, NetkitEnd of) {
  return chain_of(primary, of == NetkitEnd::kPrimary ? kNetkitPrimary : kNetkitPeer);
}

bool is_tcx_chain(Ifindex port, Part part, const TcxChain& seen) {
  TcxAnswer now;
  return query_tcx(now, port, hook_of(part)) && now.revision == seen.revision &&
         std::ranges::equal(std::span(now.ids.data(), now.count), seen.program_ids) &&
         std::ranges::equal(std::span(now.links.data(), now.count), seen.link_ids);
}

Result<UniqueFd> attach_tcx(const UniqueFd& program, Ifindex port, Part part) {
  bpf_attr attr = zeroed();
  attr.link_create.prog_fd = static_cast<std::uint32_t>(program.get());
  attr.link_create.target_ifindex = port.value();
  attr.link_create.attach_type = hook_of(part);
  attr.link_create.flags = kBefore;
  UniqueFd fd(call(BPF_LINK_CREATE, attr));
  if (!fd) return fail(failed("BPF_LINK_CREATE"));
  return fd;
}

Result<void> update_link(const UniqueFd& link, const UniqueFd& program) {
  bpf_attr attr = zeroed();
  attr.link_update.link_fd = static_cast<std::uint32_t>(link.get());
  attr.link_update.new_prog_fd = static_cast<std::uint32_t>(program.get());
  if (call(BPF_LINK_UPDATE, attr) != 0) return fail(failed("BPF_LINK_UPDATE"));
  return {};
}

Result<void> detach_link(const UniqueFd& link) {
  bpf_attr attr = zeroed();
  attr.link_detach.link_fd = static_cast<std::uint32_t>(link.get());
  if (call(BPF_LINK_DETACH, attr) != 0) return fail(failed("BPF_LINK_DETACH"));
  return {};
}

Result<TcxLink> link_info(const UniqueFd& link) {
  const auto info = info_of<TcxLinkInfo>(link);
  if (!info) return fail(info.error());
  const std::uint32_t hook = info->attach_type;
  return TcxLink{info->id, info->prog_id, info->ifindex,
                 hook == kTcxIngress  ? std::optional(Part::kClassify)
                 : hook == kTcxEgress ? std::optional(Part::kRemap)
                                      : std::nullopt};
}

Result<bool> is_attached(const TcxLink& link) {
  const auto port = Ifindex::make(link.ifindex);
  if (!link.part || !port || port->value() == 0) return false;
  const auto chain = tcx_chain(*port, *link.part);
  if (!chain) return fail(chain.error());
  return std::ranges::find(chain->link_ids, link.id) != chain->link_ids.end();
}

Result<UniqueFd> link_by_id(std::uint32_t id) {
  bpf_attr attr = zeroed();
  attr.link_id = id;
  UniqueFd fd(call(BPF_LINK_GET_FD_BY_ID, attr));
  if (!fd) return fail(failed("BPF_LINK_GET_FD_BY_ID"));
  return fd;
}

Result<std::string> name_of_program(std::uint32_t id) {
  const auto program = program_by_id(id);
  if (!program) return fail(program.error());
  const auto info = info_of<bpf_prog_info>(*program);
  if (!info) return fail(info.error());
  return std::string(info->name);
}

Result<std::size_t> possible_cpus() {
  static std::optional<std::size_t> known;
  if (known) return *known;
  constexpr const char* kFile = "/sys/devices/system/cpu/possible";
  std::array<char, 256> octets{};
  const UniqueFd file(::open(kFile, O_RDONLY | O_CLOEXEC));
  const ssize_t size = file ? ::read(file.get(), octets.data(), octets.size()) : -1;
  if (size < 0)
    return fail(Error{errno,
                      {},
                      std::string(kFile) + " cannot be read: " + std::strerror(errno) +
                          ": let the container see /sys"});
  // "0-7", or "0": the last number counts.
  std::string_view text(octets.data(), static_cast<std::size_t>(size));
  text = text.substr(0, text.find('\n'));
  text.remove_prefix(text.find_last_not_of("0123456789") + 1);  // npos + 1 is 0
  std::size_t last = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), last).ec != std::errc())
    return fail(Error{EINVAL, {}, std::string(kFile) + " holds no number"});
  known = last + 1;
  return *known;
}

}  // namespace lldp::dataplane::bpf
