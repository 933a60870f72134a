// SPDX-License-Identifier: Apache-2.0
// Rules that outlive the back end: restarts, other hooks, other BPF file systems, other namespaces.
#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <functional>

#include "dataplane/bpf/pins.hpp"
#include "os/file.hpp"
#include "tests/dataplane/bpf_fixture.hpp"

namespace lldp::dataplane {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// The directory of this namespace in the BPF file system.
std::string own_directory(const std::string& bpffs = PrivateNet::bpffs()) {
  return bpffs + "/lldp-level/" + bpf::Namespace::current().name();
}

TEST_P(BpfBackend, CountersGoOnAfterARestart) {
  bridge();
  put(Order::kUp, Order::kUp);
  through(across4({.dscp = 43}));
  backend_ = nullptr;
  through(across4({.dscp = 43}));  // nobody is there, and the rules are
  backend_ = open();
  EXPECT_TRUE(backend_->plan(ref(p1_), rules_of(Order::kUp))->empty());
  EXPECT_EQ(through(across4({.dscp = 51})), across4({.dscp = 0}));
  put(p1_, rules_of(Order::kDown));
  put(p1_, rules_of(Order::kUp));
  through(across4({.dscp = 43}));
  EXPECT_EQ(backend_->bounces(p1_), (Bounces{0, 0, 0, 0, 0, 3, 1, 0}));
}

// Two daemons with a port each, neither of which found anything of the other's at its start.
TEST_P(BpfBackend, DaemonsSideBySideShareProgramsAndCounters) {
  if (GetParam() == Means::kClsactWithoutBpffs) GTEST_SKIP() << "nothing is pinned";
  bridge();
  auto other = open();
  put(p0_, rules_of(Order::kUp));
  std::swap(other, backend_);
  put(p1_, rules_of(Order::kUp));
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  backend_ = open();
  for (const Ifindex port : {p0_, p1_})
    EXPECT_TRUE(backend_->plan(ref(port), rules_of(Order::kUp))->empty());
  EXPECT_EQ(backend_->bounces(p1_)->at(5), 1U);
}

// A link of TCX goes along with an interface that is moved to another namespace, and its number may
// be the new one's here.
TEST_P(BpfBackend, PortWithTheNumberOfOneThatWasMovedAwayIsBare) {
  put(Order::kUp, Order::kUp);
  backend_ = nullptr;
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe2(ready.data(), O_CLOEXEC), 0);
  const pid_t elsewhere = ::fork();
  if (elsewhere == 0) {
    if (::unshare(CLONE_NEWNET) != 0 || ::write(ready[1], "", 1) != 1) ::_exit(1);
    ::close(ready[1]);
    ::pause();
    ::_exit(0);
  }
  ::close(ready[1]);
  char told = 0;
  const bool is_elsewhere = ::read(ready[0], &told, 1) == 1;
  ::close(ready[0]);
  const bool swapped =
      is_elsewhere &&
      sh("ip link set q1 name old1 && ip link set p1 netns " + std::to_string(elsewhere) +
         " && ip link add p1 index " + std::to_string(p1_.value()) +
         " address 02:00:00:00:00:03 type veth peer name q1 address 02:00:00:00:00:04 && ip link "
         "set p1 up && ip link set q1 up");
  backend_ = open();
  EXPECT_TRUE(swapped);
  EXPECT_THAT(numbers_of(*backend_->ports()), ElementsAre(p0_));
  EXPECT_FALSE(backend_->plan(ref(p1_), rules_of(Order::kUp))->empty());
  put(Order::kUp, Order::kUp);
  bridge();
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  ::kill(elsewhere, SIGKILL);
  ::waitpid(elsewhere, nullptr, 0);
  sh("ip link del old1 2>/dev/null");
}

// The first, whose last port went, took all that is pinned along, and with it the other's links.
TEST_P(BpfBackend, DaemonThatGoesLeavesTheOthersRules) {
  bridge();
  auto other = open();
  backend_ = open();
  put(p0_, rules_of(Order::kUp));
  std::swap(other, backend_);
  put(p1_, rules_of(Order::kUp));
  std::swap(other, backend_);
  flush();
  std::swap(other, backend_);
  EXPECT_TRUE(backend_->plan(ref(p1_), rules_of(Order::kUp))->empty());
  backend_ = open();
  EXPECT_THAT(numbers_of(*backend_->ports()), ElementsAre(p1_));
  flush();
  EXPECT_FALSE(std::filesystem::exists(own_directory()));
}

