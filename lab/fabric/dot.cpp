// SPDX-License-Identifier: Apache-2.0
#include "lab/fabric/dot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>

#include "base/text.hpp"

namespace lldp::lab {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

struct Token {
  enum class Kind : std::uint8_t { kEnd, kId, kMark, kEdge };  ///< kMark: one of {}[]=:;,
  Kind kind = Kind::kEnd;
  bool quoted = false;  ///< then no keyword
  std::string text{};
  std::size_t line = 1;
};

bool is_id(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || static_cast<unsigned char>(c) >= 0x80;
}

/// Words and marks of a DOT text, with comments left out.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) {}

  Result<Token> next() {
    skip();
    Token token{.line = line_};
    if (rest_.empty()) return token;
    const char c = rest_.front();
    if (c == '"') return quoted_id();
    if (rest_.starts_with("--") || rest_.starts_with("->")) {
      token.kind = Token::Kind::kEdge;
      token.text = take(2);
    } else if (std::string_view("{}[]=:;,").find(c) != std::string_view::npos) {
      token.kind = Token::Kind::kMark;
      token.text = take(1);
    } else if (is_id(c) || c == '-') {
      std::size_t n = 1;
      while (n < rest_.size() && is_id(rest_[n])) ++n;
      token.kind = Token::Kind::kId;
      token.text = take(n);
    } else {
      return fail(Error{0, fmt::format("line {}", line_),
                        fmt::format("`{}` is not understood", escape(rest_.substr(0, 1)))});
    }
    return token;
  }

 private:
  std::string take(std::size_t n) {
    std::string out(rest_.substr(0, n));
    line_ += static_cast<std::size_t>(std::count(out.begin(), out.end(), '\n'));
    rest_.remove_prefix(n);
    return out;
  }
  void skip_to(std::string_view end) {
    const std::size_t at = rest_.find(end);
    take(at == std::string_view::npos ? rest_.size() : at + end.size());
  }
  void skip() {
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        take(1);
      } else if (c == '#' || rest_.starts_with("//")) {
        skip_to("\n");
      } else if (rest_.starts_with("/*")) {
        skip_to("*/");
      } else {
        return;
      }
    }
  }
  Result<Token> quoted_id() {
    Token token{.kind = Token::Kind::kId, .quoted = true, .line = line_};
    std::size_t i = 1;
    for (; i < rest_.size() && rest_[i] != '"'; ++i) {
      if (rest_[i] == '\\' && i + 1 < rest_.size() && (rest_[i + 1] == '"' || rest_[i + 1] == '\\'))
        ++i;
      token.text += rest_[i];
    }
    if (i == rest_.size())
      return fail(Error{0, fmt::format("line {}", line_), "a quotation mark is not closed"});
    take(i + 1);
    return token;
  }

  std::string_view rest_;
  std::size_t line_ = 1;
};

using Attributes = std::map<std::string, std::string>;

bool is_word(const Token& t, std::string_view word) {
  return t.kind == Token::Kind::kId && !t.quoted && t.text.size() == word.size() &&
         std::equal(word.begin(), word.end(), t.text.begin(), [](char a, char b) {
           return a == (b >= 'A' && b <= 'Z' ? b + ('a' - 'A') : b);
         });
}

