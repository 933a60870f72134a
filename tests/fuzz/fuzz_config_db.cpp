// SPDX-License-Identifier: Apache-2.0
// Rows of CONFIG_DB as configuration: a reply of Redis as it comes over the socket, and rows as
// lines, one `KEY FIELD VALUE` each. And database_config.json, by its file.
#include <hiredis/hiredis.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/config/config.hpp"
#include "base/text.hpp"
#include "dataplane/sonic/databases.hpp"

namespace {

using namespace lldp;

/// A file of this process.
class File {
 public:
  File() {
    const int fd = ::mkstemp(path_.data());
    if (fd < 0) std::abort();
    ::close(fd);
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = std::filesystem::temp_directory_path() / "lldp-fuzz-XXXXXX";
};

void require_one_line(const Error& error) {
  if (to_string(error).find('\n') != std::string::npos) std::abort();
}

/// The errors are one line each; a configuration without any is the same when it is read again.
void read(const config::Rows& rows) {
  static const File empty;
  const config::Invocation invocation{
      .file = empty.path(), .drop_ins = empty.path() + ".none", .rows = rows};
  const config::LoadedConfig loaded = config::read(invocation);
  for (const Error& error : loaded.errors) require_one_line(error);
  const auto again = config::load(invocation);
  if (again.has_value() != loaded.errors.empty()) std::abort();
  if (again && *again != loaded.config) std::abort();
  for (const config::Setting& setting : config::settings(loaded.config))
    if ((setting.key + setting.value + setting.source).find('\n') != std::string::npos)
      std::abort();
}

/// What a server of Redis may send, whole or cut, of whatever types.
void read_replies(const std::uint8_t* data, std::size_t size) {
  struct Free {
    void operator()(redisReader* r) const { ::redisReaderFree(r); }
    void operator()(redisReply* r) const { ::freeReplyObject(r); }
  };
  const std::unique_ptr<redisReader, Free> reader(::redisReaderCreate());
  (void)::redisReaderFeed(reader.get(), reinterpret_cast<const char*>(data), size);
  for (;;) {
    void* got = nullptr;
    if (::redisReaderGetReply(reader.get(), &got) != REDIS_OK || got == nullptr) return;
    const std::unique_ptr<redisReply, Free> reply(static_cast<redisReply*>(got));
    read(dataplane::sonic::rows_of(reply.get()));
    (void)dataplane::sonic::row_of(reply.get());
    (void)dataplane::sonic::text_of(reply.get());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with("{")) {
    static const File file;
    std::ofstream(file.path(), std::ios::trunc | std::ios::binary) << text;
    const auto databases = dataplane::sonic::find_databases(file.path(), "");
    if (!databases) require_one_line(databases.error());
    return 0;
  }
  if (text.starts_with("*")) {
    read_replies(data, size);
    return 0;
  }
  config::Rows rows;
  for (const std::string& line : split_list(text, '\n')) {
    const auto key = line.find(' ');
    const auto field = key == line.npos ? key : line.find(' ', key + 1);
    if (field == line.npos) continue;
    rows[line.substr(0, key)][line.substr(key + 1, field - key - 1)] = line.substr(field + 1);
  }
  read(rows);
  return 0;
}
