// SPDX-License-Identifier: Apache-2.0
#include "agent/config/config.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>

#include "agent/config/options.hpp"
#include "base/spelling.hpp"
#include "base/text.hpp"
#include "os/file.hpp"

namespace lldp::config {
namespace {

namespace po = boost::program_options;

/// Of the screens that --help is made for.
constexpr unsigned kColumns = 80;
constexpr unsigned kLeastForText = 44;

/// Of an option that is set on a running daemon, or in a database; in a file a line is as long as
/// it is.
constexpr std::size_t kLongestValue = 16'384;

/// The reader of a description: the parser, Program_options, needs `port.*`.
enum class For : std::uint8_t { kPeople, kParser };

/// Values are taken as text: the table knows what they must be, and says so better.
po::options_description describe(const char* caption, For reader) {
  po::options_description all(caption, kColumns, kLeastForText);
  bool of_ports = false;
  for (const Row& row : rows()) {
    if (reader == For::kParser && is_of_ports(row) && std::exchange(of_ports, true))
      continue;  // one pattern is for them all
    auto* value = po::value<std::string>();
    std::string text(row.help);
    if (row.argument.empty()) {
      value->implicit_value("yes", "")->value_name("yes|no");
    } else {
      value->value_name(std::string(row.argument));
      if (!is_text(row)) text += " (" + values_of(row) + ")";
    }
    if (!row.preset.empty()) text += " [" + std::string(row.preset) + "]";
    std::string name(row.name);
    if (reader == For::kParser && is_of_ports(row))
      name.replace(name.find('.') + 1, name.npos, "*");
    all.add_options()(name.c_str(), value, text.c_str());
  }
  return all;
}

po::options_description describe_command_line(For reader) {
  po::options_description own("Options of the command line alone", kColumns, kLeastForText);
  own.add_options()("config", po::value<std::string>()->value_name("FILE"),
                    ("configuration file [" + std::string(kDefaultFile) + "]").c_str())(
      "help,h", "print this text")("version,V", "print the version")(
      "remove-rules", "remove the rules that a daemon has left here, and exit");
  own.add(describe("Options, each also a key of the configuration file", reader));
  return own;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

/// Where each option was set that was: `FILE:LINE: key` or `--option`.
using Places = std::map<std::string, std::string, std::less<>>;

constexpr std::string_view kOnCommandLine = "command line";
constexpr std::string_view kOnRequest = "set";

/// Reads the INI text line by line, so that every error has its line; Program_options reads each
/// line, under the section it stands in.
class FileReader {
 public:
  FileReader(std::string_view name, Config& config) : name_(name), config_(config) {}

  void read(std::string_view text) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // which some editors write
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    for (int line = 1; !text.empty(); ++line) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      read_line(text.substr(0, end), line);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  Errors take_errors() { return std::move(errors_); }
  Places take_places() { return std::move(places_); }

 private:
  void read_line(std::string_view raw, int line) {
    const std::string_view content = trim(raw.substr(0, raw.find('#')));
    if (content.empty()) return;
    const std::string where = name_ + ":" + std::to_string(line);
    if (content.front() == '[' && content.back() == ']') {
      section_ = content;
      const std::string_view section = content.substr(1, content.size() - 2);
      if (section.empty())
        complain(where, "'[]' is no section: name one, or remove the line");
      else if (!is_section(section))
        complain(where, "'" + escape(content) +
                            "' is no section: keys without one stand before the first");
      return;
    }
    std::istringstream in(section_ + "\n" + std::string(content) + "\n");
    po::parsed_options parsed(nullptr);
    try {
      parsed = po::parse_config_file(in, description_, /*allow_unregistered=*/true);
    } catch (const po::error&) {  // not `key = value`
      complain(where,
               "'" + escape(content) + "' is neither a key nor a section: write key = value");
      return;
    }
    for (const po::option& option : parsed.options) {
      const std::string at = where + ": " + escape(option.string_key);
      const Row* row = find_row(option.string_key);
      const std::string key = row == nullptr ? option.string_key : uniform(*row, option.string_key);
      if (row == nullptr) {
        complain(at, "unknown key: lldp-leveld --help lists the keys");
      } else if (const auto [first, fresh] = lines_.emplace(key, line); !fresh) {
        complain(at, "set before in line " + std::to_string(first->second) + ": remove one");
      } else if (auto wrong = set(*row, config_, option.string_key,
                                  option.value.empty() ? "" : option.value.front())) {
        complain(at, std::move(*wrong));
      } else {
        places_.emplace(key, at);
        config_.origins.of.insert_or_assign(
            key, Origins::Origin{option.value.empty() ? "" : option.value.front(), where});
      }
    }
  }
  void complain(std::string where, std::string what) {
    errors_.push_back({.where = std::move(where), .what = std::move(what)});
  }

  std::string name_;
  Config& config_;
  po::options_description description_ = describe("", For::kParser);
  std::string section_;
  std::map<std::string, int> lines_;
  Places places_;
  Errors errors_;
};

/// Where the first of these was set that was.
const std::string& place_of(const Places& places, std::initializer_list<std::string_view> keys) {
  static const std::string kNowhere;
  for (const std::string_view key : keys)
    if (const auto at = places.find(key); at != places.end()) return at->second;
  return kNowhere;
}

/// What no single option can see.
void check_together(Config& config, const Places& places, Errors& errors) {
  const bool learns = config.lossless == kLearned;
  if (auto policy = qos::Policy::parse(learns ? "none" : config.lossless, config.lossy)) {
    config.policy = std::move(*policy);
    config.chains = learns ? std::nullopt : std::optional(config.policy.chains());
  } else {
    // What is wrong with a preset is so because of what the other was set to.
    const Error& error = policy.error();
    if (const auto place = places.find(error.where); place != places.end())
      errors.push_back({.where = place->second, .what = error.what});
    else
      errors.push_back(
          {.where = place_of(places, {"qos.lossless", "qos.lossy"}), .what = to_string(error)});
  }
  if (config.role == Role::kHost && config.core.pinned_level)
    errors.push_back({.where = place_of(places, {"level", "role"}),
                      .what = "a host has level 0: remove this, or set role = switch"});
}

/// What no line of a file can hold; on a command line, a socket and in a database it would come
/// through.
bool has_control_character(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    const auto octet = static_cast<unsigned char>(c);
    return octet < 0x20 || octet == 0x7f;
  });
}

/// What is wrong with any value that is set by itself, whatever the option.
std::optional<std::string> wrong_value(std::string_view value) {
  if (value.size() > kLongestValue)
    return "longer than " + std::to_string(kLongestValue) + " characters: shorten it";
  if (has_control_character(value))
    return "'" + escape(value) + "' has a control character: leave it out";
  return std::nullopt;
}

/// The rows of CONFIG_DB, each field as a line of a file is read.
void take_rows(const Rows& rows, LoadedConfig& out, Places& places) {
  for (const auto& [name, fields] : rows) {
    const bool of_ports = name.starts_with(kPortRows);
    if (!of_ports && name != kDeviceRow) continue;
    const std::string_view port =
        of_ports ? std::string_view(name).substr(kPortRows.size()) : std::string_view();
    const std::string source = "CONFIG_DB " + escape(name);
    for (const auto& [field, value] : fields) {
      if (field == "NULL") continue;  // how SONiC writes a row without fields
      const std::string at = source + ": " + escape(field);
      const Row* row = find_field(field, of_ports);
      if (row == nullptr) {
        out.errors.push_back(
            {.where = at, .what = "unknown field: the model sonic-lldp-level has the fields"});
        continue;
      }
      const std::string key = key_of(*row, port);
      auto wrong = wrong_value(value);
      if (!wrong) wrong = set(*row, out.config, key, value);
      if (wrong) {
        out.errors.push_back({.where = at, .what = std::move(*wrong)});
      } else {
        places.insert_or_assign(uniform(*row, key), at);
        out.config.origins.of.insert_or_assign(uniform(*row, key), Origins::Origin{value, source});
      }
    }
  }
}

/// A dry run may stand beside the service, with the same file: it is not to meet it anywhere.
void keep_apart(Config& config, const Invocation& invocation) {
  config.transport = Transport::kPacket;  // lldpd would speak for it
  config.on_change.clear();
  config.metrics_listen.clear();
  config.snmp_agentx.clear();
  const auto given = [&](std::string_view name) {
    return std::ranges::any_of(invocation.set, [&](const auto& set) { return set.first == name; });
  };
  if (!given("socket")) config.socket += kDryRunSuffix;
  if (!given("state-file")) config.state_file += kDryRunSuffix;
}

}  // namespace