/// One pass over the tokens, with one token of look-ahead. Subgraphs are counted, not recursed
/// into.
class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Result<Fabric> parse() {
    if (!advance()) return fail(error_);
    if (is_word(token_, "strict") && !advance()) return fail(error_);
    if (!is_word(token_, "graph") && !is_word(token_, "digraph"))
      return refuse("a DOT file begins with graph or digraph");
    if (!advance()) return fail(error_);
    if (token_.kind == Token::Kind::kId) {
      fabric_.name = token_.text;
      if (!advance()) return fail(error_);
    }
    if (!is_mark("{")) return refuse("`{` is missing");
    for (std::size_t depth = 0;;) {
      if (is_mark("{")) {
        ++depth;
        if (!advance()) return fail(error_);
      } else if (is_mark("}")) {
        if (--depth == 0) break;
        if (!advance()) return fail(error_);
      } else if (!statement()) {
        return fail(error_);
      }
    }
    return finish();
  }

 private:
  /// False: error_ says why.
  bool advance() {
    auto token = lexer_.next();
    if (!token) {
      error_ = token.error();
      return false;
    }
    token_ = std::move(*token);
    return true;
  }
  tl::unexpected<Error> refuse(std::string what) {
    set_error(std::move(what));
    return fail(error_);
  }
  bool set_error(std::string what) {
    error_ = {0, fmt::format("line {}", token_.line), std::move(what)};
    return false;
  }
  [[nodiscard]] bool is_mark(std::string_view mark) const {
    return token_.kind == Token::Kind::kMark && token_.text == mark;
  }

  bool statement() {
    if (is_mark(";") || is_mark(",")) return advance();
    if (token_.kind == Token::Kind::kEnd) return set_error("`}` is missing");
    if (token_.kind != Token::Kind::kId)
      return set_error(fmt::format("`{}` is out of place", token_.text));
    if (is_word(token_, "subgraph")) {  // its name, then its `{`
      if (!advance()) return false;
      return token_.kind != Token::Kind::kId || advance();
    }
    for (const auto& [word, defaults] :
         {std::pair{"node", &node_defaults_}, std::pair{"edge", &edge_defaults_},
          std::pair{"graph", &ignored_}})
      if (is_word(token_, word)) return advance() && attributes(*defaults);
    return node_or_edge();
  }

  bool node_or_edge() {
    LinkEnd end;
    if (!endpoint(end)) return false;
    if (is_mark("=")) {  // an attribute of the graph
      if (!advance()) return false;
      return token_.kind == Token::Kind::kId ? advance()
                                             : set_error("a value is missing after `=`");
    }
    std::vector<LinkEnd> chain{end};
    while (token_.kind == Token::Kind::kEdge) {
      if (!advance()) return false;
      if (!endpoint(end)) return false;
      chain.push_back(end);
    }
    if (chain.size() == 1) return attributes(node_attributes_[end.node]);
    Attributes given = edge_defaults_;
    const std::size_t line = token_.line;
    if (!attributes(given)) return false;
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
      Link link{.ends = {chain[i], chain[i + 1]}};
      if (!number(given, "rate_bps", line, link.rate_bps) ||
          !number(given, "delay_ns", line, link.delay_ns))
        return false;
      for (const LinkEnd& e : link.ends)
        if (e.port.empty())
          return set_error(fmt::format("the link has no port on {}: write \"node\":\"port\"",
                                       escape(fabric_.nodes[e.node].name)));
      fabric_.links.push_back(std::move(link));
    }
    return true;
  }

  /// `node`, `node:port` or `node:port:compass`.
  bool endpoint(LinkEnd& end) {
    if (token_.kind != Token::Kind::kId) return set_error("a node's name is missing");
    const std::string name = token_.text;
    if (!advance()) return false;
    end.port.clear();
    for (int part = 0; is_mark(":"); ++part) {
      if (!advance()) return false;
      if (token_.kind != Token::Kind::kId) return set_error("a port's name is missing after `:`");
      if (part == 0) end.port = token_.text;
      if (!advance()) return false;
    }
    if (is_mark("=")) return true;  // not a node after all
    const auto [at, fresh] = index_.emplace(name, fabric_.nodes.size());
    if (fresh) {
      fabric_.nodes.push_back({.name = name});
      node_attributes_.push_back(node_defaults_);
    }
    end.node = at->second;
    return true;
  }

  /// Any number of `[a=b, c=d]`.
  bool attributes(Attributes& into) {
    while (is_mark("[")) {
      if (!advance()) return false;
      while (!is_mark("]")) {
        if (is_mark(";") || is_mark(",")) {
          if (!advance()) return false;
          continue;
        }
        if (token_.kind != Token::Kind::kId) return set_error("an attribute's name is missing");
        const std::string name = token_.text;
        if (!advance()) return false;
        if (!is_mark("=")) return set_error(fmt::format("`=` is missing after {}", escape(name)));
        if (!advance()) return false;
        if (token_.kind != Token::Kind::kId)
          return set_error(fmt::format("a value is missing for {}", escape(name)));
        into[name] = token_.text;
        if (!advance()) return false;
      }
      if (!advance()) return false;
    }
    return true;
  }

  bool number(const Attributes& given, const char* name, std::size_t line, std::uint64_t& into) {
    const auto at = given.find(name);
    if (at == given.end()) return true;
    const std::string& text = at->second;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), into);
    if (code == std::errc{} && end == text.data() + text.size()) return true;
    error_ = {0, fmt::format("line {}", line), fmt::format("{} is not a whole number", name)};
    return false;
  }

  Result<Fabric> finish() {
    for (std::size_t i = 0; i < fabric_.nodes.size(); ++i) {
      Node& node = fabric_.nodes[i];
      const std::string shown = escape(node.name);
      Attributes& given = node_attributes_[i];
      if (const auto at = given.find("level"); at != given.end()) {
        std::uint64_t level = 255;
        if (number(given, "level", token_.line, level)) node.level = Level::make(level);
        if (!node.level) return fail(Error{0, shown, "level is not a whole number from 0 to 254"});
      }
      const bool plain_host = given["function"] == "host" || node.level == Level{};
      const std::string& role = given["role"];
      if (!role.empty() && role != "host" && role != "switch")
        return fail(Error{0, shown, "role is not host or switch"});
      const bool host = role.empty() ? plain_host : role == "host";
      node.role = host ? core::Role::kHost : core::Role::kSwitch;
      if (const std::string& chassis = given["chassis"]; !chassis.empty()) {
        const auto mac = parse_mac(chassis);
        if (!mac) return fail(Error{0, shown, "chassis is not a MAC address"});
        node.chassis = chassis_id_from_mac(*mac);
      }
    }
    return complete(std::move(fabric_));
  }

  Lexer lexer_;
  Token token_{};
  Error error_{};
  Fabric fabric_{};
  std::unordered_map<std::string, std::size_t> index_{};
  std::vector<Attributes> node_attributes_{};
  Attributes node_defaults_{};
  Attributes edge_defaults_{};
  Attributes ignored_{};
};

}  // namespace

std::string to_dot(const Fabric& fabric) {
  std::string out = fmt::format("graph {} {{\n", quoted(fabric.name));
  for (const Node& node : fabric.nodes) {
    out += fmt::format("  {} [role={}", quoted(node.name),
                       node.role == core::Role::kHost ? "host" : "switch");
    if (node.level) out += fmt::format(", level={}", node.level->value());
    out += fmt::format(", chassis=\"{}\"]\n", to_string(node.chassis));
  }
  const auto end = [&](const LinkEnd& e) {
    return quoted(fabric.nodes[e.node].name) + ":" + quoted(e.port);
  };
  for (const Link& link : fabric.links)
    out += fmt::format("  {} -- {} [rate_bps={}, delay_ns={}]\n", end(link.ends[0]),
                       end(link.ends[1]), link.rate_bps, link.delay_ns);
  return out + "}\n";
}

Result<Fabric> fabric_from_dot(std::string_view text) { return Parser(text).parse(); }

}  // namespace lldp::lab
