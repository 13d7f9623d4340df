// The rules are those of PyYAML 6 (scanner.py: scan_plain, scan_flow_scalar, scan_block_scalar);
// YAML 1.2 differs in none that deployments use.
//
// Structure is read from `work`, in which template actions are neutralised, and the bytes are taken
// from the file, so that a value keeps its `{{ … }}` for people to see.

#include "lint/read/scalar.h"

#include <algorithm>
#include <optional>

namespace kvbudget {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_break(char c) { return c == '\n' || c == '\r'; }

class Decoder {
 public:
  Decoder(const YamlInput& input, const ScalarToken& token, std::vector<YamlProblem>& problems)
      : input_(input), token_(token), problems_(problems) {
    const Location anchor = scalar_location(input, token);
    value_ = SourceText::empty_at(input.file, anchor.range);
  }

  SourceText decode() {
    switch (token_.style) {
      case Node::Style::kPlain:
        lines(token_.begin, token_.end, '\0');
        break;
      case Node::Style::kSingleQuoted:
        lines(token_.begin + 1, token_.end - 1, '\'');
        break;
      case Node::Style::kDoubleQuoted:
        lines(token_.begin + 1, token_.end - 1, '"');
        break;
      case Node::Style::kLiteral:
      case Node::Style::kFolded:
        block();
        break;
    }
    return std::move(value_);
  }

 private:
  char at(uint32_t i) const { return input_.work[i]; }
  void take(uint32_t i) { value_.append(input_.bytes[i], input_.offset(i)); }
  void put(char c, uint32_t origin) { value_.append(c, input_.offset(origin)); }

  /// Plain and quoted scalars: lines joined by blanks, empty lines kept as line breaks.
  void lines(uint32_t begin, uint32_t end, char quote) {
    uint32_t i = begin;
    while (i < end) {
      const char c = at(i);
      if (is_blank(c) || is_break(c)) {
        i = blanks(i, end, quote);
      } else if (quote == '\'' && c == '\'') {
        take(i);
        i += 2;
      } else if (quote == '"' && c == '\\') {
        i = escape(i, end);
      } else {
        take(i++);
      }
    }
  }

  /// A run of blanks: kept within a line, folded when it holds line breaks.
  uint32_t blanks(uint32_t i, uint32_t end, char quote) {
    const uint32_t begin = i;
    uint32_t breaks = 0;
    uint32_t first_break = end;
    while (i < end && (is_blank(at(i)) || is_break(at(i)))) {
      if (is_break(at(i))) {
        first_break = std::min(first_break, i);
        if (breaks > 0) put('\n', i);
        ++breaks;
        if (at(i) == '\r' && i + 1 < end && at(i + 1) == '\n') ++i;
      }
      ++i;
    }
    if (breaks == 1) put(' ', first_break);
    const bool keep = breaks == 0 && (quote != '\0' || i < end);
    for (uint32_t k = begin; keep && k < i; ++k) take(k);
    return i;
  }

  std::optional<uint32_t> hex(uint32_t begin, uint32_t digits, uint32_t end) const {
    if (begin + digits > end) return std::nullopt;
    uint32_t value = 0;
    for (uint32_t i = begin; i < begin + digits; ++i) {
      const char c = at(i);
      uint32_t digit = 0;
      if (c >= '0' && c <= '9') {
        digit = static_cast<uint32_t>(c - '0');
      } else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) {
        digit = static_cast<uint32_t>((c | 0x20) - 'a') + 10;
      } else {
        return std::nullopt;
      }
      value = value * 16 + digit;
    }
    return value;
  }

