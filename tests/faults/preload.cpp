// SPDX-License-Identifier: Apache-2.0
// Preloaded into the daemon: calls fail at the rates that the file named by LLDP_FAULTS says, as
// faults.py sets them while the daemon runs. Which call fails follows from the seed and from how
// many were made before it.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

/// The order is that of KINDS in faults.py.
enum Kind : std::size_t { kAllocation, kDisk, kDescriptor, kLink, kPermission, kOverrun, kKinds };

struct Table {
  std::uint64_t seed = 0;
  struct Entry {
    std::atomic<std::uint32_t> per_million = 0;
    std::atomic<std::uint32_t> calls = 0;
    std::atomic<std::uint32_t> failed = 0;
  } kinds[kKinds]{};
};
static_assert(sizeof(Table) == 8 + 12 * kKinds && std::atomic<std::uint32_t>::is_always_lock_free);

Table* table = nullptr;  // null until the constructor ran: nothing fails before main()

[[gnu::constructor]] void open_table() {
  const char* path = std::getenv("LLDP_FAULTS");
  const int fd = path != nullptr ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
  void* at = ::mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) std::abort();
  ::close(fd);
  table = static_cast<Table*>(at);
}

bool fails(Kind kind, int code) {
  if (table == nullptr) return false;
  Table::Entry& entry = table->kinds[kind];
  const std::uint32_t rate = entry.per_million;
  if (rate == 0) return false;
  std::uint64_t x = table->seed + 0x9e3779b97f4a7c15U * ++entry.calls;  // splitmix64
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27) * 0x94d049bb133111ebU;
  if ((x ^ x >> 31) % 1'000'000 >= rate) return false;
  ++entry.failed;
  errno = code;
  return true;
}

template <class F>
F next(F, const char* name) {
  return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}
#define NEXT(name) static const auto real = next(&::name, #name)

/// Not the log's: it is a pipe or a file of who runs us.
bool on_disk(int fd) {
  struct stat is {};
  return fd > 2 && ::fstat(fd, &is) == 0 && S_ISREG(is.st_mode);
}

}  // namespace

extern "C" {

#ifdef LLDP_FAULTS_ALLOCATION
// glibc's own names; operator new comes here too.
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);

void* malloc(std::size_t size) noexcept {
  return fails(kAllocation, ENOMEM) ? nullptr : __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  return fails(kAllocation, ENOMEM) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) noexcept {
  return fails(kAllocation, ENOMEM) ? nullptr : __libc_realloc(old, size);
}
#endif

ssize_t write(int fd, const void* data, std::size_t size) {
  NEXT(write);
  return on_disk(fd) && fails(kDisk, ENOSPC) ? -1 : real(fd, data, size);
}
int fsync(int fd) {
  NEXT(fsync);
  return fails(kDisk, EIO) ? -1 : real(fd);
}
int rename(const char* from, const char* to) noexcept {
  NEXT(rename);
  return fails(kDisk, ENOSPC) ? -1 : real(from, to);
}

int open(const char* path, int flags, ...) {
  NEXT(open);
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return fails(kDescriptor, EMFILE) ? -1 : real(path, flags, mode);
}
int socket(int family, int type, int protocol) noexcept {
  NEXT(socket);
  return fails(kDescriptor, EMFILE) ? -1 : real(family, type, protocol);
}
int accept(int fd, sockaddr* from, socklen_t* size) {
  NEXT(accept);
  return fails(kDescriptor, EMFILE) ? -1 : real(fd, from, size);
}
int accept4(int fd, sockaddr* from, socklen_t* size, int flags) {
  NEXT(accept4);
  return fails(kDescriptor, EMFILE) ? -1 : real(fd, from, size, flags);
}

int sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags) {
  NEXT(sendmmsg);
  return fails(kLink, ENETDOWN) ? -1 : real(fd, messages, count, flags);
}

int setsockopt(int fd, int level, int option, const void* value, socklen_t size) noexcept {
  NEXT(setsockopt);
  return fails(kPermission, EPERM) ? -1 : real(fd, level, option, value, size);
}
long syscall(long number, ...) noexcept {
  NEXT(syscall);
  va_list rest;
  va_start(rest, number);
  long a[6]{};
  for (long& one : a) one = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_bpf && fails(kPermission, EPERM)) return -1;
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

ssize_t recvmsg(int fd, msghdr* message, int flags) {
  NEXT(recvmsg);
  // Only netlink comes this way: the kernel had no room for an event.
  return fails(kOverrun, ENOBUFS) ? -1 : real(fd, message, flags);
}
}
