// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>

#include "base/text.hpp"
#include "cabling/drawing.hpp"

namespace lldp::cabling {
namespace {

/// The columns that make a link.
enum Column : std::size_t { kFrom, kFromPort, kTo, kToPort, kColumns };

/// Names in use for a column, without blanks, `_`, `-`, `.` and `#`, in lower case.
constexpr std::string_view kNames[kColumns][14] = {
    {"source", "src", "from", "a", "devicea", "nodea", "hosta", "sourcedevice", "sourcehost",
     "sourcehostname", "sourcenode", "sourcename", "localdevice", "fromdevice"},
    {"sourceport", "srcport", "fromport", "aport", "porta", "interfacea", "sourceinterface",
     "sourceif", "localport", "localinterface", "srcinterface", "frominterface", "portname", ""},
    {"destination", "dest", "dst", "to", "b", "deviceb", "nodeb", "hostb", "destinationdevice",
     "destinationhost", "destinationhostname", "target", "remotedevice", "todevice"},
    {"destinationport", "destport", "dstport", "toport", "bport", "portb", "interfaceb",
     "destinationinterface", "destinationif", "targetport", "remoteport", "remoteinterface",
     "dstinterface", "tointerface"}};
constexpr const char* kWanted[kColumns] = {"source", "source port", "destination",
                                           "destination port"};
constexpr char kSeparators[] = {',', ';', '\t'};

std::string plain(std::string_view header) {
  std::string out;
  for (const char c : header)
    if (std::string_view(" _-.#\t").find(c) == std::string_view::npos)
      out += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return out;
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

/// Rows as RFC 4180 has them; a quoted cell may hold separators, doubled quotes and line breaks.
class Rows {
 public:
  Rows(std::string_view text, char separator) : rest_(text), separator_(separator) {}

  struct Row {
    std::size_t line = 0;  ///< on which it begins
    std::vector<std::string> cells{};
    bool is_cut = false;  ///< the text ends within a quoted cell
  };
  /// Rows without any text, and those that begin with `#`, are passed over.
  std::optional<Row> next() {
    while (!rest_.empty()) {
      const bool comment = rest_.front() == '#';
      Row row = comment ? skip_line() : read_row();
      const bool blank = std::ranges::all_of(row.cells, &std::string::empty);
      if (!blank || row.is_cut) return row;
    }
    return std::nullopt;
  }

 private:
  Row skip_line() {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size() - 1);
    rest_.remove_prefix(end + 1);
    ++line_;
    return {};
  }
  Row read_row() {
    Row row{.line = line_};
    std::string cell;
    bool quoted = false;
    bool was_quoted = false;
    const auto end_cell = [&] {
      row.cells.push_back(was_quoted ? cell : trimmed(cell));
      cell.clear();
      was_quoted = false;
    };
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '\n') ++line_;
      if (quoted) {
        if (c != '"') {
          cell += c;
        } else if (!rest_.empty() && rest_.front() == '"') {
          cell += '"';
          rest_.remove_prefix(1);
        } else {
          quoted = false;
        }
      } else if (c == '"' && trimmed(cell).empty()) {
        cell.clear();
        quoted = was_quoted = true;
      } else if (c == separator_) {
        end_cell();
      } else if (c == '\n') {
        break;
      } else if (c != '\r' && !(was_quoted && (c == ' ' || c == '\t'))) {
        cell += c;
      }
    }
    end_cell();
    row.is_cut = quoted;
    return row;
  }

  std::string_view rest_;
  char separator_;
  std::size_t line_ = 1;
};

using Header = std::array<std::size_t, kColumns>;

