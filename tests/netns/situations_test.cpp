// SPDX-License-Identifier: Apache-2.0
// No OK that is not true: a leaf between two spines, packets that turn there, and what other
// programs and operators do to it. In each situation either the packets are right, or `check` does
// not end with 0. The two pages in docs/operate are made of the tables; the test holds each row.
#include <span>

#include "tests/netns/situations_on_ports.hpp"
#include "tests/netns/situations_on_the_way.hpp"
#include "tests/netns/situations_switch.hpp"

namespace lldp::netns {
namespace {

std::vector<Situation> all_situations() {
  std::vector<Situation> all(std::begin(kOnPorts), std::end(kOnPorts));
  all.insert(all.end(), std::begin(kOnTheWay), std::end(kOnTheWay));
  return all;
}

std::string table(std::span<const Situation> situations) {
  std::string text = "| situation | packets | `check` |\n|---|---|---|\n";
  for (const Situation& s : situations) {
    const char* const packets = s.ends == Ends::kWrong   ? "may be wrong"
                                : s.ends == Ends::kRight ? "right"
                                                         : "right, wrong or lost";
    const std::string told(s.told);
    text +=
        fmt::format("| {} | {} | {} |\n", s.name, packets, told.empty() ? "0" : "not 0: " + told);
  }
  return text;
}

constexpr const char* kAtPorts =
    "# Situations\n\n"
    "What other programs and operators do to a switch with two up ports, and what becomes of "
    "packets that turn there. Either the packets are\n"
    "right, or `lldp-level check` does not end with 0. What they do to packets between the ports "
    "is in [situations-on-the-way.md](situations-on-the-way.md).\n"
    "Both pages are made by `tests/netns/situations_test.cpp`, which runs each situation with "
    "packets through it, and then undoes it: all has to\n"
    "be fine again. Situations with VLANs, VRFs, ipvlan, the actions pedit, skbedit, gact and "
    "police, the qdiscs netem, RED, ets, fq_codel and\n"
    "prio, flowtables, route programs, filters elsewhere, and filters that end the ingress are run "
    "by Debian 12's kernel too\n"
    "(`./run test-vm`). Those with TCX, VLANs, bonds, MACsec, IPsec and netkit are run by Debian "
    "13's. A situation that the kernel of the test\n"
    "cannot make is left out there.\n\n";
constexpr const char* kBetweenPorts =
    "# Situations on the way\n\n"
    "More of [situations.md](situations.md), which tells how they are run: what other programs and "
    "operators do to packets between the ingress\n"
    "of one port and the egress of another, and from elsewhere. That is an interface that has "
    "nothing to do with a port.\n\n";

TEST(SituationsPages, AreOfTheseTables) {
  support::expect_golden(kAtPorts + table(kOnPorts), "../docs/operate/situations.md");
  support::expect_golden(kBetweenPorts + table(kOnTheWay),
                         "../docs/operate/situations-on-the-way.md");
}

/// What the leaf may be refused.
const Refusal kRefusals[] = {
    {.name = "nftables",
     .call = SYS_socket,
     .first = AF_NETLINK,
     .third = NETLINK_NETFILTER,
     .code = EPERM},
    {.name = "features", .call = SYS_ioctl, .second = SIOCETHTOOL, .code = EPERM},
};

/// What a row does that no program of the shell can: `tcx DEVICE HOOK`, `netkit DEVICE`, `xdp
/// DEVICE`, `detach` of these, `tags`, `renew` of the fabric, `refuse WHAT` to a leaf that is
/// started again, and to `kill`, `stop` or `start` the `leaf` or a `spine`.
class Doer {
 public:
  Doer(std::optional<Fabric>& fabric, std::function<bool()> renew)
      : fabric_(fabric), renew_(std::move(renew)) {}
  ~Doer() {
    if (theirs_ != nullptr) probe__destroy(theirs_);
    if (xdp_ != nullptr) pass__destroy(xdp_);
  }
  Doer(const Doer&) = delete;
  Doer& operator=(const Doer&) = delete;

  /// False where the kernel cannot.
  bool run(const std::string& script) {
    if (!script.starts_with('@') && script.find("; @") == script.npos)
      return script.empty() || sh(kShell + script + " 2>/dev/null");
    for (std::string rest = script; !rest.empty();) {
      const std::size_t end = std::min(rest.find("; "), rest.size());
      const std::string part = rest.substr(0, end);
      rest.erase(0, end + 2);
      if (!(part.front() == '@' ? act(part.substr(1)) : sh(kShell + part + " 2>/dev/null")))
        return false;
    }
    return true;
  }