// Or else what we say of our ports' tags would be read by nobody.
TEST_P(BpfBackend, ProgramsWithAnotherStateThanOursAreNotTaken) {
  if (GetParam() == Means::kClsactWithoutBpffs) GTEST_SKIP() << "nothing is pinned";
  bridge();
  auto other = open();
  put(p0_, rules_of(Order::kUp));
  ASSERT_TRUE(sh("rm " + own_directory() + "/state-*"));
  std::swap(other, backend_);
  put(p1_, rules_of(Order::kUp));
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  EXPECT_EQ(backend_->bounces(p1_)->at(5), 1U);
}

TEST_P(BpfBackend, NoPacketMissesARuleWhileProgramsAreReplaced) {
  bridge();
  const auto other =
      qos::compile(*qos::Policy::parse("5:dscp43,6:dscp51", "1:dscp8"), {.order = Order::kUp});
  put(Order::kUp, Order::kUp);
  Stream stream;
  for (int i = 0; i < 40; ++i) {
    backend_ = nullptr;  // as a restart with another configuration
    backend_ = open();
    for (Ifindex p : {p0_, p1_}) put(p, i % 2 == 0 ? other : rules_of(Order::kUp));
  }
  stream.finish();
  EXPECT_EQ(stream.missed(), 0U);
  EXPECT_EQ(stream.changed(), stream.sent());
  EXPECT_GT(stream.sent(), 1000U);
}

TEST_P(BpfBackend, MovesBetweenHooksWithoutAGap) {
  if (!bpf::has_tcx()) GTEST_SKIP() << "this kernel has no TCX";
  bridge();
  put(Order::kUp, Order::kUp);
  for (Means next : {Means::kTcx, Means::kClsact, Means::kTcx}) {
    backend_ = nullptr;
    backend_ = open(next);
    ASSERT_THAT(numbers_of(*backend_->ports()), ElementsAre(p0_, p1_));
    // Seen before anything is changed, and once when both are there: not twice changed.
    EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51})) << next;
    put(Order::kUp, Order::kUp);
    EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51})) << next;
    EXPECT_TRUE(backend_->plan(ref(p0_), rules_of(Order::kUp))->empty());
  }
  EXPECT_THAT(filters_of("p0") + filters_of("p1"), IsEmpty());
  flush();
  EXPECT_THAT(output_of("tc qdisc show dev p0; tc qdisc show dev p1"), Not(HasSubstr("clsact")));
}

TEST_P(BpfBackend, DirectoryOfADeadNamespaceIsNotTaken) {
  if (GetParam() == Means::kClsactWithoutBpffs) GTEST_SKIP() << "nothing is pinned";
  const std::string file = std::to_string(bpf::Namespace::current().file);
  bridge();
  // What had our file's number before, and what a version left that knew of the number alone.
  for (const std::string& dead : {file + "-1", file}) {
    put(Order::kUp, Order::kUp);
    through(across4({.dscp = 43}));
    EXPECT_EQ(backend_->bounces(p1_)->at(5), 1U);
    backend_ = nullptr;
    const std::string path = PrivateNet::bpffs() + "/lldp-level/" + dead;
    ASSERT_TRUE(sh("mv " + own_directory() + " " + path));
    ASSERT_TRUE(sh("rm -f " + path +
                   "/port-*; for p in p0 p1; do tc qdisc del dev $p clsact "
                   "2>/dev/null; done; true"));  // its interfaces went with it
    backend_ = open();
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_THAT(numbers_of(*backend_->ports()), IsEmpty());
    put(Order::kUp, Order::kUp);
    EXPECT_EQ(backend_->bounces(p1_), Bounces{});
    flush();
  }
}

/// A link goes with its file: an RCU grace period after that.
bool links_end(Ifindex port) {
  const auto is_bare = [&](Part part) {
    const auto chain = bpf::tcx_chain(port, part);
    return !chain || chain->program_ids.empty();
  };
  for (int i = 0; i < 1000; ++i) {
    if (is_bare(Part::kClassify) && is_bare(Part::kRemap)) return true;
    ::usleep(1000);
  }
  return false;
}

