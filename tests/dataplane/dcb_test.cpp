// SPDX-License-Identifier: Apache-2.0
// PFC by dcbnl with a driver of the test's own, alone and as one of two back ends.
#include "dataplane/dcb/dcb.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "dataplane/compose.hpp"
#include "dataplane/print/print.hpp"
#include "tests/dataplane/contract.hpp"
#include "tests/dataplane/fake_backend.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::dataplane {
namespace {

using dcbnl::App;
using dcbnl::kDscp;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint8_t kLossless = 0x60;  ///< 5 and 6
const App kFirst{kDscp, 5, 43};
const App kSecond{kDscp, 6, 51};

/// Ports' settings, outside of any back end.
struct Hardware {
  std::map<std::string, dcbnl::Settings> ports{};
  int refuse = 0;  ///< every change, with this errno
  bool refuse_apps = false;
  std::optional<App> refuse_to_add{};
  bool deaf = false;  ///< changes are accepted and not made
  int changes = 0;
  int refuse_at = -1;      ///< this change alone, beginning with 0
  bool and_after = false;  ///< and all that come after it
  bool in_part = false;    ///< what is refused is done by its first entry
  int refuse_with = EINVAL;
  std::vector<std::string> log{};  ///< what was asked for
  std::map<Ifindex, std::string> renamed{};
};

class FakeDriver : public dcb::Driver {
 public:
  explicit FakeDriver(Hardware& hardware) : hardware_(hardware) {}
  std::optional<std::string> name_of(Ifindex port) const override {
    const auto renamed = hardware_.renamed.find(port);
    if (renamed != hardware_.renamed.end()) return renamed->second;
    const std::string name = std::to_string(port.value());  // as port_of() calls it
    return hardware_.ports.contains(name) ? std::optional(name) : std::nullopt;
  }
  Result<dcbnl::Settings> get(const std::string& port) override {
    const auto at = hardware_.ports.find(port);
    if (at == hardware_.ports.end()) return fail(Error{ENODEV, port, "the port has vanished"});
    if (!at->second.pfc) return fail(Error{EOPNOTSUPP, port, "Operation not supported"});
    // The table has no order: it is told in another one each time.
    std::ranges::reverse(at->second.apps);
    return at->second;
  }
  Result<void> set_pfc(const std::string& port, std::uint8_t enabled) override {
    hardware_.log.push_back("pfc " + std::to_string(enabled));
    return change(port, false, [&](dcbnl::Settings& s) { s.pfc->enabled = enabled; });
  }
  Result<void> add(const std::string& port, std::span<const App> apps) override {
    if (hardware_.in_part && hardware_.changes == hardware_.refuse_at)
      hardware_.ports.at(port).apps.push_back(apps.front());
    if (hardware_.refuse_to_add && std::ranges::find(apps, *hardware_.refuse_to_add) != apps.end())
      return fail(Error{EINVAL, port, "Invalid argument"});
    note("add", apps);
    return change(port, true, [&](dcbnl::Settings& s) {
      for (const App& app : apps) s.apps.push_back(app);
    });
  }
  Result<void> remove(const std::string& port, std::span<const App> apps) override {
    note("remove", apps);
    return change(port, true, [&](dcbnl::Settings& s) {
      std::erase_if(s.apps, [&](const App& a) { return std::ranges::find(apps, a) != apps.end(); });
    });
  }

