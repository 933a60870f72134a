// SPDX-License-Identifier: Apache-2.0
#include "sim/packets/workload/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "lab/topology/words.hpp"

namespace lldp::lab::packets {
namespace {

constexpr std::size_t kMostForeignFlows = 1'000'000;
constexpr std::size_t kMostOperations = 4'000'000;
constexpr std::size_t kMostDependencies = 16'000'000;
constexpr std::uint64_t kMostOctets = 4'000'000'000;
constexpr double kMostTime = 1e16;                              ///< 10,000 s
constexpr Picoseconds kMostComputed = 1'000 * kSecond * 1'000;  ///< in all: sums do not wrap
constexpr std::uint64_t kMostTag = 0xffff'ffff;

std::optional<std::uint64_t> whole(std::string_view word) {
  std::uint64_t v = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), v);
  if (word.empty() || code != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return v;
}

/// What all readers add to. A file's numbers are hosts' names or their indexes, one of the two for
/// the whole file, so that two numbers are two hosts.
class ForeignReader {
 public:
  ForeignReader(Plan& plan, HostTransport transport) : plan_(plan), transport_(transport) {
    for (std::size_t n = 0; n < plan.fabric.nodes.size(); ++n) {
      const Node& node = plan.fabric.nodes[n];
      by_name_.emplace(node.name, n);
      if (node.role != Role::kHost) continue;
      hosts_.push_back(n);
      by_names_ |= whole(node.name).has_value();
    }
  }

  [[nodiscard]] std::size_t hosts() const { return hosts_.size(); }
  [[nodiscard]] bool full() const { return plan_.flows.size() >= kMostForeignFlows; }
  /// Numbers are ranks from 0: names only where each of them is a host's.
  void number_ranks(std::uint64_t ranks) {
    ranks_ = true;
    by_names_ = true;
    for (std::uint64_t i = 0; i < ranks && by_names_; ++i) by_names_ = named(i).has_value();
  }
  [[nodiscard]] std::optional<std::size_t> host(std::uint64_t number) const {
    if (by_names_) return named(number);
    const bool is_a_switch = !ranks_ && by_name_.find(fmt::format("{}", number)) != by_name_.end();
    return number < hosts_.size() && !is_a_switch ? std::optional(hosts_[number]) : std::nullopt;
  }
  Result<std::size_t> host(const Words& at, std::string_view word) const {
    const auto number = whole(word);
    const auto found = number ? host(*number) : std::nullopt;
    if (!found)
      return at.refuse(
          fmt::format("{}: the fabric has no such host ({} hosts)", Words::shown(word), hosts()));
    return *found;
  }
  /// Returns the flow's index.
  Result<std::uint32_t> add(const Words& at, std::string name, std::size_t from, std::size_t to,
                            std::uint64_t octets, Picoseconds start, std::uint64_t hash) {
    if (from == to) return at.refuse("a flow from a host to itself");
    plan_.flows.push_back({.spec = {.octets = octets, .start = start, .transport = transport_},
                           .way = {.name = std::move(name),
                                   .from = from,
                                   .to = to,
                                   .via = {},
                                   .hash = hash_of(from, to, hash)}});
    return static_cast<std::uint32_t>(plan_.flows.size() - 1);
  }
  [[nodiscard]] Plan& plan() { return plan_; }

 private:
  /// The host of that name.
  [[nodiscard]] std::optional<std::size_t> named(std::uint64_t number) const {
    const auto it = by_name_.find(fmt::format("{}", number));
    if (it == by_name_.end() || plan_.fabric.nodes[it->second].role != Role::kHost)
      return std::nullopt;
    return it->second;
  }
  /// By which a flow's way is chosen: another seed is another run. Seed 1 adds nothing.
  [[nodiscard]] std::uint64_t hash_of(std::uint64_t from, std::uint64_t to,
                                      std::uint64_t more) const {
    std::uint64_t h = (from << 32 ^ to) * 0x9e37'79b9'7f4a'7c15 + more * 0x94d0'49bb'1331'11eb +
                      (plan_.settings.seed - 1) * 0xd6e8'feb8'6659'fd93;
    h = (h ^ h >> 29) * 0xbf58'476d'1ce4'e5b9;
    return (h ^ h >> 32) | 1U;
  }