TEST_P(BpfBackend, PortWhoseRulesWentMeanwhileHasNoTagAnyMore) {
  bridge();
  put(Order::kUp, Order::kUp);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  backend_ = nullptr;
  ASSERT_TRUE(sh("tc qdisc del dev p0 clsact 2>/dev/null; rm -f " + own_directory() + "/port-" +
                 std::to_string(p0_.value()) + "-*"));
  ASSERT_TRUE(links_end(p0_));
  backend_ = open();
  EXPECT_THAT(numbers_of(*backend_->ports()), ElementsAre(p1_));
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 43}));
}

TEST_P(BpfBackend, PortWhoseRulesWentMeanwhileGoesOnCounting) {
  bridge();
  put(Order::kUp, Order::kUp);
  through(across4({.dscp = 43}));
  backend_ = nullptr;
  ASSERT_TRUE(sh("tc qdisc del dev p1 clsact 2>/dev/null; rm -f " + own_directory() + "/port-" +
                 std::to_string(p1_.value()) + "-*"));
  ASSERT_TRUE(links_end(p1_));
  backend_ = open();
  put(p1_, rules_of(Order::kUp));
  EXPECT_EQ(backend_->bounces(p1_)->at(5), 1U);
}

TEST_P(BpfBackend, PortInTheNumberOfAnotherCountsFromZero) {
  bridge();
  put(Order::kUp, Order::kUp);
  through(across4({.dscp = 43}));
  ASSERT_NE(backend_->bounces(p1_), Bounces{});
  const std::string number = std::to_string(p1_.value());
  ASSERT_TRUE(sh("ip link del p1"));
  backend_->forget(p1_);
  ASSERT_TRUE(sh("ip link add p1 index " + number + " type veth peer name q1"));
  put(p1_, rules_of(Order::kUp));
  EXPECT_EQ(backend_->bounces(p1_), Bounces{});
}

TEST_P(BpfBackend, DirectoriesOfOtherNamespacesAreLeftAlone) {
  if (GetParam() == Means::kClsactWithoutBpffs) GTEST_SKIP() << "nothing is pinned";
  const std::string file = std::to_string(bpf::Namespace::current().file);
  for (const std::string& other : {"1" + file + "-1", file + "1", std::string("other")})
    std::filesystem::create_directories(PrivateNet::bpffs() + "/lldp-level/" + other);
  backend_ = open();
  for (const std::string& other : {"1" + file + "-1", file + "1", std::string("other")})
    EXPECT_TRUE(std::filesystem::remove(PrivateNet::bpffs() + "/lldp-level/" + other)) << other;
  std::filesystem::remove(PrivateNet::bpffs() + "/lldp-level");
}

TEST_P(BpfBackend, DirectoryWhoseInterfacesAreNoMoreGoes) {
  if (GetParam() != Means::kTcx) GTEST_SKIP() << "no link says so";
  put(Order::kUp, Order::kUp);
  backend_ = nullptr;
  const std::string other = PrivateNet::bpffs() + "/lldp-level/1-1";
  ASSERT_TRUE(sh("mv " + own_directory() + " " + other + " && ip link del p0"));
  open();
  EXPECT_TRUE(std::filesystem::exists(other)) << "p1 is there";
  ASSERT_TRUE(sh("ip link del p1"));
  open();
  EXPECT_FALSE(std::filesystem::exists(other));
}

TEST_P(BpfBackend, InterfaceThatOutlivedItsNamespaceIsFoundWithItsPrograms) {
  if (GetParam() != Means::kTcx) GTEST_SKIP() << "filters are found by their names";
  bridge();
  put(Order::kUp, Order::kUp);
  backend_ = nullptr;
  const std::string file = std::to_string(bpf::Namespace::current().file);
  ASSERT_TRUE(sh("mv " + own_directory() + " " + PrivateNet::bpffs() + "/lldp-level/" + file));
  backend_ = open();
  EXPECT_THAT(numbers_of(*backend_->ports()), ElementsAre(p0_, p1_));
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  put(Order::kUp, Order::kDown);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 43}));
  flush();
  EXPECT_FALSE(std::filesystem::exists(PrivateNet::bpffs() + "/lldp-level"));
}

