// SPDX-License-Identifier: Apache-2.0
#include "lab/topology/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>

#include "lab/topology/from_drawing.hpp"
#include "lab/topology/hpcc.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"

namespace lldp::lab {
namespace {

/// A fat-tree of k = 64 takes 35 MB.
constexpr std::size_t kMaxOctets = 90'000'000;

Error error_of(int code, const std::string& path) { return {code, path, std::strerror(code)}; }

Result<void> write_to(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno != EINTR) return fail(error_of(errno, path));
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

/// The file that a path means in the end, whether it exists or is yet to be made.
Result<std::filesystem::path> followed(const std::string& path) {
  std::filesystem::path file(path);
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(file, error); ++links) {
    if (links == 40) return fail(error_of(ELOOP, path));
    const auto to = std::filesystem::read_symlink(file, error);
    if (error) return fail(error_of(error.value(), path));
    file = file.parent_path() / to;
  }
  return file;
}

/// A file that stands beside the one that it is to become, under a name of its own; it goes where
/// it does not become it.
class Unfinished {
 public:
  static Result<Unfinished> beside(const std::filesystem::path& file) {
    std::random_device random;
    for (int tries = 0;; ++tries) {
      Unfinished self;
      self.name_ = fmt::format("{}.{:08x}", file.string(), random());
      // Not by mkstemp(3): the mode is to be what the umask makes of a new file's.
      self.fd_ = UniqueFd(open(self.name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
      if (self.fd_) return self;
      self.name_.clear();
      if (errno != EEXIST || tries == 100) return fail(error_of(errno, file.string()));
    }
  }
  Unfinished(Unfinished&& other) noexcept
      : name_(std::exchange(other.name_, {})), fd_(std::move(other.fd_)) {}
  Unfinished& operator=(Unfinished&&) = delete;
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() {
    if (!name_.empty()) unlink(name_.c_str());
  }

  [[nodiscard]] int fd() const { return fd_.get(); }
  /// Its owner, as far as we may say so, and its mode.
  void be_like(const struct stat& other) const {
    if (fchown(fd(), other.st_uid, other.st_gid) == 0) (void)fchmod(fd(), other.st_mode & 07777);
  }
  /// False: errno says why.
  [[nodiscard]] bool replace(const std::filesystem::path& file) {
    if (close(fd_.release()) != 0 || rename(name_.c_str(), file.c_str()) != 0) return false;
    name_.clear();
    return true;
  }

 private:
  Unfinished() = default;
  std::string name_{};
  UniqueFd fd_{};
};

}  // namespace

void print_note(const std::string& note) { fmt::print(stderr, "lldp-level-lab: {}\n", note); }

Result<Fabric> load_fabric(const std::string& path, const NoteSink& tell) {
  const auto text = read_file(path, kMaxOctets);
  if (!text && text.error().code == EFBIG)
    return fail(
        Error{EFBIG, path, "is larger than 90 MB: give a part of the fabric, as a few pods"});
  if (!text) return fail(text.error());
  const std::size_t first = text->find_first_not_of(" \t\r\n");
  const bool numbers = first != text->npos && (*text)[first] >= '0' && (*text)[first] <= '9';
  auto drawing = numbers ? Result<cabling::Drawing>() : cabling::read(*text);
  if (drawing && tell)
    for (const std::string& note : cabling::first_notes(*drawing)) tell(path + ": " + note);
  auto fabric = numbers ? fabric_from_hpcc(*text) : fabric_from(std::move(drawing));
  if (!fabric) {
    Error e = fabric.error();
    e.where = path + ": " + e.where;
    return fail(std::move(e));
  }
  return fabric;
}

Result<void> can_save(const std::string& path) {
  struct stat target {};
  if (path.empty() || path == "-") return {};
  if (stat(path.c_str(), &target) == 0 && !S_ISREG(target.st_mode))
    return access(path.c_str(), W_OK) == 0 && !S_ISDIR(target.st_mode)
               ? Result<void>{}
               : fail(error_of(S_ISDIR(target.st_mode) ? EISDIR : errno, path));
  const auto file = followed(path);
  if (!file) return fail(file.error());
  const auto fresh = Unfinished::beside(*file);
  if (!fresh) return fail(Error{fresh.error().code, path, fresh.error().what});
  return {};
}

Result<void> save_text(const std::string& path, std::string_view text) {
  if (path.empty() || path == "-") return write_to(STDOUT_FILENO, text, "output");
  struct stat target {};
  struct stat output {};
  const bool exists = stat(path.c_str(), &target) == 0;
  // /dev/stdout, by whatever name, has been opened as its reader wants it.
  if (exists && fstat(STDOUT_FILENO, &output) == 0 && output.st_dev == target.st_dev &&
      output.st_ino == target.st_ino)
    return write_to(STDOUT_FILENO, text, path);
  if (exists && !S_ISREG(target.st_mode)) {
    const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return fd ? write_to(fd.get(), text, path) : fail(error_of(errno, path));
  }
  const auto file = followed(path);
  if (!file) return fail(file.error());
  auto fresh = Unfinished::beside(*file);
  if (!fresh) return fail(Error{fresh.error().code, path, fresh.error().what});
  if (exists) fresh->be_like(target);
  if (auto ok = write_to(fresh->fd(), text, path); !ok) return ok;
  return fresh->replace(*file) ? Result<void>{} : fail(error_of(errno, path));
}

}  // namespace lldp::lab