 private:
  bool act(const std::string& what) {
    std::istringstream words(what);
    std::string verb;
    std::string object;
    std::string hook;
    words >> verb >> object >> hook;
    if (verb == "detach") return held_.clear(), true;
    if (verb == "tcx")
      return hold(bpf::attach_tcx(
          program(), index_of(object),
          hook == "ingress" ? dataplane::Part::kClassify : dataplane::Part::kRemap));
    if (verb == "netkit") {
      constexpr auto kPrimary = static_cast<bpf_attach_type>(54);  // BPF_NETKIT_PRIMARY, Linux 6.7
      held_.emplace_back(bpf_link_create(
          program().get(), static_cast<int>(index_of(object).value()), kPrimary, nullptr));
      return static_cast<bool>(held_.back());
    }
    if (verb == "xdp") {
      if (xdp_ == nullptr) xdp_ = pass__open_and_load();
      held_.emplace_back(bpf_link_create(bpf_program__fd(xdp_->progs.pass),
                                         static_cast<int>(index_of(object).value()), BPF_XDP,
                                         nullptr));
      return static_cast<bool>(held_.back());
    }
    if (verb == "tags") return write_tags();
    if (verb == "renew") return renew_();
    if (verb == "refuse") return restart_refused(object);
    auto& process = object == "leaf" ? fabric_->leaf() : fabric_->spine(1);
    if (verb == "start") {
      object == "leaf" ? fabric_->restart_leaf() : fabric_->start_spine(1);
      return true;
    }
    process->signal(verb == "kill" ? SIGKILL : SIGTERM);
    process->wait();
    return true;
  }
  /// The thread that starts it is refused the same.
  bool restart_refused(const std::string& what) {
    fabric_->leaf()->signal(SIGTERM);
    fabric_->leaf()->wait();
    bool done = false;
    std::thread([&] {
      const auto* const refusal = std::ranges::find(kRefusals, what, &Refusal::name);
      done = refusal != std::end(kRefusals) && refuse(*refusal);
      if (done) fabric_->restart_leaf();
    }).join();
    return done;
  }
  bool hold(Result<UniqueFd> link) {
    if (link) held_.push_back(std::move(*link));
    return link.has_value();
  }
  static Ifindex index_of(const std::string& name) {
    return Ifindex::make(::if_nametoindex(name.c_str())).value_or(Ifindex());
  }
  UniqueFd program() {
    if (theirs_ == nullptr) theirs_ = probe__open_and_load();
    return UniqueFd(::dup(bpf_program__fd(theirs_->progs.stranger)));
  }
  /// Each port's tag becomes another.
  static bool write_tags() {
    for (const auto& at : std::filesystem::recursive_directory_iterator(PrivateNet::bpffs())) {
      if (!at.path().filename().string().starts_with("state-")) continue;
      const auto map = bpf::get_pinned(at.path().string());
      if (!map) return false;
      const auto memory = bpf::Mapping::of(*map, sizeof(lldp_level_port) * LLDP_LEVEL_SLOTS);
      if (!memory) return false;
      for (lldp_level_port& port :
           std::span(static_cast<lldp_level_port*>(memory->get()), LLDP_LEVEL_SLOTS))
        if (port.ifindex != 0) port.tag ^= 1;
      return true;
    }
    return false;
  }

  std::optional<Fabric>& fabric_;
  std::function<bool()> renew_;
  std::vector<UniqueFd> held_;
  probe* theirs_ = nullptr;
  pass* xdp_ = nullptr;
};

TEST_F(Situations, PacketsAreRightOrCheckIsNotZero) {
  std::optional<Fabric> fabric_of;
  const auto tell_pids = [&] {
    ::setenv("LEAF_PID", std::to_string(fabric_of->leaf()->pid()).c_str(), 1);
    ::setenv("SPINE_PID", std::to_string(fabric_of->spine(1)->pid()).c_str(), 1);
  };
  const auto begin = [&] {
    fabric_of.reset();
    fabric_of.emplace();
    ::setenv("CONF", fabric_of->leaf_config().c_str(), 1);
    ::setenv("SOCKET", fabric_of->file("leaf").c_str(), 1);
    std::string directory = fabric_of->file("");
    directory.pop_back();
    ::setenv("DIR", directory.c_str(), 1);
    tell_pids();
    return fine(*fabric_of);
  };
  Doer doer(fabric_of, begin);
  ASSERT_TRUE(begin()) << fabric_of->checked() << fabric_of->log();
  // LLDP_SITUATION: those rows alone whose names have one of these in them, as `VLAN|pedit`.
  const char* const only = std::getenv("LLDP_SITUATION");
  const auto words = split_list(only != nullptr ? only : "", '|');
  for (const Situation& s : all_situations()) {
    if (only != nullptr && std::ranges::none_of(words, [&](const std::string& word) {
          return std::string_view(s.name).find(word) != std::string_view::npos;
        }))
      continue;
    SCOPED_TRACE(s.name);
    if (s.fresh) {
      ASSERT_TRUE(begin()) << fabric_of->checked() << fabric_of->log();
      EXPECT_TRUE(!bpf::has_tcx() || eventually([] { return Fabric::is_settled(); }));
    }
    Fabric& fabric = *fabric_of;
    if (!doer.run(s.does)) {
      std::printf("this kernel cannot: %s\n", s.name);
      doer.run(std::string(s.undoes) + "; true");
      if (!fine(fabric)) ASSERT_TRUE(begin()) << fabric.checked();
      continue;
    }
    bool right = false;
    int check = 0;
    const auto as_told = [&] {
      check = fabric.check();
      right = Fabric::is_right(s.sent);
      switch (s.ends) {
        case Ends::kRight:
          return right && check == 0;
        case Ends::kTold:
          return check != 0 && fabric.checked().find(s.told) != std::string::npos;
        case Ends::kWrong:
          return check != 0 && !right && fabric.checked().find(s.told) != std::string::npos;
      }
      return false;
    };
    EXPECT_TRUE(eventually(as_told, kUntilTold))
        << s.name << ": packets " << (right ? "right" : "wrong") << ", check " << check << ": "
        << fabric.checked();
    doer.run(s.undoes);
    tell_pids();
    EXPECT_TRUE(fine(fabric)) << "it does not heal: " << fabric.checked() << fabric.log();
    if (HasFailure() && !fine(fabric)) ASSERT_TRUE(begin()) << fabric.checked();
  }
}

}  // namespace
}  // namespace lldp::netns