TEST_P(BpfBackend, RestartsWithOtherBpfFileSystemsWithoutAGap) {
  if (GetParam() == Means::kClsactWithoutBpffs) GTEST_SKIP() << "there is none to change";
  const std::string other = PrivateNet::bpffs() + "-other";
  std::filesystem::create_directory(other);
  ASSERT_EQ(::mount("bpf", other.c_str(), "bpf", 0, nullptr), 0);
  bridge();
  put(Order::kUp, Order::kUp);
  const auto other_rules =
      qos::compile(*qos::Policy::parse("5:dscp43,6:dscp51", "1:dscp8"), {.order = Order::kUp});
  for (Ifindex port : {p0_, p1_}) EXPECT_EQ(bpf().migrate(port), bpf().migrates());
  Stream stream;
  const std::string own = PrivateNet::bpffs();
  const auto hook = hook_of(GetParam());
  for (const std::string& bpffs : {other, own, other, own}) {
    backend_ = nullptr;
    backend_ = std::move(*make_backend("bpf", {.bpf = {.bpffs = bpffs, .hook = hook}}));
    EXPECT_THAT(numbers_of(*backend_->ports()), ElementsAre(p0_, p1_));
    EXPECT_TRUE(backend_->plan(ref(p0_), rules_of(Order::kUp))->empty());
    EXPECT_TRUE(std::filesystem::exists(own_directory(bpffs)));
    EXPECT_FALSE(std::filesystem::exists((bpffs == own ? other : own) + "/lldp-level"));
    put(Order::kUp, Order::kUp);
    for (Ifindex port : {p0_, p1_}) put(port, other_rules);
    for (Ifindex port : {p0_, p1_}) put(port, rules_of(Order::kUp));
  }
  // None at all: what is kept elsewhere is used there.
  backend_ = nullptr;
  if (GetParam() != Means::kTcx) {
    backend_ = std::move(*make_backend("bpf", {.bpf = {.bpffs = "/nonexistent", .hook = hook}}));
    EXPECT_TRUE(backend_->plan(ref(p0_), rules_of(Order::kUp))->empty());
    EXPECT_TRUE(backend_->plan(ref(p1_), rules_of(Order::kUp))->empty());
  } else {
    backend_ = open();
  }
  stream.finish();
  EXPECT_GT(stream.sent(), 100U);
  EXPECT_EQ(stream.missed(), 0U);
  EXPECT_EQ(stream.changed(), stream.sent());
  EXPECT_EQ(backend_->bounces(p1_)->at(5), stream.changed());
  // What was kept elsewhere is at work no more: a change is the only one.
  put(Order::kUp, Order::kDown);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 43}));
  flush();
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 43}));
  EXPECT_FALSE(std::filesystem::exists(own + "/lldp-level"));
  ::umount2(other.c_str(), MNT_DETACH);
  std::filesystem::remove(other);
}

/// A BPF file system over the one that our objects are kept in: nobody sees those any more.
class HiddenPins {
 public:
  HiddenPins() { hidden_ = ::mount("bpf", PrivateNet::bpffs().c_str(), "bpf", 0, nullptr) == 0; }
  HiddenPins(const HiddenPins&) = delete;
  HiddenPins& operator=(const HiddenPins&) = delete;
  ~HiddenPins() {
    if (hidden_) ::umount2(PrivateNet::bpffs().c_str(), MNT_DETACH);
  }
  [[nodiscard]] bool hidden() const { return hidden_; }

 private:
  bool hidden_ = false;
};

TEST_P(BpfBackend, ProgramsWhoseFilesAreNotSeenAreTakenOver) {
  if (GetParam() != Means::kTcx) GTEST_SKIP() << "filters are found by their names";
  bridge();
  put(Order::kUp, Order::kUp);
  {
    const HiddenPins hide;
    ASSERT_TRUE(hide.hidden());
    backend_ = nullptr;
    backend_ = open();
    EXPECT_THAT(numbers_of(*backend_->ports()), ElementsAre(p0_, p1_));
    EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
    put(Order::kUp, Order::kUp);
    EXPECT_TRUE(backend_->plan(ref(p0_), rules_of(Order::kUp))->empty());
    EXPECT_EQ(bpf::tcx_chain(p0_, Part::kClassify)->program_ids.size(), 1U);
    EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
    backend_ = nullptr;  // they have files here now
    backend_ = open();
    EXPECT_TRUE(backend_->plan(ref(p0_), rules_of(Order::kUp))->empty());
    // Both, here and in files that are not seen: of no use to anybody.
    flush();
    EXPECT_THAT(bpf::tcx_chain(p0_, Part::kClassify)->program_ids, IsEmpty());
    EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 43}));
    backend_ = nullptr;
  }
  std::filesystem::remove_all(PrivateNet::bpffs() + "/lldp-level");
}