std::vector<Setting> settings(const Config& config) {
  std::vector<Setting> out;
  const auto& given = config.origins.of;
  for (const Row& row : rows()) {
    if (is_of_ports(row)) {
      for (const auto& [key, origin] : given)
        if (find_row(key) == &row) out.push_back({key, origin.value, origin.source});
    } else if (const auto at = given.find(row.name); at != given.end()) {
      out.push_back({std::string(row.name), at->second.value, at->second.source});
    } else {
      out.push_back({std::string(row.name), std::string(row.preset), "default"});
    }
  }
  return out;
}

std::string old_form(const Config& config) {
  if (!config.chains || config.chains->size() != 1 ||
      config.lossless.find('>') != std::string::npos ||
      config.lossless.find(',') == std::string::npos)
    return {};
  const auto& classes = config.chains->front().classes;
  return "qos.lossless = " + escape(config.lossless) + " is one chain, " +
         to_string(config.chains->front()) + ": priority " +
         std::to_string(classes.back().priority.value()) +
         " is lossy after a turn; if each class is an application's: qos.lossless = " +
         to_string(qos::with_spares(classes));
}

std::vector<Option> options() {
  std::vector<Option> all;
  for (const Row& row : rows())
    all.push_back({row.name, row.argument, row.preset, values_of(row), row.help, row.field,
                   is_of_ports(row)});
  return all;
}

