// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "base/spelling.hpp"
#include "base/text.hpp"
#include "cabling/drawing.hpp"

namespace lldp::cabling {
namespace {

std::string at_line(std::size_t line) { return "line " + std::to_string(line); }

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
    if (c == '"') return joined_ids();
    if (c == '<') return html();
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
      return fail(
          Error{0, at_line(line_), "`" + escape(rest_.substr(0, 1)) + "` is not understood"});
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
  /// `"a" + "b"` is one word.
  Result<Token> joined_ids() {
    auto token = quoted_id();
    for (;;) {
      if (!token) return token;
      skip();
      if (!rest_.starts_with("+")) return token;
      take(1);
      skip();
      if (!rest_.starts_with("\""))
        return fail(Error{0, at_line(line_), "what `+` joins is quoted on both sides"});
      auto more = quoted_id();
      if (!more) return more;
      token->text += more->text;
    }
  }
  /// A label as HTML, `<...>`, in which every `<` has its `>`.
  Result<Token> html() {
    Token token{.kind = Token::Kind::kId, .quoted = true, .line = line_};
    std::size_t open = 0;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] == '<') ++open;
      if (rest_[i] != '>' || --open != 0) continue;
      token.text = take(i + 1);
      return token;
    }
    return fail(Error{0, at_line(line_), "a `<` is not closed"});
  }
  Result<Token> quoted_id() {
    Token token{.kind = Token::Kind::kId, .quoted = true, .line = line_};
    std::size_t i = 1;
    for (; i < rest_.size() && rest_[i] != '"'; ++i) {
      if (rest_[i] == '\\' && i + 1 < rest_.size()) {
        const auto octet = rest_[i + 1] == 'x' ? unescape(rest_.substr(i, 4)) : std::nullopt;
        if (octet && octet->size() == 1) {  // as the lab writes what a terminal would obey
          token.text += *octet;
          i += 3;
          continue;
        }
        if (rest_[i + 1] == '"' || rest_[i + 1] == '\\') ++i;
      }
      token.text += rest_[i];
    }
    if (i == rest_.size()) return fail(Error{0, at_line(line_), "a quotation mark is not closed"});
    take(i + 1);
    return token;
  }

  std::string_view rest_;
  std::size_t line_ = 1;
};

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

  Result<Drawing> parse() {
    if (!advance()) return fail(error_);
    if (is_word(token_, "strict") && !advance()) return fail(error_);
    if (!is_word(token_, "graph") && !is_word(token_, "digraph"))
      return refuse("a DOT file begins with graph or digraph");
    if (!advance()) return fail(error_);
    if (token_.kind == Token::Kind::kId) {
      drawing_.name = token_.text;
      if (!advance()) return fail(error_);
    }
    if (!is_mark("{")) return refuse("`{` is missing");
    for (;;) {
      if (is_mark("{")) {
        if (outer_.size() == kMaxDepth)
          return refuse("more than " + std::to_string(kMaxDepth) + " `{` stand open");
        outer_.push_back(defaults_);
        if (!advance()) return fail(error_);
      } else if (is_mark("}")) {
        defaults_ = std::move(outer_.back());
        outer_.pop_back();
        if (outer_.empty()) return alone();
        if (!advance()) return fail(error_);
      } else if (!statement()) {
        return fail(error_);
      }
    }
  }

 private:
  /// The drawing, if no second graph follows.
  Result<Drawing> alone() {
    if (!advance()) return fail(error_);
    if (is_word(token_, "strict") || is_word(token_, "graph") || is_word(token_, "digraph"))
      return refuse("a second graph begins here: give it a file of its own");
    return std::move(drawing_);
  }
  /// What a file of cables has no use for, and keeps the copies of the defaults few.
  static constexpr std::size_t kMaxDepth = 1000;
  /// What nodes and links get that are first named from here on, to the end of the subgraph.
  struct Defaults {
    Attributes nodes{};
    Attributes edges{};
  };

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
  bool set_error(std::string what) { return set_error(std::move(what), token_.line); }
  bool set_error(std::string what, std::size_t line) {
    error_ = {0, at_line(line), std::move(what)};
    return false;
  }
  [[nodiscard]] bool is_mark(std::string_view mark) const {
    return token_.kind == Token::Kind::kMark && token_.text == mark;
  }

  bool statement() {
    if (is_mark(";") || is_mark(",")) return advance();
    if (token_.kind == Token::Kind::kEnd) return set_error("`}` is missing");
    if (token_.kind != Token::Kind::kId) return set_error("`" + token_.text + "` is out of place");
    if (is_word(token_, "subgraph")) {  // its name, then its `{`
      if (!advance()) return false;
      return token_.kind != Token::Kind::kId || advance();
    }
    for (const auto& [word, defaults] :
         {std::pair{"node", &defaults_.nodes}, std::pair{"edge", &defaults_.edges},
          std::pair{"graph", &ignored_}})
      if (is_word(token_, word)) return advance() && attributes(*defaults);
    return node_or_edge();
  }

  bool node_or_edge() {
    const std::size_t line = token_.line;
    End end;
    if (!endpoint(end)) return false;
    if (is_mark("=")) {  // an attribute of the graph
      if (!advance()) return false;
      return token_.kind == Token::Kind::kId ? advance()
                                             : set_error("a value is missing after `=`");
    }
    std::vector<End> chain{end};
    while (token_.kind == Token::Kind::kEdge) {
      if (!advance()) return false;
      if (!endpoint(end)) return false;
      chain.push_back(end);
    }
    if (chain.size() == 1) return attributes(drawing_.nodes[end.node].attributes);
    for (const End& e : chain)
      if (e.port.empty())
        return set_error("the link has no port on " + escape(drawing_.nodes[e.node].name) +
                             ": write \"node\":\"port\"",
                         line);
    Link link{.attributes = defaults_.edges, .line = line};
    if (!attributes(link.attributes)) return false;
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
      link.ends = {chain[i], chain[i + 1]};
      for (const auto& [at, name] :
           {std::pair{&link.ends[0], "left_mac"}, std::pair{&link.ends[1], "right_mac"}})
        if (const std::string* mac = link.attributes.find(name)) at->aliases = {*mac};
      drawing_.links.push_back(link);
    }
    return true;
  }

  /// `node`, `node:port` or `node:port:compass`.
  bool endpoint(End& end) {
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
    const auto [at, fresh] = index_.emplace(name, drawing_.nodes.size());
    if (fresh) drawing_.nodes.push_back({name, defaults_.nodes});
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
        if (!is_mark("=")) return set_error("`=` is missing after " + escape(name));
        if (!advance()) return false;
        if (token_.kind != Token::Kind::kId)
          return set_error("a value is missing for " + escape(name));
        into.set(name, token_.text);
        if (!advance()) return false;
      }
      if (!advance()) return false;
    }
    return true;
  }

  Lexer lexer_;
  Token token_{};
  Error error_{};
  Drawing drawing_{};
  std::unordered_map<std::string, std::size_t> index_{};
  Defaults defaults_{};
  std::vector<Defaults> outer_{};  ///< one for each `{` that stands open: what holds again after it
  Attributes ignored_{};
};

}  // namespace

Result<Drawing> read_dot(std::string_view text) { return Parser(text).parse(); }

}  // namespace lldp::cabling