/// Descriptors of BPF links that this process has.
std::size_t links_open() {
  std::size_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo"))
    n += read_file(entry.path()).value_or("").find("\nlink_type:") == std::string::npos ? 0U : 1U;
  return n;
}

TEST_P(BpfBackend, PortThatIsForgottenIsHeldByNoDescriptor) {
  if (GetParam() != Means::kTcx) GTEST_SKIP() << "filters are held by none";
  put(Order::kUp, Order::kUp);
  backend_ = nullptr;
  {
    const HiddenPins hide;
    ASSERT_TRUE(hide.hidden());
    backend_ = open(Means::kClsactWithoutBpffs);
    EXPECT_EQ(links_open(), 4U);
    backend_->forget(p0_);
    EXPECT_EQ(links_open(), 2U);
    backend_->forget(p1_);
    EXPECT_EQ(links_open(), 0U);
    backend_ = nullptr;
  }
  std::filesystem::remove_all(PrivateNet::bpffs() + "/lldp-level");
}

TEST_P(BpfBackend, ProgramsWhoseFilesAreNotSeenAreReplacedAndRemoved) {
  if (GetParam() != Means::kTcx) GTEST_SKIP() << "filters are found by their names";
  bridge();
  for (const bool replaced : {true, false}) {
    backend_ = open();
    put(Order::kUp, Order::kUp);
    backend_ = nullptr;
    {
      const HiddenPins hide;
      ASSERT_TRUE(hide.hidden());
      backend_ = open(Means::kClsactWithoutBpffs);
      EXPECT_THAT(numbers_of(*backend_->ports()), ElementsAre(p0_, p1_));
      EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
      if (replaced) {
        put(Order::kUp, Order::kUp);
        EXPECT_TRUE(backend_->plan(ref(p0_), rules_of(Order::kUp))->empty());
        EXPECT_THAT(bpf::tcx_chain(p0_, Part::kRemap)->program_ids, IsEmpty());
        EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
      }
      flush();
      for (const Part part : {Part::kClassify, Part::kRemap})
        EXPECT_THAT(bpf::tcx_chain(p0_, part)->program_ids, IsEmpty());
      EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 43}));
      EXPECT_THAT(numbers_of(*open(Means::kClsactWithoutBpffs)->ports()), IsEmpty());
      backend_ = nullptr;
    }
    std::filesystem::remove_all(PrivateNet::bpffs() + "/lldp-level");
  }
}

/// Another thread's, so that it is not missed afterwards.
void without(std::uint32_t capabilities, const std::function<void()>& what) {
  std::thread([&] {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    __user_cap_data_struct has[_LINUX_CAPABILITY_U32S_3] = {};
    ASSERT_EQ(::syscall(SYS_capget, &header, has), 0);
    has[0].effective &= ~capabilities;
    ASSERT_EQ(::syscall(SYS_capset, &header, has), 0);
    what();
  }).join();
}

void without_sys_admin(const std::function<void()>& what) { without(1U << CAP_SYS_ADMIN, what); }

// Who may ask nothing was told that the kernel had no TCX, and nothing was left.
TEST_P(BpfBackend, WhoMayNotAskIsNotToldThatNothingIsLeft) {
  if (GetParam() != Means::kTcx) GTEST_SKIP() << "filters are found by their names";
  put(Order::kUp, Order::kUp);
  backend_ = nullptr;
  without(~0U, [] {
    const auto backend =
        make_backend("bpf", {.bpf = {.bpffs = PrivateNet::bpffs(), .hook = hook_of(Means::kTcx)}});
    EXPECT_TRUE(!backend || (*backend)->overlooked());
  });
}