Result<Invocation> parse_command_line(std::span<const char* const> arguments) {
  const std::vector<std::string> words(arguments.begin(), arguments.end());
  Invocation out;
  try {
    const po::parsed_options parsed =
        po::command_line_parser(words)
            .options(describe_command_line(For::kParser))
            .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
            .run();
    for (const po::option& option : parsed.options) {
      const std::string value = option.value.empty() ? "" : option.value.front();
      if (option.position_key >= 0 || option.string_key.empty())
        return fail(Error{.where = escape(value),
                          .what = "not an option: options begin with --; try --help"});
      if (option.string_key == "help") {
        out.help = true;
      } else if (option.string_key == "version") {
        out.version = true;
      } else if (option.string_key == "remove-rules") {
        out.remove_rules = true;
      } else if (option.string_key == "config") {
        out.file = value;
      } else {
        out.set.emplace_back(option.string_key, option.value.empty() ? "yes" : value);
      }
    }
  } catch (const po::error& e) {
    return fail(Error{.where = "", .what = escape(e.what()) + ": try --help"});
  }
  return out;
}

namespace {

using Reader = Result<std::string>(const std::string& path, std::size_t most);

/// The files of the folder that are read, in the order of their names; none where it is not there.
Result<std::vector<std::string>> drop_ins(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  const std::filesystem::directory_iterator all(folder, error);
  if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory)
    return names;
  if (error) return fail(Error{error.value(), folder, "cannot be read: " + error.message()});
  for (const auto& entry : all) {
    std::string name = entry.path().filename().string();
    if (name.ends_with(".conf") && name.front() != '.') names.push_back(folder + "/" + name);
  }
  std::ranges::sort(names);
  return names;
}

