// SPDX-License-Identifier: Apache-2.0
#include "os/start_pages.hpp"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace lldp::io {
namespace {

int release(dl_phdr_info* object, std::size_t /*size*/, void* /*data*/) {
  const std::string_view name = object->dlpi_name;     // empty: the program itself
  if (!name.empty() && name.front() != '/') return 0;  // the kernel's vdso
  static const auto kPage = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (const ElfW(Phdr) & part : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = (object->dlpi_addr + part.p_vaddr) & ~(kPage - 1);
    const std::uintptr_t end = object->dlpi_addr + part.p_vaddr + part.p_memsz;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader tells addresses as numbers
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);  // else they stay
  }
  return 0;
}

}  // namespace

void release_start_pages() { ::dl_iterate_phdr(release, nullptr); }

}  // namespace lldp::io