TEST_P(BpfBackend, ProgramsThatOneMayNotLookAtAreSaidToBeThere) {
  if (GetParam() != Means::kTcx) GTEST_SKIP() << "filters are found by their names";
  put(Order::kUp, Order::kUp);
  backend_ = nullptr;
  without_sys_admin([] { EXPECT_FALSE(open()->overlooked()) << "they have files"; });
  {
    const HiddenPins hide;
    ASSERT_TRUE(hide.hidden());
    without_sys_admin([] {
      const auto blind = open()->overlooked();
      ASSERT_TRUE(blind);
      EXPECT_THAT(to_string(*blind),
                  HasSubstr("p0, p1: may have TCX programs, which CAP_SYS_ADMIN"));
    });
    EXPECT_FALSE(open()->overlooked());
  }
  std::filesystem::remove_all(PrivateNet::bpffs() + "/lldp-level");
}

TEST_P(BpfBackend, DirectoryThatAnotherUserHasMadeIsNotTrusted) {
  if (GetParam() == Means::kTcx || GetParam() == Means::kClsactWithoutBpffs)
    GTEST_SKIP() << "wants a BPF file system, and can do without";
  const std::string ours = PrivateNet::bpffs() + "/lldp-level";
  for (const std::string& squatted : {ours, own_directory()}) {
    backend_ = nullptr;
    std::filesystem::create_directories(squatted);
    std::filesystem::permissions(squatted, std::filesystem::perms::all);
    ASSERT_EQ(::chown(squatted.c_str(), 65534, 65534), 0);
    if (squatted != ours) ::chmod(ours.c_str(), 01777);
    backend_ = open();
    EXPECT_THAT(backend_->description(), HasSubstr(ours + " was made by another user"));
    put(Order::kUp, Order::kUp);
    flush();
    EXPECT_TRUE(!std::filesystem::exists(own_directory()) ||
                std::filesystem::is_empty(own_directory()))
        << "he could take it away";
    std::filesystem::remove_all(ours);
  }
  // In ours anybody may make a directory, be the file system closed to him or not.
  ASSERT_EQ(::chmod(PrivateNet::bpffs().c_str(), 0755), 0);
  backend_ = nullptr;
  std::filesystem::create_directories(own_directory());
  ASSERT_EQ(::chmod(ours.c_str(), 01777), 0);
  ASSERT_EQ(::chown(own_directory().c_str(), 65534, 65534), 0);
  backend_ = open();
  EXPECT_THAT(backend_->description(), HasSubstr(ours + " was made by another user"));
  backend_ = nullptr;
  std::filesystem::remove_all(ours);
  // One that nobody else can have made anything in is its owner's affair.
  std::filesystem::permissions(PrivateNet::bpffs(), std::filesystem::perms::owner_all);
  std::filesystem::create_directories(ours);
  ASSERT_EQ(::chown(ours.c_str(), 65534, 65534), 0);
  backend_ = open();
  EXPECT_THAT(backend_->description(), HasSubstr("kept in " + ours));
  flush();
  std::filesystem::remove_all(ours);
  ::chmod(PrivateNet::bpffs().c_str(), 01777);
}