LoadedConfig read_by(Reader& reader, const Invocation& invocation) {
  LoadedConfig out;
  Places places;
  const auto take = [&](const std::string& name, std::string_view text) {
    FileReader file(name, out.config);
    file.read(text);
    std::ranges::move(file.take_errors(), std::back_inserter(out.errors));
    for (auto& [key, place] : file.take_places()) places.insert_or_assign(key, place);
  };
  const std::string path = invocation.file.value_or(std::string(kDefaultFile));
  if (const auto text = reader(path, kMaxFileOctets))
    take(path, *text);
  else if (invocation.file || text.error().code != ENOENT)
    out.errors.push_back(text.error());
  // Beside standard input there is no folder.
  const auto more =
      drop_ins(invocation.drop_ins.value_or(path == "-" ? std::string() : path + ".d"));
  if (!more) out.errors.push_back(more.error());
  for (const std::string& name : more.value_or(std::vector<std::string>())) {
    if (const auto text = read_lasting_file(name, kMaxFileOctets))
      take(name, *text);
    else
      out.errors.push_back(text.error());
  }
  take_rows(invocation.rows, out, places);
  for (const auto& [name, value] : invocation.set) {
    const Row* row = find_row(name);
    const std::string at = "--" + name;
    if (auto wrong = row ? set(*row, out.config, name, value) : "unknown option: try --help")
      out.errors.push_back({.where = at, .what = std::move(*wrong)});
    else
      places.insert_or_assign(uniform(*row, name), at),
          out.config.origins.of.insert_or_assign(
              uniform(*row, name), Origins::Origin{value, std::string(kOnCommandLine)});
  }
  if (out.config.dry_run) keep_apart(out.config, invocation);
  check_together(out.config, places, out.errors);
  return out;
}

Result<Config, Errors> load_by(Reader& reader, const Invocation& invocation) {
  LoadedConfig reading = read_by(reader, invocation);
  if (!reading.errors.empty()) return fail(std::move(reading.errors));
  return std::move(reading.config);
}

}  // namespace

LoadedConfig read(const Invocation& invocation) { return read_by(read_file, invocation); }

Result<Config, Errors> load(const Invocation& invocation) { return load_by(read_file, invocation); }

Result<Config, Errors> load_again(const Invocation& invocation) {
  return load_by(read_lasting_file, invocation);
}

Result<Config, Errors> parse(std::string_view text, std::string_view name) {
  Config config;
  FileReader reader(name, config);
  reader.read(text);
  Errors errors = reader.take_errors();
  check_together(config, reader.take_places(), errors);
  if (!errors.empty()) return fail(std::move(errors));
  return config;
}

namespace {

/// An option that is read at start only.
struct OfStart {
  std::string_view key{};
  bool (*keep)(Config& fresh, const Config& running) = nullptr;  ///< true: it was another
};

template <auto kMember>
constexpr OfStart of_start(std::string_view key) {
  return {key, [](Config& fresh, const Config& running) {
            if (fresh.*kMember == running.*kMember) return false;
            fresh.*kMember = running.*kMember;
            return true;
          }};
}

/// These are opened once; a restart, which disturbs nothing, takes them over.
constexpr OfStart kOfStart[] = {
    of_start<&Config::dry_run>("dry-run"),
    of_start<&Config::socket>("socket"),
    of_start<&Config::control_group>("control.group"),
    of_start<&Config::seccomp>("seccomp"),
    of_start<&Config::state_file>("state-file"),
    of_start<&Config::transport>("transport"),
    of_start<&Config::lldpd_socket>("lldpd.socket"),
    of_start<&Config::lldpd_grace>("lldpd.grace"),
    of_start<&Config::backend>("backend"),
    of_start<&Config::bpffs>("bpffs"),
    of_start<&Config::offload>("flower.offload"),
    of_start<&Config::sai_library>("sai.library"),
    of_start<&Config::sai_profile>("sai.profile"),
    of_start<&Config::soft_socket>("soft.socket"),
    of_start<&Config::sonic_redis>("sonic.redis"),
    of_start<&Config::sonic_config>("sonic.config"),
    of_start<&Config::config_db>("sonic.config-db"),
    of_start<&Config::htb>("qdisc"),
    of_start<&Config::rewrite_verified>("qos.rewrite-verified"),
};

}  // namespace

std::vector<Setting> keep_what_is_of_start(Config& fresh, const Config& running) {
  const std::vector<Setting> wanted = settings(fresh);
  const std::vector<Setting> present = settings(running);
  std::vector<Setting> out;
  for (const OfStart& option : kOfStart) {
    if (!option.keep(fresh, running)) continue;
    const auto& there = *std::ranges::find(wanted, option.key, &Setting::key);
    const auto& here = *std::ranges::find(present, option.key, &Setting::key);
    if (there.value != here.value) out.push_back(there);
    if (const auto was = running.origins.of.find(option.key); was != running.origins.of.end())
      fresh.origins.of.insert_or_assign(std::string(option.key), was->second);
    else
      fresh.origins.of.erase(std::string(option.key));
  }
  return out;
}

