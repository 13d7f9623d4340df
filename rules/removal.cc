#include "rules/removal.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "lint/read/text.h"

namespace kvbudget {
namespace {

constexpr std::string_view kBlanks = " \t\r";

/// Bytes of a file that go, and what stands around them on their line.
struct Piece {
  std::string_view bytes;
  size_t begin = 0;
  size_t end = 0;

  size_t line_begin() const { return begin == 0 ? 0 : bytes.rfind('\n', begin - 1) + 1; }
  size_t line_end() const { return std::min(bytes.find('\n', end), bytes.size()); }
  size_t next_line() const { return std::min(line_end() + 1, bytes.size()); }
  std::string_view before() const {
    return trimmed(bytes.substr(line_begin(), begin - line_begin()), kBlanks);
  }
  std::string_view behind() const { return trimmed(bytes.substr(end, line_end() - end), kBlanks); }
  bool ends_line() const { return behind().empty() || behind().starts_with('#'); }
};

bool is_blank(char c) { return kBlanks.find(c) != std::string_view::npos; }

void take_quotes(Piece& piece) {
  if (piece.begin == 0 || piece.end >= piece.bytes.size()) return;
  const char quote = piece.bytes[piece.begin - 1];
  if ((quote != '"' && quote != '\'') || piece.bytes[piece.end] != quote) return;
  --piece.begin;
  ++piece.end;
}

Piece whole_lines(Piece piece) { return {piece.bytes, piece.line_begin(), piece.next_line()}; }

// An item of `[a, b]` with the comma that parts it from its neighbour.
std::optional<Piece> flow_item(Piece piece) {
  const std::string_view bytes = piece.bytes;
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t before =
      piece.begin == 0 ? std::string_view::npos : bytes.find_last_not_of(kSpace, piece.begin - 1);
  const size_t behind = bytes.find_first_not_of(kSpace, piece.end);
  if (before == std::string_view::npos || behind == std::string_view::npos) return std::nullopt;
  if (std::string_view("[,").find(bytes[before]) == std::string_view::npos) return std::nullopt;
  if (bytes[behind] == ',') {
    piece.end = behind + 1;
    if (piece.before().empty() && piece.behind().empty()) return whole_lines(piece);
    while (piece.end < bytes.size() && is_blank(bytes[piece.end])) ++piece.end;
    return piece;
  }
  if (bytes[behind] != ']') return std::nullopt;
  if (bytes[before] == ',') piece.begin = before;
  return piece;
}

// Words of a script, or of a scalar that is split like one.
std::optional<Piece> shell_words(Piece piece) {
  const std::string_view bytes = piece.bytes;
  const bool parted = piece.end == bytes.size() || is_blank(bytes[piece.end]) ||
                      bytes[piece.end] == '\n' || bytes[piece.end] == '"' ||
                      bytes[piece.end] == '\'';
  const char before = piece.begin == 0 ? '\n' : bytes[piece.begin - 1];
  if (!parted || (!is_blank(before) && before != '\n')) return std::nullopt;
  if (piece.before().empty() && piece.behind() == "\\") return whole_lines(piece);
  if (piece.before().empty() && piece.ends_line()) {
    const size_t start = piece.line_begin();
    if (start < 2 || bytes[start - 2] != '\\') return whole_lines(piece);
    // The last line of a command: the one above must not go on any more.
    piece.end = piece.line_end();
    piece.begin = start - 2;
  }
  // The first word of a line leaves its indentation to the next one: it may be that of a block.
  if (piece.before().empty() && !piece.ends_line()) {
    while (piece.end < bytes.size() && is_blank(bytes[piece.end])) ++piece.end;
    return piece;
  }
  while (piece.begin > 0 && is_blank(bytes[piece.begin - 1])) --piece.begin;
  return piece;
}

std::optional<Piece> item(Piece piece) {
  if (piece.before() == "-") {
    return piece.ends_line() ? std::optional(whole_lines(piece)) : std::nullopt;
  }
  if (const std::optional<Piece> flow = flow_item(piece)) return flow;
  // A key whose value stands behind it.
  const std::string_view behind = piece.behind();
  if (piece.before().empty() && behind.starts_with(": ")) return whole_lines(piece);
  return shell_words(piece);
}

Edit edit_of(const SourceFile& file, const Piece& piece) {
  return {{&file, {static_cast<uint32_t>(piece.begin), static_cast<uint32_t>(piece.end)}}, ""};
}

Piece piece_of(const Location& where) {
  Piece piece{where.file->bytes(), where.range.begin, where.range.end};
  take_quotes(piece);
  return piece;
}

// `- name: X` and `value: …` on the line below, and nothing else of the same entry.
std::optional<Piece> entry_of_two_lines(const Piece& name, const Piece& value) {
  if (name.before() != "- name:" || !name.ends_line()) return std::nullopt;
  if (value.before() != "value:" || !value.ends_line()) return std::nullopt;
  if (value.line_begin() != name.next_line()) return std::nullopt;
  const size_t dash = name.bytes.find('-', name.line_begin()) - name.line_begin();
  const std::string_view rest = name.bytes.substr(value.next_line());
  const size_t indent = rest.find_first_not_of(' ');
  const bool goes_on = indent != std::string_view::npos && indent > dash && rest[indent] != '\n';
  if (goes_on) return std::nullopt;
  return Piece{name.bytes, name.line_begin(), value.next_line()};
}

// `{name: X, value: "1"}` on one line.
std::optional<Piece> flow_mapping(const Piece& name, const Piece& value) {
  const std::string_view line =
      name.bytes.substr(name.line_begin(), name.line_end() - name.line_begin());
  if (value.line_begin() != name.line_begin()) return std::nullopt;
  const size_t first = std::min(name.begin, value.begin) - name.line_begin();
  const size_t last = std::max(name.end, value.end) - name.line_begin();
  const size_t open = line.rfind('{', first);
  const size_t close = line.find('}', last);
  if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
  const std::string_view inside = line.substr(open + 1, close - open - 1);
  const bool plain =
      inside.find_first_of("{}") == std::string_view::npos &&
      std::count(inside.begin(), inside.end(), ',') == 1 &&
      line.substr(last, close - last).find_first_not_of(" \"'") == std::string_view::npos;
  if (!plain) return std::nullopt;
  return item({name.bytes, name.line_begin() + open, name.line_begin() + close + 1});
}

std::optional<Piece> assignment(Piece piece) {
  const std::string_view before = piece.before();
  const bool alone = before.empty() || before == "export" || before == "ENV";
  if (alone && (piece.ends_line() || piece.behind() == "\\")) return whole_lines(piece);
  for (const std::string_view flag : {"-e", "--env"}) {
    if (!before.ends_with(flag)) continue;
    piece.begin = piece.bytes.rfind(flag, piece.begin);
    return shell_words(piece);
  }
  if (before.empty() || before == "env") {
    while (piece.end < piece.bytes.size() && is_blank(piece.bytes[piece.end])) ++piece.end;
    return piece;
  }
  return item(piece);
}

std::optional<Piece> variable_piece(const Piece& name, const Piece& value) {
  const std::string_view bytes = name.bytes;
  if (name.end < bytes.size() && bytes[name.end] == '=') {
    Piece whole{bytes, name.begin, std::max(name.end + 1, value.end)};
    take_quotes(whole);
    return whole.before() == "-" ? item(whole) : assignment(whole);
  }
  const bool key = name.before().empty() && name.behind().starts_with(':') && value.ends_line() &&
                   value.line_begin() == name.line_begin();
  if (key) return whole_lines(name);
  if (const std::optional<Piece> flow = flow_mapping(name, value)) return flow;
  return entry_of_two_lines(name, value);
}

}  // namespace

std::optional<std::vector<Edit>> remove_words(std::span<const Location> words) {
  std::vector<Piece> pieces;
  for (const Location& word : words) {
    if (!word || word.file != words.front().file) return std::nullopt;
    Piece piece = piece_of(word);
    if (pieces.empty()) {
      pieces.push_back(piece);
      continue;
    }
    Piece& last = pieces.back();
    if (piece.begin < last.end) return std::nullopt;
    const std::string_view between = piece.bytes.substr(last.end, piece.begin - last.end);
    if (between.find_first_not_of(" \t\r\n,:\\") == std::string_view::npos) {
      last.end = piece.end;
    } else {
      pieces.push_back(piece);
    }
  }
  std::vector<Edit> edits;
  for (const Piece& piece : pieces) {
    const std::optional<Piece> gone = item(piece);
    if (!gone) return std::nullopt;
    edits.push_back(edit_of(*words.front().file, *gone));
  }
  return edits;
}

std::optional<std::vector<Edit>> remove_variable(const EnvVar& variable) {
  const Location name = variable.name.location();
  Location value = variable.value.location();
  if (!name || !variable.known) return std::nullopt;
  if (!value || value.file != name.file || value.range.end < name.range.end) {
    value = {name.file, {name.range.end, name.range.end}};
  }
  const std::optional<Piece> gone = variable_piece(piece_of(name), piece_of(value));
  if (!gone) return std::nullopt;
  return std::vector<Edit>{edit_of(*name.file, *gone)};
}

void propose_removal(std::optional<std::vector<Edit>> edits, bool safe, std::string description,
                     Diagnostic& finding) {
  if (!edits || edits->empty()) return;
  finding.fix = Fix{safe, std::move(description), std::move(*edits)};
}

}  // namespace kvbudget