TEST_P(BpfBackend, FileSystemThatGoesIsTold) {
  if (GetParam() == Means::kClsactWithoutBpffs) GTEST_SKIP() << "there is none";
  put(Order::kUp, Order::kUp);
  const auto tells = [&] {
    return std::ranges::count(backend_->take_events().changed, Ifindex()) != 0;
  };
  const auto is_told = [&](int wait_ms) {
    pollfd ready{.fd = backend_->events(), .events = POLLIN, .revents = 0};
    while (::poll(&ready, 1, wait_ms) > 0)
      if (tells()) return true;
    return false;
  };
  EXPECT_FALSE(is_told(50));
  {
    const HiddenPins hide;
    ASSERT_TRUE(hide.hidden());
    EXPECT_TRUE(is_told(60'000)) << "another in its place";
  }
  EXPECT_TRUE(is_told(60'000)) << "it is seen again, after a rest";
  ASSERT_EQ(::mount("none", "/mnt", "tmpfs", 0, nullptr), 0);
  EXPECT_FALSE(tells()) << "none of ours";
  ::umount2("/mnt", MNT_DETACH);
}

using BpfMigration = BpfBackend;
INSTANTIATE_TEST_SUITE_P(On, BpfMigration, testing::Values(Means::kAuto),
                         testing::PrintToStringParamName());

TEST_P(BpfMigration, RulesMoveToTcxWithoutAGapAndStayThere) {
  bridge();
  put(Order::kUp, Order::kUp);
  EXPECT_THAT(output_of("tc filter show dev p1 egress"), HasSubstr("lldp-level"));
  if (!bpf().migrates()) GTEST_SKIP() << "this kernel has no TCX";
  EXPECT_EQ(bpf().migrate(p0_), true);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  EXPECT_EQ(bpf().migrate(p1_), true);
  EXPECT_EQ(bpf().migrate(p1_), false);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  // The empty qdisc stays: to take it from a running port would lose packets.
  EXPECT_THAT(filters_of("p0") + filters_of("p1"), IsEmpty());
  EXPECT_THAT(output_of("tc qdisc show dev p0"), HasSubstr("clsact"));
  EXPECT_THAT(output_of("tc qdisc show dev p1"), HasSubstr("clsact"));
  // Changes, also those of a later back end, are made where the rules are.
  backend_ = nullptr;
  backend_ = open();
  EXPECT_TRUE(backend_->plan(ref(p0_), rules_of(Order::kUp))->empty());
  put(Order::kUp, Order::kDown);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 43}));
  put(Order::kUp, Order::kUp);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  EXPECT_THAT(output_of("tc filter show dev p0 ingress"), Not(HasSubstr("lldp-level")));
  backend_ = open();  // and goes with the rules, whoever takes them away
  flush();
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 43}));
  EXPECT_THAT(output_of("tc qdisc show dev p0; tc qdisc show dev p1"), Not(HasSubstr("clsact")));
  EXPECT_FALSE(std::filesystem::exists(PrivateNet::bpffs() + "/lldp-level"));
}

TEST_P(BpfMigration, RulesMoveByThemselvesAPortAtATime) {
  if (!bpf().migrates()) GTEST_SKIP() << "this kernel has no TCX";
  put(Order::kUp, Order::kUp);
  (void)backend_->take_events();
  std::vector<Ifindex> moved;
  while (moved.size() < 2) {
    pollfd ready{.fd = backend_->events(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&ready, 1, 5000), 1);
    const bool both = filters_of("p0").empty() == filters_of("p1").empty();
    const auto changed = backend_->take_events().changed;
    if (both != (filters_of("p0").empty() == filters_of("p1").empty()))
      moved.push_back(changed.back());
  }
  EXPECT_THAT(moved, ElementsAre(p0_, p1_));
}

TEST_P(BpfMigration, WhatOthersPutInThePlaceOfTheEmptyQdiscStays) {
  if (!bpf().migrates()) GTEST_SKIP() << "this kernel has no TCX";
  put(Order::kUp, Order::kUp);
  for (Ifindex port : {p0_, p1_}) EXPECT_EQ(bpf().migrate(port), true);
  ASSERT_TRUE(sh("tc qdisc del dev p0 clsact && tc qdisc add dev p0 ingress"));
  ASSERT_TRUE(sh("tc filter add dev p1 egress u32 match u32 0 0 flowid 1:7"));
  flush();
  EXPECT_THAT(output_of("tc qdisc show dev p0"), HasSubstr("ingress"));
  EXPECT_THAT(output_of("tc filter show dev p1 egress"), HasSubstr("u32"));
  EXPECT_FALSE(std::filesystem::exists(PrivateNet::bpffs() + "/lldp-level"));
}

TEST_P(BpfMigration, EmptyQdiscOfAnInterfaceThatIsNoMoreIsForgotten) {
  if (!bpf().migrates()) GTEST_SKIP() << "this kernel has no TCX";
  put(Order::kUp, Order::kUp);
  for (Ifindex port : {p0_, p1_}) EXPECT_EQ(bpf().migrate(port), true);
  backend_ = nullptr;
  ASSERT_TRUE(sh("ip link del p1 && ip link add p1 index " + std::to_string(p1_.value()) +
                 " up type veth peer name q1 && tc qdisc add dev p1 clsact"));
  backend_ = open();
  put(Order::kUp, Order::kUp);
  flush();
  EXPECT_THAT(output_of("tc qdisc show dev p0"), Not(HasSubstr("clsact")));
  EXPECT_THAT(output_of("tc qdisc show dev p1"), HasSubstr("clsact"));
}

