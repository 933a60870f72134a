// SPDX-License-Identifier: Apache-2.0
// A back end that is opened and does not get one of its descriptors says so.
#include <gmock/gmock.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "dataplane/factory.hpp"
#include "dataplane/sai/spawner.hpp"
#include "tests/dataplane/private_net.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::dataplane {
namespace {

/// The so-manieth descriptor from now on is refused; 0 and less: none is, or it was.
int refuse_descriptor = 0;

template <class... Words>
int descriptor(long call, Words... words) {
  if (refuse_descriptor > 0 && --refuse_descriptor == 0) {
    errno = EMFILE;
    return -1;
  }
  return static_cast<int>(::syscall(call, words...));
}

/// Starts nothing.
class Idle : public sai::Spawner {
 public:
  int fd() const override { return fd_.get(); }
  Result<void> start(UniqueFd) override { return {}; }
  void stop() override {}
  Result<std::optional<std::string>> ended() override { return std::nullopt; }

 private:
  UniqueFd fd_{::eventfd(0, EFD_CLOEXEC)};
};

TEST(Opening, WithoutAnyOneOfItsDescriptorsIsToldOf) {
  const TempDir files;
  Options options;
  options.dcb.memory = files / "dcb";
  options.sai = {.memory = files / "sai", .spawner = std::make_shared<Idle>(), .opening = {}};
  options.soft = {.socket = files / "switch", .opening = {}};
  options.sonic = {.redis = files / "redis", .config = files / "databases"};
  for (const char* name : {"dcb", "flower", "sai", "soft", "sonic", "soft,dcb"}) {
    int refused = 0;
    for (; refused < 32; ++refused) {
      SCOPED_TRACE(std::string(name) + ", descriptor " + std::to_string(refused + 1));
      refuse_descriptor = refused + 1;
      const auto opened = make_backend(name, options);
      if (std::exchange(refuse_descriptor, 0) > 0) break;  // it asked for no more
      // It is tried again later, or given up.
      const auto why = opened ? (*opened)->down() : std::optional(opened.error());
      ASSERT_TRUE(why);
      EXPECT_THAT(to_string(*why), testing::HasSubstr("Too many open files"));
    }
    EXPECT_GT(refused, 0) << name;
  }
}

TEST(Opening, OfBpfWithoutAnyOneOfWhatItWatchesByIsToldOf) {
  if (const std::string why = PrivateNet::enter(); !why.empty()) GTEST_SKIP() << why;
  Options options;
  options.bpf.bpffs = "/nonexistent";
  // Three sockets to ask, and one to hear of events; of routes a timer, the set of it, and a socket
  // that is tried again; a timer, and the set of them all.
  constexpr int kOfRoutes = 7;
  for (int refused = 1; refused <= 9; ++refused) {
    SCOPED_TRACE("descriptor " + std::to_string(refused));
    refuse_descriptor = refused;
    const auto opened = make_backend("bpf", options);
    refuse_descriptor = 0;
    ASSERT_EQ(opened.has_value(), refused == kOfRoutes);
    if (!opened) EXPECT_THAT(to_string(opened.error()), testing::HasSubstr("Too many open files"));
  }
}

}  // namespace
}  // namespace lldp::dataplane

// In the place of libc's.
extern "C" int epoll_create1(int flags) noexcept {
  return lldp::dataplane::descriptor(SYS_epoll_create1, flags);
}
extern "C" int timerfd_create(clockid_t clock, int flags) noexcept {
  return lldp::dataplane::descriptor(SYS_timerfd_create, clock, flags);
}
extern "C" int socket(int domain, int type, int protocol) noexcept {
  return lldp::dataplane::descriptor(SYS_socket, domain, type, protocol);
}
extern "C" int socketpair(int domain, int type, int protocol, int* ends) noexcept {
  return lldp::dataplane::descriptor(SYS_socketpair, domain, type, protocol, ends);
}