  void put_code_point(uint32_t code, uint32_t origin) {
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) code = 0xFFFD;
    const auto byte = [&](uint32_t value) { put(static_cast<char>(value), origin); };
    if (code < 0x80) {
      byte(code);
    } else if (code < 0x800) {
      byte(0xC0U | (code >> 6U));
      byte(0x80U | (code & 0x3FU));
    } else if (code < 0x10000) {
      byte(0xE0U | (code >> 12U));
      byte(0x80U | ((code >> 6U) & 0x3FU));
      byte(0x80U | (code & 0x3FU));
    } else {
      byte(0xF0U | (code >> 18U));
      byte(0x80U | ((code >> 12U) & 0x3FU));
      byte(0x80U | ((code >> 6U) & 0x3FU));
      byte(0x80U | (code & 0x3FU));
    }
  }

  /// `\` at `i`; gives the offset behind the escape.
  uint32_t escape(uint32_t i, uint32_t end) {
    const char c = at(i + 1);
    if (is_break(c)) return joined_line(i + 1, end);
    if (c == 'x' || c == 'u' || c == 'U')
      return numeric_escape(i, c == 'x' ? 2 : c == 'u' ? 4 : 8, end);
    static constexpr std::string_view kNames = "0abtnvfre\"/\\ \t";
    static constexpr std::string_view kValues("\0\a\b\t\n\v\f\r\x1b\"/\\ \t", 14);
    if (const size_t known = kNames.find(c); known != std::string_view::npos) {
      put(kValues[known], i + 1);
    } else if (c == 'N' || c == '_' || c == 'L' || c == 'P') {
      put_code_point(c == 'N' ? 0x85 : c == '_' ? 0xA0 : c == 'L' ? 0x2028 : 0x2029, i);
    } else {
      problems_.push_back({i, std::string("unknown escape '\\") + c +
                                  "' in double quotes, write '\\\\' or use single quotes"});
      take(i);
      return i + 1;
    }
    return i + 2;
  }

  /// An escaped line break joins the lines without a blank.
  uint32_t joined_line(uint32_t i, uint32_t end) const {
    if (at(i) == '\r' && i + 1 < end && at(i + 1) == '\n') ++i;
    ++i;
    while (i < end && is_blank(at(i))) ++i;
    return i;
  }

  uint32_t numeric_escape(uint32_t i, uint32_t digits, uint32_t end) {
    std::optional<uint32_t> code = hex(i + 2, digits, end);
    uint32_t next = i + 2 + digits;
    if (!code) {
      problems_.push_back({i, "an escape in double quotes lacks hexadecimal digits"});
      take(i);
      return i + 1;
    }
    const bool high_surrogate = *code >= 0xD800 && *code < 0xDC00;
    if (high_surrogate && next + 6 <= end && at(next) == '\\' && at(next + 1) == 'u') {
      const std::optional<uint32_t> low = hex(next + 2, 4, end);  // JSON writes pairs
      if (low && *low >= 0xDC00 && *low < 0xE000) {
        code = 0x10000 + ((*code - 0xD800) << 10U) + (*low - 0xDC00);
        next += 6;
      }
    }
    put_code_point(*code, i);
    return next;
  }

  struct Line {
    uint32_t begin = 0;  // of the content, indentation stripped
    uint32_t end = 0;    // the line break, or the end of the scalar
    uint32_t next = 0;
    bool broken = false;  // has a line break
    bool empty = false;
  };

  Line line_at(uint32_t i) const {
    Line line;
    const uint32_t limit = token_.end;
    line.begin = i;
    while (line.begin < limit && line.begin - i < token_.indent && at(line.begin) == ' ') {
      ++line.begin;
    }
    line.end = line.begin;
    while (line.end < limit && !is_break(at(line.end))) ++line.end;
    line.empty = line.end == line.begin;
    line.broken = line.end < limit;
    line.next = line.end;
    if (line.broken) {
      const bool crlf = at(line.end) == '\r' && line.end + 1 < limit && at(line.end + 1) == '\n';
      line.next += crlf ? 2 : 1;
    }
    return line;
  }

  /// A line that holds nothing but template actions leaves no trace, as when the template runs.
  bool is_action_line(const Line& line) const {
    const auto blank = [](char c) { return is_blank(c); };
    const auto* work = input_.work.data();
    const auto* bytes = input_.bytes.data();
    return std::all_of(work + line.begin, work + line.end, blank) &&
           !std::all_of(bytes + line.begin, bytes + line.end, blank);
  }

  void block() {
    std::vector<uint32_t> breaks;  // line breaks since the last line with content
    bool folding = false;          // the last line with content may be joined with the next
    bool any = false;
    for (uint32_t i = token_.content; i < token_.end;) {
      const Line line = line_at(i);
      i = line.next;
      if (is_action_line(line)) continue;
      if (line.empty) {
        if (line.broken) breaks.push_back(line.end);
        continue;
      }
      const bool indented = is_blank(at(line.begin));
      flush_breaks(breaks, any, folding && !indented);
      for (uint32_t k = line.begin; k < line.end; ++k) take(k);
      folding = token_.style == Node::Style::kFolded && !indented;
      any = true;
      if (line.broken) breaks.push_back(line.end);
    }
    if (breaks.empty() || token_.chomp == '-') return;
    if (token_.chomp != '+' && !any) return;
    const size_t kept = token_.chomp == '+' ? breaks.size() : 1;
    for (size_t k = 0; k < kept; ++k) put('\n', breaks[k]);
  }

  void flush_breaks(std::vector<uint32_t>& breaks, bool any, bool folds) {
    if (any && folds && !breaks.empty()) {
      if (breaks.size() == 1) put(' ', breaks[0]);
      breaks.erase(breaks.begin());
    }
    for (const uint32_t offset : breaks) put('\n', offset);
    breaks.clear();
  }

  const YamlInput& input_;
  const ScalarToken& token_;
  std::vector<YamlProblem>& problems_;
  SourceText value_;
};

}  // namespace

SourceText decode_scalar(const YamlInput& input, const ScalarToken& token,
                         std::vector<YamlProblem>& problems) {
  return Decoder(input, token, problems).decode();
}

Location scalar_location(const YamlInput& input, const ScalarToken& token) {
  switch (token.style) {
    case Node::Style::kSingleQuoted:
    case Node::Style::kDoubleQuoted:
      return input.location(token.begin + 1, token.end - 1);
    case Node::Style::kLiteral:
    case Node::Style::kFolded:
      if (token.content + token.indent < token.end) {
        uint32_t end = token.end;
        while (end > token.content + 1 && is_break(input.work[end - 1])) --end;
        return input.location(std::min(token.content + token.indent, end), end);
      }
      return input.location(token.begin, token.begin + 1);
    case Node::Style::kPlain:
      break;
  }
  return input.location(token.begin, token.end);
}

bool means_null(std::string_view plain) {
  return plain.empty() || plain == "~" || plain == "null" || plain == "Null" || plain == "NULL";
}

}  // namespace kvbudget