  Plan& plan_;
  HostTransport transport_;
  std::vector<std::size_t> hosts_{};
  std::map<std::string, std::size_t, std::less<>> by_name_{};  ///< switches too
  bool by_names_ = false;
  bool ranks_ = false;
};

/// `src dst pg dport octets seconds`, or without `dport` as ConWeave has it, after how many there
/// are. The first one begins at once: what
/// stands before it there is the others' time to come up.
Result<void> read_hpcc(ForeignReader& adder, Words& words) {
  const auto count = words.number("the number of flows", 0, kMostForeignFlows);
  if (!count) return fail(count.error());
  const std::size_t before = adder.plan().flows.size();
  Picoseconds first = kNever;
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto from = adder.host(words, words.next());
    if (!from) return fail(from.error());
    const auto to = adder.host(words, words.next());
    if (!to) return fail(to.error());
    const auto group = words.number("a priority group", 0, 7);
    if (!group) return fail(group.error());
    const std::string_view fourth = words.next();
    const std::string_view fifth = words.next();
    const bool has_port = words.more_on_line();
    const auto port =
        has_port ? words.number(fourth, "a port", 0, 65'535) : Result<std::uint64_t>(0);
    if (!port) return fail(port.error());
    const auto octets = words.number(has_port ? fifth : fourth, "a size", 1, kMostOctets);
    if (!octets) return fail(octets.error());
    const auto start =
        words.scaled(has_port ? words.next() : fifth, "a time in seconds", 1e12, kMostTime);
    if (!start) return fail(start.error());
    if (adder.full()) return words.refuse(fmt::format("more than {} flows", kMostForeignFlows));
    first = std::min(first, *start);
    const auto added =
        adder.add(words, fmt::format("{}", i + 1), *from, *to, *octets, *start, *port);
    if (!added) return fail(added.error());
  }
  if (!words.at_end()) return words.refuse(fmt::format("there are more than {} flows", *count));
  auto& flows = adder.plan().flows;
  for (std::size_t i = before; i < flows.size(); ++i) flows[i].spec.start -= first;
  return {};
}

/// The operations that a file adds to a plan's program, and the lines that ask for them.
class Operations {
 public:
  Operations(Program& program, const Words& words) : program_(program), words_(words) {}
  std::uint32_t add(Program::Operation o) {
    program_.operations.push_back(std::move(o));
    lines_.push_back(words_.line());
    return static_cast<std::uint32_t>(program_.operations.size() - 1);
  }
  Program::Operation& operator[](std::uint32_t i) { return program_.operations[i]; }
  [[nodiscard]] std::size_t size() const { return program_.operations.size(); }
  /// Operations that wait for themselves, by whatever way, would never begin.
  [[nodiscard]] Result<void> all_end() const {
    const auto stuck = never_ends(program_);
    if (!stuck) return {};
    return fail(Error{0, fmt::format("line {}", lines_[*stuck - first_]),
                      "waits for itself in a circle, or for what does"});
  }

 private:
  Program& program_;
  const Words& words_;
  const std::size_t first_ = program_.operations.size();  ///< other files' stand before
  std::vector<std::size_t> lines_{};
};

/// htsim's connection matrix.
class ConnectionMatrix {
 public:
  ConnectionMatrix(ForeignReader& adder, Words& words)
      : adder_(adder), words_(words), operations_(adder.plan().program, words) {}

  Result<void> read() {
    auto done = header();
    while (done && !words_.at_end()) {
      const std::string_view word = words_.next();
      if (word == "trigger")
        done = trigger();
      else if (const auto arrow = word.find("->"); arrow != word.npos)
        done = connection(word.substr(0, arrow), word.substr(arrow + 2));
      else
        return words_.refuse(
            fmt::format("{}: a connection is written as `0->5 start 0 size 2000000`; failures and "
                        "groups are not taken",
                        Words::shown(word)));
    }
    return done ? finish() : done;
  }

 private:
  struct Trigger {
    std::size_t line = 0;        ///< where it is described; 0: nowhere
    std::uint32_t gate = kNone;  ///< its operation
    std::uint32_t needs = 0;
    std::uint32_t fired_by = 0;
    bool again = false;    ///< multishot
    std::size_t used = 0;  ///< the line that first waits for it
  };