 private:
  void note(std::string what, std::span<const App> apps) {
    for (const App& app : apps)
      what.append(" ")
          .append(std::to_string(app.priority))
          .append(":")
          .append(std::to_string(app.protocol));
    hardware_.log.push_back(std::move(what));
  }
  template <class Make>
  Result<void> change(const std::string& port, bool apps, Make make) {
    const int at = hardware_.changes++;
    if (at == hardware_.refuse_at ||
        (hardware_.and_after && hardware_.refuse_at >= 0 && at > hardware_.refuse_at))
      return fail(Error{hardware_.refuse_with, port, std::strerror(hardware_.refuse_with)});
    if (hardware_.refuse != 0 && (apps || !hardware_.refuse_apps))
      return fail(Error{hardware_.refuse, port, std::strerror(hardware_.refuse)});
    if (apps && hardware_.refuse_apps) return fail(Error{EINVAL, port, "Invalid argument"});
    if (!hardware_.deaf) make(hardware_.ports.at(port));
    return {};
  }
  Hardware& hardware_;
};

PortRef port_of(int n) {
  return {*Ifindex::make(7U + static_cast<unsigned>(n)), std::to_string(7 + n)};
}

/// bpf's part played by a fake, and PFC beside it.
class ComposedWorld : public World {
 public:
  ComposedWorld() {
    kernel_.vanished.insert(Ifindex::of<0x7ffffff0>());
    for (const char* name : {"7", "8"})
      hardware_.ports[name] = {.name = name, .pfc = dcbnl::Pfc{.cap = 8}};
  }
  std::unique_ptr<Backend> open() override {
    std::vector<std::unique_ptr<Backend>> members;
    members.push_back(std::make_unique<FakeBackend>(kernel_));
    members.push_back(std::make_unique<Dcb>(std::make_unique<FakeDriver>(hardware_),
                                            DcbOptions{.memory = files_.path() + "/dcb"}, "boot"));
    return std::move(*Compose::of(std::move(members)));
  }
  PortRef port(int n) override { return port_of(n); }

 private:
  TempDir files_;
  FakeKernel kernel_;
  Hardware hardware_;
};
INSTANTIATE_TEST_SUITE_P(Composed, BackendContract,
                         testing::Values(world_case<ComposedWorld>("FakeAndDcb")),
                         [](const auto& c) { return c.param.name; });

class DcbTest : public testing::Test {
 protected:
  DcbTest() {
    hardware_.ports["7"] = {.name = "7",
                            .pfc = dcbnl::Pfc{.enabled = 0x08, .cap = 8},
                            .apps = {{1, 3, 0x8906}, {kDscp, 3, 26}}};
    backend_ = open();
  }
  std::unique_ptr<Dcb> open(std::string boot = "boot") {
    return std::make_unique<Dcb>(std::make_unique<FakeDriver>(hardware_),
                                 DcbOptions{.memory = memory()}, std::move(boot));
  }
  std::string memory() const { return files_.path() + "/dcb"; }
  Result<void> put() {
    const auto plan = backend_->plan(port_of(0), rules_of(Order::kDown));
    if (!plan) return fail(plan.error());
    return finish(*backend_, {.ports = {*plan}});
  }
  Result<void> take() {
    const auto plan = backend_->plan_removal(port_of(0));
    if (!plan) return fail(plan.error());
    return finish(*backend_, {.ports = {*plan}});
  }
  Reading verified() { return *backend_->verify(port_of(0), rules_of(Order::kDown)); }
  PartReading pfc() { return verified().parts.at(0); }
  dcbnl::Settings& port() { return hardware_.ports["7"]; }

