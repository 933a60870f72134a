// SPDX-License-Identifier: Apache-2.0
// lldp-level: the client of lldp-leveld.
#include <fcntl.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <cstdio>
#include <sstream>

#include "agent/cli/command.hpp"
#include "agent/cli/lldpctl.hpp"
#include "agent/cli/terminal.hpp"
#include "agent/config/config.hpp"
#include "agent/config/listen.hpp"
#include "agent/control/connection.hpp"
#include "base/text.hpp"
#include "os/file.hpp"

namespace lldp::cli {
namespace {

namespace po = boost::program_options;

constexpr Command kCommands[] = {
    {"show", "[detail] [PORT...]", 0, 4096, "json,format,filter,as,sent",
     "print device, ports, neighbors, protection and alarms; detail: all TLVs received", show},
    {"watch", "[PORT...]", 0, 4096, "json", "print the same at every change", watch},
    {"location", "", 0, 0, "json,labels,prefix,first",
     "print leaf, pod and fabric of this device; status 1: not known", location},
    {"rules", "", 0, 0, "json", "print rules wanted and installed, and packets bounced", rules},
    {"stats", "[PORT...]", 0, 4096, "json", "print the IEEE 802.1AB counters", stats},
    {"wait", "", 0, 0, "level,protected,port,timeout",
     "block until --level, --port and --protected are all met (also waits for the daemon to start)",
     wait},
    {"check", "", 0, 0, "",
     "print one line for monitoring: 0 fine, 1 alarm, 2 not protected, 3 unknown", check},
    {"doctor", "[PORT...]", 0, 4096, "json,watch",
     "check that the path of lossless traffic is lossless: 0 yes, 1 not known, 2 no", doctor},
    {"metrics", "", 0, 0, "listen", "print the metrics for Prometheus once, or serve them by HTTP",
     metrics},
    {"expect", "FILE", 1, 1, "json,as",
     "compare the cables with a topology file ('-': standard input)", expect},
    {"decode", "FILE", 1, 1, "json",
     "print the LLDPDUs of a pcap or pcapng file ('-': standard input)", decode},
    {"replay", "FILE", 1, 1, "json,port,own",
     "run the inference on a capture taken on --port; needs no daemon", replay},
    {"record", "FILE [PORT...]", 1, 4096, "",
     "write frames sent and received to a pcap file until stopped", record},
    {"reload", "", 0, 0, "", "make the daemon read its configuration again", reload},
    {"forget", "[PORT...]", 0, 4096, "",
     "drop the remembered neighbor of PORT; without PORT, drop and relearn the level", forget},
    {"update", "[PORT...]", 0, 4096, "", "send an LLDPDU now, as soon as IEEE 802.1AB allows",
     update},
    {"pause", "[PORT...]", 0, 4096, "", "stop sending and receiving LLDP on PORT until resume",
     pause},
    {"resume", "[PORT...]", 0, 4096, "", "end a pause; without PORT, on all ports", resume},
    {"accept", "pfc PORT", 2, 2, "", "accept that the rules took PFC from others on PORT", accept},
    {"reject", "pfc PORT", 2, 2, "", "withdraw an accept", reject},
    {"set", "KEY VALUE", 2, 2, "", "change a key until the next reload", set},
    {"explain", "PORT|ALARM", 1, 1, "",
     "tell what a port's order and rules depend on, or what an alarm means", explain},
    {"mute", "ALARM [PORT]", 1, 2, "for", "have check pass over an alarm for a time", mute},
    {"config", "", 0, 0, "json", "print every key in force, its value, and where it is set",
     config},
    {"help", "[COMMAND]", 0, 1, "", "print this text, or what COMMAND does and takes", help},
    {"check-config", "[FILE]", 0, 1, "", "list the errors of a configuration file", check_config},
};

/// Width of the terminal that --help is formatted for.
constexpr std::size_t kColumns = 80;

po::options_description describe() {
  po::options_description all("Options", kColumns, kColumns - 36);
  all.add_options()("socket", po::value<std::string>()->value_name("PATH"),
                    ("control socket [" + std::string(config::kDefaultSocket) + "]").c_str())(
      "json", po::bool_switch(), "print JSON instead of text")(
      "level", po::value<std::string>()->value_name("N"), "wait: until the device has this level")(
      "protected", po::bool_switch(), "wait: until protection is active")(
      "port", po::value<std::vector<std::string>>()->value_name("PORT[=TYPE]"),
      "wait: until the port has this type (repeatable); replay: name of the port")(
      "own", po::value<std::string>()->value_name("ADDRESS"),
      "replay: take frames from this MAC address as sent by the port itself")(
      "as", po::value<std::string>()->value_name("NAME"),
      "expect: this device's name in the file, if it is not its system name; show: print as "
      "lldpctl does: lldpctl-plain, -keyvalue, -json, -json0 or -xml")(
      "format", po::value<std::string>()->value_name("FORMAT"),
      "show: print table, json, keyvalue or csv")(
      "filter", po::value<std::string>()->value_name("KEY=VALUE,..."),
      "show: only ports and neighbors that match, as level=2,type=uplink")(
      "timeout", po::value<std::string>()->value_name("SECONDS"), "wait: give up after this time")(
      "listen", po::value<std::string>()->value_name("ADDRESS:PORT"),
      "metrics: answer HTTP there until stopped; PORT alone: on loopback")(
      "watch", po::bool_switch(),
      "doctor: print which end pauses which priority, every second until stopped")(
      "for", po::value<std::string>()->value_name("TIME"),
      "mute: how long, as 90s, 15m, 8h or 3d; 0 ends it")("sent", po::bool_switch(),
                                                          "show: the TLVs that each port sends")(
      "labels", po::bool_switch(), "location: print labels for schedulers, one KEY=VALUE a line")(
      "prefix", po::value<std::string>()->value_name("TEXT"),
      "location --labels: text before the number of the tier [lldp-level.tier-]")(
      "first", po::value<std::string>()->value_name("N"),
      "location --labels: number of the tier next to the hosts [1]")(
      "help,h", po::bool_switch(), "print this text")("version,V", po::bool_switch(),
                                                      "print the version");
  return all;
}

std::string usage_of(const Command& c) {
  return std::string(c.name) + (c.operands.empty() ? "" : " " + std::string(c.operands));
}

std::string help_text() {
  std::ostringstream out;
  out << "usage: lldp-level COMMAND [OPTION]...\n\nCommands:\n";
  for (const Command& c : kCommands) {
    constexpr std::size_t kIndent = 26;
    std::string line = "  " + usage_of(c);
    line.resize(kIndent, ' ');
    for (const std::string& word : split_list(c.help, ' ')) {
      if (line.size() + word.size() >= kColumns) {
        out << line << "\n";
        line.assign(kIndent - 1, ' ');
      }
      line += (line.back() == ' ' && line.size() == kIndent ? "" : " ") + word;
    }
    out << line << "\n";
  }
  out << "\n"
      << describe()
      << "\nExit status: 0 done, 1 failed, 2 usage; check, doctor, location: 3 state\n"
         "unknown (no daemon reachable, or it cannot tell).\n";
  return out.str();
}

template <class Number>
std::optional<Number> parse_number(const std::string& text) {
  Number v{};
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, v);
  return error == std::errc() && end == last ? std::optional(v) : std::nullopt;
}

/// 90, 90s, 15m, 8h, 3d: in seconds.
std::optional<std::uint32_t> parse_duration(std::string text) {
  constexpr std::pair<char, std::uint32_t> kUnits[] = {
      {'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86'400}};
  std::uint32_t unit = 1;
  for (const auto& [letter, seconds] : kUnits) {
    if (!text.ends_with(letter)) continue;
    unit = seconds;
    text.pop_back();
    break;
  }
  const auto number = parse_number<std::uint32_t>(text);
  return number && *number <= control::kLongestMute / unit ? std::optional(*number * unit)
                                                           : std::nullopt;
}

/// An option that the command does not take is a usage error, not ignored.
Result<void> check_options(const Command& command, const po::variables_map& values) {
  const std::vector<std::string> obeyed = split_list(command.options);
  for (const auto& [name, value] : values) {
    const bool given = !value.defaulted() && name != "socket" && name != "operands";
    if (given && std::find(obeyed.begin(), obeyed.end(), name) == obeyed.end())
      return fail(usage_error("--" + name + " is not an option of " + std::string(command.name)));
  }
  return {};
}

Result<Arguments> read_arguments(const Command& command, const po::variables_map& values) {
  if (const auto fine = check_options(command, values); !fine) return fail(fine.error());
  Arguments out;
  out.socket = values.count("socket") != 0 ? values["socket"].as<std::string>()
                                           : std::string(config::kDefaultSocket);
  out.json = values["json"].as<bool>();
  out.watch = values["watch"].as<bool>();
  out.labels = values["labels"].as<bool>();
  out.sent = values["sent"].as<bool>();
  out.is_protected = values["protected"].as<bool>();
  if (values.count("port") != 0) out.ports = values["port"].as<std::vector<std::string>>();
  const auto words = values["operands"].as<std::vector<std::string>>();
  out.operands.assign(words.begin() + 1, words.end());
  if (out.operands.size() < command.least || out.operands.size() > command.most)
    return fail(usage_error("use: lldp-level " + usage_of(command)));
  if (values.count("level") != 0) {
    const auto number = parse_number<unsigned>(values["level"].as<std::string>());
    out.level = number ? Level::make(*number) : std::nullopt;
    if (!out.level) return fail(usage_error("--level takes 0-254"));
  }
  if (values.count("prefix") != 0) out.prefix = values["prefix"].as<std::string>();
  if (values.count("first") != 0) {
    const auto number = parse_number<unsigned>(values["first"].as<std::string>());
    if (!number || *number > 254) return fail(usage_error("--first takes 0-254"));
    out.first = *number;
  }
  if (values.count("own") != 0) {
    out.own = parse_mac(values["own"].as<std::string>());
    if (!out.own) return fail(usage_error("--own takes a MAC address, as 02:00:00:00:00:01"));
  }
  if (values.count("as") != 0) out.as = values["as"].as<std::string>();
  if (values.count("format") != 0) out.format = values["format"].as<std::string>();
  if (values.count("filter") != 0) out.filter = values["filter"].as<std::string>();
  if (values.count("for") != 0) {
    const auto seconds = parse_duration(values["for"].as<std::string>());
    if (!seconds) return fail(usage_error("--for takes a time as 90s, 15m, 8h or 3d, 30d at most"));
    out.lasts = std::to_string(*seconds);
  }
  if (values.count("timeout") != 0) {
    const auto seconds = parse_number<double>(values["timeout"].as<std::string>());
    if (!seconds || !(*seconds >= 0) || *seconds > 1e6)
      return fail(usage_error("--timeout takes seconds, 0-1000000"));
    out.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
  }
  if (values.count("listen") != 0) {
    auto listen = config::parse_listen(values["listen"].as<std::string>());
    if (!listen) return fail(usage_error("--listen: " + listen.error().what));
    out.listen = std::move(*listen);
  }
  return out;
}

Result<int> say(std::string_view text) {
  if (const auto printed = print(text); !printed) return fail(printed.error());
  return kDone;
}

Result<int> run(int argc, char** argv) {
  po::options_description visible = describe();
  po::options_description all;
  all.add(visible).add_options()("operands", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("operands", -1);
  po::variables_map values;
  try {
    po::store(
        po::command_line_parser(argc, argv)
            .options(all)
            .positional(positional)
            .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
            .run(),
        values);
  } catch (const po::error& e) {
    return fail(usage_error(escape(e.what())));
  }
  if (values["help"].as<bool>()) return say(help_text());
  if (values["version"].as<bool>()) return say("lldp-level " LLDP_VERSION "\n");
  if (values.count("operands") == 0) return fail(usage_error("no command"));
  const std::string name = values["operands"].as<std::vector<std::string>>().front();
  const auto command = std::find_if(std::begin(kCommands), std::end(kCommands),
                                    [&](const Command& c) { return c.name == name; });
  if (command == std::end(kCommands))
    return fail(usage_error("no command is called '" + escape(name) + "'"));
  const auto arguments = read_arguments(*command, values);
  if (!arguments) return fail(arguments.error());
  return command->run(*arguments);
}

}  // namespace

Result<int> help(const Arguments& arguments) {
  if (arguments.operands.empty()) return say(help_text());
  const std::string& name = arguments.operands.front();
  const auto* const command = std::ranges::find(kCommands, name, &Command::name);
  if (command == std::end(kCommands))
    return fail(usage_error("no command is called '" + escape(name) + "'"));
  po::options_description obeyed("Options", kColumns, kColumns - 36);
  const po::options_description all = describe();
  for (const auto& option : all.options()) {
    const std::string& its = option->long_name();
    const std::vector<std::string> own = split_list(command->options);
    if (its == "socket" || std::ranges::find(own, its) != own.end()) obeyed.add(option);
  }
  std::ostringstream out;
  out << "usage: lldp-level " << usage_of(*command) << " [OPTION]...\n\n"
      << command->help << "\n\n"
      << obeyed << "\nlldp-level(1) has more.\n";
  return say(out.str());
}

Error usage_error(std::string what) { return {EINVAL, "", std::move(what) + ": try --help"}; }
bool is_usage_error(const Error& error) { return error.code == EINVAL && error.where.empty(); }

}  // namespace lldp::cli

int main(int argc, char** argv) {
  // A closed stream stays an error: with /dev/null, output would be lost without a word.
  lldp::hold_standard_streams("/", O_PATH);
  try {
    const auto client = lldp::cli::lldpd_client_name(argc > 0 ? argv[0] : "");
    const auto done =
        client ? lldp::cli::run_as_lldpd_client(*client, argc, argv) : lldp::cli::run(argc, argv);
    if (done) return *done;
    const std::string name(client.value_or("lldp-level"));
    for (const std::string& line : lldp::split_list(to_string(done.error()), '\n'))
      std::fprintf(stderr, "%s: %s\n", name.c_str(), line.c_str());
    return lldp::cli::is_usage_error(done.error()) ? lldp::cli::kUsage : lldp::cli::kFailed;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "lldp-level: %s: report this as a bug\n", e.what());
    return lldp::cli::kFailed;
  }
}