  Result<void> header() {
    if (const auto word = words_.next(); word != "Nodes")
      return words_.refuse(fmt::format("{}: it begins with `Nodes N`", Words::shown(word)));
    const auto nodes = words_.number("the number of nodes", 1, kMostForeignFlows);
    if (!nodes) return fail(nodes.error());
    if (*nodes > adder_.hosts())
      return words_.refuse(
          fmt::format("{} nodes, and the fabric has {} hosts", *nodes, adder_.hosts()));
    nodes_ = *nodes;
    adder_.number_ranks(nodes_);
    if (const auto word = words_.next(); word != "Connections")
      return words_.refuse(fmt::format("{}: `Connections N` follows", Words::shown(word)));
    const auto count = words_.number("the number of connections", 0, kMostForeignFlows);
    if (!count) return fail(count.error());
    announced_ = *count;
    for (Words ahead = words_;; ahead = words_) {
      const std::string_view what = ahead.next();
      if (what != "Triggers" && what != "Failures") return {};
      words_ = ahead;
      const auto number = what == "Triggers"
                              ? words_.number("the number of triggers", 0, kMostForeignFlows)
                              : words_.number("the number of failures", 0, 0);
      if (!number) return fail(number.error());
    }
  }

  /// The gate of a trigger.
  Trigger& gate(std::uint64_t id) {
    Trigger& t = triggers_[id];
    if (t.gate == kNone) t.gate = operations_.add({});
    return t;
  }

  Result<void> connection(std::string_view source, std::string_view target) {
    const auto from = node(source);
    if (!from) return fail(from.error());
    const auto to = node(target);
    if (!to) return fail(to.error());
    if (*from == *to) return words_.refuse("a connection from a node to itself");
    std::optional<Picoseconds> start;
    std::uint64_t octets = 0;
    std::uint64_t id = 0;
    std::uint64_t waits_for = 0;
    std::vector<std::uint64_t> fires;
    while (words_.more_on_line()) {
      const std::string_view key = words_.next();
      if (key == "start") {
        const auto at = words_.scaled("a time in picoseconds", 1, kMostTime);
        if (!at) return fail(at.error());
        start = *at;
        continue;
      }
      const bool known = key == "size" || key == "id" || key == "trigger" || key == "prio" ||
                         key == "send_done_trigger" || key == "recv_done_trigger";
      if (!known) return words_.refuse(fmt::format("{}: there is no such key", Words::shown(key)));
      const auto value = words_.number(key, key == "prio" ? 0 : 1, kMostOctets);
      if (!value) return fail(value.error());
      if (key == "size") octets = *value;
      if (key == "id") id = *value;
      if (key == "trigger") waits_for = *value;
      if (key.ends_with("_done_trigger")) fires.push_back(*value);
    }
    if (octets == 0) return words_.refuse("a connection without a size has no end: give one");
    if (start.has_value() == (waits_for != 0))
      return words_.refuse("give a connection a start or a trigger");
    if (id != 0 && !ids_.try_emplace(id).second)
      return words_.refuse(fmt::format("id {} is given twice", id));
    if (adder_.full() || operations_.size() >= kMostOperations)
      return words_.refuse(fmt::format("more than {} connections", kMostForeignFlows));
    ++connections_;
    const auto flow = adder_.add(words_, fmt::format("{}", id != 0 ? id : connections_), *from, *to,
                                 octets, start.value_or(kNever), connections_);
    if (!flow) return fail(flow.error());
    if (start && fires.empty()) return {};
    const std::uint32_t send =
        operations_.add({.kind = Program::Kind::kSend, .flow = *flow, .needs = 1});
    if (start) operations_[send].needs = kNone;  // it begins by its time
    if (waits_for != 0) {
      Trigger& t = gate(waits_for);
      if (t.used == 0) t.used = words_.line();
      operations_[t.gate].after.push_back(send);
    }
    for (const std::uint64_t f : fires) {
      Trigger& t = gate(f);
      ++t.fired_by;
      operations_[send].after.push_back(t.gate);
    }
    return {};
  }
  Result<std::size_t> node(std::string_view word) {
    const auto number = whole(word);
    if (!number || *number >= nodes_)
      return words_.refuse(
          fmt::format("{}: a node is a number below {}", Words::shown(word), nodes_));
    return adder_.host(words_, word);
  }