  TempDir files_;
  Hardware hardware_;
  std::unique_ptr<Dcb> backend_;
};

TEST_F(DcbTest, TurnsOnWhatIsLosslessBesideWhatIsThere) {
  EXPECT_EQ(pfc(), (PartReading{Part::kPfc, PartState::kMissing, "no PFC for priority 5, 6"}));
  ASSERT_TRUE(put());
  EXPECT_EQ(port().pfc->enabled, kLossless | 0x08);
  EXPECT_THAT(port().apps,
              testing::UnorderedElementsAre(App{1, 3, 0x8906}, App{kDscp, 3, 26}, kFirst, kSecond));
  EXPECT_EQ(pfc().state, PartState::kDone);
  EXPECT_TRUE(backend_->plan(port_of(0), rules_of(Order::kUp))->empty());  // no matter which way
}

TEST_F(DcbTest, RemovalByAnotherPutsBackExactlyWhatWasThere) {
  port().apps.push_back({kDscp, 2, 43});  // our first class, by another priority
  port().pfc->enabled = 0x28;             // and 5 is on already
  const dcbnl::Settings before = port();
  ASSERT_TRUE(put());
  EXPECT_THAT(port().apps, testing::Not(testing::Contains(App{kDscp, 2, 43})));
  port().pfc->enabled |= 0x80;  // what others do meanwhile is theirs
  backend_ = open();
  EXPECT_TRUE(backend_->plan(port_of(0), rules_of(Order::kDown))->empty());
  ASSERT_TRUE(take());
  EXPECT_EQ(port().pfc->enabled, before.pfc->enabled | 0x80);
  EXPECT_THAT(port().apps, testing::UnorderedElementsAreArray(before.apps));
  EXPECT_THAT(*backend_->ports(), IsEmpty());
  EXPECT_FALSE(std::ifstream(memory()).good());  // nothing is left to be put back
}

// Lossless by accident, they would wait in a cycle that no rule breaks.
TEST_F(DcbTest, OtherDscpsOfALosslessPriorityGetTheLossyOneOnASwitch) {
  port().apps.push_back({kDscp, 6, 48});
  const dcbnl::Settings before = port();
  ASSERT_TRUE(put());
  EXPECT_THAT(port().apps, testing::UnorderedElementsAre(App{1, 3, 0x8906}, App{kDscp, 3, 26},
                                                         App{kDscp, 0, 48}, kFirst, kSecond));
  EXPECT_EQ(backend_->made(port_of(0)).removed,
            (std::vector<qos::Class>{{Priority::of<6>(), Dscp::of<48>()}}));
  ASSERT_TRUE(take());
  EXPECT_THAT(port().apps, testing::UnorderedElementsAreArray(before.apps));
  // A host's own port: nothing turns there.
  ASSERT_TRUE(
      finish(*backend_, {.ports = {*backend_->plan(port_of(0), rules_of(Order::kUnknown))}}));
  EXPECT_THAT(port().apps, testing::Contains(App{kDscp, 6, 48}));
}

// By another name it is the same port, and another port of its old name is another.
TEST_F(DcbTest, PortThatIsRenamedIsPutBackUnderItsNewName) {
  for (const bool put_again : {false, true}) {
    const dcbnl::Settings before = port();
    ASSERT_TRUE(put());
    auto was = hardware_.ports.extract("7");
    was.key() = "swp1";
    hardware_.ports.insert(std::move(was));
    hardware_.ports["7"] = {.name = "7", .pfc = dcbnl::Pfc{.enabled = 0x60, .cap = 8}};
    hardware_.renamed[Ifindex::of<7>()] = "swp1";
    backend_ = open();
    const PortRef renamed{Ifindex::of<7>(), "swp1"};
    EXPECT_THAT(*backend_->ports(), testing::ElementsAre(renamed));
    if (put_again) {
      hardware_.ports["swp1"].pfc->enabled = 0;  // by somebody else
      const auto plan = backend_->plan(renamed, rules_of(Order::kDown));
      ASSERT_TRUE(plan);
      ASSERT_TRUE(finish(*backend_, {.ports = {*plan}}));
      EXPECT_THAT(*backend_->ports(), testing::ElementsAre(renamed));
      EXPECT_EQ(hardware_.ports["swp1"].pfc->enabled, kLossless);
      hardware_.ports["swp1"].pfc->enabled |= before.pfc->enabled;
    }
    ASSERT_TRUE(finish(*backend_, {.ports = {*backend_->plan_removal(renamed)}}));
    EXPECT_EQ(hardware_.ports["swp1"].pfc->enabled, before.pfc->enabled);
    EXPECT_THAT(hardware_.ports["swp1"].apps, testing::UnorderedElementsAreArray(before.apps));
    EXPECT_EQ(hardware_.ports["7"].pfc->enabled, 0x60);
    EXPECT_THAT(*backend_->ports(), IsEmpty());
    hardware_.renamed.clear();
    hardware_.ports["7"] = std::exchange(hardware_.ports["swp1"], {});
    hardware_.ports.erase("swp1");
  }
}

TEST_F(DcbTest, PortThatIsRenamedMeanwhileIsPutBackAndNotWhoHasItsNameNow) {
  ASSERT_TRUE(put());
  hardware_.ports["swp1"] = port();
  hardware_.renamed[Ifindex::of<7>()] = "swp1";
  const dcbnl::Settings another = port();  // it has the same, by others
  ASSERT_TRUE(take());
  EXPECT_EQ(port(), another);
  EXPECT_EQ(hardware_.ports["swp1"].pfc->enabled, 0x08);
}

TEST_F(DcbTest, PortThatIsGoneIsForgottenByTheFileToo) {
  ASSERT_TRUE(put());
  backend_->forget(Ifindex::of<7>());
  EXPECT_THAT(*backend_->ports(), IsEmpty());
  EXPECT_THAT(*open()->ports(), IsEmpty());
}

TEST_F(DcbTest, FileOfTheVersionBeforeIsRead) {
  ASSERT_TRUE(put());
  std::ofstream(memory()) << R"({"version":1,"boot":"boot","ports":{"7":{"ifindex":7,)"
                             R"("turned_on":96,"added":[[5,5,43],[5,6,51]],"removed":[]}}})";
  backend_ = open();
  EXPECT_THAT(*backend_->ports(), testing::ElementsAre(port_of(0)));
  ASSERT_TRUE(take());
  EXPECT_EQ(port().pfc->enabled, 0x08);
}

TEST_F(DcbTest, WhatWeTurnedOnIsStillOursWhenItIsPutAgain) {
  const std::uint8_t before = port().pfc->enabled;
  ASSERT_TRUE(put());
  port().apps.clear();  // another's hand
  ASSERT_TRUE(put());
  ASSERT_TRUE(take());
  EXPECT_EQ(port().pfc->enabled, before);
}

TEST_F(DcbTest, WhatWasThereBeforeAnotherRunOfTheMachineOrOfAnotherInterfaceIsNoMore) {
  ASSERT_TRUE(put());
  EXPECT_THAT(*open("another boot")->ports(), IsEmpty());
  const PortRef again{Ifindex::of<99>(), "7"};
  EXPECT_TRUE(backend_->plan_removal(again)->empty());
  for (const std::string& text : {std::string("{"), std::string(200'000, '[')}) {
    std::ofstream(memory()) << text;
    const auto damaged = open();
    EXPECT_THAT(*damaged->ports(), IsEmpty());
    EXPECT_THAT(damaged->description(), HasSubstr("is damaged"));
    ASSERT_TRUE(damaged->overlooked());
    EXPECT_THAT(to_string(*damaged->overlooked()), HasSubstr("had before is not known"));
  }
  EXPECT_FALSE(backend_->overlooked());
  const auto removing = Dcb::open({.memory = memory(), .removing = true});
  ASSERT_FALSE(removing) << "as if nothing were left to be put back";
  EXPECT_THAT(to_string(removing.error()),
              HasSubstr("is damaged: what the ports had before is not known"));
}

TEST_F(DcbTest, WhoseDriverHasNoDcbnlIsUnsupportedAndLeftAlone) {
  port().pfc.reset();
  EXPECT_EQ(pfc().state, PartState::kUnsupported);
  EXPECT_THAT(pfc().text, HasSubstr("no dcbnl"));
  EXPECT_TRUE(put());
  EXPECT_EQ(hardware_.changes, 0);
}

TEST_F(DcbTest, WhatTheDriverAcceptsAndDoesNotDoIsSaidAndNotTriedAgain) {
  const auto before = port();
  hardware_.deaf = true;
  ASSERT_TRUE(put());
  EXPECT_EQ(pfc(), (PartReading{Part::kPfc, PartState::kUnsupported,
                                "the driver accepts PFC and does not do it"}));
  const int changes = hardware_.changes;
  EXPECT_TRUE(verified().mend.empty());
  EXPECT_TRUE(put());
  EXPECT_EQ(hardware_.changes, changes);
  hardware_.deaf = false;
  port().apps.clear();  // something is different: it is worth another try
  EXPECT_FALSE(verified().mend.empty());
  ASSERT_TRUE(put());
  EXPECT_EQ(pfc().state, PartState::kDone);
  port() = before;  // now that the driver is known to do it, another has taken it away
  EXPECT_FALSE(verified().mend.empty());
}

TEST_F(DcbTest, PortThatCannotBeReadIsSaidToBeSo) {
  hardware_.ports.clear();
  EXPECT_FALSE(backend_->plan(port_of(0), rules_of(Order::kDown)));
  EXPECT_FALSE(backend_->verify(port_of(0), rules_of(Order::kDown)));
}

TEST_F(DcbTest, RefusalIsSaidWithWhatMendsIt) {
  hardware_.refuse = EINVAL;
  port().dcbx = 0x0a;  // LLD_MANAGED
  ASSERT_TRUE(put());
  EXPECT_EQ(pfc().state, PartState::kMissing);
  EXPECT_THAT(pfc().text,
              HasSubstr("the driver refuses PFC for priority 3, 5, 6: Invalid argument: "
                        "its firmware runs DCBX and decides: dcb dcbx set dev 7 host"));
  EXPECT_THAT(*backend_->ports(), IsEmpty());
  hardware_.refuse = EPERM;
  port().dcbx.reset();
  const auto done = put();
  ASSERT_FALSE(done);
  EXPECT_THAT(to_string(done.error()), HasSubstr("Operation not permitted"));
}

TEST_F(DcbTest, RefusedMapTakesThePfcBack) {
  hardware_.refuse_apps = true;
  ASSERT_TRUE(put());
  EXPECT_EQ(port().pfc->enabled, 0x08);
  EXPECT_THAT(pfc().text, HasSubstr("the driver refuses the map of DSCPs: Invalid argument"));
}

TEST_F(DcbTest, RefusedEntryPutsBackTheOneThatItReplaces) {
  port().apps.push_back({kDscp, 2, 43});
  const auto before = port().apps;
  hardware_.refuse_to_add = kFirst;
  ASSERT_TRUE(put());
  EXPECT_THAT(port().apps, testing::UnorderedElementsAreArray(before));
}

TEST_F(DcbTest, AsksTheDriverForWhatDiffersAndNothingElse) {
  port().apps.push_back({kDscp, 2, 43});
  ASSERT_TRUE(put());
  EXPECT_THAT(hardware_.log, ElementsAre("pfc 104", "remove 2:43", "add 5:43 6:51"));
  hardware_.log.clear();
  ASSERT_TRUE(take());
  EXPECT_THAT(hardware_.log, ElementsAre("pfc 8", "remove 5:43 6:51", "add 2:43"));
  hardware_.log.clear();
  ASSERT_TRUE(take());
  EXPECT_THAT(hardware_.log, IsEmpty());
}

TEST_F(DcbTest, WhateverTheDriverRefusesIsUndone) {
  port().apps.push_back({kDscp, 2, 43});
  const dcbnl::Settings before = port();
  const std::vector<std::vector<std::string>> asked{
      {"pfc 104"},
      {"pfc 104", "remove 2:43", "pfc 8"},
      {"pfc 104", "remove 2:43", "add 5:43 6:51", "add 2:43", "pfc 8"}};
  const char* whats[] = {"PFC for priority 3, 5, 6", "the map of DSCPs", "the map of DSCPs"};
  for (const int code : {EINVAL, EOPNOTSUPP, EPERM})
    for (std::size_t at = 0; at < asked.size(); ++at) {
      backend_ = open();
      hardware_.changes = 0;
      hardware_.log.clear();
      hardware_.refuse_at = static_cast<int>(at);
      hardware_.refuse_with = code;
      EXPECT_EQ(put().has_value(), code != EPERM) << at;
      hardware_.refuse_at = -1;
      EXPECT_EQ(hardware_.log, asked[at]);
      EXPECT_EQ(port().pfc->enabled, before.pfc->enabled);
      EXPECT_THAT(port().apps, testing::UnorderedElementsAreArray(before.apps));
      EXPECT_FALSE(std::ifstream(memory()).good());
      if (code == EPERM) continue;
      EXPECT_EQ(pfc().state, code == EOPNOTSUPP ? PartState::kUnsupported : PartState::kMissing);
      EXPECT_THAT(pfc().text, HasSubstr(std::string("the driver refuses ") + whats[at] + ": " +
                                        std::strerror(code)));
    }
}

// Two entries go in one request, of which the kernel may have done the first.
TEST_F(DcbTest, WhatARefusedRequestDidInPartIsUndoneToo) {
  const dcbnl::Settings before = port();
  hardware_.in_part = true;
  hardware_.refuse_at = 1;
  ASSERT_TRUE(put());
  hardware_.refuse_at = -1;
  EXPECT_EQ(pfc().state, PartState::kMissing);
  EXPECT_EQ(port().pfc->enabled, before.pfc->enabled);
  EXPECT_THAT(port().apps, testing::UnorderedElementsAreArray(before.apps));
}

TEST_F(DcbTest, WhatCannotBeUndoneIsKeptInMindUntilItIsPutBack) {
  port().apps.push_back({kDscp, 2, 43});
  const dcbnl::Settings before = port();
  for (int at = 1; at < 3; ++at) {
    backend_ = open();
    hardware_.changes = 0;
    hardware_.refuse_at = at;
    hardware_.and_after = true;
    ASSERT_TRUE(put());
    hardware_.refuse_at = -1;
    EXPECT_NE(port().pfc->enabled, before.pfc->enabled) << at;
    backend_ = open();  // whoever comes next knows it, too
    EXPECT_EQ(backend_->ports()->size(), 1U);
    ASSERT_TRUE(take());
    EXPECT_EQ(port().pfc->enabled, before.pfc->enabled);
    EXPECT_THAT(port().apps, testing::UnorderedElementsAreArray(before.apps));
    EXPECT_THAT(*backend_->ports(), IsEmpty());
  }
}

TEST_F(DcbTest, RefusedRemovalIsSaidAndTriedAgain) {
  port().apps.push_back({kDscp, 2, 43});
  const dcbnl::Settings before = port();
  ASSERT_TRUE(put());
  for (int at = 0; at < 3; ++at) {
    hardware_.changes = 0;
    hardware_.refuse_at = at;
    const auto done = take();
    ASSERT_FALSE(done) << at;
    EXPECT_EQ(to_string(done.error()), "7: remove pfc: Invalid argument");
    hardware_.refuse_at = -1;
    if (at == 2) break;
    ASSERT_TRUE(put());
  }
  ASSERT_TRUE(take());
  EXPECT_EQ(port().pfc->enabled, before.pfc->enabled);
  EXPECT_THAT(port().apps, testing::UnorderedElementsAreArray(before.apps));
}

TEST_F(DcbTest, MorePrioritiesThanTheDriverDoesAreNamed) {
  port().pfc->cap = 2;
  EXPECT_THAT(pfc().text, HasSubstr("on for 3, 5, 6, and the driver does 2 at once"));
  EXPECT_TRUE(put());
  EXPECT_EQ(hardware_.changes, 0);
  port().pfc->cap = 3;
  EXPECT_TRUE(put());
  EXPECT_EQ(pfc().state, PartState::kDone) << "just as many as it does";
}

TEST_F(DcbTest, NothingIsChangedWhereItCouldNotBePutBack) {
  backend_ = std::make_unique<Dcb>(std::make_unique<FakeDriver>(hardware_),
                                   DcbOptions{.memory = "/nonexistent/dcb"}, "boot");
  const auto done = put();
  ASSERT_FALSE(done);
  EXPECT_THAT(to_string(done.error()),
              HasSubstr("/nonexistent/dcb: add pfc: what the ports had before"));
  EXPECT_EQ(hardware_.changes, 0);
}

TEST_F(DcbTest, PortThatGoesBetweenPlanAndChangeIsSaidToHaveVanished) {
  const auto plan = backend_->plan(port_of(0), rules_of(Order::kDown)).value();
  hardware_.ports.erase("7");
  const auto done = finish(*backend_, {.ports = {plan}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error(), (Error{ENODEV, "7", "the port has vanished"}));
}

TEST(DcbDriver, RefusalsAreTheKernels) {
  const auto driver = dcb::open_driver();
  ASSERT_TRUE(driver) << to_string(driver.error());
  const App apps[] = {kFirst};
  for (const auto& done : {(*driver)->set_pfc("nosuch0", 1), (*driver)->add("nosuch0", apps),
                           (*driver)->remove("nosuch0", apps)})
    EXPECT_FALSE(done);
  EXPECT_FALSE((*driver)->get("nosuch0"));
}

TEST_F(DcbTest, GlanceFindsWhatOthersChange) {
  ASSERT_TRUE(put());
  (void)verified();
  const Ifindex ifindex = port_of(0).ifindex;
  EXPECT_THAT(backend_->glance({&ifindex, 1}, Backend::Glance::kOfTime), IsEmpty());
  port().pfc->enabled = 0;
  EXPECT_THAT(backend_->glance({&ifindex, 1}, Backend::Glance::kOfTime), ElementsAre(ifindex));
  EXPECT_FALSE(verified().mend.empty());
  ASSERT_TRUE(put());
  EXPECT_EQ(port().pfc->enabled & kLossless, kLossless);
}

TEST(Composition, TwoThatDoOnePartAreRefused) {
  FakeKernel kernel;
  std::vector<std::unique_ptr<Backend>> members;
  members.push_back(std::make_unique<FakeBackend>(kernel));
  members.push_back(std::make_unique<Print>(std::cout));
  const auto both = Compose::of(std::move(members));
  ASSERT_FALSE(both);
  EXPECT_EQ(to_string(both.error()), "backend: fake and print both do classify: leave one out");
}

TEST(Composition, WhatNobodyDoesIsUnsupported) {
  Hardware hardware;
  hardware.ports["7"] = {
      .name = "7", .pfc = dcbnl::Pfc{.enabled = kLossless}, .apps = {kFirst, kSecond}};
  std::vector<std::unique_ptr<Backend>> members;
  members.push_back(
      std::make_unique<Dcb>(std::make_unique<FakeDriver>(hardware), DcbOptions{}, "boot"));
  const auto alone = Compose::of(std::move(members));
  ASSERT_TRUE(alone);
  EXPECT_THAT(
      (*alone)->verify(port_of(0), rules_of(Order::kUp))->parts,
      ElementsAre(PartReading{Part::kClassify, PartState::kUnsupported, "no back end here does it"},
                  PartReading{Part::kRemap, PartState::kUnsupported, "no back end here does it"},
                  PartReading{Part::kPfc, PartState::kDone, ""}));
}

TEST(Composition, WhatOneDidStaysWhereAnotherIsRefused) {
  FakeKernel kernel;
  Hardware hardware{.refuse = EPERM};
  hardware.ports["7"] = {.name = "7", .pfc = dcbnl::Pfc{}};
  TempDir files;
  std::vector<std::unique_ptr<Backend>> members;
  members.push_back(std::make_unique<FakeBackend>(kernel));
  members.push_back(std::make_unique<Dcb>(std::make_unique<FakeDriver>(hardware),
                                          DcbOptions{.memory = files.path() + "/dcb"}, "boot"));
  const auto both = std::move(*Compose::of(std::move(members)));
  EXPECT_EQ(both->name(), "fake,dcb");
  const auto plan = both->plan(port_of(0), rules_of(Order::kUp));
  const auto done = finish(*both, {.ports = {*plan}});
  ASSERT_FALSE(done);
  EXPECT_THAT(to_string(done.error()), HasSubstr("add pfc: Operation not permitted"));
  EXPECT_THAT(both->plan(port_of(0), rules_of(Order::kUp))->changes,
              ElementsAre(Change{Action::kAdd, Part::kPfc}));
}

/// A fake of which few ports are asked for at a time, and which loads nothing, behind another back
/// end.
struct Second : testing::Test {
  Second() {
    hardware.ports["7"] = {.name = "7", .pfc = dcbnl::Pfc{}};
    class Slow : public FakeBackend {
      using FakeBackend::FakeBackend;
      std::size_t ports_per_turn() const override { return 1; }
      Result<void> prepare(std::span<const qos::Ruleset>) override {
        return fail(Error{ENOMEM, "fake", "loads nothing"});
      }
    };
    std::vector<std::unique_ptr<Backend>> members;
    members.push_back(std::make_unique<Dcb>(std::make_unique<FakeDriver>(hardware),
                                            DcbOptions{.memory = files.path() + "/dcb"}, "boot"));
    members.push_back(std::make_unique<Slow>(kernel));
    both = std::move(*Compose::of(std::move(members)));
  }
  TempDir files;
  FakeKernel kernel;
  Hardware hardware;
  std::unique_ptr<Backend> both;
};

TEST_F(Second, ThatIsDoneDoesNotHideWhatTheFirstRefuses) {
  hardware.refuse = EPERM;
  const auto plan = both->plan(port_of(0), rules_of(Order::kUp));
  const auto done = finish(*both, {.ports = {*plan}});
  ASSERT_FALSE(done);
  EXPECT_THAT(to_string(done.error()), HasSubstr("add pfc: Operation not permitted"));
}

TEST_F(Second, ThatIsDownTakesAllDown) {
  EXPECT_FALSE(both->down());
  kernel.down = Error{0, "fake", "is not there"};
  ASSERT_TRUE(both->down());
  EXPECT_EQ(both->down()->what, "is not there");
}

TEST_F(Second, ThatCannotPrepareIsHeard) {
  const qos::Ruleset rules = rules_of(Order::kUp);
  const auto done = both->prepare({&rules, 1});
  ASSERT_FALSE(done);
  EXPECT_EQ(to_string(done.error()), "fake: loads nothing");
}

TEST_F(Second, ThatIsSlowSetsThePace) { EXPECT_EQ(both->ports_per_turn(), 1U); }

}  // namespace
}  // namespace lldp::dataplane