std::string spelled(std::string_view key) {
  const Row* row = find_row(key);
  return row == nullptr ? std::string(key) : uniform(*row, key);
}

Result<Config> with_option(Config config, std::string_view key, std::string_view value) {
  const std::string where = escape(key);
  const auto refuse = [&](std::string what) {
    return fail(Error{.where = where, .what = std::move(what)});
  };
  const Row* row = find_row(key);
  if (row == nullptr) return refuse("unknown key: lldp-leveld --help lists the keys");
  if (std::ranges::any_of(kOfStart, [&](const OfStart& option) { return option.key == key; }))
    return refuse("is read at start only: write it into the file and restart the daemon");
  if (key == "chassis-id")  // by which neighbors know the device; it is kept over restarts
    return refuse("is the device's identity, and no value for a while: write it into the file");
  if (config.dry_run && (key == "on-change" || key == "metrics.listen" || key == "snmp.agentx"))
    return refuse("a dry run runs nothing beside itself: leave it out");
  if (auto wrong = wrong_value(value)) return refuse(std::move(*wrong));
  if (auto wrong = set(*row, config, key, value)) return refuse(std::move(*wrong));
  config.origins.of.insert_or_assign(uniform(*row, key),
                                     Origins::Origin{std::string(value), std::string(kOnRequest)});
  Errors errors;
  check_together(config, {{std::string(key), where}}, errors);
  if (!errors.empty()) return fail(std::move(errors.front()));
  return config;
}

Errors unmatched(const Config& config, std::span<const std::string> interfaces) {
  Errors out;
  const auto look = [&](std::string where, const std::string& glob) {
    if (std::ranges::any_of(interfaces, [&](const auto& name) { return name_match(glob, name); }))
      return;
    out.push_back({.where = std::move(where),
                   .what = "'" + printable(glob) +
                           "' is no interface here: correct it, unless the interface comes later"});
  };
  for (const std::string& glob : config.ports.wanted) look("ports", glob);
  for (const std::string& glob : config.ports.unwanted)
    if (!has_wildcard(glob)) look("ports", glob);
  for (const std::string& glob : config.core.host_ports) look("host-ports", glob);
  for (const auto& [name, admin] : config.admin)
    look("port." + spell(name) + ".admin", spell(name));
  for (const auto& [name, layers] : config.layers)
    look("port." + spell(name) + ".layers", spell(name));
  for (const auto& [name, text] : config.description)
    look("port." + spell(name) + ".description", spell(name));
  for (const std::string& name : config.unheard_ok)
    look("port." + spell(name) + ".unheard", spell(name));
  for (const std::string& name : config.crosslink_ok)
    look("port." + spell(name) + ".crosslink", spell(name));
  for (const auto& [name, group] : config.rail) look("port." + spell(name) + ".rail", spell(name));
  return out;
}

std::vector<std::pair<std::string, std::string>> named_ports(const Config& config) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto name = [&](const std::string& port, std::string key) {
    if (std::ranges::none_of(out, [&](const auto& known) { return known.first == port; }))
      out.emplace_back(port, std::move(key));
  };
  const auto names = [&](const std::vector<std::string>& globs, const char* key) {
    for (const std::string& glob : globs)
      if (!has_wildcard(glob)) name(unescape(glob).value_or(glob), key);
  };
  names(config.ports.wanted, "ports");
  names(config.core.host_ports, "host-ports");
  for (const auto& [port, layers] : config.layers) name(port, "port." + spell(port) + ".layers");
  return out;
}

std::string help() {
  std::ostringstream out;
  out << "usage: lldp-leveld [OPTION]...\n"
         "Speaks LLDP, learns this device's level in the fabric and programs its data\n"
         "plane.\n\n"
      << describe_command_line(For::kPeople);
  return out.str();
}

}  // namespace lldp::config