TEST_P(BpfBackend, LinkOfADeletedInterfaceIsNoRuleOfTheNext) {
  bridge();
  put(Order::kUp, Order::kUp);
  backend_ = nullptr;
  ASSERT_TRUE(sh("ip link del p1 && ip link add p1 index " + std::to_string(p1_.value()) +
                 " address 02:00:00:00:00:03 up type veth peer name q1 address 02:00:00:00:00:04 "
                 "&& ip link set q1 up && ip link set p1 master br0"));
  ASSERT_EQ(::if_nametoindex("p1"), p1_.value());
  backend_ = open();
  EXPECT_THAT(
      backend_->plan(ref(p1_), rules_of(Order::kUp))->changes,
      ElementsAre(Change{Action::kAdd, Part::kClassify}, Change{Action::kAdd, Part::kRemap}));
  put(Order::kUp, Order::kUp);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
}

TEST_P(BpfBackend, OlderProgramsAreReplacedInPlace) {
  bridge();
  put(Order::kUp, Order::kUp);
  if (GetParam() == Means::kClsactWithoutBpffs) GTEST_SKIP() << "nothing is pinned";
  backend_ = nullptr;
  // As if pinned by a version with other code: its keys are unknown to us.
  ASSERT_TRUE(
      sh("cd " + PrivateNet::bpffs() + "/lldp-level/* && for f in *-in *-out; do mv $f 0$f; done"));
  backend_ = open();
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  EXPECT_EQ(backend_->plan(ref(p1_), rules_of(Order::kUp))->changes.back(),
            (Change{Action::kReplace, Part::kRemap}));
  put(Order::kUp, Order::kUp);
  EXPECT_TRUE(backend_->plan(ref(p1_), rules_of(Order::kUp))->empty());
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  EXPECT_EQ(backend_->bounces(p1_), (Bounces{0, 0, 0, 0, 0, 2, 0, 0}));
}

TEST_P(BpfBackend, InterfaceMovedToAnotherNamespaceAndBack) {
  bridge();
  put(Order::kUp, Order::kUp);
  // A process that lives there is the other namespace.
  ASSERT_TRUE(
      sh("unshare -n sleep 30 & echo $! >moved.$PPID; while [ $(readlink /proc/$!/ns/net) = "
         "$(readlink /proc/self/ns/net) ]; do sleep 0.01; done; ip link set p1 netns $!"));
  if (GetParam() != Means::kTcx) {  // a TCX link goes along, and may still be changed
    const auto refused = finish(*backend_, {.port = ref(p1_),
                                            .want = rules_of(Order::kUp),
                                            .changes = {{Action::kAdd, Part::kClassify}}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ENODEV);
  }
  // What the agent does when netlink tells that the interface is gone.
  if (const auto away = backend_->plan_removal(ref(p1_)); away && !away->empty()) {
    EXPECT_TRUE(finish(*backend_, *away));
  }
  backend_->forget(p1_);
  EXPECT_THAT(numbers_of(*backend_->ports()), ElementsAre(p0_));

  ASSERT_TRUE(
      sh("nsenter -n -t $(cat moved.$PPID) ip link set p1 netns $$; kill $(cat moved.$PPID); "
         "rm moved.$PPID; ip link set p1 up; ip link set q1 up; ip link set p1 master br0"));
  p1_ = *Ifindex::make(::if_nametoindex("p1"));
  EXPECT_THAT(
      backend_->plan(ref(p1_), rules_of(Order::kUp))->changes,
      ElementsAre(Change{Action::kAdd, Part::kClassify}, Change{Action::kAdd, Part::kRemap}));
  put(Order::kUp, Order::kUp);
  EXPECT_EQ(through(across4({.dscp = 43})), across4({.dscp = 51}));
  flush();
  EXPECT_THAT(output_of("tc qdisc show dev p1"), Not(HasSubstr("clsact")));
}

}  // namespace
}  // namespace lldp::dataplane