/// Where the columns stand, or the first that is not there.
Result<Header> header_of(const std::vector<std::string>& cells) {
  Header header{};
  for (std::size_t column = 0; column < kColumns; ++column) {
    const auto at = std::ranges::find_if(cells, [&](const std::string& cell) {
      const std::string name = plain(cell);
      return !name.empty() && std::ranges::find(kNames[column], name) != std::end(kNames[column]);
    });
    if (at == cells.end())
      return fail(
          Error{0, "line 1",
                std::string("no column for the ") + kWanted[column] +
                    ": name the columns source, source port, destination, destination port"});
    header[column] = static_cast<std::size_t>(at - cells.begin());
  }
  return header;
}

/// The separator of a text whose first row has at least one cell for each column.
std::optional<char> separator_of(std::string_view text) {
  for (const char separator : kSeparators) {
    Rows rows(text, separator);
    const auto first = rows.next();
    if (first && !first->is_cut && first->cells.size() >= kColumns) return separator;
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(std::string_view text, char separator) : rows_(text, separator) {}

  Result<Drawing> read() {
    const auto first = rows_.next();
    const auto header = header_of(first->cells);
    if (!header) return fail(header.error());
    names_ = first->cells;
    while (const auto row = rows_.next()) add(*header, *row);
    if (drawing_.links.empty())
      return fail(Error{0, "the table",
                        "no row of it is a cable" +
                            (drawing_.notes.empty() ? std::string() : ": " + drawing_.notes[0])});
    return std::move(drawing_);
  }

 private:
  void leave_out(const Rows::Row& row, const std::string& why) {
    drawing_.notes.push_back("line " + std::to_string(row.line) + ": " + why + ": left out");
  }
  void add(const Header& header, const Rows::Row& row) {
    if (row.is_cut) return leave_out(row, "a quote is not closed");
    for (std::size_t column = 0; column < kColumns; ++column)
      if (header[column] >= row.cells.size() || row.cells[header[column]].empty())
        return leave_out(row, std::string("no ") + kWanted[column]);
    const auto cell = [&](Column column) { return row.cells[header[column]]; };
    const std::pair<std::string, std::string> ends[] = {{cell(kFrom), cell(kFromPort)},
                                                        {cell(kTo), cell(kToPort)}};
    for (std::size_t e = 0; e < 2; ++e)
      if (const auto other = cable_of_.find(ends[e]); other != cable_of_.end()) {
        // Many tables have a row for each end of a cable.
        if (other->second.far == ends[1 - e]) return;
        return leave_out(row, escape(ends[e].first) + ":" + escape(ends[e].second) +
                                  " has a cable already, by line " +
                                  std::to_string(other->second.line));
      }
    Link link{.line = row.line};
    for (std::size_t e = 0; e < 2; ++e) {
      cable_of_[ends[e]] = {ends[1 - e], row.line};
      link.ends[e] = {node(ends[e].first), ends[e].second, {}, {}};
    }
    for (std::size_t i = 0; i < row.cells.size() && i < names_.size(); ++i)
      if (std::ranges::find(header, i) == header.end() && !row.cells[i].empty())
        link.attributes.set(plain(names_[i]), row.cells[i]);
    drawing_.links.push_back(std::move(link));
  }
  std::size_t node(const std::string& name) {
    const auto [at, fresh] = node_of_.try_emplace(name, drawing_.nodes.size());
    if (fresh) drawing_.nodes.push_back({.name = name});
    return at->second;
  }

  struct Cable {
    std::pair<std::string, std::string> far{};
    std::size_t line = 0;
  };
  Rows rows_;
  std::vector<std::string> names_{};
  Drawing drawing_{};
  std::map<std::string, std::size_t> node_of_{};
  std::map<std::pair<std::string, std::string>, Cable> cable_of_{};
};

}  // namespace

bool looks_like_csv(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  return first.find('{') == std::string_view::npos && separator_of(text).has_value();
}

Result<Drawing> read_csv(std::string_view text) {
  const auto separator = separator_of(text);
  if (!separator)
    return fail(Error{0, "line 1",
                      "not a row of at least four cells: name the columns source, "
                      "source port, destination, destination port"});
  return Reader(text, *separator).read();
}

}  // namespace lldp::cabling
