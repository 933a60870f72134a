// SPDX-License-Identifier: Apache-2.0
// A running daemon, and others who lay hands on what it made: tc(8), ip(8), --remove-rules.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sys/mount.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "dataplane/bpf/chain_watch.hpp"
#include "dataplane/bpf/kernel.hpp"
#include "tests/dataplane/hooked.hpp"
#include "tests/dataplane/private_net.hpp"
#include "tests/netns/support.hpp"
#include "tests/support/places.hpp"
//
#include "pass.skel.h"

namespace lldp::netns {
namespace {

using namespace std::chrono_literals;
namespace bpf = dataplane::bpf;
using dataplane::output_of;
using dataplane::PrivateNet;
using dataplane::sh;
using nlohmann::json;
using testing::HasSubstr;

/// A leaf on p0 whose neighbor is a spine on q0, in one namespace.
class Readback : public testing::TestWithParam<dataplane::Hooked> {
 protected:
  void SetUp() override {
    if (const std::string why = PrivateNet::enter(); !why.empty()) GTEST_SKIP() << why;
    sh("ip link del p0 2>/dev/null; ip link del p1 2>/dev/null");
    sh("rm -rf " + PrivateNet::bpffs() + "/lldp-level");  // found wherever it is, by the next one
    ASSERT_TRUE(sh("ip link add p0 up type veth peer name q0 && ip link set q0 up"));
    leaf_.emplace(command("leaf", "level = 1\nports = p0\nbackend = bpf\nbpffs = " +
                                      (on_tcx() ? PrivateNet::bpffs() : "/nonexistent") + "\n"),
                  files_.file("log"));
    // The first of a namespace's daemons is the one that is known to be there.
    ASSERT_TRUE(eventually([&] { return show().is_object(); })) << leaf_->output();
    spine_.emplace(command("spine", "level = 2\nports = q0\nbackend = none\n"),
                   files_.file("log2"));
    ASSERT_TRUE(eventually([&] { return state() == "active"; })) << show().dump(1);
    if (!on_tcx()) return;
    if (!eventually([] { return settled(); })) GTEST_SKIP() << "this kernel has no TCX";
    ASSERT_TRUE(eventually([&] { return parts() == "classify done, remap done"; }));
  }
  std::vector<std::string> command(const std::string& name, const std::string& config) {
    std::ofstream(files_.file(name + ".conf"))
        << "role = switch\nqos.lossless = slides\ntransport = packet\nsocket = "
        << files_.file(name) << "\nstate-file = " << files_.file(name + ".state") << "\n"
        << config;
    return {support::program("lldp-leveld"), "--config", files_.file(name + ".conf")};
  }
  json ask(const std::string& what) const {
    return json::parse(output_of(support::program("lldp-level") + " " + what + " --json --socket " +
                                 files_.file("leaf") + " 2>/dev/null"),
                       nullptr, false);
  }
  json show() const { return ask("show"); }
  std::string state() const {
    const json all = show();
    return all.is_object() ? all["protection"]["state"].get<std::string>() : "";
  }
  /// Classify and remap of p0, as `rules` reads them back: "classify done, remap done".
  std::string parts() const {
    const json all = ask("rules");
    if (!all.is_object()) return "";
    const json port = all["ports"][0];
    std::string text;
    for (const json& part : port["parts"])
      if (part["part"] != "pfc")
        text += (text.empty() ? "" : ", ") + part["part"].get<std::string>() + " " +
                part["state"].get<std::string>();
    return text;
  }
  int restored() const {
    const json all = ask("rules");
    return all.is_object() ? all["ports"][0]["restored"].get<int>() : 0;
  }
  int check() const {
    return WEXITSTATUS(std::system((support::program("lldp-level") + " check --socket " +
                                    files_.file("leaf") + " >" + files_.file("check"))
                                       .c_str()));
  }
  std::string checked() const { return output_of("cat " + files_.file("check")); }
  bool put_back(int times) {
    return eventually([&] { return restored() >= times && state() == "active"; });
  }
  static bool settled() {
    return output_of("tc filter show dev p0 ingress; tc filter show dev p0 egress").empty();
  }
  /// --remove-rules, and nothing of ours is on p0 then.
  bool removed() const {
    const auto port = Ifindex::make(::if_nametoindex("p0"));
    bool bare = sh(support::program("lldp-leveld") + " --remove-rules --config " +
                   files_.file("leaf.conf")) &&
                settled();
    for (const dataplane::Part part : {dataplane::Part::kClassify, dataplane::Part::kRemap}) {
      const auto chain = dataplane::bpf::tcx_chain(*port, part);
      bare = bare && (!on_tcx() || (chain && chain->program_ids.empty()));
    }
    return bare;
  }
  static bool on_tcx() { return GetParam() == dataplane::Hooked::kTcx; }