  Result<void> trigger() {
    if (const auto word = words_.next(); word != "id")
      return words_.refuse(fmt::format("{}: write `trigger id N oneshot`", Words::shown(word)));
    const auto id = words_.number("a trigger's id", 1, kMostOctets);
    if (!id) return fail(id.error());
    Trigger& t = gate(*id);
    if (t.line != 0) return words_.refuse(fmt::format("trigger {} is described twice", *id));
    t.line = words_.line();
    const std::string_view kind = words_.next();
    t.needs = 1;
    t.again = kind == "multishot";
    if (kind == "barrier") {
      Words ahead = words_;
      if (ahead.next() == "count") words_ = ahead;
      const auto count = words_.number("a barrier's count", 1, kMostForeignFlows);
      if (!count) return fail(count.error());
      t.needs = static_cast<std::uint32_t>(*count);
    } else if (kind != "oneshot" && !t.again) {
      return words_.refuse(
          fmt::format("{}: there are oneshot, multishot and barrier", Words::shown(kind)));
    }
    return {};
  }

  Result<void> finish() {
    const auto refuse = [](std::size_t line, std::string what) {
      return fail(Error{0, fmt::format("line {}", line), std::move(what)});
    };
    if (connections_ != announced_)
      return words_.refuse(
          fmt::format("{} connections are announced, {} are there", announced_, connections_));
    for (const auto& [id, t] : triggers_) {
      if (t.line == 0)
        return words_.refuse(fmt::format("trigger {} is used, and described nowhere", id));
      if (t.again && t.fired_by > 1)
        return refuse(t.line, "a connection begins once: give oneshot or barrier");
      if (t.used != 0 && t.fired_by < t.needs)
        return refuse(t.used, fmt::format("trigger {} never comes: {} of {} fire it", id,
                                          t.fired_by, t.needs));
      operations_[t.gate].needs = t.used != 0 ? t.needs : kNone;  // kNone: nothing waits for it
    }
    return operations_.all_end();
  }

  ForeignReader& adder_;
  Words& words_;
  Operations operations_;
  std::uint64_t nodes_ = 0;
  std::uint64_t announced_ = 0;
  std::uint64_t connections_ = 0;
  std::map<std::uint64_t, Trigger> triggers_{};
  std::map<std::uint64_t, bool> ids_{};
};

/// A GOAL trace (Hoefler et al., "Group Operation Assembly Language", 2009), as LogGOPSim's
/// schedgen writes it.
class Goal {
 public:
  Goal(ForeignReader& adder, Words& words)
      : adder_(adder), words_(words), operations_(adder.plan().program, words) {}

  Result<void> read() {
    if (const auto word = words_.next(); word != "num_ranks")
      return words_.refuse(fmt::format("{}: it begins with `num_ranks N`", Words::shown(word)));
    const auto ranks = words_.number("the number of ranks", 1, kMostForeignFlows);
    if (!ranks) return fail(ranks.error());
    if (*ranks > adder_.hosts())
      return words_.refuse(
          fmt::format("{} ranks, and the fabric has {} hosts", *ranks, adder_.hosts()));
    ranks_ = *ranks;
    adder_.number_ranks(ranks_);
    seen_.resize(ranks_);
    while (!words_.at_end()) {
      if (const auto word = words_.next(); word != "rank")
        return words_.refuse(fmt::format("{}: `rank N {{` is wanted", Words::shown(word)));
      const auto rank = words_.number("a rank", 0, ranks_ - 1);
      if (!rank) return fail(rank.error());
      if (seen_[*rank]) return words_.refuse(fmt::format("rank {} comes twice", *rank));
      seen_[*rank] = true;
      if (const auto word = words_.next(); word != "{")
        return words_.refuse(fmt::format("{}: `{{` is wanted", Words::shown(word)));
      if (auto done = block(*rank); !done) return done;
    }
    return finish();
  }

 private:
  struct Ends {
    std::uint32_t channel = 0;
    std::uint64_t sends = 0;
    std::uint64_t receives = 0;
    std::uint64_t sent_octets = 0;
    std::uint64_t received_octets = 0;
    std::size_t line = 0;
  };

