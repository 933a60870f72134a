// SPDX-License-Identifier: Apache-2.0
// `lldp-level-lab collect`, of files that real agents told and of devices that are asked by ssh.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "agent/report/report.hpp"
#include "lab/agents/fabric_network.hpp"
#include "lab/topology/generators.hpp"
#include "lab/topology/json.hpp"
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_dir.hpp"

namespace lldp::lab::collect {
namespace {

using namespace std::chrono_literals;
using support::run;
using testing::HasSubstr;

std::string lab(const std::string& arguments) {
  return support::program("lldp-level-lab") + " " + arguments;
}
void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

/// Real agents on virtual time, and what `show` and `rules` say there.
class Agents {
 public:
  explicit Agents(const Fabric& fabric) : net(agents::network_of(fabric, 1)), fabric_(fabric) {
    net.start_all();
    net.run_for(10s);
  }

  void write_into(const TempDir& dir, const std::string& without_rules = {}) {
    for (std::size_t n = 0; n < fabric_.nodes.size(); ++n) {
      if (fabric_.nodes[n].role == Role::kHost) continue;
      const auto snapshot = net.agent(n).snapshot(net.now);
      const bool bare = without_rules.find(fabric_.nodes[n].name) != std::string::npos;
      const report::Protection protection{.backend = "bpf",
                                          .state = report::Protection::State::kActive,
                                          .lossless = {Priority::of<5>(), Priority::of<6>()}};
      report::Rules rules{.backend = "bpf"};
      for (const auto& port : snapshot.ports)
        rules.ports.push_back(
            {.name = port.name,
             .wanted = qos::compile(rules.policy, {port.order, qos::Layer{}}),
             .installed =
                 bare ? report::PortRules::Installed::kNo : report::PortRules::Installed::kYes,
             .parts = {{.part = "classify", .state = "done"}, {.part = "remap", .state = "done"}}});
      const std::string base = dir.path() + "/" + fabric_.nodes[n].name;
      write(base + ".show.json", report::show_json(snapshot, protection, {}));
      write(base + ".rules.json", report::rules_json(rules));
    }
  }

  agents::Network net;

 private:
  Fabric fabric_;
};

TEST(CollectCommand, ProvesTheFabricThatAgentsTellAndFindsTheOneWithoutRules) {
  Agents agents(*clos({.switches = {4, 2}, .pods = {}, .hosts = 4}));
  const TempDir dir;
  agents.write_into(dir);
  const TempDir out;
  const std::string fabric = out / "fabric.json";
  const auto collected = run(lab("collect " + dir.path() + " -o " + fabric));
  EXPECT_EQ(collected.status, 0) << collected.text;
  EXPECT_EQ(
      collected.text,
      "6 devices told of themselves: 6 switches, 4 hosts, 12 links, 8 of them from both ends\n"
      "Nothing is missing, and the ends of all links agree.\n");
  const auto proved = run(lab("prove " + fabric));
  EXPECT_EQ(proved.status, 0) << proved.text;
  EXPECT_THAT(proved.text, HasSubstr("rules as-set"));

  const TempDir broken;
  agents.write_into(broken, "leaf1 leaf2");
  const auto found = run(lab("collect " + broken.path() + " -o " + fabric + " --json"));
  EXPECT_EQ(found.status, 1);
  EXPECT_THAT(found.text,
              AllOf(HasSubstr("\"code\": \"no-rules\""), HasSubstr("\"complete\": false")));
  const auto refuted = run(lab("prove " + fabric));
  EXPECT_EQ(refuted.status, 1) << refuted.text;
  EXPECT_THAT(refuted.text, HasSubstr("a cycle of 4"));
  EXPECT_EQ(run(lab("prove --rules down-up " + fabric)).status, 0);
}

TEST(CollectCommand, AsksBySshInParallelAndListsWhoDoesNotAnswer) {
  const TempDir dir;
  // An ssh that is asked as the real one would be: options, --, host, command.
  write(dir / "ssh",
        "#!/bin/sh\n"
        "[ \"$1 $2 $3\" = '-o BatchMode=yes -o' ] && [ \"$5\" = -- ] || exit 9\n"
        "case $6 in\n"
        "  admin@leaf1) [ \"$7\" = 'show it' ] && cat \"$ANSWERS/table\" ;;\n"
        "  hangs) echo '{' ; exec sleep 60 ;;\n"
        "  gone) echo 'ssh: connect to host gone: No route to host' >&2; exit 255 ;;\n"
        "  leaves-a-child) cat \"$ANSWERS/table\"; sleep 60 & ;;\n"
        "  odd) echo '{\"version\": 1' ;;\n"
        "esac\n");
  chmod((dir / "ssh").c_str(), 0755);
  std::filesystem::copy(support::source_dir() + "/tests/lab/collected/sonic-table.txt",
                        dir / "table");
  write(dir / "hosts", "admin@leaf1 # the first\r\nhangs, gone\r\n\nleaves-a-child\r\nodd\n");
  const auto r = run("PATH=" + dir.path() + ":$PATH ANSWERS=" + dir.path() + " " +
                     lab("collect --ssh @" + (dir / "hosts") +
                         " --command 'show it' --timeout 3 --json -o " + (dir / "fabric.json")));
  EXPECT_EQ(r.status, 1);
  EXPECT_THAT(
      r.text,
      AllOf(HasSubstr("\"device\": \"hangs\",\n      \"port\": \"\",\n      \"text\": "
                      "\"no answer within 3 s\""),
            HasSubstr("ssh: connect to host gone: No route to host (exit status 255)"),
            HasSubstr("line 1: cut off: the JSON object has no end"), HasSubstr("\"devices\": 2")));
}

TEST(CollectCommand, RefusesWhatMakesNoSense) {
  const std::string see = ": see `lldp-level-lab collect --help`\n";
  EXPECT_EQ(run(lab("collect")).text,
            "lldp-level-lab collect: name files, directories or --ssh HOSTS" + see);
  EXPECT_EQ(run(lab("collect --ssh -oProxyCommand=x")).text,
            "lldp-level-lab collect: --ssh: `-oProxyCommand=x` is no name of a host" + see);
  const auto none = run(lab("collect /nonexistent.json"));
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(
      none.text,
      HasSubstr("unreadable   /nonexistent.json: cannot be read: No such file or directory"));
}

TEST(CollectCommand, NamesTheFileThatIsCutAndAnEmptyDirectory) {
  Agents agents(*clos({.switches = {2, 2}, .pods = {}, .hosts = 2}));
  const TempDir dir;
  agents.write_into(dir);
  write(dir / "leaf1.rules.json", "{\n\"version\": 1");
  const auto nowhere = run(lab("collect " + dir.path() + " -o " + (dir / "none/x")));
  EXPECT_EQ(nowhere.text,
            "lldp-level-lab collect: " + (dir / "none/x") + ": No such file or directory\n")
      << "before anybody is asked";
  const auto cut = run(lab("collect " + dir.path() + " -o /dev/null --json"));
  EXPECT_THAT(cut.text, HasSubstr("leaf1.rules.json: line 2: cut off"));
  const TempDir empty;
  const auto nothing = run(lab("collect " + empty.path()));
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.text, HasSubstr("No device told anything: there is nothing to prove.\n"));
  EXPECT_THAT(nothing.text, testing::Not(HasSubstr("Nothing is missing")));
}

}  // namespace
}  // namespace lldp::lab::collect