  TemporaryDirectory files_;
  std::optional<Process> spine_;
  std::optional<Process> leaf_;
};
INSTANTIATE_TEST_SUITE_P(On, Readback,
                         testing::Values(dataplane::Hooked::kClsact, dataplane::Hooked::kTcx),
                         testing::PrintToStringParamName());

TEST_P(Readback, DeletedClsactIsBackCountedAndTold) {
  if (on_tcx()) GTEST_SKIP() << "the rules do not stand there";
  EXPECT_EQ(check(), 0) << checked();
  ASSERT_TRUE(sh("tc qdisc del dev p0 clsact"));
  ASSERT_TRUE(put_back(1)) << show().dump(1) << leaf_->output();
  EXPECT_EQ(parts(), "classify done, remap done") << ask("rules").dump(1) << leaf_->output();
  EXPECT_THAT(output_of("tc filter show dev p0 egress"), HasSubstr("lldp-level"));
  EXPECT_THAT(
      leaf_->output(),
      HasSubstr("p0: rules reinstalled: classify, remap: another program had removed them"));
  EXPECT_EQ(check(), 0) << checked();
}

TEST_P(Readback, RulesRemovedBesideTheDaemonAreBack) {
  EXPECT_FALSE(sh(support::program("lldp-leveld") + " --remove-rules --config " +
                  files_.file("leaf.conf") + " 2>/dev/null"))
      << "somebody puts them back";
  ASSERT_TRUE(put_back(1)) << show().dump(1) << leaf_->output();
  EXPECT_EQ(parts(), "classify done, remap done") << ask("rules").dump(1) << leaf_->output();
  // And move on to where they cost less, for which their directory is made anew.
  if (on_tcx()) {
    ASSERT_TRUE(eventually([&] { return settled(); })) << leaf_->output();
    EXPECT_EQ(parts(), "classify done, remap done") << ask("rules").dump(1) << leaf_->output();
    EXPECT_EQ(state(), "active");
  }
}

// docs/develop/rules.md A9: the first start has made what is found for a port without a neighbor.
TEST_P(Readback, ASecondStartWithinTheFirstTtlChangesNoRules) {
  const auto rules = [&] {
    const json all = ask("rules");
    return all.is_object() ? all["ports"][0]["order"].get<std::string>() : "";
  };
  spine_->signal(SIGTERM);
  EXPECT_EQ(spine_->wait(), 0);
  ASSERT_TRUE(sh(support::program("lldp-level") + " forget p0 --socket " + files_.file("leaf")));
  ASSERT_TRUE(eventually([&] { return rules() == "unknown"; })) << ask("rules").dump(1);
  leaf_->signal(SIGTERM);
  EXPECT_EQ(leaf_->wait(), 0);
  leaf_.emplace(std::vector{support::program("lldp-leveld"), std::string("--config"),
                            files_.file("leaf.conf")},
                files_.file("log3"));
  ASSERT_TRUE(eventually([&] { return show().is_object(); })) << leaf_->output();
  ASSERT_TRUE(eventually([&] { return parts() == "classify done, remap done"; }));
  EXPECT_EQ(rules(), "unknown") << leaf_->output();
}

// docs/develop/rules.md A9: the state is lost and the rules are not, beside a neighbor and without
// one.
TEST_P(Readback, RulesFoundAtTheStartAreThoseForUp) {
  const auto order = [&] {
    const json all = ask("rules");
    return all.is_object() && !all["ports"].empty() ? all["ports"][0]["order"].dump() : "";
  };
  const auto stop = [&] {
    leaf_->signal(SIGTERM);
    EXPECT_EQ(leaf_->wait(), 0);
  };
  stop();
  const std::string state = files_.file("leaf.state");
  std::filesystem::remove(state);
  const std::string config =
      "ports = p0\nbackend = bpf\nbpffs = " + (on_tcx() ? PrivateNet::bpffs() : "/nonexistent");
  leaf_.emplace(command("leaf", "level = 3\n" + config + "\n"), files_.file("log"));
  ASSERT_TRUE(eventually([&] { return order() == "\"up\"" && this->state() == "active"; }))
      << ask("rules").dump(1) << leaf_->output();
  stop();
  spine_.reset();
  std::filesystem::remove(state);
  leaf_.emplace(command("leaf", "level = 3\n" + config + "\n"), files_.file("log"));
  EXPECT_TRUE(eventually([&] { return order() == "\"up\""; }))
      << ask("rules").dump(1) << leaf_->output();
  EXPECT_EQ(parts(), "classify done, remap done");
}

TEST_P(Readback, RemovalAfterTheDaemonsDeathLeavesNothing) {
  leaf_.reset();  // by SIGKILL
  spine_.reset();
  EXPECT_TRUE(removed());
  EXPECT_FALSE(sh("test -e " + PrivateNet::bpffs() + "/lldp-level"));
}

TEST_P(Readback, RemovalFindsWhatAFileSystemKeepsThatItDoesNotSee) {
  if (!on_tcx()) GTEST_SKIP() << "the same as without one";
  leaf_.reset();
  spine_.reset();
  const std::string bpffs = PrivateNet::bpffs();
  ASSERT_EQ(::mount("bpf", bpffs.c_str(), "bpf", 0, nullptr), 0);
  EXPECT_TRUE(removed());
  EXPECT_FALSE(sh("test -e " + bpffs + "/lldp-level"));
  ASSERT_EQ(::umount2(bpffs.c_str(), MNT_DETACH), 0);
  sh("rm -r " + bpffs + "/lldp-level");  // files of links that are no more at work
}

TEST_P(Readback, AFileSystemThatIsUnmountedLeavesNothingBelow) {
  const std::string bpffs = PrivateNet::bpffs();
  ASSERT_EQ(::umount2(bpffs.c_str(), MNT_DETACH), 0);
  EXPECT_TRUE(eventually([&] { return check() == 0; })) << checked();
  std::this_thread::sleep_for(2s);
  EXPECT_EQ(check(), 0) << checked();
  EXPECT_FALSE(sh("test -e " + bpffs + "/lldp-level"));
  ASSERT_EQ(::mount("bpf", bpffs.c_str(), "bpf", 0, nullptr), 0);
}

TEST_P(Readback, LastPortThatGoesTakesTheDirectoryAlong) {
  if (!on_tcx()) GTEST_SKIP() << "there is none";
  ASSERT_TRUE(sh("ip link del p0"));
  EXPECT_TRUE(eventually([] { return !sh("test -e " + PrivateNet::bpffs() + "/lldp-level"); }));
  EXPECT_TRUE(eventually([&] { return show().is_object() && show()["ports"].empty(); }))
      << leaf_->output();
}

TEST_P(Readback, LinkTakenOffIsBack) {
  if (!on_tcx()) GTEST_SKIP() << "the rules do not stand there";
  ASSERT_TRUE(sh("rm " + PrivateNet::bpffs() + "/lldp-level/*/port-*-egress"));
  ASSERT_TRUE(put_back(1)) << show().dump(1) << leaf_->output();
}

// Of an XDP program by a link only a glance tells. Without the watch one would find the first
// detachment too, and tell of the program before the next one finds the second.
TEST_P(Readback, DetachedLinkIsBackBeforeTheNextGlance) {
  if (!on_tcx()) GTEST_SKIP() << "the rules do not stand there";
  if (const auto watch = bpf::ChainWatch::open(); !watch)
    GTEST_SKIP() << "no watch of TCX hooks: " << to_string(watch.error());
  ASSERT_TRUE(sh("ip link add p1 up type veth peer name q1 && ip link set q1 up"));
  leaf_.reset();
  leaf_.emplace(command("leaf", "level = 1\nports = p0,p1\nbackend = bpf\nbpffs = " +
                                    PrivateNet::bpffs() + "\n"),
                files_.file("log"));
  const auto port = *Ifindex::make(::if_nametoindex("p1"));
  const auto has_rules = [&] {
    const auto chain = bpf::tcx_chain(port, dataplane::Part::kRemap);
    return chain && !chain->program_ids.empty();
  };
  ASSERT_TRUE(eventually([&] { return has_rules() && state() == "active"; })) << leaf_->output();
  const std::unique_ptr<pass, void (*)(pass*)> theirs(pass__open_and_load(), pass__destroy);
  ASSERT_NE(theirs, nullptr);
  const std::string file =
      PrivateNet::bpffs() + "/lldp-level/*/port-" + std::to_string(port.value()) + "-egress";
  // A glance may come in between, so more than one try.
  bool before = false;
  for (int i = 0; i < 5 && !before; ++i) {
    const std::size_t from = leaf_->output().size();
    const auto is_told = [&] {
      return leaf_->output().find("an XDP program", from) != std::string::npos;
    };
    bpf_link* const xdp =
        bpf_program__attach_xdp(theirs->progs.pass, static_cast<int>(::if_nametoindex("p0")));
    ASSERT_NE(xdp, nullptr);
    for (int times = 0; times < 2; ++times) {
      // Where the file is still that of the link before, nothing comes off.
      const auto detach = [&] {
        const auto link = bpf::get_pinned(output_of("printf %s " + file));
        return link && bpf::detach_link(*link) && !has_rules();
      };
      ASSERT_TRUE(eventually(detach)) << leaf_->output();
      const auto begin = std::chrono::steady_clock::now();
      ASSERT_TRUE(eventually(has_rules)) << leaf_->output();
      std::printf("back after %lld ms\n",
                  static_cast<long long>((std::chrono::steady_clock::now() - begin) / 1ms));
    }
    before = !is_told();
    ASSERT_TRUE(eventually(is_told)) << leaf_->output();
    bpf_link__destroy(xdp);
    ASSERT_TRUE(eventually([&] { return state() == "active"; })) << leaf_->output();
  }
  EXPECT_TRUE(before) << leaf_->output();
}

TEST_P(Readback, RulesComeBackSoonAfterWhatTookTheirPlaceHasGone) {
  if (on_tcx()) GTEST_SKIP() << "the rules do not stand there";
  // The daemon may be quicker with its own, and more than once.
  ASSERT_TRUE(
      sh("for i in $(seq 50); do tc qdisc del dev p0 clsact; tc qdisc add dev p0 ingress && exit; "
         "done; "
         "exit 1"));
  ASSERT_TRUE(eventually([&] { return state() == "failed"; })) << show().dump(1);
  EXPECT_EQ(show()["protection"]["reasons"][0]["text"].get<std::string>().find("p0: "),
            std::string::npos);
  // Until tries are far apart.
  ASSERT_TRUE(eventually([&] { return check() == 2; })) << checked();
  std::this_thread::sleep_for(4s);
  ASSERT_TRUE(sh("tc qdisc del dev p0 ingress"));
  ASSERT_TRUE(put_back(1)) << show().dump(1) << leaf_->output();
  EXPECT_EQ(parts(), "classify done, remap done");
}

TEST_P(Readback, FilterBeforeOursIsCriticalUntilItIsGone) {
  if (on_tcx()) GTEST_SKIP() << "TCX comes before every filter";
  ASSERT_TRUE(
      sh("tc filter add dev p0 ingress pref 1 u32 match u32 0 0 action mirred egress "
         "redirect dev lo"));
  ASSERT_TRUE(eventually([&] { return state() == "partial"; })) << show().dump(1);
  EXPECT_EQ(parts(), "classify bypassed, remap done");
  EXPECT_EQ(check(), 2);
  EXPECT_THAT(checked(), HasSubstr("LLDP-LEVEL CRITICAL - "));
  EXPECT_THAT(checked(), HasSubstr("p0: classify bypassed: a filter (u32, preference 1)"));
  EXPECT_THAT(show()["alarms"].dump(), HasSubstr("classify bypassed: a filter"));
  ASSERT_TRUE(sh("tc filter del dev p0 ingress pref 1"));
  ASSERT_TRUE(eventually([&] { return state() == "active"; })) << show().dump(1);
  EXPECT_EQ(check(), 0) << checked();
}

TEST_P(Readback, XdpProgramIsSeenWhenItComesAndWhenItGoes) {
  if (!sh(std::string("ip link set dev p0 xdpgeneric obj ") + LLDP_TEST_XDP + " sec xdp"))
    GTEST_SKIP() << "ip(8) cannot attach XDP programs here";
  ASSERT_TRUE(eventually([&] { return state() == "partial"; })) << show().dump(1);
  EXPECT_EQ(parts(), "classify bypassed, remap done");
  EXPECT_THAT(show()["protection"]["reasons"][0]["text"].get<std::string>(),
              HasSubstr("an XDP program ("));
  ASSERT_TRUE(sh("ip link set dev p0 xdpgeneric off"));
  ASSERT_TRUE(eventually([&] { return state() == "active"; })) << show().dump(1);
}

// An answer reads all anew; this is told without a question.
TEST_P(Readback, XdpProgramAboveAPortIsToldAtOnce) {
  const auto tells = [&] { return leaf_->output().find("on p0.7") != std::string::npos; };
  ASSERT_TRUE(sh("ip link add link p0 name p0.7 up type macvlan mode bridge"));
  if (!sh(std::string("ip link set dev p0.7 xdpgeneric obj ") + LLDP_TEST_XDP + " sec xdp"))
    GTEST_SKIP() << "ip(8) cannot attach XDP programs here";
  EXPECT_TRUE(eventually(tells)) << leaf_->output();
}

TEST_P(Readback, CheckIsOfNow) {
  EXPECT_EQ(check(), 0) << checked();
  // Nobody waits for anything here: what was done before check is in its answer.
  const std::string xdp = std::string("ip link set dev p0 xdpgeneric obj ") + LLDP_TEST_XDP;
  for (int i = 0; i < 5 && sh(xdp + " sec xdp"); ++i) {
    EXPECT_EQ(check(), 2) << checked();
    ASSERT_TRUE(sh("ip link set dev p0 xdpgeneric off"));
    EXPECT_EQ(check(), 0) << checked();
  }
  for (int i = 0; i < 5 && !on_tcx(); ++i) {
    ASSERT_TRUE(
        sh("tc filter add dev p0 ingress pref 1 u32 match u32 0 0 action mirred egress "
           "redirect dev lo"));
    EXPECT_EQ(check(), 2) << checked();
    ASSERT_TRUE(sh("tc filter del dev p0 ingress pref 1"));
    EXPECT_EQ(check(), 0) << checked();
  }
}

TEST_P(Readback, WaitProtectedEndsOnALeafOfManyPorts) {
  if (on_tcx()) GTEST_SKIP() << "the same on every hook";
  // What comes late is what counts: 300 ports whose rules are made after the last event of theirs.
  std::string lines;
  for (int i = 1; i <= 300; ++i)
    lines += "link add m" + std::to_string(i) + " up type veth peer name n" + std::to_string(i) +
             "\nlink set n" + std::to_string(i) + " up\n";
  std::ofstream(files_.file("batch")) << lines;
  ASSERT_TRUE(sh("ip -batch " + files_.file("batch")));
  spine_.reset();
  leaf_.reset();
  spine_.emplace(command("spine", "level = 2\nports = n*\nbackend = none\n"), files_.file("log2"));
  leaf_.emplace(command("leaf", "level = 1\nports = m*\nbackend = bpf\nbpffs = /nonexistent\n"),
                files_.file("log"));
  EXPECT_TRUE(sh(support::program("lldp-level") + " wait --protected --timeout 60 --socket " +
                 files_.file("leaf")));
  const json all = show();
  EXPECT_EQ(all["protection"]["pfc_unverified"], 300);
}

}  // namespace
}  // namespace lldp::netns