  Result<void> block(std::uint64_t rank) {
    labels_.clear();
    lanes_.clear();
    for (;;) {
      if (words_.at_end()) return words_.refuse(fmt::format("rank {} has no `}}`", rank));
      std::string_view word = words_.next();
      if (word == "}") return {};
      const bool label = word.ends_with(':');
      if (!label && words_.more_on_line()) {
        Words ahead = words_;
        const std::string_view second = ahead.next();
        if (second == "requires" || second == "irequires") {
          words_ = ahead;
          if (auto done = dependency(word, second == "irequires"); !done) return done;
          continue;
        }
      }
      std::string_view name;
      if (label) {
        name = word.substr(0, word.size() - 1);
        word = words_.next();
      }
      if (auto done = operation(rank, word); !done) return done;
      if (label &&
          !labels_.emplace(name, static_cast<std::uint32_t>(operations_.size() - 1)).second)
        return words_.refuse(fmt::format("label {} is given twice", Words::shown(name)));
    }
  }

  Result<void> operation(std::uint64_t rank, std::string_view what) {
    Program::Operation o;
    std::uint64_t peer = 0;
    std::uint64_t octets = 0;
    const bool sends = what == "send";
    if (what == "calc") {
      const auto ns = words_.number("a time in nanoseconds", 0, kMostComputed / kNanosecond);
      if (!ns) return fail(ns.error());
      o.kind = Program::Kind::kCompute;
      o.time = *ns * kNanosecond;
      computed_ += o.time;
      if (computed_ > kMostComputed)
        return words_.refuse("all that is computed takes more than 1,000,000 s");
    } else if (sends || what == "recv") {
      std::string_view size = words_.next();
      if (!size.ends_with('b'))
        return words_.refuse(fmt::format("{}: a size is written as `100b`", Words::shown(size)));
      size.remove_suffix(1);
      const auto number = whole(size);
      if (!number || *number > kMostOctets)
        return words_.refuse(
            fmt::format("{}: a size is a whole number up to {}", Words::shown(size), kMostOctets));
      octets = std::max<std::uint64_t>(1, *number);
      const std::string_view way = sends ? "to" : "from";
      if (const auto word = words_.next(); word != way)
        return words_.refuse(fmt::format("{}: `{}` is wanted", Words::shown(word), way));
      const auto other = words_.number("a rank", 0, ranks_ - 1);
      if (!other) return fail(other.error());
      peer = *other;
      if (peer == rank) return words_.refuse("a message from a rank to itself");
      o.kind = sends ? Program::Kind::kSend : Program::Kind::kReceive;
    } else {
      return words_.refuse(fmt::format("{}: there are calc, send and recv", Words::shown(what)));
    }
    std::uint64_t tag = 0;
    std::uint64_t cpu = 0;
    while (words_.more_on_line()) {
      Words ahead = words_;
      const std::string_view key = ahead.next();
      if (key != "tag" && key != "cpu" && key != "nic")
        return words_.refuse(fmt::format("{}: there are tag, cpu and nic", Words::shown(key)));
      words_ = ahead;
      const auto value = words_.number(key, 0, kMostTag);
      if (!value) return fail(value.error());
      if (key == "tag") tag = *value;
      if (key == "cpu") cpu = *value;
    }
    if (operations_.size() >= kMostOperations || adder_.full())
      return words_.refuse(fmt::format("more than {} operations, or {} messages", kMostOperations,
                                       kMostForeignFlows));
    Program& program = adder_.plan().program;
    if (o.kind == Program::Kind::kCompute) {
      const auto [lane, fresh] = lanes_.try_emplace(cpu, program.lanes);
      program.lanes += fresh ? 1U : 0U;
      o.lane = lane->second;
    } else {
      const std::uint64_t from = sends ? rank : peer;
      const std::uint64_t to = sends ? peer : rank;
      const auto [at, fresh] = channels_.try_emplace(std::tuple(from, to, tag));
      Ends& ends = at->second;
      if (fresh) ends.channel = program.channels++;
      if (fresh) ends.line = words_.line();
      ++(sends ? ends.sends : ends.receives);
      (sends ? ends.sent_octets : ends.received_octets) += octets;
      o.channel = ends.channel;
      if (sends) {
        const auto flow = adder_.add(words_, fmt::format("{}-{}.{}", from, to, ends.sends),
                                     *adder_.host(from), *adder_.host(to), octets, kNever, tag);
        if (!flow) return fail(flow.error());
        o.flow = *flow;
      }
    }
    operations_.add(std::move(o));
    return {};
  }

  Result<void> dependency(std::string_view later, bool at_start) {
    const std::string_view earlier = words_.next();
    const auto a = labels_.find(later);
    const auto b = labels_.find(earlier);
    if (a == labels_.end() || b == labels_.end())
      return words_.refuse(fmt::format("{}: no operation of this rank has that label before here",
                                       Words::shown(a == labels_.end() ? later : earlier)));
    if (++dependencies_ > kMostDependencies)
      return words_.refuse(fmt::format("more than {} dependencies", kMostDependencies));
    ++operations_[a->second].needs;
    auto& told = at_start ? operations_[b->second].with_start : operations_[b->second].after;
    told.push_back(a->second);
    return {};
  }

  Result<void> finish() {
    for (const auto& channel : channels_) {
      const Ends& ends = channel.second;
      const auto refuse = [&](const std::string& what) {
        const auto& [from, to, tag] = channel.first;
        return fail(Error{0, fmt::format("line {}", ends.line),
                          fmt::format("{} from {} to {} with tag {}", what, from, to, tag)});
      };
      if (ends.sends != ends.receives)
        return refuse(fmt::format("{} sends and {} receives", ends.sends, ends.receives));
      if (ends.sent_octets != ends.received_octets)
        return refuse(fmt::format("{} octets are sent and {} received", ends.sent_octets,
                                  ends.received_octets));
    }
    return operations_.all_end();
  }

  ForeignReader& adder_;
  Words& words_;
  Operations operations_;
  std::uint64_t ranks_ = 0;
  std::vector<bool> seen_{};
  std::map<std::string, std::uint32_t, std::less<>> labels_{};  ///< of the rank that is read
  std::map<std::uint64_t, std::uint32_t> lanes_{};              ///< of that rank, by cpu
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, Ends> channels_{};
  std::size_t dependencies_ = 0;
  Picoseconds computed_ = 0;
};

/// A connection matrix may have lines that begin with `#`.
std::string without_hash_lines(std::string_view text) {
  std::string out(text);
  for (std::size_t line = 0; line < out.size();) {
    const std::size_t end = std::min(out.find('\n', line), out.size());
    const std::size_t first = out.find_first_not_of(" \t", line);
    if (first < end && out[first] == '#') out.replace(line, end - line, end - line, ' ');
    line = end + 1;
  }
  return out;
}

/// GOAL may have comments, as C++ has them.
std::string without_slash_comments(std::string_view text) {
  std::string out(text);
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    if (out[i] != '/') continue;
    const bool block = out[i + 1] == '*';
    if (!block && out[i + 1] != '/') continue;
    std::size_t end = block ? out.find("*/", i + 2) : out.find('\n', i);
    if (end == out.npos) end = out.size();
    if (block) end = std::min(out.size(), end + 2);
    for (; i < end; ++i)
      if (out[i] != '\n') out[i] = ' ';
    --i;
  }
  return out;
}

}  // namespace

Result<void> add_foreign_traffic(Plan& plan, std::string_view text, HostTransport transport) {
  ForeignReader adder(plan, transport);
  Words words(text);
  Words ahead = words;
  const std::string_view first = ahead.next();
  if (whole(first)) return read_hpcc(adder, words);
  const std::string matrix = without_hash_lines(text);
  Words of_matrix(matrix);
  ahead = of_matrix;
  if (ahead.next() == "Nodes") return ConnectionMatrix(adder, of_matrix).read();
  const std::string goal = without_slash_comments(text);
  Words of_goal(goal);
  ahead = of_goal;
  if (ahead.next() == "num_ranks") return Goal(adder, of_goal).read();
  return of_goal.refuse(
      "this is no flow.txt of HPCC, no connection matrix of htsim and no GOAL trace");
}

}  // namespace lldp::lab::packets
